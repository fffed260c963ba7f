"""`holdfast ls` with very many locks: it does not block the server and uses little memory."""
import os
import pathlib
import re
import select

import support
from operator_case import OnRedis, Operator

MANY = 100_000
# Bounds for a single command, during which the server answers no other client. Measured by the server in CPU time,
# since wall time would include other processes.
KEYS_IN_A_STEP = 128
SECONDS_OF_A_STEP = 0.001

# Creates locks as the store does: lock key and last fence. ARGV: an owner id, first, last.
MAKE = """
for n = tonumber(ARGV[2]), tonumber(ARGV[3]) do
  local key = string.format('holdfast:{many/%06d}', n)
  local owner = string.sub(ARGV[1], 1, 17) .. string.format('%016d', n) .. string.sub(ARGV[1], 34)
  redis.call('SET', key, owner, 'PX', 3600000)
  redis.call('SET', key .. ':f', n + 1, 'EX', 86400)
end
"""


class AmongVeryMany(Operator, OnRedis):
    def setUp(self):
        super().setUp()
        self.redis = self.server.client()
        self.hold("first", options=["--label", "nightly"])
        owner = self.redis.get("holdfast:{first}")
        for first in range(0, MANY, 1000):
            self.redis.eval(MAKE, 0, owner, first, first + 999)
        self.redis.config_set("slowlog-log-slower-than", 0)  # it records the arguments of recent commands
        self.redis.config_set("slowlog-max-len", 20_000)

    def calls(self):
        """The number of calls of each command."""
        return {name[len("cmdstat_"):]: each["calls"] for name, each in self.redis.info("commandstats").items()}

    def processor_time(self):
        used = self.redis.info("cpu")
        return used["used_cpu_user_main_thread"] + used["used_cpu_sys_main_thread"]

    def most_memory(self, popen):
        """The peak so far, in KiB."""
        return int(re.search(r"VmHWM:\s*(\d+) kB", pathlib.Path(f"/proc/{popen.pid}/status").read_text())[1])

    def some_more(self, listing):
        """The output so far; empty at its end."""
        rest, listing.lines.rest = listing.lines.rest, b""
        if rest:
            return rest
        self.assertTrue(select.select([listing.stdout], [], [], support.PATIENCE)[0], "nothing more was said")
        return os.read(listing.stdout.fileno(), 1 << 16)

    def test_it_streams_pages_in_bounded_memory(self):
        self.redis.config_resetstat()
        self.redis.slowlog_reset()
        before = self.processor_time()
        listing = self.begin("ls", "many/")
        text = listing.lines.next()
        # It is blocked now, since the pipe is full.
        self.assertLess(self.calls()["get"], MANY, "a name needs one at least: all had been looked at before the first line")
        early = self.most_memory(listing)
        while text.count(b"\n") < MANY * 9 // 10:
            text += self.some_more(listing)
        self.assertLess(self.most_memory(listing) - early, 4096, "memory grows with the number of names")
        text += b"".join(iter(lambda: self.some_more(listing), b""))
        self.assertEqual(listing.wait(support.PATIENCE), 0)
        self.assertEqual({line.split()[0] for line in text.splitlines()}, {b"many/%06d" % n for n in range(MANY)})

        calls, spent = self.calls(), self.processor_time() - before
        steps = [each["command"].split() for each in self.redis.slowlog_get(20_000)]
        self.assertNotIn("keys", calls)
        scans = [int(words[words.index(b"COUNT") + 1]) for words in steps if words[0].upper() == b"SCAN"]
        looks = [int(words[2]) for words in steps if words[0].upper() == b"EVALSHA"]
        self.assertGreater(min(len(scans), len(looks)), 10)
        self.assertLessEqual(max(scans), KEYS_IN_A_STEP)
        self.assertLessEqual(max(looks), KEYS_IN_A_STEP)
        self.assertLess(spent / (calls["scan"] + calls["evalsha"]), SECONDS_OF_A_STEP)


if __name__ == "__main__":
    support.main()
