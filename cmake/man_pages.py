#!/usr/bin/env python3
"""Generates the manual pages from docs/cli.md: holdfast.1, and holdfast-COMMAND.1 of each section `## holdfast COMMAND`.

A heading may name several commands (`## holdfast ls, holdfast show`); each gets the page. Known are headings,
paragraphs, lists, tables, fenced code, `code`, *stress*, **strong**, links and comments: what the document uses.
usage: man_pages.py DOCUMENT VERSION FOLDER
"""
import gzip
import pathlib
import re
import sys

HEADING = re.compile(r"(?m)^## (.+)$")
COMMAND = re.compile(r"\bholdfast ([a-z]+)\b")
INLINE = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|\*(?P<stress>[^*\s][^*]*)\*|\[(?P<text>[^]]+)\]\([^)]*\)")


def escape(text, dash="-"):
    return text.replace("\\", r"\e").replace("-", dash)


def inline(text):
    """One paragraph, as roff."""
    out, at = [], 0
    for match in INLINE.finditer(text):
        out.append(escape(text[at : match.start()]))
        at = match.end()
        if match["code"]:
            out.append(rf"\fB{escape(match['code'], chr(92) + '-')}\fR")
        elif match["strong"]:
            out.append(rf"\fB{inline(match['strong'])}\fR")
        elif match["stress"]:
            out.append(rf"\fI{inline(match['stress'])}\fR")
        else:
            out.append(inline(match["text"]))
    return "".join(out) + escape(text[at:])


def line(text):
    """A line of text, escaped so that roff does not read it as a request."""
    return r"\&" + text if text.startswith((".", "'")) else text


def flowing(lines):
    return line(inline(" ".join(each.strip() for each in lines)))


def cells_of(row):
    return [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]


def table(lines):
    """The first cell is what is meant, the others say what about it: where they are several, with the head of each."""
    heads = cells_of(lines[0])
    for row in lines[2:]:
        first, *others = cells_of(row)
        if len(others) > 1:
            others = [f"{head}: {cell}" if head else cell for head, cell in zip(heads[1:], others) if cell]
        yield ".TP"
        yield line(inline(first))
        yield line(inline("; ".join(filter(None, others)) if len(others) > 1 else "".join(others)) or r"\&")


def items(lines):
    _, *marked = re.split(r"(?m)^(\*|\d+\.) ", "\n".join(lines))
    for mark, item in zip(marked[::2], marked[1::2]):
        yield r".IP \(bu 2" if mark == "*" else f".IP {mark} 4"
        yield flowing(item.split("\n"))


def code(lines):
    yield ".PP"
    yield ".nf"
    for each in lines:
        yield line(escape(each, r"\-"))
    yield ".fi"


def body(text):
    """The lines of roff of a section."""
    fences = re.split(r"(?m)^```.*\n", re.sub(r"(?m)^<!--.*-->\n", "", text))
    for number, part in enumerate(fences):
        if number % 2:
            yield from code(part.rstrip("\n").split("\n"))
            continue
        for block in re.split(r"\n\s*\n", part.strip("\n")):
            lines = block.split("\n")
            alone = re.fullmatch(r"(?:### (.+)|\*\*([^*]+)\*\*)", block.strip())
            if not block.strip():
                continue
            if alone:
                yield f'.SH "{inline(alone[1] or alone[2]).upper()}"'
            elif lines[0].startswith("|"):
                yield from table(lines)
            elif re.match(r"(\*|\d+\.) ", lines[0]):
                yield from items(lines)
            else:
                yield ".PP"
                yield flowing(lines)


def page(name, version, about, synopsis, sections, see):
    out = [f'.TH {name.upper()} 1 "" "holdfast {version}" "Holdfast"', ".SH NAME"]
    out.append(escape(name, r"\-") + r" \- " + about)
    out += [".SH SYNOPSIS", ".nf", *(line(escape(each, r"\-")) for each in synopsis), ".fi"]
    for title, lines in sections:
        out += [f'.SH "{title.upper()}"', *lines]
    out += [".SH SEE ALSO", ", ".join(rf"\fB{escape(name, chr(92) + '-')}\fR(1)" for name in see)]
    return "\n".join(out) + "\n"


def synopsis_of(introduction, command):
    """The usage and the summary of a command: its lines in the first block of code."""
    block = re.search(r"(?ms)^```sh\n(.*?)^```", introduction)
    found = [each.partition("#") for each in block[1].splitlines() if re.match(rf"holdfast {command}\b", each)]
    if not found or not found[0][2]:
        sys.exit(f"the first block of code has no line: holdfast {command} ...  # what it does")
    return [call.rstrip() for call, _, _ in found], escape(found[0][2].strip())


def pages(document, version):
    """File name -> text."""
    introduction, *rest = HEADING.split(document)
    sections = list(zip(rest[::2], rest[1::2]))
    of_commands = [(COMMAND.findall(title), text) for title, text in sections if COMMAND.search(title)]
    names = [f"holdfast-{command}" for commands, _ in of_commands for command in commands]
    made = {}
    for commands, text in of_commands:
        for command in commands:
            calls, about = synopsis_of(introduction, command)
            content = [("Description", body(text))]
            made[f"holdfast-{command}.1"] = page(f"holdfast-{command}", version, about, calls, content, ["holdfast"])
    about = "a lock between processes, for the shell"
    content = [("Description", body(re.sub(r"(?m)^# .*\n", "", introduction)))]
    content += [(title, body(text)) for title, text in sections if not COMMAND.search(title)]
    made["holdfast.1"] = page("holdfast", version, about, ["holdfast COMMAND [options]"], content, names)
    return made


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    document, version, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.1.gz"):
        old.unlink()
    for name, text in pages(document.read_text(encoding="utf-8"), version).items():
        (folder / f"{name}.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
