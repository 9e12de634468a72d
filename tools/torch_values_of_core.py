"""Cases of the operations that stand in elementwise.h, reduce.h, shape.h, index.h, create.h, linalg.h and nn.h, for
tools/torch_values.py."""
import math

import torch
import torch.nn.functional as F
from torch_inputs import apart, at, positive, unit, whole, x, z

INF, NAN = math.inf, math.nan


def truth(*values):
    return torch.tensor([bool(v) for v in values])


class Digamma(torch.autograd.Function):
    """PyTorch's own derivative, trigamma, has ten digits."""

    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return torch.special.digamma(a)

    @staticmethod
    def backward(ctx, cotangent):
        return cotangent * torch.special.zeta(2, ctx.saved_tensors[0])


def arithmetic():
    pair = lambda: (x(2, 3), x(3))
    wholes = lambda: (whole(7, -7, 5), whole(2, 2, -3))
    for name in ("add", "sub", "mul"):
        yield name, getattr(torch, name), pair
        yield f"{name} complex", getattr(torch, name), lambda: (z(2, 3), x(3))
        yield f"{name} whole", getattr(torch, name), wholes
    yield "div", torch.div, lambda: (x(2, 3), positive(3))
    yield "div complex", torch.div, lambda: (z(2, 3), z(3))
    yield "div whole", lambda a, b: torch.div(a, b).double(), wholes
    yield "pow", torch.pow, lambda: (positive(2, 3), x(3))
    yield "pow whole", torch.pow, lambda: (whole(2, -3, 5), whole(3, 2, 0))
    yield "pow complex", torch.pow, lambda: (z(3), z(3))
    yield "pow of number", lambda a: torch.pow(a, 3), lambda: (x(2, 3),)
    yield "addcmul", torch.addcmul, lambda: (x(2, 3), x(3), x(2, 1))
    yield "addcdiv", torch.addcdiv, lambda: (x(2, 3), x(3), positive(2, 1))
    yield "add alpha", lambda a, b: torch.add(a, b, alpha=2), pair
    yield "sub alpha", lambda a, b: torch.sub(a, b, alpha=0.5), pair
    yield "addcmul value", lambda a, b, c: torch.addcmul(a, b, c, value=0.5), lambda: (x(2, 3), x(3), x(2, 1))
    yield "addcdiv value", lambda a, b, c: torch.addcdiv(a, b, c, value=-2), lambda: (x(2, 3), x(3), positive(2, 1))
    for how in ("trunc", "floor"):
        f = lambda a, b, how=how: torch.div(a, b, rounding_mode=how)
        yield f"div {how} kink", f, lambda: (at(7, -7, 5.5, -1), at(2, 2, -3, 4))
        yield f"div {how} whole", f, wholes
    yield "floor_divide kink", torch.floor_divide, lambda: (at(7, -7, 5.5, -1), at(2, 2, -3, 4))
    yield "floor_divide whole", torch.floor_divide, wholes
    yield "remainder", torch.remainder, lambda: (at(7, -7, 5.5, -1), at(2.5, 2.2, -3, 4))
    yield "remainder whole", torch.remainder, wholes
    yield "fmod", torch.fmod, lambda: (at(7, -7, 5.5, -1), at(2.5, 2.2, -3, 4))
    yield "fmod whole", torch.fmod, wholes
    yield "copysign", torch.copysign, lambda: (positive(2, 3), at(-1, 0.5, -2))
    yield "hypot", torch.hypot, pair
    yield "xlogy", torch.xlogy, lambda: (x(2, 3), positive(3))
    yield "xlogy of 0 kink", lambda a, b: torch.xlogy(a, b).detach(), lambda: (at(0, 0, NAN), at(0, NAN, 1))
    yield "atan2", torch.atan2, pair
    yield "digamma", Digamma.apply, lambda: (positive(2, 3),)
    yield "polygamma", lambda a: torch.special.zeta(2, a), lambda: (positive(2, 3),)
    yield "polygamma 3", lambda a: torch.polygamma(3, a), lambda: (positive(2, 3),)
    one = {
        "neg positive abs exp exp2 expm1 sin cos tan sinh cosh tanh asinh atan erf erfc deg2rad rad2deg": x,
        "sigmoid sgn": x,
        "sqrt rsqrt reciprocal log log2 log10 log1p lgamma": positive,
        "asin acos atanh": unit,
    }
    for names, inputs in one.items():
        for name in names.split():
            yield name, getattr(torch, name), lambda inputs=inputs: (inputs(2, 3),)
    yield "acosh", torch.acosh, lambda: (positive(2, 3) + 1,)
    yield "cbrt", lambda a: a ** (1 / 3), lambda: (positive(2, 3),)  # PyTorch has none: the definition
    for name in "neg abs exp sin cos tan sinh cosh tanh sqrt log reciprocal sgn angle conj".split():
        yield f"{name} complex", getattr(torch, name), lambda: (z(2, 3),)
    for name in "floor ceil round trunc frac".split():
        yield f"{name} kink", getattr(torch, name), lambda: (at(-2.5, -1.2, -0.5, 0.5, 1.5, 2.7, 3),)
    for decimals in (2, -1):
        f = lambda a, n=decimals: torch.round(a, decimals=n)
        yield f"round {decimals} kink", f, lambda: (at(1.234, -25.678, 0.125, 1005),)
    yield "abs whole", torch.abs, lambda: (whole(-3, 0, 4),)
    yield "abs kink", torch.abs, lambda: (at(-1, 0, 2),)
    yield "sign kink", torch.sign, lambda: (at(-1, 0, 2),)
    yield "sign whole", torch.sign, lambda: (whole(-3, 0, 4),)
    yield "sgn kink", torch.sgn, lambda: (at(-1, 0, 2),)
    yield "angle", torch.angle, lambda: (x(2, 3),)
    yield "logsigmoid", F.logsigmoid, lambda: (x(2, 3),)
    yield "logsigmoid of large", F.logsigmoid, lambda: (at(-800, 800, 0),)
    yield "relu", F.relu, lambda: (x(2, 3),)
    yield "relu kink", F.relu, lambda: (at(0, 1, -1),)
    yield "leaky_relu", F.leaky_relu, lambda: (x(2, 3),)
    yield "leaky_relu slope", lambda a: F.leaky_relu(a, 0.25), lambda: (x(2, 3),)
    yield "elu", F.elu, lambda: (x(2, 3),)
    yield "elu alpha", lambda a: F.elu(a, 0.5), lambda: (x(2, 3),)
    yield "gelu", F.gelu, lambda: (x(2, 3),)
    yield "gelu_tanh", lambda a: F.gelu(a, approximate="tanh"), lambda: (x(2, 3),)
    extremes = lambda: (at(1, NAN, INF, -INF, -2),)
    yield "nan_to_num kink", torch.nan_to_num, extremes
    yield "nan_to_num options kink", lambda a: torch.nan_to_num(a, 7.0, 8.0, -9.0), extremes
    yield "threshold", lambda a: F.threshold(a, 0.25, 7.0), lambda: (x(2, 3),)
    yield "softplus", F.softplus, lambda: (x(2, 3),)
    yield "softplus beta threshold", lambda a: F.softplus(a, 2.0, 1.5), lambda: (x(2, 3),)
    yield "where", torch.where, lambda: (truth(1, 0, 1), x(2, 3), x(3))
    for name in "maximum minimum fmax fmin".split():
        yield name, getattr(torch, name), lambda: (x(2, 3), x(3))
        yield f"{name} kink", getattr(torch, name), lambda: (at(1, 2, INF, 0), at(1, 3, -INF, 0))
        yield f"{name} of NaN kink", lambda a, b, f=getattr(torch, name): f(a, b).detach(), lambda: (
            at(NAN, 1, NAN),
            at(1, NAN, NAN),
        )
        yield f"{name} whole", getattr(torch, name), wholes
    yield "clamp", lambda a: torch.clamp(a, -0.5, 1.0), lambda: (x(2, 3),)
    yield "clamp tensors", torch.clamp, lambda: (x(2, 3), at(-1, -0.5, 0), at(0.5, 1, 1.5))
    yield "clamp kink", lambda a: torch.clamp(a, -1.0, 1.0), lambda: (at(-1, 1, 0, 2),)
    yield "clamp_min", lambda a: torch.clamp_min(a, 0.3), lambda: (x(2, 3),)
    yield "clamp_max", lambda a: torch.clamp_max(a, 0.3), lambda: (x(2, 3),)


