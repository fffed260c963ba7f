#!/usr/bin/env python3
"""Every store runs every case of the suite, except those that need what the store lacks.

usage: complete.py PROGRAM STORE...
       complete.py --self-test

The cases are taken from the text of the sources, so a source that is not compiled, a fixture that is not registered and a
store that loses one of its powers all show.
"""
import pathlib
import re
import subprocess
import sys

NO_PROCESSES = {"end_clients", "stop_clients", "kernel"}  # clients are threads of one process
LACKS = {
    "dir": {"lose_state", "lease"},
    "memory": NO_PROCESSES,
    "redis": NO_PROCESSES,
    "redis_cluster": NO_PROCESSES,
    "redis_least_privilege": NO_PROCESSES,
    "redis_processes": {"fall_silent", "lose_replies", "kernel"},
    "redis_sentinel": NO_PROCESSES | {"fall_silent", "lose_replies"},
    "redlock": NO_PROCESSES | {"share", "numbers", "fair"},
}
CASE = re.compile(r"^TEST_OF_STORES\(\s*(\w+),\s*(\w+)\s*\)", re.MULTILINE)
NEEDS = re.compile(r"^HOLDFAST_FOR\(\s*(\w+),\s*(.*?)\);$", re.MULTILINE | re.DOTALL)
WORD = re.compile(r"(?:power|exclusion)::(\w+)|(fair)_stores")


def problems_of(text, store, lacks, listed):
    """What is wrong with the list of cases that a store's program prints, and how many cases it has."""
    needs = {fixture: {a or b for a, b in WORD.findall(words)} for fixture, words in NEEDS.findall(text)}
    cases = CASE.findall(text)
    problems = [f"{fixture} has cases, but no HOLDFAST_FOR" for fixture, _ in cases if fixture not in needs]
    expected = {f"store/{fixture}.{case}/{store}" for fixture, case in cases if not needs.get(fixture, set()) & lacks}
    there, suite = set(), ""
    for line in listed.splitlines():
        if line.startswith("  "):
            there.add(suite + line.strip())
        else:
            suite = line.strip()
    problems += [f"{store}: {each} is missing" for each in sorted(expected - there)]
    problems += [f"{store}: {each} is not in the sources, or the store lacks what it needs"
                 for each in sorted(there - expected)]
    return problems, len(there)


def self_test():
    text = ("HOLDFAST_FOR(plain, all_stores());\nTEST_OF_STORES(plain, works) {\n}\n"
            "HOLDFAST_FOR(turns,\n             power::share);\nTEST_OF_STORES(turns, shares) {\n}\n")
    both = "store/plain.\n  works/x\nstore/turns.\n  shares/x\n"
    plain = "store/plain.\n  works/x\n"
    assert problems_of(text, "x", set(), both) == ([], 2)
    assert problems_of(text, "x", {"share"}, plain) == ([], 1)
    assert "is missing" in problems_of(text, "x", set(), plain)[0][0]
    assert "lacks what it needs" in problems_of(text, "x", {"share"}, both)[0][0]
    assert "no HOLDFAST_FOR" in problems_of(text + "TEST_OF_STORES(other, y) {\n", "x", set(), both)[0][0]


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    program, stores = sys.argv[1], sys.argv[2:]
    text = "".join(path.read_text() for path in pathlib.Path(__file__).parent.glob("*.cpp"))
    problems, fewest = [], 0
    for store in stores:
        listed = subprocess.run([program, store, "--gtest_list_tests"], stdout=subprocess.PIPE, text=True, check=True)
        found, count = problems_of(text, store, LACKS[store], listed.stdout)
        problems += found
        fewest = min(fewest or count, count)
        print(f"{store}: {count} cases")
    print("\n".join(problems))
    return 1 if problems or not fewest else 0


sys.exit(main())
