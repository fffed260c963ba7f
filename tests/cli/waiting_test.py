"""Busy locks: waiting, giving up, messages, events, environment, nesting and order."""
import json
import os
import signal

import support
from stores import OnDirectory, OnRedis

ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)


def variables(run):
    """Our variables in the output of a command."""
    pairs = (line.split("=", 1) for line in run.lines.all().decode().splitlines() if "=" in line)
    return {name: value for name, value in pairs if name.startswith("HOLDFAST_")}


class ABusyLock(support.Case):
    def test_is_not_waited_for_with_n(self):
        holder = self.hold()
        for option in ("-n", "--nonblock", "-w0", "--timeout=0s"):
            run = self.run_("lock", "true", options=[option])
            self.assertEqual(run.code(), 75, option)
            self.assertEqual(run.told()[-2:], ["busy", "end"])
        self.assertFalse(holder.process.ended())
        self.assertEqual(self.places(), 1)

    def test_is_given_up_after_the_timeout(self):
        self.hold()
        run = self.run_("lock", "true", options=["-w", "200ms"])
        self.assertEqual(run.code(), 75)
        self.assertEqual(run.told(), ["waiting", "busy", "end"])
        self.assertEqual((run.events[-1]["exit"], run.events[-1]["cause"]), (75, "not acquired"))
        self.assertEqual(self.places(), 1)

    def test_is_acquired_if_it_becomes_free_before_the_timeout(self):
        holder = self.hold()
        run = self.run_("lock", "true", options=["-w", "1h"]).waiting()
        holder.let_go()
        self.assertEqual(run.code(), 0)

    def test_exits_with_the_conflict_exit_code(self):
        self.hold()
        for options, code in ((["-E", "3"], 3), (["--conflict-exit-code=255"], 255), (["-E0"], 0), (["--skip"], 0)):
            run = self.run_("lock", "true", options=["-n", *options])
            self.assertEqual(run.code(), code)
            self.assertEqual(run.told()[-2:], ["busy", "end"])
            self.assertEqual(run.events[-1]["cause"], "not acquired")

    def test_does_not_change_the_commands_exit_code(self):
        for options in (["-E", "3"], ["--skip"]):
            self.assertEqual(self.shell("lock", "exit 75", options=options).code(), 75)

    def test_does_not_touch_another_name(self):
        self.hold("one")
        self.assert_free("two")

    def test_does_not_touch_another_store(self):
        self.hold()
        self.store = f"dir:{self.folder}/other"
        self.assert_free()


