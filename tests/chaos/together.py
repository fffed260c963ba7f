#!/usr/bin/env python3
"""Chaos runs of all topologies at a time: they wait for most of the time. Each is a test of its own, that tells.

usage: together.py run RUNNER FOLDER SEED TOPOLOGY...   all of them; what they say is kept in the folder
       together.py tell FOLDER TOPOLOGY                 what one of them said; its exit code

HOLDFAST_TEST_LEVEL says how long each runs: "test" (the default) for a change, "check" before a release.
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
            out.write(f"hangs: it was ended after {LONGEST} s\n")
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
