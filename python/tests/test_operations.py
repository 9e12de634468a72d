"""Every operation of the index, called with its arguments by name, against NumPy or a closed form."""

import math
import pickle
import re
from collections import Counter

import numpy as np
import pytest
from conftest import expect

import ricci as rc

RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 3))
Y = RNG.standard_normal((2, 3))
P = RNG.uniform(0.1, 0.9, (2, 3))  # in (0, 1)
I = np.array([[3, -5, 7], [2, 9, -4]])
J = np.array([[2, 3, 1], [5, 2, 3]])
B = np.array([[True, False, True], [False, False, True]])
Z = X + 1j * Y
S = RNG.standard_normal((3, 3))  # square
SPD = S @ S.T + 3 * np.eye(3)
SYM = (S + S.T) / 2
V = RNG.standard_normal(3)
W = RNG.standard_normal(3)
IMG = RNG.standard_normal((2, 2, 4, 6))
LINE = IMG[:, :, 0]
PAIRS = LINE.reshape(2, 2, 3, 2)  # windows of two elements, of the last axis
CUBES = IMG.reshape(2, 1, 2, 2, 2, 3, 2)  # windows of two elements each way, of IMG as two volumes
GREATEST_OF_PLANES = IMG.max((2, 3), keepdims=True), IMG.reshape(2, 2, 24).argmax(2)[:, :, None, None]
GREATEST_OF_VOLUMES = IMG.max((1, 2, 3), keepdims=True), IMG.reshape(2, 48).argmax(1)[:, None, None, None]
t = lambda a, dtype=None: rc.tensor(a, dtype=dtype)


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def convolution(x, w):
    """[N, C, L], [O, C, K] without padding."""
    k = w.shape[2]
    return np.stack([np.einsum("nck,ock->no", x[:, :, i : i + k], w) for i in range(x.shape[2] - k + 1)], -1)


def normalized(x, axes):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


def written(a, places, value, add=False):
    out = a.copy()
    if add:
        np.add.at(out, places, value)
    else:
        out[places] = value
    return out


def hinges(scores, right):
    """The multi-margin loss of one example."""
    return np.maximum(0, 1 - scores[right] + np.delete(scores, right)).sum() / len(scores)


SIGN = np.where(B, 1.0, -1.0)
COSINES = (X * Y).sum(1) / np.linalg.norm(X, axis=1) / np.linalg.norm(Y, axis=1)
erf = np.vectorize(math.erf)
lgamma = np.vectorize(math.lgamma)
sigmoid = lambda x: 1 / (1 + np.exp(-x))
EULER = 0.5772156649015329
TURN = np.array([[math.cos(1), math.sin(1)], [-math.sin(1), math.cos(1)]])
LU_SOLUTION = np.linalg.solve(np.array([[1, 0], [0.5, 1]]) @ np.array([[2.0, 1], [0, 4]]), S[:2])

