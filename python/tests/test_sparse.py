"""Sparse derivatives and matrices: dense values, under every transform, from Python."""

import numpy as np
import pytest

import ricci as rc
from conftest import expect
from ricci import sparse

X = rc.linspace(0.25, 2.0, 7, dtype=rc.float64)


def stencil(x):
    return rc.sin(x) * x.roll(1, 0) - x.roll(-2, 0) * x[0]


def loss(x):
    return (rc.sin(x) * x.roll(1, 0)).sum()


@pytest.mark.parametrize("mode", ["both", "columns", "rows"])
def test_a_sparse_jacobian_is_the_dense_one(mode):
    coloring = sparse.color(sparse.jacobian_sparsity(stencil, X), mode)
    jacobian, dense = sparse.jacobian(stencil, coloring), rc.jacfwd(stencil)
    expect(jacobian(X).to_dense(), dense(X).numpy(), 1e-13)
    many = rc.stack([X, 2 * X], 0)
    expect(rc.vmap(lambda x: jacobian(x).to_dense())(many), rc.vmap(dense)(many).numpy(), 1e-13)
    expect(rc.compile(lambda x: jacobian(x).values)(X), jacobian(X).values.numpy(), 1e-13)
    squares = rc.grad(lambda x: jacobian(x).values.square().sum())(X)
    expect(squares, rc.grad(lambda x: dense(x).square().sum())(X).numpy(), 1e-12)


def test_a_sparse_hessian_is_the_dense_one():
    coloring = sparse.color(sparse.hessian_sparsity(loss, X), "star")
    assert coloring.colors < 7
    expect(sparse.hessian(loss, coloring)(X).to_dense(), rc.hessian(loss)(X).numpy(), 1e-13)


def test_patterns_of_trees_and_of_further_arguments():
    def f(params, x):
        return {"y": params["w"] * x + params["b"]}

    params = {"b": rc.ones(1), "w": rc.ones(2)}
    assert str(sparse.jacobian_sparsity(f, params, rc.ones(2))) == "Sparsity 2 x 3, 4 nonzeros\n**.\n*.*"
    assert sparse.jacobian_sparsity(f, params, rc.ones(2), argnums=1).nnz == 2
    assert sparse.jacobian_sparsity(lambda x, at: x[at], rc.ones(3), rc.tensor([2, 0])) == sparse.Sparsity(
        2, 3, rc.tensor([0, 1, 2]), rc.tensor([2, 0])
    )


def test_a_pattern_at_a_point_holds_for_its_values():
    def f(x):
        return x[rc.argsort(x)]

    assert sparse.jacobian_sparsity(f, X.flip(0)).nnz == 49
    assert sparse.jacobian_sparsity(f, X.flip(0), at_point=True).nnz == 7
    assert sparse.hessian_sparsity(lambda x: (f(x) * x).sum(), X.flip(0), at_point=True).nnz == 7


def test_a_sparse_matrix_is_a_tree_and_does_what_dense_ones_do():
    a = sparse.Sparse.of_coordinates(rc.tensor([2, 0, 1, 2]), rc.tensor([1, 0, 2, 0]), rc.tensor([1.0, 2, 3, 4]), (3, 3))
    dense, x = a.to_dense(), rc.tensor([1.0, 10.0, 100.0])
    expect(a @ x, (dense @ x).numpy())
    expect(x @ a, (x @ dense).numpy())
    expect(a.T.to_dense(), dense.T.numpy())
    expect((a + a.T).to_dense(), (dense + dense.T).numpy())
    expect((2 * a - a).to_dense(), dense.numpy())
    expect(a.diagonal(), np.diag(dense.numpy()))
    expect(a.sum(-1), dense.sum(-1).numpy())
    assert a.shape == (3, 3)
    gradient = rc.grad(lambda a: (a @ x).square().sum())(a)
    assert gradient.sparsity == a.sparsity
    two = sparse.Sparse(a.sparsity, rc.stack([a.values, 2 * a.values], 0))
    expect(rc.vmap(lambda a: a @ x)(two), (two.to_dense() @ x).numpy())


def test_solvers_and_their_derivatives():
    def springs(k):
        return lambda x: k * x - 0.25 * (x.roll(1, 0) + x.roll(-1, 0))

    b = rc.cos(X)
    for solve in (sparse.cg, sparse.minres, sparse.bicgstab, sparse.gmres):
        x = solve(springs(X + 1), b, tol=1e-12)
        expect(springs(X + 1)(x), b.numpy(), 1e-10)

        def of_dense(k):
            return rc.linalg.solve(rc.jacfwd(springs(k))(X), b).sum()

        found = rc.grad(lambda k: solve(springs(k), b, tol=1e-12, preconditioner=lambda r: r / k).sum())(X + 1)
        expect(found, rc.grad(of_dense)(X + 1).numpy(), 1e-9)
        found = rc.grad(lambda k: solve(springs(k), b, tol=1e-12, transpose=springs(k)).sum())(X + 1)
        expect(found, rc.grad(of_dense)(X + 1).numpy(), 1e-9)


