#!/usr/bin/env python3
"""Runs a GoogleTest program and tells only what went wrong: the tests that failed, or the one in which it died or hung.
Hundreds of lines about what passed would hide that. usage: brief.py SECONDS PROGRAM [ARGUMENT...]"""
import re
import signal
import subprocess
import sys

BEGINS = re.compile(r"^\[ RUN      \] ")
ENDS = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] ")
UNSEEN = re.compile(r"\[  SKIPPED \]|YOU HAVE .* DISABLED TEST|Running 0 tests")


def told(lines):
    """The blocks of tests that failed, whatever a test said that never ended, and what was said outside of tests at
    the end."""
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


def main():
    limit, command = float(sys.argv[1]), sys.argv[2:]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
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
    if program.returncode == 0 and not late and not UNSEEN.search(text):
        print(text.rstrip().rpartition("\n")[2])
        return 0
    print("\n".join(told(text.splitlines())))
    print(f"not done within {limit:g} s" if late else f"ended with {program.returncode}")
    return 1


sys.exit(main())
