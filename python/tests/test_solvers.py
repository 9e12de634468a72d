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


def test_numbers_in_a_tree_are_unknowns():
    def f(p):
        return {"r": p["x"] * p["x"] - 2.0, "s": p["y"][0] - p["x"]}

    found = solvers.root_find(f, {"x": 1.0, "y": [1], "is_on": True})
    expect([found.value["x"], found.value["y"][0]], [np.sqrt(2), np.sqrt(2)], 1e-9)
    assert found.value["is_on"] is True
    expect(solvers.minimise(lambda p: (p[0] - 3) ** 2, (np.float64(1.0),)).value[0], 3, 1e-6)
    expect(solvers.fixed_point(lambda p: [rc.cos(p[0])], [1]).value[0], 0.7390851332, 1e-7)
    expect(solvers.least_squares(lambda p: p["x"] - 2.5, {"x": 1}).value["x"], 2.5, 1e-7)


def test_a_number_as_the_start_may_be_an_int():
    expect(solvers.root_find(lambda x: rc.cos(x) - x, 1).value, 0.7390851332, 1e-9)
    expect(solvers.least_squares(lambda x: x - 2.5, 1).value, 2.5, 1e-7)
    expect(solvers.minimise(lambda x: rc.square(x - 2.5), 0).value, 2.5, 1e-6)


def test_statuses_have_the_names_of_cpp():
    assert [solvers.text_of(status) for status in solvers.Status] == [status.name for status in solvers.Status]


def test_failures_are_statuses_or_errors():
    found = solvers.root_find(lambda x: x * x + 1, 3.0, max_steps=7)
    assert (found.steps.item(), found.status.item()) == (7, solvers.Status.max_steps_reached)
    with pytest.raises(rc.ValueError, match="the value of root_find, which ended as max_steps_reached"):
        solvers.root_find(lambda x: x * x + 1, 3.0, throw_on_failure=True)
    with pytest.raises(rc.ValueError, match="it must give as many elements"):
        solvers.root_find(lambda x: rc.cat([x, x]), rc.zeros(2))
    with pytest.raises(rc.TypeError):
        solvers.root_find(3, rc.zeros(2))
    with pytest.raises(rc.TypeError, match='the start {"a": i64.* has no unknowns'):
        solvers.minimise(lambda x: (x["a"] * x["a"]).sum(), {"a": rc.arange(3)})
    assert solvers.root_find(lambda x: x, []).value == []


T = rc.linspace(0.0, 4.0, 9, dtype=rc.float64)
SQUARES = {
    "gauss_newton": solvers.gauss_newton(),
    "levenberg_marquardt": solvers.levenberg_marquardt(),
    "dogleg": solvers.dogleg(),
}


def decay(y, solver, **options):
    start = {"height": rc.tensor(1.5, dtype=rc.float64), "rate": rc.tensor(0.5, dtype=rc.float64)}
    return solvers.least_squares(lambda p: p["height"] * rc.exp(-p["rate"] * T) - y, start, solver, **options).value


@pytest.mark.parametrize("name", SQUARES)
def test_fits_and_their_derivatives_under_transforms(name):
    heights = rc.tensor([1.0, 2.0], dtype=rc.float64)

    def height(h):
        return decay(h * rc.exp(-0.7 * T), SQUARES[name])["height"]

    for f in (rc.vmap(height), rc.compile(rc.vmap(height))):
        expect(f(heights), heights.numpy(), 1e-7)
    for f in (rc.vmap(rc.grad(height)), rc.compile(rc.vmap(rc.grad(height))), rc.vmap(rc.jacfwd(height))):
        expect(f(heights), [1.0, 1.0], 1e-7)


def test_losses_and_bounds():
    y = 2 * rc.exp(-0.7 * T) + 5 * (T == 2.0)
    losses = [solvers.cauchy(0.01), solvers.arctan(0.01), solvers.Loss(lambda z: rc.log1p(z), 0.01)]
    for loss in losses:
        expect(decay(y, None, loss=loss)["rate"], 0.7, 1e-3)
    assert abs(decay(y, None)["rate"].item() - 0.7) > 0.1
    for upper in (rc.tensor([9.0, 0.6]), {"height": rc.tensor(9.0), "rate": rc.tensor(0.6)}):
        expect(decay(y, None, loss=losses[0], upper=upper)["rate"], 0.6, 1e-12)
    with pytest.raises(rc.ValueError, match="gauss_newton knows no bounds"):
        decay(y, solvers.gauss_newton(), lower=0.0)


