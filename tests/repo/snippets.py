#!/usr/bin/env python3
"""The code in the documents is cut from the examples, which are tested.

A document says where a block comes from, on the line before its fence:

    <!-- snippet: examples/first.cpp:lock -->

and examples/first.cpp has the text between the lines `// [lock]` and `// [/lock]`. In README*.md and docs/guide.md no
C++ block may be without. usage: snippets.py [--fix | --self-test]; --fix rewrites the documents.
"""
import re
import sys
import textwrap

import repository

BLOCK = re.compile(
    r"(?:^<!-- snippet: (?P<file>[\w./-]+):(?P<tag>[\w-]+) -->\n)?^```cpp\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)
MUST_BE_CUT = re.compile(r"README.*\.md|docs/guide.*\.md")


def cut(source, tag):
    """The text of one tag, or None."""
    inside = re.search(rf"^ *// \[{tag}\]\n(.*?)^ *// \[/{tag}\]$", source, re.MULTILINE | re.DOTALL)
    return inside and textwrap.dedent(inside[1])


def compare(path, text, read):
    """Problems of one document, and its text as it should be."""
    problems = []

    def block(match):
        where = f"{path}:{repository.line_of(text, match.start())}"
        if not match["file"]:
            if MUST_BE_CUT.fullmatch(path):
                problems.append(f"{where}: a C++ block that is not cut from an example")
            return match[0]
        source = read(match["file"])
        wanted = cut(source, match["tag"]) if source is not None else None
        if wanted is None:
            problems.append(f"{where}: {match['file']} has no [{match['tag']}]")
            return match[0]
        if wanted != match["code"]:
            problems.append(f"{where}: differs from {match['file']}:{match['tag']}; snippets.py --fix fixes it")
        return f"<!-- snippet: {match['file']}:{match['tag']} -->\n```cpp\n{wanted}```"

    return problems, BLOCK.sub(block, text)


def self_test():
    sources = {"examples/a.cpp": "int main() {\n  // [one]\n  f();\n    g();\n  // [/one]\n}\n"}
    marker = "<!-- snippet: examples/a.cpp:one -->\n"
    right = f"Text\n\n{marker}```cpp\nf();\n  g();\n```\n"
    wrong = right.replace("f();", "h();")
    assert compare("README.md", right, sources.get) == ([], right)
    problems, fixed = compare("README.md", wrong, sources.get)
    assert len(problems) == 1 and fixed == right
    assert compare("README.md", right.replace(":one", ":two"), sources.get)[0]
    assert compare("README.md", right.replace("a.cpp", "b.cpp"), sources.get)[0]
    assert compare("README.md", right.replace(marker, ""), sources.get)[0]
    assert not compare("docs/notes.md", right.replace(marker, ""), sources.get)[0]
    assert not compare("README.md", "```sh\nmake\n```\n", sources.get)[0]


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    read = lambda name: repository.read(name) if (repository.ROOT / name).is_file() else None
    documents = [path for path in repository.files(suffixes=(".md",)) if len(path.parts) == 1 or path.parts[0] == "docs"]
    found = []
    for path in documents:
        text = repository.read(path)
        problems, fixed = compare(str(path), text, read)
        if sys.argv[1:] == ["--fix"] and fixed != text:
            (repository.ROOT / path).write_text(fixed, encoding="utf-8")
            problems = compare(str(path), fixed, read)[0]
        found += problems
    repository.tell(found, len(documents))


if __name__ == "__main__":
    main()
