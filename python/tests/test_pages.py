"""The Python programs of the pages print what the pages say."""

import contextlib
import io
import re

import ricci as rc


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)


def promised(block):
    """What stands behind `# prints`, and goes on in the comment lines right below."""
    lines, inside = [], False
    for line in block.splitlines():
        if match := re.search(r"# prints (.*)$", line):
            lines.append(match[1])
            inside = True
        elif inside and line.startswith("# "):
            lines.append(line[2:])
        else:
            inside = False
    return " ".join(" ".join(lines).split())


def test_the_programs_of_the_page_print_what_it_says(source):
    rc.manual_seed(0)
    page = (source / "docs/14-from-torch-func-in-python.md").read_text()
    scope = {}
    assert len(re.findall(r"^### \d+ ", page, re.M)) == len(re.findall(r"^```torch$", page, re.M)) == 10
    for block in blocks(page):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block, "page", "exec"), scope)
        assert " ".join(out.getvalue().split()) == promised(block)