# name: (arguments by name, what it gives). A callable as arguments gives both itself.
UNARY = {
    "neg": -X,
    "positive": X,
    "floor": np.floor(X),
    "ceil": np.ceil(X),
    "round": np.round(X),
    "trunc": np.trunc(X),
    "frac": X - np.trunc(X),
    "abs": np.abs(X),
    "sign": np.sign(X),
    "sgn": np.sign(X),
    "nan_to_num": np.nan_to_num(X),
    "square": X**2,
    "cbrt": np.cbrt(X),
    "reciprocal": 1 / X,
    "exp": np.exp(X),
    "exp2": np.exp2(X),
    "expm1": np.expm1(X),
    "sin": np.sin(X),
    "cos": np.cos(X),
    "tan": np.tan(X),
    "atan": np.arctan(X),
    "deg2rad": np.deg2rad(X),
    "rad2deg": np.rad2deg(X),
    "sinh": np.sinh(X),
    "cosh": np.cosh(X),
    "tanh": np.tanh(X),
    "asinh": np.arcsinh(X),
    "erf": erf(X),
    "erfc": 1 - erf(X),
    "sigmoid": sigmoid(X),
    "logsigmoid": np.log(sigmoid(X)),
    "relu": np.maximum(X, 0),
    "gelu": X * (1 + erf(X / math.sqrt(2))) / 2,
    "silu": X * sigmoid(X),
    "real": X,
    "imag": 0 * X,
    "conj": X,
    "angle": np.angle(X),
    "detach": X,
    "clone": X,
    "isnan": np.isnan(X),
    "isinf": np.isinf(X),
    "isfinite": np.isfinite(X),
    "logical_not": X == 0,
    "count_nonzero": np.count_nonzero(X),
    "contiguous": X,
    "t": X.T,
    "mT": X.T,
    "unstack": list(X),
    "zeros_like": 0 * X,
    "ones_like": np.ones_like(X),
    "tril_pack": None,
    "svdvals": np.linalg.svd(X)[1],
}
POSITIVE = {
    "sqrt": np.sqrt(P),
    "rsqrt": 1 / np.sqrt(P),
    "log": np.log(P),
    "log2": np.log2(P),
    "log10": np.log10(P),
    "log1p": np.log1p(P),
    "asin": np.arcsin(P),
    "acos": np.arccos(P),
    "acosh": None,
    "atanh": np.arctanh(P),
    "lgamma": lgamma(P),
}
BINARY = {
    "add": X + Y,
    "sub": X - Y,
    "mul": X * Y,
    "div": X / Y,
    "floor_divide": np.floor_divide(X, Y),
    "remainder": np.remainder(X, Y),
    "fmod": np.fmod(X, Y),
    "copysign": np.copysign(X, Y),
    "hypot": np.hypot(X, Y),
    "logaddexp": np.logaddexp(X, Y),
    "atan2": np.arctan2(X, Y),
    "maximum": np.maximum(X, Y),
    "minimum": np.minimum(X, Y),
    "fmax": np.fmax(X, Y),
    "fmin": np.fmin(X, Y),
    "max": np.maximum(X, Y),
    "min": np.minimum(X, Y),
    "eq": X == Y,
    "ne": X != Y,
    "lt": X < Y,
    "le": X <= Y,
    "gt": X > Y,
    "ge": X >= Y,
    "isclose": np.isclose(X, Y),
    "logical_and": (X != 0) & (Y != 0),
    "logical_or": (X != 0) | (Y != 0),
    "logical_xor": (X != 0) ^ (Y != 0),
    "equal": False,
    "allclose": False,
    "inner": np.inner(X, Y),
    "kron": np.kron(X, Y),
    "cross": np.cross(X, Y),
}
CASES = {name: (dict(input=t(X)), wanted) for name, wanted in UNARY.items() if wanted is not None}
CASES |= {name: (dict(input=t(P)), wanted) for name, wanted in POSITIVE.items() if wanted is not None}
CASES |= {name: (dict(input=t(X), other=t(Y)), wanted) for name, wanted in BINARY.items()}
CASES |= {
    "zeros": (dict(size=(2, 3), dtype=rc.int64), np.zeros((2, 3))),
    "ones": (dict(size=[2], dtype="float64"), np.ones(2)),
    "full": (dict(size=2, fill_value=7.5), [7.5, 7.5]),
    "full_like": (dict(input=t(I), fill_value=4), np.full((2, 3), 4)),
    "eye_rows": (dict(first=1, rows=2, columns=4, dtype=rc.float32), np.eye(4)[1:3]),
    "eye": (dict(n=2, m=3), np.eye(2, 3)),
    "arange": (dict(start=1, end=8, step=3), [1, 4, 7]),
    "linspace": (dict(start=0, end=1, steps=5), np.linspace(0, 1, 5)),
    "pow": (dict(input=t(P), exponent=t(Y)), P**Y),
    "addcmul": (dict(input=t(X), tensor1=t(Y), tensor2=t(P)), X + Y * P),
    "addcdiv": (dict(input=t(X), tensor1=t(Y), tensor2=t(P)), X + Y / P),
    "lerp": (dict(input=t(X), end=t(Y), weight=0.25), X + 0.25 * (Y - X)),
    "xlogy": (dict(input=t(X), other=t(P)), X * np.log(P)),
    "acosh": (dict(input=t(P + 1)), np.arccosh(P + 1)),
    "digamma": (dict(input=t([1.0, 2.0], rc.float64)), [-EULER, 1 - EULER]),
    "polygamma": (dict(n=1, input=t([1.0], rc.float64)), [math.pi**2 / 6]),
    "leaky_relu": (dict(input=t(X), negative_slope=0.2), np.where(X > 0, X, 0.2 * X)),
    "elu": (dict(input=t(X), alpha=2.0), np.where(X > 0, X, 2 * np.expm1(X))),
    "threshold": (dict(input=t(X), threshold=0.5, value=9.0), np.where(X > 0.5, X, 9)),
    "softplus": (dict(input=t(X), beta=2.0, threshold=20.0), np.log1p(np.exp(2 * X)) / 2),
    "where": (dict(condition=t(B), input=t(X), other=t(Y)), np.where(B, X, Y)),
    "clamp": (dict(input=t(X), min=-0.5, max=0.5), np.clip(X, -0.5, 0.5)),
    "clamp_min": (dict(input=t(X), min=0.1), np.maximum(X, 0.1)),
    "clamp_max": (dict(input=t(X), max=0.1), np.minimum(X, 0.1)),
    "complex": (dict(real=t(X), imag=t(Y)), Z),
    "view_as_real": (dict(input=t(Z)), np.stack([X, Y], -1)),
    "view_as_complex": (dict(input=t(np.stack([X, Y], -1))), Z),
    "to": (dict(input=t(X), dtype=rc.int64), X.astype(int)),
    "bitwise_and": (dict(input=t(I), other=t(J)), I & J),
    "bitwise_or": (dict(input=t(I), other=t(J)), I | J),
    "bitwise_xor": (dict(input=t(I), other=t(J)), I ^ J),
    "bitwise_not": (dict(input=t(I)), ~I),
    "bitwise_left_shift": (dict(input=t(I), other=t(J)), I << J),
    "bitwise_right_shift": (dict(input=t(I), other=t(J)), I >> J),
    "index_select": (dict(input=t(X), dim=1, index=t([2, 0])), X[:, [2, 0]]),
    "gather": (dict(input=t(X), dim=1, index=t([[2], [0]])), np.take_along_axis(X, np.array([[2], [0]]), 1)),
    "take_along_dim": (dict(input=t(X), indices=t([[2], [0]]), dim=1), np.take_along_axis(X, np.array([[2], [0]]), 1)),
    "take": (dict(input=t(X), index=t([5, 0])), X.ravel()[[5, 0]]),
    "scatter": (
        dict(input=t(X), dim=1, index=t([[2], [0]]), src=t([[7.0], [8.0]], rc.float64)),
        written(X, ([0, 1], [2, 0]), [7, 8]),
    ),
    "scatter_add": (
        dict(input=t(X), dim=1, index=t([[2, 2], [0, 1]]), src=t(np.ones((2, 2)))),
        written(X, ([0, 0, 1, 1], [2, 2, 0, 1]), 1, add=True),
    ),
    "index_add": (dict(input=t(X), dim=0, index=t([1, 1]), source=t(Y)), np.stack([X[0], X[1] + Y[0] + Y[1]])),
    "index_fill": (dict(input=t(X), dim=1, index=t([0]), value=5.0), written(X, (slice(None), 0), 5)),
    "index": (dict(input=t(X), indices=(slice(None), [0, 2])), X[:, [0, 2]]),
    "index_put": (
        dict(input=t(X), indices=(t([0, 0]), t([1, 1])), values=2.0, accumulate=True),
        written(X, ([0, 0], [1, 1]), 2, add=True),
    ),
    "masked_fill": (dict(input=t(X), mask=t(B), value=3.0), np.where(B, 3, X)),
    "nonzero": (dict(input=t(B)), np.argwhere(B)),
    "argwhere": (dict(input=t(B)), np.argwhere(B)),
    "ravel": (dict(input=t(IMG)), IMG.ravel()),
    "unflatten": (dict(input=t(IMG), dim=-1, sizes=(3, -1)), IMG.reshape(2, 2, 4, 3, 2)),
    "masked_select": (dict(input=t(X), mask=t(B), size=4, fill=-1.0), [*X[B], -1]),
    "unique": (dict(input=t([3, 1, 3])), [1, 3]),
    "embedding": (dict(input=t([1, 0, 1]), weight=t(X)), X[[1, 0, 1]]),
    "one_hot": (dict(input=t([2, 0]), num_classes=3), np.eye(3)[[2, 0]]),
    "searchsorted": (dict(sorted_sequence=t([1.0, 3.0, 5.0]), input=t([0.0, 3.0, 9.0])), [0, 1, 3]),
    "matmul": (dict(input=t(X), other=t(S)), X @ S),
    "mm": (dict(input=t(X), mat2=t(S)), X @ S),
    "bmm": (dict(input=t(X[None]), mat2=t(S[None])), (X @ S)[None]),
    "mv": (dict(input=t(X), vec=t(V)), X @ V),
    "dot": (dict(input=t(V), tensor=t(W)), V @ W),
    "vdot": (dict(input=t(Z[0]), other=t(Z[1])), np.vdot(Z[0], Z[1])),
    "outer": (dict(input=t(V), vec2=t(W)), np.outer(V, W)),
    "tensordot": (dict(a=t(X), b=t(S), dims=1), np.tensordot(X, S, 1)),
    "einsum": (dict(equation="ij,kj->ik", operands=[t(X), t(S)]), X @ S.T),
    "addmm": (dict(input=t(V), mat1=t(X), mat2=t(S)), V + X @ S),
    "linear": (dict(input=t(X), weight=t(S), bias=t(V)), X @ S.T + V),
    "multi_dot": (dict(tensors=[t(X), t(S), t(V)]), X @ S @ V),
    "cholesky": (dict(input=t(SPD)), np.linalg.cholesky(SPD)),
    "cholesky_solve": (dict(input=t(V), input2=t(np.linalg.cholesky(SPD))), np.linalg.solve(SPD, V)),
    "solve": (dict(A=t(S), B=t(V)), np.linalg.solve(S, V)),
    "solve_triangular": (dict(A=t(S), B=t(V), upper=False), np.linalg.solve(np.tril(S), V)),
    "triangular_solve": (dict(input=t(V), A=t(S), upper=True, transpose=True), np.linalg.solve(np.triu(S).T, V)),
    "inverse": (dict(input=t(S)), np.linalg.inv(S)),
    "inv": (dict(input=t(S)), np.linalg.inv(S)),
    "det": (dict(input=t(S)), np.linalg.det(S)),
    "slogdet": (dict(input=t(S)), np.linalg.slogdet(S)),
    "logdet": (dict(input=t(SPD)), np.log(np.linalg.det(SPD))),
    "matrix_power": (dict(input=t(S), n=3), S @ S @ S),
    "eigvalsh": (dict(input=t(SYM)), np.linalg.eigvalsh(SYM)),
    "lstsq": (dict(A=t(X.T), B=t(V)), np.linalg.lstsq(X.T, V, rcond=None)[0]),
    "pinv": (dict(input=t(X), rtol=1e-10), np.linalg.pinv(X)),
    "matrix_rank": (dict(input=t(np.outer(V, W)), rtol=1e-8), 1),
    "matrix_norm": (dict(input=t(X), ord="nuc", dim=(0, 1), keepdim=False), np.linalg.norm(X, "nuc")),
    "condition_number": (dict(input=t(S), p=1.0), np.linalg.cond(S, 1)),
    "inv_ex": (dict(A=t(S)), [np.linalg.inv(S), 0]),
    "solve_ex": (dict(A=t(S), B=t(V)), [np.linalg.solve(S, V), 0]),
    "cholesky_ex": (dict(input=t(SPD), upper=True), [np.linalg.cholesky(SPD).T, 0]),
    "cholesky_inverse": (dict(input=t(np.linalg.cholesky(SPD))), np.linalg.inv(SPD)),
    "lu_factor": (dict(A=t(np.diag([3.0, 2.0]))), [np.diag([3.0, 2.0]), [1, 2]]),
    "lu_factor_ex": (dict(A=t(np.diag([3.0, 0.0]))), [np.diag([3.0, 0.0]), [1, 2], 2]),
    "lu_solve": (dict(LU=t([[2.0, 1.0], [0.5, 4.0]]), pivots=t([1, 2], rc.int32), B=t(S[:2])), LU_SOLUTION),
    "matrix_exp": (dict(input=t([[0.0, 1.0], [-1.0, 0.0]])), TURN),
    "matrix_sqrth": (dict(input=t(SPD @ SPD)), SPD),
    "eigvals": (dict(input=t([[0.0, 1.0], [-1.0, 0.0]])), [1j, -1j]),
    "householder_product": (dict(input=t([[1.0], [1.0]]), tau=t([1.0])), [[0.0], [-1.0]]),
    "ormqr": (dict(input=t([[1.0], [1.0]]), tau=t([1.0]), other=t(S[:2]), transpose=True), -S[[1, 0]]),
    "tensorinv": (dict(input=t(S.reshape(1, 3, 3)), ind=2), np.linalg.inv(S).reshape(3, 1, 3)),
    "tensorsolve": (dict(A=t(S), B=t(V)), np.linalg.solve(S, V)),
    "vecdot": (dict(x=t(Z), y=t(Y), dim=1), (Z.conj() * Y).sum(1)),
    "vander": (dict(x=t(V), N=4), np.vander(V, 4, increasing=True)),
    "conv1d": (dict(input=t(IMG[:, :, 0]), weight=t(IMG[:, :, 0, :2])), convolution(IMG[:, :, 0], IMG[:, :, 0, :2])),
    "conv2d": (
        dict(input=t(IMG), weight=t(IMG[:, :, :1, :1]), bias=None, stride=2, padding=0, dilation=1, groups=1),
        np.einsum("nchw,oc->nohw", IMG[:, :, ::2, ::2], IMG[:, :, 0, 0]),
    ),
    "max_pool2d": (dict(input=t(IMG), kernel_size=2, stride=2, padding=0), IMG.reshape(2, 2, 2, 2, 3, 2).max((3, 5))),
    "avg_pool2d": (dict(input=t(IMG), kernel_size=(2, 2)), IMG.reshape(2, 2, 2, 2, 3, 2).mean((3, 5))),
    "conv3d": (dict(input=t(IMG), weight=t(S[:, :2, None, None, None])), np.einsum("cdhw,oc->odhw", IMG, S[:, :2])),
    "conv_transpose1d": (
        dict(input=t(LINE), weight=t(X[:, :, None]), stride=1, padding=0, output_padding=0, dilation=1),
        np.einsum("ncl,co->nol", LINE, X),
    ),
    "conv_transpose2d": (
        dict(input=t(IMG), weight=t(X[:, :, None, None]), bias=t(V), groups=1),
        np.einsum("nchw,co->nohw", IMG, X) + V[:, None, None],
    ),
    "conv_transpose3d": (dict(input=t(IMG), weight=t(X[:, :, None, None, None])), np.einsum("cdhw,co->odhw", IMG, X)),
    "fold": (
        dict(input=t(IMG[0, 0, :, :2]), output_size=(2, 4), kernel_size=2, dilation=1, padding=0, stride=2),
        IMG[0, 0, :, :2].reshape(2, 2, 2).transpose(0, 2, 1).reshape(1, 2, 4),
    ),
    "max_pool1d": (dict(input=t(LINE), kernel_size=2, ceil_mode=False), PAIRS.max(3)),
    "max_pool3d": (dict(input=t(IMG), kernel_size=2, padding=0, dilation=1), CUBES.max((2, 4, 6))),
    "max_pool1d_with_indices": (dict(input=t(LINE), kernel_size=2), (PAIRS.max(3), PAIRS.argmax(3) + [0, 2, 4])),
    "max_pool2d_with_indices": (dict(input=t(IMG), kernel_size=(4, 6), stride=1), GREATEST_OF_PLANES),
    "max_pool3d_with_indices": (dict(input=t(IMG), kernel_size=(2, 4, 6), ceil_mode=True), GREATEST_OF_VOLUMES),
    "avg_pool1d": (dict(input=t(LINE), kernel_size=2, stride=2, padding=0, ceil_mode=False), PAIRS.mean(3)),
    "avg_pool3d": (dict(input=t(IMG), kernel_size=2, divisor_override=4), CUBES.sum((2, 4, 6)) / 4),
    "lp_pool1d": (dict(input=t(LINE), norm_type=2, kernel_size=2), np.sqrt((PAIRS**2).sum(3))),
    "lp_pool2d": (
        dict(input=t(IMG), norm_type=2.0, kernel_size=(4, 6), stride=1),
        np.sqrt((IMG**2).sum((2, 3), keepdims=True)),
    ),
    "lp_pool3d": (
        dict(input=t(IMG), norm_type=2.0, kernel_size=2, ceil_mode=False),
        np.sqrt((CUBES**2).sum((2, 4, 6))),
    ),
    "max_unpool1d": (dict(input=t(V[None, :2]), indices=t([[1, 2]]), kernel_size=2), [[0, V[0], V[1], 0]]),
    "max_unpool2d": (
        dict(input=t(V[None, None, :2]), indices=t([[[7, 2]]]), kernel_size=2, stride=2, padding=0),
        [[[0, 0, V[1], 0], [0, 0, 0, V[0]]]],
    ),
    "max_unpool3d": (
        dict(input=t(V[None, None, None, :1]), indices=t([[[[1]]]]), kernel_size=(1, 1, 2), output_size=(1, 1, 3)),
        [[[[0, V[0], 0]]]],
    ),
    "adaptive_avg_pool1d": (dict(input=t(LINE), output_size=3), PAIRS.mean(3)),
    "adaptive_avg_pool2d": (dict(input=t(IMG), output_size=1), IMG.mean((2, 3), keepdims=True)),
    "adaptive_avg_pool3d": (dict(input=t(IMG), output_size=(1, 2, 3)), CUBES.mean((2, 4, 6))),
    "adaptive_max_pool1d": (dict(input=t(LINE), output_size=3), PAIRS.max(3)),
    "adaptive_max_pool2d": (dict(input=t(IMG), output_size=1), IMG.max((2, 3), keepdims=True)),
    "adaptive_max_pool3d": (dict(input=t(IMG), output_size=(1, 2, 3)), CUBES.max((2, 4, 6))),
    "adaptive_max_pool1d_with_indices": (
        dict(input=t(LINE), output_size=3),
        (PAIRS.max(3), PAIRS.argmax(3) + [0, 2, 4]),
    ),
    "adaptive_max_pool2d_with_indices": (dict(input=t(IMG), output_size=1), GREATEST_OF_PLANES),
    "adaptive_max_pool3d_with_indices": (dict(input=t(IMG), output_size=1), GREATEST_OF_VOLUMES),
    "fractional_max_pool2d": (
        dict(input=t(IMG), kernel_size=1, output_size=(4, 6), random_samples=rc.full((2, 2, 2), 0.5)),
        IMG,
    ),
    "fractional_max_pool3d": (
        dict(input=t(IMG), kernel_size=(2, 4, 6), output_size=1),
        IMG.max((1, 2, 3), keepdims=True),
    ),
    "fractional_max_pool2d_with_indices": (dict(input=t(IMG), kernel_size=(4, 6), output_size=1), GREATEST_OF_PLANES),
    "fractional_max_pool3d_with_indices": (
        dict(input=t(IMG), kernel_size=(2, 4, 6), output_size=1, random_samples=rc.zeros(1, 2, 3)),
        GREATEST_OF_VOLUMES,
    ),
    "layer_norm": (dict(input=t(IMG), normalized_shape=[6]), normalized(IMG, (3,))),
    "batch_norm": (dict(input=t(IMG), running_mean=None, running_var=None, training=True), normalized(IMG, (0, 2, 3))),
    "group_norm": (dict(input=t(IMG), num_groups=1, eps=1e-5), normalized(IMG, (1, 2, 3))),
    "instance_norm": (dict(input=t(IMG), use_input_stats=True), normalized(IMG, (2, 3))),
    "mse_loss": (dict(input=t(X), target=t(Y), reduction="sum"), ((X - Y) ** 2).sum()),
    "l1_loss": (dict(input=t(X), target=t(Y)), np.abs(X - Y).mean()),
    "cross_entropy": (dict(input=t(X), target=t([2, 0]), reduction="none"), -np.log(softmax(X, 1))[[0, 1], [2, 0]]),
    "nll_loss": (dict(input=t(X), target=t([2, 0])), -(X[0, 2] + X[1, 0]) / 2),
    "binary_cross_entropy_with_logits": (
        dict(input=t(X), target=t(P)),
        (-P * np.log(sigmoid(X)) - (1 - P) * np.log(1 - sigmoid(X))).mean(),
    ),
    "binary_cross_entropy": (dict(input=t(P), target=t(1 - P)), (-(1 - P) * np.log(P) - P * np.log(1 - P)).mean()),
    "huber_loss": (dict(input=t(X), target=t(X + 3), reduction="mean", delta=1.0), 2.5),
    "smooth_l1_loss": (dict(input=t(X), target=t(X + 3), beta=2.0, reduction="mean"), 2.0),
    "soft_margin_loss": (dict(input=t(X), target=t(SIGN), reduction="sum"), np.log1p(np.exp(-SIGN * X)).sum()),
    "kl_div": (dict(input=t(np.log(P)), target=t(P), log_target=False), 0.0),
    "poisson_nll_loss": (dict(input=t(X), target=t(P), reduction="none"), np.exp(X) - P * X),
    "gaussian_nll_loss": (
        dict(input=t(X), target=t(Y), variance=t(P), reduction="none"),
        (np.log(P) + (X - Y) ** 2 / P) / 2,
    ),
    "margin_ranking_loss": (
        dict(input1=t(X), input2=t(Y), target=t(SIGN), margin=0.5, reduction="none"),
        np.maximum(0, -SIGN * (X - Y) + 0.5),
    ),
    "hinge_embedding_loss": (
        dict(input=t(X), target=t(SIGN), margin=1.0, reduction="none"),
        np.where(SIGN > 0, X, np.maximum(0, 1 - X)),
    ),
    "cosine_embedding_loss": (
        dict(input1=t(X), input2=t(Y), target=t([1.0, -1.0]), margin=-1.0, reduction="none"),
        [1 - COSINES[0], COSINES[1] + 1],
    ),
    "multi_margin_loss": (dict(input=t(X), target=t([1, 2]), reduction="none"), [hinges(X[0], 1), hinges(X[1], 2)]),
    "multilabel_margin_loss": (
        dict(input=t(X), target=t([[1, -1, -1], [2, -1, -1]]), reduction="none"),
        [hinges(X[0], 1), hinges(X[1], 2)],
    ),
    "multilabel_soft_margin_loss": (
        dict(input=t(X), target=t(B.astype(float)), reduction="none"),
        -np.log(sigmoid(np.where(B, X, -X))).mean(1),
    ),
    "triplet_margin_loss": (
        dict(anchor=t(X), positive=t(Y), negative=t(2 * Y), margin=1.0, eps=0.0, reduction="none"),
        np.maximum(0, np.linalg.norm(X - Y, axis=1) - np.linalg.norm(X - 2 * Y, axis=1) + 1),
    ),
    "linear_cross_entropy": (
        dict(input=t(X), linear_weight=t(S), target=t([1, 2]), linear_bias=t(V), reduction="sum"),
        -np.log(softmax(X @ S.T + V, 1)[[0, 1], [1, 2]]).sum(),
    ),
    "pairwise_distance": (dict(x1=t(X), x2=t(Y), p=2.0, eps=0.0), np.linalg.norm(X - Y, axis=1)),
    "cdist": (dict(x1=t(X), x2=t(S), p=1.0), np.abs(X[:, None] - S).sum(2)),
    "pdist": (dict(input=t(X), p=2.0), [np.linalg.norm(X[0] - X[1])]),
    "cosine_similarity": (dict(x1=t(X), x2=t(Y), dim=1), COSINES),
    "normalize": (dict(input=t(X), p=2.0, dim=1), X / np.linalg.norm(X, axis=1, keepdims=True)),
    "local_response_norm": (
        dict(input=t(IMG), size=1, alpha=0.5, beta=0.75, k=2.0),
        IMG / (2 + 0.5 * IMG**2) ** 0.75,
    ),
    "rms_norm": (
        dict(input=t(X), normalized_shape=(3,), weight=t(V), eps=0.0),
        X / np.sqrt((X**2).mean(1, keepdims=True)) * V,
    ),
    "bilinear": (
        dict(input1=t(X), input2=t(Y), weight=t(np.stack([S, SPD])), bias=t([1.0, 2.0])),
        np.einsum("ni,oij,nj->no", X, np.stack([S, SPD]), Y) + [1, 2],
    ),
    "sum": (dict(input=t(X), dim=(0, -1), keepdim=True), X.sum(keepdims=True)),
    "mean": (dict(input=t(X), dim=0), X.mean(0)),
    "prod": (dict(input=t(X), dim=1, keepdim=True), X.prod(1, keepdims=True)),
    "trace": (dict(input=t(S)), np.trace(S)),
    "amax": (dict(input=t(X), dim=0, keepdim=False), X.max(0)),
    "amin": (dict(input=t(X), keepdim=True), X.min(keepdims=True)),
    "argmax": (dict(input=t(X), dim=1), X.argmax(1)),
    "argmin": (dict(input=t(X)), X.argmin()),
    "any": (dict(input=t(B), dim=1), B.any(1)),
    "all": (dict(input=t(B), dim=0, keepdim=True), B.all(0, keepdims=True)),
    "var": (dict(input=t(X), dim=1, correction=0, keepdim=False), X.var(1)),
    "std": (dict(input=t(X), unbiased=True), X.std(ddof=1)),
    "norm": (dict(input=t(X), p=1, dim=1), np.abs(X).sum(1)),
    "logsumexp": (dict(input=t(X), dim=1), np.log(np.exp(X).sum(1))),
    "softmax": (dict(input=t(X), dim=1), softmax(X, 1)),
    "log_softmax": (dict(input=t(X), dim=0), np.log(softmax(X, 0))),
    "cumsum": (dict(input=t(X), dim=1), X.cumsum(1)),
    "cumprod": (dict(input=t(X), dim=0), X.cumprod(0)),
    "logcumsumexp": (dict(input=t(X), dim=1), np.logaddexp.accumulate(X, 1)),
    "sort": (dict(input=t(X), dim=1, descending=True), (-np.sort(-X, 1), np.argsort(-X, 1))),
    "argsort": (dict(input=t(X), dim=0), np.argsort(X, 0)),
    "topk": (dict(input=t(X), k=2, dim=-1, largest=False), (np.sort(X, 1)[:, :2], np.argsort(X, 1)[:, :2])),
    "median": (dict(input=t(X), dim=1), (np.sort(X, 1)[:, 1], np.argsort(X, 1)[:, 1])),
    "reshape": (dict(input=t(X), shape=(3, -1)), X.reshape(3, 2)),
    "view": (dict(input=t(X), size=[6]), X.reshape(6)),
    "expand": (dict(input=t(V), size=(2, -1)), np.broadcast_to(V, (2, 3))),
    "broadcast_to": (dict(input=t(V), size=(2, 3)), np.broadcast_to(V, (2, 3))),
    "permute": (dict(input=t(IMG), dims=(3, 0, 1, 2)), IMG.transpose(3, 0, 1, 2)),
    "transpose": (dict(input=t(IMG), dim0=1, dim1=-1), IMG.swapaxes(1, 3)),
    "movedim": (dict(input=t(IMG), source=0, destination=2), np.moveaxis(IMG, 0, 2)),
    "slice": (dict(input=t(X), dim=1, start=None, end=3, step=2), X[:, :3:2]),
    "select": (dict(input=t(X), dim=1, index=2), X[:, 2]),
    "narrow": (dict(input=t(X), dim=1, start=1, length=2), X[:, 1:3]),
    "diagonal": (dict(input=t(S), offset=1), np.diagonal(S, 1)),
    "unfold": (dict(input=t(V), dimension=0, size=2, step=1), [V[:2], V[1:]]),
    "squeeze": (dict(input=t(X[None]), dim=0), X),
    "unsqueeze": (dict(input=t(X), dim=-1), X[..., None]),
    "flatten": (dict(input=t(IMG), start_dim=1, end_dim=2), IMG.reshape(2, 8, 6)),
    "as_strided": (
        dict(input=t(X), size=(2, 2), stride=(1, 2), storage_offset=1),
        [[X[0, 1], X[1, 0]], [X[0, 2], X[1, 1]]],
    ),
    "unbind": (dict(input=t(X), dim=1), list(X.T)),
    "split": (dict(input=t(X), split_size_or_sections=[1, 2], dim=1), [X[:, :1], X[:, 1:]]),
    "chunk": (dict(input=t(X), chunks=2, dim=1), [X[:, :2], X[:, 2:]]),
    "tensor_split": (dict(input=t(X), indices=[1], dim=1), [X[:, :1], X[:, 1:]]),
    "cat": (dict(tensors=[t(X), t(Y)], dim=1), np.concatenate([X, Y], 1)),
    "stack": (dict(tensors=(t(X), t(Y)), dim=2), np.stack([X, Y], 2)),
    "repeat": (dict(input=t(X), repeats=(2, 1, 2)), np.tile(X, (2, 1, 2))),
    "repeat_interleave": (dict(input=t(X), repeats=2, dim=1), X.repeat(2, 1)),
    "tile": (dict(input=t(X), dims=(2,)), np.tile(X, (2,))),
    "flip": (dict(input=t(X), dims=(0, 1)), X[::-1, ::-1]),
    "roll": (dict(input=t(X), shifts=(1, -1), dims=(0, 1)), np.roll(X, (1, -1), (0, 1))),
    "tril": (dict(input=t(S), diagonal=-1), np.tril(S, -1)),
    "triu": (dict(input=t(S), diagonal=1), np.triu(S, 1)),
    "tril_pack": (dict(input=t(S)), S[np.tril_indices(3)]),
    "tril_unpack": (dict(packed=t(S[np.tril_indices(3)]), rows=3, diagonal=0), np.tril(S)),
    "diag_embed": (dict(input=t(V), offset=0, dim1=0, dim2=1), np.diag(V)),
    "diag": (dict(input=t(V)), np.diag(V)),
    "pad": (dict(input=t(X), pad=(1, 2), value=5.0), np.pad(X, ((0, 0), (1, 2)), constant_values=5)),
    "meshgrid": (dict(tensors=[t(V), t(W[:2])]), np.meshgrid(V, W[:2], indexing="ij")),
    "slice_scatter": (
        dict(input=t(X), src=t([[9.0], [9.0]], rc.float64), dim=1, start=1, end=2, step=1),
        written(X, (slice(None), 1), 9),
    ),
    "select_scatter": (
        dict(input=t(X), src=t([9.0, 9.0], rc.float64), dim=1, index=0),
        written(X, (slice(None), 0), 9),
    ),
    "diagonal_scatter": (
        dict(input=t(S), src=t([9.0, 9.0, 9.0], rc.float64), offset=0, dim1=0, dim2=1),
        written(S, (range(3), range(3)), 9),
    ),
    # ── running and scattered reductions, searching, sequences, signals ──
    "cummax": (dict(input=t([1.0, 3.0, 2.0]), dim=0), (np.array([1.0, 3.0, 3.0]), np.array([0, 1, 1]))),
    "cummin": (dict(input=t([2.0, 3.0, 1.0]), dim=0), (np.array([2.0, 2.0, 1.0]), np.array([0, 0, 2]))),
    "mode": (dict(input=t([[3, 1, 3], [2, 2, 0]]), dim=1), (np.array([3, 2]), np.array([2, 1]))),
    "scatter_reduce": (
        dict(input=t([1.0, 2.0, 3.0]), dim=0, index=t([0, 0, 2]), src=t([5.0, 4.0, 1.0]), reduce="amax"),
        np.array([5.0, 2.0, 3.0]),
    ),
    "index_reduce": (
        dict(input=t([1.0, 2.0]), dim=0, index=t([1, 1]), source=t([5.0, 4.0]), reduce="prod", include_self=False),
        np.array([1.0, 20.0]),
    ),
    "bucketize": (dict(input=t([0.0, 2.0, 9.0]), boundaries=t([1.0, 2.0]), right=True), np.array([0, 2, 2])),
    "unique_inverse": (dict(input=t([3, 1, 3])), (np.array([1, 3]), np.array([1, 0, 1]))),
    "unique_counts": (dict(input=t([3, 1, 3])), (np.array([1, 3]), np.array([1, 2]))),
    "gcd": (dict(input=t([12, -18]), other=t([8, 27])), np.gcd([12, -18], [8, 27])),
    "lcm": (dict(input=t([12, -18]), other=t([8, 27])), np.lcm([12, -18], [8, 27])),
    "nextafter": (dict(input=t([1.0], rc.float64), other=2.0), np.nextafter([1.0], 2.0)),
    "frexp": (dict(input=t(X)), np.frexp(X)),
    "sinc": (dict(input=t(X)), np.sinc(X)),
    "sinhc": (dict(input=t(X)), np.sinh(X) / X),
    "dynamic_slice": (dict(input=t(X), start_indices=[0] * X.ndim, slice_sizes=(1,) * X.ndim), X[(slice(1),) * X.ndim]),
    "dynamic_update_slice": (dict(input=t(X), update=t(-X), start_indices=[0] * X.ndim), -X),
    "gelu_tanh": (
        dict(input=t(X)),
        0.5 * X * (1 + np.tanh(math.sqrt(2 / math.pi) * (X + 0.044715 * X**3))),
    ),
    "logspace": (dict(start=0.0, end=2.0, steps=3, base=2.0, dtype=rc.float64), np.array([1.0, 2.0, 4.0])),
    "geomspace": (dict(start=1.0, end=8.0, steps=4, dtype=rc.float64), np.geomspace(1, 8, 4)),
    "tri": (dict(n=3, m=4, diagonal=1, dtype=rc.float64), np.tri(3, 4, 1)),
    "hann_window": (dict(window_length=6, periodic=False, dtype=rc.float64), np.hanning(6)),
    "hamming_window": (dict(window_length=6, periodic=False, dtype=rc.float64), np.hamming(6)),
    "blackman_window": (dict(window_length=6, periodic=False, dtype=rc.float64), np.blackman(6)),
    "bartlett_window": (dict(window_length=6, periodic=False, dtype=rc.float64), np.bartlett(6)),
    "chebyshev_polynomial_t": (dict(input=t(X), n=4), np.polynomial.chebyshev.chebval(X, [0, 0, 0, 0, 1])),
    "hermite_polynomial_h": (dict(input=t(X), n=4), np.polynomial.hermite.hermval(X, [0, 0, 0, 0, 1])),
    "hermite_polynomial_he": (dict(input=t(X), n=4), np.polynomial.hermite_e.hermeval(X, [0, 0, 0, 0, 1])),
    "laguerre_polynomial_l": (dict(input=t(X), n=4), np.polynomial.laguerre.lagval(X, [0, 0, 0, 0, 1])),
    "legendre_polynomial_p": (dict(input=t(X), n=4), np.polynomial.legendre.legval(X, [0, 0, 0, 0, 1])),
    "stft": (
        dict(input=t(np.arange(8.0)), n_fft=4, hop_length=4, center=False),
        np.fft.rfft(np.arange(8.0).reshape(2, 4)).T,
    ),
}
# In-place forms that are functions too: the operation's name without its `_`, on a copy.
IN_PLACE = {
    "sin_",
    "cos_",
    "exp_",
    "neg_",
    "abs_",
    "sqrt_",
    "square_",
    "tanh_",
    "sigmoid_",
    "relu_",
    "add_",
    "sub_",
    "mul_",
    "div_",
}
# Held to NumPy's functions of the same names below.
FOURIER = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
FOURIER_OF_SEVERAL = ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"]
FOURIER_OF_HALVES = ["hfft2", "ihfft2", "hfftn", "ihfftn"]  # NumPy has none
SHIFTS = ["fftshift", "ifftshift"]
FREQUENCIES = ["fftfreq", "rfftfreq"]
IN_FFT = {*FOURIER, *FOURIER_OF_SEVERAL, *FOURIER_OF_HALVES, *SHIFTS, *FREQUENCIES}
IN_FACTORS = {"lu", "lu_unpack", "qr", "geqrf", "polar_decomposition", "eig", "schur", "svd_lowrank", "pca_lowrank"}
# Held against more than one number below.
ELSEWHERE = {*IN_FFT, *IN_FACTORS, "gumbel_softmax", "copy_", "fill_", "zero_", "empty", "empty_like", "eigh", "svd"}
RANDOM = {
    "rand": (dict(size=(4000,)), 0.5),
    "randn": (dict(size=4000), 0.0),
    "randint": (dict(low=2, high=5, size=(4000,)), 3.0),
    "randperm": (dict(n=5), 2.0),
    "rand_like": (dict(input=rc.zeros(4000)), 0.5),
    "randn_like": (dict(input=rc.zeros(4000)), 0.0),
    "randint_like": (dict(input=rc.zeros(4000), high=3), 1.0),
    "normal": (dict(mean=2.0, std=0.5, size=(4000,)), 2.0),
    "uniform": (dict(low=1.0, high=3.0, size=(4000,)), 2.0),
    "log_normal": (dict(mean=0.0, std=0.5, size=(4000,)), math.exp(0.125)),
    "exponential": (dict(rate=2.0, size=(4000,)), 0.5),
    "cauchy": (dict(median=1.0, sigma=0.1, size=(4000,)), None),
    "laplace": (dict(loc=1.0, scale=0.5, size=(4000,)), 1.0),
    "gumbel": (dict(loc=1.0, scale=0.5, size=(4000,)), 1 + 0.5 * EULER),
    "truncated_normal": (dict(mean=0.0, std=1.0, low=-1.0, high=1.0, size=(4000,)), 0.0),
    "bernoulli": (dict(input=0.25, size=(4000,)), 0.25),
    "geometric": (dict(p=0.5, size=(4000,)), 2.0),
    "poisson": (dict(input=3.0, size=(4000,)), 3.0),
    "binomial": (dict(count=10, prob=0.3, size=(4000,)), 3.0),
    "gamma": (dict(concentration=2.0, rate=4.0, size=(4000,)), 0.5),
    "beta": (dict(a=2.0, b=2.0, size=(4000,)), 0.5),
    "dirichlet": (dict(concentration=rc.ones(4)), 0.25),
    "multinomial": (dict(input=rc.tensor([0.0, 1.0]), num_samples=10, replacement=True), 1.0),
    "dropout": (dict(input=rc.ones(4000), p=0.5, training=True), 1.0),
    "feature_dropout": (dict(input=rc.ones(400, 10), p=0.5, training=False), 1.0),
    "alpha_dropout": (dict(input=rc.zeros(4000), p=0.0, training=True), 0.0),
    "feature_alpha_dropout": (dict(input=rc.ones(40, 10), p=0.5, training=False), 1.0),
}


