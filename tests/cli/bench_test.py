"""`holdfast bench`: its output, how a signal stops it, and that it leaves nothing behind."""
import json
import os
import pty
import signal
import subprocess

import support
from redis_server import RedisServer

FIGURES = {"part", "what", "operations", "seconds", "per_second", "min_us", "p50_us", "p99_us", "max_us", "histogram"}


class Bench(support.Case):
    # Subclasses choose the store, and the parts that apply to it.
    def begin(self, *arguments, **how):
        words = [support.PROGRAM, "bench", "--store", self.store, *arguments]
        how = dict(dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment), **how)
        started = subprocess.Popen(words, **how)
        self.addCleanup(started.wait)
        self.addCleanup(started.kill)
        for stream in (started.stdout, started.stderr):
            if stream:
                self.addCleanup(stream.close)
        return started

    def bench(self, *arguments):
        """The output of a run that must exit with 0."""
        started = self.begin(*arguments)
        said, errors = started.communicate(timeout=support.PATIENCE)
        self.assertEqual((started.returncode, errors), (0, b""))
        return said.decode()

    def assert_sound(self, figures):
        self.assertEqual(set(figures), FIGURES)
        self.assertGreater(figures["operations"], 0)
        self.assertGreater(figures["seconds"], 0)
        self.assertLessEqual(figures["min_us"], figures["p50_us"])
        self.assertLessEqual(figures["p50_us"], figures["p99_us"])
        self.assertLessEqual(figures["p99_us"], figures["max_us"])
        rows = figures["histogram"]
        self.assertEqual(sum(row["count"] for row in rows), figures["operations"])
        self.assertEqual([row["up_to_us"] for row in rows], sorted(row["up_to_us"] for row in rows))

    def all_parts(self, parts, raw):
        told = json.loads(self.bench("--json", "--time", "100ms", "--threads", "3"))
        self.assertEqual(told["store"], self.store)
        self.assertEqual((told["time"], told["threads"], told["interrupted"]), (0.1, 3, False))
        self.assertEqual([part["part"] for part in told["parts"]], parts)
        for figures in (told["raw"], *told["parts"]):
            self.assert_sound(figures)
        self.assertIn(raw, told["raw"]["what"])
        self.assert_nothing_left()

    def interrupted(self):
        """Waits for the terminal output, then stops it."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        with os.fdopen(slave) as terminal:
            environment = dict(self.environment, TERM="xterm")
            started = self.begin("--time", "1h", "lock", "contention", "hand-off", stdout=terminal, env=environment)
        shown = Terminal(master)
        shown.until(b"lock [")
        started.send_signal(signal.SIGINT)
        code = started.wait(support.PATIENCE)
        self.assertEqual(code, 128 + signal.SIGINT)
        for word in (b"so far", b"two bare SQLite transactions"):
            self.assertIn(word, shown.rest())
        self.assert_nothing_left()

    def interrupted_in(self, part):
        """Without a terminal: waits until the store has its locks, then stops it."""
        started = self.begin("--json", "--time", "1h", part)
        support.until(self.names, f"locks of {part}")
        started.send_signal(signal.SIGTERM)
        said, errors = started.communicate(timeout=support.PATIENCE)
        self.assertEqual((started.returncode, errors), (128 + signal.SIGTERM, b""))
        self.assertIs(json.loads(said)["interrupted"], True)
        self.assert_nothing_left()

    def assert_nothing_left(self):
        support.until(lambda: not self.names(), "nothing left behind")


class Terminal:
    """What is written to a terminal."""

    def __init__(self, master):
        self.master = master
        self.seen = b""

    def more(self):
        try:
            part = os.read(self.master, 1 << 16)
        except OSError:  # the other end is closed
            part = b""
        self.seen += part
        return part

    def until(self, word):
        while word not in self.seen:
            if not self.more():
                raise AssertionError(f"no {word!r} was shown, but {self.seen!r}")

    def rest(self):
        while self.more():
            pass
        return self.seen


class OnADirectory(Bench):
    def names(self):
        if not (self.folder / "store" / "locks.db").exists():
            return []
        tables = self.rows("SELECT name FROM sqlite_master WHERE name = 'place'")
        return tables and self.rows("SELECT name FROM place")

    def assert_nothing_left(self):
        super().assert_nothing_left()
        self.assertEqual(list(self.folder.glob("store/holdfast-bench*")), [])

    def test_reports_applicable_parts_as_json(self):
        self.all_parts(["lock", "threads", "contention", "hand-off"], "SQLite")

    def test_shows_a_table_and_a_picture(self):
        said = self.bench("--time", "50ms", "lock")
        for word in ("p50", "p99", "max", "a second", "raw", "one thread", "up to", "#"):
            self.assertIn(word, said)
        self.assertNotIn("\x1b", said)
        self.assertNotIn("contention", said)

    def test_measures_a_named_part_even_if_not_applicable(self):
        told = json.loads(self.bench("--json", "--time", "50ms", "renew"))
        self.assertEqual([part["part"] for part in told["parts"]], ["renew"])

    def test_reports_partial_results_when_interrupted(self):
        self.interrupted()

    def test_leaves_no_lock_behind_when_stopped_during_a_part(self):
        for part in ("threads", "contention", "hand-off"):
            self.interrupted_in(part)

    def test_leaves_no_file_behind_when_killed(self):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        with os.fdopen(slave) as terminal:
            started = self.begin("--time", "1h", "lock", stdout=terminal, env=dict(self.environment, TERM="xterm"))
        Terminal(master).until(b"raw [")
        started.kill()
        started.wait(support.PATIENCE)
        self.assertEqual(list(self.folder.glob("store/holdfast-bench*")), [])

    def test_rejects_unknown_parts_and_bad_values(self):
        for words in (["sunshine"], ["--time", "1ms"], ["--time", "2d"], ["--threads", "0"], ["--threads", "x"]):
            started = self.begin(*words)
            _, errors = started.communicate(timeout=support.PATIENCE)
            self.assertEqual(started.returncode, 64, (words, errors))
            self.assertIn(b"see holdfast bench --help", errors)


class OnRedis(Bench):
    def setUp(self):
        super().setUp()
        self.server = RedisServer(self)
        self.redis = self.server.client()
        self.store = self.server.url

    def names(self):
        """The keys of locks and queues. Fence counters and client keys, which live for a day, are left out."""
        found = self.redis.scan_iter("holdfast:*")
        return [key for key in found if not key.endswith(":f") and not key.startswith("holdfast:client:")]

    def test_reports_all_parts_as_json(self):
        self.all_parts(["lock", "threads", "contention", "hand-off", "renew"], "PING")

    def test_leaves_no_lock_behind_when_stopped_during_a_part(self):
        for part in ("threads", "contention", "hand-off", "renew"):
            self.interrupted_in(part)

    def test_never_shows_the_password(self):
        self.redis.config_set("requirepass", "Secret77")
        self.redis.auth("Secret77")
        shown, self.store = self.store, self.store.replace("://", "://:Secret77@")
        said = self.bench("--json", "--time", "50ms", "lock", "hand-off")
        self.assertNotIn("Secret77", said)
        told = json.loads(said)
        self.assertEqual(told["store"], shown)
        self.assertIn("PING", told["raw"]["what"])
        self.assertEqual(len(told["parts"]), 2)

    def test_reports_an_unreachable_store(self):
        self.store = f"redis+unix://{self.folder}/nobody"
        started = self.begin("--time", "50ms")
        _, errors = started.communicate(timeout=support.PATIENCE)
        self.assertEqual(started.returncode, 69)
        self.assertIn(b"nobody", errors)


if __name__ == "__main__":
    support.main()
