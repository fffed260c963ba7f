#!/usr/bin/env python3
"""Runs the chaos of all topologies side by side, since they mostly wait. The result of each is a test of its own.

usage: together.py run RUNNER FOLDER SEED TOPOLOGY...   runs them and keeps their output in the folder
       together.py tell FOLDER TOPOLOGY                 prints the output of one and returns its exit code

HOLDFAST_TEST_LEVEL sets the time of each run: "test" (the default) for a change, "check" before a release.
"""
import concurrent.futures
import os
import pathlib
import shutil
import signal
import subprocess
import sys

TIME = {"test": "15s", "check": "60s"}
LONGEST = 420  # seconds; a run that takes longer hangs


def run(runner, folder, time, seed, topology):
    log = folder / topology
    with open(log, "w") as out:
        process = subprocess.Popen([runner, "run", topology, "--time", time, "--seed", seed], stdout=out,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            code = process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            out.write(f"hangs: killed after {LONGEST} s\n")
            code = 1
    log.with_suffix(".code").write_text(str(code if code >= 0 else 1))
    return f"{topology}: {'fine' if code == 0 else f'ended with {code}'}"


def run_all(runner, folder, seed, *topologies):
    time = TIME[os.environ.get("HOLDFAST_TEST_LEVEL", "test")]
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with concurrent.futures.ThreadPoolExecutor(len(topologies)) as pool:
        for line in pool.map(lambda each: run(runner, folder, time, seed, each), topologies):
            print(line, flush=True)


def tell(folder, topology):
    log = pathlib.Path(folder, topology)
    sys.stdout.write(log.read_text())
    return int(log.with_suffix(".code").read_text())


if __name__ == "__main__":
    sys.exit({"run": run_all, "tell": tell}[sys.argv[1]](*sys.argv[2:]))