def names_of_index(source):
    page = (source / "docs/reference/operations.md").read_text()
    rows = re.findall(r"^\| (`.*?`) \|", page, re.M)
    return {re.match(r"`(\w+)", row)[1] for row in rows} - {"add_out", "sub_out", "mul_out", "div_out", "from_blob"}


def test_gumbel_softmax_draws_one_of_each_row():
    rc.manual_seed(1)
    drawn = rc.gumbel_softmax(rc.zeros(1000, 4), hard=True)
    assert drawn.sum(1).tolist() == [1] * 1000 and abs(drawn[:, 0].mean().item() - 0.25) < 0.05


# Of a function of C++, and with a list in a pair.
OF_CPP = {"triplet_margin_with_distance_loss", "histogramdd"}
OF_PYTHON = {"argwhere", "ravel"}  # which C++ says by others


def held_to_torch_in_cpp(source):
    """What tests/laws/public_functions_test.cpp holds to PyTorch's values and gradients."""
    return set(re.findall(r"^case (\w+)", (source / "tests/data/values_of_torch.txt").read_text(), re.M))


def test_every_operation_of_the_index_is_here_and_tested(source):
    assert not sorted(n for n in names_of_index(source) - OF_CPP if not hasattr(rc, n))
    assert names_of_index(source) - OF_CPP - {"tensor"} == set(rc._core.operations) - OF_PYTHON
    tested = {*CASES, *IN_PLACE, *ELSEWHERE, *RANDOM}
    assert not tested - set(rc._core.operations)
    assert not set(rc._core.operations) - tested - held_to_torch_in_cpp(source)


