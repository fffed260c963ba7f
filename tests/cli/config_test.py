"""The configuration: which store is used, where it comes from, and which files are rejected."""
import json
import os
import subprocess

import support


class Configured(support.Case):
    """Has a folder for the user's files, and can set HOLDFAST_CONFIG."""

    def setUp(self):
        super().setUp()
        self.file = self.folder / "holdfast.toml"

    def say(self, text, path=None, mode=0o600):
        path = path or self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        if path == self.file:
            self.environment["HOLDFAST_CONFIG"] = str(path)
        return path

    def holdfast(self, *arguments, **how):
        how = {"env": self.environment, **how}
        return subprocess.run([support.PROGRAM, *arguments], capture_output=True, text=True, timeout=30, **how)

    def in_force(self, *arguments, **how):
        done = self.holdfast("config", "--json", *arguments, **how)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def store_of_a_run(self, *arguments):
        done = self.holdfast("run", *arguments, "lock", "--", "printenv", "HOLDFAST_STORE")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def assert_refused(self, *words, arguments=("run", "lock", "--", "true")):
        done = self.holdfast(*arguments)
        self.assertEqual(done.returncode, 78, done.stderr)
        self.assertTrue(done.stderr.startswith("holdfast: "), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        for word in words:
            self.assertIn(word, done.stderr)
        return done.stderr


class TheStore(Configured):
    def setUp(self):
        super().setUp()
        for name in ("prod", "test", "plain"):
            setattr(self, name, f"dir:{self.folder}/{name}")
        self.say(f'default = "prod"\n[stores.prod]\nurl = "{self.prod}"\nttl = "30s"\n[stores.test]\nurl = "{self.test}"\n')

    def test_comes_from_option_then_variable_then_file(self):
        self.assertEqual(self.store_of_a_run(), self.prod)
        self.environment["HOLDFAST_STORE"] = "test"
        self.assertEqual(self.store_of_a_run(), self.test)
        self.environment["HOLDFAST_STORE"] = self.plain
        self.assertEqual(self.store_of_a_run(), self.plain)
        self.assertEqual(self.store_of_a_run("--store", "test"), self.test)
        self.assertEqual(self.store_of_a_run("--store", self.store), self.store)

    def test_config_json_says_where_values_come_from(self):
        self.assertEqual(self.in_force()["store"], {"value": "prod", "from": f"{self.file}:1"})
        self.assertEqual(self.in_force()["url"], {"value": self.prod, "from": f"{self.file}:3"})
        self.assertEqual(self.in_force()["ttl"], {"value": "30s", "from": f"{self.file}:4"})
        self.environment["HOLDFAST_STORE"] = "test"
        self.assertEqual(self.in_force()["store"]["from"], "HOLDFAST_STORE")
        self.assertEqual(self.in_force()["ttl"], {"value": "10s", "from": "built in"})
        self.assertEqual(self.in_force("--store", "prod")["store"], {"value": "prod", "from": "--store"})
        self.assertEqual(self.in_force("--store", self.plain)["url"], {"value": self.plain, "from": "--store"})
        self.assertEqual([store["name"] for store in self.in_force()["stores"]], ["prod", "test"])
        self.assertEqual(self.in_force()["files"], [{"path": str(self.file), "read": True}])

    def test_config_text_says_where_values_come_from(self):
        done = self.holdfast("config")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[0].split(), ["store", "prod", f"{self.file}:1"])
        self.assertIn(f"{self.file}: read", done.stdout)

    def test_defaults_to_the_directory_of_the_user(self):
        self.environment["HOLDFAST_CONFIG"] = ""
        force = self.in_force()
        self.assertEqual(force["url"], {"value": f"dir:/var/tmp/holdfast-{os.getuid()}", "from": "built in"})
        self.assertEqual((force["stores"], force["files"]), ([], []))

    def test_a_mistyped_name_gets_a_suggestion(self):
        self.assert_refused("--store: there is no store 'prdo'; did you mean 'prod'?",
                            arguments=("run", "--store", "prdo", "lock", "--", "true"))
        self.environment["HOLDFAST_STORE"] = "staging"
        self.assert_refused("HOLDFAST_STORE: there is no store 'staging'; there are: prod, test")

    def test_a_name_without_a_file_is_an_error_that_suggests_a_url(self):
        self.environment["HOLDFAST_CONFIG"] = ""
        self.assert_refused("no store 'prod'", "give a URL", arguments=("run", "--store", "prod", "lock", "--", "true"))

    def test_a_url_ignores_a_broken_file(self):
        self.say("invalid TOML")
        self.assertEqual(self.store_of_a_run("--store", self.store), self.store)

    def test_ttl_option_overrides_the_ttl_of_the_file(self):
        self.say(f'default = "a"\n[stores.a]\nurl = "{self.prod}"\nttl = "1ms"\n')
        done = self.holdfast("run", "lock", "--", "true")
        self.assertEqual(done.returncode, 64)
        self.assertIn("between 10 ms and 24 h", done.stderr)
        self.assertEqual(self.holdfast("run", "--ttl", "1s", "lock", "--", "true").returncode, 0)

    def test_a_nested_run_gets_the_ttl_only_by_store_name(self):
        self.say(f'default = "a"\n[stores.a]\nurl = "{self.prod}"\nttl = "30s"\n')
        for arguments, ttl in (([], "10s"), (["--store", "a"], "30s")):
            done = self.holdfast("run", "lock", "--", support.PROGRAM, "config", "--json", *arguments)
            self.assertEqual((json.loads(done.stdout)["ttl"]["value"], done.returncode), (ttl, 0))

    def test_memory_store_is_rejected_from_every_source(self):
        self.say('default = "memory:"\n')
        self.assert_refused(f"{self.file}:1: memory: exists inside one process")
        self.environment["HOLDFAST_STORE"] = "memory:"
        self.assert_refused("HOLDFAST_STORE: memory: exists inside one process")

    def test_demo_accepts_a_store_name(self):
        done = self.holdfast("demo", "--store", "prdo")
        self.assertEqual(done.returncode, 78)
        self.assertIn("did you mean 'prod'?", done.stderr)


