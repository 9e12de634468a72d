"""What notebooks show of a Tensor: a table of numbers and vectors and matrices of them, and text of all else."""

from html import escape

from . import _core

_EDGE = 5  # rows and columns at each end of a long axis


def _places(size):
    """The places along an axis that are shown; None for those left out."""
    return list(range(size)) if size <= 2 * _EDGE + 1 else [*range(_EDGE), None, *range(size - _EDGE, size)]


def of_tensor(x):
    """A table with dtype and shape above it. Inside transforms, and of more than two axes: the text."""
    if _core.inside_transform() or x.dim() > 2:
        return f"<pre>{escape(repr(x))}</pre>"
    matrix = x.detach().reshape(*(1,) * (2 - x.dim()), *x.shape)
    rows, columns = (_places(size) for size in matrix.shape)

    def cell(i, j):
        if i is None or j is None:
            return "…"
        value = matrix[i, j].item()
        return escape(f"{value:.6g}" if isinstance(value, (float, complex)) else str(value))

    lines = "".join("<tr>" + "".join(f"<td>{cell(i, j)}</td>" for j in columns) + "</tr>" for i in rows)
    shape = ", ".join(map(str, x.shape))
    return f"<table><caption>{x.dtype} [{shape}]</caption>{lines}</table>"
