#!/usr/bin/env python3
# The site: the pages of docs/ as HTML with search, and a reference of every public function from the headers, with
# what Python calls it beside it. `site.py FOLDER` writes the sources for Sphinx there; ./dev site builds and tests them.
# Imports the Python package if it is there, for its signatures. Start with `main`.
import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include/ricci"
# What users do not include themselves: parts of other headers, and what templates are written with.
NOT_FOR_USERS = {"runs", "call", "compiled", "erase", "tree", "detail", "kernels", "scalar", "forms"}
INSIDE = re.compile(r"^(primitive/|tree/|owned|small_vector|ref_count|strided|jacobian_tree|caller)")
SETTINGS = """project, author = "Ricci", "the Ricci authors"
extensions = ["myst_parser", "sphinx_copybutton"]
html_theme = "furo"
html_title = "Ricci"
html_show_copyright = False
html_static_path, html_css_files = ["_static"], ["wide.css"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
highlight_language = "none"
copybutton_exclude = ".linenos, .gp, .go"
"""
# Room for the 120 columns of our sources, as far as the window has it beside the navigation and the contents.
STYLE = """@media (min-width: 82em) { .content { width: clamp(46em, 100vw - 37em, 62em) } }
div.highlight pre { font-size: 0.78em }
"""


# ── the headers ──


@dataclass
class Entry:
    """A declaration with its comment; a class with those of its members."""

    name: str
    code: list
    text: list
    members: list = field(default_factory=list)


def name_in(code):
    text = " ".join(code)
    if match := re.search(r"\b(?:struct|class|enum class|enum|namespace)\s+(\w+)", re.sub(r"template <[^{]*?>\s", "", text)):
        return match[1]
    if match := re.search(r"(operator\s*[^\s\w(]+|operator\(\)|~?\w+)\s*\(", re.sub(r"requires\s*\(.*?\)\s", "", text)):
        return match[1]
    match = re.search(r"\b(?:using\s+)?(\w+)\s*(?:=|\{|;|$)", text.removeprefix("using "))
    return match[1] if match else ""


def without_body(code):
    """The declaration of a function that is defined in the header, and no initialisers. An enum with its values."""
    if code[0].startswith("enum"):
        return "\n".join([code[0], *(f"  {line}" for line in code[1:-1]), *code[1:][-1:]])
    text = "\n".join(code).replace("= {}", "= …")
    cut = re.split(r"\s*\{|\s*:\s+(?=\w+_?[({])", text, maxsplit=1)[0] if "(" in text else text.split("{")[0]
    return cut.replace("= …", "= {}").rstrip().rstrip(";").rstrip() + ";"


class Header:
    """(the comment at its beginning, its entries) of a header, as far as they have comments."""

    def __init__(self, path):
        lines = path.read_text().splitlines()
        self.about = []
        while lines and lines[0].startswith("//"):
            self.about.append(lines.pop(0)[3:])
        self.entries = []
        self.read(lines)

    def read(self, lines):
        comment, code, owner, is_private, depth = [], [], None, False, 0
        spaces, last = [], None
        for line in lines:
            stripped = line.strip()
            if depth == 0 and not owner and (match := re.match(r"namespace ([\w:]*) ?\{", line)):
                spaces.append(match[1])
            if re.fullmatch(r"\}(\s*// namespace.*)?", line) and spaces and depth == 0 and not owner:
                spaces.pop()
            if re.match(r" (public|private|protected):", line):
                is_private = "public" not in line
            if line.startswith("}") and owner:
                owner, is_private, comment, code, depth = None, False, [], [], 0
                continue
            if depth > 0:  # inside a body
                depth += stripped.count("{") - stripped.count("}")
                continue
            is_enum = bool(code) and code[0].startswith("enum")  # the comments of its values are part of it
            declaration, _, behind = (stripped, "", "") if is_enum else stripped.partition("///<")
            if stripped.startswith("///") and not is_enum:
                comment.append(stripped[4:])
                continue
            if not stripped or line.startswith("#"):
                last = None
            if not is_enum and (not stripped or stripped.startswith(("//", "#", "}", "namespace", "friend")) or line.endswith(":")):
                comment, code = ([], []) if not code else (comment, code)
                continue
            code.append(declaration.rstrip())
            text = " ".join(code)
            opens = text.count("{") - text.count("}")
            if text.startswith("enum") and opens > 0:
                continue
            if text.count("(") > text.count(")") or not re.search(r"[;{]\s*$|\}\s*;?$", text):
                continue
            is_class = re.search(r"\b(struct|class)\s+\w+[^;(]*\{$", text) and "(" not in re.sub(r"requires.*", "", text)
            texts = comment + ([behind.strip()] if behind.strip() or (is_enum and "///" in text) else [])
            indented = line.startswith("  ")
            is_shown = not is_private and (owner or not indented) and not NOT_FOR_USERS & set(spaces)
            if is_shown and not owner and not texts and "(" in text and not is_class:  # a comment is for all below it
                texts = last.text if last and last.name == name_in(code) else [f"As `{last.name}`."] if last else [""]
            if texts and is_shown:
                made = Entry(name_in(code), code, texts)
                (owner.members if owner else self.entries).append(made)
                last = last if owner else made
                if is_class and not owner:
                    owner, opens = made, 0
            elif is_class and not owner and not indented:
                owner, opens = Entry("", [], []), 0  # without a comment: not for users
            depth, code = max(0, opens), []
            comment = []