@pytest.mark.parametrize("name", sorted(CASES))
def test_operation_by_name(name):
    arguments, wanted = CASES[name]
    found = getattr(rc._core, name)(**arguments)
    if isinstance(found, bool):
        assert found is wanted
    else:
        expect(found, wanted)


def arguments_in_order(signature, arguments):
    """The arguments as the signature orders them; None where it has others."""
    inside = signature[signature.index("(") + 1 : signature.rindex(") ->")].split(", *,")[0]
    names = re.findall(r"(\w+): ", inside)
    given = [n for n in names if n in arguments]
    return [arguments[n] for n in given] if names[: len(given)] == given and len(given) == len(arguments) else None


def by_position_of(name):
    """The case's arguments by position; None where it has some that are taken by name alone."""
    signatures = getattr(rc._core, name).__doc__.split("\n\n")[0].split("\n")
    return next((a for s in signatures if (a := arguments_in_order(s, CASES[name][0])) is not None), None)


@pytest.mark.parametrize("name", [n for n in sorted(CASES) if by_position_of(n) is not None])
def test_operation_by_position_gives_the_same(name):
    arguments, _ = CASES[name]
    operation = getattr(rc._core, name)
    by_name = operation(**arguments)
    by_position = operation(*by_position_of(name))
    if isinstance(by_name, bool):
        assert by_position is by_name
    else:
        expect(
            by_position, [np.asarray(f) for f in by_name] if isinstance(by_name, (list, tuple)) else np.asarray(by_name)
        )


