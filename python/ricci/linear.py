"""Linear operators and systems, with lineax's ways to solve them. The module is also the operation of its name:
`rc.linear(x, weight)` is `rc.nn.functional.linear`.

    found = linear.linear_solve(linear.Matrix(a, positive=True), b)
    found.value, found.residual, found.steps, found.status
    linear.linear_solve(f, b, linear.cg(tol=1e-10))

Matrices are trees. Any operator has `@`, `+`, `-`, `* number`, `.T` and `as_matrix()`.
"""

from dataclasses import dataclass
from typing import NamedTuple

from ._core import Tensor, _linear, _unknowns_of, eye, grad, jet, jvp, linearize, map_leaves, ravel_pytree, vjp, vmap
from ._core import linear as _layer
from ._spaces import is_also
from .solvers import Result
from .sparse import Sparse

LinearSolver = _linear.LinearSolver
automatic, lu, cholesky, qr, svd = _linear.automatic, _linear.lu, _linear.cholesky, _linear.qr, _linear.svd
diagonal, triangular = _linear.diagonal_solver, _linear.triangular_solver
tridiagonal, sparse = _linear.tridiagonal_solver, _linear.sparse_solver
cg, minres, bicgstab, gmres = _linear.cg, _linear.minres, _linear.bicgstab, _linear.gmres


class Operator:
    """A linear map of a Tensor."""

    def __matmul__(self, other):
        """`a @ x`: the product; `a @ b`: the operator that applies b and then a."""
        if isinstance(other, Tensor):
            return self._map().apply(other)
        return Function._of(_linear.compose(self._map(), _map_of(other)))

    def __add__(self, other):
        return Function._of(_linear.add(self._map(), _map_of(other)))

    def __mul__(self, number):
        return Function._of(_linear.scale(number, self._map()))

    __rmul__ = __mul__

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + Function._of(_linear.scale(-1, _map_of(other)))

    @property
    def T(self):  # noqa: N802: NumPy's name
        return Function._of(self._map().transposed())

    def as_matrix(self):
        """[m, n]; what is not written down is found by n products, side by side."""
        return self._map().as_matrix()


@dataclass
class Matrix(Operator):
    """A matrix [m, n]: a tree. A solver relies on `symmetric` and `positive` (symmetric, positive definite)."""

    values: Tensor
    symmetric: bool = False
    positive: bool = False

    def _map(self):
        return _linear.matrix(self.values, self.symmetric, self.positive)


@dataclass
class Diagonal(Operator):
    """A diagonal matrix, by its elements [n]: a tree."""

    values: Tensor
    positive: bool = False

    def _map(self):
        return _linear.diagonal(self.values, self.positive)


@dataclass
class Triangular(Operator):
    """A matrix [n, n] of which only a triangle is read: a tree."""

    values: Tensor
    upper: bool = True

    def _map(self):
        return _linear.triangular(self.values, self.upper)


@dataclass
class Tridiagonal(Operator):
    """Three diagonals [n - 1], [n], [n - 1]: a tree."""

    lower: Tensor
    diagonal: Tensor
    upper: Tensor
    symmetric: bool = False
    positive: bool = False

    def _map(self):
        return _linear.tridiagonal(self.lower, self.diagonal, self.upper, self.symmetric, self.positive)


class Function(Operator):
    """A linear function of a Tensor. `like`: a Tensor as its argument is, needed where its result has another shape.
    `preconditioner`: about the inverse; `transpose`: found from f unless given."""

    def __init__(self, f, like=None, *, symmetric=False, positive=False, preconditioner=None, transpose=None):
        self._known = _linear.function(f, like, symmetric, positive, preconditioner, transpose)

    @classmethod
    def _of(cls, known):
        self = cls.__new__(cls)
        self._known = known
        return self

    def _map(self):
        return self._known


class Jacobian(Operator):
    """The derivative of f at x, between the elements of x and those of f(x), both trees in the order of
    `rc.ravel_pytree`. f runs once."""

    def __init__(self, f, x, *, symmetric=False, positive=False):
        vector, self._unravel = ravel_pytree(x)
        _, product = linearize(lambda v: ravel_pytree(f(self._unravel(v)))[0], vector)
        self._known = _linear.function(product, vector, symmetric, positive, None, None)

    def _map(self):
        return self._known


