#!/usr/bin/env python3
"""The sources that CMake compiles twice, with and without seeded bugs, are those that see seeded_bugs.hpp.

usage: seeded_sources.py [--self-test]

A source that sees it, directly or through a header, and is not in the list `seeded_sources` of its folder would be
compiled once, without the bug. One that is in the list and does not see it would be compiled twice for nothing.
"""
import re
import sys

import repository
import layers

SWITCH = "src/seeded_bugs.hpp"
LIST = re.compile(r"^set\((common|seeded)_sources\s+([^)]*)\)", re.MULTILINE)
FOLDERS = ("src", "tests/sim")


def resolve(header, includer, exists):
    """Like layers.resolve; sources of the simulator name their headers relative to tests/."""
    return layers.resolve(header, includer, exists) or next(filter(exists, [f"tests/{header}"]), None)


def sees_switch(path, read, exists, seen):
    """True if a file includes seeded_bugs.hpp, directly or not."""
    if path not in seen:
        seen[path] = path == SWITCH  # false for now: an include that comes back here adds nothing
        headers = [resolve(match[1][1:-1], path, exists) for match in layers.INCLUDE.finditer(read(path))]
        seen[path] |= any([sees_switch(header, read, exists, seen) for header in headers if header])
    return seen[path]


def problems(folder, lists, read, exists):
    """The problems of the two lists in a folder's CMakeLists.txt."""
    named = {kind: names.split() for kind, names in LIST.findall(lists)}
    if set(named) != {"common", "seeded"}:
        yield f"{folder}/CMakeLists.txt: common_sources or seeded_sources is missing"
        return
    for kind, sources in named.items():
        for source in sources:
            path = f"{folder}/{source}"
            if source.startswith("$"):  # generated, from Lua
                continue
            if not exists(path):
                yield f"{folder}/CMakeLists.txt: {source} is not there"
            elif sees_switch(path, read, exists, {}) != (kind == "seeded"):
                other = "seeded" if kind == "common" else "common"
                yield f"{folder}/CMakeLists.txt: {source} belongs to {other}_sources, not to {kind}_sources"


def self_test():
    tree = {
        "src/seeded_bugs.hpp": "",
        "src/a.hpp": '#include "b.hpp"\n',
        "src/b.hpp": '#include "seeded_bugs.hpp"\n#include "a.hpp"\n',
        "src/direct.cpp": '#include "seeded_bugs.hpp"\n',
        "src/core/through.cpp": '#include <vector>\n#include "a.hpp"\n',
        "src/plain.cpp": "#include <vector>\n",
        "tests/sim/c.hpp": '#include "seeded_bugs.hpp"\n',
        "tests/sim/x.cpp": '#include "sim/c.hpp"\n',
        "tests/sim/y.cpp": '// #include "sim/c.hpp"\n',
    }

    def check(folder, common, seeded):
        lists = f"set(common_sources\n  {common})\nset(seeded_sources {seeded})\n"
        return list(problems(folder, lists, tree.__getitem__, tree.__contains__))

    assert not check("src", "plain.cpp ${X}/made.cpp", "direct.cpp\n  core/through.cpp")
    assert not check("tests/sim", "y.cpp", "x.cpp")
    for wrong in [("src", "plain.cpp direct.cpp", ""), ("src", "core/through.cpp", "direct.cpp"),
                  ("src", "", "plain.cpp direct.cpp"), ("src", "gone.cpp", ""), ("tests/sim", "x.cpp y.cpp", ""),
                  ("tests/sim", "", "x.cpp y.cpp")]:
        assert len(check(*wrong)) == 1, wrong
    assert list(problems("src", "set(sources a.cpp)", tree.__getitem__, tree.__contains__))


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    found, count = [], 0
    for folder in FOLDERS:
        lists = repository.read(f"{folder}/CMakeLists.txt")
        count += sum(len(names.split()) for _, names in LIST.findall(lists))
        found += problems(folder, lists, repository.read, layers.exists)
    repository.tell(found, count)


if __name__ == "__main__":
    main()