@pytest.mark.parametrize("name", sorted(IN_PLACE))
def test_operation_in_place_by_name(name):
    x = rc.tensor(P)
    more = [t(Y)] if name in ("add_", "sub_", "mul_", "div_") else []
    assert getattr(rc, name)(x, *more) is x
    expect(x, np.asarray(getattr(rc, name[:-1])(t(P), *more)))


@pytest.mark.parametrize("name", FOURIER + FOURIER_OF_SEVERAL)
def test_fourier_transforms_are_those_of_numpy(name):
    x, numpys = RNG.standard_normal((3, 4, 6)), getattr(np.fft, name)
    of_one = [dict(n=5), dict(dim=1), dict(n=None, dim=0, norm="ortho"), dict(norm="forward")]
    of_several = [dict(s=(3, 5)), dict(dim=(0, 2)), dict(s=(2, 5), dim=(1, 2), norm="ortho"), dict(norm="ortho")]
    for options in [{}, *(of_one if name in FOURIER else of_several)]:
        in_numpy = {"axis" if name in FOURIER and k == "dim" else k: v for k, v in options.items()}
        if "dim" in in_numpy or "s" in in_numpy:
            in_numpy["axes"] = in_numpy.pop("dim", tuple(range(-len(options.get("s", ())), 0)))
        expect(getattr(rc, name)(input=t(x), **options), numpys(x, **in_numpy))


