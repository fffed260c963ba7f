"""The exit codes of `holdfast run`, also for invalid input."""
import os
import signal
import subprocess

import support


class TheCommand(support.Case):
    def test_its_exit_code_is_passed_through(self):
        for code in (0, 1, 2, 64, 69, 75, 79, 80, 126, 127, 128, 200, 255):
            run = self.shell("lock", "exit $1", code)
            self.assertEqual(run.code(), code, run.errors())
            self.assertEqual(run.errors(), "")
            end = run.event("end")
            self.assertEqual((end["exit"], end["cause"]), (code, "command"))

    def test_the_signal_that_killed_it_becomes_128_and_its_number(self):
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGUSR1):
            run = self.shell("lock", "ulimit -c 0; kill -$1 $$", int(number))
            self.assertEqual(run.code(), 128 + number)
            self.assertEqual(run.event("exited")["signal"], number)

    def test_a_command_that_does_not_exist_is_127(self):
        for command in ("no-such-command-anywhere", "/no/such/command", ""):
            run = self.run_("lock", command)
            self.assertEqual(run.code(), 127, command)
            self.assertIn("No such file", run.errors())
            end = run.event("end")
            self.assertEqual((end["exit"], end["cause"]), (127, "not started"))
            self.assertNotIn("started", run.told())
        self.assert_free()

    def test_a_command_that_cannot_be_executed_is_126(self):
        plain = self.folder / "plain"
        plain.write_text("true\n")
        for command in (plain, self.folder):
            run = self.run_("lock", str(command))
            self.assertEqual(run.code(), 126)
            self.assertIn("Permission denied", run.errors())
            self.assertEqual(run.event("end")["exit"], 126)
        self.assert_free()

    def test_it_is_found_in_the_path_of_the_caller(self):
        tool = self.folder / "tool"
        tool.write_text("#!/bin/sh\nexit 23\n")
        tool.chmod(0o755)
        self.environment["PATH"] = f"{self.folder}:{self.environment['PATH']}"
        self.assertEqual(self.run_("lock", "tool").code(), 23)

    def test_everything_after_the_dashes_belongs_to_the_command(self):
        run = self.run_("lock", "printf", "%s|", "-n", "--", "--store", "", "a b")
        self.assertEqual(run.lines.all(), b"-n|--|--store||a b|")
        self.assertEqual(run.code(), 0)