def Hessian(f, x, *, positive=False):  # noqa: N802: makes an operator, as the classes do
    """The derivative of f's gradient at x."""
    return Jacobian(grad(f), x, symmetric=True, positive=positive)


def identity(like):
    """Of Tensors like this one."""
    return Function._of(_linear.identity(like))


def _map_of(a):
    if isinstance(a, Operator):
        return a._map()
    if isinstance(a, Sparse):
        return _linear.sparse(a.sparsity, a.values)
    return Function(a)._map()


def linear_solve(a, b, solver=None, *, throw_on_failure=False):
    """The x with a @ x = b, for an operator, a Sparse or a function; by automatic() unless told. Where sizes differ, the
    x of the least residual, and of those the shortest. b may be a tree, for a Jacobian or a function of such trees;
    numbers in it are Tensors.
    The result has value, residual (the greatest |a @ x - b|), steps and status (`rc.solvers.Status`).

        x = linear.linear_solve(linear.Matrix(a), b).value
    """
    solver = solver or automatic()
    if isinstance(b, Tensor) and not isinstance(a, Jacobian):
        return Result(*_linear.linear_solve(_map_of(a), b, solver, throw_on_failure))
    vector, unravel = ravel_pytree(_unknowns_of("linear_solve", b))
    if isinstance(a, Jacobian):
        unravel = a._unravel
    elif not isinstance(a, (Operator, Sparse)):
        f, of_b = a, unravel
        a = Function(lambda v: ravel_pytree(f(of_b(v)))[0])
    value, *facts = _linear.linear_solve(_map_of(a), vector, solver, throw_on_failure)
    return Result(unravel(value), *facts)


def hvp(f, x, v):
    """The Hessian of f at x times v, trees like x."""
    return jvp(grad(f), (x,), (v,))[1]


def ggn_vp(model, loss, x, v):
    """The generalised Gauss-Newton matrix at x times v: J.T @ H @ J @ v, J of the model at x, H of the loss at model(x)."""
    output, pullback = vjp(model, x)
    along = jvp(model, (x,), (v,))[1]
    return pullback(jvp(grad(loss), (output,), (along,))[1])[0]


def fisher_vp(log_likelihoods, x, v):
    """The Fisher matrix at x times v: the mean over outcomes of g @ g.T @ v, g the gradients of a Tensor's elements."""
    each, pullback = vjp(log_likelihoods, x)
    return pullback(jvp(log_likelihoods, (x,), (v,))[1] / each.numel())[0]


def laplacian(f, x):
    """The sum of the second derivatives of f by each element of x: a tree like f(x). By Taylor mode; f runs once."""
    vector, unravel = ravel_pytree(x)

    def along(direction):
        return jet(lambda v: f(unravel(v)), (vector,), ((direction, 0 * direction),))[1][1]

    second = vmap(along)(eye(vector.shape[0], dtype=vector.dtype))
    return map_leaves(lambda each: each.sum(0), second)


class Estimate(NamedTuple):
    """A mean of samples."""

    value: Tensor
    standard_error: Tensor


def hutchinson(a, key, samples=32):
    """An unbiased estimate of the trace of an operator, from its products with vectors of signs."""
    return Estimate(*_linear.hutchinson(_map_of(a), key, samples))


def hutchinson_diagonal(a, key, samples=32):
    """The same of the diagonal."""
    return Estimate(*_linear.hutchinson_diagonal(_map_of(a), key, samples))


class LanczosBasis(NamedTuple):
    """A symmetric operator in an orthonormal basis, where it is tridiagonal."""

    diagonal: Tensor  # [k]
    beside: Tensor  # [k - 1]
    vectors: Tensor  # [k, the argument's shape]


def lanczos(a, start, k):
    """k products with a symmetric operator, from a start that is not 0."""
    return LanczosBasis(*_linear.lanczos(_map_of(a), start, k))


is_also(__name__, _layer)
