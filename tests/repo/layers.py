#!/usr/bin/env python3
"""Checks that each folder includes only what the table below allows.

usage: layers.py [--self-test]
"""
import re
import sys

import repository

PUBLIC, RUNTIME, NET, STORAGE, CORE = "include/holdfast", "src/runtime", "src/net", "src/storage", "src/core"
STORES = ["src/zookeeper", "src/etcd", "src/sql", "src/directory", "src/memory", "src/quorum"]
# The folders of the Redis store, each with the others that it may include. The transport asks the sentinels where to
# connect, over a connection of the transport.
REDIS = {"src/redis/" + folder: ["src/redis/" + each for each in above.split()] for folder, above in {
    "protocol": "",
    "transport": "protocol sentinel",
    "sentinel": "protocol transport",
    "cluster": "protocol transport",
    "doctor": "protocol transport sentinel cluster",
    "lock": "protocol transport cluster doctor",
    "redlock": "protocol transport lock",
}.items()}

# Folder -> the folders it may include, besides itself. What is not listed here may not exist.
MAY_INCLUDE = {
    PUBLIC: [],
    RUNTIME: [PUBLIC],
    NET: [RUNTIME, PUBLIC],
    STORAGE: [RUNTIME, PUBLIC],
    CORE: [STORAGE, RUNTIME, PUBLIC],
    **{store: [STORAGE, NET, RUNTIME, PUBLIC] for store in STORES},
    **{folder: [*above, STORAGE, NET, RUNTIME, PUBLIC] for folder, above in REDIS.items()},
    "src/api": [*STORES, *REDIS, CORE, STORAGE, NET, RUNTIME, PUBLIC],
    "src": [],
    "cli": ["cli/config", PUBLIC],
    "cli/config": ["cli", PUBLIC],
    "bench": [PUBLIC],
    "examples": [PUBLIC],
}

# The switch of the seeded bugs is the only header that all of src/ may include.
FOR_ALL_OF_SRC = "src/seeded_bugs.hpp"

# Third-party headers -> the folders or files that include them: only one, if possible.
THIRD_PARTY = {
    r"sqlite3\.h": ("src/directory", "cli", "bench", "examples"),  # the demo and an example sell out of a table
    r"openssl/.*": "src/net",
    r"(postgresql/)?libpq-fe\.h": "src/sql",
    r"((mysql|mariadb)/)?mysql\.h": "src/sql",
    r"zookeeper/.*": "src/zookeeper",
    r"curl/.*": "src/etcd",
    r"CLI/.*": "cli/options/parser.cpp",
    r"nlohmann/.*": "cli/text/json.cpp",
    r"toml\+\+/.*": "cli/config",
}

STANDARD = re.compile(r"[a-z_0-9]+")  # <vector>; not <unistd.h>
SYSTEM = re.compile(
    r"(sys|netinet|arpa|net|linux)/\w+\.h"
    r"|(dirent|errno|fcntl|getopt|malloc|netdb|poll|pthread|pwd|sched|signal|spawn|sysexits|termios|time|unistd)\.h"
)
INCLUDE = re.compile(r'^\s*#\s*include\s*(<[^>]+>|"[^"]+")', re.MULTILINE)


def folder_of(path, table=MAY_INCLUDE):
    """The longest folder of the table that contains the path; None if there is none, or if the table does not know a
    folder below src/."""
    parts = path.split("/")[:-1]
    for length in range(len(parts), 0, -1):
        folder = "/".join(parts[:length])
        if folder in table:
            return None if folder == "src" and length < len(parts) else folder
    return None


def exists(name):
    return (repository.ROOT / name).is_file()


def resolve(header, includer, exists):
    """The file of this repository that an include names, or None."""
    beside = "/".join([*includer.split("/")[:-1], header])
    return next((path for path in (f"include/{header}", f"src/{header}", f"cli/{header}", beside) if exists(path)), None)


