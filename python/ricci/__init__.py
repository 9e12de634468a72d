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
from ._core import __version__  # noqa: F401
from ._custom import Function, VmapInfo, once_differentiable
from ._files import load, save
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


# Imported when they are first asked for: most programs need few of them, and `dataclasses` alone takes longer than all
# else here.
_later = {
    name: name
    for name in "debug distributions fft linalg linear nn ode optim profile sample solvers sparse special torch_func".split()
} | {"func": "torch_func"}
del fft, linear  # noqa: F821: the operations, which the spaces of these names are too

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import debug, distributions, fft, linalg, linear, nn, ode, optim  # noqa: F401
    from . import profile, sample, solvers, sparse, special  # noqa: F401
    from . import torch_func as func  # noqa: F401
    from ._ragged import Ragged  # noqa: F401


def __getattr__(name):
    if name == "Ragged":
        found = _import_module("._ragged", __name__).Ragged
    elif name in _later:
        found = _import_module("." + _later[name], __name__)
    else:
        raise AttributeError(f"module 'ricci' has no attribute '{name}'")
    return globals().setdefault(name, found)


def __dir__():
    return sorted({*globals(), *_later, "Ragged"} - {"TYPE_CHECKING"})


__all__ = [name for name in __dir__() if not name.startswith("_")]  # `from ricci import *` imports all spaces
