"""Linear operators and systems: NumPy's solutions, under every transform, from Python."""

from dataclasses import dataclass

import numpy as np
import pytest

import ricci as rc
from conftest import expect
from ricci import linear, solvers, sparse

B = rc.cos(rc.arange(4, dtype=rc.float64))
A = 4 * rc.eye(4, dtype=rc.float64) + rc.sin(rc.arange(16, dtype=rc.float64)).view(4, 4)
POSITIVE = A @ A.T

SOLVERS = {
    "automatic": None,
    "lu": linear.lu(),
    "cholesky": linear.cholesky(),
    "qr": linear.qr(),
    "svd": linear.svd(),
    "cg": linear.cg(tol=1e-13, max_steps=100),
    "minres": linear.minres(tol=1e-13),
    "bicgstab": linear.bicgstab(tol=1e-13),
    "gmres": linear.gmres(tol=1e-13),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_finds_numpys_solution_under_every_transform(name):
    def solve(a, b):
        return linear.linear_solve(linear.Matrix(a, positive=True), b, SOLVERS[name]).value

    wanted = np.linalg.solve(POSITIVE.numpy(), B.numpy())
    expect(solve(POSITIVE, B), wanted, 1e-11)
    expect(rc.compile(solve)(POSITIVE, B), wanted, 1e-11)
    expect(rc.vmap(solve, in_dims=(None, 0))(POSITIVE, rc.stack([B, 2 * B]))[1], 2 * wanted, 1e-11)
    gradient = rc.grad(lambda b: solve(POSITIVE, b).sum())(B)
    expect(gradient, np.linalg.solve(POSITIVE.numpy().T, np.ones(4)), 1e-11)


def test_matrices_of_each_kind_and_what_is_made_of_them():
    diagonals = linear.Tridiagonal(rc.tensor([1.0, 2.0]), rc.tensor([5.0, 6.0, 7.0]), rc.tensor([1.0, -1.0]))
    kinds = [
        linear.Diagonal(rc.tensor([1.0, 2.0, 3.0])),
        linear.Triangular(rc.tensor([[1.0, 2.0, 3.0], [9.0, 4.0, 5.0], [9.0, 9.0, 6.0]])),
        diagonals,
        sparse.Sparse.of_dense(rc.eye(3), sparse.Sparsity.of_dense(rc.eye(3))),
    ]
    b = rc.tensor([1.0, 2.0, 3.0])
    for a in kinds:
        found = linear.linear_solve(a, b)
        assert solvers.Status(found.status.item()) is solvers.Status.converged
        expect(a @ found.value, b.numpy(), 1e-6)
    whole = 2 * diagonals + diagonals.T - linear.identity(b)
    dense = diagonals.as_matrix().numpy()
    expect(whole.as_matrix(), 2 * dense + dense.T - np.eye(3), 1e-6)
    expect((diagonals @ kinds[0]).as_matrix(), dense @ np.diag([1.0, 2.0, 3.0]), 1e-6)
    expect(linear.linear_solve(whole, b).value, np.linalg.solve(whole.as_matrix().numpy(), b.numpy()), 1e-6)


def test_systems_of_functions_and_trees():
    @dataclass
    class Point:
        place: rc.Tensor
        speed: rc.Tensor

    def f(p):
        return Point(p.place * p.speed.sum(), p.speed * p.speed + p.place)

    at = Point(rc.tensor(2.0), rc.tensor([1.0, 3.0]))
    step = linear.linear_solve(linear.Jacobian(f, at), f(at)).value
    change = rc.jvp(f, (at,), (step,))[1]
    expect(change.speed, f(at).speed.numpy(), 1e-5)
    found = linear.linear_solve(lambda p: Point(3 * p.place, 2 * p.speed + p.place), at, linear.gmres())
    expect(found.value.speed, [1 / 6, 7 / 6], 1e-5)
    expect(linear.linear_solve(lambda x: 3 * x - x.roll(1, 0), rc.ones(3)).value, [0.5, 0.5, 0.5], 1e-6)
    found = linear.linear_solve(lambda p: [2 * p[0], 4 * p[1]], [1, 2.0])
    assert [x.item() for x in found.value] == [0.5, 0.5]
    hessian = linear.Hessian(lambda x: (x**3).sum() + x.prod(), rc.tensor([1.0, 2.0]))
    expect(hessian.as_matrix(), [[6.0, 1.0], [1.0, 12.0]], 1e-6)


def test_failures_have_a_status_or_throw():
    singular, b = linear.Matrix(rc.zeros(2, 2)), rc.ones(2)
    assert linear.linear_solve(singular, b).status.item() == solvers.Status.singular
    with pytest.raises(rc.ValueError):
        linear.linear_solve(singular, b, throw_on_failure=True)
    with pytest.raises(rc.ValueError, match="tridiagonal needs a Tridiagonal"):
        linear.linear_solve(singular, b, linear.tridiagonal())
    with pytest.raises(rc.ValueError, match="has right sides \\[2\\]"):
        linear.linear_solve(linear.Diagonal(b), rc.ones(3, 2))
    bad = linear.Matrix(rc.full((2, 2), float("nan")))
    assert linear.linear_solve(bad, b, linear.svd()).status.item() == solvers.Status.not_finite


def test_curvature_is_that_of_whole_matrices():
    x, v = rc.tensor([0.3, -0.7]), rc.tensor([1.0, 0.5])

    def model(x):
        return rc.stack([rc.sin(x[0] * x[1]), x[1] ** 2, rc.exp(x[0])])

    def loss(y):
        return (y**3).sum()

    j, h = rc.jacfwd(model)(x).numpy(), rc.hessian(loss)(model(x)).numpy()
    whole = rc.hessian(lambda x: loss(model(x)))(x).numpy()
    expect(linear.hvp(lambda x: loss(model(x)), x, v), whole @ v.numpy(), 1e-5)
    expect(linear.ggn_vp(model, loss, x, v), j.T @ h @ j @ v.numpy(), 1e-5)
    expect(linear.fisher_vp(model, x, v), j.T @ j @ v.numpy() / 3, 1e-5)
    expect(linear.laplacian(lambda x: {"y": loss(model(x))}, x)["y"], np.trace(whole), 1e-5)
    tree = {"a": x, "b": v}
    expect(linear.hvp(lambda t: (t["a"] ** 2 * t["b"]).sum(), tree, tree)["a"], (4 * x * v).numpy(), 1e-5)


def test_traces_and_lanczos():
    a = linear.Matrix(POSITIVE, positive=True)
    value, error = linear.hutchinson(a, rc.Key(0), samples=2000)
    assert abs(value.item() - np.trace(POSITIVE.numpy())) < 4 * error.item()
    assert linear.hutchinson_diagonal(a, rc.Key(0)).value.shape == (4,)
    diagonal, beside, vectors = linear.lanczos(a, B, 4)
    small = linear.Tridiagonal(beside, diagonal, beside).as_matrix()
    expect(vectors @ POSITIVE @ vectors.T, small.numpy(), 1e-11)


def test_the_module_is_the_linear_layer_too():
    x, weight = rc.ones(2, 3), rc.ones(4, 3)
    assert rc.linear(x, weight).tolist() == rc.nn.functional.linear(x, weight).tolist()