def kinds():
    """Comparisons, logic, parts of complex numbers, conversions."""
    pair = lambda: (at(1, 2, 3, NAN), at(1, 3, 2, NAN))
    wholes = lambda: (whole(1, 2, 3), whole(1, 3, 2))
    for name in "eq ne lt le gt ge".split():
        yield name, getattr(torch, name), pair
        yield f"{name} whole", getattr(torch, name), wholes
    yield "eq complex", torch.eq, lambda: (torch.tensor([1 + 2j, 1], dtype=torch.complex128), at(1, 1))
    for name in "isnan isinf isfinite".split():
        yield name, getattr(torch, name), lambda: (at(1, INF, -INF, NAN),)
    yield "isclose", torch.isclose, lambda: (at(1, 1, NAN, INF), at(1.000001, 1.1, NAN, INF))
    yield "isclose bounds", lambda a, b: torch.isclose(a, b, 0.1, 0.01), lambda: (at(1, 1, 0), at(1.09, 1.2, 0.005))
    yield (
        "isclose equal_nan",
        lambda a, b: torch.isclose(a, b, 0.1, 0.01, True),
        lambda: (at(1, 1, NAN, NAN), at(1.09, 1.2, NAN, 1)),
    )
    yield "equal reads", lambda a, b: torch.tensor(torch.equal(a, b)), lambda: (at(1, 2), at(1, 2))
    yield "equal reads other", lambda a, b: torch.tensor(torch.equal(a, b)), lambda: (at(1, 2), at(1, 3))
    yield "allclose reads", lambda a, b: torch.tensor(torch.allclose(a, b)), lambda: (at(1, 2), at(1, 2.000001))
    yield (
        "allclose reads equal_nan",
        lambda a, b: torch.tensor(torch.allclose(a, b, equal_nan=True)),
        lambda: (at(1, NAN), at(1, NAN)),
    )
    yield (
        "allclose reads bounds",
        lambda a, b: torch.tensor(torch.allclose(a, b, 0.1, 0.01)),
        lambda: (at(1, 2), at(1, 2.5)),
    )
    for name in "logical_and logical_or logical_xor".split():
        yield name, getattr(torch, name), lambda: (at(0, 1, 2, 0), truth(0, 1, 0, 1))
    yield "logical_not", torch.logical_not, lambda: (at(0, 1, NAN),)
    for name in "bitwise_and bitwise_or bitwise_xor".split():
        yield name, getattr(torch, name), lambda: (whole(12, -5, 7), whole(10, 6, 1))
        yield f"{name} truth", getattr(torch, name), lambda: (truth(0, 0, 1, 1), truth(0, 1, 0, 1))
    yield "bitwise_not", torch.bitwise_not, lambda: (whole(12, -5, 0),)
    yield "bitwise_not truth", torch.bitwise_not, lambda: (truth(0, 1),)
    yield "bitwise_left_shift", torch.bitwise_left_shift, lambda: (whole(1, 3, -2), whole(3, 0, 1))
    yield "bitwise_right_shift", torch.bitwise_right_shift, lambda: (whole(12, 3, -8), whole(2, 1, 1))
    yield "real", lambda a: torch.real(a) * 1, lambda: (z(2, 3),)
    yield "imag", lambda a: torch.imag(a) * 1, lambda: (z(2, 3),)
    yield "complex", torch.complex, lambda: (x(2, 3), x(2, 3))
    yield "view_as_real", lambda a: torch.view_as_real(a) * 1, lambda: (z(2, 3),)
    yield "view_as_complex", lambda a: torch.view_as_complex(a) * 1, lambda: (x(3, 2),)
    yield "detach kink", lambda a: a.detach(), lambda: (x(2, 3),)
    yield "clone", torch.clone, lambda: (x(2, 3),)
    yield "to kink", lambda a: a.to(torch.float32).double() * 0.5, lambda: (at(0.5, 2.25),)
    yield "to whole kink", lambda a: a.detach().to(torch.int32), lambda: (at(-1.7, 2.3),)
    yield "to complex", lambda a: a.to(torch.complex128), lambda: (x(3),)
    yield "to truth", lambda a: a.detach().to(torch.bool), lambda: (at(0, 0.5, NAN),)


