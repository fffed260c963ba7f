"""`holdfast show`: prints holders, waiters and the store."""
import os
import socket

import support
from operator_case import ODD, ODD_SHOWN, OnDirectory, OnRedis, Operator


class Show(Operator):
    def test_an_unheld_name_is_free(self):
        told = self.ask("show", "lock")
        self.assertEqual(told.code, 0, told.errors)
        self.assertEqual(told.lines()[0], "lock: free")
        self.assertEqual(self.show()["holding"], 0)

    def test_prints_holder_and_waiters_in_order(self):
        holder = self.hold(options=["--label", "the first"])
        for label in ("second", "third"):
            self.run_("lock", "true", options=["--label", label]).waiting()
        seen = self.show()
        self.assertEqual(seen["mode"], "lock")
        self.assertEqual(seen["holders"][0]["label"], "the first")
        self.assertEqual(seen["holders"][0]["pid"], holder.worker().pid)
        self.assertEqual(seen["holders"][0]["host"], socket.gethostname())
        acquired = next(e for e in holder.events if e["event"] == "acquired")
        self.assertEqual(seen["holders"][0]["fence"], acquired["fence"])
        self.assertEqual(seen["holders"][0]["owner"], acquired["owner"])
        self.assertEqual(seen["waiting"], 2)
        self.assertEqual([w["label"] for w in seen["waiters"]], ["second", "third"])
        text = self.ask("show", "lock").text
        self.assertIn(f"lock: lock\n  held by {socket.gethostname()} {holder.worker().pid} the first\n", text)
        self.assertRegex(text, r"  waiting: 2, the first since .*\n    1\. .* second\n    2\. .* third\n")

    def test_prints_store_and_guarantees_but_no_password(self):
        seen = self.show()
        self.assertEqual(seen["store"], self.store)
        self.assertEqual(seen["promises"]["exclusion"], "kernel" if self.store.startswith("dir:") else "lease")
        self.assertIn(f"  in {self.store}: kept apart by ", self.ask("show", "lock").text)

    def test_prints_what_readers_and_permit_holders_hold(self):
        self.hold("read", options=["--shared"])
        self.hold("read", options=["--shared"])
        self.hold("permits", options=["--permits", "2/5"])
        seen = self.show("read")
        self.assertEqual((seen["mode"], seen["holding"], len(seen["holders"])), ("shared", 2, 2))
        self.assertTrue(self.ask("show", "read").text.startswith("read: shared x2\n"))
        seen = self.show("permits")
        self.assertEqual((seen["mode"], seen["permits"], seen["holders"][0]["permits"]), ("permits", 5, 2))
        self.assertTrue(self.ask("show", "permits").text.startswith("permits: permits 2/5\n"))

    def test_odd_names_and_labels_are_harmless(self):
        self.hold_odd()
        text = self.ask("show", os.fsdecode(ODD)).text
        self.assertTrue(text.startswith(f"{ODD_SHOWN}: lock\n"), text)
        self.assertIn(r"\x1b[31mred\x07", text)
        self.assertNotIn("\x1b", text)
        seen = self.show(os.fsdecode(ODD))
        self.assertEqual(bytes.fromhex(seen["name_hex"]), ODD)
        self.assertEqual(seen["holders"][0]["label"], "\x1b[31mred\x07")

    def test_a_name_may_begin_with_a_dash_after_two_of_them(self):
        told = self.ask("show", "--", "-n")
        self.assertEqual((told.code, told.lines()[0]), (0, "-n: free"))

    def test_no_name_and_two_names_are_usage_errors(self):
        for words in ([], ["a", "b"], ["a", "--", "b"]):
            told = self.ask("show", *words)
            self.assertEqual(told.code, 64, told.errors)
            self.assertIn("holdfast show --help", told.errors)
            self.assertNotIn("holdfast run", told.errors)


class ShowOnDirectory(Show, OnDirectory):
    pass


class ShowOnRedis(Show, OnRedis):
    def test_a_store_that_gives_no_answer_is_an_error(self):
        self.server.popen.kill()
        self.server.popen.wait()
        told = self.ask("show", "lock")
        self.assertEqual(told.code, 69, told.errors)

    def test_prints_no_password(self):
        self.server.client().config_set("requirepass", "s3cret")
        self.store = f"redis+unix://:s3cret@{self.server.socket}"
        for words in (["show", "lock"], ["show", "--json", "lock"]):
            told = self.ask(*words)
            self.assertEqual(told.code, 0, told.errors)
            self.assertNotIn("s3cret", told.text + told.errors)


if __name__ == "__main__":
    support.main()
