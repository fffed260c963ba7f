#!/usr/bin/env python3
"""The tests that docs/safety.md names exist. usage: named_tests.py [--self-test]

It names them in backticks, as `group.test` or as ctest prints them (`sim.seeds`), with parameters after slashes, and
files of tests by their path. If a test was renamed, the problem says its new name, from renamed_tests.txt;
and each new name in that table is the name of a test.
"""
import re
import sys

import renamed_tests
import repository

DOCUMENT = "docs/safety.md"
CODE = re.compile(r"`([^`\n]+)`")
NAME = re.compile(r"([a-z]\w*)\.([a-z0-9]\w*)((?:/\w+)*)")
PATH = re.compile(r"tests/[\w./-]+\.(?:cpp|py)")
PYTHON = re.compile(r"^\s*def test_(\w+)\(", re.MULTILINE)
MACRO = re.compile(r"\bTEST(?:_F|_P|_OF_STORES)?\(\s*(\w+)\s*,\s*(\w+)\s*\)")
REGISTERED = re.compile(
    r"\bholdfast_test\(\s*NAME\s+(?P<name>\w+)\s+LABEL\s+(?P<label>\w+)"
    r"|\b(?P<short_label>unit|repo|conformance|chaos)_test\(\s*(?P<short_name>\w+)"
)
PARAMETERS = re.compile(r'\{\s*"(\w+)"\s*,\s*bug::\w+')
NO_TEST = re.compile(r".*\.(md|cpp|hpp|txt|py|h|sh)|group\.test")  # a file, or how a test is written


def tests_in(sources):
    """The names `group.test` of all tests in C++ sources."""
    return {f"{group}.{test}" for text in sources for group, test in MACRO.findall(repository.without_literals(text))}


def python_tests_in(texts):
    """The names of Python tests, from (stem of the file, text)."""
    return {f"{stem}.{test}" for stem, text in texts for test in PYTHON.findall(text)}


def registered_in(lists, examples):
    """The names in ctest of what CMake lists register; `examples` are the stems of the files there."""
    found = {f"examples.{stem}" for stem in examples}
    for text in lists:
        for match in REGISTERED.finditer(text):
            found.add(f"{match['label'] or match['short_label']}.{match['name'] or match['short_name']}")
    return found


def problems(document, tests, registered, parameters, exists, renamed):
    for match in CODE.finditer(document):
        code = match[1]
        where = f"{DOCUMENT}:{repository.line_of(document, match.start())}"
        if PATH.fullmatch(code):
            if not exists(code):
                yield f"{where}: {code} is not there"
            continue
        named = NAME.fullmatch(code)
        if not named or NO_TEST.fullmatch(code):
            continue
        name = f"{named[1]}.{named[2]}"
        if name not in tests and name not in registered:
            now = ".".join(renamed_tests.new_name(renamed, named[1], named[2]))
            yield f"{where}: there is no test {name}" + (f"; it is {now} now" if now != name else "")
        for parameter in named[3].split("/")[1:]:
            if parameter not in parameters:
                yield f"{where}: {name} has no parameter {parameter}"


def problems_of_table(renamed, tests):
    """`tests` has all names, including Python tests and those of ctest."""
    for old in renamed:
        now = ".".join(renamed_tests.new_name(renamed, *old))
        if now not in tests:
            yield f"tests/repo/renamed_tests.txt: {'.'.join(old)} -> {now}: there is no test {now}"


def count(document):
    return sum(1 for match in CODE.finditer(document) if NAME.fullmatch(match[1]) or PATH.fullmatch(match[1]))


def self_test():
    sources = ["TEST(group, does_it) {}\nTEST_F(other,\n       sees_it) {}",
               "TEST_P(third, is_found) {}\n// TEST(gone, x)"]
    lists = ["holdfast_test(NAME seeds LABEL sim SOURCES a.cpp)\nconformance_test(memory)\nchaos_test(one a.cpp)",
             "function(unit_test name)\nholdfast_test(NAME ${name} LABEL unit)\nunit_test(core a)\nrepo_test(rule x)"]
    tests, registered = tests_in(sources), registered_in(lists, ["01_first"])
    assert tests == {"group.does_it", "other.sees_it", "third.is_found"}, tests
    assert registered == {"sim.seeds", "conformance.memory", "chaos.one", "unit.core", "repo.rule",
                          "examples.01_first"}, registered
    there = {"tests/unit/a_test.cpp"}
    renamed = renamed_tests.table("group.did_it -> group.does_it\nold.x -> mid.x\nmid.x -> other.sees_it\n"
                                  "q_test.test_a -> q_test.b")
    check = lambda text: list(problems(text, tests, registered, {"no_margin"}, there.__contains__, renamed))
    good = ("`group.does_it`, `sim.seeds`, `other.sees_it`; `third.is_found/no_margin`, `examples.01_first`,"
            " `group.test`, `tests/unit/a_test.cpp`, `guide.md`, `src/seeded_bugs.hpp`, `held()`, `repo.rule`, `memory:`")
    assert not check(good), check(good)
    for bad in ("group.does_nothing", "sim.gone", "gone.x", "third.is_found/none", "examples.02",
                "tests/unit/b_test.cpp"):
        assert len(check(f"a\n`{bad}`")) == 1, bad
    assert check("a\n`sim.gone`")[0].startswith(f"{DOCUMENT}:2:")
    assert check("`group.did_it`")[0].endswith("it is group.does_it now"), check("`group.did_it`")
    python = python_tests_in([("q_test", "class q:\n    def test_b(self):")])
    assert not list(problems_of_table(renamed, tests | python))
    assert len(list(problems_of_table(renamed, tests))) == 1
    for old, new in [("unit group.did_it", "unit group.does_it"), ("redis a/old.x/3", "redis a/other.sees_it/3"),
                     ("cli q_test.q.test_a", "cli q_test.q.test_b"), ("repo repo.rule", "repo repo.rule")]:
        assert renamed_tests.new_case(renamed, old) == new, (old, renamed_tests.new_case(renamed, old))


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    sources = [repository.read(path) for path in repository.files("tests")]
    lists = [repository.read(path) for path in repository.files(suffixes=(".txt",)) if path.name == "CMakeLists.txt"]
    registered = registered_in(lists, [path.stem for path in repository.files("examples")])
    parameters = set(PARAMETERS.findall(repository.read("tests/sim/bugs.hpp")))
    document = repository.read(DOCUMENT)
    exists = lambda path: (repository.ROOT / path).is_file()
    tests, renamed = tests_in(sources), renamed_tests.read()
    python = python_tests_in((path.stem, repository.read(path)) for path in repository.files("tests", suffixes=(".py",)))
    found = list(problems(document, tests, registered, parameters, exists, renamed))
    found += problems_of_table(renamed, tests | registered | python)
    repository.tell(found, count(document))


if __name__ == "__main__":
    main()
