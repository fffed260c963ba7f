"""The processes of `holdfast run`: no part of the command outlives the lock, and it inherits the caller's streams."""
import hashlib
import os
import signal
import subprocess

import support
from stores import OnDirectory, OnRedis

# Starts a process in the command's group that writes its pid to $1 and ends only by a signal.
STAYS = '"echo \\$\\$ > $1.new; mv $1.new $1; exec sleep 1000"'
GRANDCHILD = f"sh -c {STAYS} & while ! [ -e $1 ]; do :; done; "
# Starts such a process as a daemon: in its own session, with its parent gone.
DAEMON = f"(setsid sh -c {STAYS} &); while ! [ -e $1 ]; do :; done; "
# Starts such a process in its own session, with its parent alive.
ELSEWHERE = f"setsid sh -c {STAYS} & while ! [ -e $1 ]; do :; done; "
# Exits with 0 if the process in $1 exists and is not a zombie.
SEEN = 'grep -q "^State:.[^ZX]" /proc/$(cat $1)/status'


class Leftovers:
    def leave(self, script, *options, then="exit 3"):
        """Runs the command while another run waits; its leftovers must be gone when the next holder looks."""
        at = self.folder / "pid"
        run = self.shell("lock", script + "echo ready; read x; " + then, at, options=options).running().word("ready")
        left = self.process(at.read_text())
        next_ = self.shell("lock", SEEN, at).waiting()
        self.assertFalse(left.ended())
        run.let_go()
        self.assertEqual(run.code(), 3)
        self.assertNotEqual(next_.code(), 0, "the next holder saw a process of the one before")
        self.assertTrue(left.ended())
        return run

    def test_a_grandchild_is_ended_before_the_lock_is_free(self):
        self.leave(GRANDCHILD)

    def test_a_grandchild_that_ignores_term_ends_before_the_lock(self):
        self.leave('trap "" TERM; ' + GRANDCHILD, "--grace", "200ms")

    def test_a_stopped_grandchild_is_ended_before_the_lock_is_free(self):
        self.leave(GRANDCHILD + "kill -STOP $(cat $1); ")

    def test_a_daemon_is_ended_before_the_lock_is_free(self):
        self.leave(DAEMON)

    def test_a_daemon_that_ignores_term_is_ended_before_the_lock_is_free(self):
        self.leave('trap "" TERM; ' + DAEMON, "--grace", "200ms")

    def test_a_child_in_another_session_is_ended_before_the_lock_is_free(self):
        self.leave(ELSEWHERE, "--grace", "200ms")

    def test_a_daemon_is_killed_at_once_when_the_lock_is_broken(self):
        at = self.folder / "pid"
        before = self.hold()  # a holder that had to wait is notified of a loss at once, others at their renewal
        run = self.shell("lock", 'trap "" TERM; ' + DAEMON + "echo ready; read x", at,
                         options=["-v", "--ttl", "3h", "--grace", "1h"]).waiting()
        before.let_go()
        fence = run.event("acquired")["fence"]
        run.running().word("ready")
        left = self.process(at.read_text())
        run.let_go()
        support.until(lambda: "left behind" in run.errors(), "the end of the command")
        self.assertFalse(left.ended())
        self.program("break", "lock", "--fence", str(fence), "--yes")
        left.wait()
        self.assertEqual(run.code(), 80)
        self.assertEqual(run.event("released")["certain"], 0)

    def program(self, command, *arguments):
        subprocess.run([support.PROGRAM, command, "--store", self.store, *arguments], env=self.environment, check=True,
                       stdout=subprocess.DEVNULL, timeout=support.PATIENCE)

    def test_ending_leftovers_is_reported_with_v(self):
        run = self.leave(GRANDCHILD, "-v")
        self.assertIn("stopping what the command left behind", run.errors())

    def test_many_generations_are_ended(self):
        program = """
import os, sys
for depth in range(20):
    if os.fork(): os._exit(0) if depth else (sys.stdin.read(), os._exit(3))
    os.setsid()
print(os.getpid(), flush=True)
import signal
signal.pause()
"""
        run = self.python("lock", program).running()
        last = self.process(run.line())
        run.let_go()
        self.assertEqual(run.code(), 3)
        self.assertTrue(last.ended())


