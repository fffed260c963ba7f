"""A `holdfast run` that is killed or stopped: nothing of its command ever runs without the lock.

The process that the user sees is the supervisor; its worker has the store, and is the parent of the command.
"""
import os
import pathlib
import signal
import subprocess

import support
from process_test import DAEMON, ELSEWHERE, GRANDCHILD, SEEN
from stores import OnDirectory, OnRedis

STUBBORN = 'trap "" TERM HUP INT; '
ALL = (GRANDCHILD, DAEMON, ELSEWHERE)


class Killed:
    TTL = ["--ttl", "3s"]  # a server notices a killed worker only when its ttl ends

    def begin(self, script, **how):
        """A run whose command has a child and ignores signals, and a second run that waits for the lock."""
        self.at = self.folder / f"pid-{len(self.runs)}"
        stays = STUBBORN + script + "echo ready; while :; do read x; done"
        run = self.shell("lock", stays, self.at, **how).running().word("ready")
        self.left = self.process(self.at.read_text())
        self.next = self.shell("lock", SEEN, self.at).waiting()
        return run

    def assert_all_gone(self, run):
        run.command.wait()
        self.left.wait()
        self.assert_free()


class Supervisor(Killed):
    def test_killed_ends_all_of_its_command_before_the_lock_is_free(self):
        for script in ALL:
            run = self.begin(script)
            worker = run.worker()
            run.signal(signal.SIGKILL)
            self.assertEqual(run.code(), -signal.SIGKILL)
            self.assertNotEqual(self.next.code(), 0, "the next holder saw a process of the one before")
            worker.wait()
            self.assert_all_gone(run)
            self.assertEqual(run.told()[-2:], ["released", "end"])
            self.assertEqual((run.events[-1]["cause"], run.events[-2]["certain"]), ("killed", 1))
            self.assertIn("holdfast itself was killed", run.errors())

    def test_killed_with_its_whole_job_leaves_no_process(self):
        for script in ALL:
            run = self.begin(script, start_new_session=True)
            os.killpg(run.pid, signal.SIGKILL)
            self.assertNotEqual(self.next.code(), 0, "the next holder saw a process of the one before")
            self.assert_all_gone(run)

    def test_stopped_and_killed_leaves_no_process(self):
        run = self.begin(GRANDCHILD)
        run.signal(signal.SIGSTOP)
        run.signal(signal.SIGKILL)
        self.assertNotEqual(self.next.code(), 0)
        self.assert_all_gone(run)

    def test_killed_after_the_command_ends_its_leftovers(self):
        at = self.folder / "pid"
        run = self.shell("lock", STUBBORN + GRANDCHILD + "exit 3", at, options=["--ttl", "3h", "--grace", "1h"]).running()
        if run.command:  # else it had ended before we looked
            run.command.wait()
        grandchild = self.process(at.read_text())
        run.signal(signal.SIGKILL)
        grandchild.wait()
        self.assertEqual(self.run_("lock", "true").code(), 0)

    def test_killed_ends_the_command_even_if_a_loss_is_ignored(self):
        run = self.begin(ELSEWHERE, options=["--on-lost", "ignore"])
        run.signal(signal.SIGKILL)
        self.assertNotEqual(self.next.code(), 0)
        self.assert_all_gone(run)

    def test_killed_ends_the_line_of_on_lost(self):
        options = ["--ttl", "30s", "--max-hold", "20s", "--grace", "18s", "--on-lost", "exec:echo $$; exec sleep 1000"]
        run = self.shell("lock", "echo ready; read x", options=options).running().word("ready")
        line = self.process(run.line())
        run.signal(signal.SIGKILL)
        line.wait()
        self.assertEqual(self.run_("lock", "true").code(), 0)

    def test_killed_while_waiting_or_holding_leaves_no_worker(self):
        holder = self.hold()
        waits = self.run_("lock", "true").waiting()
        keeps = self.run_("kept", "true", options=["--min-hold", "1h"])
        keeps.event("keeping")
        for run in (waits, keeps):
            worker = run.worker()
            run.signal(signal.SIGKILL)
            worker.wait()
        self.assertEqual(self.places(), 1)
        self.assertEqual(self.run_("kept", "true").code(), 0)
        holder.let_go()
        self.assertEqual(holder.code(), 0)

    def test_killed_before_the_start_never_runs_the_command(self):
        holder = self.hold()
        mark = self.folder / "began"
        ignoring = ["sh", "-c", 'trap "" TERM; exec "$@"', "sh", support.PROGRAM]
        run = self.run_("lock", "touch", str(mark), program=ignoring).waiting()
        worker = run.worker()
        run.signal(signal.SIGKILL)
        holder.let_go()
        worker.wait()
        self.assertEqual(self.run_("lock", "true").code(), 0)
        self.assertFalse(mark.exists())

    def test_killed_ends_nested_runs(self):
        names = [f"inner-{number}" for number in range(len(ALL))]
        for name, script in zip(names, ALL):
            at = self.folder / name
            stays = STUBBORN + script + "echo ready; read x"
            inner = [support.PROGRAM, "run", *self.TTL, name, "--", "sh", "-c", stays, "sh", str(at)]
            run = self.run_("outer", *inner).running().word("ready")
            left = self.process(at.read_text())
            next_ = self.shell("outer", SEEN, at).waiting()
            run.signal(signal.SIGKILL)
            run.command.wait()
            self.assertNotEqual(next_.code(), 0, "the next holder saw a process of the one before")
            left.wait()
        for name in names:
            self.assertEqual(self.run_(name, "true").code(), 0)


