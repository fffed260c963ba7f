#!/usr/bin/env python3
"""The name of a test has at most 60 characters. usage: test_names.py [--self-test | --list]

In C++ that is the name after the group, in Python what follows `test_`. long_test_names.txt lists how many longer names
each file still has; it may only shrink. --list prints it as it would be now.
"""
import sys

import named_tests
import repository

MOST = 60
EXCEPTIONS = "tests/repo/long_test_names.txt"
PYTHON = named_tests.PYTHON


def long_names(path, text):
    if path.endswith(".py"):
        names = PYTHON.findall(text)
    else:
        names = [name for _, name in named_tests.MACRO.findall(repository.without_literals(text))]
    return [name for name in names if len(name) > MOST]


def problems(texts, allowed):
    for path, text in texts:
        names = long_names(path, text)
        if len(names) > allowed.get(path, 0):
            yield from (f"{path}: {len(name)} characters, at most {MOST}: {name}" for name in names)


def self_test():
    short, long = "a" * MOST, "a" * (MOST + 1)
    assert not list(problems([("a.cpp", f"TEST(g, {short}) {{}}"), ("a.py", f"def test_{short}(self):")], {}))
    for path, text in [("a.cpp", f"TEST(g, {long}) {{}}"), ("a.cpp", f"TEST_OF_STORES(g,\n    {long}) {{}}"),
                       ("a.py", f"class a:\n    def test_{long}(self):")]:
        assert len(list(problems([(path, text)], {}))) == 1, text
        assert len(list(problems([(path, text)], {"b.cpp": 1}))) == 1, text
        assert not list(problems([(path, text)], {path: 1})), text
    assert not list(problems([("a.cpp", f"// TEST(g, {long})\ndef test_{long}(self)")], {}))


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    texts = [(str(path), repository.read(path)) for path in repository.files("tests", suffixes=(".cpp", ".hpp", ".py"))]
    if sys.argv[1:] == ["--list"]:
        counts = {path: len(long_names(path, text)) for path, text in texts}
        return print("".join(f"{path} {n}\n" for path, n in counts.items() if n), end="")
    allowed = {}
    if (repository.ROOT / EXCEPTIONS).is_file():
        allowed = {path: int(n) for path, n in (line.split() for line in repository.read(EXCEPTIONS).splitlines())}
    repository.tell(problems(texts, allowed), len(texts))


if __name__ == "__main__":
    main()
