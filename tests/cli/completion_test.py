"""Completion on Tab, tested in bash, zsh and fish."""
import pathlib
import re
import subprocess

import support

SHELLS = pathlib.Path(__file__).resolve().parents[2] / "cli/completion/shells"


class Completed(support.Case):
    def setUp(self):
        super().setUp()
        # The scripts run the program in the command line, so it must be in PATH.
        self.environment["PATH"] = f"{self.folder}/bin:{self.environment['PATH']}"
        (self.folder / "bin").mkdir()
        (self.folder / "bin/holdfast").symlink_to(support.PROGRAM)
        (self.folder / "bin/zzz-a-command").write_text("#!/bin/sh\n")
        (self.folder / "bin/zzz-a-command").chmod(0o755)
        self.environment["HOME"] = str(self.folder)
        config = self.folder / "holdfast.toml"
        config.write_text(f'[stores.prod]\nurl = "{self.store}"\n[stores.test]\nurl = "redis://:hunter2@host"\n')
        config.chmod(0o600)
        self.environment["HOLDFAST_CONFIG"] = str(config)

    def output(self, *words, **how):
        done = subprocess.run(words, env=self.environment, cwd=self.folder, capture_output=True, text=True,
                              timeout=support.PATIENCE, **how)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout.splitlines()

    def hold_dashed(self):
        self.raw("--store", self.store, "--name=-nightly", "--", "cat").running()


class ThePrograms(Completed):
    def answers(self, *words):
        return [line.split("\t")[0] for line in self.output(support.PROGRAM, "complete", "--", *words)]

    def test_answers_are_the_commands_that_the_help_lists(self):
        listed = re.findall(r"(?m)^(?:\w+| {4}) +(\w+) +\S", "\n".join(self.output("holdfast", "--help")[4:-2]))
        self.assertEqual(self.answers(""), listed)
        self.assertIn("run", listed)

    def test_answers_are_all_options_that_a_command_has(self):
        for command in self.answers(""):
            text = "\n".join(self.output("holdfast", command, "--help")).split("\nExit codes")[0].split("\nUsage")[1]
            listed = set(re.findall(r"(?m)^  (?:-\w, )?(--[\w-]+)", text))
            self.assertEqual({word for word in self.answers(command, "--")}, listed)

    def test_answers_begin_with_the_typed_prefix(self):
        self.assertEqual(self.answers("ru"), ["run"])
        self.assertEqual(self.answers("run", "--non"), ["--nonblock"])
        self.assertEqual(self.answers("run", "--store", "pr"), ["prod"])
        self.assertEqual(self.answers("run", "--store=te"), ["--store=test"])
        self.assertEqual(self.answers("--ver"), ["--version"])

    def test_offers_nothing_for_free_text(self):
        for words in (["nothing", ""], ["run", "--ttl", ""], ["run", "lock", "--", "l"], ["complet"], []):
            self.assertEqual(self.answers(*words), [])

    def test_broken_configuration_does_not_break_completion(self):
        (self.folder / "holdfast.toml").write_text("broken")
        self.assertIn("dir:/", self.answers("run", "--store", ""))

    def test_answers_contain_no_secret(self):
        self.assertNotIn("hunter2", "\n".join(self.output("holdfast", "complete", "--", "run", "--store", "")))

    def test_offers_the_names_of_held_locks(self):
        run = self.hold("shop:nightly")
        expected = ["shop:nightly"] if "ls" in self.answers("") else []
        self.assertEqual(self.answers("run", "--store", "prod", "sh"), expected)
        run.let_go()

    def test_offers_a_dashed_name_as_an_option_value(self):
        self.environment["HOLDFAST_STORE"] = self.store
        for name in ("-nightly", "weekly"):
            self.raw("--store", self.store, f"--name={name}", "--", "cat").running()
        self.assertEqual(self.answers("run", ""), ["--name=-nightly", "weekly"])
        self.assertEqual(self.answers("ls", ""), ["--prefix=-nightly", "weekly"])
        for command in ("run", "show", "elect", "release"):
            self.assertEqual(self.answers(command, "--name=-"), ["--name=-nightly"])
            self.assertEqual(self.answers(command, "--name", "-n"), ["-nightly"])
            self.assertIn("--name", self.answers(command, "--na"))
        self.assertEqual(self.answers("watch", "--prefix=we"), ["--prefix=weekly"])

    def test_does_not_offer_a_name_that_needs_escapes(self):
        self.environment["HOLDFAST_STORE"] = self.store
        for name in ("shop:a\nrun", "shop:b\tc", "shop:\x1b[2J", "shop:d"):
            self.hold(name)
        self.assertEqual(self.output(support.PROGRAM, "complete", "--", "run", "shop"), ["shop:d\ta lock"])


