"""`holdfast revoke`: asks a holder to release, and can wait for it."""
import support
from operator_case import OnDirectory, OnRedis, Operator


class Revoke(Operator):
    def test_revoking_a_free_lock_is_not_an_error(self):
        told = self.ask("revoke", "lock", "--wait", "30s")
        self.assertEqual((told.code, told.text), (0, ""))
        self.assertIn("lock is not held", told.errors)

    def test_sends_a_request_and_takes_nothing(self):
        self.hold(options=["--label", "busy one"])
        told = self.ask("revoke", "lock", "--reason", "deploy")
        self.assertEqual(told.code, 0, told.errors)
        self.assertRegex(told.text, r"^asked to let go of lock: .* busy one \(fence \d+\)\n$")
        self.assert_held()

    def test_a_reason_is_shown(self):
        self.hold()
        self.assertEqual(self.ask("revoke", "lock", "--reason", "deploy \x1b[2J").code, 0)
        self.assertEqual(self.show()["asked"]["reason"], "deploy \x1b[2J")
        self.assertRegex(self.ask("show", "lock").text, r"asked to let go .* by .*: deploy \\x1b\[2J\n")

    def test_waits_until_the_holder_has_released(self):
        holder = self.hold()
        revoke = self.begin("revoke", "lock", "--wait", "1h")
        self.assertIn(b"asked to let go", revoke.lines.next())
        holder.let_go()
        self.assertEqual(revoke.wait(support.PATIENCE), 0)

    def test_the_next_holder_is_not_waited_for(self):
        holder = self.hold()
        following = self.run_("lock", "cat").waiting()
        revoke = self.begin("revoke", "lock", "--wait", "1h")
        self.assertIn(b"asked to let go", revoke.lines.next())
        holder.let_go()
        following.running()
        self.assertEqual(revoke.wait(support.PATIENCE), 0)
        self.assert_held()

    def test_a_holder_that_stays_is_busy(self):
        self.hold(options=["--on-lost", "ignore", "--label", "stubborn"])
        told = self.ask("revoke", "lock", "--wait", "0")
        self.assertEqual(told.code, 75, told.errors)
        self.assertIn("still held by", told.errors)
        self.assertIn("stubborn", told.errors)

    def test_sends_the_request_only_to_the_holder_with_the_fence(self):
        self.hold()
        told = self.ask("revoke", "lock", "--fence", "1", "--wait", "30s")
        self.assertEqual((told.code, told.text), (0, ""))
        self.assertIn("lock is not held with fence 1", told.errors)
        told = self.ask("revoke", "lock", "--fence", str(self.fence()))
        self.assertIn("asked to let go", told.text)

    def test_reports_usage_errors(self):
        for words in ([], ["lock", "--wait", "soon"], ["lock", "--fence=-1"], ["lock", "--reason", "r" * 257]):
            self.assertEqual(self.ask("revoke", *words).code, 64, words)


class RevokeOnDirectory(Revoke, OnDirectory):
    pass


class RevokeOnRedis(Revoke, OnRedis):
    pass


if __name__ == "__main__":
    support.main()