def writes():
    one = {"sin cos exp neg abs tanh sigmoid relu square": x, "sqrt": positive}
    for names, inputs in one.items():
        for name in names.split():
            f = getattr(torch, name)
            yield f"{name}_", lambda a, f=f: f(a * 1), lambda inputs=inputs: (inputs(2, 3),)
    for name in "add sub mul div".split():
        f = getattr(torch, name)
        yield f"{name}_", lambda a, b, f=f: f(a, b), lambda: (x(2, 3), positive(3))
        yield f"{name}_out", lambda a, b, f=f: f(a, b), lambda: (x(2, 3), positive(3))
    yield "copy_", lambda a, b: a * 0 + b, lambda: (x(2, 3), x(3))
    yield "fill_", lambda a, b: a * 0 + b, lambda: (x(2, 3), x())
    yield "zero_", lambda a: a * 0, lambda: (x(2, 3),)


def reductions():
    one = lambda: (apart(3, 4),)
    three = lambda: (apart(2, 3, 4),)
    for name in "sum mean amax amin".split():
        f = getattr(torch, name)
        yield name, f, one
        yield f"{name} dim", lambda a, f=f: f(a, -1), three
        yield f"{name} dims", lambda a, f=f: f(a, (0, 2)), three
        yield f"{name} dims keepdim", lambda a, f=f: f(a, (0, -1), keepdim=True), three
        yield f"{name} keepdim", lambda a, f=f: f(a, (0, 1), keepdim=True), one
    for name in "any all".split():
        f = getattr(torch, name)
        bits = lambda: (truth(0, 0, 1, 1, 0, 1, 1, 1).reshape(2, 2, 2),)
        yield name, f, bits
        yield f"{name} dims", lambda a, f=f: f(a, (0, 2)), bits
        yield f"{name} dims keepdim", lambda a, f=f: f(a, (1,), keepdim=True), bits
        yield f"{name} keepdim", lambda a, f=f: f(a, (0, 1, 2), keepdim=True), bits
        yield f"{name} of numbers", f, lambda: (at(0, NAN, 2),)
    wide = torch.float64
    narrow = lambda: (torch.tensor([[1, 2, 3], [4, 5, 6]], dtype=torch.int32),)
    yield "sum dtype", lambda a: torch.sum(a, dtype=wide), narrow
    yield "sum dims dtype", lambda a: torch.sum(a, (1,), True, dtype=wide), narrow
    yield "sum narrow dtype", lambda a: torch.sum(a, dtype=torch.int32), narrow
    yield "mean dtype", lambda a: torch.mean(a, dtype=wide), narrow
    yield "mean dims dtype", lambda a: torch.mean(a, (0,), True, dtype=wide), narrow
    yield "prod dtype", lambda a: torch.prod(a, dtype=wide), narrow
    yield "prod dim dtype", lambda a: torch.prod(a, 1, True, dtype=wide), narrow
    yield "cumsum dtype", lambda a: torch.cumsum(a, 1, dtype=wide), narrow
    yield "cumprod dtype", lambda a: torch.cumprod(a, 1, dtype=wide), narrow
    yield "softmax dtype", lambda a: torch.softmax(a, 1, dtype=wide), narrow
    yield "log_softmax dtype", lambda a: torch.log_softmax(a, 1, dtype=wide), narrow
    yield "sum whole", torch.sum, lambda: (torch.tensor([[1, 2], [3, 4]], dtype=torch.int32),)
    yield "sum complex", lambda a: torch.sum(a, 0), lambda: (z(2, 3),)
    yield "mean complex", lambda a: torch.mean(a, 0), lambda: (z(2, 3),)
    yield "prod", torch.prod, lambda: (x(5),)
    yield "prod dim", lambda a: torch.prod(a, 1), one
    yield "prod dim keepdim", lambda a: torch.prod(a, 0, keepdim=True), lambda: (x(3, 4),)
    yield "prod of zero", lambda a: torch.prod(a, 1), lambda: (at(0, 2, 3, 0, 0, 2, 1, 2, 4).reshape(3, 3),)
    yield "trace", torch.trace, lambda: (x(3, 4),)
    for name in "max min".split():
        f = getattr(torch, name)
        yield name, f, one
        yield f"{name} dim", lambda a, f=f: f(a, 1), one
        yield f"{name} dim keepdim", lambda a, f=f: f(a, 0, keepdim=True), one
        yield f"{name} elementwise", f, lambda: (x(2, 3), x(2, 3))
        yield f"{name} kink", lambda a, f=f: f(a), lambda: (at(1, 1, 1),)
    for name in "argmax argmin".split():
        f = getattr(torch, name)
        yield name, lambda a, f=f: f(a.detach()), one
        yield f"{name} dim", lambda a, f=f: f(a.detach(), 0), one
        yield f"{name} dim keepdim", lambda a, f=f: f(a.detach(), -1, keepdim=True), one
    yield "count_nonzero", lambda a: torch.count_nonzero(a.detach()), lambda: (at(0, 1, NAN, 0),)
    yield "count_nonzero dims", lambda a: torch.count_nonzero(a.detach(), (0,)), lambda: (at(0, 1, NAN, 0).reshape(2, 2),)
    for name in "var std".split():
        f = getattr(torch, name)
        yield name, f, one
        yield f"{name} dims", lambda a, f=f: f(a, (0, 2)), three
        yield f"{name} correction keepdim", lambda a, f=f: f(a, (1,), correction=2, keepdim=True), three
        yield f"{name} unbiased", lambda a, f=f: f(a, False), one
        yield f"{name} dims unbiased", lambda a, f=f: f(a, (0,), False), one
        yield f"{name} complex", lambda a, f=f: f(a), lambda: (z(5),)
    yield "norm", torch.linalg.vector_norm, one
    for p in (0.0, 0.5, 1.0, 3.0, INF, -INF):
        kink = " kink" if p == 0 else ""
        yield f"norm {p}{kink}", lambda a, p=p: torch.linalg.vector_norm(a, p), one
    yield "norm dims", lambda a: torch.linalg.vector_norm(a, 2, (0, 2)), three
    yield "norm dims keepdim", lambda a: torch.linalg.vector_norm(a, 1, (1,), True), three
    yield "norm kink", torch.linalg.vector_norm, lambda: (at(0, 0),)
    yield "norm complex", torch.linalg.vector_norm, lambda: (z(4),)
    yield "vector_norm", torch.linalg.vector_norm, one
    yield "vector_norm dims keepdim", lambda a: torch.linalg.vector_norm(a, 3, (0, 2), True), three
    yield "cumsum", lambda a: torch.cumsum(a, 1), one
    yield "cumsum whole", lambda a: torch.cumsum(a, 0), lambda: (whole(1, 2, 3),)
    yield "cumprod", lambda a: torch.cumprod(a, 0), one
    yield "cumprod of zero", lambda a: torch.cumprod(a, 0), lambda: (at(2, 0, 3, 0, 1),)
    for descending in (False, True):
        what = " descending" if descending else ""
        yield f"sort dim{what}", lambda a, d=descending: torch.sort(a, 0, d), one
        yield f"argsort dim{what}", lambda a, d=descending: torch.argsort(a.detach(), 0, d), one
    yield "sort", torch.sort, one
    yield "sort whole", torch.sort, lambda: (whole(3, 1, 2),)
    yield "argsort", lambda a: torch.argsort(a.detach()), one
    yield "topk", lambda a: torch.topk(a, 2), one
    yield "topk dim", lambda a: torch.topk(a, 2, 0), one
    yield "topk smallest", lambda a: torch.topk(a, 3, -1, False), one
    yield "median", torch.median, one
    yield "median dim", lambda a: torch.median(a, 1), one
    yield "median keepdim", lambda a: torch.median(a, 0, True), one


