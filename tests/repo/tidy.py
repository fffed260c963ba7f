#!/usr/bin/env python3
"""Runs clang-tidy over src/. usage: tidy.py CACHE, a folder that remembers which files are clean

clang-tidy takes seconds per file, mostly for the headers of the standard library. A file is checked again only if its
text, one of its headers in this repository, the checks or the program has changed.
"""
import hashlib
import pathlib
import subprocess
import sys

import repository
import layers

FLAGS = ["-std=c++20", f"-I{repository.ROOT}/include", f"-I{repository.ROOT}/src"]


def seen_from(path, seen):
    """The file and all files of this repository that it includes, directly or not."""
    if path not in seen:
        seen.add(path)
        for match in layers.INCLUDE.finditer(repository.read(path)):
            header = layers.resolve(match[1][1:-1], path, layers.exists)
            if header:
                seen_from(header, seen)
    return seen


def look(path, cache, program):
    texts = [program, repository.read(".clang-tidy"), *(repository.read(file) for file in sorted(seen_from(str(path), set())))]
    clean = cache / hashlib.sha256("\0".join([*FLAGS, *texts]).encode()).hexdigest()
    if clean.exists():
        return ""
    command = ["clang-tidy-19", "--quiet", str(path), "--", *FLAGS]
    answer = subprocess.run(command, cwd=repository.ROOT, capture_output=True, text=True)
    if answer.returncode == 0:
        clean.touch()
        return ""
    return answer.stdout + answer.stderr


def main():
    cache = pathlib.Path(sys.argv[1])
    cache.mkdir(parents=True, exist_ok=True)
    program = subprocess.run(["clang-tidy-19", "--version"], capture_output=True, text=True, check=True).stdout
    sources = list(repository.files("src", suffixes=(".cpp",)))
    repository.tell(filter(None, repository.in_parallel(lambda path: look(path, cache, program), sources)), len(sources))


if __name__ == "__main__":
    main()
