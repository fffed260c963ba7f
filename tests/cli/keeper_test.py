"""`holdfast acquire` and `holdfast release`: a keeper holds a lock for a script and ends with it."""
import json
import os
import pathlib
import signal
import subprocess

import support
from stores import OnDirectory, OnRedis


class Tests:
    def program(self, *arguments, **how):
        how.setdefault("env", self.environment)
        return subprocess.run([support.PROGRAM, *arguments], capture_output=True, text=True, timeout=support.PATIENCE, **how)

    def acquire(self, *arguments, whom=None, **how):
        """Starts a keeper for a process, and returns what acquire printed."""
        whom = whom or self.script()
        done = self.program("acquire", "--store", self.store, "--json", "--hold-for", str(whom.pid), *arguments, **how)
        self.assertEqual(done.returncode, 0, done.stderr)
        held = json.loads(done.stdout)
        return self.process(held["keeper"]), held

    def release(self, *arguments, **how):
        return self.program("release", "--store", self.store, *arguments, **how)

    def script(self):
        """A process that the test can end."""
        popen = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        self.addCleanup(popen.wait)
        self.addCleanup(popen.kill)
        self.addCleanup(popen.stdin.close)
        return popen

    def sh(self, script, shell="sh", **how):
        """Runs a script with `holdfast` in PATH and the store of this test."""
        bin_ = self.folder / "bin"
        bin_.mkdir(exist_ok=True)
        if not (bin_ / "holdfast").exists():
            (bin_ / "holdfast").symlink_to(support.PROGRAM)
        env = {**self.environment, "HOLDFAST_STORE": self.store, "PATH": f"{bin_}:{os.environ['PATH']}"}
        path = self.folder / "script"
        path.write_text(script)
        return subprocess.run([shell, path], capture_output=True, text=True, timeout=support.PATIENCE, env=env, **how)

    def test_a_script_acquires_and_releases_a_lock(self):
        script = """
            held=$(holdfast acquire "it's mine") || exit
            eval "$held"
            holdfast try "it's mine"; echo $?
            holdfast release "$HOLDFAST_NAME" --owner "$HOLDFAST_OWNER"; echo $?
            holdfast try "it's mine"; echo $?
            sh -c 'echo "$HOLDFAST_NAME"; test "$HOLDFAST_FENCE" -gt 0'
        """
        for shell in ("sh", "bash"):
            done = self.sh(script, shell)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "75\n0\n0\nit's mine\n", ""))

    def test_release_finds_a_lock_in_a_non_default_store(self):
        script = f"""
            eval "$(holdfast acquire --store 'dir:{self.folder}/it is another' lock)"
            echo "$HOLDFAST_STORE"
            holdfast release lock --fence "$HOLDFAST_FENCE"; echo $?
            unset HOLDFAST_STORE
            eval "$(holdfast acquire --store 'dir:{self.folder}/it is another' lock)"
            HOLDFAST_STORE=dir:/nowhere/at/all holdfast release lock --owner "$HOLDFAST_OWNER"; echo $?
        """
        done = self.sh(script)
        self.assertEqual((done.stdout.splitlines(), done.stderr), ([f"dir:{self.folder}/it is another", "0", "0"], ""))

    def test_a_keeper_does_not_release_another_name(self):
        keeper, held = self.acquire("lock")
        done = self.release("another", "--owner", held["owner"])
        self.assertEqual(done.returncode, 64)
        self.assertIn("another name", done.stderr)
        self.assert_held()

    def test_an_unread_status_does_not_block_acquire(self):
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        try:
            while True:
                os.write(writing, b"x" * 4096)
        except BlockingIOError:
            os.set_blocking(writing, True)
        keeper, held = self.acquire("--status-fd", str(writing), "lock", pass_fds=[writing])
        os.close(writing)
        os.close(reading)
        self.assertEqual(self.release("lock", "--owner", held["owner"]).returncode, 0)

    def test_the_lock_of_a_script_ends_with_it(self):
        done = self.sh("eval \"$(holdfast acquire lock)\"; holdfast try -v lock; exec kill -9 $$")
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.assertIn("keeper for sh", done.stderr)
        self.assertEqual(self.program("wait", "--store", self.store, "-w", "20s", "lock").returncode, 0)

    def test_the_keeper_ends_with_the_process_that_it_is_for(self):
        whom = self.script()
        keeper, held = self.acquire("lock", whom=whom)
        self.assert_held()
        whom.stdin.close()
        keeper.wait()
        self.assert_free()

    def test_a_zombie_counts_as_ended(self):
        whom = self.script()
        keeper, held = self.acquire("lock", whom=whom)
        whom.kill()
        keeper.wait()
        done = self.program("acquire", "--store", self.store, "--hold-for", str(whom.pid), "lock")
        self.assertEqual((done.returncode, done.stdout), (64, ""))
        self.assertIn("No such process", done.stderr)

    def test_an_invalid_pid_is_64_and_nothing_is_acquired(self):
        for pid in ("0", "-1", "x", "4194305"):
            done = self.program("acquire", "--store", self.store, f"--hold-for={pid}", "lock")
            self.assertEqual((done.returncode, done.stdout), (64, ""), pid)
        self.assert_free()

    def test_a_subshell_is_rejected_as_the_parent(self):
        done = self.sh("x=$(holdfast acquire lock || exit); echo \"<$x>\"; holdfast try lock", "bash")
        self.assertEqual((done.returncode, done.stdout), (0, "<>\n"))
        self.assertIn("--hold-for $$", done.stderr)
        done = self.sh("x=$(holdfast acquire --hold-for $$ lock || exit); holdfast try lock", "bash")
        self.assertEqual(done.returncode, 75, done.stderr)

    def test_release_by_the_fence(self):
        keeper, held = self.acquire("lock")
        self.assertEqual(self.release("lock", "--fence", str(held["fence"] + 1000)).returncode, 75)
        done = self.release("lock", "--fence", str(held["fence"]))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        keeper.wait()
        self.assert_free()

    def test_a_second_release_is_79(self):
        keeper, held = self.acquire("lock")
        self.assertEqual(self.release("lock", "--owner", held["owner"]).returncode, 0)
        done = self.release("lock", "--owner", held["owner"])
        self.assertEqual(done.returncode, 79)
        self.assertIn("no longer held", done.stderr)

    def test_a_release_by_another_owner_is_75_and_names_the_holder(self):
        keeper, held = self.acquire("lock", "--label", "the nightly job")
        done = self.release("lock", "--owner", "0" * 32)
        self.assertEqual(done.returncode, 75)
        self.assertIn("the nightly job", done.stderr)
        self.assert_held()

    def test_release_of_a_lock_without_a_keeper_is_77(self):
        run = self.run_("lock", "cat")
        owner = run.event("acquired")["owner"]
        done = self.release("lock", "--owner", owner)
        self.assertEqual(done.returncode, 77)
        self.assertIn("holdfast revoke", done.stderr)
        self.assertIn("holdfast break", done.stderr)
        self.assert_held()
        run.let_go()

    def test_another_user_cannot_release_it(self):
        keeper, held = self.acquire("lock")
        answer = self.knock(held["owner"], user=65534)
        self.assertEqual(answer, b"")
        self.assert_held()

    def test_a_process_of_another_user_is_not_trusted_as_keeper(self):
        liar = subprocess.Popen([*support.PYTHON, """
import os, socket, sys
os.setuid(65534)
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind("\\0holdfast-keeper-" + sys.argv[1])
s.listen()
os.write(1, b"!")
while True:
    client, _ = s.accept()
    client.send(b"\\0")
    client.close()
""", owner := os.urandom(16).hex()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(liar.stdout.close)
        self.addCleanup(liar.wait)
        self.addCleanup(liar.kill)
        self.assertEqual(liar.stdout.read(1), b"!")
        self.assertEqual(self.release("lock", "--owner", owner).returncode, 79)

    def knock(self, owner, user):
        """The reply of a keeper to a process of that user."""
        program = """
import os, socket, sys
os.setuid(int(sys.argv[2]))
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect("\\0holdfast-keeper-" + sys.argv[1])
try: s.send(b"r")
except BrokenPipeError: pass
try: os.write(1, s.recv(10))
except ConnectionResetError: pass
"""
        return subprocess.run([*support.PYTHON, program, owner, str(user)], stdout=subprocess.PIPE, check=True,
                              timeout=support.PATIENCE).stdout

    def test_the_first_of_several_names_releases_all(self):
        keeper, held = self.acquire("b", "a")
        self.assertEqual((held["name"], list(held["fences"])), ("b", ["b", "a"]))
        self.assert_held("a")
        self.assertEqual(self.release("b", "--owner", held["owner"]).returncode, 0)
        self.assert_free("a")
        self.assert_free("b")

    def test_readers_and_permits_are_released_by_owner(self):
        for how in (["-s"], ["--permits", "1/2"]):
            _, one = self.acquire(*how, "lock" + how[0])
            _, other = self.acquire(*how, "lock" + how[0])
            for held in (one, other):
                self.assertEqual(self.release("lock" + how[0], "--owner", held["owner"]).returncode, 0)

    def test_busy_is_75_and_prints_nothing(self):
        holder = self.hold(options=["--label", "the other"])
        done = self.program("acquire", "--store", self.store, "-n", "lock")
        self.assertEqual((done.returncode, done.stdout), (75, ""))
        self.assertIn("held by the other", done.stderr)
        self.assertEqual(self.program("acquire", "--store", self.store, "-w", "500ms", "-E", "3", "lock").returncode, 3)
        holder.let_go()

    def test_exit_code_is_never_0_without_the_lock(self):
        holder = self.hold()
        for options, code in ((["--skip"], 64), (["-n", "--skip"], 64), (["-n", "-E", "0"], 75)):
            done = self.program("acquire", "--store", self.store, "--hold-for", str(os.getpid()), *options, "lock")
            self.assertEqual((done.returncode, done.stdout), (code, ""), options)
        holder.let_go()

    def test_a_keeper_that_ends_early_does_not_exit_with_0(self):
        for end_it in (lambda keeper, whom: keeper.signal(signal.SIGTERM), lambda keeper, whom: whom.kill()):
            holder, whom = self.hold(), self.script()
            run = self.waiting(whom)
            keeper = self.process(support.children(run.pid)[0])
            run.signal(signal.SIGSTOP)
            support.until(lambda: run.process.state() == "T", "stopped")
            holder.let_go()
            self.assertEqual(holder.code(), 0)
            end_it(keeper, whom)
            keeper.wait()
            run.signal(signal.SIGCONT)
            self.assertNotEqual(run.code(), 0)
            self.assert_free()

    def waiting(self, whom, **how):
        run = support.Run(self, ["--store", self.store, "--hold-for", str(whom.pid), "lock"], verb="acquire", **how)
        self.runs.append(run)
        return run.waiting()

    def test_a_signal_while_it_waits_ends_both(self):
        holder = self.hold()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            run = self.waiting(self.script())
            keeper = self.process(pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()[0])
            run.signal(number)
            self.assertEqual(run.code(), 128 + number)
            keeper.wait()
        holder.let_go()
        self.assertEqual(holder.code(), 0)
        self.assert_free()

    def test_a_signal_during_the_report_ends_both(self):
        reading, writing = support.full_pipe()  # so that writing the event takes a while
        self.addCleanup(os.close, reading)
        self.addCleanup(os.close, writing)
        words = ["--store", self.store, "--hold-for", str(self.script().pid), "--status-fd", str(writing), "lock"]

        def attempt():
            holder = self.hold()
            run = self.raw(*words, verb="acquire", status=False, pass_fds=[writing])
            support.until(lambda: support.children(run.pid), "the keeper")
            keeper = self.process(support.children(run.pid)[0])
            holder.let_go()
            support.until(lambda: os.readlink(f"/proc/{keeper.pid}/fd/2") == "/dev/null", "the lock")
            run.signal(signal.SIGTERM)
            if run.code() == 0:  # too late: the event was written by then
                keeper.signal(signal.SIGTERM)
                keeper.wait()
                return False
            self.assertEqual(run.code(), 128 + signal.SIGTERM)
            keeper.wait()
            self.assert_free()
            return True

        support.until(attempt, "a signal in time")

    def test_a_caller_that_is_killed_while_it_waits_leaves_no_keeper(self):
        holder = self.hold()
        run = self.waiting(self.script())
        keeper = self.process(pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()[0])
        run.signal(signal.SIGKILL)
        keeper.wait()
        holder.let_go()
        self.assertEqual(holder.code(), 0)
        self.assert_free()

    def test_the_wait_ends_with_the_process_it_is_for(self):
        holder = self.hold()
        whom = self.script()
        run = self.waiting(whom)
        whom.kill()
        self.assertEqual(run.code(), 75)
        holder.let_go()

    def test_lock_is_released_if_the_result_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            how = dict(stdout=full, stderr=subprocess.PIPE, env=self.environment, timeout=support.PATIENCE)
            whom = str(self.script().pid)
            done = subprocess.run([support.PROGRAM, "acquire", "--store", self.store, "--hold-for", whom, "lock"], **how)
            silent = subprocess.run([support.PROGRAM, "acquire", "-q", "--store", self.store, "--hold-for", whom, "lock"],
                                    **how)
        self.assertEqual(done.returncode, 70)
        self.assertIn(b"was released", done.stderr)
        self.assertEqual((silent.returncode, silent.stderr), (70, b""))
        self.assert_free()

    def test_the_keeper_inherits_nothing_from_the_caller(self):
        mark = open(self.folder / "mark", "w")
        with mark:
            keeper, held = self.acquire("lock", pass_fds=[mark.fileno()], cwd=self.folder)
        fds = pathlib.Path(f"/proc/{keeper.pid}/fd")
        open_ = [os.readlink(fd) for fd in fds.iterdir()]
        self.assertNotIn(str(self.folder / "mark"), open_)
        self.assertEqual([os.readlink(fds / str(fd)) for fd in (0, 1, 2)], ["/dev/null"] * 3)
        support.until(lambda: os.readlink(f"/proc/{keeper.pid}/cwd") == "/", "away")
        stat = pathlib.Path(f"/proc/{keeper.pid}/stat").read_text().rpartition(")")[2].split()
        self.assertEqual((int(stat[3]), int(stat[4])), (keeper.pid, 0))  # its own session, without a terminal
        self.assertEqual(pathlib.Path(f"/proc/{keeper.pid}/comm").read_text(), "holdfast-keeper\n")

    def test_sigterm_makes_the_keeper_release(self):
        keeper, held = self.acquire("lock")
        keeper.signal(signal.SIGTERM)
        keeper.wait()
        self.assert_free()

    def test_the_end_of_max_hold_is_a_loss(self):
        whom = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(whom.wait)
        self.addCleanup(whom.kill)
        keeper, held = self.acquire("--max-hold", "2s", "--on-lost", "usr1", "lock", whom=whom)
        keeper.wait()
        self.assertEqual(whom.wait(support.PATIENCE), -signal.SIGUSR1)
        self.assertEqual(self.release("lock", "--owner", held["owner"]).returncode, 79)


class InADirectory(OnDirectory, Tests, support.Case):
    def test_lock_is_free_when_the_keeper_is_killed(self):
        keeper, held = self.acquire("lock")
        keeper.signal(signal.SIGKILL)
        keeper.wait()
        self.assert_free()
        self.assertEqual(self.release("lock", "--owner", held["owner"]).returncode, 79)

    def test_wrong_usage_is_64(self):
        self.assertEqual(self.release("lock").returncode, 64)
        self.assertEqual(self.release("lock", "--owner", "x", "--fence", "1").returncode, 64)
        self.assertEqual(self.program("acquire").returncode, 64)
        self.assertEqual(self.program("acquire", "--store", self.store, "--on-lost", "nonsense", "lock").returncode, 64)


class OnAServer(OnRedis, Tests, support.Case):
    def test_lock_is_free_one_ttl_after_the_keeper_is_killed(self):
        keeper, held = self.acquire("--ttl", "2s", "lock")
        keeper.signal(signal.SIGKILL)
        keeper.wait()
        self.assertEqual(self.program("wait", "--store", self.store, "-w", "20s", "lock").returncode, 0)

    def test_a_loss_sends_the_signal_and_release_reports_it(self):
        whom = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(whom.wait)
        self.addCleanup(whom.kill)
        keeper, held = self.acquire("--ttl", "2s", "--on-lost", "term", "lock", whom=whom)
        self.redis.flushall()
        keeper.wait()
        self.assertEqual(whom.wait(support.PATIENCE), -signal.SIGTERM)
        self.assertEqual(self.release("lock", "--owner", held["owner"]).returncode, 79)

    def test_an_unreachable_server_is_69_and_named(self):
        self.store = "redis+unix:///nowhere/s"
        done = self.program("acquire", "--store", self.store, "-n", "--hold-for", str(os.getpid()), "lock")
        self.assertEqual((done.returncode, done.stdout), (69, ""))
        self.assertIn("/nowhere/s", done.stderr)
        self.assertEqual(self.release("lock", "--owner", "0" * 32).returncode, 69)
        silent = self.release("-q", "lock", "--owner", "0" * 32)
        self.assertEqual((silent.returncode, silent.stderr), (69, ""))

    def test_a_keeper_gets_a_release_while_the_server_is_gone(self):
        keeper, held = self.acquire("lock")
        self.server.popen.kill()
        self.server.popen.wait()
        done = self.release("lock", "--owner", held["owner"])
        self.assertEqual(done.returncode, 80, done.stderr)
        self.assertIn("not confirmed", done.stderr)
        keeper.wait()

    def test_release_reports_a_loss_while_the_server_is_silent(self):
        def attempt():
            whom = subprocess.Popen(["sleep", "1000"])
            self.addCleanup(whom.wait)
            self.addCleanup(whom.kill)
            keeper, held = self.acquire("--ttl", "2s", "--on-lost", "term", "lock", whom=whom)
            self.server.popen.send_signal(signal.SIGSTOP)
            whom.wait(support.PATIENCE)
            done = self.release("lock", "--owner", held["owner"])
            keeper.wait()
            self.server.popen.send_signal(signal.SIGCONT)
            if done.returncode == 69:  # too late: the keeper had ended by then
                return False
            self.assertEqual(done.returncode, 79, done.stderr)
            self.assertIn("it was lost before", done.stderr)
            return True

        support.until(attempt, "a release in time")

    def test_a_store_variable_with_a_password_is_not_overwritten(self):
        self.redis.config_set("requirepass", "hunter2")
        self.store = f"redis+unix://:hunter2@{self.server.socket}"
        done = self.sh("""
            held=$(holdfast acquire lock) || exit
            case $held in *hunter2*|*HOLDFAST_STORE*) exit 1;; esac
            eval "$held"
            holdfast release "$HOLDFAST_NAME" --fence "$HOLDFAST_FENCE"
        """)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_the_password_of_a_url_is_never_printed(self):
        self.redis.config_set("requirepass", "hunter2")
        self.store = f"redis+unix://:hunter2@{self.server.socket}"
        environment = {**self.environment, "HOLDFAST_STORE": self.store}
        done = self.program("acquire", "-v", "--json", "--hold-for", str(os.getpid()), "lock", env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("hunter2", done.stdout + done.stderr)
        held = json.loads(done.stdout)
        self.process(held["keeper"])
        self.assertEqual(self.program("release", "lock", "--owner", held["owner"], env=environment).returncode, 0)


if __name__ == "__main__":
    support.main()
