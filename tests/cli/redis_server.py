"""A redis-server for a test, with its own folder and a Unix socket."""
import pathlib
import shutil
import socket
import subprocess
import tempfile

import support


class RedisServer:
    def __init__(self, test, *options, start=True):
        self.test = test
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-redis-"))
        test.addCleanup(shutil.rmtree, self.folder)
        self.socket = self.folder / "s"
        self.url = f"redis+unix://{self.socket}"
        words = ["redis-server", "--port", "0", "--unixsocket", str(self.socket), "--save", "", "--dir", str(self.folder)]
        self.words = [*words, *options]
        if start:
            self.start()

    def start(self):
        self.popen = subprocess.Popen(self.words, stdout=subprocess.DEVNULL)
        self.test.addCleanup(self.popen.wait)
        self.test.addCleanup(self.popen.kill)
        support.until(self.answers, "the redis-server")

    def answers(self):
        try:
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(str(self.socket))
                s.sendall(b"PING\r\n")
                return s.recv(100).startswith((b"+PONG", b"-NOAUTH"))
        except OSError:
            return False

    def client(self, **how):
        import redis  # Debian's python3-redis

        return redis.Redis(unix_socket_path=str(self.socket), decode_responses=True, **how)
