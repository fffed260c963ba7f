#!/usr/bin/env python3
"""Every header compiles on its own, and may be included twice.

usage: headers.py COMPILER CACHE      CACHE: a folder that remembers which headers compile alone
       headers.py --self-test

A header that some source of src/ includes before anything else needs no compiler here: clang-tidy parses each of those
sources alone, and would report what the header does not declare. The other headers are compiled, one process each,
since only the first header of a translation unit gets no help from others. A header is compiled again only if its text,
that of a header of this repository which it includes, or the compiler has changed.
"""
import hashlib
import pathlib
import re
import subprocess
import sys

import repository
import layers
import tidy

FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{repository.ROOT}/include", f"-I{repository.ROOT}/src"]
BEFORE_THE_FIRST_INCLUDE = re.compile(r"(?:\s|//[^\n]*\n|/\*.*?\*/)*", re.DOTALL)


def first_header(source, text, exists):
    """The header of this repository with which a source begins, or None."""
    include = layers.INCLUDE.match(text, BEFORE_THE_FIRST_INCLUDE.match(text).end())
    return layers.resolve(include[1][1:-1], source, exists) if include else None


def is_guarded(text):
    return text.startswith("#pragma once\n")


def compile_alone(header, compiler, cache, version):
    texts = [version, *FLAGS, str(header), *(repository.read(file) for file in sorted(tidy.seen_from(str(header), set())))]
    stands = cache / hashlib.sha256("\0".join(texts).encode()).hexdigest()
    if stands.exists():
        return ""
    source = f'#include "{header.relative_to(header.parts[0])}"\n'
    answer = subprocess.run([compiler, *FLAGS, "-x", "c++", "-"], input=source, capture_output=True, text=True)
    if answer.returncode == 0:
        stands.touch()
        return ""
    return f"{header} does not stand alone:\n{answer.stderr}"


def self_test():
    tree = {"include/holdfast/a.hpp", "src/core/c.hpp", "src/redis/scripts.hpp"}
    first = lambda source, text: first_header(source, text, tree.__contains__)
    assert first("src/core/c.cpp", '#include "core/c.hpp"\n') == "src/core/c.hpp"
    assert first("src/a.cpp", '// Why.\n/* And\nhow. */\n\n#include <holdfast/a.hpp>\n') == "include/holdfast/a.hpp"
    for text in ('#include <vector>\n#include "core/c.hpp"\n', '#define X 1\n#include "core/c.hpp"\n',
                 'int x;\n#include "core/c.hpp"\n', '#include "core/gone.hpp"\n', "int x;\n", ""):
        assert first("src/core/c.cpp", text) is None, text
    assert is_guarded("#pragma once\nint x;\n") and not is_guarded("int x;\n") and not is_guarded("// #pragma once\n")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    compiler, cache = sys.argv[1], pathlib.Path(sys.argv[2])
    cache.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    headers = list(repository.files("include", "src", suffixes=(".hpp",)))
    proven = {first_header(str(path), repository.read(path), layers.exists) for path in repository.files("src", suffixes=(".cpp",))}
    rest = [header for header in headers if str(header) not in proven]
    problems = [f"{header}: does not begin with #pragma once" for header in headers if not is_guarded(repository.read(header))]
    problems += filter(None, repository.in_parallel(lambda each: compile_alone(each, compiler, cache, version), rest))
    repository.tell(problems, len(headers))


if __name__ == "__main__":
    main()
