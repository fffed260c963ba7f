"""`holdfast run` as another user. Must be started by root, who can change users."""
import os
import pathlib
import pwd
import shutil
import stat

import support


class OtherUsers(support.Case):
    def setUp(self):
        super().setUp()
        self.assertEqual(os.geteuid(), 0, "must be started by root")
        self.folder.chmod(0o755)
        self.program = self.folder / "holdfast"  # where every user can execute it
        shutil.copy(support.PROGRAM, self.program)
        self.program.chmod(0o755)
        self.nobody = pwd.getpwnam("nobody")

    def as_user(self, *arguments, uid=None, gid=None):
        uid = self.nobody.pw_uid if uid is None else uid
        gid = self.nobody.pw_gid if gid is None else gid
        return self.raw(*arguments, program=[self.program], user=uid, group=gid, extra_groups=[], cwd="/")

    def make(self, name, owner, mode):
        at = self.folder / name
        at.mkdir()
        os.chown(at, owner, owner)
        at.chmod(mode)
        return at


class AnotherUser(OtherUsers):
    def assert_denied(self, path, saying):
        run = self.as_user("--store", f"dir:{path}", "lock", "--", "true")
        self.assertEqual(run.code(), 77, run.errors())
        self.assertIn(saying, run.errors())
        self.assertIn(str(path), run.errors())
        self.assertNotIn("started", run.told())

    def test_may_lock_in_a_folder_of_its_own(self):
        at = self.make("own", self.nobody.pw_uid, 0o755)
        run = self.as_user("--store", f"dir:{at}/made", "lock", "--", "id", "-u")
        self.assertEqual(run.line(), str(self.nobody.pw_uid))
        self.assertEqual(run.code(), 0, run.errors())
        made = (at / "made").stat()
        self.assertEqual((made.st_uid, stat.S_IMODE(made.st_mode)), (self.nobody.pw_uid, 0o700))
        for file in (at / "made").iterdir():
            if file.is_file():
                self.assertEqual(stat.S_IMODE(file.stat().st_mode) & 0o077, 0, file)

    def test_may_not_use_a_folder_of_another_user(self):
        at = self.make("of-another", 12345, 0o755)
        self.assert_denied(at, "belongs to user 12345")
        at.chmod(0o777)
        self.assert_denied(at, "belongs to user 12345")

    def test_may_not_use_a_folder_that_it_cannot_enter(self):
        self.assert_denied(self.make("private", 12345, 0o700), "Permission denied")

    def test_may_not_use_a_world_writable_folder(self):
        at = self.make("open", self.nobody.pw_uid, 0o777)
        self.assert_denied(at, "can be written by other users")
        at.chmod(0o1777)
        self.assert_denied(at, "can be written by other users")
        self.assertEqual(list(at.iterdir()), [])

    def test_may_not_use_a_read_only_folder_of_root(self):
        self.assert_denied(self.make("of-root", 0, 0o755), "Permission denied")

    def test_may_not_create_a_folder_without_permission(self):
        self.make("parent", 0, 0o755)
        self.assert_denied(self.folder / "parent" / "new", "cannot create")

    def test_may_not_use_a_file_that_it_cannot_write(self):
        at = self.make("own", self.nobody.pw_uid, 0o700)
        self.assertEqual(self.as_user("--store", f"dir:{at}", "lock", "--", "true").code(), 0)
        for file in at.iterdir():
            os.chown(file, 0, 0)
            file.chmod(0o400)
        self.assert_denied(at, "")

    def test_root_may_not_use_a_folder_of_another_user(self):
        at = self.make("of-nobody", self.nobody.pw_uid, 0o755)
        run = self.raw("--store", f"dir:{at}", "lock", "--", "true")
        self.assertEqual(run.code(), 77)
        self.assertIn("belongs to user", run.errors())

    def test_gets_126_for_a_command_that_it_cannot_execute(self):
        at = self.make("own", self.nobody.pw_uid, 0o700)
        tool = self.folder / "tool"
        tool.write_text("#!/bin/sh\n")
        tool.chmod(0o700)
        self.assertEqual(self.as_user("--store", f"dir:{at}", "lock", "--", tool).code(), 126)


class ACommandThatBecomesAnothers(OtherUsers):
    # Root without the capability to signal other users, like a user whose command became root's.
    WITHOUT_RIGHT = ["setpriv", "--inh-caps", "-kill", "--bounding-set", "-kill"]

    def test_is_waited_for_with_a_message(self):
        become = ["setpriv", "--reuid", str(self.nobody.pw_uid), "--clear-groups", "cat"]
        program = [*self.WITHOUT_RIGHT, support.PROGRAM]
        run = self.run_("lock", *become, options=["--max-hold", "2s", "--on-lost", "kill"], program=program).running()
        support.until(lambda: "another user" in run.errors(), "the word")
        self.assertFalse(run.command.ended())
        run.let_go()
        self.assertEqual(run.code(), 79, run.errors())
        self.assertEqual(run.errors().count("another user"), 1)


class TheDefaultStore(OtherUsers):
    def setUp(self):
        super().setUp()
        # The folder belongs to a uid without a user, so that no real user's folder is touched.
        taken = {entry.pw_uid for entry in pwd.getpwall()}
        self.uid = 1_900_000_000 + os.getpid()
        self.default = pathlib.Path(f"/var/tmp/holdfast-{self.uid}")
        self.assertNotIn(self.uid, taken)
        self.assertFalse(self.default.exists())
        self.addCleanup(self.remove_default)

    def remove_default(self):
        if self.default.is_symlink():
            self.default.unlink()
        shutil.rmtree(self.default, ignore_errors=True)

    def as_stranger(self, *arguments):
        return self.as_user(*arguments, uid=self.uid, gid=self.uid)

    def test_is_a_folder_of_the_user_that_others_cannot_enter(self):
        self.environment["HOME"] = "/nonexistent"
        run = self.as_stranger("lock", "--", "printenv", "HOLDFAST_STORE")
        self.assertEqual(run.line(), f"dir:{self.default}")
        self.assertEqual(run.code(), 0, run.errors())
        made = self.default.stat()
        self.assertEqual((made.st_uid, stat.S_IMODE(made.st_mode)), (self.uid, 0o700))

    def test_is_shared_by_all_runs_of_the_user(self):
        self.as_stranger("lock", "--", "cat").running()
        self.assertEqual(self.as_stranger("-n", "lock", "--", "true").code(), 75)

    def test_is_rejected_if_another_user_created_it_first(self):
        self.default.mkdir(0o777)
        os.chown(self.default, 12345, 12345)
        run = self.as_stranger("lock", "--", "true")
        self.assertEqual(run.code(), 77)
        self.assertIn("belongs to user 12345", run.errors())

    def test_is_rejected_if_another_user_put_a_link_there(self):
        at = self.make("own", self.uid, 0o700)
        self.default.symlink_to(at)
        os.lchown(self.default, 12345, 12345)
        run = self.as_stranger("lock", "--", "true")
        self.assertEqual(run.code(), 77, run.errors())
        self.assertEqual(list(at.iterdir()), [])


if __name__ == "__main__":
    support.main()