def test_bounds_are_trees_like_the_start():
    def f(p):
        return rc.cat([p["a"] + 5.0, (p["b"] + 5.0).reshape(1)])

    start = {"a": rc.tensor([1.0, 2.0]), "b": 3}
    for lower, wanted in (
        ({"a": rc.tensor(0), "b": 0.5}, (0, 0, 0.5)),
        ({"a": [], "b": 0.5}, None),
        ({"a": rc.tensor([0.5, -1.0]), "b": None}, (0.5, -1, -5)),
        ({"a": None, "b": -2}, (-5, -5, -2)),
        ({"a": rc.tensor(0.0)}, None),
        ({"c": rc.tensor(0.0), "d": 0.5}, None),
        ([1.0, 2.0, 3.0], None),
    ):
        if wanted is None:
            with pytest.raises(rc.ValueError, match='least_squares: lower is .* and the start is {"a": f'):
                solvers.least_squares(f, start, lower=lower)
        else:
            found = solvers.least_squares(f, start, lower=lower).value
            expect(list(found["a"]) + [found["b"]], wanted, 1e-3)


MINIMISERS = {
    "bfgs": solvers.bfgs(),
    "lbfgs": solvers.lbfgs(history=4),
    "nonlinear_cg": solvers.nonlinear_cg(),
    "trust_region": solvers.trust_region(),
    "nelder_mead": solvers.nelder_mead(),
}


@pytest.mark.parametrize("name", MINIMISERS)
def test_minima_and_their_derivatives_under_transforms(name):
    def least(a):
        def f(p):
            return 100 * (p["y"] - p["x"] ** 2) ** 2 + (a - p["x"]) ** 2

        start = {"x": rc.tensor(0.5, dtype=rc.float64), "y": rc.tensor(0.5, dtype=rc.float64)}
        return solvers.minimise(f, start, MINIMISERS[name], rtol=1e-10, atol=1e-10, max_steps=900).value["y"]

    at = rc.tensor([0.5, 1.0], dtype=rc.float64)  # y = a²
    for f in (rc.vmap(least), rc.compile(rc.vmap(least))):
        expect(f(at), at.numpy() ** 2, 1e-6)
    for f in (rc.vmap(rc.grad(least)), rc.compile(rc.vmap(rc.grad(least))), rc.vmap(rc.jacfwd(least))):
        expect(f(at), 2 * at.numpy(), 1e-5)


@pytest.mark.parametrize("solver", [solvers.fixed_point_iteration(), solvers.anderson(history=3)])
def test_fixed_points_and_their_derivatives_under_transforms(solver):
    def root(a):
        return solvers.fixed_point(lambda x: (x + a / x) / 2, 2.5, solver, rtol=1e-12, atol=1e-12).value

    for f in (rc.vmap(root), rc.compile(rc.vmap(root))):
        expect(f(MANY), np.sqrt(MANY.numpy()), 1e-10)
    for f in (rc.vmap(rc.grad(root)), rc.compile(rc.vmap(rc.grad(root)))):
        expect(f(MANY), 0.5 / np.sqrt(MANY.numpy()), 1e-10)


def test_motions_are_a_group_of_trees():
    screws = rc.tensor(np.linspace(-1, 1, 12).reshape(2, 6))
    a, b = solvers.SE3.exp(screws[0]), solvers.SE3.exp(screws[1])
    expect((a * b).matrix(), a.matrix().numpy() @ b.matrix().numpy(), 1e-14)
    expect(a.inverse().matrix(), np.linalg.inv(a.matrix().numpy()), 1e-13)
    expect(a.log(), screws[0].numpy(), 1e-13)
    expect(solvers.SE3.of_matrix(a.matrix()).log(), screws[0].numpy(), 1e-13)
    expect((solvers.SE3.exp(a.adjoint() @ screws[1]) * a).matrix(), (a * b).matrix().numpy(), 1e-13)
    expect(a.retract(screws[1]).matrix(), (a * b).matrix().numpy(), 1e-13)
    expect((solvers.SE3.identity() * a).apply(screws[0][:3]), a.apply(screws[0][:3]).numpy(), 1e-15)

    r, s = a.rotation, b.rotation
    expect((r * s.inverse()).matrix(), r.matrix().numpy() @ s.matrix().numpy().T, 1e-14)
    expect(r.retract(s.log()).log(), (r * s).log().numpy(), 1e-14)
    expect(solvers.SO3.exp(r.adjoint() @ s.log()).matrix(), (r * s * r.inverse()).matrix().numpy(), 1e-14)
    expect(solvers.SO3.of_matrix(r.matrix()).apply(screws[0][:3]), r.matrix().numpy() @ screws[0][:3].numpy(), 1e-14)
    expect((solvers.SO3.identity() * r).log(), r.log().numpy(), 1e-15)
    many = rc.vmap(lambda screw: solvers.SE3.exp(screw) * a)(screws)
    expect(many.rotation.quaternion[0], (a * a).rotation.quaternion.numpy(), 1e-15)


def test_a_pose_is_found_from_points():
    truth = solvers.SE3.exp(rc.tensor([1.0, -2.0, 0.5, 0.3, 0.2, -0.9], dtype=rc.float64))
    points = rc.tensor(np.random.default_rng(0).normal(size=(8, 3)))
    seen, start = truth.apply(points), solvers.SE3.identity()
    found = solvers.least_squares(lambda change: start.retract(change).apply(points) - seen, rc.zeros(6, dtype=rc.float64))
    expect(start.retract(found.value).matrix(), truth.matrix().numpy(), 1e-8)
