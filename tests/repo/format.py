#!/usr/bin/env python3
"""Every C++ file is formatted by clang-format. usage: format.py [--fix]"""
import subprocess
import sys

import repository

fix = sys.argv[1:] == ["--fix"]
paths = list(repository.files())
command = ["clang-format-19", *(["-i"] if fix else ["--dry-run", "-Werror", "--ferror-limit=1"]), *map(str, paths)]
answer = subprocess.run(command, cwd=repository.ROOT, capture_output=True, text=True)
if answer.returncode:
    print(answer.stderr, "make format fixes it", sep="\n")
repository.tell(["not formatted"] if answer.returncode else [], len(paths))
