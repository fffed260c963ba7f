#!/usr/bin/env python3
"""What users can name in code or URLs is in the documents: events, errors, URL schemes and URL options.

usage: documented.py [--self-test]
"""
import re
import sys

import repository

GUIDE, REDIS_PAGE = "docs/guide.md", "docs/stores/redis.md"


def enumerators(text, enum):
    """The enumerators of the first enum of that name."""
    body = re.search(rf"enum class {enum}\b[^{{]*{{(.*?)}};", text, re.DOTALL)
    return re.findall(r"^\s*(\w+)", re.sub(r"//[^\n]*", "", body[1]).replace(",", "\n"), re.MULTILINE) if body else []


def schemes(text):
    """The rows of the table in open.cpp."""
    table = re.search(r"schemes\[\] = {(.*?)\n};", text, re.DOTALL)
    return re.findall(r'{"([\w+]+)",', table[1]) if table else []


def url_options(text):
    """The rows of the table in the settings of Redis."""
    table = re.search(r"\w*options\[\] = {(.*?)\n};", text, re.DOTALL)
    return re.findall(r'{"(\w+)",', table[1]) if table else []


def first_cells(document):
    """What is in backticks in the first cells of the document's tables."""
    cells = re.findall(r"^\| ([^|]*) \|", document, re.MULTILINE)
    return {code for cell in cells for code in re.findall(r"`([^`]+)`", cell)}


def missing(names, document, listed, what):
    if not names:
        yield f"no {what} was found in the sources; does this check still look in the right place?"
    for name in names:
        if name not in listed:
            yield f"{document}: no table has the {what} {name}"


def scheme_problems(names, pages):
    if not names:
        yield "no scheme was found in src/api/open.cpp; does this check still look in the right place?"
    for name in names:
        if not re.search(rf"(?<![\w+]){re.escape(name)}:", pages):
            yield f"docs: neither {GUIDE} nor a page in docs/stores has the scheme {name}:"


def self_test():
    header = ("enum class errc { one = 1, two };\n"
              "struct event {\n  enum class kind {\n    waiting,  ///< why, not\n    left\n  };")
    assert enumerators(header, "kind") == ["waiting", "left"], enumerators(header, "kind")
    assert enumerators(header, "errc") == ["one", "two"], enumerators(header, "errc")
    rows = 'constexpr scheme schemes[] = {\n    {"dir", x, y},\n    {"redis+unix", x, y},\n};'
    assert schemes(rows) == ["dir", "redis+unix"], schemes(rows)
    rows = 'constexpr url_option url_options[] = {\n    {"prefix", {set("8")}},\n    {"db", {}},\n};'
    assert url_options(rows) == ["prefix", "db"], url_options(rows)
    listed = first_cells("| a | b |\n| --- | --- |\n| `waiting`, `left` | `gone` |")
    assert listed == {"waiting", "left"}, listed
    assert not list(missing(["waiting"], "a.md", listed, "event"))
    assert len(list(missing(["gone", "waiting"], "a.md", listed, "event"))) == 1
    assert len(list(missing([], "a.md", listed, "event"))) == 1
    assert not list(scheme_problems(["redis"], "`redis://h`"))
    assert len(list(scheme_problems(["redis"], "`redis+unix://h`, credis:"))) == 1


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    guide, redis_page = first_cells(repository.read(GUIDE)), first_cells(repository.read(REDIS_PAGE))
    pages = repository.read(GUIDE) + "".join(map(repository.read, repository.files("docs/stores", suffixes=(".md",))))
    events = enumerators(repository.read("include/holdfast/observer.hpp"), "kind")
    errors = enumerators(repository.read("include/holdfast/error.hpp"), "errc")
    options = url_options(repository.read("src/redis/protocol/settings.cpp"))
    names = schemes(repository.read("src/api/open.cpp"))
    problems = [*missing(events, GUIDE, guide, "event"), *missing(errors, GUIDE, guide, "errc"),
                *missing(options, REDIS_PAGE, redis_page, "option"), *scheme_problems(names, pages)]
    repository.tell(problems, len(events) + len(errors) + len(options) + len(names))


if __name__ == "__main__":
    main()
