"""`holdfast watch`: prints changes, line by line."""
import json
import os
import signal

import support
from operator_case import ODD, ODD_SHOWN, OnDirectory, OnRedis, Operator


class Watch(Operator):
    def watch(self, *arguments, **how):
        return self.begin("watch", "--json", "--interval", "10ms", *arguments, **how)

    def event(self, watching, *expected, name="lock"):
        """The next event of a name other than "waiting"; it must be one of these."""
        while line := watching.lines.next():
            event = json.loads(line)
            is_about_it = event.get("name") == name and event["event"] != "waiting"
            if is_about_it or event["event"] in expected:
                self.assertIn(event["event"], expected, event)
                return event
        raise AssertionError(f"{expected} did not come")

    def test_prints_present_locks_first(self):
        holder = self.hold()
        event = self.event(self.watch(), "present")
        self.assertEqual((event["mode"], event["holding"], event["holders"][0]["pid"]), ("lock", 1, holder.worker().pid))

    def test_prints_changes(self):
        self.hold("before")
        watching = self.watch()
        self.event(watching, "present", name="before")
        holder = self.hold(options=["--label", "first"])
        event = self.event(watching, "acquired")
        self.assertEqual(event["to"]["label"], "first")
        following = self.run_("lock", "cat", options=["--label", "second"]).waiting()
        self.assertEqual(self.event(watching, "waiting")["waiting"], 1)
        holder.let_go()
        event = self.event(watching, "handed_over", "released")  # depends on the moment of the look: the lock may be free in between
        self.assertEqual(event["from"]["label"], "first")
        if event["event"] == "released":
            event = self.event(watching, "acquired")
        self.assertEqual(event["to"]["label"], "second")
        following.let_go()
        self.assertEqual(self.event(watching, "released")["from"]["label"], "second")

    def test_prints_operator_actions_with_their_reason(self):
        self.hold(options=["--on-lost", "ignore"])
        watching = self.watch()
        self.event(watching, "present")
        self.ask("revoke", "lock", "--reason", "deploy")
        self.assertEqual(self.event(watching, "asked")["asked"]["reason"], "deploy")
        self.ask("break", "lock", "--fence", str(self.fence()), "--yes", "--reason", "stuck")
        self.assertEqual(self.event(watching, "broken")["broken"]["reason"], "stuck")

    def test_prints_only_names_with_the_prefix(self):
        self.hold("other")
        self.hold("mine/a")
        line = json.loads(self.watch("mine/").lines.next())
        self.assertEqual(line["name"], "mine/a")

    def test_prints_lines_for_people(self):
        self.hold_odd()
        line = self.begin("watch").lines.next().decode()
        self.assertRegex(line, r"^\d\d:\d\d:\d\d present     ")
        self.assertIn(ODD_SHOWN, line)
        self.assertNotIn("\x1b", line)

    def test_ends_after_the_given_time(self):
        self.hold()
        told = self.ask("watch", "--for", "20ms", "--interval", "1h")
        self.assertEqual(told.code, 0, told.errors)
        self.assertEqual(len(told.lines()), 1)

    def test_ends_when_the_reader_is_gone_without_changes(self):
        self.hold()
        watching = self.begin("watch", "--interval", "1h")
        watching.lines.next()
        watching.stdout.close()
        self.assertEqual(watching.wait(support.PATIENCE), 0)
        watching.errors.seek(0)
        self.assertEqual(watching.errors.read(), b"")

    def test_a_signal_ends_it(self):
        self.hold()
        for number in (signal.SIGINT, signal.SIGTERM):
            watching = self.watch()
            watching.lines.next()
            os.kill(watching.pid, number)
            self.assertEqual(watching.wait(support.PATIENCE), -number)


class WatchOnDirectory(Watch, OnDirectory):
    pass


class WatchOnRedis(Watch, OnRedis):
    def test_reports_a_store_outage_and_tries_again(self):
        self.hold(options=["--on-lost", "ignore"])
        watching = self.watch()
        self.event(watching, "present")
        self.server.popen.kill()
        self.server.popen.wait()
        self.event(watching, "unreachable")
        self.server.start()
        self.event(watching, "reachable", "released")


if __name__ == "__main__":
    support.main()
