"""`holdfast elect`: runs a command while it leads, term after term, and --observe prints the leader."""
import json
import os
import pathlib
import signal
import subprocess

import support
from stores import OnDirectory, OnRedis


class Tests:
    def elect(self, *arguments, options=(), **how):
        """Starts a candidate; the remaining arguments are its command."""
        run = support.Run(self, ["--store", self.store, "--ttl", "2s", *options, "office", "--", *arguments], verb="elect", **how)
        self.runs.append(run)
        return run

    def leading(self, label, script="read x", **how):
        run = self.elect("sh", "-c", script, options=["--label", label, *how.pop("options", ())], **how)
        self.fence = run.event("acquired")["fence"]
        return run.running()

    def observe(self, *options):
        run = support.Run(self, ["--store", self.store, "--observe", *options, "office"], status=False, verb="elect")
        self.runs.append(run)
        return run

    def sees(self, observer, fence, label):
        """Reads up to that leader; the leaders before it are not newer."""
        last = 0
        while True:
            line = observer.line()
            self.assertNotEqual(line, "", observer.errors())
            if line == "nobody":
                continue
            term, _, who = line.partition(" ")
            self.assertGreaterEqual(int(term), last)
            last = int(term)
            if (last, who) == (fence, label):
                return

    def test_second_candidate_leads_when_the_leader_is_killed(self):
        watch = self.observe()
        watch.word("nobody")
        one = self.leading("one")
        first = self.fence
        self.sees(watch, first, "one")
        other = self.elect("sh", "-c", "echo $HOLDFAST_FENCE; read x", options=["--label", "other"]).waiting()
        one.signal(signal.SIGKILL)
        second = other.event("acquired")["fence"]
        self.assertGreater(second, first)
        self.assertEqual(other.line(), str(second))
        self.sees(watch, second, "other")
        one.command.wait()
        watch.signal(signal.SIGTERM)
        self.assertEqual(watch.code(), 128 + signal.SIGTERM)

    def test_a_signal_ends_the_command_and_resigns(self):
        one = self.leading("one")
        other = self.elect("sh", "-c", "read x", options=["--label", "other"]).waiting()
        one.signal(signal.SIGTERM)
        self.assertEqual(one.code(), 128 + signal.SIGTERM)
        self.assertEqual(one.told()[-3:], ["exited", "released", "end"])
        other.event("acquired")
        other.running().signal(signal.SIGINT)
        self.assertEqual(other.code(), 128 + signal.SIGINT)

    def test_a_signal_during_the_campaign_ends_it(self):
        self.leading("one")
        other = self.elect("true").waiting()
        other.signal(signal.SIGTERM)
        self.assertEqual(other.code(), 128 + signal.SIGTERM)

    def test_starts_another_term_after_a_successful_command(self):
        run = self.elect("sh", "-c", "echo $HOLDFAST_FENCE", options=["--max-terms", "3"])
        self.assertEqual(run.code(), 0, run.errors())
        fences = [int(run.line()) for _ in range(3)]
        self.assertEqual(fences, sorted(set(fences)))
        self.assertEqual(run.told().count("started"), 3)


    def test_observe_prints_terms_in_order_also_as_json(self):
        watch = self.observe("--json")
        self.assertEqual(json.loads(watch.line())["event"], "nobody")
        fences = []
        for label in ("a", "b", "c"):
            one = self.leading(label)
            while (seen := json.loads(watch.line()))["event"] != "leader":
                pass
            self.assertEqual((seen["name"], seen["label"], seen["fence"]), ("office", label, self.fence))
            fences.append(seen["fence"])
            one.signal(signal.SIGTERM)
            one.code()
        self.assertEqual(fences, sorted(set(fences)))


    def test_an_observer_ends_when_its_reader_is_gone(self):
        for options in ([], ["--json"]):
            watch = self.observe(*options)
            self.assertIn("nobody", watch.line())
            watch.lines.close()
            watch.popen.stdout.close()
            self.assertEqual(watch.code(), 0, watch.errors())
            watch.lines = watch.popen.stdout = None


