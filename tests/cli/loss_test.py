"""The command ends before another client can get its lock: --max-hold, --on-lost, --grace, and lost locks."""
import signal

import support

# With a ttl below --max-hold the lease is renewed, so the lock is free only after the release.
WITH_US = ["--ttl", "60ms"]
SAYS = 'trap "echo $1" $1; echo ready; while :; do read x; done'
STUBBORN = 'trap "" INT HUP; trap "echo TERM" TERM; echo ready; while :; do read x; done'


class MaxHold(support.Case):
    def test_ends_the_command_and_the_code_is_79(self):
        script = 'trap "echo asked; exit 0" TERM; while :; do read x; done'
        run = self.shell("lock", script, options=["--max-hold", "4s", "--grace", "2s"])
        self.assertEqual(run.code(), 79)
        run.word("asked")
        self.assertEqual(run.told(), ["acquired", "started", "ending", "exited", "released", "end"])
        self.assertEqual((run.events[-1]["exit"], run.events[-1]["cause"]), (79, "max_hold"))
        self.assertEqual((run.events[2]["why"], run.events[-1]["why"]), ("--max-hold is over",) * 2)
        self.assertEqual(run.errors(), "holdfast: lock: --max-hold is over; stopping the command\n")
        self.assert_free()

    def test_kills_a_command_that_ignores_term_before_the_deadline(self):
        def certain():
            run = self.shell("lock", STUBBORN, options=["--max-hold", "800ms", "--grace", "100ms"]).running()
            next_ = self.shell("lock", 'grep -q "^State:.[^ZX]" /proc/$1/status', run.command.pid).waiting()
            self.assertEqual(run.code(), 79)
            run.word("ready").word("TERM")
            self.assertEqual(run.event("exited")["signal"], signal.SIGKILL)
            sure = run.event("released")["certain"] == 1
            alone = next_.code() != 0
            return sure and alone

        # On a busy machine we may miss the margin, but not every time.
        self.assertTrue(any(certain() for _ in range(5)))

    def test_keeps_the_lock_until_the_command_is_gone(self):
        run = self.shell("lock", STUBBORN, options=[*WITH_US, "--max-hold", "800ms", "--grace", "100ms"]).running()
        next_ = self.shell("lock", 'grep -q "^State:.[^ZX]" /proc/$1/status', run.command.pid).waiting()
        self.assertEqual(run.code(), 79)
        self.assertNotEqual(next_.code(), 0, "the next holder saw the command of the one before")

    def test_ends_the_grandchildren_too(self):
        script = 'trap "exit 0" TERM; sleep 1000 & echo $!; while :; do read x; done'
        run = self.shell("lock", script, options=["--max-hold", "2s"])
        grandchild = self.process(run.line())
        self.assertEqual(run.code(), 79)
        self.assertTrue(grandchild.ended())

    def test_wakes_a_command_that_is_stopped(self):
        script = 'trap "exit 0" TERM; kill -STOP $$; while :; do read x; done'
        run = self.shell("lock", script, options=["--max-hold", "4s", "--grace", "2s"])
        self.assertEqual(run.code(), 79)
        self.assertEqual(run.event("exited").get("code"), 0)

    def test_does_not_affect_a_command_that_ends_in_time(self):
        run = self.shell("lock", "exit 3", options=["--max-hold", "1h"])
        self.assertEqual(run.code(), 3)
        self.assertNotIn("ending", run.told())

    def test_of_zero_means_no_limit(self):
        self.assertEqual(self.shell("lock", "exit 3", options=["--max-hold", "0"]).code(), 3)

    def test_sends_the_configured_signal(self):
        options = ["--max-hold", "4s", "--grace", "2s", "--on-lost"]  # two seconds for all commands to set their traps
        runs = [
            self.shell(name, f'trap "exit 0" {name}; while :; do read x; done', options=[*options, word])
            for word, name in (("INT", "INT"), ("SIGHUP", "HUP"), ("usr1", "USR1"))
        ]
        for run in runs:
            self.assertEqual(run.code(), 79)
            self.assertEqual(run.event("exited")["code"], 0)

    def test_kills_at_once_with_on_lost_kill(self):
        run = self.shell("lock", STUBBORN, options=["--max-hold", "2s", "--on-lost", "kill"])
        self.assertEqual(run.code(), 79)
        self.assertEqual(run.event("exited")["signal"], signal.SIGKILL)
        run.word("ready")
        self.assertEqual(run.line(), "")

    def test_lets_the_command_run_on_with_on_lost_ignore_and_code_80(self):
        options = ["--max-hold", "800ms", "--on-lost", "ignore", "--grace", "10ms"]
        run = self.shell("lock", SAYS + "; exit 0", "TERM", options=options).running().word("ready")
        run.event("lost")
        self.assert_free()
        run.command.signal(signal.SIGKILL)
        self.assertEqual(run.code(), 80)
        end = run.event("end")
        self.assertEqual((end["exit"], end["cause"]), (80, "uncertain"))
        self.assertIn("may have been lost", run.errors())