def shapes():
    one = lambda: (x(3, 4),)
    three = lambda: (x(2, 3, 4),)
    yield "reshape", lambda a: a.reshape(2, -1), one
    yield "reshape of turned", lambda a: a.t().reshape(6, 2), one
    yield "view", lambda a: a.view(4, 3), one
    yield "expand", lambda a: a.expand(2, 3, -1), lambda: (x(1, 4),)
    yield "broadcast_to", lambda a: a.broadcast_to((2, 3, 4)), lambda: (x(3, 1),)
    yield "permute", lambda a: a.permute(2, 0, 1), three
    yield "transpose", lambda a: a.transpose(0, -1), three
    yield "t", torch.t, one
    yield "t of vector", torch.t, lambda: (x(3),)
    yield "mT", lambda a: a.mT, three
    yield "movedim", lambda a: torch.movedim(a, 0, -1), three
    yield "movedim several", lambda a: torch.movedim(a, (0, 1), (2, 0)), three
    yield "slice", lambda a: a[:, 1:3], one
    yield "slice step", lambda a: a[:, ::3], one
    yield "slice open", lambda a: a[-2:], one
    yield "select", lambda a: a.select(1, -2), three
    yield "narrow", lambda a: torch.narrow(a, 1, 1, 2), one
    yield "diagonal", torch.diagonal, one
    yield "diagonal offset", lambda a: torch.diagonal(a, -1, 0, 2), three
    yield "diagonal offset alone", lambda a: torch.diagonal(a, 1), one
    yield "unfold", lambda a: a.unfold(1, 2, 2), lambda: (x(3, 7),)
    yield "unfold overlapping", lambda a: a.unfold(0, 3, 1), lambda: (x(5, 2),)
    yield "squeeze", torch.squeeze, lambda: (x(1, 3, 1),)
    yield "squeeze dim", lambda a: torch.squeeze(a, 0), lambda: (x(1, 3, 1),)
    yield "squeeze of another dim", lambda a: torch.squeeze(a, 1), lambda: (x(1, 3, 1),)
    yield "squeeze dims", lambda a: torch.squeeze(a, (0, 1)), lambda: (x(1, 3, 1),)
    yield "unsqueeze", lambda a: torch.unsqueeze(a, -1), one
    yield "flatten", torch.flatten, three
    yield "flatten start", lambda a: torch.flatten(a, 1), three
    yield "flatten dims", lambda a: torch.flatten(a, 1, -1), three
    yield "unflatten", lambda a: torch.unflatten(a, -1, (2, -1)), three
    yield "as_strided", lambda a: torch.as_strided(a, (2, 2), (1, 2)), lambda: (x(6),)
    yield "as_strided offset", lambda a: torch.as_strided(a, (3, 2), (1, 1), 2), lambda: (x(6),)
    yield "unbind", torch.unbind, one
    yield "unbind dim", lambda a: torch.unbind(a, 1), one
    yield "split", lambda a: torch.split(a, 2), one
    yield "split dim", lambda a: torch.split(a, 3, 1), one
    yield "split sizes", lambda a: torch.split(a, [1, 3], 1), one
    yield "chunk", lambda a: torch.chunk(a, 2), one
    yield "chunk dim", lambda a: torch.chunk(a, 3, 1), one
    yield "tensor_split", lambda a: torch.tensor_split(a, 2), one
    yield "tensor_split dim", lambda a: torch.tensor_split(a, 3, 1), one
    yield "tensor_split indices", lambda a: torch.tensor_split(a, (1, 2)), one
    yield "tensor_split indices dim", lambda a: torch.tensor_split(a, (1, 3), -1), one
    pair = lambda: (x(2, 3), x(2, 3))
    yield "cat", lambda a, b: torch.cat((a, b)), lambda: (x(2, 3), x(1, 3))
    yield "cat dim", lambda a, b: torch.cat((a, b), -1), pair
    yield "cat types", lambda a, b: torch.cat((a, b)), lambda: (x(2), whole(1, 2))
    yield "stack", lambda a, b: torch.stack((a, b)), pair
    yield "stack dim", lambda a, b: torch.stack((a, b), 1), pair
    yield "unstack", torch.unbind, one
    yield "repeat", lambda a: a.repeat(2, 1, 3), one
    yield "repeat_interleave", lambda a: torch.repeat_interleave(a, 2, 1), one
    yield "repeat_interleave of all", lambda a: torch.repeat_interleave(a, 2), one
    yield (
        "repeat_interleave reads repeats",
        lambda a, n: torch.repeat_interleave(a, n, 0),
        lambda: (x(3, 2), torch.tensor([1, 0, 2])),
    )
    yield (
        "repeat_interleave sized",
        lambda a, n: torch.repeat_interleave(a, n, 1, output_size=3),
        lambda: (x(2, 3), torch.tensor([1, 0, 2])),
    )
    yield "tile", lambda a: torch.tile(a, (2,)), one
    yield "tile more", lambda a: torch.tile(a, (2, 1, 2)), one
    yield "flip", lambda a: torch.flip(a, (0, 1)), one
    yield "roll", lambda a: torch.roll(a, 5), one
    yield "roll dims", lambda a: torch.roll(a, (1, -2), (0, 1)), one
    for name in "tril triu".split():
        f = getattr(torch, name)
        yield name, f, one
        yield f"{name} diagonal", lambda a, f=f: f(a, 1), one
        yield f"{name} below", lambda a, f=f: f(a, -1), three
    # A triangle as a vector, row by row; PyTorch has the places alone.
    places = lambda n, k: tuple(torch.tril_indices(n, n, k))
    back = lambda a, n, k: torch.zeros(n, n, dtype=a.dtype).index_put(places(n, k), a)
    yield "tril_pack", lambda a: a[places(3, 0)], lambda: (x(3, 3),)
    yield "tril_pack diagonal", lambda a: a[places(4, -1)], lambda: (x(4, 4),)
    yield "tril_unpack", lambda a: back(a, 3, 0), lambda: (x(6),)
    yield "tril_unpack diagonal", lambda a: back(a, 4, -1), lambda: (x(6),)
    yield "diag_embed", lambda a: torch.diag_embed(a), one
    yield "diag_embed offset alone", lambda a: torch.diag_embed(a, -1), one
    yield "diag_embed offset", lambda a: torch.diag_embed(a, 1, 0, 2), one
    yield "diag", torch.diag, lambda: (x(3),)
    yield "diag of matrix", torch.diag, one
    yield "diag k", lambda a: torch.diag(a, -1), lambda: (x(3),)
    yield "diag k of matrix", lambda a: torch.diag(a, 1), one
    yield "pad", lambda a: F.pad(a, (1, 2)), one
    yield "pad value", lambda a: F.pad(a, (1, 0, 0, 2), value=1.5), one
    yield "pad less", lambda a: F.pad(a, (-1, 1)), one
    yield "contiguous", lambda a: a.t().contiguous(), one
    yield "meshgrid", lambda a, b: torch.meshgrid(a, b, indexing="ij"), lambda: (x(2), x(3))
    yield "meshgrid xy", lambda a, b, c: torch.meshgrid(a, b, c, indexing="xy"), lambda: (x(2), x(3), x(2))
    yield "slice_scatter", lambda a, b: torch.slice_scatter(a, b, 1, 1, 4, 2), lambda: (x(3, 5), x(3, 2))
    yield "select_scatter", lambda a, b: torch.select_scatter(a, b, 1, -1), lambda: (x(3, 5), x(3))
    yield "diagonal_scatter", lambda a, b: torch.diagonal_scatter(a, b, 1, 0, 1), lambda: (x(3, 4), x(3))


