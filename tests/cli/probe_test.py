"""`holdfast try` and `holdfast wait`: check whether a lock is free, without acquiring it."""
import json
import signal
import subprocess

import support
from stores import OnDirectory, OnRedis


class Silent(support.Case):
    """A store that does not answer."""

    def start(self, verb, *options):
        arguments = ["--store", "redis+unix:///nowhere/s", *options, "lock"]
        self.runs.append(support.Run(self, arguments, status=False, verb=verb))
        return self.runs[-1]

    def test_times_out_when_the_server_is_silent(self):
        patient = self.start("wait")
        for verb, *options in (("wait", "-w", "200ms"), ("try",)):
            run = self.start(verb, *options)
            self.assertEqual(run.code(), 69, run.errors())
            self.assertIn("/nowhere/s", run.errors())
            self.assertFalse(patient.process.ended(), f"{verb} took as long as one that has more time")
        self.assertEqual(patient.code(), 69)


class Tests:
    def program(self, *arguments):
        return subprocess.run([support.PROGRAM, arguments[0], "--store", self.store, *arguments[1:]],
                              capture_output=True, text=True, env=self.environment, timeout=support.PATIENCE)

    def waiting(self, *arguments):
        run = support.Run(self, ["--store", self.store, "-v", *arguments], status=False, verb="wait")
        self.runs.append(run)
        support.until(lambda: "waiting for" in run.errors(), "the first look")
        return run

    def test_try_is_0_for_a_free_lock_and_75_for_a_held_one(self):
        self.assertEqual(self.program("try", "lock").returncode, 0)
        holder = self.hold(options=["--label", "the other"])
        done = self.program("try", "lock")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (75, "", ""))
        self.assertIn("the other", self.program("try", "-v", "lock").stderr)
        holder.let_go()
        self.assertEqual(holder.code(), 0)
        self.assertEqual(self.program("try", "-v", "lock").returncode, 0)

    def test_try_of_several_names_needs_all_of_them(self):
        holder = self.hold("b")
        self.assertEqual(self.program("try", "a", "b").returncode, 75)
        self.assertEqual(self.program("try", "a", "c").returncode, 0)
        lines = [json.loads(line) for line in self.program("try", "--json", "a", "b").stdout.splitlines()]
        self.assertEqual([(line["name"], line["free"], len(line["holders"])) for line in lines],
                         [("a", True, 0), ("b", False, 1)])
        self.assertIn(f" pid {holder.pid}: ", lines[1]["holders"][0]["label"])
        holder.let_go()

    def test_readers_block_only_writers(self):
        reader = self.hold(options=["-s"])
        self.assertEqual(self.program("try", "lock").returncode, 75)
        self.assertEqual(self.program("try", "-s", "lock").returncode, 0)
        writer = self.run_("lock", "true").waiting()
        self.assertEqual(self.program("try", "-s", "lock").returncode, 75, "a writer came before")
        reader.let_go()
        self.assertEqual(writer.code(), 0)
        self.assertEqual(self.program("wait", "-s", "-w", "20s", "lock").returncode, 0)

    def test_permits_are_counted(self):
        holder = self.hold(options=["--permits", "2/3"])
        self.assertEqual(self.program("try", "--permits", "1/3", "lock").returncode, 0)
        self.assertEqual(self.program("try", "--permits", "2/3", "lock").returncode, 75)
        for words in (["try"], ["wait"], ["wait", "-w", "0"]):
            done = self.program(*words, "--permits", "1/4", "lock")
            self.assertEqual(done.returncode, 78, "as run says when they do not agree")
            self.assertIn("a semaphore of 3 permits, and not of 4", done.stderr)
        self.assertEqual(self.program("try", "lock").returncode, 75)
        holder.let_go()

    def test_wait_returns_0_at_once_for_a_free_lock(self):
        done = self.program("wait", "lock", "another")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_wait_ends_when_all_are_free_and_acquires_nothing(self):
        one, other = self.hold("a"), self.hold("b")
        run = self.waiting("a", "b")
        one.let_go()
        self.assertEqual(one.code(), 0)
        self.assertFalse(run.process.ended())
        other.let_go()
        self.assertEqual(run.code(), 0)
        self.assert_free("a")
        self.assert_free("b")

    def test_wait_times_out_with_75_and_names_the_holder(self):
        holder = self.hold(options=["--label", "the other"])
        for limit in ("0", "100ms"):
            done = self.program("wait", "-w", limit, "lock")
            self.assertEqual(done.returncode, 75)
            self.assertIn("the other", done.stderr)
        self.assertEqual(self.program("wait", "-q", "-w", "0", "lock").stderr, "")
        holder.let_go()

    def test_a_signal_ends_a_wait(self):
        holder = self.hold()
        run = self.waiting("lock")
        run.signal(signal.SIGTERM)
        self.assertEqual(run.code(), -signal.SIGTERM)
        holder.let_go()


class InADirectory(OnDirectory, Tests, support.Case):
    def test_wrong_usage_is_64(self):
        for words in (("try",), ("wait",), ("try", ""), ("wait", "-w", "x", "lock"), ("try", "-w", "1s", "lock")):
            self.assertEqual(self.program(*words).returncode, 64, words)


class OnAServer(OnRedis, Tests, support.Case):
    def test_an_unreachable_server_is_69_and_named(self):
        self.store = "redis+unix:///nowhere/s"
        for words in (("try", "lock"), ("wait", "-w", "1s", "lock")):
            done = self.program(*words)
            self.assertEqual(done.returncode, 69)
            self.assertIn("/nowhere/s", done.stderr)
            silent = self.program(words[0], "-q", *words[1:])
            self.assertEqual((silent.returncode, silent.stdout, silent.stderr), (69, "", ""))

    def test_a_hanging_server_is_75_after_the_timeout(self):
        self.server.popen.send_signal(signal.SIGSTOP)
        self.addCleanup(self.server.popen.send_signal, signal.SIGCONT)
        done = self.program("wait", "-w", "300ms", "lock")
        self.assertEqual(done.returncode, 75, done.stderr)
        self.assertIn("gave up: lock: no answer", done.stderr)

    def test_a_lock_of_another_library_is_held(self):
        self.redis.set("holdfast:{lock}", "somebody", px=60_000)
        self.assertEqual(self.program("try", "lock").returncode, 75)


if __name__ == "__main__":
    support.main()