@pytest.mark.parametrize("ending", ["2", "n"])
def test_fourier_transforms_of_halves_are_inverses(ending):
    half = rc.rfft2(t(IMG))
    forward, backward = getattr(rc, "hfft" + ending), getattr(rc, "ihfft" + ending)
    there = forward(half, s=(4, 6), dim=(2, 3), norm="ortho")
    assert not there.is_complex()
    expect(backward(there, dim=(2, 3), norm="ortho"), np.asarray(half))


def test_shifts_and_frequencies_are_those_of_numpy():
    for name in SHIFTS:
        for dim in (None, 0, (0, 1)):
            expect(getattr(rc, name)(t(X), dim=dim), getattr(np.fft, name)(X, dim))
    for name in FREQUENCIES:
        expect(getattr(rc, name)(5, dtype=rc.float64), getattr(np.fft, name)(5))
        expect(getattr(rc, name)(n=6, d=0.5, dtype=rc.float64), getattr(np.fft, name)(6, 0.5))


@pytest.mark.parametrize("name", sorted(RANDOM))
def test_draws_have_their_mean_and_repeat_with_their_seed(name):
    arguments, mean = RANDOM[name]
    draw = lambda: getattr(rc, name)(**arguments, generator=rc.Generator(7))
    first = draw()
    assert rc.equal(first, draw())
    if mean is not None:
        assert abs(first.to(rc.float64).mean().item() - mean) < 0.06 * max(1, abs(mean))