def indexing():
    table = lambda: (x(3, 4),)
    yield "index_select", lambda a, i: torch.index_select(a, 1, i), lambda: (x(3, 4), whole(2, 0, 2))
    places = torch.tensor([[0, 2], [1, 1], [2, 0]])
    yield "gather", lambda a, i: torch.gather(a, 1, i), lambda: (x(3, 4), places)
    yield "take_along_dim", lambda a, i: torch.take_along_dim(a, i, 0), lambda: (x(3, 2), places)
    yield "take_along_dim of all", lambda a, i: torch.take_along_dim(a, i), lambda: (x(3, 2), whole(5, 0, 2))
    yield "take", torch.take, lambda: (x(3, 4), torch.tensor([[0, -1], [5, 5]]))
    yield "scatter", lambda a, i, b: torch.scatter(a, 1, i, b), lambda: (x(3, 4), torch.tensor([[0, 2], [1, 3], [2, 0]]), x(3, 2))
    yield "scatter_add", lambda a, i, b: torch.scatter_add(a, 1, i, b), lambda: (x(3, 4), places, x(3, 2))
    yield "index_add", lambda a, i, b: torch.index_add(a, 0, i, b), lambda: (x(3, 4), whole(2, 0, 2), x(3, 4))
    yield (
        "index_add alpha",
        lambda a, i, b: torch.index_add(a, 0, i, b, alpha=0.5),
        lambda: (x(3, 4), whole(2, 0, 2), x(3, 4)),
    )
    yield "index_fill", lambda a, i, v: torch.index_fill(a, 1, i, v), lambda: (x(3, 4), whole(3, 0), x())
    yield "index", lambda a, i: a[i], lambda: (x(3, 4), whole(2, 0, -1))
    yield "index pairs", lambda a, i, j: a[i, j], lambda: (x(3, 4), whole(2, 0), whole(-1, 3))
    yield "index parts", lambda a, i: a[1:, None, i], lambda: (x(3, 4, 2), whole(2, 0, 1))
    yield "index_put", lambda a, i, b: a.index_put((i,), b), lambda: (x(3, 4), whole(2, 0), x(2, 4))
    yield "index_put accumulate", lambda a, i, j, b: a.index_put((i, j), b, True), lambda: (
        x(3, 4),
        whole(2, 0, 2),
        whole(1, 1, 1),
        x(3),
    )
    yield "masked_fill", lambda a, m, v: torch.masked_fill(a, m, v), lambda: (x(2, 3), truth(1, 0, 1), x())
    yield "nonzero reads", torch.nonzero, lambda: (torch.tensor([[0, 1, 2], [3, 0, 0]]),)
    yield "nonzero sized", lambda a: torch.nonzero_static(a, size=4, fill_value=-1), lambda: (whole(0, 1, 2, 0),)
    yield "masked_select reads", torch.masked_select, lambda: (x(2, 3), truth(1, 0, 1))
    yield "unique reads", torch.unique, lambda: (torch.tensor([[3, 1], [1, 2]]),)
    yield "embedding", F.embedding, lambda: (torch.tensor([[0, 2], [1, 2]]), x(3, 4))
    yield "one_hot", lambda i: F.one_hot(i, 4), lambda: (torch.tensor([[0, 2], [3, 2]]),)
    yield "one_hot reads", lambda i: F.one_hot(i), lambda: (whole(0, 2, 1),)
    yield "searchsorted", torch.searchsorted, lambda: (at(1, 2, 2, 5), at(0, 1, 2, 3, 9))
    yield "searchsorted rows", torch.searchsorted, lambda: (at(1, 2, 3, 2, 4, 6).reshape(2, 3), at(1.5, 3, 5, 2).reshape(2, 2))


