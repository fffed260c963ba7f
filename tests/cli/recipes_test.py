"""systemd and cron accept the recipes in docs/recipes, and the commands in them work."""
import pathlib
import re
import shlex
import signal
import subprocess

import support

RECIPES = pathlib.Path(__file__).resolve().parents[2] / "docs/recipes"
UNITS = sorted(path.name for path in RECIPES.iterdir() if path.suffix in (".service", ".timer"))


class Recipes(support.Case):
    def setUp(self):
        super().setUp()
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        (self.bin / "holdfast").symlink_to(support.PROGRAM)
        for tool in ("nightly-report", "import-orders", "restart-service", "consumer"):
            (self.bin / tool).write_text(f"#!/bin/sh\necho {tool} $HOLDFAST_NAME\n")
            (self.bin / tool).chmod(0o755)
        config = self.folder / "holdfast.toml"
        config.write_text(f'default = "prod"\n[stores.prod]\nurl = "{self.store}"\n')
        config.chmod(0o600)
        self.environment.update(HOLDFAST_CONFIG=str(config), PATH=f"{self.bin}:{self.environment['PATH']}")

    def here(self, text):
        """The recipe with the programs of this test, as this user, and without the final wait."""
        text = re.sub(r"--min-hold \S+", "--min-hold 10ms", text)
        text = re.sub(r"/usr/(local/)?bin/(?=[a-z])", f"{self.bin}/", text)
        return re.sub(r"(?m)^User=.*\n", "", text)

    def assert_once(self, line):
        """A host that starts after the job is done does not repeat it, even if the job was short."""
        first = self.raw(*shlex.split(line)[2:])
        first.event("keeping")
        second = self.raw(*shlex.split(line)[2:])
        self.assertEqual((second.code(), second.lines.all(), second.errors()), (0, b"", ""))
        self.assertNotIn("started", second.told())
        first.signal(signal.SIGTERM)
        first.code()

    def run_line(self, line):
        return subprocess.run(["/bin/sh", "-c", line], env=self.environment, capture_output=True, text=True,
                              timeout=support.PATIENCE)


class Systemd(Recipes):
    def test_accepts_every_unit_without_warnings(self):
        self.assertTrue(UNITS)
        for name in UNITS:
            (self.folder / name).write_text(self.here((RECIPES / name).read_text()))
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", *(str(self.folder / name) for name in UNITS)],
                              capture_output=True, text=True, timeout=support.PATIENCE)
        ours = [line for line in done.stderr.splitlines() if any(name in line for name in UNITS)]
        self.assertEqual((done.returncode, ours), (0, []), done.stderr)

    def test_detects_errors(self):
        bad = self.folder / "bad.service"
        bad.write_text("[Service]\nExecStart=/no/such/program\nKilMode=mixed\n")
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(bad)], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("KilMode", done.stderr)

    def test_lists_commands_that_work(self):
        lines = {name: re.search(r"(?m)^ExecStart=(.*)$", (RECIPES / name).read_text())[1]
                 for name in UNITS if name.endswith(".service")}
        for name, line in lines.items():
            if "elect" in line:  # it does not end by itself: its own tests try it
                continue
            done = self.run_line(self.here(line))
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
            self.assertEqual(done.stdout.split(), ["nightly-report", "nightly-report"])


    def test_makes_the_report_once_though_clocks_differ(self):
        line = re.search(r"(?m)^ExecStart=(.*)$", (RECIPES / "nightly-report.service").read_text())[1]
        self.assert_once(line.replace("/usr/local/bin/", ""))


class Cron(Recipes):
    TEXT = (RECIPES / "crontab").read_text()

    def jobs(self):
        return re.findall(r"(?m)^(?:\S+\s+){5}(holdfast .*)$", self.TEXT)

    def dry_run(self, text):
        (self.folder / "crontab").write_text(text)
        return subprocess.run(["crontab", "-n", str(self.folder / "crontab")], capture_output=True, text=True)

    def test_accepts_the_table(self):
        done = self.dry_run(self.TEXT)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_detects_errors(self):
        self.assertNotEqual(self.dry_run("61 2 * * * true\n").returncode, 0)

    def test_lists_commands_that_work(self):
        self.assertEqual(len(self.jobs()), 3)
        self.environment["HOLDFAST_STORE"] = re.search(r"(?m)^HOLDFAST_STORE=(.*)$", self.TEXT)[1]
        for line in self.jobs():
            self.assertNotIn("%", line)  # cron takes it for the end of the line
            done = self.run_line(self.here(line))
            self.assertEqual((done.returncode, done.stderr), (0, ""), line)
            self.assertIn(done.stdout.split()[1], line)

    def test_makes_the_report_once_though_clocks_differ(self):
        self.environment["HOLDFAST_STORE"] = "prod"
        self.assert_once(next(line for line in self.jobs() if "nightly-report" in line))

    def test_gets_no_mail_from_the_second_host(self):
        self.environment["HOLDFAST_STORE"] = "prod"
        self.hold("import")
        line = next(line for line in self.jobs() if "import" in line)
        done = self.run_line(line)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


if __name__ == "__main__":
    support.main()
