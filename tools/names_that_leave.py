#!/usr/bin/env python3
# Holds the names that leave a shared library to cmake/libricci.map and its like: `names_that_leave.py LIBRARY…` prints
# every name that is none of ours. A program that links the library may so use another version of LLVM, oneDNN,
# OpenBLAS or JSON.
import re
import subprocess
import sys

OURS = re.compile(r"\b(ricci::|ricci_)")


def main(libraries):
    foreign = []
    for library in libraries:
        symbols = subprocess.run(["nm", "-D", "--defined-only", "-C", library], capture_output=True, text=True, check=True)
        lines = symbols.stdout.splitlines()
        names = [line.split(maxsplit=2)[2] for line in lines]
        if not names:
            sys.exit(f"{library}: no name leaves it")
        foreign += [f"{library}: {name}" for name in names if not OURS.search(name)]
    if foreign:
        sys.exit("\n".join([*foreign[:20], f"names_that_leave: {len(foreign)} finding(s)"]))
    print("names_that_leave: OK")


if __name__ == "__main__":
    main(sys.argv[1:])