def creation():
    double = torch.float64
    yield "tensor", lambda: torch.tensor([[1, 2], [3, 4]], dtype=double), lambda: ()
    yield "tensor of numbers", lambda: torch.tensor([1.5, -2.0], dtype=double), lambda: ()
    yield "tensor of one number", lambda: torch.tensor(7), lambda: ()
    yield "tensor of a list", lambda: torch.tensor([1, 2, 3]), lambda: ()
    yield "from_blob", lambda: torch.tensor([[1, 2, 3], [4, 5, 6]], dtype=double), lambda: ()
    for name in "zeros ones".split():
        f = getattr(torch, name)
        yield name, lambda f=f: f((2, 3), dtype=double), lambda: ()
        yield f"{name} of sizes", lambda f=f: f(2, 3), lambda: ()
        yield f"{name} whole", lambda f=f: f((2,), dtype=torch.int64), lambda: ()
        yield f"{name}_like", lambda a, f=getattr(torch, f"{name}_like"): f(a).detach(), lambda: (x(2, 3),)
        yield f"{name}_like whole", lambda a, f=getattr(torch, f"{name}_like"): f(a, dtype=torch.int64), lambda: (x(2),)
    # What an empty tensor holds is nobody's promise: its shape and type are.
    yield "empty", lambda: torch.zeros((2, 3), dtype=double), lambda: ()
    yield "empty_like", lambda a: torch.zeros_like(a), lambda: (x(2, 3),)
    yield "full", lambda v: v.expand(2, 3) * 1, lambda: (x(),)
    yield "full whole", lambda: torch.full((2,), 7), lambda: ()
    yield "full dtype", lambda: torch.full((2,), 7, dtype=double), lambda: ()
    yield "full_like", lambda a, v: torch.zeros_like(a) + v, lambda: (x(2, 3), x())
    yield "full_like dtype", lambda a: torch.full_like(a, 7, dtype=torch.int64), lambda: (x(2, 3),)
    yield "eye", lambda: torch.eye(3, dtype=double), lambda: ()
    yield "eye rectangular", lambda: torch.eye(2, 4, dtype=torch.int64), lambda: ()
    yield "eye_rows", lambda: torch.eye(5, 4, dtype=double)[2:4], lambda: ()
    yield "arange", lambda: torch.arange(4), lambda: ()
    yield "arange dtype", lambda: torch.arange(4, dtype=double), lambda: ()
    yield "arange start", lambda: torch.arange(-1, 3), lambda: ()
    yield "arange step", lambda: torch.arange(1, 2.1, 0.25, dtype=double), lambda: ()
    yield "arange down", lambda: torch.arange(5, -1, -2), lambda: ()
    yield "linspace", lambda: torch.linspace(-1, 2, 4, dtype=double), lambda: ()
    yield "linspace one", lambda: torch.linspace(-1, 2, 1, dtype=double), lambda: ()


