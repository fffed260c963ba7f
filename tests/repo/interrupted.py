#!/usr/bin/env python3
"""An interrupted scripts/test leaves no process behind, and the next run continues and appends to the log.

It runs in a tree of its own, whose only preset has two tests: one passes, the other starts daemons without the
environment of the run and waits.
"""
import contextlib
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import repository

PATIENCE = 60
PRESETS = """{"version": 6,
 "configurePresets": [{"name": "dev", "generator": "Ninja", "binaryDir": "${sourceDir}/build/dev"}],
 "buildPresets": [{"name": "dev", "configurePreset": "dev"}],
 "testPresets": [{"name": "dev", "configurePreset": "dev"}]}"""
TESTS = """cmake_minimum_required(VERSION 3.25)
project(interrupted NONE)
enable_testing()
add_test(NAME first COMMAND true)
add_test(NAME second COMMAND sh ${CMAKE_SOURCE_DIR}/second)
set_tests_properties(second PROPERTIES DEPENDS first)
"""
# It passes if the pipe was removed. Otherwise it writes the pids of its daemons to it; one of them ignores the signals.
SECOND = """[ -p pipe ] || exit 0
trap '' INT TERM HUP
for shell in 'exec sleep 1000' 'trap "" INT TERM HUP; exec sleep 1000'; do setsid -f env -i sh -c 'echo $$ > '"$PWD/pipe"'; '"$shell"; done
sleep 1000
"""


def git(tree, *words):
    subprocess.run(["git", *words], cwd=tree, check=True, capture_output=True)


def make(tree):
    (tree / "scripts").mkdir()
    shutil.copy(repository.ROOT / "scripts/test", tree / "scripts/test")
    (tree / "scripts/setup").write_text("#!/bin/sh\n")
    (tree / "scripts/setup").chmod(0o755)
    (tree / "CMakePresets.json").write_text(PRESETS)
    (tree / "CMakeLists.txt").write_text(TESTS)
    (tree / "second").write_text(SECOND)
    (tree / ".gitignore").write_text("build/\n")
    git(tree, "init", "--quiet")


def run(tree):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # where our caller ignores one, the run would ignore it, too
    environment = {name: value for name, value in os.environ.items() if name != "NO_CONTINUE"}
    return subprocess.Popen([sys.executable, tree / "scripts/test"], cwd=tree, stdout=subprocess.PIPE, text=True,
                            stderr=subprocess.STDOUT, start_new_session=True, env=environment)


def ended(daemon):
    """Whether the daemon ended by itself. It has ended afterwards."""
    ended_before = bool(select.select([daemon], [], [], PATIENCE)[0])
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(daemon, signal.SIGKILL)
    os.close(daemon)
    return ended_before


def check(number, to_all):
    """Sends the signal to the runner or to its process group."""
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        make(tree)
        (tree / "build/dev").mkdir(parents=True)
        os.mkfifo(tree / "build/dev/pipe")
        first = run(tree)
        daemons = []
        while len(daemons) < 2:
            daemons += [os.pidfd_open(int(word)) for word in (tree / "build/dev/pipe").read_text().split()]
        # The second test has started, but the runner may not have read yet that the first one passed.
        passed = tree / "build/dev/passed_at_level_test"
        end = time.monotonic() + PATIENCE
        while "first" not in passed.read_text().split() and time.monotonic() < end:
            time.sleep(0.01)
        (os.killpg if to_all else os.kill)(first.pid, number)
        output = first.communicate(timeout=PATIENCE)[0]
        assert first.returncode == 130, (first.returncode, output)
        assert "the same command continues" in output, output
        assert all([ended(daemon) for daemon in daemons]), "a daemon is left"
        log = (tree / "build/test.log").read_text()
        (tree / "build/dev/pipe").unlink()
        second = run(tree)
        output = second.communicate(timeout=PATIENCE)[0]
        assert second.returncode == 0, output
        assert "1 tests passed before" in output and "2 passed, 0 failed" in output, output
        assert (tree / "build/test.log").read_text().startswith(log), "the log of the first run is lost"


def main():
    ways = [(signal.SIGINT, False), (signal.SIGINT, True), (signal.SIGTERM, False), (signal.SIGHUP, True)]
    for number, to_all in ways:
        check(number, to_all)
    repository.tell([], len(ways))


if __name__ == "__main__":
    main()
