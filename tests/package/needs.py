#!/usr/bin/env python3
"""A program that links the library needs only SQLite, OpenSSL and the compiler's libraries. usage: needs.py PROGRAM"""
import re
import subprocess
import sys

ALLOWED = {"libsqlite3", "libssl", "libcrypto", "libstdc++", "libgcc_s", "libm", "libc", "ld-linux-x86-64", "ld-linux-aarch64", "linux-vdso"}


def main():
    program = sys.argv[1]
    listing = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    needed = {re.sub(r"\.so.*", "", line.split()[0].rsplit("/", 1)[-1]) for line in listing.splitlines()}
    if "libsqlite3" not in needed:
        return f"{program} does not even need SQLite; is this the right file?"
    more = sorted(needed - ALLOWED)
    return f"{program} also needs {', '.join(more)}" if more else None


if __name__ == "__main__":
    sys.exit(main())
