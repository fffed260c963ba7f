"""Options of `holdfast run`: several names, readers, permits, --min-hold, -c, --env-prefix, --json, --dry-run."""
import json
import os
import signal

import support
from stores import OnDirectory, OnRedis


def variables(run, prefix="HOLDFAST_"):
    """Our variables in the output of `env -0`."""
    pairs = (part.split("=", 1) for part in run.lines.all().decode().split("\0") if part)
    return {name[len(prefix):]: value for name, value in pairs if name.startswith(prefix)}


class Names:
    def all_of(self, *names, options=(), command=("cat",)):
        return self.raw("--store", self.store, *options, *names, "--", *command)

    def test_all_are_acquired_and_released(self):
        run = self.all_of("b", "a").running()
        for name in ("a", "b"):
            self.assert_held(name)
        self.assert_free("c")
        run.let_go()
        self.assertEqual(run.code(), 0)
        for name in ("a", "b"):
            self.assert_free(name)

    def test_none_is_held_when_one_is_busy(self):
        self.hold("b")
        self.assertEqual(self.all_of("a", "b", options=["-n"]).code(), 75)
        self.assert_free("a")

    def test_in_different_order_do_not_deadlock(self):
        runs = [self.all_of(*names, command=["true"]) for names in (("a", "b"), ("b", "a")) * 5]
        self.assertEqual([run.code() for run in runs], [0] * 10)

    def test_the_command_gets_them_in_order_and_the_first_separately(self):
        run = self.all_of("z", "a", "z", command=["env", "-0"])
        found = variables(run)
        self.assertEqual(run.code(), 0)
        fences = found["FENCES"].split("\n")
        self.assertEqual((found["NAME"], found["NAMES"]), ("z", "z\na\nz"))
        self.assertEqual((found["FENCE"], fences[2]), (fences[0], fences[0]))
        self.assertEqual(run.event("acquired")["fence"], int(found["FENCE"]))
        after = self.all_of("a", command=["env", "-0"])
        self.assertGreater(int(variables(after)["FENCE"]), int(fences[1]))

    def test_all_are_printed_when_one_is_busy(self):
        self.hold("b", options=["--label", "Ann"])
        run = self.all_of("a", "b", options=["-n"])
        self.assertEqual(run.code(), 75)
        self.assertEqual(run.errors(), "holdfast: busy: a, b, held by Ann\n")
        self.assertEqual(run.event("busy")["holder"], "Ann")


class Readers:
    def test_share_it_and_keep_a_writer_out(self):
        for option in ("-s", "--shared"):
            runs = [self.hold(options=[option]) for _ in range(2)]
            self.assert_held()
            for run in runs:
                run.let_go()
                self.assertEqual(run.code(), 0)
            self.assert_free()

    def test_are_kept_out_by_a_writer(self):
        self.hold()
        self.assertEqual(self.run_("lock", "true", options=["-s", "-n"]).code(), 75)


class Permits:
    def take(self, share, *options, command=("cat",)):
        return self.run_("pool", *command, options=["--permits", share, *options])

    def test_limit_the_number_of_holders(self):
        two = self.take("2/3").running()
        one = self.take("3").running()
        self.assertEqual(self.take("1/3", "-n").code(), 75)
        one.let_go()
        self.assertEqual(one.code(), 0)
        self.assertEqual(self.take("2/3", "-n").code(), 75)
        self.assertEqual(self.take("1/3", "-n", command=["true"]).code(), 0)
        two.let_go()
        self.assertEqual(two.code(), 0)
        self.assertEqual(self.take("3/3", "-n", command=["true"]).code(), 0)

    def test_are_waited_for(self):
        holder = self.take("2/2").running()
        waiter = self.take("1/2", command=["true"]).waiting()
        holder.let_go()
        self.assertEqual((holder.code(), waiter.code()), (0, 0))

    def test_are_passed_to_the_command(self):
        for share, told in (("2/3", "2/3"), ("3", "1/3")):
            found = variables(self.take(share, command=["env", "-0"]))
            self.assertEqual((found["PERMITS"], found["MODE"]), (told, "permits"))

    def test_are_not_passed_to_a_nested_lock(self):
        run = self.take("2/3", command=[support.PROGRAM, "run", "inner", "--", "env", "-0"])
        found = variables(run)
        self.assertEqual(run.code(), 0)
        self.assertEqual(found["NAME"], "inner")
        self.assertNotIn("PERMITS", found)

    def test_of_another_number_than_others_use_are_78(self):
        self.take("1/3").running()
        for options in ((), ("--dry-run",)):
            run = self.take("1/4", *options)
            self.assertEqual(run.code(), 78, run.errors())
            self.assertIn("3", run.errors())

    def test_of_a_name_that_is_a_lock_are_busy(self):
        self.hold("pool")
        for options in (("-n",), ("--dry-run",)):
            self.assertIn(self.take("1/3", *options).code(), (75, 78))


