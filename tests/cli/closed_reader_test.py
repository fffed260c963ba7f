"""Every command ends silently and leaves nothing behind when the reader of its output is gone."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile

import support

BY_SIGNAL = -signal.SIGPIPE  # like any program that writes to a closed pipe

# Commands that print: exit code, and arguments besides --store.
PRINT = {
    "ls": (0, [[], ["--json"]]),
    "show": (0, [["lock"], ["--json", "lock"]]),
    "watch": (0, [["--interval", "1h"], ["--json", "--interval", "10ms"]]),
    "try": (BY_SIGNAL, [["--json", "lock"]]),
    "doctor": (BY_SIGNAL, [[], ["-v"], ["--json"]]),
    "config": (BY_SIGNAL, [[], ["--json"]]),
    "revoke": (BY_SIGNAL, [["lock"]]),
    "bench": (0, [["--time", "10ms", "lock"], ["--time", "10ms", "--json", "lock"]]),
    "demo": (128 + signal.SIGPIPE, [[]]),  # it ends its child processes first
    "elect": (0, [["--observe", "lock"], ["--observe", "--json", "lock"]]),
    "run": (BY_SIGNAL, [["--dry-run", "lock", "--", "true"]]),
}


class AReaderThatIsGone(support.Case):
    def setUp(self):
        super().setUp()
        self.scratch = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        self.environment["TMPDIR"] = str(self.scratch)

    def code(self, *arguments, **how):
        """The exit code of a command whose stdout is closed; its stderr is in self.said."""
        reading, writing = os.pipe()
        os.close(reading)
        try:
            done = subprocess.run([support.PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=writing,
                                  stderr=subprocess.PIPE, env=self.environment, timeout=support.PATIENCE, **how)
        finally:
            os.close(writing)
        self.said = done.stderr.decode()
        return done.returncode

    def test_ends_every_command_that_prints(self):
        holder = self.hold()
        for command, (code, ways) in PRINT.items():
            for arguments in ways:
                with self.subTest(command=command, arguments=arguments):
                    self.assertEqual(self.code(command, "--store", self.store, *arguments), code, self.said)
                    self.assertEqual(self.said, "")
                    self.assertEqual(list(self.scratch.iterdir()), [])
        holder.let_go()
        self.assertEqual(holder.code(), 0)

    def test_ends_help_and_version(self):
        listed = subprocess.run([support.PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
        commands = re.findall(r"(?m)^(?:\w+| {4}) +(\w+) {2,}\S", listed)
        self.assertGreater(len(commands), 10)
        for arguments in (["--version"], ["--help"], *([each, "--help"] for each in commands)):
            self.assertEqual(self.code(*arguments), BY_SIGNAL, arguments)
            self.assertEqual(self.said, "")

    def test_makes_acquire_release_the_lock(self):
        for options in ([], ["--json"]):
            arguments = ["acquire", "--store", self.store, *options, "--hold-for", str(os.getpid()), "lock"]
            self.assertEqual(self.code(*arguments), 70)
            self.assertIn("was released", self.said)
            self.assert_free()
            closed = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", support.PROGRAM, *arguments], text=True,
                                    env=self.environment, stderr=subprocess.PIPE, timeout=support.PATIENCE)
            self.assertEqual(closed.returncode, 70, closed.stderr)
            self.assertIn("was released", closed.stderr)
            self.assert_free()

    def test_does_not_end_a_hold_before_stdin_ends(self):
        reading, writing = os.pipe()
        hold = support.Run(self, ["--store", self.store, "lock"], status=False, verb="hold", stdout=writing)
        self.runs.append(hold)
        os.close(writing)
        os.read(reading, 1)
        os.close(reading)
        self.assert_held()
        hold.let_go()
        self.assertEqual(hold.code(), 0, hold.errors())
        self.assert_free()

    def test_does_not_undo_a_break(self):
        holder = self.run_("lock", "cat", options=["--on-lost", "ignore"])
        fence = holder.event("acquired")["fence"]
        code = self.code("break", "--store", self.store, "lock", "--fence", str(fence), "--yes")
        self.assertEqual(code, BY_SIGNAL, self.said)
        self.assert_free()
        holder.let_go()
        self.assertEqual(holder.code(), 80)


if __name__ == "__main__":
    support.main()
