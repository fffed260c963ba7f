"""Signals to `holdfast run` while its command runs, and while it is being stopped."""
import os
import pathlib
import signal

import support
from stores import OnDirectory, OnRedis

FORWARDED = ("HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "WINCH", "CONT")

# A group leader and its child: each prints the signals it gets, one write per line. They end with stdin.
PAIR = support.HEAR + """
to_child, to_leader = os.pipe(), os.pipe()
leads = os.fork()
who = "leader" if leads else "child"
def say(text): os.write(1, f"{who} {text}\\n".encode())
hear(sys.argv[1:], say)
os.close(to_child[1]) if not leads else os.close(to_leader[1])
if leads:
    os.read(to_leader[0], 1)
    say("ready")
    os.read(0, 1)
    os.close(to_child[1])
    os.wait()
    os._exit(9)
os.write(to_leader[1], b"!")
os.read(to_child[0], 1)
"""


class Running:
    def test_each_reaches_the_whole_group(self):
        run = self.python("lock", PAIR, *FORWARDED).running().word("leader ready")
        for name in FORWARDED:
            run.signal(getattr(signal, "SIG" + name))
            self.assertEqual({run.line(), run.line()}, {f"leader {name}", f"child {name}"})
        run.let_go()
        self.assertEqual(run.code(), 9)
        self.assertEqual(run.event("end")["cause"], "command")

    def test_each_sent_to_the_job_reaches_every_process_once(self):
        run = self.python("lock", PAIR, *FORWARDED, start_new_session=True).running().word("leader ready")
        for name in FORWARDED:
            os.killpg(run.pid, getattr(signal, "SIG" + name))
            self.assertEqual({run.line(), run.line()}, {f"leader {name}", f"child {name}"})
        run.let_go()
        self.assertEqual((run.code(), run.lines.all()), (9, b""))

    def test_one_that_kills_the_command_is_its_exit_code(self):
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2):
            run = self.shell("lock", "ulimit -c 0; echo ready; exec cat").running().word("ready")
            run.signal(number)
            self.assertEqual(run.code(), 128 + number)
            self.assertEqual(run.event("exited")["signal"], number)
        self.assert_free()

    def test_a_command_that_ignores_term_runs_on_and_keeps_the_lock(self):
        run = self.shell("lock", 'trap "" TERM; echo ready; read x; exit 4').running().word("ready")
        for _ in range(3):
            run.signal(signal.SIGTERM)
        self.assert_held()
        run.let_go()
        self.assertEqual(run.code(), 4)

    def test_the_exit_code_after_term_is_the_commands(self):
        run = self.shell("lock", 'trap "exit 6" TERM; echo ready; while :; do read x; done').running().word("ready")
        run.signal(signal.SIGTERM)
        self.assertEqual(run.code(), 6)

    def test_one_sent_before_the_command_starts_is_not_lost(self):
        holder = self.hold()
        run = self.shell("lock", "read x").waiting()
        run.signal(signal.SIGSTOP)  # so that grant and signal are both pending when it continues
        support.until(lambda: run.process.state() == "T", "stopped")
        holder.let_go()
        self.assertEqual(holder.code(), 0)
        run.signal(signal.SIGTERM)
        run.signal(signal.SIGCONT)
        self.assertEqual(run.code(), 128 + signal.SIGTERM)
        self.assert_free()


class WhileTheCommandRunsOnADirectory(OnDirectory, Running, support.Case):
    pass


class WhileTheCommandRunsOnRedis(OnRedis, Running, support.Case):
    pass


