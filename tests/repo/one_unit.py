#!/usr/bin/env python3
"""All sources of a folder compile as one translation unit, so that no unity batch can fail, however files move.

usage: one_unit.py FOLDER COMPILER [FLAG...]
       one_unit.py --self-test COMPILER
"""
import pathlib
import subprocess
import sys
import tempfile

import repository

# In a unity build g++ treats sources as headers, and warns of their types with anonymous members.
FLAGS = ["-std=c++20", "-fsyntax-only", "-Wno-subobject-linkage", "-Werror"]


def complaints(root, folder, compiler, flags):
    """The output of the compiler for all sources of the folder together, and their number."""
    sources = sorted((root / folder).rglob("*.cpp"))
    unit = "".join(f'#include "{source}"\n' for source in sources)
    folders = [f"-I{root / name}" for name in ("include", folder, ".")]
    answer = subprocess.run([compiler, *FLAGS, *flags, *folders, "-x", "c++", "-"], input=unit, capture_output=True,
                            text=True)
    return (answer.stderr or f"{compiler} failed" if answer.returncode else ""), len(sources)


def self_test(compiler):
    one = "namespace a { namespace { int most() { return 1; } } int first() { return most(); } }\n"
    other = "namespace a { namespace { int least() { return 1; } } int second() { return least(); } }\n"
    with tempfile.TemporaryDirectory() as root:
        root = pathlib.Path(root)
        (root / "x" / "y").mkdir(parents=True)
        (root / "x" / "one.cpp").write_text(one)
        (root / "x" / "y" / "other.cpp").write_text(other)
        assert complaints(root, "x", compiler, ["-Wall"]) == ("", 2)
        (root / "x" / "y" / "other.cpp").write_text(other.replace("least", "most"))
        assert "redefinition" in complaints(root, "x", compiler, [])[0]
        (root / "x" / "y" / "other.cpp").write_text("int twice(int a) { { int a = 1; return a; } }\n")
        assert "shadows" in complaints(root, "x", compiler, ["-Wshadow"])[0]


def main():
    if sys.argv[1:2] == ["--self-test"]:
        return self_test(sys.argv[2])
    said, count = complaints(repository.ROOT, sys.argv[1], sys.argv[2], sys.argv[3:])
    repository.tell([said] if said else [], count)


if __name__ == "__main__":
    main()
