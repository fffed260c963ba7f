#!/usr/bin/env python3
"""No two types of a namespace have the same name: the linker would silently merge their functions.

usage: one_name.py [--self-test]
"""
import collections
import re
import sys

import repository

SCOPES = re.compile(
    r"""\bnamespace\s*(?P<namespace>[\w:]*)\s*\{
      | \b(?:struct|class|union|enum(?:\s+class|\s+struct)?)\s+(?:\[\[.*?\]\]\s*|alignas\s*\([^)]*\)\s*)*
        (?P<type>\w[\w:]*(?:\s*<[^;{}()]*>)?)\s*(?:final\b\s*)?(?::(?!:)[^;{}]*)?\{
      | (?P<open>\{)
      | (?P<close>\})
    """,
    re.VERBOSE,
)


def types(text):
    """(namespace and name, line) of each type in a named namespace. Other types are local to a file, a type or a function."""
    text = repository.without_literals(text)
    scopes = []  # names of namespaces; None: anything else
    for match in SCOPES.finditer(text):
        if match["close"]:
            scopes and scopes.pop()
        elif match["namespace"] is not None:
            scopes.append(match["namespace"] or None)
        else:
            if match["type"] and None not in scopes:
                yield "::".join([*scopes, "".join(match["type"].split())]), repository.line_of(text, match.start())
            scopes.append(None)


def problems(texts):
    """The problems of (file, text) pairs."""
    places = collections.defaultdict(list)
    for path, text in texts:
        for name, line in types(text):
            places[name].append(f"{path}:{line}")
    for name, those in places.items():
        if len(those) > 1:
            yield f"{those[0]}: {name} is defined here and at {', '.join(those[1:])}; give one another name"


def self_test():
    def found(*texts):
        return len(list(problems((f"{n}.hpp", text) for n, text in enumerate(texts))))

    one = "namespace a::b {\nstruct window { int x{1}; };\n}"
    for other in (
        "namespace a::b { struct window { bool y; }; }",
        "namespace a { namespace b { class [[nodiscard]] window final : public x<y> { }; } }",
        "namespace a::b { void f() { if (x) { } } enum class window : int { one }; }",
        "namespace a::b { template <class T> class window { }; }",
        'namespace a::b { const char* s = "}"; union window { }; }',
    ):
        assert found(one, other) == 1, other
    for other in (
        "namespace a::b { struct window; class window* f(struct window w); }",
        "namespace a { struct window { }; }",
        "namespace a::b { namespace { struct window { }; } }",
        "namespace a::b { struct wall { struct window { }; }; void f() { struct window { }; } }",
        "namespace a::b { struct wall::window { }; template <> struct window<int> { }; } // struct window { };",
        "namespace w = a::b; using window = a::b::window;",
    ):
        assert found(one, other) == 0, other
    assert [line for _, line in types(one)] == [2]


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    paths = list(repository.files("include", "src", "cli"))
    repository.tell(problems((path, repository.read(path)) for path in paths), len(paths))


if __name__ == "__main__":
    main()
