#!/usr/bin/env python3
"""Words that must not stand in the tree. usage: words.py [--self-test]"""
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
TEXT = (".cpp", ".hpp", ".py", ".md", ".txt", ".cmake", ".in", ".json", ".lua", ".pml", "")


def problems(path, text):
    for pattern, where, why in RULES:
        if re.fullmatch(where, path):
            for match in re.finditer(pattern, text):
                yield f"{path}:{repository.line_of(text, match.start())}: {match[0]}: {why}"


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
    for path, text in bad:
        assert list(problems(path, text)), (path, text)
    for path, text in good:
        assert not list(problems(path, text)), (path, text)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    paths = [path for path in repository.files(suffixes=TEXT) if path.name != "LICENSE"]
    repository.tell((problem for path in paths for problem in problems(str(path), repository.read(path))), len(paths))


if __name__ == "__main__":
    main()
