"""Reads renamed_tests.txt, the table of the tests that got another name: `group.old -> group.new`, one per line. The group
of a Python test is its file without `.py`, and its name may be written with or without `test_`."""
import re

import repository

LINE = re.compile(r"(\w+)\.(?:\w+\.)?(?:test_)?(\w+) -> (\w+)\.(?:\w+\.)?(?:test_)?(\w+)")
# LABEL group.name, LABEL instance/group.name/parameter, LABEL file_test.class.test_name
CASE = re.compile(r"(?P<label>\S+ (?:\w+/)?)(?P<group>\w+)\.(?P<rest>\w+\.test_|)(?P<name>\w+)(?P<parameter>.*)")


def table(text):
    """The new group and name by the old ones."""
    lines = [(line, LINE.fullmatch(line.strip())) for line in text.splitlines() if line.strip()]
    bad = [line for line, match in lines if not match]
    if bad:
        raise ValueError(f"renamed_tests.txt: not of the form `group.old -> group.new`: {bad[0]}")
    return {(match[1], match[2]): (match[3], match[4]) for _, match in lines}


def read():
    path = "tests/repo/renamed_tests.txt"
    return table(repository.read(path)) if (repository.ROOT / path).is_file() else {}


def new_name(names, group, name):
    """What the test is called now, however often it was renamed."""
    seen = set()
    while (group, name) in names and (group, name) not in seen:
        seen.add((group, name))
        group, name = names[group, name]
    return group, name


def new_case(names, line):
    """A line of scripts/list_cases, with the name that the case has now."""
    case = CASE.fullmatch(line)
    if not case:
        return line
    group, name = new_name(names, case["group"], case["name"])
    return f"{case['label']}{group}.{case['rest']}{name}{case['parameter']}"
