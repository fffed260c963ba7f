# Completion of holdfast for bash. The program itself knows its commands, options, stores and locks, and is asked.
_holdfast() {
  local line=${COMP_LINE:0:COMP_POINT} words=() candidate i
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  local last=$((${#words[@]} - 1))
  local cur=${words[last]}
  COMPREPLY=()

  # Behind -- is a command of the user's.
  for ((i = 1; i < last; i++)); do
    [[ ${words[i]} == -- ]] || continue
    if declare -F _command_offset >/dev/null; then
      # Words are counted as readline splits them.
      for ((i = 1; i < COMP_CWORD; i++)); do [[ ${COMP_WORDS[i]} == -- ]] && break; done
      _command_offset $((i + 1))
    elif ((i + 1 == last)); then
      mapfile -t COMPREPLY < <(compgen -c -- "$cur")
    else
      compopt -o default 2>/dev/null
    fi
    return
  done

  # Readline takes = and : for ends of words, and wants only what follows the last of them.
  local done_with=${cur%"${cur##*[=:]}"}
  [[ $COMP_WORDBREAKS == *:* ]] || done_with=${cur%"${cur##*=}"}
  while IFS=$'\t' read -r candidate _; do
    COMPREPLY+=("$(printf %q "${candidate#"$done_with"}")")
  done < <("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null)
  # A scheme goes on, and so does an option that ends with =.
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[/=] ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _holdfast holdfast