class WhatIsSaid(support.Case):
    def test_prints_the_holder_of_a_busy_lock(self):
        holder = self.run_("lock", "/bin/cat", "-", "-").running()
        for options in (["-n"], ["-w", "200ms"]):
            run = self.run_("lock", "true", options=options)
            self.assertEqual(run.code(), 75)
            label = f"{os.uname().nodename} pid {holder.pid}: cat"
            self.assertEqual(run.errors(), f"holdfast: busy: lock, held by {label}\n")

    def test_prints_the_holder_with_v_while_waiting(self):
        holder = self.hold()
        run = self.run_("lock", "true", options=["-v"])
        label = f"{os.uname().nodename} pid {holder.pid}: cat"
        self.assertEqual(run.event("waiting")["holder"], label)
        holder.let_go()
        self.assertEqual(run.code(), 0)
        fence = run.event("acquired")["fence"]
        said = [f"holdfast: waiting for lock, held by {label}", f"holdfast: acquired lock, fence {fence}"]
        self.assertEqual(run.errors().splitlines(), said)

    def test_prints_nothing_on_success(self):
        holder = self.hold()
        run = self.run_("lock", "true").waiting()
        holder.let_go()
        self.assertEqual((run.code(), run.errors()), (0, ""))

    def test_prints_nothing_about_a_skipped_lock(self):
        self.hold()
        run = self.run_("lock", "true", options=["--skip"])
        self.assertEqual((run.code(), run.errors()), (0, ""))

    def test_rejects_contradicting_options(self):
        for options in (["-n", "-w", "3"], ["--skip", "-E", "4"], ["-q", "-v"], ["--store", ""], ["--store", "memory:"]):
            run = self.raw(*options, "lock", "--", "true")
            self.assertEqual(run.code(), 64, options)
            self.assertRegex(run.errors(), "holdfast: .*see holdfast run --help")

    def test_prints_nothing_with_q(self):
        self.hold()
        for options, name, command, code in (
            (["-n"], "lock", "true", 75),
            (["-w", "100ms"], "lock", "true", 75),
            ([], "free", "true", 0),
            ([], "free", "no-such-command", 127),
        ):
            run = self.run_(name, command, options=["-q", *options])
            self.assertEqual((run.code(), run.errors()), (code, ""))
        run = self.raw("-q", "--store", "nowhere", "lock", "--", "true")
        self.assertEqual((run.code(), run.errors()), (78, ""))

    def test_prints_no_system_errors_with_q(self):
        without_files = ["sh", "-c", 'ulimit -n 4; exec "$@"', "sh", support.PROGRAM]
        for verb, command in (("run", ["--", "true"]), ("elect", ["--", "true"]), ("hold", [])):
            for options, says in ((["-q"], False), ([], True)):
                run = self.raw(*options, "--store", self.store, "lock", *command, verb=verb, status=False, program=without_files)
                self.assertEqual(run.code(), 70, verb)
                self.assertEqual("Too many open files" in run.errors(), says, run.errors())
                self.assertEqual(run.errors() != "", says, run.errors())

    def test_arguments_of_the_command_are_not_shown_to_others(self):
        self.run_("lock", *support.PYTHON, "import sys; sys.stdin.read()", "--password=hunter2").running()
        run = self.run_("lock", "true", options=["-w", "100ms", "-v"])
        self.assertEqual(run.code(), 75)
        run.told()
        self.assertNotIn("hunter2", run.errors() + str(run.events))
        self.assertEqual([row for row in self.rows("SELECT * FROM place") if "hunter2" in str(row)], [])

    def test_the_label_names_the_holder(self):
        self.hold(options=["--label", "the nightly report, ask Ann"])
        run = self.run_("lock", "true", options=["-n"])
        self.assertEqual(run.code(), 75)
        self.assertEqual(run.errors(), "holdfast: busy: lock, held by the nightly report, ask Ann\n")

    def test_a_label_may_be_empty_and_not_too_long(self):
        for label, code in (("", 0), ("x" * 256, 0), ("x" * 257, 64)):
            self.assertEqual(self.run_("lock", "true", options=["--label", label]).code(), code)

    def test_a_long_program_name_is_cut_in_the_label(self):
        long = self.folder / ("x" * 250)
        long.symlink_to("/bin/cat")
        self.run_("lock", str(long)).running()
        run = self.run_("lock", "true", options=["-n"])
        self.assertEqual(run.code(), 75)
        self.assertRegex(run.errors(), r"held by .*: x+\.\.\.\n$")


class WhatOthersWrote(support.Case):
    """A label or reason that would clear the screen, rename the window and reverse the line."""

    WILD = "\x1b]0;owned\x07\x1b[2J\u009b31m\u202e"
    TAME = r"\x1b]0;owned\x07\x1b[2J"

    def assert_tame(self, text):
        self.assertIn(self.TAME, text)
        for each in self.WILD:
            if not each.isprintable():
                self.assertNotIn(each, text)

    def test_is_escaped_on_the_terminal_of_a_waiter(self):
        holder = self.hold(options=["--label", self.WILD])
        for verb, *options in (("run", "-n"), ("run", "-n", "-v"), ("hold", "-n"), ("acquire", "-n"), ("try", "-v"),
                               ("wait", "-w", "300ms"), ("release", "--owner", "0" * 32)):
            command = ["--", "true"] if verb == "run" else []
            run = self.raw("--store", self.store, *options, "lock", *command, verb=verb, status=False)
            self.assertEqual(run.code(), 75, run.errors())
            self.assert_tame(run.errors())
        for verb in ("run", "elect"):
            run = self.run_("lock", "true", options=["-v"], verb=verb).waiting()
            support.until(lambda: "waiting for" in run.errors(), "the line")
            self.assert_tame(run.errors())
            run.signal(signal.SIGTERM)
            run.code()
        holder.let_go()

    def test_is_escaped_on_the_terminal_of_a_dry_run(self):
        holder = self.hold(options=["--label", self.WILD])
        run = self.run_("lock", "true", options=["--dry-run"])
        self.assertEqual(run.code(), 75)
        self.assert_tame(run.lines.all().decode())
        holder.let_go()

    def test_is_escaped_on_the_terminal_of_a_holder(self):
        for verb in ("run", "hold"):
            command = ["--", "cat"] if verb == "run" else []
            holder = self.raw("--store", self.store, "-v", "lock", *command, verb=verb)
            holder.event("acquired")
            revoke = self.raw("--store", self.store, "--reason", self.WILD, "lock", verb="revoke", status=False)
            self.assertEqual(revoke.code(), 0, revoke.errors())
            holder.event("revoke_requested")
            support.until(lambda: "revoke request for" in holder.errors(), "the line")
            self.assert_tame(holder.errors())
            holder.let_go()
            self.assertEqual(holder.code(), 0)