def test_bernoulli_of_a_tensor_and_a_probability_has_the_tensors_form():
    x = rc.zeros(4000, dtype=rc.float64)
    draw = lambda *more, **named: rc.bernoulli(x, *more, generator=rc.Generator(3), **named)
    for drawn in (draw(0.25), draw(p=0.25), x.bernoulli(0.25, generator=rc.Generator(3))):
        assert drawn.shape == x.shape and drawn.dtype is x.dtype and abs(drawn.mean().item() - 0.25) < 0.03
        assert drawn.tolist() == draw(0.25).tolist()
    assert draw(1).mean().item() == 1 and draw(0).mean().item() == 0
    assert rc.bernoulli(0.5, (2, 3)).shape == rc.bernoulli(0.5, size=(2, 3)).shape == (2, 3)


@pytest.mark.parametrize("name", ["the default one", "of one's own"])
def test_a_generators_state_is_read_and_put_back(name):
    g = rc.default_generator() if name == "the default one" else rc.Generator(5)
    get, put = (rc.get_rng_state, rc.set_rng_state) if name == "the default one" else (g.get_state, g.set_state)
    noisy = rc.vmap(lambda v: v + rc.randn(2, generator=g), randomness="different")
    draws = lambda: [f().tolist() for f in (lambda: rc.rand(3, generator=g), lambda: noisy(rc.zeros(4, 2)))]
    draws()
    state = pickle.loads(pickle.dumps(get()))
    drawn = draws()
    assert not rc.equal(get(), state)
    put(state)
    assert rc.equal(get(), state) and draws() == drawn
    other = rc.Generator(1)
    assert other.set_state(state) is other and other.initial_seed() == g.initial_seed()
    assert rc.rand(3, generator=other).tolist() == drawn[0]
    with pytest.raises(rc.TransformError, match="ask for the state outside"):
        rc.vmap(lambda v: v + get()[0])(rc.zeros(2))
    for wrong in (3, rc.zeros(2), rc.zeros(3, dtype=rc.int64)):
        with pytest.raises(TypeError, match="a state is what get_state or get_rng_state gave"):
            put(wrong)


