#!/usr/bin/env python3
"""Every C++ file is as clang-format wants it. usage: format.py [--fix]"""
import subprocess
import sys

import house

fix = sys.argv[1:] == ["--fix"]
paths = list(house.files())
command = ["clang-format-19", *(["-i"] if fix else ["--dry-run", "-Werror", "--ferror-limit=1"]), *map(str, paths)]
answer = subprocess.run(command, cwd=house.ROOT, capture_output=True, text=True)
if answer.returncode:
    print(answer.stderr, "make format mends it", sep="\n")
house.tell(["not formatted"] if answer.returncode else [], len(paths))
