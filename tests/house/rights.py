#!/usr/bin/env python3
"""The rights that docs/stores/redis.md tells to give a user are those of the commands that the code sends, no more and
no less.

usage: rights.py [--print | --self-test]
"""
import re
import shlex
import sys

import house

DOCUMENT = "docs/stores/redis.md"
NEED_NO_RIGHT = {"HELLO", "AUTH"}  # whoever is not authorised yet may say them
ONLY_WITH_A_DATABASE = {"SELECT"}  # the document says so

IN_LUA = re.compile(r"\bcall\('([A-Z]+)'")
IN_CXX = re.compile(r'^\s*\w+\.add\("([A-Z]+)"\)(?:\.add\("([A-Z]+)"\))?', re.MULTILINE)
CONTAINERS = {"SCRIPT"}  # their subcommand has a right of its own


def sent(lua, cxx):
    commands = set(IN_LUA.findall(lua))
    for command, following in IN_CXX.findall(cxx):
        commands.add(f"{command}|{following}" if command in CONTAINERS else command)
    return {c.lower() for c in commands - NEED_NO_RIGHT - ONLY_WITH_A_DATABASE}


def granted(document):
    rule = re.search(r"^redis-cli ACL SETUSER holdfast [^`]*", document, re.MULTILINE)
    return {word[1:] for word in shlex.split(rule.group()) if word.startswith("+")} if rule else set()


def problems_in(lua, cxx, document):
    need, have = sent(lua, cxx), granted(document)
    yield from (f"{DOCUMENT} does not grant +{c}, which the code needs" for c in sorted(need - have))
    yield from (f"{DOCUMENT} grants +{c}, which the code never sends" for c in sorted(have - need))


def self_test():
    lua = "local t = call('TIME') call('SET', K)"
    cxx = '  c.add("EVALSHA").add(s.sha);\n  c.add("SCRIPT").add("LOAD").add(x);\n  hello.add("HELLO").add("3");\n'
    good = "redis-cli ACL SETUSER holdfast on '>x' -@all +time +set \\\n  +evalsha '+script|load'\n```"
    yield from problems_in(lua, cxx, good)
    for bad in (good.replace("+time", ""), good.replace("+set", "+set +keys"), "nothing"):
        if not list(problems_in(lua, cxx, bad)):
            yield f"nothing is found in {bad!r}"


def main():
    if sys.argv[1:] == ["--self-test"]:
        house.tell(self_test(), 4)
    scripts = list(house.files("src/redis/scripts", suffixes=(".lua",)))
    lua = "\n".join(house.read(path) for path in scripts)
    sources = list(house.files("src/redis", suffixes=(".cpp",)))
    cxx = "\n".join(house.read(path) for path in sources)
    if sys.argv[1:] == ["--print"]:
        return print(*(f"+{c}" for c in sorted(sent(lua, cxx))))
    house.tell(problems_in(lua, cxx, house.read(DOCUMENT)), len(scripts) + len(sources))


if __name__ == "__main__":
    main()