# ── what Python has ──


def signatures():
    """Names of the package and of Tensor → how they are called."""
    try:
        import inspect

        import ricci as rc
    except ImportError:
        return {}
    found = {}

    def add(place, space):
        for name in dir(space):
            if name.startswith("_") or name in found:
                continue
            value = getattr(space, name)
            if isinstance(value, type(inspect)) and value.__name__.startswith("ricci."):
                continue
            try:
                if type(value).__name__ == "Operation":
                    found[name] = [f"{place}.{line}" for line in value.__doc__.split("\n\n")[0].split("\n")]
                elif callable(value):
                    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(value)))
                    found[name] = [f"{place}.{name}{text.replace('ricci._core.', '')}"]
            except (ValueError, TypeError):
                found[name] = [f"class {place}.{name}"]

    add("rc", rc)
    for space in ("optim", "solvers", "ode", "linear", "sample", "sparse", "distributions", "debug", "profile"):
        add(f"rc.{space}", getattr(rc, space))
    return found


# ── pages ──


def prose(lines):
    """A comment as Markdown: what is set off by two spaces is code."""
    out, code = [], []

    def flush():
        if code:
            out.extend(["", "```cpp", *code, "```", ""])
            code.clear()

    for line in lines:
        if line.startswith("  "):
            code.append(line[2:])
        else:
            flush()
            out.append(re.sub(r"<(?=[\w:])", r"\\<", line.replace("*", r"\*") if "**" not in line else line))
    flush()
    return out


def entry_page(entry, python, level):
    lines = [f"{'#' * level} `{entry.name}`" if entry.name else f"{'#' * level} …", ""]
    lines += ["```cpp", *entry.code, "```", ""]
    for call in python.get(entry.name, []) if level == 2 else []:
        lines += ["```python", call, "```", ""]
    lines += prose(entry.text) + [""]
    for member in entry.members:
        lines += entry_page(member, python, level + 1)
    return lines


def merged(entries):
    """Overloads of one name that stand one behind the other, as one entry."""
    out = []
    for entry in entries:
        if out and entry.name and out[-1].name == entry.name and not entry.members:
            is_said = "\n".join(entry.text) in "\n".join(out[-1].text)
            more = [] if is_said else ["", *entry.text]
            out[-1] = Entry(entry.name, [*out[-1].code, without_body(entry.code)], [*out[-1].text, *more])
        else:
            out.append(Entry(entry.name, [without_body(entry.code)], entry.text, merged(entry.members)))
    return out


def write_reference(folder):
    python, names = signatures(), []
    for path in sorted(HEADERS.rglob("*.h")):
        name = str(path.relative_to(HEADERS))
        header = Header(path)
        if INSIDE.match(name) or not header.entries:
            continue
        page = "header-" + name.removesuffix(".h").replace("/", "-")
        lines = [f"# `ricci/{name}`", "", *prose(header.about), ""]
        for entry in merged(header.entries):
            lines += entry_page(entry, python, 2)
        (folder / f"{page}.md").write_text("\n".join(lines))
        names.append(page)
    return names


def tree(caption, pages):
    return "\n".join(["```{toctree}", ":hidden:", ":maxdepth: 1", f":caption: {caption}", "", *pages, "```", ""])


def main(folder):
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder / "docs")
    (folder / "docs/CMakeLists.txt").unlink()
    for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copytree(ROOT / "bench", folder / "bench", ignore=shutil.ignore_patterns("*.cpp", "*.h", "*.py", "*.txt"))
    for page in folder.rglob("*.md"):  # blocks that have two words, as `cpp definitions`
        page.write_text(re.sub(r"^```(\w+) \w+$", r"```\1", page.read_text(), flags=re.M))
    reference = folder / "reference"
    reference.mkdir()
    headers = write_reference(reference)
    pages = sorted((folder / "docs").glob("[0-9]*.md"))
    parts = [
        tree("Pages", [f"docs/{p.stem}" for p in pages]),
        tree("To look up", ["docs/README", *[f"docs/reference/{p.stem}" for p in sorted((folder / "docs/reference").glob("*.md"))]]),
        tree("Headers", [f"reference/{h}" for h in headers]),
        tree("Inside", ["ARCHITECTURE", *[f"docs/inside/{p.stem}" for p in sorted((folder / "docs/inside").glob("*.md"))], "CONTRIBUTING", "CHANGELOG"]),
        tree("Benchmarks", [str(p.relative_to(folder).with_suffix("")) for p in sorted((folder / "bench").rglob("*.md"))]),
    ]  # fmt: skip
    (folder / "index.md").write_text((folder / "README.md").read_text() + "\n" + "\n".join(parts))
    (folder / "README.md").unlink()
    (folder / "conf.py").write_text(SETTINGS)
    (folder / "_static").mkdir()
    (folder / "_static/wide.css").write_text(STYLE)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
