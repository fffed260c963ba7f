#!/usr/bin/env python3
"""Reads with nm what a library calls and what it contains.

usage: symbols.py NM clean LIBRARY    never prints, ends the process or reads the environment (but for a variable that
                                      a URL names); has no seeded bug
       symbols.py NM seeded LIBRARY  has seeded bugs (so that the check above is known to see them)
       symbols.py --self-test
"""
import re
import subprocess
import sys

# Names as nm -C prints them, without version suffixes; the _chk forms are what a hardened build calls instead.
FORBIDDEN = re.compile(
    r"""(__)?(f|v|vf|d|vd)?w?printf(_chk)?
      | (f|_IO_)?puts | f?putw?c | putw?char | fwrite | perror | psignal | (__)?v?syslog(_chk)?
      | stdout | stderr | std::(basic_)?w?(cout|cerr|clog) | std::ios_base::Init::Init\(\)
      | abort | exit | _exit | _Exit | quick_exit | __assert_fail
      | getenv | secure_getenv | setenv | putenv | environ | __environ""",
    re.VERBOSE,
)


# password_env= in a URL names a variable with the password; nothing else reads the environment.
ALLOWED = {("settings.cpp.o", "getenv")}


def problems(listing):
    """Forbidden undefined symbols, and traces of seeded bugs."""
    member = ""
    for line in listing.splitlines():
        if line.endswith(":"):
            member = line[:-1]
        match = re.match(r"(?:[0-9a-f]+ )?\s*([A-Za-z]) (.*)", line)
        if not match:
            continue
        kind, name = match.groups()
        if kind in "Uw" and FORBIDDEN.fullmatch(name.split("@")[0]) and (member, name) not in ALLOWED:
            yield f"calls or reads {name}"
        if "seeded" in name.lower():
            yield f"contains {name}"


def self_test():
    bad = ["U printf", "U __fprintf_chk", "U puts", "U std::cerr", "U abort", "U exit@GLIBC_2.2.5", "U getenv",
           "U stderr", "lease.cpp.o:\nU getenv", "settings.cpp.o:\nU setenv", "0000000000000000 V holdfast::seeded_bug", "U std::ios_base::Init::Init()", "w __environ"]
    good = ["U snprintf", "U std::terminate()", "U __cxa_throw", "0000000000000010 T holdfast::exit(int)",
            "U std::__glibcxx_assert_fail(char const*, int, char const*, char const*)", "U pthread_atfork",
            "settings.cpp.o:\n                 U getenv"]
    assert all(list(problems(line)) for line in bad)
    assert not any(list(problems(line)) for line in good)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    nm, wanted, library = sys.argv[1:]
    listing = subprocess.run([nm, "-C", library], capture_output=True, text=True, check=True).stdout
    if not re.search(r" T holdfast::", listing):
        return f"{library}: no symbols of ours; is this the right file?"
    found = sorted(set(problems(listing)))
    if wanted == "seeded":
        return None if any("seeded" in line for line in found) else f"{library}: no seeded bug to be seen"
    return "\n".join(f"{library}: {line}" for line in found) or None


if __name__ == "__main__":
    sys.exit(main())
