#!/usr/bin/env python3
"""Every source of a folder compiles alone, so that a build without unity batches works too.

usage: alone.py FOLDER COMPILER [FLAG...]
       alone.py --self-test COMPILER

clang-tidy does the same for src/. The sources of the tests are not checked: that would take minutes.
"""
import pathlib
import subprocess
import sys
import tempfile

import repository


def errors(root, folder, compiler, flags):
    """The compiler's errors, one text per source that has any, and the number of sources."""
    folders = [f"-I{root / name}" for name in ("include", folder)]

    def compile_alone(source):
        answer = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", *flags, *folders, source], cwd=root,
                                capture_output=True, text=True)
        return (answer.stderr or f"{compiler} failed") if answer.returncode else ""

    sources = sorted((root / folder).rglob("*.cpp"))
    return list(filter(None, repository.in_parallel(compile_alone, sources))), len(sources)


def self_test(compiler):
    with tempfile.TemporaryDirectory() as root:
        root = pathlib.Path(root)
        (root / "x" / "y").mkdir(parents=True)
        (root / "x" / "a.cpp").write_text("#include <string>\nstd::string a();\n")
        (root / "x" / "y" / "b.cpp").write_text("#include <string>\nstd::string b();\n")
        assert errors(root, "x", compiler, []) == ([], 2)
        (root / "x" / "y" / "b.cpp").write_text("std::string b();\n")  # compiles after a.cpp only
        found, count = errors(root, "x", compiler, [])
        assert count == 2 and len(found) == 1 and "b.cpp" in found[0]


def main():
    if sys.argv[1:2] == ["--self-test"]:
        return self_test(sys.argv[2])
    repository.tell(*errors(repository.ROOT, sys.argv[1], sys.argv[2], sys.argv[3:]))


if __name__ == "__main__":
    main()
