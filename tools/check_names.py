#!/usr/bin/env python3
# Files of a folder of src/, and those of bench/, are compiled several at a time (cmake/Joined.cmake). So two of them may
# have no type and no constant of one name in the unnamed part of one namespace, nor two meanings of one alias: this finds
# those. Functions of one name are overloads there, of which only the compiler can judge.
import re

from findings import ROOT, report

COMPILED_ALONE = {"kernels", "solve"}
NAMESPACE = re.compile(r"namespace ([\w:]+) \{")
NAMED = re.compile(r"(?:struct|class|enum class) (\w+)|constexpr [\w:<>*]+(?: const)? (\w+)(?:\[\w*\])* =|using (\w+) = .*")


def names_of(text):
    """(line number, (namespace, name), what an alias says) of what the file's unnamed namespaces name."""
    around, inside = "", False
    for number, line in enumerate(text.splitlines(), 1):
        if outer := NAMESPACE.match(line):
            around = outer[1]
        elif line.startswith("namespace {"):
            inside = True
        elif line.startswith("}  // namespace"):
            inside = False
        elif inside and (named := NAMED.match(line)):
            yield number, (around, named[1] or named[2] or named[3]), named[3] and named[0]


def findings():
    folders = [path for path in (ROOT / "src").iterdir() if path.name not in COMPILED_ALONE]
    for folder in sorted([*folders, ROOT / "bench", ROOT / "bench/gradbench"]):
        first = {}
        for path in sorted(folder.glob("*.cpp")):
            text = path.read_text()
            if re.search('^#include "by_hand.h"', text, re.M):  # compiled alone
                continue
            for number, name, alias in names_of(text):
                other, meaning = first.setdefault(name, (path, alias))
                if other != path and (not alias or alias != meaning):
                    yield path, number, f"{other.name} has a `{name[1]}` too: rename one, or put both in one place"


if __name__ == "__main__":
    report("names", findings())
