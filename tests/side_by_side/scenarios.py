"""What is done to each locker, and the result. A scenario returns the text of its cell, or None if not applicable."""
import os
import signal
import subprocess
import time

from lockers import NEVER, PATIENCE, alive, end_session, happens, until

# Commands that print their pid and then wait.
WAITS = ["sh", "-c", "echo $$; exec sleep 60"]
IGNORES_TERM = ["sh", "-c", "trap '' TERM; echo $$; sleep 60"]

SCENARIOS = []


def scenario(title):
    def add(function):
        SCENARIOS.append((title, function))
        return function

    return add


def running(locker, name, words, **how):
    """The locker with a running command, and the command's pid."""
    process = locker.begin(name, *words, **how)
    locker.started.append(process)
    pid = int(process.stdout.readline())
    locker.pids.append(pid)
    return process, pid


def another_gets_in(locker, name):
    """Returns whether another client gets the lock although the holder has not released it. It waits until the
    holder's ttl of ten seconds must have expired."""
    other = locker.begin(name, "true")
    locker.started.append(other)
    return happens(lambda: other.poll() is not None, 15)


def ending(process, within=PATIENCE):
    """A description of its end; None if it has not ended."""
    if not happens(lambda: process.poll() is not None, within):
        return None
    code = process.returncode
    return f"exit {code}" if code >= 0 else f"dies of {signal.Signals(-code).name}"


def ending_of(locker, script):
    process = locker.begin("ends", "sh", "-c", f"echo began; {script}")
    locker.started.append(process)
    how = ending(process)
    assert b"began" in process.stdout.read()
    return how


@scenario("the command exits with 7")
def exit_code(locker):
    return ending_of(locker, "exit 7")


@scenario("the command is killed (`kill -9`)")
def killed_command(locker):
    return ending_of(locker, "kill -9 $$")


@scenario("busy, with a limit of 1 s")
def busy(locker):
    running(locker, "busy", WAITS)
    second = locker.begin("busy", "true", timeout=1)
    locker.started.append(second)
    how = ending(second, NEVER)
    if not locker.has_timeout:
        assert how is None
        return f"no such option: waits on, after {NEVER} s"
    said = second.stderr.read().decode().strip()
    return how + (", and says who holds it" if "held by" in said else ", without a word" if not said else "")


def lost_by(locker, how, words=WAITS):
    ways = locker.losses()
    if how not in ways:
        return None
    process, pid = running(locker, f"lost/{how}", words)
    ways[how](f"lost/{how}")
    began = time.monotonic()
    stopped = happens(lambda: not alive(pid), 15)
    took = time.monotonic() - began
    if not stopped:
        inside = another_gets_in(locker, f"lost/{how}")
        return f"not noticed in 15 s: the command runs on{', and another gets in' if inside else ''}"
    told = process.stderr.read().decode().strip()
    return f"the command is stopped within {int(took) + 1} s, {ending(process)}{', and says why' if told else ''}"


@scenario("the lock is deleted under a running command")
def deleted(locker):
    return lost_by(locker, "deleted")


@scenario("its lease is revoked under a running command")
def revoked(locker):
    return lost_by(locker, "revoked")


@scenario("the server restarts empty under a running command")
def restarted(locker):
    return lost_by(locker, "restarted")


@scenario("the lock is deleted, and the command ignores TERM")
def deleted_and_ignored(locker):
    return lost_by(locker, "deleted", IGNORES_TERM)


@scenario("`kill -9` of the locker")
def killed_locker(locker):
    process, pid = running(locker, "killed-locker", WAITS)
    process.kill()
    process.wait()
    lives = not happens(lambda: not alive(pid))
    if not lives:
        return "the command is killed, too"
    inside = another_gets_in(locker, "killed-locker")
    return "the command runs on, and " + ("another gets in" if inside else "has the lock")


def after_term(locker, name, words):
    process, pid = running(locker, name, words)
    process.terminate()
    gone = happens(lambda: not alive(pid))
    how = ending(process, NEVER)
    if gone:
        return "the command gets it and ends, " + (how or "but the locker does not")
    inside = another_gets_in(locker, name)
    if how is None:
        return f"the command runs on, {'without the lock' if inside else 'and the lock is kept'}"
    return f"{how}, but the command runs on{', and another gets in' if inside else ', and has the lock'}"


@scenario("TERM to the locker")
def term(locker):
    return after_term(locker, "term", WAITS)


@scenario("TERM to the locker, and the command ignores TERM")
def ignored_term(locker):
    return after_term(locker, "ignored-term", IGNORES_TERM)


@scenario("something is written to stdin")
def standard_input(locker):
    process = locker.begin("stdin", "cat", stdin=subprocess.PIPE)
    locker.started.append(process)
    said, _ = process.communicate(b"hello", timeout=PATIENCE)
    return "the command reads it" if said.startswith(b"hello") else "the command gets nothing"


@scenario("the command leaves a child behind")
def left_behind(locker):
    process = locker.begin("left", "sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!")
    locker.started.append(process)
    child = int(process.stdout.readline())
    locker.pids.append(child)
    how = ending(process)
    if not alive(child):
        return f"{how}; the child was ended first"
    inside = another_gets_in(locker, "left")
    return f"{how}; the child runs on, {'without the lock' if inside else 'and has the lock'}"


@scenario("nested: another name inside")
def nested(locker):
    names = {"`etcdctl lock`": "ETCD_LOCK_KEY", "`holdfast run`": "HOLDFAST_NAME"}
    variable = names.get(locker.title)
    inner = locker.command("inner", ["sh", "-c", f"echo inner:${variable}" if variable else "echo inner:"])
    process = locker.begin("outer", *inner)
    locker.started.append(process)
    said, _ = process.communicate(timeout=PATIENCE)
    value = said.decode().partition("inner:")[2].split("\n")[0]
    if "inner:" not in said.decode():
        return "does not work"
    if not variable:
        return "works; nothing in the environment"
    return f"works; `{variable}` inside is that of the {'inner' if value.startswith('inner') else 'outer'} lock"


@scenario("five wait, one after another")
def order(locker):
    seen = []
    for round_ in range(3):
        name, log = f"order-{round_}", locker.folder / f"order-{round_}.log"
        holder, _ = running(locker, name, ["sh", "-c", "echo $$; exec sleep 60"])
        waiters = []
        for n in range(5):
            waiters.append(locker.begin(name, "sh", "-c", f"echo {n} >>{log}; sleep 0.1"))
            locker.started.append(waiters[-1])
            until(lambda: locker.waiting(name) == n + 1, f"{n + 1} wait")
        os.kill(locker.pids[-1], signal.SIGTERM)
        for each in waiters:
            each.wait(PATIENCE)
        seen.append(log.read_text().split())
    if all(each == sorted(each) for each in seen):
        return "get in as they came, in 3 of 3 rounds"
    return "get in as " + " and ".join("".join(each) for each in seen)


def see(locker, what):
    """Runs a scenario and ends its processes."""
    locker.started, locker.pids = [], []
    try:
        return what(locker)
    finally:
        for pid in locker.pids:
            if alive(pid):
                os.kill(pid, signal.SIGKILL)
        for process in locker.started:
            end_session(process)
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()
