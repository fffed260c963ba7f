#!/usr/bin/env python3
"""Runs a GoogleTest program and prints only the tests that failed, or the one in which it died or hung. Hundreds of lines
about tests that passed would hide them.

usage: brief.py [--shards=N] SECONDS PROGRAM [ARGUMENT...]

With shards, N processes run the cases side by side, which saves time where cases wait. Each must run at least one case,
and together they must run all.
"""
import concurrent.futures
import os
import re
import signal
import subprocess
import sys

BEGINS = re.compile(r"^\[ RUN      \] ")
ENDS = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] ")
UNSEEN = re.compile(r"\[  SKIPPED \]|YOU HAVE .* DISABLED TEST|Running 0 tests")
PASSED = re.compile(r"^\[  PASSED  \] (\d+) tests?\.$", re.MULTILINE)


def told(lines):
    """The output of failed tests, that of a test that never ended, and the output after the last test."""
    kept, block = [], []
    for line in lines:
        if BEGINS.match(line):
            block = []
        block.append(line)
        end = ENDS.match(line)
        if end and len(block) > 1:
            if end[1] != "OK":
                kept += block
            block = []
    return kept + block


def run(limit, command, shards, index):
    """Whether all cases passed, how many passed, and what to print."""
    environment = dict(os.environ)
    if shards > 1:
        environment.update(GTEST_TOTAL_SHARDS=str(shards), GTEST_SHARD_INDEX=str(index))
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    late = False
    try:
        out, _ = program.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        late = True
        program.send_signal(signal.SIGABRT)
        try:
            out, _ = program.communicate(timeout=10)
        except subprocess.TimeoutExpired as still:  # a child of it has its output too
            program.kill()
            out = still.output or b""
    text = out.decode(errors="replace")
    passed = PASSED.search(text)
    if program.returncode == 0 and not late and not UNSEEN.search(text) and passed:
        return True, int(passed[1]), text.rstrip().rpartition("\n")[2]
    end = f"not done within {limit:g} s" if late else f"ended with {program.returncode}"
    return False, 0, "\n".join([*told(text.splitlines()), end])


def cases(command):
    out = subprocess.run([*command, "--gtest_list_tests"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return sum(1 for line in out.splitlines() if line.startswith("  "))


def main():
    arguments, shards = sys.argv[1:], 1
    if arguments[0].startswith("--shards="):
        shards = int(arguments.pop(0).partition("=")[2])
    limit, command = float(arguments[0]), arguments[1:]
    with concurrent.futures.ThreadPoolExecutor(shards) as pool:
        ends = list(pool.map(lambda index: run(limit, command, shards, index), range(shards)))
    good = [each for each in ends if each[0]]
    if len(good) < shards:
        print("\n".join(text for fine, _, text in ends if not fine))
        return 1
    if shards == 1:
        print(ends[0][2])
        return 0
    ran, all_of_them = sum(count for _, count, _ in ends), cases(command)
    for _, _, last in ends:
        if not PASSED.match(last):
            print(last)
    print(f"[  PASSED  ] {ran} of {all_of_them} tests, in {shards} processes.")
    return 0 if ran == all_of_them else 1


sys.exit(main())
