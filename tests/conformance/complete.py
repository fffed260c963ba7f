#!/usr/bin/env python3
"""Every store runs every case of the suite, except those that need what the store lacks.

usage: complete.py PROGRAM STORE...

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


def main():
    program, stores = sys.argv[1], sys.argv[2:]
    text = "".join(path.read_text() for path in pathlib.Path(__file__).parent.glob("*.cpp"))
    needs = {fixture: {a or b for a, b in WORD.findall(words)} for fixture, words in NEEDS.findall(text)}
    cases = CASE.findall(text)
    problems = [f"{fixture} has cases, but no HOLDFAST_FOR" for fixture, _ in cases if fixture not in needs]
    for store in stores:
        expected = {f"store/{fixture}.{case}/{store}"
                    for fixture, case in cases if not needs.get(fixture, set()) & LACKS[store]}
        told = subprocess.run([program, store, "--gtest_list_tests"], stdout=subprocess.PIPE, text=True, check=True)
        there, suite = set(), ""
        for line in told.stdout.splitlines():
            if line.startswith("  "):
                there.add(suite + line.strip())
            else:
                suite = line.strip()
        problems += [f"{store}: {each} is missing" for each in sorted(expected - there)]
        problems += [f"{store}: {each} is not in the sources, or the store lacks what it needs"
                     for each in sorted(there - expected)]
        print(f"{store}: {len(there)} cases")
    print("\n".join(problems))
    return 1 if problems or not cases or not stores else 0


sys.exit(main())
