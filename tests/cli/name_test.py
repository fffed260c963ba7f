"""Names that a shell or the option parser could misread: each command accepts them."""
import json
import os
import subprocess

import support

DASHED = ("-x", "--store", "-", "--", "-1")  # an option, an option with a value, and words that only look like options


class Case(support.Case):
    def program(self, command, *arguments, **how):
        """The exit code, stdout and stderr of a command that ends by itself."""
        words = [support.PROGRAM, command, *(["--store", self.store] if command != "complete" else []), *arguments]
        how.setdefault("stdin", subprocess.DEVNULL)
        done = subprocess.run(words, capture_output=True, text=True, env=self.environment, timeout=support.PATIENCE, **how)
        return done.returncode, done.stdout, done.stderr

    def assert_told(self, *words, code=0, stdout=None, stderr=""):
        told = self.program(*words)
        self.assertEqual((told[0], told[2]), (code, stderr), words)
        if stdout is not None:
            self.assertEqual(told[1], stdout, words)

    def assert_refused(self, *words, saying):
        code, stdout, stderr = self.program(*words)
        self.assertEqual((code, stdout), (64, ""), words)
        self.assertIn(saying, stderr, words)

    def dry_run(self, *words):
        """The names that a run with these arguments acquires."""
        code, stdout, stderr = self.program("run", *words, "--dry-run", "-c", "true")
        self.assertEqual((code, stderr), (0, ""), words)
        return [line.removesuffix(": free") for line in stdout.splitlines()[:-1]]


class ANameThatBeginsWithADash(Case):
    def test_works_with_run(self):
        for name in DASHED:
            run = self.raw("--store", self.store, f"--name={name}", "--", "sh", "-c", 'echo "$HOLDFAST_NAME"')
            self.assertEqual((run.code(), run.line()), (0, name), run.errors())

    def test_is_acquired_with_others_in_the_given_order(self):
        self.assertEqual(self.dry_run("b", "--name=-x", "a", "--name", "-n", "-w", "1s"), ["b", "-x", "a", "-n"])

    def test_is_held_tried_and_shown(self):
        for name in DASHED:
            hold = support.Run(self, ["--store", self.store, f"--name={name}"], verb="hold")
            self.runs.append(hold)
            hold.event("acquired")
            self.assert_told("try", f"--name={name}", code=75)
            self.assert_told("try", "--", name, code=75)
            self.assertTrue(self.program("show", f"--name={name}")[1].startswith(f"{name}: lock\n"))
            self.assertIn(f"asked to let go of {name}: ", self.program("revoke", f"--name={name}")[1])
            for prefix in (f"--prefix={name}", f"--prefix={name[0]}"):
                self.assertEqual(json.loads(self.program("ls", "--json", prefix)[1])["name"], name)
            self.assertIn(name, self.program("watch", "--for", "0", f"--prefix={name}")[1])
            hold.let_go()
            self.assertEqual(hold.code(), 0)
            self.assert_told("wait", f"--name={name}", code=0)
            self.assert_told("try", f"--name={name}", code=0)

    def test_is_acquired_and_released(self):
        for name in DASHED:
            for named in ([f"--name={name}"], ["--", name]):
                whom = ["--hold-for", str(os.getpid()), "--json"]
                code, stdout, stderr = self.program("acquire", *whom, *named)
                self.assertEqual(code, 0, stderr)
                held = json.loads(stdout)
                self.assertEqual(held["name"], name)
                self.process(held["keeper"])
                self.assert_told("release", "--owner", held["owner"], *named)

    def test_is_broken(self):
        holder = self.raw("--store", self.store, "--on-lost", "ignore", "--name=-x", "--", "cat").running()
        fence = str(holder.events[0]["fence"])
        code, stdout, stderr = self.program("break", "--name=-x", "--fence", fence, "--yes")
        self.assertEqual((code, stderr), (0, ""))
        self.assertIn("taken by force: -x from ", stdout)

    def test_works_with_elect(self):
        run = support.Run(self, ["--store", self.store, "--once", "--name=-x", "--", "echo", "leads"], verb="elect")
        self.runs.append(run)
        self.assertEqual((run.code(), run.line()), (0, "leads"), run.errors())
        watch = support.Run(self, ["--store", self.store, "--observe", "--name=-x"], status=False, verb="elect")
        self.runs.append(watch)
        watch.word("nobody")

    def test_needs_no_option_after_two_dashes_without_a_command(self):
        self.assert_told("try", "a", "--", "-x", "--json", code=0, stdout="")
        self.assert_told("wait", "--", "-x", code=0)
        self.assert_told("ls", "--", "-x", stdout="")
        hold = support.Run(self, ["--store", self.store, "a", "--", "-x"], verb="hold", stdin=subprocess.DEVNULL)
        self.runs.append(hold)
        self.assertEqual(hold.event("acquired")["name"], "a, -x")

    def test_is_suggested_for_an_option_that_does_not_exist(self):
        for command in ("run", "hold", "acquire", "release", "try", "wait", "elect", "show", "revoke", "break"):
            self.assert_refused(command, "-Z", saying="unknown option '-Z'; if it is a name, use --name=-Z; see")
            self.assert_refused(command, "--deploy", saying="if it is a name, use --name=--deploy; see")
            self.assert_refused(command, "-Zsecret", saying="'-Z'; if it is a name, use --name=NAME; see")
        for command in ("ls", "watch", "top"):
            self.assert_refused(command, "-Z", saying="if it is a prefix, use --prefix=-Z; see")
        self.assert_refused("doctor", "-Z", saying="unknown option '-Z'; see")
        self.assertNotIn("if it is a name", self.program("run", "--tiemout")[2])  # that is a typo


class EveryName(Case):
    def test_has_the_same_checks_as_a_word(self):
        for words in (["try", ""], ["try", "--name="], ["try", "--", ""], ["show", ""], ["show", "--name="], ["wait", "--name", ""]):
            self.assert_refused(*words, saying="empty")
        self.assert_refused("try", "--name=" + "n" * 513, saying="513 bytes")
        self.assert_refused("try", "--name", saying="--name needs a value")
        self.assert_refused("try", saying="no NAME is given")
        self.assert_refused("try", "--", saying="no NAME is given")

    def test_is_given_once_to_a_command_that_takes_one(self):
        for command in ("show", "revoke", "release", "elect", "break"):
            for words in (["a", "b"], ["a", "--name=b"], ["--name=a", "--name=b"]):
                self.assert_refused(command, *words, saying="more than one NAME is given")
        for words in (["a", "b"], ["a", "--", "b"], ["--prefix=a", "b"]):
            self.assert_refused("ls", *words, saying="more than one PREFIX is given")
        self.assert_refused("doctor", "--", "a", saying="too many arguments for doctor")

    def test_if_empty_does_not_consume_the_next_argument(self):
        self.assert_refused("try", "--name=", "--json", saying="empty")
        self.assert_refused("run", "--name=", "lock", "--", "true", saying="empty")

    def test_may_contain_any_characters(self):
        names = ["[a,b]", "[a]", "{}", "[]", "%%", "a,b", "++", '"a"', "'a'", "a=b", "run", "/x"]
        self.assertEqual(self.dry_run("--name=++", *(name for name in names if name != "++")),
                         ["++", *(name for name in names if name != "++")])
        self.assertEqual(self.dry_run(*(f"--name={name}" for name in names)), names)
        for name in names:
            self.assertTrue(self.program("show", "--", name)[1].startswith(f"{name}: free\n"), name)


if __name__ == "__main__":
    support.main()
