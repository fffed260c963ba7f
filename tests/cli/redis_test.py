#!/usr/bin/env python3
"""The program on a Redis server, also beside other lock libraries. usage: redis_test.py PROGRAM"""
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

import support
from redis_server import RedisServer


class OnRedis(support.Case):
    def setUp(self):
        super().setUp()
        self.server = RedisServer(self)
        self.redis = self.server.client()
        self.store = self.server.url

    def test_a_command_runs_while_another_waits_for_the_lock(self):
        first = self.hold()
        second = self.run_("lock", "true")
        second.waiting()
        self.assertEqual(self.redis.zcard("holdfast:{lock}:q"), 1)
        first.let_go()
        self.assertEqual((first.code(), second.code()), (0, 0))
        self.assertFalse(self.redis.exists("holdfast:{lock}"))

    def test_a_signal_works_while_the_server_does_not_answer(self):
        self.server.popen.send_signal(signal.SIGSTOP)
        self.addCleanup(self.server.popen.send_signal, signal.SIGCONT)
        run = self.run_("lock", "true")
        worker = run.worker()
        support.until(lambda: len(os.listdir(f"/proc/{worker.pid}/task")) > 1, "the first look")
        sent = time.time()
        run.signal(signal.SIGTERM)
        self.assertEqual(run.code(), 128 + signal.SIGTERM)
        run.told()
        self.assertEqual([e["event"] for e in run.events if e["time"] > sent], ["end"])  # without waiting for the reply

    def test_a_lock_that_is_lost_before_the_command_begins_is_lost(self):
        holder = self.hold()
        run = self.run_("lock", "true").waiting()
        run.signal(signal.SIGSTOP)  # the worker acquires the lock, and the command does not start
        support.until(lambda: run.process.state() == "T", "stopped")
        holder.let_go()
        run.event("acquired")
        self.redis.flushall()
        run.signal(signal.SIGCONT)
        self.assertEqual(run.code(), 79)
        self.assertNotIn("started", run.told())
        self.assertEqual((run.events[-2]["event"], run.events[-1]["cause"]), ("lost", "lost"), run.events)
        self.assertIn("lost", run.errors())

    def test_a_term_lost_before_the_command_begins_does_not_count(self):
        holder = self.hold()
        run = self.raw("--store", self.store, "--once", "lock", "--", "true", verb="elect").waiting()
        run.signal(signal.SIGSTOP)
        support.until(lambda: run.process.state() == "T", "stopped")
        holder.let_go()
        run.event("acquired")
        self.redis.flushall()
        run.signal(signal.SIGCONT)
        self.assertEqual(run.code(), 0, run.errors())
        self.assertEqual((run.told().count("end"), run.told().count("started")), (2, 1))

    def test_the_command_gets_the_ttl(self):
        run = self.run_("lock", "printenv", "HOLDFAST_TTL_MS", options=["--ttl", "7s"])
        self.assertEqual((run.line(), run.code()), ("7000", 0))

    def test_busy_is_75(self):
        holder = self.hold()
        self.assert_held()
        holder.let_go()
        self.assertEqual(holder.code(), 0)
        self.assert_free()

    def test_a_renewable_lock_is_kept(self):
        for options in (
            ["--ttl", "1s"],
            ["--ttl", "1s", "--grace", "500ms"],
            ["--ttl", "1s", "--max-hold", "1h"],
        ):
            # On a busy machine we may miss a short ttl, but not every time.
            tries = (self.run_("lock", "sleep", "2.5", options=options) for _ in range(5))
            self.assertTrue(any(run.code() == 0 for run in tries), options)

    def test_a_grace_that_would_stop_the_command_before_a_renewal_is_64(self):
        for ttl, grace in (("3s", "2.5s"), ("9s", "5900ms"), ("100ms", "51ms"), ("10s", "1h")):
            run = self.run_("lock", "true", options=["--ttl", ttl, "--grace", grace])
            self.assertEqual(run.code(), 64, (ttl, grace))
            self.assertIn("at most half of --ttl", run.errors())
        for options in (["--ttl", "3s", "--grace", "1500ms"], ["--ttl", "10s", "--max-hold", "9s", "--grace", "8s"]):
            self.assertEqual(self.run_("lock", "true", options=options).code(), 0, options)

    def test_a_lock_acquired_after_a_wait_is_kept(self):
        for options in (["--ttl", "1s"], ["--ttl", "2s", "--grace", "200ms"], ["--ttl", "10s", "--grace", "5s"]):
            def kept():
                holder = self.hold()
                waiter = self.run_("lock", "sleep", "0.5", options=options).waiting()
                holder.let_go()
                return (holder.code(), waiter.code()) == (0, 0)

            self.assertTrue(any(kept() for _ in range(5)), options)

    def test_a_deleted_lock_ends_the_command(self):
        holder = self.hold(options=["--ttl", "5s"])
        self.redis.delete("holdfast:{lock}")
        self.assertEqual(holder.code(), 79, holder.errors())
        why = "the store says that it is not ours any more"
        self.assertEqual(holder.event("lost")["why"], why)
        end = holder.event("end")
        self.assertEqual((end["cause"], end["why"]), ("lost", why))
        self.assertIn(f"lock: the lock was lost: {why}", holder.errors())

    def test_a_failed_renewal_ends_the_command_with_the_reason(self):
        holder = self.hold(options=["--ttl", "1s"])
        self.redis.execute_command("ACL", "SETUSER", "default", "-evalsha")
        self.assertEqual(holder.code(), 79, holder.errors())
        self.assertIn("NOPERM", holder.event("ending")["why"])
        end = holder.event("end")
        self.assertEqual(end["cause"], "lost")
        self.assertIn("NOPERM", end["why"])
        self.assertIn("cannot be renewed: the server says: NOPERM", holder.errors())

    def test_a_server_that_dies_ends_the_command_and_is_named(self):
        holder = self.hold(options=["--ttl", "1s"])
        self.server.popen.kill()
        self.assertEqual(holder.code(), 79, holder.errors())
        self.assertIn(str(self.server.socket), holder.event("end")["why"])

    def test_an_unreachable_server_is_69_and_named(self):
        self.store = "redis+unix:///nowhere/s"
        run = self.run_("lock", "true", options=["-w", "200ms"])
        self.assertEqual(run.code(), 69)
        self.assertIn("/nowhere/s", run.errors())

    def test_a_hanging_server_is_75_after_the_timeout(self):
        self.server.popen.send_signal(signal.SIGSTOP)
        self.addCleanup(self.server.popen.send_signal, signal.SIGCONT)
        for options, code in (([], 75), (["-E", "9"], 9), (["--skip"], 0)):
            run = self.run_("lock", "true", options=["-w", "300ms", *options])
            self.assertEqual(run.code(), code, run.errors())
            self.assertIn("the store did not answer in time", run.errors())
            self.assertEqual(run.event("busy")["why"], "the store did not answer in time")

    def test_a_hanging_server_is_69_with_n(self):
        self.server.popen.send_signal(signal.SIGSTOP)
        self.addCleanup(self.server.popen.send_signal, signal.SIGCONT)
        run = self.run_("lock", "true", options=["-n"])
        self.assertEqual(run.code(), 69, run.errors())

    def test_a_server_that_starts_later_is_waited_for(self):
        for options in ([], ["-w", "20s"]):
            late = RedisServer(self, start=False)
            self.store = late.url
            run = self.run_("lock", "true", options=["-v", *options])
            support.until(lambda: "asking again" in run.errors(), "the first look")
            late.start()
            self.assertEqual(run.code(), 0, run.errors())

    def test_reports_a_not_ready_server_after_the_timeout(self):
        self.store += "?wait_replicas=1&wait_timeout=50ms"
        for wait in ("450ms", "600ms", "750ms"):
            run = self.run_(f"after {wait}", "true", options=["-w", wait])
            self.assertEqual(run.code(), 69)
            self.assertIn("0 of the 1 replica that it needs", run.errors())

    def test_a_server_that_is_a_replica_for_a_while_is_waited_for(self):
        self.redis.replicaof("127.0.0.1", "1")
        run = self.run_("lock", "true", options=["-v"])
        support.until(lambda: "asking again" in run.errors(), "the first look")
        self.redis.replicaof("NO", "ONE")
        self.assertEqual(run.code(), 0, run.errors())

    def test_an_unreachable_server_is_tried_once_with_n(self):
        self.store = "redis+unix:///nowhere/s"
        run = self.run_("lock", "true", options=["-n", "-v"])
        self.assertEqual(run.code(), 69)
        self.assertNotIn("asking again", run.errors())

    def test_durations_have_the_same_syntax_in_options_and_urls(self):
        for text in ("250ms", "10s", "10", "1.5s", ".5s", "1.5m", "0.5h", "0.01d", "60m"):
            self.store = f"{self.server.url}?timeout={text}"
            self.assertEqual(self.run_("lock", "true", options=["-w", text]).code(), 0, text)
        for text in ("", "x", "1x", "s", "1 s", "1S", "1e3", "inf", "nan", "0x10", "1s1s", "2h30m", "-1s"):
            self.store = self.server.url
            self.assertEqual(self.run_("lock", "true", options=[f"--timeout={text}"]).code(), 64, text)
            self.store += f"?timeout={text.replace(' ', '%20')}"
            self.assertEqual(self.run_("lock", "true").code(), 78, text)

    def test_the_demo_passes_on_this_store(self):
        done = subprocess.run([support.PROGRAM, "demo", "--store", self.store], capture_output=True, text=True, timeout=110)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.redis.keys("*}"), [], "a lock is left behind")


