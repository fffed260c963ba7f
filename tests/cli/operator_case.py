"""Shared by the tests of the operators' commands (ls, show, watch, revoke, break), which run on both stores."""
import fcntl
import json
import os
import pty
import struct
import subprocess
import termios

import redis_server
import support

# A name that would clear the screen and break its line, and is not valid UTF-8.
ODD = b"odd\n\x1b[2J \xff\\"
ODD_SHOWN = r"odd\n\x1b[2J \xff\\"


class Told:
    """The result of a command that has ended."""

    def __init__(self, code, output, errors):
        self.code, self.bytes, self.errors = code, output, errors

    @property
    def text(self):
        return self.bytes.decode()

    def lines(self):
        return self.text.splitlines()

    def objects(self):
        return [json.loads(line) for line in self.lines()]


def set_window(terminal, columns, rows):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class OnDirectory(support.Case):
    pass


class OnRedis(support.Case):
    def setUp(self):
        super().setUp()
        self.server = redis_server.RedisServer(self)
        self.store = self.server.url


class Operator:
    """A mixin for a Case."""

    def begin(self, command, *arguments, **how):
        """A running command; its lines are read as they arrive."""
        options = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=self.environment, bufsize=0)
        options["stderr"] = open(self.folder / f"stderr-{command}-{len(self.processes)}", "w+b")
        options.update(how)
        self.addCleanup(options["stderr"].close)
        popen = subprocess.Popen([support.PROGRAM, command, "--store", self.store, *arguments], **options)
        popen.errors = options["stderr"]
        self.process(popen.pid)
        self.addCleanup(popen.wait)
        self.addCleanup(popen.kill)
        if popen.stdout:
            self.addCleanup(popen.stdout.close)
            popen.lines = support.Lines(popen.stdout.fileno())
        return popen

    def ask(self, command, *arguments, **how):
        """Runs a command to its end."""
        popen = self.begin(command, *arguments, **how)
        output = popen.lines.all() if popen.stdout else b""
        code = popen.wait(support.PATIENCE)
        popen.errors.seek(0)
        return Told(code, output, popen.errors.read().decode())

    def terminal(self, columns=80, rows=24):
        """A new terminal: our end, and that of a command."""
        ours, theirs = pty.openpty()
        for fd in (ours, theirs):
            self.addCleanup(os.close, fd)
        set_window(ours, columns, rows)
        return ours, theirs

    def show(self, name="lock"):
        told = self.ask("show", "--json", name)
        self.assertEqual(told.code, 0, told.errors)
        return told.objects()[0]

    def fence(self, name="lock"):
        return self.show(name)["holders"][0]["fence"]

    def hold_odd(self):
        """Holds an odd name with an odd label."""
        return self.hold(os.fsdecode(ODD), options=["--label", "\x1b[31mred\x07"])
