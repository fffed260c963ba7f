#!/usr/bin/env python3
"""The rights that docs/stores/redis.md tells to give a user are those of the commands that the code sends, no more and
no less. The same of the rights to look, besides, and of the list of those that an examination tries.

usage: rights.py [--print | --self-test]
"""
import re
import shlex
import sys

import house

DOCUMENT = "docs/stores/redis.md"
LOOKS = "src/redis/examination.cpp"  # asks for more, if it may
TRIES = "src/redis/needs.cpp"
TRIED_OTHERWISE = {"ssubscribe", "scan"}  # by connecting; by looking for what is left over
NEED_NO_RIGHT = {"HELLO", "AUTH"}  # whoever is not authorised yet may say them
ONLY_WITH_A_DATABASE = {"SELECT"}  # the document says so
ONLY_IN_A_CLUSTER = {"ASKING", "CLUSTER|SLOTS"}  # there is a line of its own for them

IN_LUA = re.compile(r"\bcall\('([A-Z]+)'(?:, '([A-Z]+)')?")
IN_CXX = re.compile(r'^\s*\w+\.add\("([A-Z]+)"\)(?:\.add\("([A-Z]+)"\))?', re.MULTILINE)
TRIED = re.compile(r'^ *\{"([a-z|]+)", "[A-Z]+', re.MULTILINE)
CONTAINERS = {"CLUSTER", "SCRIPT", "PUBSUB", "CONFIG"}  # their subcommand has a right of its own


def sent(lua, cxx):
    commands = set()
    for command, following in IN_LUA.findall(lua) + IN_CXX.findall(cxx):
        commands.add(f"{command}|{following}" if command in CONTAINERS else command)
    return {c.lower() for c in commands - NEED_NO_RIGHT - ONLY_WITH_A_DATABASE - ONLY_IN_A_CLUSTER}


def granted(document, first=r"[^`+]"):
    rule = re.search(rf"^redis-cli ACL SETUSER holdfast {first}[^`]*", document, re.MULTILINE)
    return {word[1:] for word in shlex.split(rule.group()) if word.startswith("+")} if rule else set()


def problems_of_looking(lua, cxx, looks, tries, document):
    need = sent(lua, cxx)
    asked, may = sent("", looks) - need, granted(document, r"\+(?!asking)")
    tried = set(TRIED.findall(tries)) | TRIED_OTHERWISE
    yield from (f"{DOCUMENT} does not grant +{c}, which an examination asks for" for c in sorted(asked - may))
    yield from (f"{DOCUMENT} grants +{c}, which no examination asks for" for c in sorted(may - asked))
    yield from (f"{TRIES} does not try {c}, which the code needs" for c in sorted(need - tried))
    yield from (f"{TRIES} tries {c}, which the code never sends" for c in sorted(tried - need))


def problems_in(lua, cxx, document):
    need, have = sent(lua, cxx), granted(document)
    yield from (f"{DOCUMENT} does not grant +{c}, which the code needs" for c in sorted(need - have))
    yield from (f"{DOCUMENT} grants +{c}, which the code never sends" for c in sorted(have - need))


def problems_of_a_cluster(cxx, document):
    """A line of the document that begins so grants what is sent to clusters only."""
    rule = re.search(r"^redis-cli ACL SETUSER holdfast \+asking[^`]*", document, re.MULTILINE)
    may = {word[1:] for word in shlex.split(rule.group()) if word.startswith("+")} if rule else set()
    need = {c.lower() for c in ONLY_IN_A_CLUSTER}
    yield from (f"{DOCUMENT} does not grant +{c}, which a cluster needs" for c in sorted(need - may))
    yield from (f"{DOCUMENT} grants +{c}, which no cluster needs" for c in sorted(may - need))
    for command in sorted(ONLY_IN_A_CLUSTER):
        words = "".join(f'.add("{word}")' for word in command.split("|"))
        if words not in cxx:
            yield f"{command} is never sent"


def self_test():
    lua = "local t = call('TIME') call('SET', K)"
    cxx = '  c.add("EVALSHA").add(s.sha);\n  c.add("SCRIPT").add("LOAD").add(x);\n  hello.add("HELLO").add("3");\n'
    good = "redis-cli ACL SETUSER holdfast on '>x' -@all +time +set \\\n  +evalsha '+script|load'\n```"
    yield from problems_in(lua, cxx, good)
    for bad in (good.replace("+time", ""), good.replace("+set", "+set +keys"), "nothing"):
        if not list(problems_in(lua, cxx, bad)):
            yield f"nothing is found in {bad!r}"
    cxx = cxx.replace("EVALSHA", "SSUBSCRIBE") + '  c.add("SCAN");\n'
    looks = '  info.add("INFO");\n  c.add("CONFIG").add("GET");\n  c.add("TIME");\n'
    tries = '    {"time", "TIME"},\n    {"set", "SET K m XX"},\n    {"script|load", "SCRIPT LOAD S"},\n'
    good = "redis-cli ACL SETUSER holdfast +info '+config|get'\n```"
    yield from problems_of_looking(lua, cxx, looks, tries, good)
    if not list(problems_of_looking(lua, cxx, looks, tries.replace("time", "ping"), good)):
        yield "a right that is not tried is not found"
    cxx = '  a.add("ASKING");\n  c.add("CLUSTER").add("SLOTS");\n'
    in_a_cluster = "redis-cli ACL SETUSER holdfast +asking '+cluster|slots'\n```"
    yield from problems_of_a_cluster(cxx, in_a_cluster)
    for bad in (in_a_cluster.replace("slots", "nodes"), "nothing"):
        if not list(problems_of_a_cluster(cxx, bad)):
            yield f"nothing is found in {bad!r}"
    for bad in (good.replace("+info", "+scan"), "nothing"):
        if not list(problems_of_looking(lua, cxx, looks, tries, bad)):
            yield f"nothing is found in {bad!r}"


def main():
    if sys.argv[1:] == ["--self-test"]:
        house.tell(self_test(), 8)
    scripts = list(house.files("src/redis/scripts", suffixes=(".lua",)))
    lua = "\n".join(house.read(path) for path in scripts)
    sources = list(house.files("src/redis", suffixes=(".cpp",)))
    cxx = "\n".join(house.read(path) for path in sources if str(path) != LOOKS)
    if sys.argv[1:] == ["--print"]:
        return print(*(f"+{c}" for c in sorted(sent(lua, cxx))))
    document = house.read(DOCUMENT)
    problems = [*problems_in(lua, cxx, document), *problems_of_a_cluster(cxx, document),
                *problems_of_looking(lua, cxx, house.read(LOOKS), house.read(TRIES), document)]
    house.tell(problems, len(scripts) + len(sources))


if __name__ == "__main__":
    main()