class InADirectory(OnDirectory, Tests, support.Case):
    def test_retries_a_failed_command_and_exits_with_the_last_code(self):
        run = self.elect("sh", "-c", "exit 3", options=["-v", "--max-terms", "3"])
        self.assertEqual(run.code(), 3)
        self.assertIn("again in 1s\n", run.errors())
        self.assertIn("again in 2s\n", run.errors())

    def test_once_runs_one_term_and_exits_with_its_code(self):
        run = self.elect("sh", "-c", "exit 5", options=["--once"])
        self.assertEqual(run.code(), 5)
        self.assertEqual(run.told().count("started"), 1)

    def test_a_missing_command_is_127_and_not_retried(self):
        run = self.elect("no-such-command-anywhere")
        self.assertEqual(run.code(), 127)

    def test_the_command_of_a_later_term_gets_signals(self):
        run = self.elect("grep", "^SigBlk", "/proc/self/status", options=["--max-terms", "2"])
        self.assertEqual(run.code(), 0)
        self.assertEqual({run.line() for _ in range(2)}, {"SigBlk:\t0000000000000000"})

    def test_no_thread_is_left_after_a_term(self):
        run = self.elect("true", options=["-v"])  # the next command is forked from the state of then
        support.until(lambda: "campaigning again" in run.errors(), "the pause")
        worker, = pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
        self.assertEqual(len(os.listdir(f"/proc/{worker}/task")), 1)

    def test_a_signal_between_two_terms_ends_it(self):
        run = self.elect("sh", "-c", "exit 3", options=["-v"])
        support.until(lambda: "campaigning again" in run.errors(), "the pause")
        run.signal(signal.SIGTERM)
        self.assertEqual(run.code(), 128 + signal.SIGTERM)

    def test_campaigns_again_after_max_hold(self):
        options = ["--max-hold", "500ms", "--max-terms", "2"]
        run = self.elect("sh", "-c", "trap 'exit 0' TERM; while :; do read x; done", options=options)
        self.assertEqual(run.code(), 79, run.errors())
        self.assertEqual(run.told().count("started"), 2)

    def test_suspend_key_works_after_a_term_that_never_began(self):
        holder = self.hold("office")
        run = self.elect("true", options=["--max-hold", "1s"], **support.AS_A_JOB).waiting()
        worker = run.worker()
        run.signal(signal.SIGSTOP)  # so it does not answer may_start until the lease has ended
        support.until(lambda: run.process.state() == "T", "stopped")
        holder.let_go()
        run.event("acquired")
        other = self.hold("office")
        run.signal(signal.SIGCONT)
        run.event("end")
        run.waiting()
        run.signal(signal.SIGTSTP)
        support.until(lambda: run.process.state() == "T", "stopped")
        self.assertNotEqual(worker.state(), "T")
        run.signal(signal.SIGCONT)
        run.signal(signal.SIGTERM)
        self.assertEqual(run.code(), 128 + signal.SIGTERM)
        self.assertNotIn("started", run.told())
        other.let_go()

    def test_a_late_suspend_key_does_not_suspend_the_worker(self):
        run = self.elect("false", options=["-v"])
        support.until(lambda: "campaigning again" in run.errors(), "the pause")
        run.worker().signal(signal.SIGTSTP)  # as forwarded by a supervisor that does not know yet that the command has ended
        run.signal(signal.SIGTERM)
        self.assertEqual(run.code(), 128 + signal.SIGTERM)

    def test_wrong_usage_is_64(self):
        def code(*arguments):
            run = support.Run(self, ["--store", self.store, *arguments], status=False, verb="elect")
            self.runs.append(run)
            return run.code()

        self.assertEqual(code("office"), 64)
        self.assertEqual(code("--", "true"), 64)
        self.assertEqual(code("a", "b", "--", "true"), 64)
        self.assertEqual(code("--observe", "office", "--", "true"), 64)
        self.assertEqual(code("--observe", "--once", "office"), 64)
        for of_a_leader in (["--ttl", "5s"], ["--label", "x"], ["--max-hold", "5s"], ["--on-lost", "kill"],
                            ["--grace", "1s"], ["--env-prefix", "P"], ["-v"], ["-c", "true"]):
            self.assertEqual(code("--observe", *of_a_leader, "office"), 64, of_a_leader)


    def test_an_observer_ends_with_70_when_it_cannot_write(self):
        for redirection in (">/dev/full", ">&-"):
            script = f'exec "$@" {redirection}'
            done = subprocess.run(["sh", "-c", script, "sh", support.PROGRAM, "elect", "--store", self.store, "--observe",
                                   "office"], env=self.environment, stderr=subprocess.PIPE, timeout=support.PATIENCE)
            self.assertEqual(done.returncode, 70, redirection)
            self.assertIn(b"output: ", done.stderr)

    def test_an_observer_prints_errors_unless_quiet(self):
        self.store = "nosuch"
        for options, says in (([], True), (["--json"], True), (["-q"], False), (["--quiet=false"], True)):
            watch = self.observe(*options)
            self.assertEqual(watch.code(), 78)
            self.assertEqual("nosuch" in watch.errors(), says, options)
            self.assertEqual(watch.errors() != "", says, options)


class OnAServer(OnRedis, Tests, support.Case):
    def test_stops_the_command_on_loss_and_campaigns_again(self):
        one = self.leading("one", "trap 'echo asked; exit 0' TERM; echo ready; while :; do read x; done")
        one.word("ready")
        self.redis.flushall()
        one.event("lost")
        one.word("asked")
        one.event("end")
        self.assertEqual(one.event("acquired")["owner"] != "", True)
        one.running().word("ready")

    def test_waits_for_an_unreachable_server(self):
        self.server.popen.kill()
        self.server.popen.wait()
        run = self.elect("echo", "leads", options=["--once"])
        support.until(lambda: str(self.server.socket) in run.errors(), "the first failure")
        os.unlink(self.server.socket)
        self.server.start()
        self.assertEqual(run.code(), 0, run.errors())


if __name__ == "__main__":
    support.main()
