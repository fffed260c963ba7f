#!/usr/bin/env python3
"""`holdfast doctor` on real servers and directories, healthy ones and others. usage: doctor_test.py PROGRAM"""
import json
import os
import pathlib
import pty
import re
import shlex
import shutil
import socket
import subprocess
import tempfile

import support
from redis_server import RedisServer

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEVELS = ["fine", "note", "warning", "danger"]
CODES = {"fine": 0, "note": 0, "warning": 1, "danger": 2}
SAFE = ("--appendonly", "yes", "--appendfsync", "always")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Doctor(support.Case):
    def doctor(self, *arguments, **how):
        options = dict(env=self.environment, capture_output=True, text=True, timeout=support.PATIENCE)
        options.update(how)
        return subprocess.run([support.PROGRAM, "doctor", *arguments], **options)

    def examine(self, url, *arguments):
        """All findings by id. Checks that the exit code fits the worst one and that they are sorted by level."""
        run = self.doctor("--store", url, "--json", *arguments)
        self.assertIn(run.returncode, (0, 1, 2), run.stderr)
        said = json.loads(run.stdout)
        self.assertEqual(list(said), ["store", "promises", "findings"])
        levels = [LEVELS.index(each["level"]) for each in said["findings"]]
        self.assertEqual(levels, sorted(levels))
        self.assertEqual(run.returncode, CODES[LEVELS[levels[-1]]], said["findings"][-1])
        for each in said["findings"]:
            fine = each["level"] == "fine"
            self.assertTrue(each["what"], each)
            self.assertEqual((not each["why"], not each["cure"]), (fine, fine), each)
        return {each["id"]: each for each in said["findings"]}

    def levels(self, found):
        return {id: each["level"] for id, each in found.items() if each["level"] != "fine"}


