#!/usr/bin/env python3
"""The rights in docs/stores/redis.md are exactly those of the commands that the code sends. So are the rights for looking
only, those that some URLs need, those at sentinels, and the list of rights that a health check tries.

usage: rights.py [--print | --self-test]
"""
import re
import shlex
import sys

import repository

DOCUMENT = "docs/stores/redis.md"
LOOKS = ("src/redis/doctor/health_check.cpp", "src/redis/redlock/voter.cpp")  # ask for more: of any server if they may; of several
TRIES = "src/redis/doctor/required_permissions.cpp"
ASKS_SENTINELS = "src/redis/sentinel/sentinels.cpp"
TRIED_OTHERWISE = {"ssubscribe", "scan"}  # by connecting; by looking for what is left over
NEED_NO_RIGHT = {"HELLO", "AUTH"}  # allowed before authentication
ONLY_WITH_A_DATABASE = {"SELECT"}  # the document says so
# With sentinels, for a cluster, or where replicas are waited for.
FOR_SOME_URLS = {"asking", "cluster|slots", "role", "wait", "waitaof", "command|info"}

IN_LUA = re.compile(r"\bcall\('([A-Z]+)'(?:, '([A-Z]+)')?")
IN_CXX = re.compile(r'^\s*\w+\.add\("([A-Z]+)"\)(?:\.add\("([A-Z-]+)"\))?', re.MULTILINE)
TRIED = re.compile(r'\{"([a-z|]+)", "[A-Z]+')
CONTAINERS = {"CLUSTER", "SCRIPT", "PUBSUB", "CONFIG", "SENTINEL", "COMMAND"}  # their subcommand has a right of its own


def sent(lua, cxx):
    commands = set()
    for command, following in IN_LUA.findall(lua) + IN_CXX.findall(cxx):
        commands.add(f"{command}|{following}" if command in CONTAINERS else command)
    return {c.lower() for c in commands - NEED_NO_RIGHT - ONLY_WITH_A_DATABASE}


def granted(document, first=r"[^`+']", program="redis-cli"):
    rules = re.findall(rf"^{program} ACL SETUSER holdfast {first}(?:[^`\\\n]|\\\n)*", document, re.MULTILINE)
    return {word[1:] for rule in rules for word in shlex.split(rule) if word.startswith("+")}


def problems_of_looking(lua, cxx, looks, tries, document):
    need = sent(lua, cxx)
    asked, may = sent("", looks) - need, granted(document, r"\+")
    tried = set(TRIED.findall(tries)) | TRIED_OTHERWISE
    yield from (f"{DOCUMENT} does not grant +{c}, which a health check asks for" for c in sorted(asked - may))
    yield from (f"{DOCUMENT} grants +{c}, which no health check asks for" for c in sorted(may - asked))
    yield from (f"{TRIES} does not try {c}, which the code needs" for c in sorted(need - tried))
    yield from (f"{TRIES} tries {c}, which the code never sends" for c in sorted(tried - need))


def differences(need, have, where=""):
    yield from (f"{DOCUMENT} does not grant +{c}, which the code needs{where}" for c in sorted(need - have))
    yield from (f"{DOCUMENT} grants +{c}, which the code never sends{where}" for c in sorted(have - need))


def problems_in(lua, cxx, document):
    need = sent(lua, cxx)
    yield from differences(need - FOR_SOME_URLS, granted(document))
    yield from differences(need & FOR_SOME_URLS, granted(document, r"'\+"), " for some URLs")


def problems_at_sentinels(cxx, document):
    yield from differences(sent("", cxx), granted(document, program="redis-cli -p 26379"), " to sentinels")


def self_test():
    lua = "local t = call('TIME') call('SET', K)"
    cxx = '  c.add("EVALSHA").add(s.sha);\n  c.add("SCRIPT").add("LOAD").add(x);\n  hello.add("HELLO").add("3");\n'
    good = "redis-cli ACL SETUSER holdfast on '>x' -@all +time +set \\\n  +evalsha '+script|load'\n```"
    yield from problems_in(lua, cxx, good)
    for bad in (good.replace("+time", ""), good.replace("+set", "+set +keys"), "nothing"):
        if not list(problems_in(lua, cxx, bad)):
            yield f"nothing is found in {bad!r}"
    role = '  c.add("ROLE");\n'
    if not list(problems_in(lua, cxx + role, good)):
        yield "a right that some URLs need is not found"
    yield from problems_in(lua, cxx + role, good + "\nredis-cli ACL SETUSER holdfast '+role'\n```")
    asks = '  c.add("SENTINEL").add("GET-MASTER").add(x);\n'
    at_sentinels = "redis-cli -p 26379 ACL SETUSER holdfast on '+sentinel|get-master'\n```"
    yield from problems_at_sentinels(asks, at_sentinels)
    if not list(problems_at_sentinels(asks, good)):
        yield "a right at sentinels is not found"
    cxx = cxx.replace("EVALSHA", "SSUBSCRIBE") + '  c.add("SCAN");\n'
    looks = '  info.add("INFO");\n  c.add("CONFIG").add("GET");\n  c.add("TIME");\n'
    tries = '    {"time", "TIME"},\n    {"set", "SET K m XX"},\n    {"script|load", "SCRIPT LOAD S"},\n'
    good = "redis-cli ACL SETUSER holdfast +info '+config|get'\n```"
    yield from problems_of_looking(lua, cxx, looks, tries, good)
    if not list(problems_of_looking(lua, cxx, looks, tries.replace("time", "ping"), good)):
        yield "a right that is not tried is not found"
    for bad in (good.replace("+info", "+scan"), "nothing"):
        if not list(problems_of_looking(lua, cxx, looks, tries, bad)):
            yield f"nothing is found in {bad!r}"


def main():
    if sys.argv[1:] == ["--self-test"]:
        repository.tell(self_test(), 12)
    scripts = list(repository.files("src/redis/scripts", suffixes=(".lua",)))
    lua = "\n".join(repository.read(path) for path in scripts)
    sources = list(repository.files("src/redis", suffixes=(".cpp",)))
    cxx = "\n".join(repository.read(path) for path in sources if str(path) not in (*LOOKS, ASKS_SENTINELS))
    if sys.argv[1:] == ["--print"]:
        return print(*(f"+{c}" for c in sorted(sent(lua, cxx))))
    document = repository.read(DOCUMENT)
    problems = [*problems_in(lua, cxx, document), *problems_at_sentinels(repository.read(ASKS_SENTINELS), document),
                *problems_of_looking(lua, cxx, "\n".join(map(repository.read, LOOKS)), repository.read(TRIES), document)]
    repository.tell(problems, len(scripts) + len(sources))


if __name__ == "__main__":
    main()