class MinHold:
    def test_keeps_the_lock_after_the_command(self):
        for code in (0, 3):
            run = self.shell("lock", "exit $1", code, options=["--min-hold", "1h"])
            self.assertGreater(run.event("keeping")["ms"], 3_000_000)
            self.assertEqual([event["event"] for event in run.events[-2:]], ["exited", "keeping"])
            self.assert_held()
            run.signal(signal.SIGTERM)  # ends the wait
            self.assertEqual(run.code(), code)
            self.assertEqual(run.told()[-3:], ["keeping", "released", "end"])
            self.assertEqual(run.events[-1]["cause"], "command")
            self.assert_free()

    def test_ends_by_any_terminating_signal(self):
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
            run = self.run_("lock", "true", options=["--min-hold", "1h"])
            run.event("keeping")
            run.signal(signal.SIGUSR1)  # which does not end it
            run.signal(number)
            self.assertEqual(run.code(), 0, number)

    def test_ends_by_a_signal_after_a_late_suspend_key(self):
        run = self.run_("lock", "true", options=["--min-hold", "1h"])
        run.event("keeping")
        run.worker().signal(signal.SIGTSTP)  # as forwarded by a supervisor that does not know yet that the command has ended
        run.signal(signal.SIGTERM)
        run.code()
        self.assertEqual(run.told()[-2:], ["released", "end"])

    def test_ends_by_itself(self):
        run = self.run_("lock", "true", options=["--min-hold", "300ms", "-v"])
        waiter = self.run_("lock", "true")
        self.assertEqual((run.code(), waiter.code()), (0, 0))
        self.assertGreaterEqual(run.event("released")["time"] + 0.05, run.events[0]["time"] + 0.3)

    def test_is_skipped_for_a_command_that_got_a_stop_signal(self):
        run = self.shell("lock", "echo ready; exec cat", options=["--min-hold", "1h"]).running().word("ready")
        run.signal(signal.SIGTERM)
        self.assertEqual(run.code(), 128 + signal.SIGTERM)
        self.assertNotIn("keeping", run.told())

    def test_is_reported_with_v(self):
        run = self.run_("lock", "true", options=["--min-hold", "1h", "-v"])
        run.event("keeping")
        run.signal(signal.SIGTERM)
        self.assertEqual(run.code(), 0)
        self.assertRegex(run.errors(), r"keeping lock for \d+ms more \(--min-hold\)")


class SeveralNamesOnADirectory(OnDirectory, Names, support.Case):
    pass


class SeveralNamesOnRedis(OnRedis, Names, support.Case):
    pass


class ReadersOnADirectory(OnDirectory, Readers, support.Case):
    pass


class ReadersOnRedis(OnRedis, Readers, support.Case):
    pass


class PermitsOnADirectory(OnDirectory, Permits, support.Case):
    def refused(self, *arguments):
        run = self.raw("--store", self.store, *arguments, "--", "true")
        self.assertEqual(run.code(), 64, arguments)
        return run.errors()

    def test_that_are_not_a_number_are_rejected(self):
        for share in ("", "0", "x", "0/3", "4/3", "1/", "/3", "1/3/5", "-1", "1.5", "2/x", "99999999999"):
            self.assertIn("2/10 for two of ten", self.refused(f"--permits={share}", "pool"), share)
        self.assertIn("1000000", self.refused("--permits", "1/1000001", "pool"))

    def test_of_several_names_are_rejected(self):
        self.assertIn("a single NAME", self.refused("--permits", "1/3", "a", "b"))

    def test_are_not_reader_locks(self):
        self.assertIn("--shared", self.refused("--permits", "1/3", "-s", "a"))


class PermitsOnRedis(OnRedis, Permits, support.Case):
    pass