class WhatTheCommandLeavesBehindOnADirectory(OnDirectory, Leftovers, support.Case):
    pass


class WhatTheCommandLeavesBehindOnRedis(OnRedis, Leftovers, support.Case):
    pass


class TheStreams(support.Case):
    def test_megabytes_of_stdin_reach_the_command(self):
        data = self.folder / "data"
        data.write_bytes(os.urandom(1 << 20) * 5)
        feeder = subprocess.Popen(["cat", data], stdout=subprocess.PIPE)
        run = self.run_("lock", "sha256sum", stdin=feeder.stdout)
        feeder.stdout.close()
        self.assertEqual(run.line().split()[0], hashlib.sha256(data.read_bytes()).hexdigest())
        self.assertEqual(run.code(), 0)
        self.assertEqual(feeder.wait(support.PATIENCE), 0)

    def test_stdin_is_not_read_before_the_command_or_after_it(self):
        text = self.folder / "text"
        text.write_text("one\ntwo\nthree\n")
        with open(text) as file:
            run = self.shell("lock", "dd bs=1 count=4 2> /dev/null", stdin=file)
            self.assertEqual(run.code(), 0)
            self.assertEqual(run.lines.all(), b"one\n")
            self.assertEqual(os.read(file.fileno(), 100), b"two\nthree\n")

    def test_a_closed_stream_stays_closed_for_the_command(self):
        for closed in ("0", "1", "2", "01", "02", "12", "012"):
            close = "".join(f"exec {fd}>&-; " for fd in closed)
            at = self.folder / f"open-{closed}"
            program = ["sh", "-c", close + 'exec "$@"', "sh", support.PROGRAM]
            look = 'r=; for fd in 0 1 2; do [ -e /proc/$$/fd/$fd ] && r=$r$fd; done; echo "$r" > "$1"'
            run = self.shell("lock", look, at, program=program, options=["-v"])
            self.assertEqual(run.code(), 0)
            self.assertEqual(at.read_text().strip(), "".join(fd for fd in "012" if fd not in closed))

    def test_nothing_is_written_to_a_file_on_a_closed_stream_number(self):
        holder = self.hold()
        program = ["sh", "-c", 'exec 0>&- 1>&- 2>&-; exec "$@"', "sh", support.PROGRAM]
        file = self.folder / "of-the-command"
        opens = "import os, sys; [os.open(sys.argv[1] + str(n), os.O_RDWR | os.O_CREAT) for n in range(3)]; os.fstat(2)"
        run = self.run_("lock", *support.PYTHON, opens, str(file), program=program, options=["-v"]).waiting()
        holder.let_go()
        self.assertEqual(run.code(), 0)
        busy = self.hold()
        self.assertEqual(self.run_("lock", "true", program=program, options=["-n", "-v"]).code(), 75)
        busy.let_go()
        self.assertEqual(busy.code(), 0)
        for n in range(3):
            self.assertEqual((self.folder / f"of-the-command{n}").read_bytes(), b"")
        for each in (self.folder / "store").iterdir():
            if each.is_file():
                self.assertNotIn(b"holdfast: ", each.read_bytes(), each)
        self.assertEqual(self.rows("PRAGMA integrity_check"), [("ok",)])

    def test_the_command_inherits_no_descriptor_of_ours(self):
        run = self.run_("lock", "ls", "-l", "/proc/self/fd", status=False, pass_fds=())
        numbers = [line.split()[8] for line in run.lines.all().decode().splitlines()[1:]]
        self.assertEqual(numbers, ["0", "1", "2", "3"])  # the last is the directory that ls reads
        self.assertEqual(run.code(), 0)

    def test_a_descriptor_of_the_caller_is_inherited(self):
        reading, writing = os.pipe()
        run = self.run_("lock", *support.PYTHON, "import os, sys; os.write(int(sys.argv[1]), b'here')", str(writing),
                        status=False, pass_fds=(writing,))
        os.close(writing)
        self.assertEqual(run.code(), 0)
        self.assertEqual(os.read(reading, 10), b"here")
        self.assertEqual(os.read(reading, 10), b"")  # and no process keeps it open
        os.close(reading)

    def test_a_closed_reader_ends_the_command_by_sigpipe_and_not_us(self):
        reading, writing = os.pipe()
        run = self.run_("lock", "yes", stdout=writing).running()
        os.close(writing)
        os.close(reading)
        self.assertEqual(run.code(), 128 + signal.SIGPIPE)
        self.assertEqual(run.told()[-2:], ["released", "end"])
        self.assert_free()

    def test_an_unread_stderr_does_not_stop_us(self):
        reading, writing = os.pipe()
        run = self.shell("lock", "read x; exit 5", options=["-v"], stderr=writing).running()
        os.close(writing)
        os.close(reading)
        run.let_go()
        self.assertEqual(run.code(), 5)
        holder = self.hold()
        reading, writing = os.pipe()
        os.close(reading)
        self.assertEqual(self.run_("lock", "true", options=["-n"], stderr=writing).code(), 75)
        os.close(writing)
        holder.let_go()

    def test_directory_and_umask_are_those_of_the_caller(self):
        run = self.shell("lock", "pwd; umask", cwd=self.folder, umask=0o027)
        self.assertEqual(run.lines.all().decode().split(), [str(self.folder), "0027"])

    def test_runs_no_command_if_its_leftovers_cannot_be_listed(self):
        without_proc = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh", support.PROGRAM]
        run = self.run_("lock", "true", program=without_proc)
        self.assertEqual(run.code(), 70)
        self.assertIn("is /proc mounted?", run.errors())
        self.assertEqual(run.told(), [])