class Secrets(support.Case):
    def setUp(self):
        super().setUp()
        self.server = RedisServer(self, "--requirepass", "hunter2")

    def test_a_password_is_never_printed(self):
        self.store = f"redis+unix://:hunter2@{self.server.socket}"
        run = self.shell("lock", 'env; cat /proc/$PPID/environ | tr "\\0" "\\n"', options=["-v"])
        self.assertEqual(run.code(), 0, run.errors())
        told = run.lines.all().decode() + run.errors()
        while run.next_event():
            pass
        self.assertIn("HOLDFAST_STORE=redis+unix://", told)
        self.assertNotIn("hunter2", told + str(run.events))

    def test_a_nested_run_uses_the_same_locks_and_the_same_password(self):
        (self.folder / "password").write_text("hunter2\n")
        self.environment["REDIS_PASSWORD"] = "hunter2"
        redis = self.server.client(password="hunter2", db=2)
        for where in (f"password_file={self.folder}/password", "password_env=REDIS_PASSWORD"):
            self.store = f"redis+unix://default@{self.server.socket}?{where}&db=2&prefix=shop:&timeout=900ms"
            run = self.run_("outer", support.PROGRAM, "run", "inner", "--", "sh", "-c", 'echo "$HOLDFAST_STORE"; cat')
            run.word(self.store)
            self.assertEqual(sorted(redis.keys("shop:*}")), ["shop:{inner}", "shop:{outer}"])
            run.let_go()
            self.assertEqual(run.code(), 0, run.errors())

    def test_a_password_in_the_url_is_not_passed_to_a_nested_run(self):
        self.store = f"redis+unix://:hunter2@{self.server.socket}?prefix=shop:"
        run = self.run_("outer", support.PROGRAM, "run", "inner", "--", "true")
        self.assertEqual(run.code(), 77)
        self.assertIn("password_file=", run.errors())

    def test_a_wrong_password_is_77_and_never_printed(self):
        self.store = f"redis+unix://:hunter3@{self.server.socket}"
        run = self.run_("lock", "true")
        self.assertEqual(run.code(), 77)
        self.assertNotIn("hunter3", run.errors())

    def test_a_password_may_be_in_a_file_or_in_the_environment(self):
        (self.folder / "password").write_text("hunter2\n")
        self.environment["REDIS_PASSWORD"] = "hunter2"
        for where in (f"password_file={self.folder}/password", "password_env=REDIS_PASSWORD"):
            self.store = f"redis+unix://{self.server.socket}?{where}"
            self.assert_free()


