"""torch.linalg's names, arguments and defaults."""

from typing import NamedTuple

from . import _core
from ._core import (  # noqa: F401
    Tensor,
    cholesky,
    cholesky_ex,
    det,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    householder_product,
    inv,
    inv_ex,
    ldl_factor,
    ldl_factor_ex,
    ldl_solve,
    lu,
    lu_factor,
    lu_factor_ex,
    lu_solve,
    matmul,
    matrix_exp,
    matrix_norm,
    matrix_power,
    matrix_rank,
    matrix_sqrth,
    multi_dot,
    pinv,
    qr,
    slogdet,
    solve,
    solve_ex,
    solve_triangular,
    svdvals,
    tensorinv,
    tensorsolve,
    vander,
    vecdot,
    vector_norm,
)
from ._core import polar_decomposition as polar  # noqa: F401


def cond(A, p=None, *, out=None):
    """The condition number of matrices in the norm p, 2 if not given."""
    return _core.condition_number(A, 2 if p is None else p, out=out)


def cross(input, other, *, dim=-1, out=None):
    """The cross product of vectors along an axis."""
    return _core.cross(input, other, dim, out=out)


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """The diagonals of matrices, as a view."""
    return _core.diagonal(A, offset, dim1, dim2)


def svd(A, full_matrices=True, *, out=None):
    """U, S and Vh of matrices; U and Vh are square unless full_matrices is False."""
    return _core.svd(A, full_matrices, out=out)


class LeastSquares(NamedTuple):
    """What lstsq gives."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


def lstsq(A, B, rcond=None, *, driver=None):
    """The solution X of least |A X - B|, the shortest of several, and the rank of A. Singular values of A that are the
    greatest one times `rcond`, or less, count as 0. PyTorch's drivers all give the same. Residuals and singular values
    are empty, as those of its default driver."""
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise _core.ValueError(f'lstsq: driver must be "gels", "gelsy", "gelsd" or "gelss", not {driver!r}')
    solution = _core.lstsq(A, B) if rcond is None else _core.matmul(_core.pinv(A, rcond), B)
    nothing = _core.zeros(0, dtype=A.real.dtype)
    return LeastSquares(solution, nothing, _core.matrix_rank(A, rcond), nothing)


def norm(A, ord=None, dim=None, keepdim=False, *, out=None, dtype=None):
    """A norm of vectors (along one axis, or of all elements where neither `ord` nor `dim` is given), or of matrices
    (along two axes, or of a matrix). For vectors `ord` is a number, for matrices also "fro" or "nuc"."""
    x = A if dtype is None else A.to(dtype)
    if dim is None and ord is None:
        found = _core.vector_norm(x.flatten(), 2)
        found = found.reshape((1,) * A.ndim) if keepdim else found
        return found if out is None else out.copy_(found)
    if dim is None and A.ndim not in (1, 2):
        raise _core.ValueError(f"norm: with ord the input must have one or two axes, not {A.ndim}; give dim")
    axes = tuple(range(A.ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if len(axes) == 2 and (ord is not None or dim is None):
        return _core.matrix_norm(x, ord, axes, keepdim, out=out)
    return _core.vector_norm(x, 2 if ord is None else ord, axes, keepdim, out=out)