class AStderrThatIsFull(support.Case):
    """Its reader does not read, like `less`, or a terminal after Ctrl-S."""

    STUBBORN = 'trap "" TERM; echo ready; while :; do read x; done'

    def setUp(self):
        super().setUp()
        reading, self.full = support.full_pipe()
        self.addCleanup(os.close, reading)
        self.addCleanup(os.close, self.full)

    def test_does_not_delay_killing_the_command(self):
        for lost in ("term", "exec:exit 3"):
            options = ["-v", "--max-hold", "2s", "--grace", "500ms", "--on-lost", lost]
            run = self.shell("lock", self.STUBBORN, options=options, stderr=self.full).running().word("ready")
            self.assertEqual(run.code(), 79, lost)
            self.assertEqual(run.event("exited")["signal"], signal.SIGKILL)

    def test_does_not_delay_signals_while_we_wait(self):
        holder = self.hold()
        run = self.run_("lock", "true", options=["-v"], stderr=self.full).waiting()
        run.signal(signal.SIGTERM)
        self.assertEqual(run.code(), 128 + signal.SIGTERM)
        busy = self.run_("lock", "true", options=["-n"], stderr=self.full)
        self.assertEqual(busy.code(), 75)
        holder.let_go()

    def test_does_not_delay_the_next_term_of_elect(self):
        run = self.raw("--store", self.store, "-v", "lock", "--", "false", verb="elect", stderr=self.full)
        run.event("end")
        run.event("acquired")
        run.signal(signal.SIGTERM)
        self.assertIn(run.code(), (1, 128 + signal.SIGTERM))  # the command may have ended by itself before


class TheGroup(support.Case):
    def test_is_the_commands_own(self):
        run = self.hold()
        self.assertEqual(os.getpgid(run.command.pid), run.command.pid)
        self.assertNotEqual(os.getpgid(run.pid), run.command.pid)
        self.assertEqual(os.getsid(run.command.pid), os.getsid(0))


if __name__ == "__main__":
    support.main()