class Rights(support.Case):
    """Runs the lines of docs/stores/redis.md in a shell."""

    def setUp(self):
        super().setUp()
        self.server = RedisServer(self)
        document = (pathlib.Path(__file__).parents[2] / "docs/stores/redis.md").read_text()
        lines = re.findall(r"^redis-cli ACL SETUSER \w+ on (?:.*\\\n)*.*\n", document, re.MULTILINE)
        self.assertEqual(len(lines), 2)
        for line in lines:
            line = line.replace("redis-cli", f"redis-cli -s {self.server.socket}", 1)
            done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=support.PATIENCE)
            self.assertEqual((done.stdout, done.stderr), ("OK\n", ""), line)
        self.store = f"redis+unix://holdfast:SECRET@{self.server.socket}"

    def test_are_enough_to_lock_and_to_wait(self):
        first = self.hold(options=["--ttl", "5s"])
        second = self.run_("lock", "true").waiting()
        self.see_a_renewal()
        first.let_go()
        self.assertEqual((first.code(), second.code()), (0, 0), first.errors() + second.errors())

    def see_a_renewal(self):
        """A renewal, seen by the growing remaining ttl."""
        client = self.server.client()
        least = client.pttl("holdfast:{lock}")

        def grew():
            nonlocal least
            left = client.pttl("holdfast:{lock}")
            least = min(least, left)
            return left > least

        support.until(grew, "a renewal")

    def test_are_enough_to_see_who_holds_a_lock(self):
        holder = self.hold(options=["--label", "Ann"])
        operator = self.server.client(username="operator", password="SECRET")
        self.assertRegex(operator.get("holdfast:{lock}"), " Ann$")
        holder.let_go()
        self.assertEqual(holder.code(), 0)

    def test_are_named_when_they_are_missing_for_a_prefix(self):
        self.store += "?prefix=shop:"
        run = self.run_("lock", "true")
        self.assertEqual(run.code(), 77)
        self.assertIn("the keys begin with 'shop:'", run.errors())

    def test_missing_for_waiting_are_named_and_renewals_still_work(self):
        self.server.client().execute_command("ACL", "SETUSER", "holdfast", "-ssubscribe")
        holder = self.hold(options=["--ttl", "1s"])
        self.see_a_renewal()
        waiter = self.run_("lock", "true")
        self.assertEqual(waiter.code(), 77)
        self.assertIn("ssubscribe", waiter.errors())
        self.assertIn("docs/stores/redis.md", waiter.errors())
        holder.let_go()
        self.assertEqual(holder.code(), 0, holder.errors())