@pytest.mark.parametrize("symmetric", [False, True])
def test_solve_is_the_dense_one(symmetric):
    a = sparse.jacobian(stencil, sparse.color(sparse.jacobian_sparsity(stencil, X)))(X)
    a = a + sparse.Sparse(sparse.Sparsity(7, 7, rc.arange(8), rc.arange(7)), 9 + X)
    if symmetric:
        a = a + a.T
    analysis, b = sparse.Analysis(a.sparsity, symmetric=symmetric), rc.cos(X)
    assert analysis.symmetric == symmetric and analysis == sparse.Analysis(a, symmetric=symmetric)
    assert sorted(analysis.order().tolist()) == list(range(7))

    def ours(v, b):
        return sparse.solve(sparse.Sparse(a.sparsity, v), b, analysis)

    def dense(v, b):
        matrix = sparse.Sparse(a.sparsity, v).to_dense()
        return rc.linalg.solve((matrix + matrix.mT) / 2 if symmetric else matrix, b)

    expect(ours(a.values, b), dense(a.values, b).numpy(), 1e-13)
    expect(rc.compile(rc.jacrev(ours))(a.values, b), rc.jacrev(dense)(a.values, b).numpy(), 1e-13)
    expect(rc.jacfwd(ours, argnums=1)(a.values, b), rc.jacfwd(dense, argnums=1)(a.values, b).numpy(), 1e-13)
    many = rc.stack([a.values, 2 * a.values], 0)
    expect(rc.vmap(ours, (0, None))(many, b), rc.vmap(dense, (0, None))(many, b).numpy(), 1e-13)
    factor = sparse.factor(a, symmetric=symmetric)
    expect(sparse.solve(factor, b), sparse.solve(a, b, symmetric=symmetric).numpy(), 1e-15)
    factors = sparse.factor(sparse.Sparse(a.sparsity, many), analysis)
    expect(rc.vmap(lambda f: sparse.solve(f, b))(factors)[1], (sparse.solve(factor, b) / 2).numpy(), 1e-13)


def test_scipy_shares_memory():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    a = sparse.jacobian(stencil, sparse.color(sparse.jacobian_sparsity(stencil, X)))(X)
    there = a.to_scipy()
    assert np.shares_memory(there.data, a.values.numpy())
    np.testing.assert_allclose(there @ X.numpy(), (a @ X).numpy())
    with pytest.raises(rc.TransformError, match="detach"):
        rc.grad(lambda v: sparse.Sparse(a.sparsity, v).to_scipy() is None or v.sum())(a.values)
    here = scipy_sparse.csr_array(np.array([[0.0, 2.0], [3.0, 0.0]]))
    back = sparse.Sparse.from_scipy(here)
    assert np.shares_memory(here.data, back.values.numpy())
    expect(back.to_dense(), here.toarray())
    coordinates = scipy_sparse.coo_array(([1.0, 2.0], ([1, 1], [0, 0])), shape=(2, 2))
    expect(sparse.Sparse.from_scipy(coordinates).to_dense(), coordinates.toarray())


def test_an_analysis_or_a_factor_has_said_whether_it_is_symmetric():
    a = sparse.Sparse(sparse.Sparsity(1, 1, rc.tensor([0, 1]), rc.tensor([0])), rc.ones(1))
    analysis = sparse.Analysis(a.sparsity)
    with pytest.raises(rc.TypeError, match="pass symmetric to Analysis"):
        sparse.solve(a, rc.ones(1), analysis, symmetric=True)
    for beside in ({"analysis": analysis}, {"symmetric": True}):
        with pytest.raises(rc.TypeError, match="pass analysis and symmetric to sparse.factor"):
            sparse.solve(sparse.factor(a, analysis), rc.ones(1), **beside)


def test_errors():
    with pytest.raises(rc.TypeError, match="Analysis: pass a Sparsity or a Sparse"):
        sparse.Analysis(rc.ones(3))
    with pytest.raises(rc.ValueError, match="at row 0, column 0 is zero"):
        sparse.solve(sparse.Sparse(sparse.Sparsity(1, 1, rc.tensor([0, 1]), rc.tensor([0])), rc.zeros(1)), rc.ones(1))
    with pytest.raises(rc.ValueError, match='the mode is "all"; it must be one of both, columns, rows, star, acyclic'):
        sparse.color(sparse.jacobian_sparsity(stencil, X), "all")
    with pytest.raises(rc.IndexError, match="nonzero at row 0, column 5"):
        sparse.Sparsity(1, 2, rc.tensor([0, 1]), rc.tensor([5]))
    with pytest.raises(rc.ValueError, match="the pattern has 7 columns"):
        sparse.jacobian(stencil, sparse.color(sparse.jacobian_sparsity(stencil, X)))(rc.ones(3))
