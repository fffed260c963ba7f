"""--on-lost exec:LINE, and how a lock on Redis is lost: a partition, FLUSHALL, a stopped process."""
import signal

import support
from stores import OnRedis

SAYS = 'trap "echo asked; exit 0" TERM; echo ready; while :; do read x; done'
STUBBORN = 'trap "" TERM; echo ready; while :; do read x; done'


class ALine(support.Case):
    def lose(self, line, script=SAYS, grace="400ms"):
        options = ["--max-hold", "1200ms", "--grace", grace, "--on-lost", f"exec:{line}"]
        return self.shell("lock", script, options=options).running().word("ready")

    def test_runs_before_the_command_is_signalled(self):
        run = self.lose('echo "$HOLDFAST_NAME $HOLDFAST_FENCE: $HOLDFAST_LOST_WHY"', grace="1s")
        run.word(f"lock {run.events[0]['fence']}: --max-hold is over")
        run.word("asked")
        self.assertEqual(run.code(), 79)
        self.assertEqual(run.event("end")["cause"], "max_hold")

    def test_that_hangs_does_not_delay_the_command_and_is_killed(self):
        run = self.lose("echo $$; exec sleep 1000")
        line = self.process(run.line())
        run.word("asked")
        self.assertEqual(run.code(), 79)
        line.wait()

    def test_that_hangs_is_killed_with_a_stubborn_command(self):
        run = self.lose("trap '' TERM; echo $$; while :; do sleep 1000; done", STUBBORN)
        line = self.process(run.line())
        self.assertEqual(run.code(), 79)
        self.assertEqual(run.event("exited")["signal"], signal.SIGKILL)
        line.wait()
        self.assert_free()

    def test_leaves_nothing_behind(self):
        run = self.lose("(setsid sh -c 'echo $$; exec sleep 1000' &); exec sleep 1000", grace="1s")
        left = self.process(next(line for line in iter(run.line, "") if line != "asked"))
        self.assertEqual(run.code(), 79)
        left.wait()

    def test_that_fails_does_not_prevent_the_stop(self):
        for line in ("exit 3", "no-such-command", "(", "kill -9 $$"):
            run = self.lose(line).word("asked")
            self.assertEqual(run.code(), 79)

    def test_gets_the_variables_and_an_empty_stdin(self):
        options = ["--max-hold", "1200ms", "--grace", "1s", "--env-prefix", "JOB"]
        line = 'exec:read x || echo "$JOB_NAME $JOB_LOST_WHY${HOLDFAST_LOST_WHY-}"'
        run = self.shell("lock", SAYS, options=[*options, "--on-lost", line]).running().word("ready")
        run.word("lock --max-hold is over").word("asked")
        self.assertEqual(run.code(), 79)

    def test_that_is_empty_is_rejected(self):
        run = self.run_("lock", "true", options=["--on-lost", "exec:"])
        self.assertEqual(run.code(), 64)
        self.assertIn("exec:LINE", run.errors())

    def test_is_not_run_for_a_command_that_ends_in_time(self):
        run = self.shell("lock", "exit 4", options=["--on-lost", "exec:echo never"])
        self.assertEqual((run.code(), run.lines.all()), (4, b""))

    def test_variables_of_an_outer_run_are_not_inherited(self):
        self.environment["HOLDFAST_LOST_WHY"] = "stale"
        run = self.run_("lock", "printenv", "HOLDFAST_LOST_WHY")
        self.assertEqual((run.code(), run.lines.all()), (1, b""))


class Losses(OnRedis, support.Case):
    LINE = ["--on-lost", 'exec:echo "line: $HOLDFAST_LOST_WHY"']

    def held(self, *options, script=SAYS):
        return self.shell("lock", script, options=["--ttl", "1s", *options]).running().word("ready")

    def test_of_all_server_data_ends_the_command(self):
        run = self.held(*self.LINE)
        self.redis.flushall()
        self.assertIn("not ours any more", run.line())
        run.word("asked")
        self.assertEqual(run.code(), 79, run.errors())
        self.assertEqual(run.event("end")["cause"], "lost")

    def test_of_the_connection_ends_the_command_before_the_next_grant(self):
        run = self.held(*self.LINE)
        self.server.popen.send_signal(signal.SIGSTOP)
        try:
            self.assertTrue(run.line().startswith("line: "))
            run.word("asked")
            self.assertEqual(run.code(), 79, run.errors())
            self.assertIn("ending", run.told())
            self.assertNotIn("lost", run.told())
        finally:
            self.server.popen.send_signal(signal.SIGCONT)
        self.assertEqual(self.run_("lock", "true").code(), 0)

    def test_of_the_connection_kills_a_command_that_ignores_term(self):
        run = self.held("--grace", "100ms", script=STUBBORN)
        self.server.popen.send_signal(signal.SIGSTOP)
        try:
            self.assertEqual(run.code(), 79, run.errors())
            self.assertEqual(run.event("exited")["signal"], signal.SIGKILL)
        finally:
            self.server.popen.send_signal(signal.SIGCONT)

    def test_during_a_stop_of_all_processes_ends_the_command(self):
        run = self.held(*self.LINE)
        self.assertEqual(self.stop_until_another_has_it(run), 0)
        self.assertTrue(run.line().startswith("line: "))
        run.word("asked")
        self.assertEqual(run.code(), 79, run.errors())
        self.assertEqual(run.event("released")["certain"], 0)

    def test_does_not_occur_while_only_the_supervisor_is_stopped(self):
        run = self.held()
        run.signal(signal.SIGSTOP)
        support.until(lambda: run.process.state() == "T", "stopped")
        self.assertEqual(self.run_("lock", "true", options=["-w", "2s"]).code(), 75)  # two ttls
        run.signal(signal.SIGCONT)
        run.signal(signal.SIGTERM)
        run.word("asked")
        self.assertEqual(run.code(), 0, run.errors())

    def stop_until_another_has_it(self, run):
        worker = run.worker()
        worker.signal(signal.SIGSTOP)
        code = self.run_("lock", "true").code()
        worker.signal(signal.SIGCONT)
        return code


if __name__ == "__main__":
    support.main()