def fault(includer, written, exists):
    """The problem of one include, or None."""
    header = written[1:-1]
    home = folder_of(includer)
    if home is None:
        return "is in a folder that the plan does not know"
    target = resolve(header, includer, exists)
    if target:
        folder = folder_of(target)
        if target == FOR_ALL_OF_SRC and home.startswith("src"):
            return None
        return None if folder == home or folder in MAY_INCLUDE[home] else f"may not include {target}"
    if written[0] == '"':
        return f"includes {written}, which is not there"
    for pattern, owner in THIRD_PARTY.items():
        if re.fullmatch(pattern, header):
            owners = owner if isinstance(owner, tuple) else (owner,)
            return None if home in owners or includer in owners else f"includes {written}, which belongs to {' and '.join(owners)}"
    if STANDARD.fullmatch(header):
        return None
    if home == PUBLIC:
        return f"includes {written}; public headers include the standard library and one another"
    return None if SYSTEM.fullmatch(header) else f"includes {written}, which the plan does not know"


def self_test():
    tree = {"include/holdfast/a.hpp", "src/seeded_bugs.hpp", "src/api/service.hpp", "src/core/c.hpp", "src/storage/claim.hpp",
            "src/redis/lock/r.hpp", "src/memory/m.hpp", "src/runtime/task.hpp", "src/net/url.hpp", "bench/b.hpp"}
    allowed = """
        src/core/x.cpp "storage/claim.hpp"
        src/core/x.cpp <holdfast/a.hpp>
        src/core/x.cpp "seeded_bugs.hpp"
        src/redis/lock/x.cpp "net/url.hpp"
        src/runtime/x.cpp "holdfast/a.hpp"
        src/runtime/x.cpp <sys/epoll.h>
        src/directory/x.cpp <sqlite3.h>
        src/redis/redlock/x.cpp "redis/lock/r.hpp"
        src/api/x.cpp "redis/lock/r.hpp"
        src/api/x.cpp "api/service.hpp"
        bench/x.cpp "b.hpp"
        cli/x.cpp <vector>
        cli/options/parser.cpp <CLI/CLI.hpp>
        cli/config/x.cpp <toml++/toml.h>"""
    refused = """
        src/core/x.cpp "redis/lock/r.hpp"
        src/core/x.cpp "api/service.hpp"
        src/core/x.cpp "net/url.hpp"
        src/core/x.cpp <sqlite3.h>
        src/redis/lock/x.cpp "memory/m.hpp"
        src/redis/lock/x.cpp "core/c.hpp"
        src/net/x.cpp "storage/claim.hpp"
        src/net/x.cpp <boost/asio.hpp>
        src/runtime/x.cpp "net/url.hpp"
        src/new/x.cpp <vector>
        src/redis/protocol/x.cpp "redis/lock/r.hpp"
        src/redis/x.cpp <vector>
        src/x.cpp "core/c.hpp"
        src/x.cpp "gone.hpp"
        include/holdfast/x.hpp "seeded_bugs.hpp"
        include/holdfast/x.hpp <unistd.h>
        cli/run/x.cpp <toml++/toml.h>
        cli/options/x.cpp <CLI/CLI.hpp>
        bench/x.cpp "core/c.hpp"
        bench/x.cpp <seeded_bugs.hpp>"""
    for line in allowed.split("\n")[1:]:
        assert fault(*line.split(), tree.__contains__) is None, line
    for line in refused.split("\n")[1:]:
        assert fault(*line.split(), tree.__contains__), line


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    problems, count = [], 0
    for path in repository.files("include", "src", "cli", "bench", "examples"):
        count += 1
        text = repository.read(path)
        for match in INCLUDE.finditer(text):
            wrong = fault(str(path), match[1], exists)
            if wrong:
                problems.append(f"{path}:{repository.line_of(text, match.start(1))}: {wrong}")
    repository.tell(problems, count)


if __name__ == "__main__":
    main()
