#!/usr/bin/env python3
"""An example has 40 lines at most, and examples/README.md lists all of them. usage: examples.py [--self-test]"""
import re
import sys

import repository

LIST = "examples/README.md"
MOST = 40
ENTRY = re.compile(r"\]\((\w+\.cpp)\)")


def problems(examples, listing):
    """`examples`: name -> text."""
    for name, text in examples.items():
        lines = text.count("\n")
        if lines > MOST:
            yield f"examples/{name}: {lines} lines; {MOST} at most"
    listed = ENTRY.findall(listing)
    for name in sorted(examples.keys() - set(listed)):
        yield f"{LIST}: {name} is missing"
    for name in sorted(set(listed) - examples.keys()):
        yield f"{LIST}: there is no {name}"
    if len(listed) != len(set(listed)):
        yield f"{LIST}: one is listed twice"


def self_test():
    short, long = "a\n" * MOST, "a\n" * (MOST + 1)
    listing = "| [01](01_a.cpp) | |\n| [02](02_b.cpp) | |\n"
    check = lambda examples, text=listing: list(problems(examples, text))
    assert not check({"01_a.cpp": short, "02_b.cpp": short})
    assert len(check({"01_a.cpp": short, "02_b.cpp": long})) == 1
    assert len(check({"01_a.cpp": short})) == 1
    assert len(check({"01_a.cpp": short, "02_b.cpp": short, "03_c.cpp": short})) == 1
    assert len(check({"01_a.cpp": short, "02_b.cpp": short}, listing + "[again](01_a.cpp)")) == 1


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    examples = {path.name: repository.read(path) for path in repository.files("examples")}
    repository.tell(problems(examples, repository.read(LIST)), len(examples))


if __name__ == "__main__":
    main()
