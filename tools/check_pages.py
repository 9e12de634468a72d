#!/usr/bin/env python3
# Holds the pages (*.md) to the tree: a link leads to a file and to a heading of it; a file that is named between
# backquotes exists; a page that any file of the project names exists; a name between backquotes on a page about the
# inside (ARCHITECTURE.md, docs/inside) stands in the source. Prints what is wrong, or OK. Knows nothing of C++.
import re

from findings import ROOT, report

FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
QUOTED = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"[\w.-]+(?:/[\w.-]+)*/[\w.-]*\.(?:h|cpp|md|py|txt)")
FOLDER = re.compile(r"(?:src|include|docs|tests|tools|examples|bench|cmake|data)(?:/[\w.-]+)*/?")
PAGE_IN_TEXT = re.compile(r"\bdocs/[\w/-]+\.md")
NAME = re.compile(r"~?[A-Za-z_]\w{2,}(?:::~?\w+)*")
ROOTS = ("", "src", "include", "include/ricci", "docs")  # where the paths on a page begin
FOLDERS = ("include", "src", "tests", "examples", "bench", "tools", "cmake", "docs")
WRITTEN = (".md", ".h", ".cpp", ".py", ".txt", ".cmake")
WORDS = {"float32", "float64", "float16", "bfloat16"}  # of every page


def without_code(text):
    """The text with its blocks of code blanked, line by line."""
    return FENCED.sub(lambda block: "\n" * block[0].count("\n"), text)


def anchors_of(page):
    """The anchors of a page's headings, as web sites make them."""
    headings = re.findall(r"^#+ (.*)$", without_code(page.read_text()), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def link_finding(page, target, anchor):
    if "://" in target:
        return None
    there = (page.parent / target).resolve() if target else page
    if not there.exists():
        return f"links to {target}, which does not exist"
    if anchor and anchor not in anchors_of(there):
        return f"links to #{anchor}, which is no heading of {there.relative_to(ROOT)}"
    return None


def exists(path, page):
    return any((ROOT / root / path).exists() for root in ROOTS) or (page.parent / path).exists()


def names_of_the_source():
    sources = [p for folder in ("include", "src") for p in (ROOT / folder).rglob("*") if p.suffix in (".h", ".cpp")]
    return {name for path in sources for name in re.findall(r"\w+", path.read_text())} | WORDS


def is_about_the_inside(page):
    return page.name == "ARCHITECTURE.md" or page.parent == ROOT / "docs/inside"


def quoted_finding(page, quoted, names):
    if (FILE.fullmatch(quoted) or FOLDER.fullmatch(quoted)) and not exists(quoted, page):
        return f"names {quoted}, which does not exist"
    if is_about_the_inside(page) and NAME.fullmatch(quoted):
        missing = [part for part in quoted.split("::") if part.strip("~") not in names]
        return f"names {quoted}, which the source does not" if missing else None
    return None


def page_findings(page, names):
    if page.name == "CHANGELOG.md":
        return
    for number, line in enumerate(without_code(page.read_text()).splitlines(), 1):
        for target, anchor in LINK.findall(line):
            yield page, number, link_finding(page, target, anchor)
        for quoted in QUOTED.findall(line):
            yield page, number, quoted_finding(page, quoted, names)


def mention_findings(path):
    for number, line in enumerate(path.read_text(errors="ignore").splitlines(), 1):
        for mentioned in PAGE_IN_TEXT.findall(line):
            yield path, number, None if (ROOT / mentioned).exists() else f"names {mentioned}, which does not exist"


def project_files():
    files = [p for p in ROOT.iterdir() if p.is_file()]
    return files + sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*") if p.suffix in WRITTEN)


def main():
    files, names = project_files(), names_of_the_source()
    findings = [finding for path in files if path.suffix == ".md" for finding in page_findings(path, names)]
    findings += [finding for path in files for finding in mention_findings(path)]
    report("pages", findings)


if __name__ == "__main__":
    main()