class TheStatus(support.Case):
    def test_has_all_events_of_a_run_in_order(self):
        holder = self.hold()
        run = self.shell("lock", "exit 3").waiting()
        holder.let_go()
        self.assertEqual(run.code(), 3)
        self.assertEqual(run.told(), ["waiting", "acquired", "started", "exited", "released", "end"])
        waiting, acquired, started, exited, released, end = run.events
        self.assertEqual((waiting["name"], acquired["name"]), ("lock", "lock"))
        self.assertRegex(acquired["owner"], "^[0-9a-f]{32}$")
        self.assertGreater(acquired["fence"], holder.events[0]["fence"])
        self.assertGreater(started["pid"], 0)
        self.assertEqual((exited["code"], released["certain"]), (3, 1))
        self.assertEqual((end["exit"], end["cause"]), (3, "command"))
        for event in run.events:
            self.assertIsInstance(event["time"], float)

    def test_is_valid_json_for_a_name_that_is_not_utf8(self):
        name = os.fsdecode(b'a\xff\xfe"\\\n\xc3')
        holder = self.hold(name)
        run = self.run_(name, "true", options=["-n"])
        self.assertEqual(run.code(), 75)
        self.assertEqual(run.event("busy")["name"], 'a\ufffd\ufffd"\\\n\ufffd')
        holder.let_go()
        self.assertEqual(holder.code(), 0)
        printed = self.run_(name, "printenv", "-0", "HOLDFAST_NAME")
        self.assertEqual(printed.lines.all(), b'a\xff\xfe"\\\n\xc3\0')

    def test_names_that_differ_in_invalid_utf8_are_different_locks(self):
        self.hold(os.fsdecode(b"a\xff"))
        self.assert_free(os.fsdecode(b"a\xfe"))

    def test_is_not_inherited_by_the_command(self):
        program = "import os; print([fd for fd in range(3, 100) if os.path.exists(f'/proc/self/fd/{fd}')][:-1])"
        run = self.python("lock", program)
        self.assertEqual(run.code(), 0)
        self.assertEqual(run.lines.all().decode().strip(), "[]")

    def test_may_be_stdout_or_stderr(self):
        run = self.shell("lock", "echo of the command", options=["--status-fd", "1"], status=False)
        self.assertEqual(run.code(), 0)
        lines = run.lines.all().decode().splitlines()
        lines.remove("of the command")
        self.assertEqual(
            [json.loads(line)["event"] for line in lines], ["acquired", "started", "exited", "released", "end"]
        )

    def test_continues_after_its_reader_is_gone(self):
        run = self.shell("lock", "read x; exit 5").running()
        run.status.close()
        run.status.fd = os.open("/dev/null", os.O_RDONLY)
        run.let_go()
        self.assertEqual(run.code(), 5)


