"""Operations with rules of their own, as torch.autograd.Function."""

from collections import namedtuple

from . import _core


class VmapInfo(namedtuple("VmapInfo", ("batch_size", "randomness"))):
    """What a vmap rule is told: an int, and "error", "different" or "same"."""

    __slots__ = ()


class Function:
    """An operation with rules of its own: derive a class with static methods, and call `apply(*args)`.

    forward(*args)                       plain arguments, any trees
    setup_context(ctx, inputs, output)   saves what the derivatives need
    backward(ctx, *cotangents)           one gradient for each argument, None for none
    jvp(ctx, *tangents)                  one tangent for each output
    vmap(info, in_dims, *args)           (output, out_dims); or generate_vmap_rule = True
    """

    generate_vmap_rule = False
    once_differentiable = False

    @staticmethod
    def forward(*args):
        raise _core.NotImplementedError("Function: forward is missing")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Keeps nothing."""

    @staticmethod
    def backward(ctx, *cotangents):
        raise _core.NotImplementedError("Function: backward is missing")

    @staticmethod
    def jvp(ctx, *tangents):
        raise _core.NotImplementedError("Function: jvp is missing")

    @staticmethod
    def vmap(info, in_dims, *args):
        raise _core.NotImplementedError("Function: vmap is missing")

    @classmethod
    def apply(cls, *args):
        """The output for these arguments."""
        return _core.apply_function(cls, *args)


def once_differentiable(of):
    """A decorator of a Function, or of its backward as in PyTorch: a second derivative is an error."""
    if not callable(of) and not isinstance(of, staticmethod):
        raise _core.TypeError(
            f"once_differentiable: a Function or its backward is needed, not {type(of).__name__}; write it above one"
        )
    getattr(of, "__func__", of).once_differentiable = True
    return of
