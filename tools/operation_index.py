#!/usr/bin/env python3
# The index of operations, docs/reference/operations.md, made of the declarations and comments of include/ricci/ops/*.h: `write`
# writes it, `check` says whether it is what the headers say. Knows the headers' form, not C++.
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/operations.md"
SECTION = re.compile(r"^// ── (.*?)( ──)?$")
NAME = r"(?P<name>[a-z]\w*)"
FUNCTION = re.compile(r"^(?:inline )?(?:[\w:<>, ]+?[>&]? |const Tensor& |Tensor )" + NAME + r"\((?P<arguments>.*?)\)\s*[;{]")
SAMPLER = re.compile(r"^RICCI_SAMPLER_OF_(?:ONE|TWO)\(" + NAME + r", (?P<arguments>.*?)\)$")
OPENING = """# Index of operations

`./dev index` makes this page of the headers in `include/ricci/ops/`. The page lists all operations by header and
section, with the names of their arguments. The headers say the rest: shapes, types, errors, bounds.
"""


def with_defaults(arguments):
    """`const Tensor& x, std::int64_t dim = 0` → [`const Tensor& x`, `std::int64_t dim = 0`]."""
    depth, parts, part = 0, [], ""
    for letter in arguments:
        depth += letter in "<({"
        depth -= letter in ">)}"
        if letter == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += letter
    parts.append(part)
    return [p.strip() for p in parts if p.strip()]


def parameters_of(arguments):
    """The same without defaults: [`const Tensor& x`, `std::int64_t dim`]."""
    return [re.sub(r"\s*=.*$", "", p) for p in with_defaults(arguments)]


def argument_names(arguments):
    """`const Tensor& x, std::int64_t dim` → `x, dim`; an argument without a name is shown by its type."""
    words = parameters_of(arguments)
    return ", ".join("options" if w.endswith("Options") else re.split(r"[\s&*]+", w)[-1] for w in words)


def first_sentence(text):
    match = re.match(r"(.*?[.])(?:\s|$)", text)
    return (match.group(1) if match else text).rstrip(".:").replace("|", "\\|")


def name_of(statement):
    match = SAMPLER.match(statement) or FUNCTION.match(statement)
    return match["name"] if match else ""


def statements(path):
    """(section, text, declaration) of each declaration in the header, up to its `;` or its body. The text is what stands
    behind the declaration, or right above it. Where nothing does, it is "As f" after an f with a text above and no empty
    line between: that comment is for all of them. A declaration whose comment begins "Does not compile", for wrong
    calls, or "Not for users" is no operation."""
    section, comment, statement, in_macro, in_title, commented = "", [], "", False, False, ""
    for line in path.read_text().splitlines():
        if in_macro or line.startswith("#"):
            in_macro = line.endswith("\\")
            continue
        code, _, trailing = line.partition("///<")
        if in_title:
            section, in_title = f"{section} {line[3:].removesuffix(' ──')}", not line.endswith(" ──")
        elif match := SECTION.match(line):
            section, comment, in_title = match.group(1), [], not match.group(2)
        elif line.startswith("///"):
            comment += [line[4:]] if not line.startswith("///  ") else []
        elif not line or line.startswith("//"):
            comment, commented = [], ""
        elif statement or not line.startswith((" ", "}", "template", "namespace", "struct", "class", "using")):
            statement = f"{statement} {code.strip()}".strip()
            if ";" in code or "{" in code.replace("= {}", "") or statement.startswith("RICCI"):
                text = first_sentence(trailing.strip() or " ".join(comment))
                name, is_shown = name_of(statement), not text.startswith(("Does not compile", "Not for users"))
                if text:
                    commented = name if comment and is_shown else ""
                elif commented not in ("", name):
                    text = f"As {commented}"
                if is_shown:
                    yield section, text, statement
                comment, statement = [], ""


def operations(path):
    """Section → name → (forms, texts), in the order of the header."""
    found = {}
    for section, text, statement in statements(path):
        match = SAMPLER.match(statement) or FUNCTION.match(statement)
        if not match or match["name"].startswith("operator"):
            continue
        forms, texts = found.setdefault(section, {}).setdefault(match["name"], ([], []))
        form = f"{match['name']}({argument_names(match['arguments'])})"
        forms += [form] if form not in forms else []
        texts += [text] if text else []
    return found


def page():
    lines = [OPENING]
    for header in sorted((ROOT / "include/ricci/ops").glob("*.h")):
        lines.append(f"## `ricci/ops/{header.name}`\n")
        for section, names in operations(header).items():
            if section:
                lines.append(f"**{section[0].upper()}{section[1:]}**\n")
            lines += ["| operation | text |", "| --- | --- |"]
            lines += [
                f"| {', '.join(f'`{form}`' for form in forms)} | {texts[0] if texts else ''} |"
                for _, (forms, texts) in names.items()
            ]
            lines.append("")
    return "\n".join(lines)


def main():
    if sys.argv[1:] == ["write"]:
        PAGE.write_text(page())
    elif sys.argv[1:] == ["check"]:
        if not PAGE.exists() or PAGE.read_text() != page():
            sys.exit("docs/reference/operations.md is not what the headers say; run ./dev index")
    else:
        sys.exit("usage: operation_index.py write | check")


if __name__ == "__main__":
    main()