class TheEnvironment(support.Case):
    def setUp(self):
        super().setUp()
        del self.environment["HOLDFAST_CONFIG"]  # it is passed on unchanged

    def test_has_the_seven_variables_of_a_lock_and_no_others_of_ours(self):
        run = self.run_("lock", "env")
        acquired = run.event("acquired")
        expected = {
            "HOLDFAST_NAME": "lock",
            "HOLDFAST_FENCE": str(acquired["fence"]),
            "HOLDFAST_NAMES": "lock",
            "HOLDFAST_FENCES": str(acquired["fence"]),
            "HOLDFAST_OWNER": acquired["owner"],
            "HOLDFAST_STORE": self.store,
            "HOLDFAST_MODE": "lock",
        }
        self.assertEqual(variables(run), expected)

    def test_has_the_mode_of_the_lock(self):
        for option, mode in (("-x", "lock"), ("--exclusive", "lock"), ("-s", "shared")):
            run = self.run_("lock", "printenv", "HOLDFAST_MODE", options=[option])
            self.assertEqual((run.line(), run.code()), (mode, 0))
        self.assertEqual(self.run_("lock", "true", options=["-x", "-s"]).code(), 64)
        self.assertEqual(self.run_("lock", "true", options=["-x", "--permits", "1/2"]).code(), 64)

    def test_is_otherwise_unchanged(self):
        self.environment["EMPTY"] = ""
        self.environment["ODD"] = "a=b\nc"
        run = self.run_("lock", "env", "-0")
        found = dict(part.split("=", 1) for part in run.lines.all().decode().split("\0") if part)
        self.assertEqual({k: v for k, v in found.items() if not k.startswith("HOLDFAST_")}, self.environment)

    def test_is_always_overwritten(self):
        for name in ("NAME", "FENCE", "NAMES", "FENCES", "PERMITS", "OWNER"):
            self.environment[f"HOLDFAST_{name}"] = "stale"
        self.environment["HOLDFAST_STORE"] = f"dir:{self.folder}/other"
        run = self.run_("a=b c", "env")
        found = variables(run)
        self.assertEqual((found["HOLDFAST_NAME"], found["HOLDFAST_STORE"]), ("a=b c", self.store))
        self.assertNotIn("stale", found.values())

    def test_selects_the_store_without_an_option(self):
        self.environment["HOLDFAST_STORE"] = f"dir:{self.folder}/by-variable"
        run = self.raw("lock", "--", "env")
        self.assertEqual(variables(run)["HOLDFAST_STORE"], f"dir:{self.folder}/by-variable")
        self.assertEqual(run.code(), 0)
        self.assertTrue((self.folder / "by-variable").is_dir())

    def test_an_invalid_store_in_it_is_78(self):
        self.environment["HOLDFAST_STORE"] = "nowhere"
        self.assertEqual(self.raw("lock", "--", "true").code(), 78)


class Nested:
    def test_warns_if_a_run_waits_for_itself(self):
        inner = [support.PROGRAM, "run", "-w", "500ms", "lock", "--", "true"]
        run = self.run_("lock", *inner)
        self.assertEqual(run.code(), 75)
        self.assertIn("may be held by the run that started this one", run.errors())
        self.assertNotIn("for ever", run.errors())

    def test_warns_also_about_the_second_name_of_the_outer_run(self):
        inner = [support.PROGRAM, "run", "-w", "500ms", "c", "b", "--", "true"]
        run = self.raw("--store", self.store, "a", "b", "--", *inner)
        self.assertEqual(run.code(), 75)
        self.assertIn("may be held by the run that started this one", run.errors())
        other = self.raw("--store", self.store, "a", "bb", "--", support.PROGRAM, "run", "b", "--", "true")
        self.assertEqual((other.code(), other.errors()), (0, ""))

    def test_does_not_warn_with_q(self):
        run = self.run_("lock", support.PROGRAM, "run", "-q", "-w", "500ms", "lock", "--", "true")
        self.assertEqual((run.code(), run.errors()), (75, ""))

    def test_a_run_inside_itself_finds_the_lock_busy(self):
        run = self.run_("lock", support.PROGRAM, "run", "-n", "lock", "--", "true")
        self.assertEqual(run.code(), 75)

    def test_variables_are_those_of_the_innermost_run(self):
        inner = [support.PROGRAM, "run", "inner", "--", "env"]  # it uses the store of the outer run
        run = self.run_("outer", *inner)
        found = variables(run)
        outer = run.event("acquired")
        self.assertEqual((found["HOLDFAST_NAME"], found["HOLDFAST_STORE"]), ("inner", self.store))
        self.assertGreater(int(found["HOLDFAST_FENCE"]), outer["fence"])
        self.assertNotEqual(found["HOLDFAST_OWNER"], outer["owner"])
        self.assertEqual(run.code(), 0)


