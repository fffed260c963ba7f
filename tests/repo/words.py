#!/usr/bin/env python3
"""Rejects words that must not occur in the tree, and the retired words of retired_words.txt with their replacements.

usage: words.py [--self-test]
       words.py --count [FILE]    how often each retired word (of FILE) occurs in each folder
"""
import collections
import re
import sys

import repository

REGISTRY = (
    r"\b(deb\.debian|security\.debian|archive\.ubuntu|registry\.npmjs|pypi|pythonhosted|golang|crates|maven|ghcr"
    r"|docker)\.(org|com|io)\b"
)

# Pattern, the paths it is about, why. Each is spelled so that it does not find itself.
RULES = [
    (r"\b(TO[D]O|FIX[M]E|X[X]X)\b", r".*", "do it, or leave it; the code is no notebook"),
    (r"DISABLE[D]_|GTEST_SKI[P]", r".*\.[ch]pp", "a test that does not run shows nothing"),
    (r"\b(sleep_(for|until)|usleep|nanosleep)\b", r"tests/unit/.*", "unit tests do not sleep"),
    (r"(?<![\w.])/(work|farm)/", r".*", "a path of one machine"),
    (REGISTRY, r".*", "the name of a registry"),
    (r"(?m)^(<<<<<<[<] |>>>>>>[>] )", r".*", "a merge that was not finished"),
]
# Retired words are looked for in all of these, and in what CHANGELOG.md says about the next version.
SCOPE = re.compile(r"(src|cli|tests|bench|examples|scripts|cmake|models)/.*|ARCHITECTURE\.md|CONTRIBUTING\.md|CHANGELOG\.md")
RETIRED = "tests/repo/retired_words.txt"
EXEMPT = (RETIRED, "tests/repo/renamed_tests.txt", "tests/repo/words.py")
TEXT = (".cpp", ".hpp", ".py", ".md", ".txt", ".cmake", ".in", ".json", ".lua", ".pml", "")


def retired_in(text):
    """The retired words and the replacement of each, from lines of the form `word -> replacement`."""
    pairs = [line.split(" -> ") for line in text.splitlines() if line.strip() and not line.startswith("#")]
    bad = [pair for pair in pairs if len(pair) != 2]
    if bad:
        sys.exit(f"{RETIRED}: not of the form `word -> replacement`: {bad[0]}")
    return dict(pairs)


def retired_pattern(retired):
    """Finds a word by itself and as a part of a snake_case name, in any case; blanks match any white space."""
    either = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in sorted(retired, key=len, reverse=True))
    return re.compile(rf"(?<![a-z0-9])(?:{either})(?![a-z0-9])", re.IGNORECASE) if retired else re.compile(r"(?!)")


def in_scope(path, text):
    """The part of the text in which retired words are rejected."""
    if not SCOPE.fullmatch(path) or path in EXEMPT:
        return ""
    return text.split("\n## ")[1] if path == "CHANGELOG.md" and "\n## " in text else text


def problems(path, text, retired):
    for pattern, where, why in RULES:
        if re.fullmatch(where, path):
            for match in re.finditer(pattern, text):
                yield f"{path}:{repository.line_of(text, match.start())}: {match[0]}: {why}"
    scope = in_scope(path, text)
    start = text.find(scope)
    for match in retired_pattern(retired).finditer(scope):
        word = " ".join(match[0].lower().split())
        yield f"{path}:{repository.line_of(text, start + match.start())}: {match[0]}: say {retired[word]}"


def self_test():
    bad = [
        ("a.cpp", "// TO" "DO: later"),
        ("a.md", "FIX" "ME"),
        ("tests/unit/a.cpp", "std::this_thread::sleep_for(1s)"),
        ("tests/sim/a.cpp", "TEST(a, DISABLE" "D_b)"),
        ("README.md", "see /wor" "k/notes"),
        ("scripts/a", "proxy.golan" "g.org"),
        ("a.md", "one\n<<<<<<" "< HEAD\n"),
        ("a.md", ">>>>>>" "> mend\n"),
    ]
    good = [
        ("a.cpp", "mktemp -d name.XX" "XXXX"),
        ("tests/faults/a.cpp", "sleep_for(1s)"),
        ("a.md", "net/work/x"),
        ("a.md", "https://example.org/work/"),
    ]
    retired = retired_in("# comment\n\nlobby -> connect_waiters\nso long -> this long\n")
    bad += [
        ("src/a.cpp", "lobby_.enter()"),
        ("tests/a.py", "def test_Lobby_is_left():"),
        ("ARCHITECTURE.md", "after so\nlong"),
        ("CHANGELOG.md", "# C\n\n## 2\n* the lobby\n## 1\n* old"),
    ]
    good += [
        ("src/a.cpp", "a lobbyist, alsolong"),
        ("docs/a.md", "lobby"),
        (RETIRED, "lobby -> connect_waiters"),
        ("CHANGELOG.md", "# C\n\n## 2\n* new\n## 1\n* the lobby"),
    ]
    for path, text in bad:
        assert list(problems(path, text, retired)), (path, text)
    for path, text in good:
        assert not list(problems(path, text, retired)), (path, text)
    assert list(problems("src/a.cpp", "a\nLobby", retired)) == ["src/a.cpp:2: Lobby: say connect_waiters"]
    assert not list(problems("src/a.cpp", "lobby", {}))


def count(paths, retired):
    """Prints one line for each retired word that is still in use."""
    used = collections.defaultdict(collections.Counter)
    for path in paths:
        folder = "/".join(str(path).split("/")[:2]) if str(path).startswith(("src/", "tests/")) else path.parts[0]
        for match in retired_pattern(retired).finditer(in_scope(str(path), repository.read(path))):
            used[" ".join(match[0].lower().split())][folder] += 1
    for word, folders in sorted(used.items(), key=lambda each: -sum(each[1].values())):
        print(f"{sum(folders.values()):5} {word}: " + ", ".join(f"{name} {n}" for name, n in folders.most_common()))


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    paths = [path for path in repository.files(suffixes=TEXT) if path.name != "LICENSE"]
    retired = retired_in(repository.read(sys.argv[2] if len(sys.argv) > 2 else RETIRED))
    if sys.argv[1:2] == ["--count"]:
        return count(paths, retired)
    all_of_them = (each for path in paths for each in problems(str(path), repository.read(path), retired))
    repository.tell(all_of_them, len(paths))


if __name__ == "__main__":
    main()
