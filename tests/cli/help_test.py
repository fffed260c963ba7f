"""The help begins with examples, fits the screen and lists exit codes, and a typo gets a suggestion."""
import os
import re
import subprocess

import support

GROUPS = {
    "hold": ["run", "elect", "hold", "acquire", "release", "try", "wait"],
    "look": ["ls", "show", "watch", "top"],
    "act": ["revoke", "break"],
    "care": ["doctor", "bench", "demo", "config"],
}


def holdfast(*arguments):
    return subprocess.run([support.PROGRAM, *arguments], capture_output=True, text=True, timeout=30)


def help_of(*command):
    done = holdfast(*command, "--help")
    assert done.returncode == 0 and not done.stderr, done
    return done.stdout


def commands():
    """The commands by group, as listed in the program's help."""
    found, group = {}, None
    for line in help_of().splitlines()[4:]:
        listed = re.match(r"(\w+| {4}) +(\w+) +\S", line)
        if not listed:
            break
        group = listed[1].strip() or group
        found.setdefault(group, []).append(listed[2])
    return found


class TheProgram(support.Case):
    def test_its_help_fits_on_a_screen_and_begins_with_three_examples(self):
        lines = help_of().splitlines()
        self.assertLessEqual(len(lines), 24)
        self.assertLessEqual(max(map(len, lines)), 80, max(lines, key=len))
        self.assertTrue(all(line.startswith("  holdfast ") for line in lines[:3]), lines[:3])
        self.assertEqual(lines[3], "")

    def test_lists_commands_in_their_groups(self):
        found = commands()
        self.assertIn("run", found["hold"])
        for group, listed in found.items():
            self.assertEqual(listed, [name for name in GROUPS.get(group, []) if name in listed], f"the group {group}")
        self.assertEqual(list(found), [group for group in GROUPS if group in found])

    def test_does_not_mention_the_completion_command(self):
        self.assertNotIn("complete", help_of())


class EveryCommand(support.Case):
    def setUp(self):
        super().setUp()
        self.commands = [name for listed in commands().values() for name in listed]

    def test_its_help_begins_with_examples_of_its_own(self):
        for name in self.commands:
            first = help_of(name).split("\n\n")[0].splitlines()
            self.assertTrue(first[0].startswith(f"  holdfast {name}"), f"{name}: {first[0]}")

    def test_its_help_fits_in_80_columns(self):
        for name in self.commands:
            for line in help_of(name).splitlines():
                self.assertLessEqual(len(line), 80, f"{name}: {line}")

    def test_its_help_lists_exit_codes(self):
        for name in self.commands:
            self.assertIn("\nExit codes: ", help_of(name), name)

    def test_its_help_has_a_usage_line(self):
        for name in self.commands:
            self.assertIn(f"\nUsage: holdfast {name} ", help_of(name))


class Typos(support.Case):
    def assert_suggested(self, arguments, what):
        done = holdfast(*arguments)
        self.assertEqual(done.returncode, 64)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Aholdfast: .*(; see|\? See) holdfast (\w+ )?--help\n\Z")
        self.assertIn(what, done.stderr)

    def test_a_command_is_suggested(self):
        self.assert_suggested(["rnu"], "unknown command 'rnu'; did you mean 'run'?")
        self.assert_suggested(["dmo"], "did you mean 'demo'?")
        self.assert_suggested(["confg", "--json"], "did you mean 'config'?")

    def test_no_command_is_suggested_for_a_distant_word(self):
        for word in ("frobnicate", "x", "redis://:secret@host"):
            done = holdfast(word)
            self.assertNotIn("did you mean", done.stderr)
            self.assertNotIn("secret", done.stderr)
            self.assertEqual(done.returncode, 64)

    def test_an_option_is_suggested(self):
        for typo, right in (("--tiemout", "--timeout"), ("--nonblok", "--nonblock"), ("--stroe=dir:/x", "--store"),
                            ("--lable", "--label"), ("--shred", "--shared"), ("--max-hodl", "--max-hold")):
            name = typo.partition("=")[0]
            what = f"unknown option '{name}'; did you mean '{right}'?"
            self.assert_suggested(["run", typo, "5s", "lock", "--", "true"], what)
            self.assert_suggested(["run", typo], what)  # takes precedence over the missing name

    def test_the_value_of_an_option_is_not_quoted(self):
        for option in ("--stroe=redis://:secret@host", "-Zsecret", "--:secret@host"):
            done = holdfast("run", option, "lock", "--", "true")
            self.assertEqual(done.returncode, 64)
            self.assertNotIn("secret", done.stderr)

    def test_parser_errors_are_reworded(self):
        for words, what in ((["run", "-w"], "--timeout needs a value"), (["run"], "no NAME is given"),
                            (["elect", "--max-terms", "x", "a"], "--max-terms needs a number"),
                            (["run", "-E", "x", "a"], "--conflict-exit-code needs a number from 0 to 255"),
                            (["run", "-q", "-v", "a"], "--quiet and --verbose cannot be combined")):
            self.assert_suggested(words, what)

    def test_help_works_as_a_command(self):
        self.assertEqual(holdfast("help").stdout, holdfast("--help").stdout)
        self.assertEqual(holdfast("help", "run").stdout, holdfast("run", "--help").stdout)
        self.assertEqual(holdfast("help").returncode, 0)
        self.assert_suggested(["help", "rnu"], "unknown command 'rnu'; did you mean 'run'?")

    def test_a_missing_command_error_shows_the_usage(self):
        self.assert_suggested([], "no command given; usage: holdfast COMMAND [options]")
        self.assert_suggested(["--store", "dir:/x", "run"], "options come after it")


class StartingUp(support.Case):
    def test_no_file_is_opened_for_the_version(self):
        # Opening files costs start-up time; only commands that open a store read the configuration.
        del self.environment["HOLDFAST_CONFIG"]
        self.environment["XDG_CONFIG_HOME"] = str(self.folder)
        (self.folder / "holdfast").mkdir()
        (self.folder / "holdfast/config.toml").write_text("no TOML")
        done = subprocess.run([support.PROGRAM, "--version"], env=self.environment, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_version_takes_at_most_5_ms_of_cpu_time(self):
        # CPU time instead of wall time, and the minimum of many runs, since other processes evict the caches.
        self.assertLessEqual(min(self.seconds_of_the_processor("--version") for _ in range(50)), 0.005)

    def seconds_of_the_processor(self, *arguments):
        away = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
        pid = os.posix_spawn(support.PROGRAM, [support.PROGRAM, *arguments], self.environment, file_actions=away)
        _, status, used = os.wait4(pid, 0)
        self.assertEqual(status, 0)
        return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    support.main()
