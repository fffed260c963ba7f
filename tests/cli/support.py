"""Shared by the tests of the program: starting it, reading its output, and ending all processes.

Nothing here sleeps: a test waits for a line of --status-fd, for a line of the command, or for the end of a process, and
never for longer than PATIENCE. usage of a test: NAME_test.py PROGRAM [unittest's arguments]
"""
import fcntl
import json
import os
import pathlib
import select
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest

# A process group that a parent could continue, like a shell's job. The kernel does not stop other groups.
AS_A_JOB = {"process_group": 0}
PATIENCE = 30  # seconds
PROGRAM = ""
PYTHON = (sys.executable, "-ISc")

# Our parent may have ignored some signals; tests that need that do it themselves.
for _number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGCHLD, signal.SIGTSTP):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)

# For commands in Python: hear(names, say) reports signals at once, even while the program waits.
HEAR = """
import os, signal, sys, threading
def hear(names, say):
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    for name in names: signal.signal(getattr(signal, "SIG" + name), lambda number, frame: None)
    def tell():
        while True: say(signal.Signals(os.read(reading, 1)[0]).name[3:])
    threading.Thread(target=tell, daemon=True).start()
"""


def until(ready, what):
    """Polls until ready(), for conditions without an event, such as the state of a process."""
    end = time.monotonic() + PATIENCE
    while not ready():
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {PATIENCE} s")
        select.select([], [], [], 0.001)


