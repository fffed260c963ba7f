"""Job control: `holdfast run` on a terminal, started by a shell."""
import fcntl
import json
import os
import pathlib
import pty
import select
import shlex
import signal
import socket
import termios
import time

import support

# Writes to a file, since a terminal may refuse output of background jobs.
COMMAND = support.HEAR + """
out = os.open(sys.argv[1], os.O_WRONLY)
def say(text): os.write(out, text.encode() + b"\\n")
hear(("INT", "CONT", "WINCH"), say)
say("ready")
for line in sys.stdin:
    say("read " + line.strip())
    if line.startswith("exit"): os._exit(int(line.split()[1]))
"""


def shell(orders, terminal):
    """A minimal shell for job control: one job, with orders and answers through a socket. Does not return."""
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    us, job = os.getpgrp(), 0

    def foreground(group):
        os.tcsetpgrp(terminal, group)

    def begin(arguments, status, in_foreground):
        nonlocal job
        job = os.fork()
        if job == 0:
            os.setpgid(0, 0)
            if in_foreground:
                foreground(os.getpid())
            become(arguments, status)
        return job

    def become(arguments, status):
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        for fd in (0, 1, 2):
            os.dup2(terminal, fd)
        os.set_inheritable(status, True)
        os.execv(arguments[0], arguments)

    def wait():
        _, status = os.waitpid(job, os.WUNTRACED)
        foreground(us)
        return ["stopped"] if os.WIFSTOPPED(status) else ["ended", os.waitstatus_to_exitcode(status)]

    def fg():
        foreground(job)
        os.killpg(job, signal.SIGCONT)

    def bg():
        os.killpg(job, signal.SIGCONT)

    known = {f.__name__: f for f in (begin, become, wait, fg, bg)}
    file = orders.makefile("rw")
    for line in file:
        name, *arguments = json.loads(line)
        file.write(json.dumps(known[name](*arguments)) + "\n")
        file.flush()
    os._exit(0)


