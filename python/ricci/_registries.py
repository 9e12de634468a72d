"""Containers of other libraries: classes registered with optree, in any name space, or with JAX, where these are
imported."""

import sys


def parts_of(other):
    """(flatten, unflatten) for the class of an object that one of them can take apart; None for any other."""
    return _parts_by_optree(type(other)) or _parts_by_jax(other)


def _parts_by_optree(cls):
    registry = getattr(sys.modules.get("optree.registry"), "_NODETYPE_REGISTRY", {})
    for entry in list(registry.values()):
        if entry.type is cls:
            # It gives the names of the parts too, or leaves them out.
            return lambda whole: tuple(entry.flatten_func(whole))[:2], entry.unflatten_func
    return None


def _parts_by_jax(other):
    tree_flatten = getattr(getattr(sys.modules.get("jax"), "tree_util", None), "tree_flatten", None)
    if tree_flatten is None:
        return None

    def flatten(whole):
        return tree_flatten(whole, is_leaf=lambda part: part is not whole)

    children, _ = flatten(other)
    if len(children) == 1 and children[0] is other:
        return None
    return flatten, lambda rest, children: rest.unflatten(children)