class Stopping:
    # The command ends and leaves a process that ignores TERM and prints the signals it gets.
    LEFT = """
import os, signal, sys
all = {getattr(signal, "SIG" + name) for name in sys.argv[1:]}
signal.pthread_sigmask(signal.SIG_BLOCK, all)
if os.fork(): os._exit(3)
while True: os.write(1, f"{signal.Signals(signal.sigwait(all)).name[3:]}\\n".encode())
"""

    def test_each_reaches_leftovers_and_the_code_stays_the_commands(self):
        run = self.python("lock", self.LEFT, *FORWARDED, options=["--grace", "2s"])
        self.assertEqual({run.line(), run.line()}, {"TERM", "CONT"})  # sent by us to end it
        names = [name for name in FORWARDED if name not in ("TERM", "CONT")]
        for name in names:
            run.signal(getattr(signal, "SIG" + name))
            run.word(name)
        self.assertEqual(run.code(), 3)
        self.assertEqual(run.event("end")["exit"], 3)

    def test_each_reaches_a_command_that_is_being_stopped(self):
        script = 'trap "echo TERM" TERM; trap "echo HUP; exit 5" HUP; echo ready; while :; do read x; done'
        run = self.stopping(script, *self.ASKED_EARLY)
        run.signal(signal.SIGHUP)
        run.word("HUP")
        self.assertEqual(run.code(), 79)

    # It is signalled after two seconds, in which it sets its trap, and killed a minute later.
    ASKED_EARLY = ["--max-hold", "62s", "--grace", "60s", "--ttl", "70s"]
    # Catches TERM and keeps running.
    STAYS = 'trap "echo TERM" TERM; echo ready; while :; do read x; done'

    def stopping(self, script, *options, **how):
        return self.shell("lock", script, options=options, **how).running().word("ready").word("TERM")

    def test_a_terminating_one_does_not_change_code_or_end(self):
        run = self.stopping('trap "echo TERM" TERM; trap "echo INT; exit 5" INT; echo ready; while :; do read x; done',
                            *self.ASKED_EARLY)
        run.signal(signal.SIGTERM)
        run.word("TERM")
        run.signal(signal.SIGINT)
        run.word("INT")
        self.assertEqual(run.code(), 79)
        self.assertEqual(run.event("end")["cause"], "max_hold")
        self.assert_free()

    def test_stopping_the_job_does_not_stop_the_clock(self):
        run = self.stopping(self.STAYS, "--max-hold", "4s", "--grace", "2s", **support.AS_A_JOB)
        run.signal(signal.SIGTSTP)
        support.until(lambda: run.process.state() == "T", "stopped")
        run.command.wait()  # it is killed in time, although all others are stopped
        self.assertEqual(self.run_("lock", "true").code(), 0)
        run.signal(signal.SIGCONT)
        self.assertEqual(run.code(), 79)
        self.assertEqual(run.event("exited")["signal"], signal.SIGKILL)

    def test_killing_supervisor_or_worker_kills_the_command_at_once(self):
        # The worker last: its lock stays on a server, which does not notice that the worker has ended.
        for whom, code in (("supervisor", -signal.SIGKILL), ("worker", 70)):
            run = self.stopping(self.STAYS, *self.ASKED_EARLY)
            (run.process if whom == "supervisor" else run.worker()).signal(signal.SIGKILL)
            run.command.wait()
            self.assertEqual(run.code(), code)
            if whom == "supervisor" or isinstance(self, OnDirectory):
                self.assertEqual(self.run_("lock", "true").code(), 0)

    def test_none_changes_the_code_when_the_lock_is_lost(self):
        run = self.shell("lock", 'trap "echo TERM" TERM; trap "exit 5" HUP; echo ready; while :; do read x; done')
        fence = run.event("acquired")["fence"]
        run.running().word("ready")
        self.raw("--store", self.store, "lock", "--fence", str(fence), "--yes", verb="break", status=False).code()
        run.word("TERM")
        run.signal(signal.SIGHUP)
        self.assertEqual(run.code(), 79)  # whether it was in time or not
        self.assertEqual(run.event("end")["cause"], "lost")


class WhileTheCommandIsBeingStoppedOnADirectory(OnDirectory, Stopping, support.Case):
    pass


class WhileTheCommandIsBeingStoppedOnRedis(OnRedis, Stopping, support.Case):
    pass


class Dispositions(support.Case):
    def ignoring(self, *names):
        """A shell that ignores the signals executes the program."""
        return ["sh", "-c", "".join(f"trap '' {name}; " for name in names) + 'exec "$@"', "sh", support.PROGRAM]

    def test_an_ignored_hangup_stays_ignored_by_the_command_and_by_us(self):
        run = self.shell("lock", "echo ready; read x; exit 4", program=self.ignoring("HUP")).running().word("ready")
        run.signal(signal.SIGHUP)
        run.command.signal(signal.SIGHUP)
        run.let_go()
        self.assertEqual(run.code(), 4)

    def test_what_the_caller_ignores_does_not_end_us_while_we_wait(self):
        holder = self.hold()
        run = self.shell("lock", "exit 4", program=self.ignoring("HUP", "INT", "QUIT", "TERM")).waiting()
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
            run.signal(number)
        holder.let_go()
        self.assertEqual(run.code(), 4, run.errors())

    def test_notices_the_commands_end_if_the_caller_ignores_sigchld(self):
        ignore = "from signal import *; import os, sys; signal(SIGCHLD, SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
        self.assertEqual(self.shell("lock", "exit 4", program=[*support.PYTHON, ignore, support.PROGRAM]).code(), 4)

    def test_the_command_gets_the_callers_mask_and_dispositions(self):
        found = ("SigBlk", "SigIgn", "SigCgt")
        of_the_c_library = 3 << 31  # 32 and 33, reserved by the C library; some callers pass them on ignored

        def of(program):
            run = self.run_("lock", "cat", "/proc/self/status", program=program)
            lines = run.lines.all().decode().splitlines()
            self.assertEqual(run.code(), 0)
            mine = (line.split() for line in lines if line[:6] in found)
            return {name: int(value, 16) & ~of_the_c_library for name, value in mine}

        plain, some = of([support.PROGRAM]), of(self.ignoring("HUP", "USR1"))
        self.assertEqual(plain, {"SigBlk:": 0, "SigIgn:": 0, "SigCgt:": 0})
        both = 1 << (signal.SIGHUP - 1) | 1 << (signal.SIGUSR1 - 1)
        self.assertEqual((some["SigBlk:"], some["SigIgn:"]), (0, both))


class BeforeTheCommand(support.Case):
    def test_a_signal_during_the_request_prevents_the_command(self):
        holder = self.hold("another")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            with support.lock_byte(self.folder / "store" / "writers", 0):
                run = self.run_("lock", "touch", str(self.folder / "began"))
                mapped = pathlib.Path(f"/proc/{run.worker().pid}/maps")  # it has the file of writers open
                support.until(lambda: "/store/writers" in mapped.read_text(), "at the store")
                run.signal(number)
            self.assertEqual(run.code(), 128 + number, run.errors())
            self.assertFalse((self.folder / "began").exists())
        holder.let_go()


if __name__ == "__main__":
    support.main()
