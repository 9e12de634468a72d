"""Tensors with composable function transforms.

    import ricci as rc
    per_sample = rc.vmap(rc.grad(loss), in_dims=(None, 0, 0))(params, x, y)

Operations are functions here and methods of Tensor, with PyTorch's names of arguments. Arguments and results of
transformed functions are trees: Tensors in tuples, lists, dicts, namedtuples and dataclasses.
"""

import os as _os

from . import _core
from ._core import *  # noqa: F403
from ._core import Passing as _Passing  # noqa: F401: a C++ exception on its way through Python
from ._custom import Function, VmapInfo, once_differentiable
from ._ragged import Ragged

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


def save(path, tree):
    """Writes the Tensors of a tree, or of a dict by name, to a .npz or .safetensors file."""
    by_name = type(tree) is dict and _all_are_tensors(tree.values())
    named = tree if by_name else _core.named_leaves(tree)
    _writer(path)(_os.fspath(path), named)


def load(path, like=None):
    """The Tensors of a .npz or .safetensors file by name; with `like` a tree as `like`, filled with them."""
    named = _reader(path)(_os.fspath(path))
    return named if like is None else _core.load_leaves(like, named)


def _all_are_tensors(values):
    """Whether each value is a Tensor."""
    return not [v for v in values if not isinstance(v, _core.Tensor)]


def _kind_of_file(path):
    kind = _os.path.splitext(_os.fspath(path))[1]
    if kind not in (".npz", ".safetensors"):
        raise _core.ValueError(f"save, load: {path} is neither a .npz nor a .safetensors file")
    return kind


def _writer(path):
    return {".npz": _core.save_npz, ".safetensors": _core.save_safetensors}[_kind_of_file(path)]


def _reader(path):
    return {".npz": _core.load_npz, ".safetensors": _core.load_safetensors}[_kind_of_file(path)]


from . import torch_func as func  # noqa: E402: it is written with what stands above
