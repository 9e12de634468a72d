"""Tensors with composable function transforms.

    import ricci as rc
    per_sample = rc.vmap(rc.grad(loss), in_dims=(None, 0, 0))(params, x, y)

Operations are functions here and methods of Tensor, with PyTorch's names of arguments; `rc.linalg`, `rc.special`,
`rc.fft` and `rc.nn.functional` have them under PyTorch's names. Arguments and results of transformed functions are
trees: Tensors in tuples, lists, dicts, namedtuples and dataclasses.
"""

import os as _os
from importlib import import_module as _import_module

from . import _core
from ._core import *  # noqa: F403
from ._core import Passing as _Passing  # noqa: F401: a C++ exception on its way through Python
from ._custom import Function, VmapInfo, once_differentiable
from ._files import load, save
from ._ragged import Ragged
from ._words import channels_last, channels_last_3d, contiguous_format, preserve_format, strided  # noqa: F401

_core.set_package(_os.path.dirname(_os.path.abspath(__file__)))
_trace_of_matrix = _core.trace


def trace(func):
    """trace(f)(*args): f written down as a Program. Of a Tensor: the sum of the diagonal of a matrix."""
    if isinstance(func, _core.Tensor):
        return _trace_of_matrix(func)
    return _core.trace_function(func)


def rebuild_tensor(elements, shape, dtype):
    """What a pickled Tensor is made of again."""
    return _core.rebuild_tensor(elements, shape, dtype)


from . import debug, linalg, nn, ode, optim, sample, solvers, sparse, special  # noqa: E402, F401: spaces of names

# In place of the operations of these names, which they are too.
fft, linear = _import_module(".fft", __name__), _import_module(".linear", __name__)
from . import torch_func as func  # noqa: E402: it is written with what stands above