def test_writes_by_name():
    x = rc.tensor(X)
    assert rc.copy_(x, t(Y)) is x
    expect(x, Y)
    assert rc.fill_(x, 3) is x
    expect(x, np.full((2, 3), 3))
    assert rc.zero_(x) is x
    expect(x, np.zeros((2, 3)))
    assert rc.empty(2, 3).shape == (2, 3)
    assert rc.empty_like(x, dtype=rc.int8).dtype is rc.int8


def test_factorizations_multiply_to_their_matrix():
    values, vectors = rc.eigh(input=t(SYM))
    expect(vectors @ (values.reshape(3, 1) * vectors.mT), SYM)
    u, s, vh = rc.svd(input=t(X))
    expect((u * s) @ vh, X)
    u, s, vh = rc.svd(t(X), full_matrices=True)
    assert u.shape == (2, 2) and vh.shape == (3, 3)
    expect((u * s) @ vh[:2], X)
    p, l, upper = rc.lu(A=t(S))
    expect(p @ l @ upper, S)
    expect(rc.lu_unpack(*rc.lu_factor(t(S))).P, np.asarray(p))
    q, r = rc.qr(A=t(X.T))
    expect(q @ r, X.T)
    assert rc.qr(t(X.T), mode="complete").Q.shape == (3, 3) and rc.qr(t(X.T), mode="r").Q.shape == (0,)
    expect(rc.householder_product(*rc.geqrf(t(X.T))), np.asarray(q))
    q, h = rc.polar_decomposition(t(S))
    expect(q @ h, S)
    expect(h, np.asarray(h).T)
    values, vectors = rc.eig(input=t(S))
    expect(t(S).to(rc.complex128) @ vectors, np.asarray(vectors * values))
    form, z = rc.schur(t(S))
    expect(z @ form @ z.mT, S)
    both = rc.schur(t(S), output="complex")
    expect(both.Z @ both.T @ both.Z.conj().mT, S.astype(complex))
    u, s, v = rc.svd_lowrank(t(X), q=2, niter=1)
    expect((u * s) @ v.mT, X)
    u, s, v = rc.pca_lowrank(t(X), q=2, center=False)
    expect((u * s) @ v.mT, X)
    hermitian = Z @ Z.conj().T
    expect(rc.eigvalsh(t(hermitian)), np.linalg.eigvalsh(hermitian))
    expect(rc.svdvals(t(Z)), np.linalg.svd(Z, compute_uv=False))


def test_norms_by_name_are_those_of_numpy():
    for order in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
        expect(rc.matrix_norm(t(S), order), np.linalg.norm(S, order))
        expect(rc.condition_number(t(S), order), np.linalg.cond(S, order))
    expect(rc.norm(t(X), p="nuc"), np.linalg.norm(X, "nuc"))
    expect(rc.norm(t(X), p="fro", dim=1), np.linalg.norm(X, axis=1))


def test_out_writes_and_is_returned():
    for name, f in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.divide)):
        out = rc.empty(2, 3, dtype=rc.float64)
        assert getattr(rc, name)(t(X), t(Y), out=out) is out
        expect(out, f(X, Y))


def test_shapes_may_be_given_one_by_one():
    assert rc.zeros(2, 3).shape == rc.zeros((2, 3)).shape == (2, 3)
    x = t(IMG)
    assert x.reshape(4, -1).shape == (4, 24)
    assert x.permute(3, 2, 1, 0).shape == (6, 4, 2, 2)
    assert rc.einsum("ij,jk", t(X), t(S)).shape == (2, 3)


def test_methods_are_the_functions():
    x = t(X)
    assert rc.Tensor.sin is rc.sin
    expect(x.sin(), np.sin(X))
    expect(x.sum(dim=1, keepdim=True), X.sum(1, keepdims=True))
    expect(x.where(t(B), t(Y)), np.where(B, X, Y))
    expect(t([1.0], rc.float64).polygamma(1), [math.pi**2 / 6])
    assert x.add_(1) is x
    expect(x, X + 1)


def test_defaults_are_those_of_the_shorter_overloads():
    x, s = t(X), t(S)
    for short, full in [
        (rc.sort(x), rc.sort(x, dim=-1, descending=False)),
        (rc.topk(x, 2), rc.topk(x, 2, dim=-1, largest=True)),
        (rc.argsort(x), rc.argsort(x, dim=-1, descending=False)),
    ]:
        expect(short, [np.asarray(f) for f in full] if isinstance(full, tuple) else np.asarray(full))
    pairs = [
        ("var", (x,), dict(dim=None, correction=1, keepdim=False)),
        ("std", (x,), dict(correction=1)),
        ("norm", (x,), dict(p=2.0)),
        ("flatten", (x,), dict(start_dim=0, end_dim=-1)),
        ("tril", (s,), dict(diagonal=0)),
        ("triu", (s,), dict(diagonal=0)),
        ("tril_pack", (s,), dict(diagonal=0)),
        ("diagonal", (s,), dict(offset=0, dim1=0, dim2=1)),
        ("diag_embed", (x,), dict(offset=0, dim1=-2, dim2=-1)),
        ("leaky_relu", (x,), dict(negative_slope=0.01)),
        ("elu", (x,), dict(alpha=1.0)),
        ("softplus", (x,), dict(beta=1.0, threshold=20.0)),
        ("pad", (x, (1, 1)), dict(mode="constant", value=0.0)),
        ("mse_loss", (x, t(Y)), dict(reduction="mean")),
        ("huber_loss", (x, t(Y)), dict(reduction="mean", delta=1.0)),
        ("isclose", (x, t(Y)), dict(rtol=1e-5, atol=1e-8)),
        ("conv2d", (t(IMG), t(IMG[:, :, :2, :2])), dict(bias=None, stride=1, padding=0, dilation=1, groups=1)),
        ("layer_norm", (t(IMG), (6,)), dict(eps=1e-5)),
        ("group_norm", (t(IMG), 2), dict(eps=1e-5)),
        ("instance_norm", (t(IMG),), dict(use_input_stats=True, momentum=0.1, eps=1e-5)),
        ("cross", (x, t(Y)), dict(dim=-1)),
        ("max_pool2d", (t(IMG), 2), dict(stride=None, padding=0, dilation=1, ceil_mode=False)),
        ("avg_pool2d", (t(IMG), 2), dict(padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)),
        ("unfold", (t(IMG), 2), dict(dilation=1, padding=0, stride=1)),
        ("as_strided", (x, (2,), (1,)), dict(storage_offset=0)),
        ("arange", (5,), dict()),
        ("tensordot", (x, x), dict(dims=2)),
        ("slice", (x, 0), dict(start=None, end=None, step=1)),
        ("solve_triangular", (s, t(V)), dict(upper=True)),
        ("triangular_solve", (t(V), s), dict(upper=True, transpose=False, unitriangular=False)),
        ("clamp", (x, 0.0), dict(max=None)),
    ]
    for name, args, defaults in pairs:
        expect(getattr(rc, name)(*args), np.asarray(getattr(rc, name)(*args, **defaults)))


def test_every_operation_says_what_it_takes():
    for name in rc._core.operations:
        doc = getattr(rc._core, name).__doc__
        assert "list[" not in doc, "several results are a tuple, as in PyTorch"
        assert doc.startswith(name + "(") and " -> " in doc
    names = Counter(rc._core.operations)
    assert max(names.values()) == 1