class OnATerminal(support.Case):
    def setUp(self):
        super().setUp()
        self.master, terminal = pty.openpty()
        self.addCleanup(os.close, self.master)
        ours, theirs = socket.socketpair()
        self.status_in, self.status_out = os.pipe()
        self.talk_at = self.folder / "talk"
        os.mkfifo(self.talk_at)
        self.talk = support.Lines(os.open(self.talk_at, os.O_RDWR))
        self.addCleanup(self.talk.close)
        pid = os.fork()
        if pid == 0:
            try:
                ours.close()
                os.close(self.status_in)
                os.close(self.master)
                os.environ.clear()
                os.environ.update(self.environment)
                shell(theirs, terminal)
            finally:
                os._exit(1)
        self.shell_process = support.Process(pid)
        self.addCleanup(self.end_shell)
        theirs.close()
        os.close(terminal)
        os.close(self.status_out)
        self.status = support.Lines(self.status_in)
        self.addCleanup(self.status.close)
        ours.settimeout(support.PATIENCE)
        self.orders = ours.makefile("rw")
        self.addCleanup(ours.close)
        self.addCleanup(self.orders.close)

    def end_shell(self):
        pid = self.shell_process.pid
        self.shell_process.end()
        os.waitpid(pid, 0)

    def order(self, *words):
        self.orders.write(json.dumps(words) + "\n")
        self.orders.flush()
        return json.loads(self.orders.readline())

    def arguments(self, *command):
        status = ("--status-fd", str(self.status_out))
        return [support.PROGRAM, "run", "--store", self.store, *status, "lock", "--", *command]

    def begin(self, *command, in_foreground=True):
        self.job = self.process(self.order("begin", self.arguments(*command), self.status_out, in_foreground))

    def begin_command(self, **how):
        self.begin(*support.PYTHON, COMMAND, str(self.talk_at), **how)
        self.started()
        self.said("ready")

    def event(self, what):
        while line := self.status.next():
            event = json.loads(line)
            if event["event"] == what:
                return event
        raise AssertionError(f"no {what!r} came")

    def started(self):
        self.command = self.process(self.event("started")["pid"])

    def said(self, text):
        self.assertEqual(self.talk.next().decode().strip(), text)

    def type(self, text):
        os.write(self.master, text.encode())

    def foreground(self):
        return os.tcgetpgrp(self.master)

    def end(self, code, script_adds=0):
        self.type(f"exit {code}\n")
        self.said(f"read exit {code}")
        self.assertEqual(self.order("wait"), ["ended", code + script_adds])

    def test_the_command_has_the_foreground_while_it_runs(self):
        self.begin_command()
        self.assertEqual(self.foreground(), self.command.pid)
        self.type("hello\n")
        self.said("read hello")
        self.end(7)

    def test_the_command_has_the_foreground_from_its_first_moment(self):
        for _ in range(20):
            # tpgid is the 8th field of stat, counted from 1; pgrp the 5th
            self.begin("sh", "-c", 'read a b c d pgrp f g tpgid rest < /proc/self/stat; [ "$pgrp" = "$tpgid" ]')
            self.assertEqual(self.order("wait"), ["ended", 0])

    def test_we_have_the_foreground_while_we_wait(self):
        holder = self.hold()
        self.begin(*support.PYTHON, COMMAND, str(self.talk_at))
        self.event("waiting")
        self.assertEqual(self.foreground(), self.job.pid)
        holder.let_go()
        self.started()
        self.said("ready")
        self.assertEqual(self.foreground(), self.command.pid)
        self.end(0)

    def printed(self, expected):
        """Waits until the terminal shows this."""
        self.shown = getattr(self, "shown", "")
        while expected not in self.shown:
            self.assertTrue(select.select([self.master], [], [], support.PATIENCE)[0], self.shown)
            self.shown += os.read(self.master, 4096).decode()

    def test_prints_the_holder_after_a_while(self):
        holder = self.hold(options=["--label", "Ann"])
        self.begin("true")
        self.printed("holdfast: waiting for lock, held by Ann\r\n")
        self.type("\x03")
        self.assertEqual(self.order("wait"), ["ended", -signal.SIGINT])
        others = [self.run_("lock", "true").waiting() for _ in range(2)]
        self.begin("true")
        self.printed("held by Ann; 2 wait before us\r\n")
        holder.let_go()
        self.assertEqual([other.code() for other in others], [0, 0])
        self.assertEqual(self.order("wait"), ["ended", 0])
        self.assertEqual(self.shown.count("waiting for"), 2)

    def test_prints_the_holder_once_with_v_and_never_with_q(self):
        for option, times in (("-v", 1), ("-q", 0)):
            holder = self.hold()
            arguments = self.arguments("echo", "ran" + option)
            arguments[2:2] = [option]
            self.job = self.process(self.order("begin", arguments, self.status_out, True))
            since = self.event("waiting")["time"]
            support.until(lambda: time.time() > since + 1.2, "time to say it")
            holder.let_go()
            self.assertEqual(self.order("wait"), ["ended", 0])
            self.printed("ran" + option)
            self.assertEqual(self.shown.count("waiting for"), times)
            self.shown = ""

    def test_the_interrupt_key_ends_us_while_we_wait(self):
        self.hold()
        for key, number in (("\x03", signal.SIGINT), ("\x1c", signal.SIGQUIT)):
            self.begin("true")
            self.event("waiting")
            self.type(key)
            self.assertEqual(self.order("wait"), ["ended", -number])  # a shell reports 128 plus the number
        self.assertEqual(self.places(), 1)

    def test_the_interrupt_key_ends_us_while_the_store_fails(self):
        self.assert_free()  # creates the store
        self.rows("PRAGMA user_version = 99")
        with support.lock_byte(self.folder / "store" / "writers", 0):
            self.begin("true")
            self.until_in_proc("maps", lambda text: "/store/writers" in text, "at the store")
            self.type("\x03")
            bit = 1 << (signal.SIGINT - 1)
            self.until_in_proc("status", lambda text: int(text.split("ShdPnd:")[1].split()[0], 16) & bit, "interrupted")
        self.assertEqual(self.order("wait"), ["ended", -signal.SIGINT])

    def until_in_proc(self, file, ready, what):
        support.until(lambda: support.children(self.job.pid), "the worker")
        path = pathlib.Path(f"/proc/{support.children(self.job.pid)[0]}/{file}")
        support.until(lambda: ready(path.read_text()), what)

    def test_the_interrupt_key_reaches_the_command_and_only_it(self):
        self.begin_command()
        for _ in range(3):
            self.type("\x03")
            self.said("INT")
        self.end(7)  # with only one waiting process of ours

    def test_the_interrupt_key_that_kills_the_command_is_its_exit_code(self):
        self.begin("cat")
        self.started()
        self.type("\x03")
        self.assertEqual(self.order("wait"), ["ended", -signal.SIGINT])  # a shell reports 130
        self.assert_free()

    def test_the_suspend_key_suspends_both_and_fg_continues_both(self):
        self.begin_command()
        for _ in range(3):
            self.type("\x1a")
            self.assertEqual(self.order("wait"), ["stopped"])
            self.assertEqual((self.job.state(), self.command.state()), ("T", "T"))
            self.assert_held()
            self.order("fg")
            self.said("CONT")
            support.until(lambda: self.foreground() == self.command.pid, "in the foreground again")
        self.end(7)

    def test_the_shell_gets_the_foreground_when_the_worker_is_killed(self):
        self.begin_command()
        self.process(support.children(self.job.pid)[0]).signal(signal.SIGKILL)
        self.assertEqual(self.order("wait"), ["ended", 70])
        self.assertTrue(self.command.ended())
        self.assert_free()
        self.begin_command()
        self.end(0)

    def test_killing_a_stopped_run_ends_the_command(self):
        self.begin_command()
        self.type("\x1a")
        self.assertEqual(self.order("wait"), ["stopped"])
        self.job.signal(signal.SIGKILL)
        self.command.wait()
        self.assertEqual(self.order("wait"), ["ended", -signal.SIGKILL])
        self.assertEqual(self.run_("lock", "true").code(), 0)

    def test_the_suspend_key_suspends_us_while_we_wait(self):
        holder = self.hold()
        self.begin("true")
        self.event("waiting")
        self.type("\x1a")
        self.assertEqual(self.order("wait"), ["stopped"])
        self.order("fg")
        holder.let_go()
        self.assertEqual(self.order("wait"), ["ended", 0])

    def test_bg_continues_both_and_leaves_the_foreground_alone(self):
        self.begin_command()
        self.type("\x1a")
        self.assertEqual(self.order("wait"), ["stopped"])
        self.order("bg")
        self.assert_reading_stops_both()
        self.assertEqual(self.foreground(), self.shell_process.pid)
        self.order("fg")
        self.type("exit 7\n")
        self.assertEqual(self.order("wait"), ["ended", 7])

    def assert_reading_stops_both(self):
        """The command reads from the terminal, which stops it in the background."""
        self.assertEqual(self.order("wait"), ["stopped"])
        self.assertEqual((self.job.state(), self.command.state()), ("T", "T"))

    def test_a_background_job_can_be_moved_to_the_foreground(self):
        self.begin_command(in_foreground=False)
        self.assertEqual(self.foreground(), self.shell_process.pid)
        self.assert_reading_stops_both()
        self.order("fg")
        self.said("CONT")
        self.end(7)

    def test_a_nested_run_passes_on_the_foreground(self):
        for _ in range(5):
            inner = [support.PROGRAM, "run", "--store", self.store, "inner", "--"]
            self.begin(*inner, *support.PYTHON, COMMAND, str(self.talk_at))
            self.started()
            self.said("ready")
            self.end(7)

    def test_we_get_the_terminal_back_if_the_command_cannot_start(self):
        self.begin("no-such-command-anywhere")
        self.assertEqual(self.order("wait"), ["ended", 127])
        self.begin_command()
        self.end(0)

    def test_suspend_key_is_ignored_if_no_shell_could_continue_us(self):
        arguments = self.arguments(*support.PYTHON, COMMAND, str(self.talk_at))
        self.orders.write(json.dumps(["become", arguments, self.status_out]) + "\n")  # as in a container or over ssh
        self.orders.flush()
        self.started()
        self.said("ready")
        self.type("\x1a")
        self.said("CONT")
        self.type("exit 7\n")
        self.said("read exit 7")
        self.assertEqual(self.event("end")["exit"], 7)
        self.shell_process.wait()

    def test_window_size_changes_reach_the_command(self):
        self.begin_command()
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, b"\x10\x00\x20\x00\x00\x00\x00\x00")
        self.said("WINCH")
        self.end(0)

    def begin_script(self, script):
        """A non-interactive shell runs us in its own process group."""
        run = " ".join(shlex.quote(word) for word in self.arguments(*support.PYTHON, COMMAND, str(self.talk_at)))
        self.job = self.process(self.order("begin", ["/bin/sh", "-c", script.format(run)], self.status_out, True))
        self.started()
        self.said("ready")

    def assert_may_read(self):
        """It is stopped, gets the foreground and is continued. It notices CONT and reads, in either order."""
        self.type("hello\n")
        self.assertEqual({self.talk.next().decode().strip() for _ in range(2)}, {"CONT", "read hello"})

    def test_in_a_script_the_command_may_read(self):
        self.begin_script("{}; exit $(($? + 1))")
        self.assert_may_read()
        self.end(7, script_adds=1)

    def test_in_a_pipeline_the_command_may_read(self):
        self.begin_script("{} | cat >/dev/null; exit 3")
        self.assert_may_read()
        self.type("exit 7\n")
        self.said("read exit 7")
        self.assertEqual(self.order("wait"), ["ended", 3])

    def test_in_a_script_the_interrupt_key_ends_the_script_too(self):
        run = " ".join(shlex.quote(word) for word in self.arguments("cat"))
        script = f"{run}; echo went on > {shlex.quote(str(self.folder / 'went-on'))}"
        self.job = self.process(self.order("begin", ["/bin/sh", "-c", script], self.status_out, True))
        self.started()
        self.type("hello\n")  # it reads, so it gets the foreground
        support.until(lambda: self.foreground() == self.command.pid, "in the foreground")
        self.type("\x03")
        self.assertEqual(self.order("wait"), ["ended", -signal.SIGINT])
        self.assertFalse((self.folder / "went-on").exists())
        self.assert_free()

    def test_the_interrupt_key_ends_a_loop_around_us(self):
        run = " ".join(shlex.quote(word) for word in self.arguments("cat"))
        count = shlex.quote(str(self.folder / "count"))
        script = f"for i in 1 2 3; do echo $i > {count}; {run}; done"
        self.job = self.process(self.order("begin", ["/bin/bash", "-c", script], self.status_out, True))
        self.started()
        self.type("\x03")
        self.assertEqual(self.order("wait"), ["ended", -signal.SIGINT])
        self.assertEqual((self.folder / "count").read_text(), "1\n")

    def test_in_a_script_max_hold_ends_the_command_and_not_the_script(self):
        command = self.arguments("cat")
        command[2:2] = ["--max-hold", "500ms", "--grace", "50ms"]
        run = " ".join(shlex.quote(word) for word in command)
        self.job = self.process(self.order("begin", ["/bin/sh", "-c", f"{run}; exit 5"], self.status_out, True))
        self.started()  # it reads, and so has the foreground when it is stopped
        self.assertEqual(self.order("wait"), ["ended", 5])

    def test_a_hangup_of_the_terminal_ends_the_command(self):
        self.begin("cat")
        self.started()
        with open(os.devnull) as nothing:
            os.dup2(nothing.fileno(), self.master)  # closes the last descriptor of the other end
        self.command.wait()
        self.job.wait()
        self.assert_free()


if __name__ == "__main__":
    support.main()
