#!/usr/bin/env python3
"""Runs the models of models/ with spin: each has to hold, with every state seen, and each of its twins to fail.

usage: check.py [--cache FOLDER] [--long] [model...]      --long: also the runs that take minutes and gigabytes

A run depends on its model, on this file and on the version of spin alone. FOLDER remembers the runs that ended as they
must, so that they are repeated only after one of the three has changed.
"""
import argparse
import functools
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile

MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"
DEPTH, MEGABYTES = 2_000_000, 1024
DEPTH_LONG, MEGABYTES_LONG = 40_000_000, 8192

# Model -> what holds (flags) -> its twins (one more flag each), which must break an assertion.
RUNS = {
    "grant": {
        "": ["TWIN_ADOPT_AS_IS", "TWIN_FROM_THE_ANSWER", "TWIN_FROM_THE_PUSH", "TWIN_OWN_TTL", "TWIN_PUSH_BEFORE_SET",
             "TWIN_RELEASE_OF_ANY_OWNER", "TWIN_SHORTEN", "TWIN_TAKE_AFTER_LEAVING", "TWIN_WHOLE_TTL"],
        "BREAK CALM": ["TWIN_BREAK_ANY_OWNER", "TWIN_BREAK_AND_STAY"],
        "PUSHES CALM STEPS=2": ["TWIN_NO_FENCE", "FORWARD"],
        "PUSHES CALM STEPS=2 FORWARD PROMPT": ["TWIN_FUTURE"],
    },
    "queue": {
        "": ["TWIN_BARGE", "TWIN_KEEP_THE_HEAD", "TWIN_LAST_FIRST", "TWIN_LEAVE_ONLY_THE_QUEUE", "TWIN_NEW_TICKET",
             "TWIN_NO_TIMER", "TWIN_ONLY_DELETE", "TWIN_SKIP_NO_WAITER"],
        "CRASHES FB=2": ["TWIN_ONLY_THE_HEAD"],
    },
    "fence": {
        "": ["TWIN_ADOPT_THE_LAST", "TWIN_OLD_BLOCK", "TWIN_ONE_FENCE", "TWIN_PASS_AFTER_RELEASE",
             "TWIN_PASS_WHEN_OVER"],
        "P=3": [],
        "RESET": ["TWIN_NO_FLOOR"],
    },
    "redlock": {
        "": ["TWIN_FROM_THE_ANSWER", "TWIN_HALF"],
        "FAST TTL=3": ["TWIN_NO_ALLOWANCE"],
        "LATE": ["TWIN_OF_ANY_OWNER", "TWIN_ONE_NUMBER"],
        "RESTARTS=1": ["TWIN_TOO_SHORT", "TWIN_YOUNG_VOTE"],
        "RESTARTS=1 RENEW": ["TWIN_MINORITY_MAKES_IT_AGAIN", "TWIN_YOUNG_RENEW"],
    },
    "redlock_fence": {
        "": ["TWIN_NOT_WRITTEN_BACK", "TWIN_TO_ONE"],
    },
    "redlock_forget": {
        "": ["TWIN_CLOCKS_APART", "TWIN_NO_CLOCK", "TWIN_YOUNG_VOTE"],
    },
}
LONG = {"grant": ["PUSHES STEPS=1", "PUSHES CALM N=3"], "queue": ["FB=2"]}


def run(model, flags, optimise, depth=DEPTH, megabytes=MEGABYTES):
    """What the verifier says about a model with these flags."""
    with tempfile.TemporaryDirectory() as folder:
        def call(*command):
            done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            return done.stdout
        call("spin", "-a", *(f"-D{flag}" for flag in flags), str(MODELS / f"{model}.pml"))
        call("gcc", optimise, "-w", "-DSAFETY", "-DNOCLAIM", f"-DMEMLIM={megabytes}", "-o", "pan", "pan.c")
        return call("./pan", f"-m{depth}", "-w22")


def verdict(said):
    """holds, fails, or why it is neither."""
    errors = re.search(r"errors: (\d+)", said)
    if not errors:
        return "did not run: " + said[-300:]
    if errors[1] != "0":
        return "fails" if "assertion violated" in said else "fails, but not by an assertion"
    whole = "Search not completed" not in said and "too small" not in said and "out of memory" not in said
    return "holds" if whole else "did not see every state"


def numbers(said):
    states = re.search(r"(\S+) states, stored", said)
    seconds = re.search(r"elapsed time (\S+)", said)
    return (f"{int(float(states[1])):,}" if states else "?") + " states, " + (seconds[1] if seconds else "?") + " s"


@functools.cache
def spin_version():
    return subprocess.run(["spin", "-V"], capture_output=True, text=True, check=True).stdout


def remembered(cache, model, flags, wanted, bounds):
    """The file that says that such a run has ended as it must."""
    parts = [spin_version(), pathlib.Path(__file__).read_text(), (MODELS / f"{model}.pml").read_text(), *flags, wanted,
             repr(bounds)]
    return cache / hashlib.sha256("\0".join(parts).encode()).hexdigest()


def check(cache, model, flags, wanted, **bounds):
    memory = remembered(cache, model, flags, wanted, bounds) if cache else None
    if memory and memory.exists():
        print(f"{model} {' '.join(flags)}: {memory.read_text()}, not run again", flush=True)
        return True
    # Most twins fail at once, so that compiling them would take longer than the search.
    said = run(model, flags, "-O2" if wanted == "holds" else "-O0", **bounds)
    got = verdict(said)
    result = f"{got}, {numbers(said)}"
    print(f"{model} {' '.join(flags)}: {result}" + ("" if got == wanted else f"; {wanted} was wanted"), flush=True)
    if memory and got == wanted:
        memory.write_text(result)
    return got == wanted


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cache", type=pathlib.Path)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("models", nargs="*", metavar="model")
    arguments = parser.parse_args()
    if arguments.cache:
        arguments.cache.mkdir(parents=True, exist_ok=True)
    run_one = functools.partial(check, arguments.cache)
    fine = True
    for model in arguments.models or RUNS:
        for flags, twins in RUNS[model].items():
            fine &= run_one(model, flags.split(), "holds")
            for twin in twins:
                fine &= run_one(model, [*flags.split(), twin], "fails")
        for flags in LONG.get(model, []) if arguments.long else []:
            fine &= run_one(model, flags.split(), "holds", depth=DEPTH_LONG, megabytes=MEGABYTES_LONG)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