class Usage(support.Case):
    def assert_refused(self, *arguments, saying=""):
        run = self.raw(*arguments)
        self.assertEqual(run.code(), 64, (arguments, run.errors()))
        self.assertIn(saying, run.errors())
        self.assertNotEqual(run.errors(), "")
        self.assertNotIn("started", run.told())

    def test_an_unknown_option_is_rejected(self):
        for option in ("--no-such-option", "-Z", "--ttl=10s=3", "--storee=memory:"):
            self.assert_refused(option, "lock", "--", "true")

    def test_a_missing_command_is_rejected(self):
        self.assert_refused("lock", saying="no command")
        self.assert_refused("lock", "--", saying="no command")

    def test_a_command_without_the_dashes_is_rejected(self):
        self.assert_refused("lock", "true")

    def test_a_missing_name_is_rejected(self):
        self.assert_refused("--", "true", saying="NAME")
        self.assert_refused(saying="NAME")

    def test_an_empty_name_is_rejected(self):
        self.assert_refused("--store", self.store, "", "--", "true", saying="empty")

    def test_a_name_that_is_too_long_is_rejected(self):
        self.assertEqual(self.run_("n" * 512, "true").code(), 0)
        self.assert_refused("--store", self.store, "n" * 513, "--", "true", saying="513 bytes")
        most = 128 * 1024 - 1  # the kernel's limit for one argument
        self.assert_refused("--store", self.store, "n" * most, "--", "true", saying=f"{most} bytes")
        with self.assertRaises(OSError):
            subprocess.run([support.PROGRAM, "run", "n" * (1 << 20), "--", "true"])

    def test_an_invalid_duration_is_rejected(self):
        for option in ("-w", "--timeout", "--ttl", "--max-hold", "--grace"):
            for text in ("", "x", "1x", "s", "1 s", "1e3", "--", "inf", "nan", "0x10", "11y", "4000d", "1s1s"):
                self.assert_refused("--store", self.store, option, text, "lock", "--", "true")
            self.assert_refused("--store", self.store, f"{option}=-1s", "lock", "--", "true", saying="not a duration")
            self.assert_refused("lock", option, "--", "true")

    def test_all_duration_units_are_accepted(self):
        for text in ("60000ms", "60s", "60", "1.5m", "2h", ".5h", "1d"):
            self.assertEqual(self.run_("lock", "true", options=["-w", text, "--ttl", text]).code(), 0, text)

    def test_a_ttl_out_of_range_is_rejected(self):
        for ttl in ("0", "9ms", "24.1h", "2d"):
            options = ("--store", self.store, "--ttl", ttl)
            self.assert_refused(*options, "lock", "--", "true", saying="between 10 ms and 24 h")
        for ttl in ("10ms", "24h"):
            self.assertEqual(self.run_("lock", "true", options=["--ttl", ttl]).code(), 0)

    def test_a_max_hold_out_of_range_is_rejected(self):
        for most in ("9ms", "366d"):
            self.assert_refused("--store", self.store, "--max-hold", most, "lock", "--", "true", saying="max")

    def test_a_grace_that_leaves_the_command_no_time_is_rejected(self):
        options = ("--store", self.store, "--max-hold", "1s", "--grace", "1s")
        self.assert_refused(*options, "lock", "--", "true", saying="--grace")

    def test_a_conflict_exit_code_out_of_range_is_rejected(self):
        for code in ("-1", "256", "x", ""):
            self.assert_refused("-E", code, "lock", "--", "true")

    def test_an_invalid_signal_is_rejected(self):
        for word in ("", "no", "SIG", "TERMM", "99"):
            self.assert_refused(f"--on-lost={word}", "lock", "--", "true")

    def test_a_misplaced_url_is_not_repeated_in_the_error(self):
        url = "redis://me:Secret77@host"
        for words in ([url], [f"--store={url}", "run"], ["run", "--ttl", url, "lock", "--", "true"], ["run", "-w" + url],
                      ["run", "--on-lost", url, "lock", "--", "true"], ["demo", url], ["run", "--permits", url, "lock"]):
            done = subprocess.run([support.PROGRAM, *words], capture_output=True, text=True, env=self.environment)
            self.assertEqual(done.returncode, 64, words)
            self.assertNotIn("Secret77", done.stdout + done.stderr)
            self.assertIn("--help", done.stderr)

    def test_a_closed_status_descriptor_is_rejected(self):
        for number in ("-1", "x", "1000000", "3", "4", "5", "6", "7", "8", "9", "10"):
            run = self.raw("--store", self.store, "--status-fd", number, "lock", "--", "env", status=False, pass_fds=())
            self.assertEqual(run.code(), 64, number)
            self.assertIn("status-fd", run.errors())

    def test_help_and_version_are_printed_on_stdout_with_exit_code_0(self):
        for arguments, words in (("--help", b"run"), ("run --help", b"--max-hold"), ("--version", b"holdfast")):
            done = subprocess.run([support.PROGRAM, *arguments.split()], capture_output=True, timeout=support.PATIENCE)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertIn(words, done.stdout)

    def test_a_missing_or_unknown_subcommand_is_rejected(self):
        for arguments in ([], ["walk"], ["--", "run", "lock", "true"]):
            done = subprocess.run([support.PROGRAM, *arguments], capture_output=True, timeout=support.PATIENCE)
            self.assertEqual(done.returncode, 64, arguments)


    def test_a_positional_store_for_demo_is_rejected_without_quoting_it(self):
        done = subprocess.run([support.PROGRAM, "demo", "redis://:secret@host"], capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 64)
        self.assertIn("see holdfast demo --help", done.stderr)
        self.assertNotIn("secret", done.stderr)