class MinHoldOnADirectory(OnDirectory, MinHold, support.Case):
    def test_must_be_shorter_than_max_hold(self):
        for most, code in (("1s", 64), ("2s", 64), ("3s", 0)):
            run = self.run_("lock", "true", options=["--min-hold", "2s", "--max-hold", most])
            if code == 0:
                run.event("keeping")
                run.signal(signal.SIGTERM)
            self.assertEqual(run.code(), code, run.errors())
        self.assertIn("shorter than --max-hold", self.runs[0].errors())


class MinHoldOnRedis(OnRedis, MinHold, support.Case):
    def test_ends_with_the_lock_and_the_code_is_80(self):
        run = self.run_("lock", "true", options=["--min-hold", "1h", "--ttl", "2s"])
        run.event("keeping")
        self.redis.flushall()
        self.assertEqual(run.code(), 80, run.errors())
        self.assertEqual(run.event("end")["cause"], "uncertain")


class ALine(support.Case):
    def test_is_run_by_the_shell(self):
        for option in ("-c", "--command"):
            run = self.raw("--store", self.store, option, "echo $HOLDFAST_NAME | tr a-z A-Z; exit 5", "lock")
            self.assertEqual((run.lines.all(), run.code()), (b"LOCK\n", 5))
        run = self.raw("--store", self.store, "lock", "-c", "")
        self.assertEqual(run.code(), 0)

    def test_and_a_command_cannot_be_combined(self):
        run = self.raw("--store", self.store, "lock", "-c", "true", "--", "true")
        self.assertEqual(run.code(), 64)
        self.assertIn("two commands", run.errors())

    def test_is_not_shown_to_others(self):
        self.raw("--store", self.store, "-c", "read x; : hunter2", "lock").running()
        run = self.run_("lock", "true", options=["-n"])
        self.assertEqual(run.code(), 75)
        self.assertRegex(run.errors(), r"held by .* pid \d+: sh\n$")


class APrefix(support.Case):
    def test_begins_the_variables(self):
        self.environment["HOLDFAST_NAME"] = "of the caller"
        run = self.run_("lock", "env", "-0", options=["--env-prefix", "JOB_1", "--permits", "1/2"])
        text = run.lines.all()
        self.assertEqual(run.code(), 0)
        found = {part.split(b"=")[0] for part in text.split(b"\0") if part.startswith(b"JOB_1_")}
        words = (b"NAME", b"FENCE", b"NAMES", b"FENCES", b"PERMITS", b"OWNER", b"STORE", b"MODE")
        self.assertEqual(found, {b"JOB_1_" + word for word in words})
        self.assertIn(b"HOLDFAST_NAME=of the caller\0", text)

    def test_that_is_not_a_variable_name_is_rejected(self):
        for prefix in ("", "a", "1A", "A-B", "A=B", "A B", "Ä"):
            run = self.run_("lock", "true", options=[f"--env-prefix={prefix}"])
            self.assertEqual(run.code(), 64, prefix)
            self.assertIn("variable", run.errors())


class Json(support.Case):
    def events(self, run):
        return [json.loads(line) for line in run.errors().splitlines()]

    def json(self, *arguments, **how):
        return self.raw("--store", self.store, "--json", *arguments, status=False, **how)

    def test_writes_only_events_to_stderr(self):
        run = self.json("lock", "--", "echo", "of the command")
        self.assertEqual((run.code(), run.lines.all()), (0, b"of the command\n"))
        told = [event["event"] for event in self.events(run)]
        self.assertEqual(told, ["acquired", "started", "exited", "released", "end"])

    def test_says_who_holds_a_busy_lock(self):
        self.hold(options=["--label", "Ann"])
        run = self.json("-n", "lock", "--", "true")
        self.assertEqual(run.code(), 75)
        self.assertEqual(self.events(run)[-2]["holder"], "Ann")

    def test_reports_errors(self):
        for arguments, code, word in (
            (("lock", "--", "no-such-command"), 127, "No such file"),
            (("", "--", "true"), 64, "empty"),
        ):
            run = self.json(*arguments)
            self.assertEqual(run.code(), code)
            self.assertIn(word, self.events(run)[-1]["why"])

    def test_that_cannot_be_written_does_not_stop_the_command(self):
        with open("/dev/full", "wb") as full:
            run = self.json("lock", "--", "echo", "of the command", stderr=full)
            self.assertEqual((run.code(), run.lines.all()), (0, b"of the command\n"))
        self.assert_free()

    def test_reports_that_a_run_waits_for_itself(self):
        run = self.run_("lock", support.PROGRAM, "run", "--json", "-w", "100ms", "lock", "--", "true")
        self.assertEqual(run.code(), 75)
        waiting = next(event for event in self.events(run) if event["event"] == "waiting")
        self.assertIn("the run that started this one", waiting["why"])

    def test_excludes_other_output_options(self):
        for other in (["-q"], ["-v"], ["--status-fd", "1"]):
            self.assertEqual(self.json(*other, "lock", "--", "true").code(), 64)