class Neighbours(support.Case):
    """With an empty `prefix=` the key of a lock is its name, which excludes libraries that use SET NX PX, and vice versa."""

    def setUp(self):
        super().setUp()
        self.server = RedisServer(self)
        self.redis = self.server.client()
        self.store = self.server.url + "?prefix=&poll=20ms"

    def lock(self, **how):
        return self.redis.lock("job", blocking=False, **how)

    def test_we_respect_a_lock_of_redis_py(self):
        theirs = self.lock(timeout=60)
        self.assertTrue(theirs.acquire())
        before = self.redis.get("job")
        self.assert_held("job")
        self.assertEqual(self.redis.get("job"), before)
        self.assertGreater(self.redis.pttl("job"), 50_000)
        theirs.release()
        self.assert_free("job")

    def test_redis_py_respects_our_lock(self):
        holder = self.hold("job")
        self.assertFalse(self.lock(timeout=60).acquire())
        holder.let_go()
        self.assertEqual(holder.code(), 0)
        self.assertTrue(self.lock(timeout=60).acquire())

    def test_we_wait_for_a_lock_of_redis_py(self):
        theirs = self.lock(timeout=60)
        self.assertTrue(theirs.acquire())
        run = self.run_("job", "true")
        run.waiting()
        theirs.release()
        self.assertEqual(run.code(), 0, run.errors())

    def test_we_wait_until_a_lock_of_redis_py_expires(self):
        theirs = self.lock(timeout=0.3)
        self.assertTrue(theirs.acquire())
        run = self.run_("job", "true")
        self.assertEqual(run.code(), 0, run.errors())

    def test_we_wait_for_a_key_without_expiry_and_do_not_delete_it(self):
        self.redis.set("job", "somebody")
        run = self.run_("job", "true", options=["-w", "300ms"])
        self.assertEqual(run.code(), 75)
        self.assertEqual(self.redis.get("job"), "somebody")
        self.assertEqual(self.redis.pttl("job"), -1)

    def test_redis_py_waits_for_us(self):
        holder = self.hold("job")
        theirs = self.redis.lock("job", timeout=60, sleep=0.01, blocking_timeout=support.PATIENCE)
        holder.let_go()
        self.assertTrue(theirs.acquire())
        self.assertEqual(holder.code(), 0)

    def test_a_lock_taken_over_by_redis_py_is_lost_and_not_released(self):
        holder = self.hold("job", options=["--ttl", "2s"])
        self.redis.delete("job")  # an operator
        theirs = self.lock(timeout=60)
        self.assertTrue(theirs.acquire())
        self.assertEqual(holder.code(), 79, holder.errors())
        self.assertTrue(theirs.owned())
        theirs.release()


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C")
    support.main()
