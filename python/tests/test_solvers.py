"""Solvers: solutions, derivatives and statuses, under every transform, from Python."""

import numpy as np
import pytest

import ricci as rc
from conftest import expect
from ricci import solvers

MANY = rc.tensor([2.0, 4.0, 9.0], dtype=rc.float64)
FINDERS = {
    "newton": solvers.newton(),
    "line search": solvers.newton(line_search=True),
    "chord": solvers.chord(),
    "broyden": solvers.broyden(),
    "bisection": solvers.bisection(0.0, 5.0),
}


@pytest.mark.parametrize("name", FINDERS)
def test_roots_and_their_derivatives_under_transforms(name):
    def root(a):
        return solvers.root_find(lambda x: x * x - a, 2.5, FINDERS[name], rtol=1e-12, atol=1e-12).value

    roots, slopes = np.sqrt(MANY.numpy()), 0.5 / np.sqrt(MANY.numpy())
    for f in (rc.vmap(root), rc.compile(rc.vmap(root))):
        expect(f(MANY), roots, 1e-10)
    for f in (rc.vmap(rc.grad(root)), rc.compile(rc.vmap(rc.grad(root))), rc.vmap(rc.jacfwd(root))):
        expect(f(MANY), slopes, 1e-10)


def test_a_root_is_a_tree():
    start = {"x": rc.tensor(1.0), "y": [rc.tensor([2.0])], "name": "circle"}
    found = solvers.root_find(lambda p: (p["x"] - p["y"][0], p["x"] ** 2 + p["y"][0] ** 2 - 4), start)
    expect(found.value["y"][0], [np.sqrt(2)], 1e-6)
    assert found.value["name"] == "circle"
    assert solvers.Status(found.status.item()) is solvers.Status.converged


def test_statuses_have_the_names_of_cpp():
    assert [solvers.text_of(status) for status in solvers.Status] == [status.name for status in solvers.Status]


def test_failures_are_statuses_or_errors():
    found = solvers.root_find(lambda x: x * x + 1, 3.0, max_steps=7)
    assert (found.steps.item(), found.status.item()) == (7, solvers.Status.max_steps_reached)
    with pytest.raises(rc.ValueError, match="the value of root_find, which did not converge"):
        solvers.root_find(lambda x: x * x + 1, 3.0, throw_on_failure=True)
    with pytest.raises(rc.ValueError, match="it must give as many elements"):
        solvers.root_find(lambda x: rc.cat([x, x]), rc.zeros(2))
    with pytest.raises(rc.TypeError):
        solvers.root_find(3, rc.zeros(2))
    assert solvers.root_find(lambda x: x, []).value == []