class Bash(Completed):
    # Splits words like readline: at spaces, and at = and :, which are separate words.
    ASK = r"""
        source "$1/holdfast.bash"
        COMP_LINE=$2 COMP_POINT=${#2}
        mapfile -t COMP_WORDS < <(sed -E 's/([=:])/ \1 /g' <<<"$2" | tr -s ' ' '\n')
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        $(complete -p holdfast | sed -E 's/.*-F (\w+).*/\1/')
        printf '%s\n' "${COMPREPLY[@]}"
    """

    def offers(self, line):
        return [word for word in self.output("bash", "--norc", "-c", self.ASK, "bash", SHELLS, line) if word]

    def test_completes_commands_options_and_stores(self):
        self.assertEqual(self.offers("holdfast ru"), ["run"])
        self.assertEqual(self.offers("holdfast run --nonb"), ["--nonblock"])
        self.assertEqual(self.offers("holdfast run --store "),
                         ["prod", "test", "dir:/", "redis://", "rediss://", "redis+unix:///", "redis+sentinel://",
                          "redis+cluster://", "redlock://"])
        self.assertEqual(self.offers("holdfast run --store pr"), ["prod"])

    def test_completes_after_an_equals_sign(self):
        self.assertEqual(self.offers("holdfast run --store=pr"), ["prod"])

    def test_completes_a_name_that_begins_with_a_dash(self):
        self.hold_dashed()
        self.assertEqual(self.offers("holdfast run --store=prod --name=-"), ["-nightly"])
        self.assertEqual(self.offers("holdfast run --store=prod "), ["--name=-nightly"])

    def test_completes_the_command_as_a_command(self):
        self.assertEqual(self.offers("holdfast run lock -- zzz-a"), ["zzz-a-command"])

    def test_offers_nothing_if_nothing_matches(self):
        self.assertEqual(self.offers("holdfast run --ttl "), [])


class Fish(Completed):
    def offers(self, line):
        script = f"source {SHELLS}/holdfast.fish; complete --do-complete $argv[1]"
        return [each.split("\t")[0] for each in self.output("fish", "--no-config", "-c", script, line)]

    def test_completes_commands_options_and_stores(self):
        self.assertEqual(self.offers("holdfast ru"), ["run"])
        self.assertIn("--nonblock", self.offers("holdfast run --nonb"))
        self.assertEqual(self.offers("holdfast run --store pr"), ["prod"])

    def test_completes_a_name_that_begins_with_a_dash(self):
        self.hold_dashed()
        self.assertEqual(self.offers("holdfast run --store=prod --name=-"), ["--name=-nightly"])

    def test_completes_the_command_as_a_command(self):
        self.assertIn("zzz-a-command", self.offers("holdfast run lock -- zzz-a"))


class Zsh(Completed):
    # A shell on its own terminal: presses Tab, then a key that prints the current line.
    ASK = r"""
        zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell "fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -d $HOME/dump"
        zpty -w shell 'tell() { print -r -- "<$BUFFER>" }; zle -N tell; bindkey "^X" tell; print rea""dy'
        zpty -r shell heard '*ready*'
        zpty -n -w shell "$2"$'\t\x18'
        zpty -r shell heard '*<*>*'
        print -r -- "${${heard##*<}%%>*}"
        zpty -d shell
    """

    def completed(self, line):
        return self.output("zsh", "-f", "-c", self.ASK, "zsh", SHELLS, line)[-1]

    def test_completes_commands_options_and_stores(self):
        self.assertEqual(self.completed("holdfast ru"), "holdfast run ")
        self.assertEqual(self.completed("holdfast run --nonb"), "holdfast run --nonblock ")
        self.assertEqual(self.completed("holdfast run --store pr"), "holdfast run --store prod ")

    def test_completes_a_name_that_begins_with_a_dash(self):
        self.hold_dashed()
        line = "holdfast run --store=prod --name=-"
        self.assertEqual(self.completed(line), line + "nightly ")

    def test_completes_the_command_as_a_command(self):
        self.assertEqual(self.completed("holdfast run lock -- zzz-a"), "holdfast run lock -- zzz-a-command ")


class EveryScript(Completed):
    def test_is_accepted_by_its_shell(self):
        self.output("bash", "-n", SHELLS / "holdfast.bash")
        self.output("zsh", "-n", SHELLS / "_holdfast")
        self.output("fish", "-n", SHELLS / "holdfast.fish")


if __name__ == "__main__":
    support.main()