class TheStore(support.Case):
    def assert_fails(self, store, code, saying):
        run = self.raw("--store", store, "lock", "--", "true")
        self.assertEqual(run.code(), code, run.errors())
        self.assertIn(saying, run.errors())
        self.assertEqual(run.told(), ["end"])
        self.assertEqual((run.events[0]["exit"], run.events[0]["cause"]), (code, "error"))

    def test_an_invalid_url_is_78(self):
        for url in ("nowhere", "ftp://example", "dir:", "dir:relative/path", ":"):
            self.assert_fails(url, 78, "")

    def test_quiet_false_prints_errors(self):
        # The error occurs before the worker exists.
        few_files = ["sh", "-c", 'ulimit -n 4; exec "$@"', "sh", support.PROGRAM]
        for verb in ("run", "elect"):
            for options, says in ((["--quiet=false"], True), (["--quiet"], False), (["--quiet=true"], False)):
                words = ["--store", self.store, *options, "lock", "--", "true"]
                run = self.raw(*words, verb=verb, program=few_files, status=False, pass_fds=())
                self.assertEqual(run.code(), 70, run.errors())
                self.assertEqual("Too many open files" in run.errors(), says, options)
                run = self.raw(*["nosuch" if word == self.store else word for word in words], verb=verb)
                self.assertEqual(run.code(), 78)
                self.assertEqual("nosuch" in run.errors(), says, options)

    def test_a_url_is_quoted_only_up_to_its_colon(self):
        run = self.raw("--store", "redisss://user:secret@host", "lock", "--", "true")
        self.assertEqual(run.code(), 78)
        self.assertNotIn("secret", run.errors())

    def test_a_folder_that_cannot_be_created_is_78(self):
        self.assert_fails(f"dir:{self.folder}/no/such/parent", 78, "create that first")
        (self.folder / "file").write_text("")
        self.assert_fails(f"dir:{self.folder}/file", 69, "Not a directory")

    def test_a_file_that_is_not_a_database_is_78(self):
        self.assertEqual(self.run_("lock", "true").code(), 0)
        for left in ("locks.db-wal", "locks.db-shm"):
            (self.folder / "store" / left).unlink(missing_ok=True)
        (self.folder / "store" / "locks.db").write_bytes(b"no database at all" * 1000)
        self.assert_fails(self.store, 78, "damaged")

    def test_a_file_of_a_newer_version_is_78(self):
        self.assertEqual(self.run_("lock", "true").code(), 0)
        self.rows("PRAGMA user_version = 99")
        self.assert_fails(self.store, 78, "newer version")

    def test_a_foreign_database_is_78(self):
        (self.folder / "store").mkdir(0o700)
        self.rows("PRAGMA application_id = 7")
        self.rows("CREATE TABLE theirs(x)")
        self.assert_fails(self.store, 78, "something else")
        self.assertEqual(self.rows("SELECT name FROM sqlite_master"), [("theirs",)])

    def test_a_process_that_blocks_writes_is_named_and_the_code_is_69(self):
        holder = self.hold()
        with support.lock_byte(self.folder / "store" / "writers", 0):
            run = self.run_("lock", "true")
            self.assertEqual(run.code(), 69)
            self.assertIn(f"process {holder.worker().pid} (hf-worker) is in the middle of a write", run.errors())
        holder.let_go()
        self.assertEqual(holder.code(), 0, holder.errors())

    def test_deleting_the_file_loses_the_lock_and_ends_waiters(self):
        holder = self.hold()
        waiter = self.run_("lock", "true").waiting()
        (self.folder / "store" / "locks.db").unlink()
        holder.event("lost")
        self.assertEqual(holder.code(), 79)
        self.assertEqual(waiter.code(), 78)
        self.assertIn("was deleted or replaced while it was in use", waiter.errors())

    def test_truncating_the_file_makes_no_process_hang(self):
        holder = self.hold()
        waiter = self.run_("lock", "true").waiting()
        for left in ("locks.db", "locks.db-wal"):
            os.truncate(self.folder / "store" / left, 0)
        holder.let_go()
        self.assertIn(holder.code(), (0, 80))
        self.assertIn(waiter.code(), (69, 78), waiter.errors())


if __name__ == "__main__":
    support.main()