class OnRedis(Doctor):
    def server(self, *options):
        return RedisServer(self, *options)

    def sees(self, id, level, *options):
        """Returns the finding; all others are as on a well configured server."""
        found = self.examine(self.server(*SAFE, *options).url)
        self.assertEqual(self.levels(found), {id: level})
        return found[id]

    def test_a_server_that_keeps_its_locks_is_fine(self):
        server = self.server(*SAFE)
        found = self.examine(server.url)
        self.assertEqual(self.levels(found), {})
        for id in ("version", "eviction", "memory", "persistence", "disk", "role", "replicas", "clients", "timeout",
                   "keepalive", "tls", "password", "commands", "rights", "keys", "clock", "clock_rate"):
            self.assertIn(f"redis.{id}", found)
        keys = server.client().keys("*")
        self.assertTrue(all(key.startswith("holdfast:client:") for key in keys), keys)

    def test_eviction_is_a_danger(self):
        for policy in ("allkeys-lru", "volatile-ttl"):
            seen = self.sees("redis.eviction", "danger", "--maxmemory", "100mb", "--maxmemory-policy", policy)
            self.assertIn(policy, seen["what"])
            self.assertIn("CONFIG SET maxmemory-policy noeviction", seen["cure"])

    def test_eviction_policy_without_maxmemory_is_a_note(self):
        self.sees("redis.eviction", "note", "--maxmemory-policy", "allkeys-lru")

    def test_a_suggested_fix_removes_the_finding(self):
        server = self.server(*SAFE, "--maxmemory", "100mb", "--maxmemory-policy", "volatile-lru")
        cure = self.examine(server.url)["redis.eviction"]["cure"]
        server.client().execute_command(*cure.partition(" (")[0].split())
        self.assertEqual(self.levels(self.examine(server.url)), {})

    def test_almost_full_memory_is_a_warning(self):
        server = self.server(*SAFE)
        used = server.client().info("memory")["used_memory"]
        server.client().config_set("maxmemory", used + used // 100)
        self.assertEqual(self.examine(server.url)["redis.memory"]["level"], "warning")

    def test_persistence_is_rated_by_what_a_restart_loses(self):
        self.assertIn("memory only", self.sees("redis.persistence", "warning", "--appendonly", "no")["what"])
        self.assertIn("snapshot", self.sees("redis.persistence", "warning", "--appendonly", "no", "--save", "60 1")["what"])
        self.sees("redis.persistence", "note", "--appendfsync", "everysec")
        self.sees("redis.persistence", "warning", "--appendfsync", "no")

    def test_too_few_replicas_are_a_danger(self):
        self.assertIn("NOREPLICAS", self.sees("redis.replicas", "danger", "--min-replicas-to-write", "1")["why"])

    def test_idle_timeout_and_missing_keepalive_are_notes(self):
        self.sees("redis.timeout", "note", "--timeout", "10")
        self.sees("redis.keepalive", "note", "--tcp-keepalive", "0")

    def test_judges_a_replica_and_a_primary_with_a_replica(self):
        port = free_port()
        primary = self.server(*SAFE, "--port", str(port), "--bind", "127.0.0.1")
        replica = self.server("--replicaof", f"127.0.0.1 {port}")
        support.until(lambda: primary.client().info("replication").get("slave0", {}).get("state") == "online", "the replica")
        of_replica = self.examine(replica.url)
        self.assertEqual(of_replica["redis.role"]["level"], "danger")
        self.assertIn(f"redis://127.0.0.1:{port}", of_replica["redis.role"]["cure"])
        self.assertEqual(of_replica["redis.rights"]["level"], "fine")
        of_primary = self.examine(primary.url)
        self.assertEqual(self.levels(of_primary), {"redis.replicas": "warning", "redis.takeover": "note"})
        self.assertEqual(of_primary["redis.lag"]["level"], "fine")
        primary.client().config_set("min-replicas-to-write", 1)
        self.assertEqual(self.levels(self.examine(primary.url)), {"redis.takeover": "note"})

    def test_a_missing_command_is_a_danger(self):
        seen = self.sees("redis.commands", "danger", "--rename-command", "SPUBLISH", "")
        self.assertIn("spublish", seen["what"])

    def test_a_lock_without_expiry_is_a_danger(self):
        server = self.server(*SAFE)
        redis = server.client()
        redis.set("holdfast:{stuck}", "somebody")
        redis.set("holdfast:{good}", "somebody", px=60000)
        redis.set("holdfast:{good}:f", "17")
        redis.hset("holdfast:{hash}", "a", "b")
        redis.set("other", "1")
        found = self.examine(server.url)
        self.assertEqual(self.levels(found), {"redis.lock_without_end": "danger", "redis.key_without_end": "warning",
                                              "redis.foreign_key": "warning"})
        self.assertIn("'holdfast:{stuck}'", found["redis.lock_without_end"]["what"])
        self.assertIn("redis-cli DEL 'holdfast:{stuck}'", found["redis.lock_without_end"]["cure"])
        self.assertIn("Of 5 keys that were looked at", found["redis.lock_without_end"]["what"])  # and ours
        self.assertEqual(redis.get("holdfast:{stuck}"), "somebody")

    def test_examines_keys_under_the_configured_prefix(self):
        server = self.server(*SAFE)
        server.client().set("shop[1]:{stuck}", "somebody")
        self.assertEqual(self.levels(self.examine(server.url)), {})
        found = self.examine(server.url + "?prefix=shop%5B1%5D:")
        self.assertEqual(self.levels(found), {"redis.lock_without_end": "danger"})

    def test_limits_the_search_among_many_keys(self):
        server = self.server(*SAFE, "--appendfsync", "no")
        script = "for n = 1, 30000 do redis.call('SET', 'holdfast:{' .. n .. '}', 'x', 'PX', 3600000) end"
        server.client().eval(script, 0)
        seen = self.examine(server.url)["redis.keys"]
        self.assertEqual(seen["level"], "note")
        self.assertRegex(seen["what"], r"^Only [0-9]+ keys")

    # The rights that docs/stores/redis.md recommends.
    def user(self, server, *changes):
        text = (ROOT / "docs/stores/redis.md").read_text()
        rule = re.search(r"^redis-cli ACL SETUSER holdfast [^`]*", text, re.MULTILINE).group()
        words = shlex.split(rule.replace("\\\n", ""))[1:]
        server.client().execute_command(*words, *changes)
        secret = self.folder / "secret"
        secret.write_text("SECRET\n")
        return f"redis+unix://holdfast@{server.socket}?password_file={secret}"

    def test_minimal_rights_cause_notes_about_skipped_checks(self):
        server = self.server(*SAFE)
        url = self.user(server)
        found = self.examine(url)
        self.assertEqual(self.levels(found), {"redis.config": "note", "redis.persistence": "note", "redis.keys": "note"})
        self.assertIn("+config|get", found["redis.config"]["cure"])
        for each in found.values():
            line = re.search(r"ACL SETUSER .*", each["cure"])
            if line:
                server.client().execute_command(*shlex.split(line.group()))
        self.assertEqual(self.levels(self.examine(url)), {})

    def test_names_missing_rights(self):
        server = self.server(*SAFE)
        for change, word in (("-zadd", "+zadd"), ("-evalsha", "+evalsha"), ("-ssubscribe", "+ssubscribe"),
                             ("-pubsub|shardnumsub", "+pubsub|shardnumsub"), ("-script|load", "+script|load"), ("-info", "+info")):
            found = self.examine(self.user(server, change))
            self.assertEqual(found["redis.rights"]["level"], "danger", change)
            self.assertIn(f"ACL SETUSER holdfast {word};", found["redis.rights"]["cure"])

    def test_names_missing_key_and_channel_patterns(self):
        server = self.server(*SAFE)
        keys = self.examine(self.user(server, "resetkeys", "~other:*"))["redis.rights"]
        self.assertIn("ACL SETUSER holdfast '~holdfast:*';", keys["cure"])
        channels = self.examine(self.user(server, "resetchannels"))["redis.rights"]
        self.assertIn("ACL SETUSER holdfast '&holdfast:*';", channels["cure"])

    def test_prints_no_secret(self):
        server = self.server(*SAFE, "--requirepass", "geheim")
        run = self.doctor("--store", f"redis+unix://:geheim@{server.socket}", "-v")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertNotIn("geheim", run.stdout + run.stderr)
        self.assertEqual(self.doctor("--store", f"redis+unix://:wrong@{server.socket}").returncode, 77)

    def test_rejects_a_server_with_a_bad_certificate(self):
        port = free_port()
        certificate, key = self.folder / "crt", self.folder / "key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                        "-keyout", key, "-out", certificate], check=True, capture_output=True)
        self.server(*SAFE, "--tls-port", str(port), "--tls-cert-file", str(certificate), "--tls-key-file", str(key),
                    "--tls-ca-cert-file", str(certificate), "--tls-auth-clients", "no")
        refused = self.doctor("--store", f"rediss://localhost:{port}")
        self.assertEqual(refused.returncode, 77, refused.stderr)
        found = self.examine(f"rediss://localhost:{port}?ca={certificate}")
        self.assertEqual(found["redis.tls"]["level"], "fine")
        self.assertIn("encrypted", found["redis.tls"]["what"])

    def test_an_unreachable_server_is_69(self):
        run = self.doctor("--store", f"redis+unix://{self.folder}/nothing")
        self.assertEqual((run.returncode, run.stdout), (69, ""))
        self.assertTrue(run.stderr.startswith("holdfast: "))


class OnDirectories(Doctor):
    # A temporary folder may be on tmpfs, which causes a note.
    MAY_BE = {"dir.file_system": "note"}

    def not_fine(self, url):
        return {id: level for id, level in self.levels(self.examine(url)).items() if (id, level) not in self.MAY_BE.items()}

    def test_a_directory_of_our_own_is_fine(self):
        self.assertEqual(self.not_fine(self.store), {})
        found = self.examine(self.store)
        for id in ("owner", "above", "file_system", "room", "version", "journal", "remains", "integrity"):
            self.assertIn(f"dir.{id}", found)

    def test_a_directory_in_memory_is_a_note(self):
        folder = tempfile.mkdtemp(prefix="holdfast-cli-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, folder)
        self.assertEqual(self.examine(f"dir:{folder}")["dir.file_system"]["level"], "note")

    def test_a_directory_that_others_can_move_away_is_a_warning(self):
        self.folder.chmod(0o777)
        self.assertEqual(self.not_fine(self.store), {"dir.above": "warning"})
        self.folder.chmod(0o700)
        self.assertEqual(self.not_fine(self.store), {})

    def test_leftovers_of_dead_processes_are_a_note(self):
        self.assert_free()
        for n in range(200):
            self.rows("INSERT INTO session(pid, namespace) VALUES(?, 0)", 1000000 + n)
        found = self.examine(self.store)
        self.assertEqual(found["dir.remains"]["level"], "note")
        self.assertIn("136 sessions", found["dir.remains"]["what"])  # opening it cleans up if there are more than 64

    def test_changes_nothing_while_locks_are_held(self):
        holder = self.hold()
        self.assertEqual(self.not_fine(self.store), {})
        self.assert_held()
        holder.let_go()
        self.assertEqual(holder.code(), 0)

    def test_a_damaged_file_is_78(self):
        self.assert_free()
        for name in ("locks.db", "locks.db-wal", "locks.db-shm"):
            (self.folder / "store" / name).write_bytes(b"x" * 8192)
        self.assertEqual(self.doctor("--store", self.store).returncode, 78)

    def test_a_memory_store_is_rejected(self):
        self.assertEqual(self.doctor("--store", "memory:").returncode, 64)


class Words(Doctor):
    def test_prints_store_guarantees_and_findings_by_severity(self):
        server = RedisServer(self, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru", "--timeout", "5")
        run = self.doctor("--store", server.url)
        self.assertEqual((run.returncode, run.stderr), (2, ""))
        lines = run.stdout.splitlines()
        self.assertEqual(lines[0], server.url)
        self.assertIn("by lease", lines[1])
        order = [line for line in lines if re.match(r"(danger|warning|note|fine)  ", line)]
        self.assertEqual(order, ["danger  redis.eviction", "warning  redis.persistence", "note  redis.timeout"])
        self.assertRegex(lines[-1], r"^[0-9]+ checks are fine \(-v shows them\)$")
        self.assertNotIn("\033", run.stdout)
        everything = self.doctor("--store", server.url, "-v").stdout
        self.assertIn("fine  redis.version", everything)

    def test_prints_nothing_when_quiet(self):
        self.assertEqual(self.outcome("-q", "--store", self.store), (0, "", ""))
        self.assertEqual(self.outcome("-q", "--store", "redis+unix:///nothing/here"), (69, "", ""))
        self.folder.chmod(0o777)
        self.assertEqual(self.outcome("-q", "--json", "--store", self.store), (1, "", ""))

    def outcome(self, *arguments):
        run = self.doctor(*arguments)
        return run.returncode, run.stdout, run.stderr

    def test_the_store_may_be_in_the_environment(self):
        self.environment["HOLDFAST_STORE"] = self.store
        self.assertEqual(json.loads(self.doctor("--json").stdout)["store"], self.store)

    def test_json_has_the_promises(self):
        said = json.loads(self.doctor("--json", "--store", self.store).stdout)
        self.assertEqual(said["promises"], {"exclusion": "kernel", "fair": True, "survives_restart": True,
                                            "notices_death_at_once": True})

    def on_a_terminal(self, **environment):
        ours, its = pty.openpty()
        run = self.doctor("-v", "--store", self.store, env={**self.environment, "TERM": "xterm", **environment},
                          capture_output=False, stdout=its)
        os.close(its)
        said = support.Lines(ours)
        self.addCleanup(said.close)
        self.assertEqual(run.returncode, 0)
        return os.read(ours, 1 << 16).decode()

    def test_uses_colours_on_a_terminal_unless_no_color_is_set(self):
        self.assertIn("\033[", self.on_a_terminal())
        self.assertNotIn("\033[", self.on_a_terminal(NO_COLOR="1"))
        self.assertNotIn("\033[", self.on_a_terminal(TERM="dumb"))

    def test_escapes_control_characters_in_key_names(self):
        server = RedisServer(self, *SAFE)
        server.client().set("holdfast:{\033[2J}", "x")
        run = self.doctor("--store", server.url)
        self.assertEqual(run.returncode, 2)
        self.assertIn("holdfast:{\\x1b[2J}", run.stdout)
        self.assertNotIn("\033", run.stdout)

    def test_wrong_usage_is_64_and_a_bad_store_is_78(self):
        self.assertEqual(self.doctor("--store", self.store, "more").returncode, 64)
        self.assertEqual(self.doctor("--nonsense").returncode, 64)
        self.assertEqual(self.doctor("--store", "nothing:").returncode, 78)


if __name__ == "__main__":
    support.main()
