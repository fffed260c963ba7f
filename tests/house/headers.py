#!/usr/bin/env python3
"""Every header compiles on its own, and twice in one file. usage: headers.py COMPILER"""
import subprocess
import sys

import house


def compile_alone(header):
    name = header.relative_to(header.parts[0])
    command = [sys.argv[1], "-std=c++20", "-Wall", "-Wextra", "-fsyntax-only", f"-I{house.ROOT}/include",
               f"-I{house.ROOT}/src", "-x", "c++", "-"]
    source = f'#include "{name}"\n' * 2
    answer = subprocess.run(command, input=source, capture_output=True, text=True)
    return "" if answer.returncode == 0 and not answer.stderr else f"{header} does not stand alone:\n{answer.stderr}"


headers = list(house.files("include", "src", suffixes=(".hpp",)))
house.tell(filter(None, house.in_parallel(compile_alone, headers)), len(headers))