class ALockThatIsLost(support.Case):
    # A lease without renewal, which a directory ends even while we are stopped, so it can be lost.
    FIXED = ["--ttl", "10s", "--max-hold", "2s", "--grace", "50ms"]

    def lose(self, run):
        """Stops the worker until another client has the lock."""
        worker = run.worker()
        worker.signal(signal.SIGSTOP)
        self.assertEqual(self.run_("lock", "true").code(), 0)
        worker.signal(signal.SIGCONT)

    def test_stops_the_command_and_the_code_is_79(self):
        script = 'trap "echo asked; exit 0" TERM; echo ready; while :; do read x; done'
        run = self.shell("lock", script, options=self.FIXED).running().word("ready")
        self.lose(run)
        run.word("asked")
        self.assertEqual(run.code(), 79)
        self.assertEqual(run.told(), ["acquired", "started", "lost", "exited", "released", "end"])
        lost = run.events[2]
        self.assertEqual((lost["name"], lost["fence"]), ("lock", run.events[0]["fence"]))
        self.assertEqual((run.events[-2]["certain"], run.events[-1]["cause"]), (0, "lost"))
        self.assertEqual((lost["why"], run.events[-1]["why"]), ("--max-hold is over",) * 2)
        self.assertIn("the lock was lost: --max-hold is over", run.errors())

    def test_kills_a_command_that_ignores_term(self):
        run = self.shell("lock", STUBBORN, options=self.FIXED).running().word("ready")
        self.lose(run)
        self.assertEqual(run.code(), 79)
        run.word("TERM")
        self.assertEqual(run.event("exited")["signal"], signal.SIGKILL)

    def stop_the_command(self, run):
        run.command.signal(signal.SIGSTOP)
        support.until(lambda: run.command.state() == "T", "stopped")

    def test_wakes_a_stopped_command_to_receive_the_signal(self):
        script = 'trap "echo asked; exit 0" TERM; echo ready; while :; do read x; done'
        run = self.shell("lock", script, options=self.FIXED).running().word("ready")
        self.stop_the_command(run)
        self.lose(run)
        run.word("asked")
        self.assertEqual(run.code(), 79)

    def test_kills_a_stopped_command_that_ignores_the_signal(self):
        run = self.shell("lock", 'trap "" TERM; echo ready; while :; do read x; done', options=self.FIXED)
        run.running().word("ready")
        self.stop_the_command(run)
        self.lose(run)
        self.assertEqual(run.code(), 79)
        self.assertEqual(run.event("exited")["signal"], signal.SIGKILL)

    def test_ends_the_command_after_all_processes_were_stopped(self):
        run = self.shell("lock", STUBBORN, options=self.FIXED).running().word("ready")
        run.signal(signal.SIGSTOP)
        self.stop_the_command(run)
        self.lose(run)
        run.command.wait()
        run.signal(signal.SIGCONT)
        self.assertEqual(run.code(), 79)
        self.assertEqual(run.event("end")["cause"], "lost")

    def test_is_reported_by_a_stopped_hold(self):
        hold = self.raw("--store", self.store, "--max-hold", "1s", "lock", verb="hold")
        hold.event("acquired")
        hold.signal(signal.SIGSTOP)
        self.assertEqual(self.run_("lock", "true").code(), 0)
        hold.signal(signal.SIGCONT)
        self.assertEqual(hold.code(), 79, hold.errors())
        self.assertEqual(hold.told()[-2:], ["lost", "end"])

    def test_is_80_when_the_command_runs_on(self):
        run = self.shell("lock", "echo ready; read x", options=[*self.FIXED, "--on-lost", "ignore"]).word("ready")
        self.lose(run)
        run.event("lost")
        run.let_go()
        self.assertEqual(run.code(), 80)
        self.assertEqual(run.event("end")["cause"], "uncertain")

    def test_is_80_when_the_loss_is_seen_only_at_the_end(self):
        for code in (0, 3):
            run = self.shell("lock", "read x; exit $1", code).running()
            self.break_lock()
            run.let_go()
            self.assertEqual(run.code(), 80)
            self.assertEqual(run.event("exited")["code"], code)
            self.assertEqual(run.event("released")["certain"], 0)
            self.assertIn("not ours any more", run.event("end")["why"])
            self.assertIn("not ours any more", run.errors())

    def test_does_not_take_the_lock_from_the_next(self):
        run = self.hold()
        self.break_lock()
        next_ = self.hold()
        run.let_go()
        self.assertEqual(run.code(), 80)
        self.assert_held()
        next_.let_go()
        self.assertEqual(next_.code(), 0)


if __name__ == "__main__":
    support.main()
