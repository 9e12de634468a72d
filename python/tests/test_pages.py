"""The Python programs of the pages print what the pages say."""

import ast
import contextlib
import io
import re

import numpy as np
import pytest

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


def arrays_in(value):
    """The tensors of either library, as arrays."""
    if isinstance(value, dict):
        return [a for key in sorted(value) for a in arrays_in(value[key])]
    if isinstance(value, (tuple, list)):
        return [a for part in value for a in arrays_in(part)]
    return [np.asarray(value.detach())] if hasattr(value, "detach") else []


def names_set_by(block):
    return {n.id for n in ast.walk(ast.parse(block)) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def test_the_programs_in_pytorch_give_the_same(source):
    pytest.importorskip("torch")
    page = (source / "docs/14-from-torch-func-in-python.md").read_text()
    pairs = re.findall(r"^```torch\n(.*?)^```\n+```python\n(.*?)^```$", page, re.M | re.S)
    theirs, ours, compared = {}, {}, 0
    for block, own in pairs:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(block, "page", "exec"), theirs)
            exec(compile(own, "page", "exec"), ours)
        is_random = "randn" in block or "nn.Linear" in block
        for name in names_set_by(block) & names_set_by(own) & theirs.keys() & ours.keys():
            for a, b in zip(arrays_in(theirs[name]), arrays_in(ours[name]), strict=True):
                assert a.shape == b.shape, name
                assert is_random or np.allclose(a, b, rtol=1e-6), name
                compared += 1
    assert len(pairs) == 10 and compared >= 15
