# Completion of holdfast for fish. The program itself knows its commands, options, stores and locks, and is asked.
function __holdfast_words
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    set -e words[1]
    string join \n -- $words
end

function __holdfast_command_begun
    contains -- -- (__holdfast_words)
end

function __holdfast_candidates
    set -l program (commandline --current-process --tokenize --cut-at-cursor)[1]
    $program complete -- (__holdfast_words) (commandline --current-token --cut-at-cursor) 2>/dev/null
end

# Behind -- is a command of the user's.
function __holdfast_command
    set -l words (__holdfast_words)
    set -l at (contains --index -- -- $words)
    complete --do-complete (string join ' ' -- (string escape -- $words[(math $at + 1)..-1]) (commandline --current-token --cut-at-cursor))
end

complete --command holdfast --no-files --condition 'not __holdfast_command_begun' --arguments '(__holdfast_candidates)'
complete --command holdfast --no-files --condition __holdfast_command_begun --arguments '(__holdfast_command)'
