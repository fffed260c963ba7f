#!/usr/bin/env python3
"""Tries the forms that g++ 12 rejects, or for which it lets the stack overflow.

They cannot stand in the executable beside the others. usage: outside.py COMPILER gcc12|right|unknown
"""
import pathlib
import resource
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ADVICE = "The compiler has changed: correct the list, and see whether the await rule can be relaxed or must grow."


def compile_(compiler, *arguments):
    command = [compiler, "-std=c++20", f"-I{HERE.parent}", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def refused_forms(compiler, gcc12):
    """The first line of each file has the error message of g++ 12."""
    for source in sorted((HERE / "refused").glob("*.cpp")):
        words = source.read_text().splitlines()[0].removeprefix("// g++ 12 says: ")
        answer = compile_(compiler, "-c", source, "-o", "/dev/null")
        if gcc12:
            yield source.name, f"refused: {words}", answer.returncode != 0 and words in answer.stderr, answer.stderr
        else:
            yield source.name, "compiled", answer.returncode == 0, answer.stderr


def symmetric_transfer(compiler, gcc12):
    """The stack has the usual 8 MiB."""

    def small_stack():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))

    for level in ("-O0", "-O1", "-O2"):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "symmetric_transfer"
            built = compile_(compiler, level, HERE / "symmetric_transfer.cpp", "-o", program)
            status = subprocess.run([program], preexec_fn=small_stack).returncode if built.returncode == 0 else 1
        overflows = gcc12 and level != "-O2"
        wanted = "a stack overflow" if overflows else "an even stack"
        yield f"symmetric_transfer.cpp at {level}", wanted, (status < 0) if overflows else (status == 0), built.stderr


def main():
    compiler, kind = sys.argv[1:]
    failed = False
    for check in (refused_forms, symmetric_transfer):
        for name, wanted, as_wanted, said in check(compiler, kind == "gcc12"):
            print(f"{name}: {wanted}{'' if as_wanted else ': NO'}")
            if not as_wanted and kind != "unknown":
                failed = True
                print(said[-2000:], ADVICE, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
