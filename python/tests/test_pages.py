"""The Python programs of the pages print what the pages say."""

import contextlib
import io
import re

import numpy as np
from conftest import ANSWERS_OF_TORCH, array_of
from written_for_both import arrays_in, names_set_by, programs_of

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


def expect_what_is_promised(page):
    rc.manual_seed(0)
    scope = {}
    for block in blocks(page):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block, "page", "exec"), scope)
        assert " ".join(out.getvalue().split()) == promised(block)


def test_the_programs_of_the_page_print_what_it_says(source):
    page = (source / "docs/14-from-torch-func-in-python.md").read_text()
    assert len(re.findall(r"^### \d+ ", page, re.M)) == len(re.findall(r"^```torch$", page, re.M)) == 10
    expect_what_is_promised(page)


def test_the_program_of_the_page_on_distributions_prints_what_it_says(source):
    expect_what_is_promised((source / "docs/15-distributions.md").read_text())


def test_the_program_of_the_page_on_optimisers_prints_what_it_says(source):
    expect_what_is_promised((source / "docs/16-optimisers.md").read_text())


def test_the_program_of_the_page_on_sparse_derivatives_prints_what_it_says(source):
    expect_what_is_promised((source / "docs/17-sparse-derivatives.md").read_text())


def test_the_program_of_the_page_on_solvers_prints_what_it_says(source):
    expect_what_is_promised((source / "docs/18-solvers.md").read_text())


def test_the_program_of_the_page_on_linear_operators_prints_what_it_says(source):
    expect_what_is_promised((source / "docs/20-linear-operators.md").read_text())


def test_the_program_of_the_page_on_differential_equations_prints_what_it_says(source):
    expect_what_is_promised((source / "docs/19-differential-equations.md").read_text())


def test_the_program_of_the_page_on_sampling_prints_what_it_says(source):
    expect_what_is_promised((source / "docs/21-sampling.md").read_text())


def test_the_programs_in_pytorch_give_the_same(source):
    page = (source / "docs/14-from-torch-func-in-python.md").read_text()
    answers, ours, compared = ANSWERS_OF_TORCH["programs"], {}, 0
    for (program, own), answer in zip(programs_of(page), answers, strict=True):
        assert program == answer["program"], "it is another than PyTorch ran; write tools/torch_answers.py's table anew"
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(own, "page", "exec"), ours)
        for name in names_set_by(own) & answer["values"].keys() & ours.keys():
            for theirs, a in zip(answer["values"][name], arrays_in(ours[name]), strict=True):
                assert a.shape == tuple(theirs["shape"]), name
                assert "elements" not in theirs or np.allclose(a, array_of(theirs), rtol=1e-6), name
                compared += 1
    assert len(answers) == 10 and compared >= 15
