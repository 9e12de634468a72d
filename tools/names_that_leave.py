#!/usr/bin/env python3
# Holds the names that leave a shared library to cmake/libricci.map and its like: `names_that_leave.py LIBRARY…` prints
# every name that is none of ours. A program that links the library may so use another version of LLVM, oneDNN,
# OpenBLAS, JSON or the standard library: std::vector<ricci::Tensor> is none of ours.
import re
import subprocess
import sys

# As the Itanium ABI writes names: of a vtable, thunk, guard or part of a function, the scope comes behind a prefix.
OURS = re.compile(r"ricci_|_Z(T[A-Z]|T[hv]\w*?_|G[VR])?Z*N[KRO]*5ricci")


def main(libraries):
    foreign = []
    for library in libraries:
        symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
        names = [line.split()[2] for line in symbols.stdout.splitlines()]
        if not names:
            sys.exit(f"{library}: no name leaves it")
        foreign += [f"{library}: {name}" for name in names if not OURS.match(name)]
    if foreign:
        shown = subprocess.run(["c++filt"], input="\n".join(foreign[:20]), capture_output=True, text=True, check=True)
        sys.exit("\n".join([shown.stdout.rstrip(), f"names_that_leave: {len(foreign)} finding(s)"]))
    print("names_that_leave: OK")


if __name__ == "__main__":
    main(sys.argv[1:])