def products():
    square = lambda: (x(3, 3),)
    definite = lambda a: a @ a.mT + 0.5 * torch.eye(a.shape[-1], dtype=a.dtype)
    yield "matmul", torch.matmul, lambda: (x(2, 3), x(3, 4))
    yield "matmul vectors", torch.matmul, lambda: (x(3), x(3))
    yield "matmul batches", torch.matmul, lambda: (x(2, 1, 2, 3), x(4, 3, 2))
    yield "matmul by vector", torch.matmul, lambda: (x(2, 2, 3), x(3))
    yield "matmul complex", torch.matmul, lambda: (z(2, 3), z(3, 2))
    yield "mm", torch.mm, lambda: (x(2, 3), x(3, 4))
    yield "bmm", torch.bmm, lambda: (x(2, 2, 3), x(2, 3, 4))
    yield "mv", torch.mv, lambda: (x(2, 3), x(3))
    yield "dot", torch.dot, lambda: (x(3), x(3))
    yield "vdot", torch.vdot, lambda: (z(3), z(3))
    yield "outer", torch.outer, lambda: (x(2), x(3))
    yield "inner", torch.inner, lambda: (x(2, 3), x(4, 3))
    yield "tensordot", lambda a, b: torch.tensordot(a, b, 2), lambda: (x(2, 3, 4), x(3, 4, 2))
    yield (
        "tensordot axes",
        lambda a, b: torch.tensordot(a, b, ([0, -1], [1, 0])),
        lambda: (x(2, 3, 4), x(4, 2, 5)),
    )
    yield "tensordot none", lambda a, b: torch.tensordot(a, b, ([], [])), lambda: (x(2), x(3))
    yield "einsum", lambda a, b: torch.einsum("bij,bjk->ik", a, b), lambda: (x(2, 3, 4), x(2, 4, 2))
    yield "einsum of three", lambda a, b, c: torch.einsum("i,ij,j", a, b, c), lambda: (x(3), x(3, 2), x(2))
    yield "einsum dots", lambda a, b: torch.einsum("...ij,...j->...i", a, b), lambda: (x(2, 3, 4), x(2, 4))
    yield "addmm", torch.addmm, lambda: (x(3), x(2, 4), x(4, 3))
    yield "addmm factors", lambda a, b, c: torch.addmm(a, b, c, beta=0.5, alpha=2), lambda: (x(3), x(2, 4), x(4, 3))
    whole_matrices = lambda: (whole(1, 2), whole(1, 2, 3, 4).reshape(2, 2), whole(1, 0, 2, 1).reshape(2, 2))
    yield "addmm whole", lambda a, b, c: torch.addmm(a, b, c, beta=2, alpha=3), whole_matrices
    yield "addmm without bias", lambda a, b, c: torch.addmm(a, b, c, beta=0), lambda: (at(NAN, 1, 2), x(2, 4), x(4, 3))
    yield "linear", F.linear, lambda: (x(2, 2, 3), x(4, 3))
    yield "linear bias", F.linear, lambda: (x(2, 3), x(4, 3), x(4))
    yield "multi_dot", lambda a, b, c: torch.linalg.multi_dot((a, b, c)), lambda: (x(2, 5), x(5, 3), x(3, 4))
    yield "kron", torch.kron, lambda: (x(2, 3), x(2, 2))
    yield "cross", torch.linalg.cross, lambda: (x(2, 3), x(2, 3))
    yield "cross dim", lambda a, b: torch.linalg.cross(a, b, dim=0), lambda: (x(3, 2), x(3, 2))
    yield "cholesky", lambda a: torch.linalg.cholesky(definite(a)), square
    yield "cholesky_solve", lambda b, a: torch.cholesky_solve(b, torch.linalg.cholesky(definite(a))), lambda: (x(3, 2), x(3, 3))
    yield "solve", torch.linalg.solve, lambda: (x(3, 3) + 3 * torch.eye(3), x(3, 2))
    yield "solve vector", torch.linalg.solve, lambda: (x(3, 3) + 3 * torch.eye(3), x(3))
    yield "solve complex", torch.linalg.solve, lambda: (z(3, 3) + 3 * torch.eye(3), z(3, 2))
    yield (
        "solve_triangular",
        lambda a, b: torch.linalg.solve_triangular(a, b, upper=False),
        lambda: (x(3, 3) + 3 * torch.eye(3), x(3, 2)),
    )
    yield (
        "triangular_solve",
        lambda b, a: torch.triangular_solve(b, a)[0],
        lambda: (x(3, 2), x(3, 3) + 3 * torch.eye(3)),
    )
    yield (
        "triangular_solve lower transpose unit",
        lambda b, a: torch.triangular_solve(b, a, upper=False, transpose=True, unitriangular=True)[0],
        lambda: (x(3, 2), x(3, 3)),
    )
    well = lambda: (x(3, 3) + 3 * torch.eye(3),)
    for name in "inv det slogdet".split():
        yield name, getattr(torch.linalg, name), well
    yield "inverse", torch.inverse, well
    yield "det complex", torch.linalg.det, lambda: (z(3, 3),)
    yield "logdet", lambda a: torch.logdet(definite(a)), square
    for n in (0, 1, 3, -2):
        yield f"matrix_power {n}", lambda a, n=n: torch.linalg.matrix_power(a, n), well
    # Signs of vectors are nobody's promise: products of them in which the signs meet.
    yield "eigh", lambda a: (lambda w, v: (w, v.abs()))(*torch.linalg.eigh(a + a.mT)), square
    yield "eigvalsh", lambda a: torch.linalg.eigvalsh(a + a.mT), square
    yield "svd", lambda a: (lambda u, s, v: (u.abs(), s, v.abs()))(*torch.linalg.svd(a, full_matrices=False)), lambda: (x(3, 2),)
    yield "svdvals", torch.linalg.svdvals, lambda: (x(3, 2),)


