"""`holdfast top` on an emulated terminal."""
import json
import os
import select
import signal
import socket
import termios
import time

import support
from operator_case import ODD_SHOWN, OnDirectory, OnRedis, Operator, set_window
from small_screen import SmallScreen
from terminal_test import shell


class Top(Operator):
    def setUp(self):
        super().setUp()
        self.environment["TERM"] = "xterm"
        self.ours, self.theirs = self.terminal()
        self.screen = SmallScreen(80, 24)
        self.orders = None

    def begin_shell(self):
        """A process that starts top, stops with it and continues it, like a shell."""
        us, them = socket.socketpair()
        us.settimeout(support.PATIENCE)
        pid = os.fork()
        if pid == 0:
            try:
                us.close()
                os.environ.clear()
                os.environ.update(self.environment)
                shell(them, self.theirs)
            finally:
                os._exit(1)
        them.close()
        self.orders = us.makefile("rw")
        process = support.Process(pid)
        self.addCleanup(us.close)
        self.addCleanup(self.orders.close)
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(process.end)

    def order(self, *words):
        self.orders.write(json.dumps(words) + "\n")
        self.orders.flush()
        return json.loads(self.orders.readline())

    def top(self, *arguments, columns=80, rows=24):
        set_window(self.ours, columns, rows)
        self.screen.resize(columns, rows)
        self.modes = termios.tcgetattr(self.theirs)
        if not self.orders:
            self.begin_shell()
        words = [support.PROGRAM, "top", "--store", self.store, "--interval", "50ms", *arguments]
        self.job = self.process(self.order("begin", words, 2, True))

    def look(self):
        """The output so far."""
        while select.select([self.ours], [], [], 0)[0]:
            self.screen.feed(os.read(self.ours, 1 << 16))

    def until(self, seen, what):
        end = time.monotonic() + support.PATIENCE
        while not seen():
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.ours], [], [], left)[0]:
                raise AssertionError(f"{what} did not come; the screen:\n{self.screen.text()}")
            self.screen.feed(os.read(self.ours, 1 << 16))

    def sees(self, *texts):
        for text in texts:
            self.until(lambda: text in self.screen.text(), repr(text))

    def sees_no_more(self, text):
        self.until(lambda: text not in self.screen.text(), f"the end of {text!r}")

    def type(self, text):
        os.write(self.ours, text.encode())

    def ends(self, code=0):
        """Waits for its end and checks that the terminal is restored."""
        self.assertEqual(self.order("wait"), ["ended", code])
        self.assert_restored()

    def assert_restored(self):
        self.look()
        self.assertEqual((self.screen.alternate, self.screen.cursor, self.screen.wraps), (False, True, True))
        self.assertEqual(termios.tcgetattr(self.theirs), self.modes)
        self.assertEqual(self.screen.outside, [])

    def test_it_shows_locks_as_they_change(self):
        self.hold("jobs/a", options=["--label", "nightly"])
        self.top()
        self.sees("1 name, 0 waiting; by waiters", "  NAME ", "> jobs/a", " lock ", "nightly", "q quit")
        self.assertTrue(self.screen.alternate)
        self.assertFalse(self.screen.cursor)
        self.run_("jobs/a", "true").waiting()
        self.sees("1 name, 1 waiting")
        other = self.hold("jobs/b")
        self.sees("2 names", "jobs/b")
        other.let_go()
        self.sees_no_more("jobs/b")
        self.type("q")
        self.ends()

    def test_it_fits_a_small_terminal(self):
        for name in ("a" * 40, "b", "c", "d"):
            self.hold(name)
        self.top(columns=20, rows=5)
        self.type("n")
        self.sees("> aaaaaaa", "  b ", "  c ")
        self.assertNotIn("  d", self.screen.text())
        self.type("jjj")
        self.sees("> d")
        self.type("/")
        self.sees("/_")
        self.type("aa\r")
        self.sees("> aaaaaaa")
        self.type("\r")
        self.sees(": lock")
        self.type("jj")
        self.sees("held by ")
        self.type("q")
        self.ends()

    def test_it_follows_resizes(self):
        self.hold("lock", options=["--label", "nightly"])
        self.top()
        self.sees("nightly")
        for columns, rows in ((20, 5), (10, 2), (1, 1), (120, 40)):
            self.screen.resize(columns, rows)
            set_window(self.ours, columns, rows)
            frames = self.screen.frames
            self.until(lambda: self.screen.frames >= frames + rows, "a new picture")
            self.until(lambda: columns < 20 or "> lock" in self.screen.text(), "the name")
        self.screen.outside.clear()  # written before the resize was noticed
        self.sees("nightly", "q quit")
        self.type("q")
        self.ends()

    def test_it_needs_no_colours(self):
        self.environment["NO_COLOR"] = "1"
        self.hold()
        self.run_("lock", "true").waiting()
        self.top()
        self.sees("> lock", "1 waiting")
        self.type("q")
        self.ends()
        self.assertEqual(self.screen.colours, 0)

    def test_it_has_colours(self):
        self.hold()
        self.top()
        self.sees("> lock")
        self.assertGreater(self.screen.colours, 0)
        self.type("q")
        self.ends()

    def test_signals_and_keys_that_end_it_restore_the_terminal(self):
        for ending, number in (
            (lambda: self.type("\x03"), signal.SIGINT),
            (lambda: self.job.signal(signal.SIGTERM), signal.SIGTERM),
            (lambda: self.job.signal(signal.SIGHUP), signal.SIGHUP),
        ):
            self.top()
            self.sees("0 names")
            ending()
            self.ends(-number)

    def test_it_stops_and_continues(self):
        self.hold()
        self.top()
        self.sees("> lock")
        for _ in range(2):
            self.type("\x1a")
            self.assertEqual(self.order("wait"), ["stopped"])
            self.assert_restored()
            self.screen.clear()
            self.order("fg")
            self.sees("> lock")
            self.assertTrue(self.screen.alternate)
        self.type("q")
        self.ends()

    def test_it_stops_in_the_background(self):
        self.top()
        self.sees("0 names")
        self.type("\x1a")
        self.assertEqual(self.order("wait"), ["stopped"])
        self.order("bg")
        self.assertEqual(self.order("wait"), ["stopped"])
        self.assert_restored()
        self.order("fg")
        self.sees("0 names")
        self.type("q")
        self.ends()

    def test_it_restores_the_screen_after_sigstop(self):
        self.top()
        self.sees("0 names")
        self.job.signal(signal.SIGSTOP)
        self.assertEqual(self.order("wait"), ["stopped"])
        termios.tcsetattr(self.theirs, termios.TCSANOW, self.modes)  # like a shell
        self.screen.clear()
        self.order("fg")
        self.sees("0 names")
        self.type("q")
        self.ends()

    def test_details_open_and_close(self):
        self.hold(options=["--label", "nightly"])
        self.run_("lock", "true", options=["--label", "next one"]).waiting()
        self.top()
        self.sees("> lock")
        self.type("\r")
        self.sees("lock: lock", "held by", "nightly", "fence ", "1. ", "next one", "esc back")
        self.type("\x1b")
        self.sees("> lock", "/ search")
        self.type("q")
        self.ends()

    def test_it_sends_a_revoke_request(self):
        self.hold()
        self.top()
        self.sees("> lock")
        self.type("r")
        self.sees("reason to ask for lock: _")
        self.type("deploy\r")
        self.sees("ask who holds lock to let go? y/n")
        self.type("y")
        self.sees("asked to let go of lock")
        self.assertEqual(self.show()["asked"]["reason"], "deploy")
        self.type("q")
        self.ends()

    def test_it_breaks_a_lock_only_after_confirmation(self):
        self.hold(options=["--on-lost", "ignore"])
        self.top()
        self.sees("> lock")
        self.type("bstuck\r")
        self.sees("take lock by force from")
        self.type("n")
        self.sees("nothing is done")
        self.assertEqual(self.show()["holding"], 1)
        self.type("bstuck\r")
        self.sees("take lock by force from")
        self.type("y")
        self.sees("taken by force: lock", "0 names")
        self.assertEqual(self.show()["broken"]["reason"], "stuck")
        self.type("q")
        self.ends()

    def test_it_escapes_odd_names(self):
        self.hold_odd()
        self.top(columns=200)
        self.sees("> " + ODD_SHOWN, r"\x1b[31mred\x07")
        self.type("q")
        self.ends()

    def test_it_needs_a_terminal_and_names_alternatives(self):
        told = self.ask("top", stdin=self.theirs)
        self.assertEqual((told.code, told.text), (64, ""))
        self.assertIn("holdfast ls or holdfast watch", told.errors)
        self.environment["TERM"] = "dumb"
        self.assertEqual(self.ask("top", stdin=self.theirs, stdout=self.theirs).code, 64)


class TopOnDirectory(Top, OnDirectory):
    pass


class TopOnRedis(Top, OnRedis):
    def test_a_silent_store_is_reported_and_keys_still_work(self):
        self.top()
        self.sees("0 names")
        self.server.popen.kill()
        self.server.popen.wait()
        self.sees("no answer: ")
        self.server.start()
        self.sees("0 names")
        self.type("q")
        self.ends()


if __name__ == "__main__":
    support.main()