class Process:
    """A process that the test has started, possibly indirectly. Uses a pidfd, so a reused pid is never signalled."""

    def __init__(self, pid):
        self.pid = pid
        self.fd = os.pidfd_open(pid)

    def ended(self, within=0):
        return bool(select.select([self.fd], [], [], within)[0])

    def wait(self):
        if not self.ended(PATIENCE):
            raise AssertionError(f"process {self.pid} did not end within {PATIENCE} s; it is {self.state()}")

    def state(self):
        """The state as in ps: R, S, T ...; empty if it has ended. A zombie (Z) counts as ended."""
        try:
            return pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return ""

    def signal(self, number):
        signal.pidfd_send_signal(self.fd, number)

    def end(self):
        try:
            self.signal(signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.close(self.fd)


def children(pid):
    """The children of a process, if it exists."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(word) for word in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


class Lines:
    """Reads a pipe line by line."""

    def __init__(self, fd):
        self.fd = fd
        self.rest = b""
        self.over = False

    def next(self):
        """The next line as bytes; empty at the end."""
        end = time.monotonic() + PATIENCE
        while b"\n" not in self.rest and not self.over:
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"nothing more was said within {PATIENCE} s; so far: {self.rest!r}")
            part = os.read(self.fd, 1 << 16)
            self.over = not part
            self.rest += part
        line, newline, self.rest = self.rest.partition(b"\n")
        return line + newline

    def all(self):
        return b"".join(iter(self.next, b""))

    def close(self):
        os.close(self.fd)


class Run:
    """A `holdfast run` or another command. The test writes to its stdin and reads its stdout."""

    def __init__(self, test, arguments, status=True, **how):
        self.test = test
        self.events = []
        self.errors_at = test.folder / f"stderr-{len(test.runs)}"
        reading, writing = os.pipe()
        self.status = Lines(reading)
        if status:
            arguments = ["--status-fd", str(writing), *arguments]
        options = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=test.environment)
        options["pass_fds"] = (writing,)
        options.update(how)
        with open(self.errors_at, "wb") as errors:
            options.setdefault("stderr", errors)
            program = options.pop("program", [PROGRAM])
            self.popen = subprocess.Popen([*program, options.pop("verb", "run"), *arguments], **options)
        os.close(writing)
        self.process = Process(self.popen.pid)
        self.command = None
        self.lines = Lines(os.dup(self.popen.stdout.fileno())) if self.popen.stdout else None

    @property
    def pid(self):
        return self.popen.pid

    def worker(self):
        """The worker process, which has the store and the command."""
        until(lambda: children(self.pid), "the worker")
        return self.test.process(children(self.pid)[0])

    def next_event(self):
        """The next line of --status-fd; empty at its end."""
        line = self.status.next()
        if not line:
            return None
        event = json.loads(line.decode("utf-8"))  # strict: a line that is not JSON in UTF-8 fails the test
        self.events.append(event)
        if event["event"] == "started" and not self.command:
            try:
                self.command = self.test.process(event["pid"])
            except ProcessLookupError:  # it has ended already
                pass
        return event

    def event(self, what):
        """Reads up to an event of that name."""
        while event := self.next_event():
            if event["event"] == what:
                return event
        raise AssertionError(f"no {what!r} came; but {self.events}; {self.errors()}")

    def told(self):
        """The names of all events of the run."""
        while self.next_event():
            pass
        return [event["event"] for event in self.events]

    def running(self):
        self.event("started")
        return self

    def waiting(self):
        self.event("waiting")
        return self

    def line(self):
        return self.lines.next().decode().rstrip("\n")

    def word(self, expected):
        """Waits until the command prints this."""
        self.test.assertEqual(self.line(), expected, self.errors())
        return self

    def tell(self, text):
        self.popen.stdin.write(text.encode() + b"\n")

    def let_go(self):
        self.popen.stdin.close()

    def signal(self, number):
        self.process.signal(number)

    def code(self):
        """Waits for its end and returns the exit code."""
        self.process.wait()
        return self.popen.wait()

    def errors(self):
        return self.errors_at.read_text(errors="replace") if self.errors_at.exists() else ""

    def end(self):
        workers = [Process(pid) for pid in children(self.pid)]
        for worker in workers:
            worker.signal(signal.SIGCONT)
        self.process.end()
        self.popen.wait()
        for worker in workers:  # the worker ends the command first
            worker.wait()
            worker.end()
        for stream in (self.popen.stdin, self.popen.stdout, self.lines, self.status):
            if stream:
                stream.close()


class Case(unittest.TestCase):
    """A test with its own store."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-cli-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.store = f"dir:{self.folder}/store"
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("HOLDFAST_")}
        self.environment["LC_ALL"] = "C"
        self.environment["HOLDFAST_CONFIG"] = ""  # ignore the configuration of this machine and user
        self.runs = []
        self.processes = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for each in self.runs + self.processes:
            each.end()

    def process(self, pid):
        self.processes.append(Process(int(pid)))
        return self.processes[-1]

    def raw(self, *arguments, **how):
        """`holdfast run` with exactly these arguments."""
        self.runs.append(Run(self, list(arguments), **how))
        return self.runs[-1]

    def run_(self, name, *command, options=(), **how):
        return self.raw("--store", self.store, *options, name, "--", *command, **how)

    def shell(self, name, script, *arguments, options=(), **how):
        """Runs a shell script as the command; $1, $2 ... are the arguments."""
        return self.run_(name, "sh", "-c", script, "sh", *map(str, arguments), options=options, **how)

    def python(self, name, program, *arguments, options=(), **how):
        return self.run_(name, *PYTHON, program, *map(str, arguments), options=options, **how)

    def hold(self, name="lock", options=(), **how):
        """Holds the lock until let_go()."""
        return self.run_(name, "cat", options=options, **how).running()

    def rows(self, sql, *values):
        """Executes SQL on the store's database."""
        database = sqlite3.connect(f"{self.folder}/store/locks.db", timeout=PATIENCE)
        try:
            with database:
                return database.execute(sql, values).fetchall()
        finally:
            database.close()

    def places(self, name="lock"):
        """The number of holders and waiters in the store."""
        return self.rows("SELECT count(*) FROM place WHERE name = ? AND owner <> x''", os.fsencode(name))[0][0]

    def break_lock(self, name="lock"):
        """Removes the holder from the store without notice."""
        self.rows("DELETE FROM place WHERE name = ? AND ticket = 0", os.fsencode(name))

    def assert_free(self, name="lock"):
        run = self.run_(name, "true", options=["-n"])
        self.assertEqual(run.code(), 0, run.errors())

    def assert_held(self, name="lock"):
        run = self.run_(name, "true", options=["-n"])
        self.assertEqual(run.code(), 75, run.errors())


def full_pipe():
    """A full pipe that is not read: (reading, writing)."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while os.write(writing, b"x" * 4096):
            pass
    except BlockingIOError:
        os.set_blocking(writing, True)
    return reading, writing


def lock_byte(path, at):
    """Locks a byte of a file as the store does (F_OFD_SETLK); free again when the returned file is closed."""
    file = open(path, "r+b")
    f_ofd_setlk = 37
    fcntl.fcntl(file, f_ofd_setlk, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, at, 1, 0))
    return file


def main():
    global PROGRAM
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(module="__main__", verbosity=2)