def layers():
    picture = lambda: (x(2, 2, 5, 4),)
    yield "conv1d", F.conv1d, lambda: (x(2, 3, 6), x(4, 3, 2))
    yield "conv1d bias", F.conv1d, lambda: (x(2, 3, 6), x(4, 3, 2), x(4))
    yield (
        "conv1d options",
        lambda a, w, b: F.conv1d(a, w, b, stride=2, padding=1, dilation=2, groups=2),
        lambda: (x(2, 4, 7), x(2, 2, 2), x(2)),
    )
    yield "conv2d", F.conv2d, lambda: (x(2, 2, 4, 5), x(3, 2, 2, 3))
    yield "conv2d bias", F.conv2d, lambda: (x(2, 4, 5), x(3, 2, 2, 3), x(3))
    yield (
        "conv2d options",
        lambda a, w, b: F.conv2d(a, w, b, stride=(2, 1), padding=(0, 1), dilation=(1, 2), groups=2),
        lambda: (x(2, 4, 4, 5), x(2, 2, 2, 2), x(2)),
    )
    yield "max_pool2d", lambda a: F.max_pool2d(a, 2), lambda: (apart(1, 2, 4, 4),)
    yield "max_pool2d stride", lambda a: F.max_pool2d(a, (2, 3), 1), lambda: (apart(1, 1, 4, 5),)
    yield "max_pool2d padding", lambda a: F.max_pool2d(a, 3, 2, 1), lambda: (apart(1, 1, 5, 4),)
    yield "max_pool2d dilation", lambda a: F.max_pool2d(a, 2, 1, 0, 2), lambda: (apart(1, 5, 4),)
    yield "avg_pool2d", lambda a: F.avg_pool2d(a, 2), picture
    yield "avg_pool2d stride", lambda a: F.avg_pool2d(a, (2, 3), 1), picture
    yield "avg_pool2d padding", lambda a: F.avg_pool2d(a, 3, 2, 1), picture
    yield "adaptive_avg_pool2d", lambda a: F.adaptive_avg_pool2d(a, (2, 3)), picture
    yield "layer_norm", lambda a: F.layer_norm(a, (4,)), lambda: (x(3, 4),)
    yield "layer_norm weight", lambda a, w, b: F.layer_norm(a, (2, 3), w, b), lambda: (x(2, 2, 3), x(2, 3), x(2, 3))
    yield "layer_norm eps", lambda a, w, b: F.layer_norm(a, (4,), w, b, 0.1), lambda: (x(3, 4), x(4), x(4))
    statistics = lambda: (x(3), positive(3))
    yield "batch_norm", F.batch_norm, lambda: (x(4, 3), *statistics())
    yield (
        "batch_norm weight",
        lambda a, m, v, w, b: F.batch_norm(a, m, v, w, b, False),
        lambda: (x(4, 3, 2), *statistics(), x(3), x(3)),
    )
    yield (
        "batch_norm training",
        lambda a, w, b: F.batch_norm(a, None, None, w, b, True, 0.2, 0.1),
        lambda: (x(4, 3), x(3), x(3)),
    )
    yield "group_norm", lambda a: F.group_norm(a, 2), lambda: (x(2, 4, 3),)
    yield "group_norm weight", lambda a, w, b: F.group_norm(a, 2, w, b), lambda: (x(2, 4, 3), x(4), x(4))
    yield "group_norm eps", lambda a, w, b: F.group_norm(a, 2, w, b, 0.1), lambda: (x(2, 4, 3), x(4), x(4))
    yield "instance_norm", F.instance_norm, lambda: (x(2, 3, 4),)
    yield "instance_norm weight", lambda a, w, b: F.instance_norm(a, None, None, w, b), lambda: (x(2, 3, 4), x(3), x(3))
    yield (
        "instance_norm statistics",
        lambda a, m, v, w, b: F.instance_norm(a, m, v, w, b, False),
        lambda: (x(2, 3, 4), *statistics(), x(3), x(3)),
    )
    yield (
        "instance_norm eps",
        lambda a, w, b: F.instance_norm(a, None, None, w, b, True, 0.1, 0.2),
        lambda: (x(2, 3, 4), x(3), x(3)),
    )


FAMILIES = [arithmetic, kinds, writes, reductions, shapes, indexing, creation, products, layers]
