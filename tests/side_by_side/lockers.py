"""Three programs that run a command under a lock, each with its own server if needed."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PATIENCE = 30  # seconds
NEVER = 4  # seconds after which something counts as not happening


def until(ready, what, within=PATIENCE):
    end = time.monotonic() + within
    while not ready():
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {within} s")
        time.sleep(0.01)


def happens(ready, within=NEVER):
    try:
        until(ready, "", within)
        return True
    except TimeoutError:
        return False


def said(*words):
    return subprocess.run(words, capture_output=True, text=True).stdout


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Locker:
    """A program. `command(name, words)` returns the command line that runs the words under that lock."""

    environment = {}

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="side-by-side-"))
        self.server = None

    def begin(self, name, *words, timeout=None, **how):
        how.setdefault("stdin", subprocess.DEVNULL)
        how.setdefault("stdout", subprocess.PIPE)
        how.setdefault("stderr", subprocess.PIPE)
        environment = dict(os.environ, **self.environment)
        return subprocess.Popen(self.command(name, words, timeout), env=environment, start_new_session=True, **how)

    def stop_server(self):
        if self.server:
            self.server.kill()
            self.server.wait()

    def start_server_empty(self):
        """Restarts the server without its data."""

    def losses(self):
        """Ways to remove a lock without notice: a title, and a function of the name."""

    def waiting(self, name):
        """The number of waiters."""

    def end(self):
        self.stop_server()
        shutil.rmtree(self.folder, ignore_errors=True)


class Flock(Locker):
    title = "`flock`"
    has_timeout = True

    def version(self):
        return said("flock", "--version").strip().replace("flock from ", "")

    def command(self, name, words, timeout=None):
        wait = ["-w", str(timeout)] if timeout else []
        return ["flock", *wait, str(self.folder / name.replace("/", "-")), *words]

    def losses(self):
        return {"deleted": lambda name: (self.folder / name.replace("/", "-")).unlink()}

    def waiting(self, name):
        inode = os.stat(self.folder / name.replace("/", "-")).st_ino
        lines = pathlib.Path("/proc/locks").read_text().splitlines()
        return sum(1 for line in lines if " -> " in line and f":{inode} " in line)


class Etcdctl(Locker):
    title = "`etcdctl lock`"
    has_timeout = False  # it has no such option

    def __init__(self):
        super().__init__()
        self.client, self.peer = free_port(), free_port()
        self.environment = {"ETCDCTL_API": "3", "ETCDCTL_ENDPOINTS": f"http://127.0.0.1:{self.client}"}
        self.start_server_empty()

    def version(self):
        return self.ask("version").stdout.split("\n")[0].replace("etcdctl version: ", "etcd ")

    def start_server_empty(self):
        self.stop_server()
        data = self.folder / "data"
        shutil.rmtree(data, ignore_errors=True)
        client, peer = f"http://127.0.0.1:{self.client}", f"http://127.0.0.1:{self.peer}"
        self.server = subprocess.Popen(
            ["etcd", "--name", "a", "--data-dir", str(data), "--listen-client-urls", client, "--advertise-client-urls",
             client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"a={peer}",
             "--log-level", "error"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: self.ask("endpoint", "health").returncode == 0, "etcd")

    def ask(self, *words):
        environment = dict(os.environ, **self.environment)
        return subprocess.run(["etcdctl", *words], env=environment, capture_output=True, text=True)

    def command(self, name, words, timeout=None):
        # The default for a dead holder is a minute; here it is ten seconds, as for the others.
        return ["etcdctl", "lock", "--ttl", "10", name, "--", *words]

    def keys(self, name):
        return json.loads(self.ask("get", "--prefix", name + "/", "-w", "json").stdout).get("kvs", [])

    def losses(self):
        def revoke(name):
            first = min(self.keys(name), key=lambda kv: kv["create_revision"])
            assert self.ask("lease", "revoke", f"{first['lease']:x}").returncode == 0

        def delete(name):
            assert self.ask("del", "--prefix", name + "/").stdout.strip() == "1"

        return {"deleted": delete, "revoked": revoke, "restarted": lambda name: self.start_server_empty()}

    def waiting(self, name):
        return len(self.keys(name)) - 1


class Holdfast(Locker):
    title = "`holdfast run`"
    has_timeout = True

    def __init__(self, program):
        super().__init__()
        self.program = program
        self.socket = self.folder / "s"
        self.environment = {"HOLDFAST_STORE": f"redis+unix://{self.socket}"}
        self.start_server_empty()

    def version(self):
        redis = said("redis-server", "--version").partition("v=")[2].split()[0]
        return f"{said(self.program, '--version').strip()} on Redis {redis}"

    def start_server_empty(self):
        self.stop_server()
        self.server = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", str(self.socket), "--save", "", "--dir", str(self.folder)],
            stdout=subprocess.DEVNULL)
        until(lambda: self.ask("PING") == "PONG", "redis-server")

    def ask(self, *words):
        return said("redis-cli", "-s", str(self.socket), *words).strip()

    def command(self, name, words, timeout=None):
        wait = ["-w", str(timeout)] if timeout else []
        return [self.program, "run", *wait, name, "--", *words]

    def losses(self):
        def delete(name):
            assert self.ask("DEL", f"holdfast:{{{name}}}") == "1"

        return {"deleted": delete, "restarted": lambda name: self.start_server_empty()}

    def waiting(self, name):
        return int(self.ask("ZCARD", f"holdfast:{{{name}}}:q"))


def alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def end_session(process):
    """Kills the processes left by a scenario: all in its session, and those whose pid is known."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
