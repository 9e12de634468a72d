"""Sparse derivatives: patterns of Jacobians and Hessians, colorings, and sparse matrices as trees.

    coloring = sparse.color(sparse.jacobian_sparsity(f, x))   # once
    j = sparse.jacobian(f, coloring)(x)                       # at each point: a Sparse
    step = sparse.gmres(j, -f(x))

An argument or result of f may be a tree: its elements count in the order of `rc.ravel_pytree`.
"""

from dataclasses import dataclass

from . import _core
from ._core import Tensor, _sparse, from_numpy, ravel_pytree

Sparsity, Coloring, Analysis = _sparse.Sparsity, _sparse.Coloring, _sparse.Analysis
color = _sparse.color


@dataclass
class Sparse:
    """A matrix, or several with one pattern: a tree. Transforms leave the pattern alone and see the values."""

    sparsity: Sparsity
    values: Tensor  # [batch…, nnz], row by row

    @staticmethod
    def of_coordinates(rows, columns, values, shape):
        """Nonzeros at pairs of places, in any order; those at one place are added."""
        return Sparse(*_sparse.of_coordinates(rows, columns, values, *shape))

    @staticmethod
    def of_dense(matrix, sparsity):
        """The elements of [batch…, rows, columns] at the places of the pattern."""
        return Sparse(sparsity, _sparse.of_dense(matrix, sparsity))

    @staticmethod
    def from_scipy(matrix):
        """Of a SciPy matrix or array; the values of one in CSR are shared, not copied."""
        csr = matrix.tocsr()
        if not csr.has_canonical_format:
            csr = csr.copy()
            csr.sum_duplicates()
        crow, col = (from_numpy(numbers.astype("int64")) for numbers in (csr.indptr, csr.indices))
        return Sparse(Sparsity(*csr.shape, crow, col), from_numpy(csr.data))

    def to_scipy(self):
        """A scipy.sparse.csr_array that shares the memory of the values and of the pattern, which is not to be written."""
        from scipy.sparse import csr_array

        if self.values.dim() != 1:
            raise ValueError(f"to_scipy: there are several matrices, values {tuple(self.values.shape)}; convert each")
        data = self.values.numpy()
        matrix = csr_array((self.sparsity.rows, self.sparsity.columns), dtype=data.dtype)
        matrix.data = data
        matrix.indptr, matrix.indices = self.sparsity.crow_indices().numpy(), self.sparsity.col_indices().numpy()
        return matrix

    @property
    def shape(self):
        return (*self.values.shape[:-1], self.sparsity.rows, self.sparsity.columns)

    @property
    def T(self):  # noqa: N802: NumPy's name
        return self.transpose()

    def to_dense(self):
        """[batch…, rows, columns]"""
        return _sparse.to_dense(self.sparsity, self.values)

    def transpose(self):
        """Of the last two axes."""
        return Sparse(*_sparse.transpose(self.sparsity, self.values))

    def diagonal(self):
        """[batch…, min(rows, columns)]"""
        return _sparse.diagonal(self.sparsity, self.values)

    def sum(self, axis):
        """Over the rows, axis -2, or over the columns, axis -1."""
        return _sparse.sum(self.sparsity, self.values, axis)

    def __matmul__(self, x):
        return _sparse.matmul(self.sparsity, self.values, x)

    def __rmatmul__(self, x):
        return _sparse.matmul_from_left(x, self.sparsity, self.values)

    def __add__(self, other):
        return Sparse(*_sparse.add(self.sparsity, self.values, other.sparsity, other.values))

    def __sub__(self, other):
        return self + other * -1

    def __mul__(self, number):
        return Sparse(self.sparsity, self.values * number)

    __rmul__ = __mul__


def _of_vector(f, args, argnums, gives_loss=False):
    """f as a function of the elements of one argument, and these elements."""
    vector, unravel = ravel_pytree(args[argnums])

    def of_vector(v):
        found = f(*args[:argnums], unravel(v), *args[argnums:][1:])
        return found if gives_loss else ravel_pytree(found)[0]

    return of_vector, vector


def jacobian_sparsity(f, *args, argnums=0, at_point=False):
    """Which elements of the Jacobian of f by an argument may be nonzero: for every value of that argument, or at_point,
    for the one at hand, whose values choose branches, places and the turns of loops."""
    return _sparse.sparsity_of(*_of_vector(f, args, argnums), at_point)


def hessian_sparsity(f, *args, argnums=0, at_point=False):
    """The same of the Hessian of a loss: a symmetric pattern."""
    return _sparse.hessian_sparsity_of(*_of_vector(f, args, argnums, gives_loss=True), at_point)


def jacobian(f, coloring, argnums=0):
    """jacobian(f, coloring)(*args): the Jacobian as a Sparse, one derivative for each color."""

    def at(*args):
        return Sparse(coloring.sparsity, _sparse.jacobian_of(*_of_vector(f, args, argnums), coloring))

    return at


def hessian(f, coloring, argnums=0):
    """hessian(f, coloring)(*args): the Hessian of a loss, one product with the Hessian for each color."""

    def at(*args):
        return Sparse(coloring.sparsity, _sparse.hessian_of(*_of_vector(f, args, argnums, True), coloring))

    return at


@dataclass
class Factor:
    """The factors of a matrix, or of several with one pattern: a tree. Derivatives reach the values."""

    analysis: Analysis
    values: Tensor  # of the matrix, [batch…, nnz]
    numbers: Tensor  # int64 [batch…, numbers]: the bits of float64 numbers


def factor(a, analysis=None, *, symmetric=False):
    """The factors of a Sparse, for any number of right-hand sides; without an analysis, one is made of the pattern.
    TypeError for symmetric beside an analysis, which knows it.

        f = sparse.factor(a)
    """
    if analysis is None:
        analysis = Analysis(a.sparsity, symmetric=symmetric)
    elif symmetric:
        raise _core.TypeError("sparse.factor: an analysis is symmetric or not; pass symmetric to Analysis")
    return Factor(analysis, a.values, _sparse.factor(a.sparsity, a.values, analysis))


def solve(a, b, analysis=None, *, symmetric=False):
    """The x with a @ x = b, for a Sparse or its Factor, and b [n] or [batch…, n, k]. Derivatives use the same factor.
    ValueError where a is singular or its pivots are too small; TypeError for an analysis or symmetric beside a Factor,
    or symmetric beside an analysis.

        x = sparse.solve(a, b)
    """
    if not isinstance(a, Factor):
        a = factor(a, analysis, symmetric=symmetric)
    elif analysis is not None or symmetric:
        raise _core.TypeError("sparse.solve: a Factor has an analysis; pass analysis and symmetric to sparse.factor")
    return _sparse.solve(a.analysis, a.values, a.numbers, b)


def _solver(method):
    def solve(a, b, **options):
        return method(a.__matmul__ if isinstance(a, Sparse) else a, b, **options)

    solve.__name__, solve.__doc__ = method.__name__, method.__doc__
    return solve


cg, minres = _solver(_sparse.cg), _solver(_sparse.minres)
bicgstab, gmres = _solver(_sparse.bicgstab), _solver(_sparse.gmres)