class ASupervisorOnADirectory(OnDirectory, Supervisor, support.Case):
    pass


class ASupervisorOnRedis(OnRedis, Supervisor, support.Case):
    pass


class Worker(Killed):
    def test_killed_ends_all_of_its_command_with_code_70(self):
        for script in ALL:
            run = self.begin(script, options=self.TTL)
            run.worker().signal(signal.SIGKILL)
            self.assertEqual(run.code(), 70)
            self.assertTrue(run.command.ended() and self.left.ended())
            self.next.code()  # the lock was free at once, so what the next holder saw is not checked
            self.assertIn("was killed by signal 9", run.errors())
            end = run.event("end")
            self.assertEqual((end["exit"], end["cause"]), (70, "killed"))
            self.assert_free()

    def test_killed_while_waiting_leaves_the_queue(self):
        holder = self.hold()
        run = self.run_("lock", "true", options=self.TTL).waiting()
        worker = run.worker()
        command = self.process(support.children(worker.pid)[0])
        worker.signal(signal.SIGKILL)
        self.assertEqual(run.code(), 70)
        self.assertTrue(command.ended())
        holder.let_go()
        self.assertEqual(holder.code(), 0)
        self.assertEqual(self.run_("lock", "true").code(), 0)

    def test_has_another_process_name(self):
        name = pathlib.Path(f"/proc/{self.hold().worker().pid}/comm").read_text()
        self.assertNotIn("holdfast", name)  # else pkill -9 holdfast would kill both, and the command would run on

    def test_forwards_signals_sent_to_it(self):
        run = self.shell("lock", 'trap "echo USR1" USR1; echo ready; while :; do read x || exit 4; done').word("ready")
        run.worker().signal(signal.SIGUSR1)
        run.word("USR1")
        run.let_go()
        self.assertEqual(run.code(), 4)


class AWorkerOnADirectory(OnDirectory, Worker, support.Case):
    pass


class AWorkerOnRedis(OnRedis, Worker, support.Case):
    pass


class Stopped(support.Case):
    def stop(self, process):
        process.signal(signal.SIGSTOP)
        support.until(lambda: process.state() == "T", "stopped")
        return process

    def test_the_command_is_watched_while_the_supervisor_is_stopped(self):
        run = self.shell("lock", "read x; exit 3").running()
        self.stop(run.process)
        self.assert_held()
        run.let_go()
        run.command.wait()
        self.assertEqual(self.run_("lock", "true").code(), 0)  # the lock was released
        run.signal(signal.SIGCONT)
        self.assertEqual(run.code(), 3)

    def test_the_command_is_ended_in_time_with_a_stopped_supervisor(self):
        run = self.shell("lock", 'echo ready; read x', options=["--max-hold", "1s"]).running().word("ready")
        self.stop(run.process)
        run.command.wait()
        run.signal(signal.SIGCONT)
        self.assertEqual(run.code(), 79)

    def test_the_command_does_not_start_with_a_stopped_supervisor(self):
        holder = self.hold()
        run = self.run_("lock", "cat").waiting()
        self.stop(run.process)
        holder.let_go()
        run.event("acquired")
        self.assert_held()
        run.signal(signal.SIGCONT)
        run.event("started")
        run.let_go()
        self.assertEqual(run.code(), 0)

    def test_a_continued_worker_notices_that_the_command_has_ended(self):
        run = self.shell("lock", "read x; exit 3").running()
        worker = self.stop(run.worker())
        run.let_go()
        run.command.wait()
        self.assert_held()
        worker.signal(signal.SIGCONT)
        self.assertEqual(run.code(), 3)

    def test_a_worker_keeps_its_lock_on_a_directory(self):
        run = self.hold(options=["--ttl", "10ms"])
        worker = self.stop(run.worker())
        waiter = self.run_("lock", "true", options=["-w", "200ms"])
        self.assertEqual(waiter.code(), 75)
        worker.signal(signal.SIGCONT)
        run.let_go()
        self.assertEqual(run.code(), 0, run.errors())


class ChildrenFromBeforeExec(support.Case):
    """A shell with a background job executes holdfast with exec: holdfast must not touch the job."""

    def begin(self):
        becomes = 'sleep 1000 <&- >&- 2>&- & echo $!; exec "$@"'
        run = self.run_("lock", "cat", program=["sh", "-c", becomes, "sh", support.PROGRAM])
        job = self.process(run.line())
        return run.running(), job

    def test_are_left_alone(self):
        run, job = self.begin()
        run.let_go()
        self.assertEqual(run.code(), 0)
        self.assertFalse(job.ended())

    def test_are_left_alone_when_the_worker_is_killed(self):
        run, job = self.begin()
        worker = next(pid for pid in support.children(run.pid) if pid != job.pid)
        self.process(worker).signal(signal.SIGKILL)
        self.assertEqual(run.code(), 70)
        self.assertFalse(job.ended())


class ThreeProcesses(support.Case):
    def test_are_all_that_a_run_needs(self):
        run = self.hold()
        worker = run.worker()
        self.assertEqual(support.children(run.pid), [worker.pid])
        self.assertEqual(support.children(worker.pid), [run.command.pid])
        self.assertEqual(os.getpgid(worker.pid), worker.pid)
        self.assertEqual(os.getsid(worker.pid), os.getsid(run.pid))

    def test_leave_a_pipe_as_it_is_when_they_have_ended(self):
        done = subprocess.run([support.PROGRAM, "run", "--store", self.store, "lock", "--", "echo", "all"],
                              capture_output=True, timeout=support.PATIENCE, env=self.environment)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"all\n", b""))


if __name__ == "__main__":
    support.main()
