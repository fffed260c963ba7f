#!/usr/bin/env python3
"""The ids of findings that docs/cli.md lists are those that the code gives: scripts rely on them.

usage: findings.py [--self-test]
"""
import re
import sys

import repository

DOCUMENT = "docs/cli.md"
IN_CXX = re.compile(r'"((?:redis|redlock|dir|memory)\.[a-z_]+)"')
IN_TABLE = re.compile(r"^\|((?: `(?:redis|redlock|dir|memory)\.[a-z_]+`,?)+) \|", re.MULTILINE)


def problems_in(code, document):
    given = set(IN_CXX.findall(code))
    listed = {id for row in IN_TABLE.findall(document) for id in re.findall(r"`([^`]+)`", row)}
    yield from (f"{DOCUMENT} does not list {id}, which the code gives" for id in sorted(given - listed))
    yield from (f"{DOCUMENT} lists {id}, which the code never gives" for id in sorted(listed - given))


def self_test():
    code = 'found.fine("redis.role", "words. more"); const std::string id = "dir.room"; x("redis.cpp.x")'
    good = "| id | |\n| `redis.role`, `dir.room` | words `redis.other` |\n"
    yield from problems_in(code, good)
    for bad in (good.replace("role", "rule"), good.replace(", `dir.room`", ""), ""):
        if not list(problems_in(code, bad)):
            yield f"nothing is found in {bad!r}"


def main():
    if sys.argv[1:] == ["--self-test"]:
        repository.tell(self_test(), 4)
    sources = list(repository.files("src", suffixes=(".cpp",)))
    repository.tell(problems_in("\n".join(repository.read(path) for path in sources), repository.read(DOCUMENT)), len(sources))


if __name__ == "__main__":
    main()
