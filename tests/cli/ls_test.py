"""`holdfast ls`: lists held and awaited locks."""
import os

import support
from operator_case import ODD, ODD_SHOWN, OnDirectory, OnRedis, Operator

MANY = 3000
AT_ONCE = 250  # names of one holder


class Ls(Operator):
    def ls(self, *arguments, **how):
        told = self.ask("ls", *arguments, **how)
        self.assertEqual(told.code, 0, told.errors)
        self.assertEqual(told.errors, "")
        return told

    def names(self, *arguments):
        return sorted(each["name"] for each in self.ls("--json", *arguments).objects())

    def hold_many(self):
        names = [f"many/{n:05}" for n in range(MANY)]
        for first in range(0, MANY, AT_ONCE):
            self.raw("--store", self.store, *names[first : first + AT_ONCE], "--", "cat").running()
        return names

    def test_an_empty_store_is_not_an_error(self):
        self.assertEqual(self.ls().text, "")
        self.assertEqual(self.ls("--json").text, "")

    def test_prints_one_line_per_name(self):
        holder = self.hold("jobs/a", options=["--label", "nightly"])
        self.run_("jobs/a", "true").waiting()
        words = self.ls().text.split()
        self.assertEqual(words[:2] + words[2:3], ["jobs/a", "lock", str(self.fence("jobs/a"))])
        self.assertRegex(words[3], r"^(\d+(ms|s)|\d+m\d\ds)$")  # held for
        self.assertEqual(words[5], "1")  # waits
        self.assertRegex(words[6], r"^(\d+(ms|s)|\d+m\d\ds)$")  # for this long
        self.assertEqual(words[8:], [str(holder.worker().pid), "nightly"])

    def test_shows_the_supervisor_of_a_run_and_not_its_worker(self):
        holder = self.hold()
        words = self.ls().text.split()
        self.assertEqual(words[8:], [str(holder.pid), "cat"])

    def test_readers_permits_and_prefixes(self):
        self.hold("read/a", options=["--shared"])
        self.hold("read/a", options=["--shared"])
        for _ in range(6):  # more holders than a listing contains
            self.hold("permits/a", options=["--permits", "2/20"])
        self.assertIn(" shared x2 ", self.ls("read").text)
        self.assertIn(" permits 12/20 ", self.ls("permits").text)
        self.assertEqual(self.names(), ["permits/a", "read/a"])
        self.assertEqual(self.names("read/"), ["read/a"])
        self.assertEqual(self.names("rea?"), [])

    def test_json_has_everything(self):
        holder = self.hold("jobs/a", options=["--label", "nightly"])
        (seen,) = self.ls("--json").objects()
        self.assertEqual((seen["name"], seen["mode"], seen["holding"], seen["waiting"]), ("jobs/a", "lock", 1, 0))
        one = seen["holders"][0]
        self.assertEqual((one["pid"], one["label"], one["fence"]), (holder.worker().pid, "nightly", self.fence("jobs/a")))
        self.assertIn("since", one)
        self.assertIn("owner", one)

    def test_odd_names_and_labels_are_harmless(self):
        self.hold_odd()
        text = self.ls().text
        self.assertTrue(text.startswith(ODD_SHOWN + " "), text)
        self.assertEqual(text.count("\n"), 1)
        self.assertNotIn("\x1b", text)
        (seen,) = self.ls("--json").objects()
        self.assertEqual(bytes.fromhex(seen["name_hex"]), ODD)

    def test_nothing_is_cut_without_a_terminal(self):
        name, label = "n" * 200, "l" * 200
        self.hold(name, options=["--label", label])
        text = self.ls().text
        self.assertIn(name, text)
        self.assertIn(label, text)
        self.assertNotIn("NAME", text)

    def test_a_terminal_gets_a_header_and_lines_that_fit(self):
        self.hold("漢" * 60, options=["--label", "l" * 200])
        for columns in (20, 80, 120):
            ours, theirs = self.terminal(columns)
            self.environment["TERM"] = "xterm"
            self.environment["NO_COLOR"] = "1"
            self.ls(stdout=theirs)
            header, line = os.read(ours, 1 << 16).decode().splitlines()
            self.assertTrue(header.startswith("NAME "), header)
            wide = sum(2 if c == "漢" else 1 for c in line)
            self.assertLessEqual(wide, columns, line)
            self.assertIn("漢…", line)

    def test_all_of_many_are_listed_once(self):
        names = self.hold_many()
        self.assertEqual(self.names("many/"), names)
        self.assertEqual(self.names("many/0001"), names[10:20])

    def test_a_closed_pipe_ends_it_silently(self):
        self.hold_many()
        listing = self.begin("ls")
        self.assertIn(b"many/", listing.lines.next())
        listing.stdout.close()
        self.assertEqual(listing.wait(support.PATIENCE), 0)
        listing.errors.seek(0)
        self.assertEqual(listing.errors.read(), b"")

    def test_a_full_disk_is_an_error(self):
        self.hold()
        with open("/dev/full", "wb") as full:
            told = self.ask("ls", stdout=full)
        self.assertEqual(told.code, 70)
        self.assertIn("standard output", told.errors)

    def test_two_prefixes_are_a_usage_error(self):
        self.assertEqual(self.ask("ls", "a", "b").code, 64)


class LsOnDirectory(Ls, OnDirectory):
    pass


class LsOnRedis(Ls, OnRedis):
    def test_prints_the_remaining_time(self):
        self.hold(options=["--ttl", "1h"])
        self.assertRegex(self.ls().text.split()[4], r"^(59m|1h)")


if __name__ == "__main__":
    support.main()
