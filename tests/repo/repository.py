"""Shared by the repository checks: lists and reads files, and prints the problems that were found."""
import concurrent.futures
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CXX = (".cpp", ".hpp")
LEFT_OUT = {".git", "build", "__pycache__"}


def files(*folders, suffixes=CXX):
    """Files under the given folders of the repository (all of it when none is given), as paths relative to it."""
    for folder in folders or (".",):
        for path in sorted((ROOT / folder).rglob("*")):
            relative = path.relative_to(ROOT)
            if path.is_file() and not LEFT_OUT & set(relative.parts) and (not suffixes or path.suffix in suffixes):
                yield relative


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


LITERALS = re.compile(
    r"""//(?:[^\n\\]|\\.|\\\n)*                                # a comment to the end of the line
      | /\*.*?\*/                                              # a comment
      | (?:u8|[uUL])?R"(?P<end>[^()\s\\]{0,16})\(.*?\)(?P=end)"  # a raw string
      | (?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"                       # a string
      | (?<![0-9a-zA-Z_])(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+'      # a character, but not the separator in 10'000
    """,
    re.VERBOSE | re.DOTALL,
)


def without_literals(text):
    """C++ without comments and with empty strings and characters. Line numbers are unchanged."""

    def blank(match):
        found = match.group()
        lines = "\n" * found.count("\n")
        return (" " if found.startswith("/") else "''" if found.endswith("'") else '""') + lines

    return LITERALS.sub(blank, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def in_parallel(function, items):
    """Two at a time: each item starts a compiler."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        return list(pool.map(function, items))


def tell(problems, looked_at):
    """Ends the check. A check that has looked at nothing fails."""
    problems = list(problems)
    for problem in problems:
        print(problem)
    print(f"{looked_at} looked at, {len(problems)} problems")
    sys.exit(1 if problems or not looked_at else 0)
