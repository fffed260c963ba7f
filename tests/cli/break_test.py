"""`holdfast break`: takes a lock by force, but only from the holder that was named."""
import os

import support
from operator_case import OnDirectory, OnRedis, Operator


class Break(Operator):
    def stubborn(self, name="lock", options=()):
        """A holder that ignores the loss of its lock."""
        return self.hold(name, options=["--on-lost", "ignore", "--label", "stubborn", *options])

    def test_takes_the_lock_and_records_the_reason(self):
        self.stubborn()
        fence = self.fence()
        told = self.ask("break", "lock", "--fence", str(fence), "--yes", "--reason", "stuck \x1b[2J")
        self.assertEqual(told.code, 0, told.errors)
        self.assertRegex(told.text, rf"^taken by force: lock from .* stubborn \(fence {fence}\)\n$")
        seen = self.show()
        self.assertEqual(seen["holding"], 0)
        self.assertEqual((seen["broken"]["reason"], seen["broken"]["fence"]), ("stuck \x1b[2J", fence))
        self.assertRegex(self.ask("show", "lock").text, r"broken .* by .*: stuck \\x1b\[2J\n")

    def test_next_waiter_gets_the_lock_and_old_holder_is_notified(self):
        old = self.hold()
        following = self.run_("lock", "cat").waiting()
        self.assertEqual(self.ask("break", "lock", "--fence", str(self.fence()), "--yes", "--reason", "stuck").code, 0)
        following.running()
        self.assertRegex(old.event("lost")["why"], r"^broken by .* pid \d+: stuck$")
        self.assertEqual(old.code(), 79)
        self.assertRegex(old.errors(), r"the lock was lost: broken by .*: stuck\n")

    def test_rejects_an_outdated_fence_and_names_the_holder(self):
        self.stubborn()
        told = self.ask("break", "lock", "--fence", "1", "--yes")
        self.assertEqual((told.code, told.text), (75, ""))
        self.assertRegex(told.errors, rf"not held with fence 1; .* held by .* stubborn \(fence {self.fence()}\)")
        self.assert_held()

    def test_reports_that_the_lock_is_free(self):
        told = self.ask("break", "lock", "--fence", "1", "--yes")
        self.assertEqual(told.code, 75)
        self.assertIn("nobody holds it", told.errors)

    def test_without_a_fence_it_prints_the_options_to_repeat_with(self):
        self.stubborn()
        told = self.ask("break", "lock", "--yes")
        self.assertEqual(told.code, 64)
        self.assertRegex(told.errors, rf"--fence {self.fence()} +for .* stubborn")
        self.assert_held()

    def test_without_a_terminal_it_requires_yes(self):
        self.stubborn()
        told = self.ask("break", "lock", "--fence", str(self.fence()))
        self.assertEqual(told.code, 64)
        self.assertIn("--yes", told.errors)
        self.assert_held()

    def test_asks_for_confirmation_on_a_terminal(self):
        self.stubborn()
        for answer, code, holding in ((b"no\n", 75, 1), (b"\n", 75, 1), (b"yes\n", 0, 0)):
            ours, theirs = self.terminal()
            breaking = self.begin("break", "lock", "--fence", str(self.fence()), stdin=theirs, stderr=os.fdopen(os.dup(theirs)))
            self.assertRegex(support.Lines(ours).next().decode(), "Take lock by force from .* stubborn")
            os.write(ours, answer)
            self.assertEqual(breaking.wait(support.PATIENCE), code)
            self.assertEqual(breaking.lines.all().startswith(b"taken by force"), code == 0, "the question is not there")
            self.assertEqual(self.show()["holding"], holding)

    def test_does_not_ask_if_stderr_is_redirected(self):
        self.stubborn()
        ours, theirs = self.terminal()
        told = self.ask("break", "lock", "--fence", str(self.fence()), stdin=theirs)
        self.assertEqual((told.code, told.text), (64, ""))
        self.assertIn("--yes", told.errors)

    def test_owner_selects_one_of_several_holders(self):
        for name, options in (("read", ["--shared"]), ("permits", ["--permits", "1/5"])):
            one, other = (self.stubborn(name, options) for _ in range(2))
            owner = next(e["owner"] for e in one.events if e["event"] == "acquired")
            told = self.ask("break", name, "--owner", owner, "--yes")
            self.assertEqual(told.code, 0, told.errors)
            self.assertEqual([h["pid"] for h in self.show(name)["holders"]], [other.worker().pid])
            self.assertEqual(self.ask("break", name, "--owner", owner, "--yes").code, 75)

    def test_prints_the_owner_of_each_permit_holder(self):
        self.stubborn("permits", ["--permits", "1/5"])
        told = self.ask("break", "permits")
        self.assertEqual(told.code, 64)
        self.assertIn("--owner " + self.show("permits")["holders"][0]["owner"], told.errors)
        self.assertEqual(self.ask("break", "permits", "--fence", "1").code, 64)
        told = self.ask("break", "permits", "--fence", str(self.show("permits")["holders"][0].get("fence", 1)), "--yes")
        self.assertEqual((told.code, told.text), (64, ""))
        self.assertIn("--owner " + self.show("permits")["holders"][0]["owner"], told.errors)

    def test_reports_usage_errors(self):
        wrong = [[], ["lock", "other", "--fence", "1"], ["lock", "--unknown"]]
        wrong += [["lock", f"--fence={fence}", "--yes"] for fence in ("x", "0", "-1", "1x", "18446744073709551616")]
        for words in wrong:
            self.assertEqual(self.ask("break", *words).code, 64, words)

    def test_rejects_an_owner_that_does_not_hold_the_lock(self):
        self.stubborn()
        told = self.ask("break", "lock", "--owner", "0" * 32, "--yes")
        self.assertEqual(told.code, 75)
        self.assertIn("stubborn", told.errors)


class BreakOnDirectory(Break, OnDirectory):
    pass


class BreakOnRedis(Break, OnRedis):
    pass


if __name__ == "__main__":
    support.main()
