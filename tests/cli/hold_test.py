"""`holdfast hold`: holds a lock for a script until stdin ends."""
import os
import pathlib
import pty
import select
import signal
import subprocess

import support
from stores import OnDirectory, OnRedis


class Hold(support.Run):
    """A `holdfast hold`, which writes events to stdout."""

    def __init__(self, test, *arguments, **how):
        how.setdefault("stdout", subprocess.PIPE)
        super().__init__(test, ["--store", test.store, *arguments], status=False, verb="hold", **how)
        test.runs.append(self)
        if self.lines:
            self.status.close()
            self.status, self.lines = self.lines, None


class Tests:
    def holding(self, *arguments, **how):
        hold = Hold(self, *arguments, **how)
        self.acquired = hold.event("acquired")
        return hold

    def ask_for_it(self, name, reason):
        words = [support.PROGRAM, "revoke", "--store", self.store, "--reason", reason, name]
        subprocess.run(words, check=True, env=self.environment, timeout=support.PATIENCE)

    def test_holds_until_stdin_ends_and_writes_events(self):
        hold = self.holding("lock")
        self.assert_held()
        self.assertEqual(self.acquired["name"], "lock")
        self.assertRegex(self.acquired["owner"], "^[0-9a-f]{32}$")
        self.assertGreater(self.acquired["fence"], 0)
        self.assertEqual(self.acquired["fences"], {"lock": self.acquired["fence"]})
        hold.tell("what is said there is dropped")
        self.assert_held()
        hold.let_go()
        self.assertEqual(hold.code(), 0)
        self.assertEqual(hold.told(), ["acquired", "released", "end"])
        self.assertEqual((hold.events[-1]["exit"], hold.events[-1]["cause"]), (0, "released"))
        self.assertEqual(hold.errors(), "")
        self.assert_free()

    def test_several_names_are_held_together_each_with_its_fence(self):
        hold = self.holding("b", "a")
        self.assertEqual(self.acquired["name"], "b, a")
        self.assertEqual(list(self.acquired["fences"]), ["b", "a"])
        for name in "ab":
            self.assert_held(name)
        hold.let_go()
        self.assertEqual(hold.code(), 0)
        for name in "ab":
            self.assert_free(name)

    def test_a_signal_releases_the_lock_and_is_the_exit_code(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            hold = self.holding("lock")
            hold.signal(number)
            self.assertEqual(hold.code(), 128 + number)
            self.assertEqual(hold.told(), ["acquired", "released", "end"])
            self.assertEqual((hold.events[1]["certain"], hold.events[2]["cause"]), (1, "signal"))
            self.assert_free()

    def test_a_signal_while_it_waits_makes_it_leave(self):
        holder = self.hold()
        hold = Hold(self, "lock").waiting()
        hold.signal(signal.SIGTERM)
        self.assertEqual(hold.code(), 128 + signal.SIGTERM)
        self.assertEqual(hold.told(), ["waiting", "end"])
        holder.let_go()

    def test_the_end_of_stdin_while_it_waits_makes_it_leave(self):
        holder = self.hold()
        hold = Hold(self, "lock").waiting()
        hold.let_go()
        self.assertEqual(hold.code(), 75, hold.errors())
        self.assertEqual(hold.told(), ["waiting", "busy", "end"])
        holder.let_go()
        self.assertEqual(holder.code(), 0)
        self.assert_free()

    def test_acquires_a_free_lock_even_if_stdin_has_ended(self):
        for _ in range(10):
            hold = Hold(self, "lock", stdin=subprocess.DEVNULL)
            self.assertEqual(hold.code(), 0, hold.errors())
            self.assertEqual(hold.told(), ["acquired", "released", "end"])

    def test_busy_is_75_and_names_the_holder(self):
        holder = self.hold(options=["--label", "the other"])
        hold = Hold(self, "-n", "lock")
        self.assertEqual(hold.code(), 75)
        self.assertIn("held by the other", hold.errors())
        self.assertEqual(Hold(self, "-w", "500ms", "-E", "3", "lock").code(), 3)
        self.assertEqual(Hold(self, "-n", "--skip", "lock").code(), 64)  # --skip is only for commands that can do nothing
        holder.let_go()

    def test_the_end_of_max_hold_is_a_loss(self):
        hold = self.holding("--max-hold", "200ms", "lock")
        lost = hold.event("lost")
        self.assertEqual((lost["why"], lost["fence"]), ("--max-hold is over", self.acquired["fence"]))
        self.assertEqual(hold.code(), 79)
        # The store counts from a little later than the holder, so -n could still find it held.
        self.assertEqual(self.run_("lock", "true", options=["-w", "5s"]).code(), 0)

    def test_reports_a_revoke_request_and_keeps_holding(self):
        hold = self.holding("lock")
        self.ask_for_it("lock", "an upgrade")
        asked = hold.event("revoke_requested")
        self.assertEqual((asked["name"], asked["reason"]), ("lock", "an upgrade"))
        self.assert_held()
        hold.let_go()
        self.assertEqual(hold.code(), 0)

    def test_events_go_to_the_status_descriptor(self):
        hold = support.Run(self, ["--store", self.store, "lock"], verb="hold")
        self.runs.append(hold)
        hold.event("acquired")
        hold.let_go()
        self.assertEqual(hold.code(), 0)
        self.assertEqual(hold.told(), ["acquired", "released", "end"])
        self.assertEqual(hold.lines.all(), b"")


class AtAStoreThatRefuses(support.Case):
    def test_the_end_of_stdin_is_not_reported_as_silence(self):
        self.store = "redis+unix:///nowhere/s"
        for _ in range(5):
            hold = Hold(self, "lock", stdin=subprocess.DEVNULL)
            self.assertEqual(hold.code(), 75, hold.errors())
            self.assertEqual(hold.told(), ["unanswered", "busy", "end"])
            self.assertEqual(hold.errors(), "holdfast: gave up on lock: its caller has ended\n")


class InADirectory(OnDirectory, Tests, support.Case):
    def test_releases_a_lock_when_acquired_cannot_be_written(self):
        reading, write_end = os.pipe()
        os.close(reading)
        with open("/dev/full", "wb") as full, open(write_end, "wb") as gone:
            closed = ["sh", "-c", 'exec 1>&-; exec "$@"', "sh", support.PROGRAM]
            ways = [dict(stdout=full), dict(stdout=gone), dict(program=closed)]
            for how, quiet in ((how, quiet) for how in ways for quiet in (False, True)):
                hold = Hold(self, *(["-q"] if quiet else []), "lock", **how)
                self.assertEqual(hold.code(), 70, hold.errors())
                self.assertEqual("cannot be written" in hold.errors(), not quiet, hold.errors())
                self.assertEqual("was released" in hold.errors(), not quiet, hold.errors())
                self.assert_free()

    def test_releases_a_lock_when_the_status_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            hold = Hold(self, "--status-fd", str(full.fileno()), "lock", pass_fds=[full.fileno()])
            self.assertEqual(hold.code(), 70, hold.errors())
        self.assert_free()

    def test_waits_for_a_slow_reader_of_acquired(self):
        names = [f"{n:03}-" + "n" * 500 for n in range(100)]  # so that the event does not fit into a pipe
        self.assert_free()  # creates the store
        hold = Hold(self, *names)
        support.until(lambda: self.places(names[-1]) == 1, "the lock")
        select.select([], [], [], 0.3)  # other events are dropped after 0.1 s
        self.assertEqual(list(hold.event("acquired")["fences"]), names)
        hold.let_go()
        self.assertEqual(hold.code(), 0)

    def test_a_broken_lock_is_79_at_the_end(self):
        hold = self.holding("lock")
        self.break_lock()
        hold.let_go()
        self.assertEqual(hold.code(), 79)
        self.assertIn("not ours any more", hold.event("lost")["why"])

    def test_lock_is_free_after_the_holder_is_killed(self):
        hold = self.holding("lock")
        hold.signal(signal.SIGKILL)
        hold.code()
        self.assert_free()

    def test_accepts_a_terminal_as_stdin(self):
        ours, its = pty.openpty()
        hold = self.holding("lock", stdin=its, start_new_session=True)
        os.close(its)
        os.write(ours, b"a line\n")
        self.assert_held()
        os.write(ours, b"\x04")
        self.assertEqual(hold.code(), 0, hold.errors())
        os.close(ours)

    def test_a_terminal_is_not_read_in_the_background(self):
        # A session whose leader is in the foreground of the terminal, and hold in the background.
        in_background = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
pid = os.fork()
if pid == 0:
    os.setpgid(0, 0)
    os.execv(sys.argv[1], sys.argv[1:])
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
        ours, its = pty.openpty()
        hold = self.holding("lock", stdin=its, program=[*support.PYTHON, in_background, support.PROGRAM])
        os.close(its)
        os.write(ours, b"a line for others\n\x04")
        self.ask_for_it("lock", "is it awake?")
        hold.event("revoke_requested")
        self.assert_held()
        children = pathlib.Path(f"/proc/{hold.pid}/task/{hold.pid}/children").read_text().split()
        self.process(children[0]).signal(signal.SIGTERM)
        self.assertEqual(hold.code(), 128 + signal.SIGTERM, hold.errors())
        os.close(ours)

    def test_wrong_usage_is_64(self):
        self.assertEqual(Hold(self).code(), 64)
        hold = Hold(self, "")
        self.assertEqual(hold.code(), 64)
        self.assertEqual(hold.told(), ["end"])


class OnAServer(OnRedis, Tests, support.Case):
    def test_a_loss_is_reported_and_is_79(self):
        hold = self.holding("--ttl", "5s", "lock")
        self.assertEqual(self.acquired["ttl"], 5)
        self.redis.flushall()
        lost = hold.event("lost")
        self.assertIn("not ours any more", lost["why"])
        self.assertEqual(hold.code(), 79)
        self.assertEqual(hold.told(), ["acquired", "lost", "end"])

    def test_an_unreachable_server_is_69_and_named(self):
        self.store = "redis+unix:///nowhere/s"
        hold = Hold(self, "-n", "lock")
        self.assertEqual(hold.code(), 69)
        self.assertIn("/nowhere/s", hold.errors())
        end = hold.event("end")
        self.assertEqual((end["cause"], end["exit"]), ("error", 69))


if __name__ == "__main__":
    support.main()