class RunsInsideRunsOnADirectory(OnDirectory, Nested, support.Case):
    pass


class RunsInsideRunsOnRedis(OnRedis, Nested, support.Case):
    pass


class Order:
    def test_waiters_are_served_in_arrival_order(self):
        holder = self.hold()
        record = self.folder / "record"
        waiters = [self.shell("lock", 'echo "$1" >> "$2"', at, record).waiting() for at in range(12)]
        self.assertEqual(self.places(), 13)
        holder.let_go()
        self.assertEqual([waiter.code() for waiter in waiters], [0] * 12)
        self.assertEqual(record.read_text().split(), [str(at) for at in range(12)])
        fences = [waiter.event("acquired")["fence"] for waiter in waiters]
        self.assertEqual(fences, sorted(set(fences)))

    def test_fifty_at_once_lose_no_update(self):
        count = self.folder / "count"
        count.write_text("0\n")
        runs = [self.shell("lock", 'read n < "$1"; echo $((n + 1)) > "$1"', count) for _ in range(50)]
        self.assertEqual([run.code() for run in runs], [0] * 50)
        self.assertEqual(count.read_text(), "50\n")

    def test_a_signalled_waiter_leaves_the_queue(self):
        holder = self.hold()
        for number in ENDING:
            leaver = self.run_("lock", "true").waiting()
            behind = self.hold_later()
            leaver.signal(number)
            self.assertEqual(leaver.code(), 128 + number, leaver.errors())
            end = leaver.event("end")
            self.assertEqual((end["exit"], end["cause"]), (128 + number, "not acquired"))
            self.assertEqual(self.places(), 2)
            holder.let_go()
            behind.event("started")
            self.assertEqual(holder.code(), 0)
            holder = behind

    def hold_later(self):
        return self.run_("lock", "cat").waiting()

    def test_a_non_terminating_signal_keeps_the_queue_position(self):
        holder = self.hold()
        run = self.run_("lock", "true").waiting()
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH, signal.SIGCONT):
            run.signal(number)
        holder.let_go()
        self.assertEqual(run.code(), 0)

    def test_a_killed_waiter_is_skipped(self):
        holder = self.hold()
        killed = [self.run_("lock", "true").waiting() for _ in range(3)]
        behind = self.run_("lock", "true").waiting()
        workers = [each.worker() for each in killed]
        of_killed = workers + [self.process(pid) for worker in workers for pid in support.children(worker.pid)]
        self.assertEqual(len(of_killed), 6)  # workers, and commands that have not started yet
        for each in killed:
            each.signal(signal.SIGKILL)
        holder.let_go()
        self.assertEqual(behind.code(), 0)
        for each in of_killed:
            each.wait()

    def test_survivors_are_served_in_order_if_half_are_killed(self):
        holder = self.hold()
        record = self.folder / "record"
        waiters = [self.shell("lock", 'echo "$1" >> "$2"', at, record).waiting() for at in range(60)]
        for killed in waiters[::2]:
            killed.signal(signal.SIGKILL)
        holder.let_go()
        self.assertEqual([waiter.code() for waiter in waiters[1::2]], [0] * 30)
        self.assertEqual(record.read_text().split(), [str(at) for at in range(1, 60, 2)])
        self.assert_free()
        self.assertEqual(self.places(), 0)

    def test_a_stopped_waiter_keeps_its_position_and_continues(self):
        holder = self.hold()
        run = self.run_("lock", "true").waiting()
        run.signal(signal.SIGSTOP)
        support.until(lambda: run.process.state() == "T", "stopped")
        behind = self.run_("lock", "true").waiting()
        holder.let_go()
        self.assertEqual(holder.code(), 0)
        self.assertEqual(self.places(), 2)
        run.signal(signal.SIGCONT)
        self.assertEqual(run.code(), 0)
        self.assertEqual(behind.code(), 0)


class OrderOnADirectory(OnDirectory, Order, support.Case):
    pass


class OrderOnRedis(OnRedis, Order, support.Case):
    pass


if __name__ == "__main__":
    support.main()
