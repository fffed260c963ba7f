"""The manual pages: one for each command with all its options, accepted by groff."""
import pathlib
import re
import subprocess

import support

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "cmake/man_pages.py"
CONFIGURATION = ROOT / "cli/config/file.cpp"  # which keys there are


def text_of(*words, **how):
    done = subprocess.run(words, capture_output=True, text=True, timeout=support.PATIENCE, **how)
    assert done.returncode == 0 and not done.stderr, done
    return done.stdout


def commands():
    return [line.split("\t")[0] for line in text_of(support.PROGRAM, "complete", "--", "").splitlines()]


class ThePages(support.Case):
    def setUp(self):
        super().setUp()
        self.pages = pathlib.Path(support.PROGRAM).parent / "man"  # made with the program
        self.environment["MANWIDTH"] = "1000"  # so that no name is broken across lines

    def shown(self, page):
        text = text_of("man", "--warnings", "--encoding=UTF-8", "--local-file", self.pages / page, env=self.environment)
        return re.sub(".\b", "", text)

    def test_exist_for_the_program_and_each_command_only(self):
        expected = {"holdfast.1.gz", *(f"holdfast-{command}.1.gz" for command in commands())}
        self.assertEqual({path.name for path in self.pages.iterdir()}, expected)

    def test_have_all_options_that_the_help_has(self):
        for command in commands():
            text = text_of(support.PROGRAM, command, "--help")
            page = self.shown(f"holdfast-{command}.1.gz")
            for names in re.findall(r"(?m)^  (-\w|--[\w-]+|-\w, --[\w-]+)(?: |$)", text):
                for name in names.split(", "):
                    if name not in ("-h", "--help"):
                        self.assertRegex(page, rf"(?<![\w-]){name}(?![\w-])", f"{name} of {command} is not in docs/cli.md")

    def test_are_accepted_by_groff_without_warnings(self):
        for path in self.pages.iterdir():
            roff = text_of("zcat", path)
            self.assertEqual(text_of("groff", "-ww", "-man", "-k", "-Tutf8", "-z", input=roff), "")
            self.assertNotRegex(roff, r"\]\(|`|\*\*")  # Markdown that was not converted

    def test_have_a_name_section_for_whatis(self):
        for path in self.pages.iterdir():
            said = text_of("lexgrog", path)
            name = path.name.removesuffix(".1.gz")
            self.assertRegex(said, rf'"{name} - [^"]{{10,70}}"')

    def test_document_the_configuration_keys(self):
        page = self.shown("holdfast.1.gz")
        lists = re.findall(r"check_keys\(\w+, \{([^}]*)\}\)", CONFIGURATION.read_text())
        keys = re.findall(r'"(\w+)"', " ".join(lists))
        self.assertIn("password_file", keys)
        for word in (*keys, "/etc/holdfast.toml", "HOLDFAST_CONFIG", "CONFIGURATION"):
            self.assertRegex(page, rf"(?<!\w){word}(?!\w)", f"{word} is not in docs/cli.md")


class TheScript(support.Case):
    def made(self, document):
        (self.folder / "cli.md").write_text(document)
        text_of("python3", SCRIPT, self.folder / "cli.md", "1.2", self.folder / "man")
        return {path.name: text_of("zcat", path) for path in (self.folder / "man").iterdir()}

    def test_escapes_roff_control_characters(self):
        text = "# T\n\n```sh\nholdfast a x  # does it\n.b \\n -c\n```\n\n'quoted' `back\\slash`\n\n## holdfast a\n\n.dot\n"
        made = self.made(text)
        self.assertEqual(set(made), {"holdfast.1.gz", "holdfast-a.1.gz"})
        self.assertIn(r"\&.b \en \-c", made["holdfast.1.gz"])
        self.assertIn(r"\&'quoted' \fBback\eslash\fR", made["holdfast.1.gz"])
        self.assertIn(r"\&.dot", made["holdfast-a.1.gz"])
        self.assertIn(r"holdfast\-a \- does it", made["holdfast-a.1.gz"])

    def test_rejects_a_command_missing_from_the_initial_list(self):
        (self.folder / "cli.md").write_text("```sh\nx\n```\n\n## holdfast a\n\ntext\n")
        done = subprocess.run(["python3", SCRIPT, self.folder / "cli.md", "1", self.folder], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("holdfast a", done.stderr)


if __name__ == "__main__":
    support.main()
