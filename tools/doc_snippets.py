#!/usr/bin/env python3
# The programs of the pages in docs/: `write PAGE PROGRAM` writes the C++ program that the page's blocks are, and
# `compare PAGE BINARY` runs it and holds what it prints against the page's comments. The rules stand in docs/README.md.
# Knows nothing of CMake or of the library.
import re
import subprocess
import sys
from pathlib import Path

PREAMBLE = """#include <ricci/ricci.h>

#include <iostream>

namespace rc = ricci;
using rc::Tensor;
"""
PRINTS = re.compile(r"^.*?// prints (.*)$")
COMMENT = re.compile(r"^\s*//(.*)$")


def blocks_of(page):
    """(kind, section, number of the first line, lines) of each C++ block; kind is `cpp` or `cpp definitions`."""
    kind, section, first, lines = None, 0, 0, []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if kind is None:
            section += line.startswith("## ")
            if line in ("```cpp", "```cpp definitions"):
                kind, first, lines = line[3:], number + 1, []
        elif line == "```":
            yield kind, section, first, lines
            kind = None
        else:
            lines.append(line)


def program_of(page):
    """Definitions stand before main; the other blocks are its body, one scope a section."""
    definitions, body, open_section = [], [], None
    for kind, section, first, lines in blocks_of(page):
        placed = [f'#line {first} "{page.name}"', *lines]
        if kind == "cpp definitions":
            definitions += placed
            continue
        if section != open_section:
            body += ["}", "{"] if open_section is not None else ["{"]
            open_section = section
        body += placed
    closing = ["}"] if open_section is not None else []
    return "\n".join([PREAMBLE, *definitions, "int main() {", *body, *closing, "}", ""])


def promises_of(page):
    """(line number, text) of each comment that says what is printed, with the comment lines right below it."""
    for _, _, first, lines in blocks_of(page):
        promise = None
        for number, line in enumerate(lines, first):
            if match := PRINTS.match(line):
                if promise:
                    yield promise
                promise = (number, match.group(1))
            elif promise and (match := COMMENT.match(line)):
                promise = (promise[0], promise[1] + " " + match.group(1))
            elif promise:
                yield promise
                promise = None
        if promise:
            yield promise


def pattern_of(text):
    """A regular expression in which runs of white space are alike and an ellipsis is any word."""
    return re.compile(r"\s+".join(re.escape(word).replace("…", r"\S*") for word in text.split()) + r"(?=\s|$)")


def compare(page, binary):
    """The first difference between what the program prints and what the page promises; None if there is none."""
    run = subprocess.run([binary], capture_output=True, text=True)
    if run.returncode != 0:
        return f"{page.name}: the program ended with {run.returncode}:\n{run.stdout}{run.stderr}"
    rest = run.stdout.lstrip()
    for line, text in promises_of(page):
        match = pattern_of(text).match(rest)
        if not match:
            return f"{page.name}:{line}: promised\n  {text}\nprinted\n  {rest[: len(text) + 200]}"
        rest = rest[match.end() :].lstrip()
    return f"{page.name}: printed without a promise:\n  {rest[:400]}" if rest else None


def main():
    task, page, file = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    if task == "write":
        file.write_text(program_of(page))
        return 0
    difference = compare(page, file)
    print(difference or "OK")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
