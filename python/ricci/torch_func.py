"""torch.func's names and arguments over Ricci's Tensors: change an import, keep the program.

    import ricci.torch_func as func        # was: import torch.func as func
    per_sample = func.vmap(func.grad(loss), in_dims=(None, 0, 0))(params, x, y)

A module is what holds Tensors and can be called: a dataclass with `__call__`, or a pair (tree, function) of which the
function takes the tree first. What is not in torch.func but beside it there (cond, while_loop, scan, factories with
device and requires_grad) is here too.
"""

import re

import ricci as rc
from ricci import grad, grad_and_value, linearize, vjp  # noqa: F401: they are the same

__all__ = [
    "associative_scan",
    "cond",
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "map",
    "scan",
    "stack_module_state",
    "vjp",
    "vmap",
    "while_loop",
]


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """torch.func.vmap."""
    return rc.vmap(func, in_dims, out_dims, randomness=randomness, chunk_size=chunk_size)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """torch.func.jvp: primals and tangents are tuples."""
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, tuple):
            raise rc.TypeError(f"jvp: {name} must be a tuple, one for each argument, not {type(given).__name__}")
    return rc.jvp(func, primals, tangents, strict=strict, has_aux=has_aux)


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None):
    """torch.func.jacrev."""
    return rc.jacrev(func, argnums, has_aux, chunk_size=chunk_size)


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """torch.func.jacfwd."""
    return rc.jacfwd(func, argnums, has_aux, randomness=randomness)


def hessian(func, argnums=0):
    """torch.func.hessian."""
    return rc.hessian(func, argnums)


# ── modules ──


def _name(leaf):
    """`layers[0].weight` as PyTorch spells it: `layers.0.weight`."""
    return re.sub(r"\[(\w+)\]", r".\1", leaf.replace('["', "[").replace('"]', "]")).lstrip(".")


def _parts(module):
    """(tree, function of the tree and the arguments)."""
    if isinstance(module, tuple) and len(module) == 2 and callable(module[1]):
        return module
    if not callable(module):
        raise rc.TypeError(
            "functional_call: a module is a dataclass with __call__, or a pair (tree, function), not "
            f"{type(module).__name__}"
        )
    return module, lambda m, *args, **kwargs: m(*args, **kwargs)


def state_dict(module):
    """The Tensors of a module by name, `layers.0.weight`."""
    tree = _parts(module)[0]
    return {_name(n): leaf for n, leaf in zip(rc.leaf_names(tree), rc.leaves(tree))}


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, strict=False):
    """The module's result with these Tensors for those of its own that have their names."""
    tree, function = _parts(module)
    given = parameter_and_buffer_dicts
    named = {}
    for part in (given,) if isinstance(given, dict) else given:
        if twice := named.keys() & part.keys():
            raise rc.ValueError(f"functional_call: {sorted(twice)} are given twice; name each Tensor once")
        named.update(part)
    names = [_name(n) for n in rc.leaf_names(tree)]
    if unknown := named.keys() - set(names):
        raise rc.ValueError(f"functional_call: the module has no {sorted(unknown)}; it has {names}")
    if strict and (missing := set(names) - named.keys()):
        raise rc.ValueError(f"functional_call: {sorted(missing)} are missing; give them, or leave out strict")
    order = iter(names)

    def chosen(own):
        return named.get(next(order), own)

    called = rc.map_leaves(chosen, tree)
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    return function(called, *args, **(kwargs or {}))


def stack_module_state(models):
    """(parameters, buffers): the Tensors of all models by name, stacked along axis 0; there are no buffers here."""
    models = list(models)
    if not models:
        raise rc.ValueError("stack_module_state: there is no model; pass a list of them")
    states = [state_dict(m) for m in models]
    if any_other := [s for s in states if s.keys() != states[0].keys()]:
        raise rc.ValueError(
            f"stack_module_state: the models hold other Tensors: {sorted(any_other[0])} and {sorted(states[0])}"
        )
    return {n: rc.stack([s[n] for s in states]) for n in states[0]}, {}


# ── control flow, as torch.cond and torch._higher_order_ops ──


def cond(pred, true_fn, false_fn, operands=()):
    """torch.cond."""
    return rc.cond(pred, true_fn, false_fn, *operands)


def while_loop(cond_fn, body_fn, carried_inputs):
    """torch's while_loop: the functions take the parts of a tuple."""
    state = tuple(carried_inputs)
    return rc.while_loop(lambda s: cond_fn(*s), lambda s: tuple(body_fn(*s)), state)


def scan(combine_fn, init, xs, *, dim=0, reverse=False, length=None):
    """torch's scan: the outputs are stacked along `dim` where they have such an axis, and along axis 0 else. Where xs
    is None, the function is called `length` times."""
    leaves = rc.leaves(xs)
    if not leaves and length is None:
        return init, []
    if not leaves:
        return rc.scan(lambda carry, _: combine_fn(carry, None), init, rc.zeros(length), reverse=reverse)
    if not -leaves[0].ndim <= dim < leaves[0].ndim:
        raise rc.IndexError(f"scan: dim {dim} is out of range for {leaves[0].ndim} axes")
    if length is not None and length != leaves[0].shape[dim]:
        raise rc.ValueError(f"scan: length is {length}, and xs has {leaves[0].shape[dim]} slices along dim {dim}")
    axis = dim % leaves[0].ndim
    carry, outputs = rc.scan(combine_fn, init, xs, dim=axis, reverse=reverse)
    placed = rc.map_leaves(lambda y: y.movedim(0, axis) if 0 < axis < y.ndim else y, outputs)
    return carry, placed


def associative_scan(combine_fn, xs, dim=0, reverse=False, combine_mode="generic"):
    """torch's associative_scan."""
    return rc.associative_scan(combine_fn, xs, dim, reverse=reverse)


def map(f, xs, *args):
    """torch's map: f(x, *args) on every slice x of xs."""
    return rc.map(lambda x: f(x, *args), xs)


# ── factories: those of ricci take PyTorch's arguments ──

_factories = """
    arange empty empty_like eye full full_like linspace ones ones_like rand rand_like randint randint_like randn randn_like
    randperm tensor zeros zeros_like
""".split()
globals().update({_of: getattr(rc, _of) for _of in _factories})
__all__ += _factories
