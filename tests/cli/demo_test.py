"""`holdfast demo --keep`: its locks are visible in the store, and it cleans up."""
import pathlib
import re
import signal
import subprocess

import support
from redis_server import RedisServer


class Kept(support.Case):
    # Subclasses choose the store and inspect it.
    def begin(self, *arguments):
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        environment = dict(self.environment, TMPDIR=str(self.temporary))
        self.demo = subprocess.Popen([support.PROGRAM, "demo", "--keep", *arguments], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, env=environment)
        self.addCleanup(self.demo.wait)
        self.addCleanup(self.demo.kill)
        lines = support.Lines(self.demo.stdout.fileno())
        text = ""
        while "Ctrl-C" not in text:
            line = lines.next().decode()
            self.assertTrue(line, (text, self.demo.poll()))
            text += line
        return text

    def finish(self, number):
        self.demo.send_signal(number)
        _, errors = self.demo.communicate(timeout=support.PATIENCE)
        self.assertEqual((self.demo.returncode, errors), (128 + number, b""))
        self.assertEqual(list(self.temporary.iterdir()), [])

    def shows_itself_and_cleans_up(self, number):
        text = self.begin("--store", self.store)
        for command in ("top", "ls", "show"):
            self.assertRegex(text, rf"holdfast {command} .*--store {re.escape(self.store)}\n")
        self.prefix = re.search(r"(demo/\w+/)train/001", text)[1]
        support.until(lambda: self.seen("train/001") == (1, 4), "one seller sells, four wait")
        support.until(lambda: self.seen("timetable")[0] == 2, "two readers read")
        support.until(lambda: self.seen("tills") == (2, 1), "two cashiers at the tills, one waits")
        self.finish(number)
        for name in ("train/001", "timetable", "tills"):
            support.until(lambda: self.seen(name) == (0, 0), f"nothing left of {name}")


class OnADirectory(Kept):
    def seen(self, name):
        """The numbers of holders and waiters."""
        rows = self.rows("SELECT held <> 0 FROM place WHERE name = ? AND owner <> x''", (self.prefix + name).encode())
        return sum(held for (held,) in rows), sum(not held for (held,) in rows)

    def test_passes_and_cleans_up(self):
        self.shows_itself_and_cleans_up(signal.SIGINT)

    def test_uses_a_temporary_directory_without_a_store(self):
        text = self.begin()
        at = re.search(r"--store dir:(\S+)", text)[1]
        self.assertTrue(pathlib.Path(at).is_relative_to(self.temporary), at)
        self.finish(signal.SIGTERM)


class OnRedis(Kept):
    def setUp(self):
        super().setUp()
        self.server = RedisServer(self)
        self.redis = self.server.client()
        self.store = self.server.url

    def seen(self, name):
        key = f"holdfast:{{{self.prefix}{name}}}"
        waiting = self.redis.zcard(key + ":q")
        holders = self.redis.zcount(key + ":h", "(0", "+inf")  # the history of the readers has the score 0
        return holders or self.redis.exists(key), waiting

    def test_passes_and_cleans_up(self):
        self.shows_itself_and_cleans_up(signal.SIGTERM)

    def test_leaves_the_password_out(self):
        self.redis.config_set("requirepass", "Secret77")
        text = self.begin("--store", self.store.replace("://", "://:Secret77@"))
        self.assertNotIn("Secret77", text)
        self.assertIn("The password is left out", text)
        self.finish(signal.SIGHUP)

    def test_reports_an_unreachable_store(self):
        words = [support.PROGRAM, "demo", "--keep", "--store", f"redis+unix://{self.folder}/nobody"]
        done = subprocess.run(words, capture_output=True, env=self.environment, timeout=support.PATIENCE)
        self.assertEqual(done.returncode, 69)
        self.assertIn(b"nobody", done.stderr)


if __name__ == "__main__":
    support.main()
