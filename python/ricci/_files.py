"""Trees of Tensors in files: .npz and .safetensors."""

import os

from . import _core


def save(path, tree):
    """Writes the Tensors of a tree, or of a dict by name, to a .npz or .safetensors file."""
    by_name = type(tree) is dict and all(isinstance(v, _core.Tensor) for v in tree.values())
    named = tree if by_name else _core.named_leaves(tree)
    _writer(path)(os.fspath(path), named)


def load(path, like=None):
    """The Tensors of a .npz or .safetensors file by name; with `like` a tree as `like`, filled with them."""
    named = _reader(path)(os.fspath(path))
    return named if like is None else _core.load_leaves(like, named)


def _kind_of_file(path):
    kind = os.path.splitext(os.fspath(path))[1]
    if kind not in (".npz", ".safetensors"):
        raise _core.ValueError(f"save, load: {path} is neither a .npz nor a .safetensors file")
    return kind


def _writer(path):
    return {".npz": _core.save_npz, ".safetensors": _core.save_safetensors}[_kind_of_file(path)]


def _reader(path):
    return {".npz": _core.load_npz, ".safetensors": _core.load_safetensors}[_kind_of_file(path)]