class DryRun:
    def dry(self, *arguments, command=("cat", "a b", "it's")):
        return self.raw("--store", self.store, "--dry-run", *arguments, "--", *command)

    def assert_says(self, run, code, *lines):
        self.assertEqual(run.code(), code, run.errors())
        self.assertEqual(run.lines.all().decode().splitlines(), list(lines))
        self.assertEqual(run.told()[-1], "end")
        self.assertEqual((run.events[-1]["exit"], run.events[-1]["cause"]), (code, "dry run"))

    def test_of_a_free_lock_prints_the_command(self):
        self.assert_says(self.dry("lock"), 0, "lock: free", "would run: cat 'a b' 'it'\\''s'")
        self.assert_says(self.dry("a", "b"), 0, "a: free", "b: free", "would run: cat 'a b' 'it'\\''s'")

    def test_of_a_busy_lock_prints_holder_and_waiters(self):
        holder = self.hold(options=["--label", "Ann"])
        self.assert_says(self.dry("lock", command=["x"]), 75, "lock: busy, held by Ann", "would wait, and run: x")
        waiter = self.run_("lock", "true").waiting()
        run = self.dry("-n", "-E", "3", "lock", "other", command=["x"])
        self.assert_says(run, 3, "lock: busy, held by Ann; 1 waits", "other: free", "would not run: x")
        self.assertEqual((run.events[0]["event"], run.events[0]["waiting"]), ("busy", 1))
        holder.let_go()
        self.assertEqual((holder.code(), waiter.code()), (0, 0))

    def test_escapes_text_of_other_clients(self):
        self.hold("odd\n", options=["--label", "\x1b]0;mine\x07"])
        run = self.dry("odd\n", command=["x"])
        self.assert_says(run, 75, "odd\\n: busy, held by \\x1b]0;mine\\x07", "would wait, and run: x")
        self.assertEqual(run.events[0]["holder"], "\x1b]0;mine\x07")

    def test_of_a_semaphore_of_another_size_is_78(self):
        self.hold("pool", options=["--permits", "1/3"])
        run = self.dry("--permits", "1/4", "pool")
        self.assertEqual(run.code(), 78)
        self.assertIn("a semaphore of 3 permits, and not of 4", run.errors())

    def test_acquires_and_runs_nothing(self):
        mark = self.folder / "ran"
        for _ in range(2):
            self.assertEqual(self.dry("lock", command=["touch", str(mark)]).code(), 0)
        self.assertFalse(mark.exists())

    def test_of_a_reader_or_a_permit_considers_other_holders(self):
        self.hold("read", options=["-s", "--label", "Ann"])
        self.hold("pool", options=["--permits", "2/3", "--label", "Bob"])
        for arguments, code in (
            (("-s", "read"), 0),
            (("read",), 75),
            (("--permits", "1/3", "pool"), 0),
            (("--permits", "2/3", "pool"), 75),
            (("pool",), 75),
        ):
            run = self.dry(*arguments)
            self.assertEqual(run.code(), code, arguments)
            self.assertIn("held by " + ("Bob" if "pool" in arguments else "Ann"), run.line())

    def test_prints_nothing_with_q(self):
        run = self.dry("-q", "lock")
        self.assertEqual((run.code(), run.lines.all(), run.errors()), (0, b"", ""))


class DryRunOnADirectory(OnDirectory, DryRun, support.Case):
    def test_of_an_invalid_store_is_78(self):
        self.store = "nowhere"
        run = self.dry("lock")
        self.assertEqual(run.code(), 78)
        self.assertEqual(run.event("end")["cause"], "error")


class DryRunOnRedis(OnRedis, DryRun, support.Case):
    pass


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C")
    support.main()