class TheFiles(Configured):
    def with_system_file(self, *arguments):
        """The configuration in a mount namespace where self.folder/etc is /etc."""
        script = 'mount --bind "$1" /etc && shift && exec "$@"'
        words = ["unshare", "--mount", "sh", "-c", script, "sh", self.folder / "etc", support.PROGRAM, "config", "--json"]
        done = subprocess.run([*words, *arguments], env=self.environment, capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_user_file_overrides_the_system_file(self):
        self.environment.update(HOME=str(self.folder), XDG_CONFIG_HOME="")
        del self.environment["HOLDFAST_CONFIG"]
        system = 'default = "a"\n[stores.a]\nurl = "dir:/system/a"\nttl = "20s"\n[stores.b]\nurl = "dir:/system/b"\n'
        self.say(system, self.folder / "etc/holdfast.toml", 0o644)
        force = self.with_system_file()
        self.assertEqual(force["url"], {"value": "dir:/system/a", "from": "/etc/holdfast.toml:3"})
        users = self.say('[stores.a]\nurl = "dir:/user/a"\n', self.folder / ".config/holdfast/config.toml")
        force = self.with_system_file()
        self.assertEqual(force["store"], {"value": "a", "from": "/etc/holdfast.toml:1"})
        self.assertEqual(force["url"], {"value": "dir:/user/a", "from": f"{users}:2"})
        self.assertEqual(force["ttl"]["from"], "built in")  # the whole store entry is the user's
        self.assertEqual([store["url"] for store in force["stores"]], ["dir:/user/a", "dir:/system/b"])
        self.say('default = "b"\n', users)
        force = self.with_system_file()
        self.assertEqual(force["store"], {"value": "b", "from": f"{users}:1"})
        self.assertEqual(force["url"], {"value": "dir:/system/b", "from": "/etc/holdfast.toml:6"})
        self.assertEqual(force["files"], [{"path": str(users), "read": True}, {"path": "/etc/holdfast.toml", "read": True}])

    def test_user_file_is_found_by_the_xdg_rules(self):
        del self.environment["HOLDFAST_CONFIG"]
        path = self.say(f'default = "{self.store}"\n', self.folder / "xdg/holdfast/config.toml")
        self.environment.update(HOME="/nonexistent", XDG_CONFIG_HOME=str(self.folder / "xdg"))
        self.assertEqual(self.in_force()["url"], {"value": self.store, "from": f"{path}:1"})

    def test_a_missing_file_in_holdfast_config_is_an_error(self):
        self.environment["HOLDFAST_CONFIG"] = str(self.folder / "none")
        self.assert_refused("HOLDFAST_CONFIG", "none", "does not exist")

    def test_a_file_writable_by_others_is_rejected(self):
        for mode in (0o620, 0o602, 0o666):
            self.say(f'default = "{self.store}"\n', mode=mode)
            self.assert_refused("other users can write to it", f"chmod go-w {self.file}")

    def test_a_file_of_another_user_is_rejected(self):
        self.say(f'default = "{self.store}"\n')
        os.chown(self.file, 12345, 12345)
        self.assert_refused("belongs to user 12345")

    def test_a_fifo_or_directory_is_rejected_at_once(self):
        os.mkfifo(self.file)
        self.environment["HOLDFAST_CONFIG"] = str(self.file)
        self.assert_refused("is not a regular file")
        self.environment["HOLDFAST_CONFIG"] = str(self.folder)
        self.assert_refused("is not a regular file")

    def test_are_not_read_unless_a_store_is_opened(self):
        self.say("invalid TOML")
        for arguments in (["--version"], ["--help"], ["run", "--help"]):
            self.assertEqual(self.holdfast(*arguments).returncode, 0)

    def test_errors_name_the_line_of_a_bad_entry(self):
        store = f'[stores.a]\nurl = "{self.store}"\n'
        for text, *words in (
            (store + 'pasword_file = "/x"\n', ":3: unknown key 'pasword_file'; did you mean 'password_file'?"),
            ('\ndefalt = "a"\n', ":2: unknown key 'defalt'; did you mean 'default'? There are: default, stores"),
            ("colour = 1\n", ":1: unknown key 'colour'; there are: default, stores"),
            ("default = 1\n", ":1: 'default' must be a string"),
            ('default = ""\n', ":1: 'default' must be a string"),
            ('stores = "a"\n', ":1: 'stores' must be a table"),
            ("[stores]\na = 1\n", ":2: 'stores.a' must be a table"),
            ("[stores.a]\n", ":1: the store 'a' has no url"),
            ('[stores."a:b"]\nurl = "dir:/x"\n', ":1: a store name"),
            (store + 'ttl = "soon"\n', ":3: 'ttl' is not a duration"),
            (store + "ttl = 3\n", ":3: 'ttl' must be a string"),
            (store + 'password_file = "x"\n', ":3: 'password_file' must be an absolute path"),
            (store + 'password_file = "/x"\n', ":3: 'password_file' is for a server"),
            ('x = "a\n', ":1: invalid TOML"),
            ("[~]\n", ":1: invalid TOML"),
            ('url = [1, 0o[-a."ö"]\n', ":1: invalid TOML: accented letters"),
            ('stores."ö".x="ö"\n', ":1: unknown key 'x'"),
            ('default = 1"ö"\n', ":1: invalid TOML: accented letters"),
            ('# größe\n"größe" = 1\n', ":2: unknown key"),
            ('# größe\n[stores.größe]\nurl = "x"\n', ":2: invalid TOML: accented letters"),
            ("default = 'a'\n\ndefault = \"\"\"\n\\\"\"\"\"ö\n", ":4: invalid TOML: accented letters"),
            ("[[~stores.a]]\n", ":1: invalid TOML"),
            ("[stores.]\n", ":1: invalid TOML"),
            ("[stores.a\n", ":1: invalid TOML"),
            ('a = 1\na = 2\n', ":2: invalid TOML"),
        ):
            self.say(text)
            self.assert_refused(str(self.file) + words[0])

    def test_an_unknown_default_store_is_reported_with_its_line(self):
        self.say(f'default = "b"\n[stores.a]\nurl = "{self.store}"\n')
        self.assert_refused(f"{self.file}:1: there is no store 'b'")


class Secrets(Configured):
    def test_are_never_shown(self):
        self.say('default = "a"\n[stores.a]\nurl = "redis://user:hunter2@127.0.0.1:1/2?prefix=x"\n')
        for arguments in (["config"], ["config", "--json"], ["run", "-n", "lock", "--", "true"], ["complete", "--", "run", "--store", ""]):
            done = self.holdfast(*arguments)
            self.assertNotIn("hunter2", done.stdout + done.stderr)
        self.assertEqual(self.in_force()["url"]["value"], "redis://user@127.0.0.1:1/2?prefix=x")

    def test_are_not_quoted_in_errors(self):
        for text in ('url = redis://:hunter2@host\n', '[stores.a]\nurl = "redis://:hunter2@host\n',
                     '[stores.a]\nurl = "redis://:hunter2@host"\nurl = "redis://:hunter2@host"\n',
                     '[stores.a]\nurl = hunter2\n', 'default = "hunter2@host"\n', '[stores.a]\nurl = ["hunter2"]\n',
                     '"redis://:hunter2@host" = "a"\n', '[stores.a]\nurl = "dir:/x"\n"://:hunter2@host" = 1\n'):
            self.say(text)
            self.assertNotIn("hunter2", self.assert_refused())

    def test_readable_by_others_cause_a_warning(self):
        text = 'default = "a"\n[stores.a]\nurl = "redis://:hunter2@127.0.0.1:1"\n[stores.b]\nurl = "redis://:hunter2@127.0.0.1:1"\n'
        self.say(text, mode=0o644)
        warning = f"holdfast: {self.file}:3: other users can read the password of 'a'; run chmod go-r"
        done = self.holdfast("run", "-n", "lock", "--", "true")
        self.assertIn(warning, done.stderr)
        self.assertNotIn("'b'", done.stderr)  # it is not used
        self.assertIn("'b'", self.holdfast("config").stderr)
        self.assertEqual(self.holdfast("run", "-q", "-n", "lock", "--", "true").stderr, "")
        self.assertEqual(self.holdfast("run", "-n", "--store", self.store, "lock", "--", "true").stderr, "")
        self.say(text, mode=0o600)
        self.assertNotIn("others may read", self.holdfast("run", "-n", "lock", "--", "true").stderr)

    def test_a_file_without_a_password_may_be_world_readable(self):
        self.say(f'default = "{self.store}"\n[stores.b]\nurl = "redis://host"\npassword_file = "/x"\n', mode=0o644)
        self.assertEqual(self.holdfast("config").stderr, "")

    def test_password_file_opens_the_store_also_in_nested_runs(self):
        import redis_server

        password = self.folder / "pass word"
        password.write_text("hunter2\n")
        server = redis_server.RedisServer(self, "--requirepass", "hunter2")
        for url in (server.url, server.url + "?db=2"):
            self.say(f'default = "a"\n[stores.a]\nurl = "{url}"\npassword_file = "{password}"\n', mode=0o644)
            done = self.holdfast("run", "a", "--", support.PROGRAM, "run", "b", "--", "true")
            self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    support.main()
