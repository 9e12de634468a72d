#!/usr/bin/env python3
"""Writes PyTorch's values and gradients of public functions, which tests/laws/public_functions_test.cpp holds ours against.

    python3 tools/torch_values.py > tests/data/values_of_torch.txt               # needs PyTorch and SciPy

A case is a function of tensors, the inputs that it is tried on, its results, and the gradients of the sum of all
floating results times cos(1), cos(2), … by each floating input:

    case NAME
    input f64[2,3] 0.5 …
    output f64[] 1.25
    gradient f64[2,3] …                                                          # or `none`, where PyTorch has none

The name's first word is the function. "kink" in a name says that there are no difference quotients there; "reads" and
"draws", that there is no vmap, for it reads values or draws random numbers. Numbers are row-major, those of complex
elements in pairs. Inputs are drawn anew for each case, from a seed made of its name.
"""
import math
import zlib

import torch
import torch.nn.functional as F
import torch_values_of_algebra
import torch_values_of_core
import torch_values_of_distributions
import torch_values_of_networks
import torch_values_of_signals
import torch_values_of_special
import torch_values_of_windows
from torch_inputs import at, classes, positive, sign, unit, x, z

NAMES = {
    torch.float64: "f64",
    torch.float32: "f32",
    torch.complex128: "c128",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.uint8: "u8",
    torch.bool: "bool",
}


def losses():
    w = positive
    yield "cross_entropy", lambda a, t: F.cross_entropy(a, t), lambda: (x(4, 3), classes(3, 4))
    yield "cross_entropy of one", lambda a, t: F.cross_entropy(a, t), lambda: (x(3), classes(3))
    yield "cross_entropy sum", lambda a, t: F.cross_entropy(a, t, reduction="sum"), lambda: (x(2, 3, 2), classes(3, 2, 2))
    ignored = torch.tensor([0, -100, 2, 1])
    yield "cross_entropy ignoring", lambda a, t: F.cross_entropy(a, t), lambda: (x(4, 3), ignored)
    yield (
        "cross_entropy ignoring 2 none",
        lambda a, t: F.cross_entropy(a, t, ignore_index=2, reduction="none"),
        lambda: (x(4, 3), classes(3, 4)),
    )
    yield "cross_entropy weight", lambda a, t, v: F.cross_entropy(a, t, weight=v), lambda: (x(4, 3), ignored, w(3))
    yield (
        "cross_entropy weight none",
        lambda a, t, v: F.cross_entropy(a, t, weight=v, reduction="none"),
        lambda: (x(2, 3, 2), classes(3, 2, 2), w(3)),
    )
    yield (
        "cross_entropy smoothing",
        lambda a, t: F.cross_entropy(a, t, label_smoothing=0.1),
        lambda: (x(4, 3), ignored),
    )
    yield (
        "cross_entropy smoothing weight",
        lambda a, t, v: F.cross_entropy(a, t, weight=v, label_smoothing=0.3),
        lambda: (x(2, 3, 4), torch.stack([ignored, ignored.flip(0)]), w(3)),
    )
    yield (
        "cross_entropy smoothing weight none",
        lambda a, t, v: F.cross_entropy(a, t, weight=v, label_smoothing=0.3, reduction="none"),
        lambda: (x(4, 3), ignored, w(3)),
    )
    yield (
        "cross_entropy smoothing weight sum",
        lambda a, t, v: F.cross_entropy(a, t, weight=v, label_smoothing=0.3, reduction="sum"),
        lambda: (x(4, 3), ignored, w(3)),
    )
    yield (
        "cross_entropy probabilities weight smoothing",
        lambda a, p, v: F.cross_entropy(a, p, weight=v, label_smoothing=0.2),
        lambda: (x(4, 3), x(4, 3).softmax(1), w(3)),
    )
    yield "nll_loss", lambda a, t: F.nll_loss(a, t), lambda: (x(4, 3), ignored)
    yield (
        "nll_loss weight",
        lambda a, t, v: F.nll_loss(a, t, weight=v, ignore_index=1),
        lambda: (x(4, 3), torch.tensor([0, 1, 2, 2]), w(3)),
    )
    yield (
        "nll_loss weight none",
        lambda a, t, v: F.nll_loss(a, t, weight=v, reduction="none"),
        lambda: (x(2, 3, 2), classes(3, 2, 2), w(3)),
    )
    yield "linear_cross_entropy", lambda a, b, t: F.linear_cross_entropy(a, b, t), lambda: (x(4, 5), x(3, 5), classes(3, 4))
    yield (
        "linear_cross_entropy bias smoothing",
        lambda a, b, t, c: F.linear_cross_entropy(a, b, t, linear_bias=c, label_smoothing=0.1),
        lambda: (x(4, 5), x(3, 5), ignored, x(3)),
    )
    pair = lambda: (x(2, 3), x(2, 3))
    three = lambda: (x(2, 3), x(2, 3), w(2, 3))
    yield "mse_loss weight", lambda a, b, v: F.mse_loss(a, b, weight=v), three
    yield "l1_loss weight", lambda a, b, v: F.l1_loss(a, b, weight=v), three
    yield "l1_loss weight sum", lambda a, b, v: F.l1_loss(a, b, weight=v, reduction="sum"), three
    yield "huber_loss weight", lambda a, b, v: F.huber_loss(a, b, delta=0.7, weight=v), three
    yield "smooth_l1_loss", lambda a, b: F.smooth_l1_loss(a, b), pair
    yield "smooth_l1_loss beta", lambda a, b: F.smooth_l1_loss(a, b, beta=0.3, reduction="none"), pair
    yield "smooth_l1_loss beta 0", lambda a, b: F.smooth_l1_loss(a, b, beta=0.0, reduction="sum"), pair
    yield "smooth_l1_loss kink", lambda a, b: F.smooth_l1_loss(a, b), lambda: (at(0, 1, 2, 0), at(0, 0, 1, 1))
    yield (
        "binary_cross_entropy weight",
        lambda p, y, v: F.binary_cross_entropy(p, y, weight=v),
        lambda: (unit(2, 3), unit(2, 3), w(3)),
    )
    yield (
        "binary_cross_entropy_with_logits weights",
        lambda a, y, v, u: F.binary_cross_entropy_with_logits(a, y, weight=v, pos_weight=u),
        lambda: (x(2, 3), unit(2, 3), w(2, 1), w(3)),
    )
    yield (
        "binary_cross_entropy_with_logits pos_weight none",
        lambda a, y, u: F.binary_cross_entropy_with_logits(a, y, pos_weight=u, reduction="none"),
        lambda: (x(2, 3) * 20, unit(2, 3), w(3)),
    )
    yield "soft_margin_loss", lambda a, y: F.soft_margin_loss(a, y), lambda: (x(2, 3), sign(2, 3))
    yield "soft_margin_loss none", lambda a, y: F.soft_margin_loss(a, y, reduction="none"), lambda: (x(2, 3), sign(2, 3))
    yield "kl_div", lambda a, p: F.kl_div(a, p), lambda: (x(4, 3).log_softmax(1), x(4, 3).softmax(1))
    yield (
        "kl_div batch_mean",
        lambda a, p: F.kl_div(a, p, reduction="batchmean"),
        lambda: (x(4, 3).log_softmax(1), x(4, 3).softmax(1)),
    )
    yield (
        "kl_div log_target",
        lambda a, p: F.kl_div(a, p, reduction="none", log_target=True),
        lambda: (x(4, 3).log_softmax(1), x(4, 3).log_softmax(1)),
    )
    yield "poisson_nll_loss", lambda a, t: F.poisson_nll_loss(a, t), lambda: (x(2, 3), positive(2, 3))
    yield (
        "poisson_nll_loss full",
        lambda a, t: F.poisson_nll_loss(a, t, full=True, reduction="none"),
        lambda: (x(4), at(0.5, 1.5, 3, 40)),
    )
    yield (
        "poisson_nll_loss rate",
        lambda a, t: F.poisson_nll_loss(a, t, log_input=False, eps=1e-3),
        lambda: (positive(2, 3), positive(2, 3)),
    )
    yield "gaussian_nll_loss", lambda a, t, v: F.gaussian_nll_loss(a, t, v), lambda: (x(2, 3), x(2, 3), positive(2, 3))
    yield (
        "gaussian_nll_loss full rows",
        lambda a, t, v: F.gaussian_nll_loss(a, t, v, full=True),
        lambda: (x(2, 3), x(2, 3), positive(2)),
    )
    yield (
        "gaussian_nll_loss column none",
        lambda a, t, v: F.gaussian_nll_loss(a, t, v, eps=0.01, reduction="none"),
        lambda: (x(2, 3), x(2, 3), positive(2, 1)),
    )
    yield (
        "gaussian_nll_loss kink",
        lambda a, t, v: F.gaussian_nll_loss(a, t, v, eps=0.5),
        lambda: (x(3), x(3), at(0.5, 0.25, 2)),
    )
    yield (
        "margin_ranking_loss",
        lambda a, b, y: F.margin_ranking_loss(a, b, y, margin=0.5),
        lambda: (x(5), x(5), sign(5)),
    )
    yield (
        "hinge_embedding_loss",
        lambda a, y: F.hinge_embedding_loss(a, y, margin=0.8),
        lambda: (x(2, 3), sign(2, 3).long()),
    )
    yield (
        "cosine_embedding_loss",
        lambda a, b, y: F.cosine_embedding_loss(a, b, y, margin=0.2),
        lambda: (x(4, 3), x(4, 3), sign(4).long()),
    )
    yield (
        "cosine_embedding_loss of one",
        lambda a, b, y: F.cosine_embedding_loss(a, b, y, margin=-0.9),
        lambda: (x(3), x(3), torch.tensor(-1)),
    )
    yield "multi_margin_loss", lambda a, t: F.multi_margin_loss(a, t), lambda: (x(4, 3), classes(3, 4))
    yield (
        "multi_margin_loss squared",
        lambda a, t, v: F.multi_margin_loss(a, t, p=2, margin=0.7, weight=v, reduction="none"),
        lambda: (x(4, 3), classes(3, 4), w(3)),
    )
    yield "multi_margin_loss of one", lambda a, t: F.multi_margin_loss(a, t), lambda: (x(3), classes(3))
    several = torch.tensor([[2, 0, -1, 1], [-1, 1, 1, 1], [3, -1, 0, 0]])
    yield "multilabel_margin_loss", lambda a, t: F.multilabel_margin_loss(a, t), lambda: (x(3, 4), several)
    yield (
        "multilabel_margin_loss none",
        lambda a, t: F.multilabel_margin_loss(a, t, reduction="none"),
        lambda: (x(3, 4), several),
    )
    yield "multilabel_margin_loss of one", lambda a, t: F.multilabel_margin_loss(a, t), lambda: (x(4), several[0])
    yield (
        "multilabel_soft_margin_loss",
        lambda a, y, v: F.multilabel_soft_margin_loss(a, y, weight=v),
        lambda: (x(2, 3), unit(2, 3), w(3)),
    )
    triple = lambda: (x(4, 3), x(4, 3), x(4, 3))
    yield "triplet_margin_loss", lambda a, p, n: F.triplet_margin_loss(a, p, n), triple
    yield (
        "triplet_margin_loss swap",
        lambda a, p, n: F.triplet_margin_loss(a, p, n, margin=2.0, p=1.0, swap=True, reduction="none"),
        triple,
    )
    yield (
        "triplet_margin_with_distance_loss",
        lambda a, p, n: F.triplet_margin_with_distance_loss(
            a, p, n, distance_function=lambda u, v: (u - v).square().sum(-1), margin=3.0, swap=True
        ),
        triple,
    )


def distances():
    pair = lambda: (x(4, 3), x(4, 3))
    yield "pairwise_distance", lambda a, b: F.pairwise_distance(a, b), pair
    yield "pairwise_distance p", lambda a, b: F.pairwise_distance(a, b, p=3.0, eps=1e-3, keepdim=True), pair
    yield "pairwise_distance kink", lambda a, b: F.pairwise_distance(a, b, eps=0.0), lambda: (at(1, 2), at(1, 2))
    yield "cdist", lambda a, b: torch.cdist(a, b), lambda: (x(2, 4, 3), x(5, 3))
    yield "cdist 1", lambda a, b: torch.cdist(a, b, p=1.0), lambda: (x(4, 3), x(5, 3))
    yield "cdist 3", lambda a, b: torch.cdist(a, b, p=3.0), lambda: (x(4, 3), x(5, 3))
    yield "cdist inf", lambda a, b: torch.cdist(a, b, p=math.inf), lambda: (x(4, 3), x(5, 3))
    yield "cdist kink", lambda a, b: torch.cdist(a, b), lambda: (torch.ones(2, 3).double(), torch.ones(1, 3).double())
    yield "pdist", lambda a: F.pdist(a), lambda: (x(5, 3),)
    yield "pdist 1", lambda a: F.pdist(a, p=1.0), lambda: (x(4, 3),)
    yield "pdist kink", lambda a: F.pdist(a), lambda: (torch.ones(3, 2).double(),)
    yield "dist", lambda a, b: torch.dist(a, b), pair
    yield "dist 3", lambda a, b: torch.dist(a, b, 3.0), pair
    yield "cosine_similarity", lambda a, b: F.cosine_similarity(a, b), pair
    yield "cosine_similarity dim", lambda a, b: F.cosine_similarity(a, b, dim=-1), lambda: (x(2, 4, 3), x(4, 3))
    yield "cosine_similarity kink", lambda a, b: F.cosine_similarity(a, b, dim=0), lambda: (at(0, 0), at(1, 2))
    yield "normalize", lambda a: F.normalize(a), lambda: (x(4, 3),)
    yield "normalize p", lambda a: F.normalize(a, p=3.0, dim=0), lambda: (x(4, 3),)
    yield "normalize kink", lambda a: F.normalize(a, dim=0), lambda: (at(0, 0),)
    yield "renorm", lambda a: torch.renorm(a, 2, 0, 1.5), lambda: (x(4, 3, 2),)
    yield "renorm 1", lambda a: torch.renorm(a, 1, -1, 2.0), lambda: (x(4, 3),)
    yield "local_response_norm", lambda a: F.local_response_norm(a, 3, 0.5, 0.6, 1.5), lambda: (x(2, 5, 3),)
    yield "local_response_norm planes", lambda a: F.local_response_norm(a, 2), lambda: (x(2, 4, 2, 3),)
    yield "rms_norm", lambda a: F.rms_norm(a, (3,)), lambda: (x(4, 3),)
    yield "rms_norm weight", lambda a, v: F.rms_norm(a, (2, 3), v, 1e-3), lambda: (x(4, 2, 3), x(2, 3))
    yield "bilinear", lambda a, b, v: F.bilinear(a, b, v), lambda: (x(4, 3), x(4, 2), x(5, 3, 2))
    yield "bilinear bias", lambda a, b, v, c: F.bilinear(a, b, v, c), lambda: (x(2, 2, 3), x(2, 2, 2), x(5, 3, 2), x(5))


def activations():
    one = lambda: (x(2, 3),)
    kinks = lambda *numbers: lambda: (at(*numbers),)
    yield "hardtanh", lambda a: F.hardtanh(a), one
    yield "hardtanh range", lambda a: F.hardtanh(a, -0.5, 1.5), one
    yield "hardtanh kink", lambda a: F.hardtanh(a), kinks(-1, 1, 0)
    yield "relu6", lambda a: F.relu6(a * 4), one
    yield "relu6 kink", lambda a: F.relu6(a), kinks(0, 6, 1)
    # PyTorch's gradient of hardsigmoid holds 1 / 6 in float32.
    yield "hardsigmoid", lambda a: F.relu6(a * 2 + 3) / 6, one
    yield "hardsigmoid kink", lambda a: F.relu6(a + 3) / 6, kinks(-3, 3, 0)
    yield "hardswish", lambda a: F.hardswish(a * 2), one
    yield "hardswish kink", lambda a: F.hardswish(a), kinks(-3, 0, -4, 4)
    yield "hardshrink", lambda a: F.hardshrink(a), one
    yield "hardshrink kink", lambda a: F.hardshrink(a, 0.25), kinks(-0.25, 0.25, 0, 1)
    yield "softshrink", lambda a: F.softshrink(a), one
    yield "softshrink kink", lambda a: F.softshrink(a, 0.25), kinks(-0.25, 0.25, 0, 1)
    yield "prelu", lambda a, w: F.prelu(a, w), lambda: (x(2, 3, 2), positive(3))
    yield "prelu of one weight", lambda a, w: F.prelu(a, w), lambda: (x(4), positive(1))
    yield "prelu kink", lambda a, w: F.prelu(a, w), lambda: (at(0, 1, -1), positive(1))
    yield "rrelu", lambda a: F.rrelu(a, 0.1, 0.4), one
    yield "tanhshrink", lambda a: F.tanhshrink(a), one
    yield "softsign", lambda a: F.softsign(a), one
    yield "selu", lambda a: F.selu(a), one
    yield "celu", lambda a: F.celu(a), one
    yield "celu alpha", lambda a: F.celu(a, 0.5), one  # PyTorch holds alpha in float32
    yield "celu kink", lambda a: F.celu(a, 0.5), kinks(0, 1, -1, 800)
    yield "mish", lambda a: F.mish(a), one
    yield "mish of large", lambda a: F.mish(a), kinks(-30, 25, 15, -5)
    yield "glu", lambda a: F.glu(a), lambda: (x(3, 4),)
    yield "glu dim", lambda a: F.glu(a, 0), lambda: (x(4, 3),)
    yield "softmin", lambda a: F.softmin(a, 1), one


def elementwise():
    pair = lambda: (x(2, 3), x(2, 3))
    inf, nan = math.inf, math.nan
    yield "heaviside kink", torch.heaviside, lambda: (at(-1, 0, 2, 0), x(4))
    yield "signbit", torch.signbit, lambda: (at(-1, -0.0, 0, 2, -inf),)
    yield "signbit whole", torch.signbit, lambda: (torch.tensor([-1, 0, 2]),)
    yield "isposinf", torch.isposinf, lambda: (at(inf, -inf, nan, 1),)
    yield "isneginf", torch.isneginf, lambda: (at(inf, -inf, nan, 1),)
    yield "isreal", torch.isreal, lambda: (torch.tensor([1 + 0j, 2 + 1j], dtype=torch.complex128),)
    yield "float_power", torch.float_power, lambda: (positive(2, 3), x(3))
    yield "float_power whole", lambda a: torch.float_power(a, 3), lambda: (torch.tensor([1, -2, 3]),)
    yield "ldexp", torch.ldexp, lambda: (x(3), torch.tensor([2, -1, 0]))
    yield "logaddexp2", torch.logaddexp2, pair
    yield "logaddexp2 kink", torch.logaddexp2, lambda: (at(1, inf, 1000), at(1, 0, -1000))
    yield "xlog1py", torch.special.xlog1py, lambda: (x(2, 3), positive(2, 3))
    yield "xlog1py of 0", torch.special.xlog1py, lambda: (at(0, 0, 0), at(2, 0, 0.5))
    yield "entr", torch.special.entr, lambda: (positive(2, 3),)
    yield "entr edge kink", lambda a: torch.special.entr(a).detach(), lambda: (at(0, -1, 1, nan),)
    yield "logit", torch.logit, lambda: (unit(2, 3),)
    yield "logit eps", lambda a: torch.logit(a, 0.2), lambda: (at(0.1, 0.3, 0.5, 0.9),)
    yield "polar", torch.polar, lambda: (positive(3), x(3))
    yield "ndtr", torch.special.ndtr, lambda: (x(2, 3) * 3,)
    yield "ndtri", torch.special.ndtri, lambda: (unit(2, 3),)
    yield "erfinv", torch.erfinv, lambda: (x(2, 3) * 0.45,)
    yield "erfinv edge kink", lambda a: torch.erfinv(a).detach(), lambda: (at(-1, 1, 0, 1e-200, 2),)
    yield "mvlgamma", lambda a: torch.mvlgamma(a, 3), lambda: (positive(2, 3) + 1,)


def statistics():
    one = lambda: (x(3, 4),)
    holed = at(1, math.nan, 3, 2, math.nan, 0.5, 7, 4).reshape(2, 4)
    yield "aminmax", lambda a: torch.aminmax(a), one
    yield "aminmax dim", lambda a: torch.aminmax(a, dim=1, keepdim=True), one
    yield "var_mean", lambda a: torch.var_mean(a), one
    yield "var_mean dim", lambda a: torch.var_mean(a, 0, correction=0, keepdim=True), one
    yield "std_mean", lambda a: torch.std_mean(a), one
    yield "std_mean dim", lambda a: torch.std_mean(a, -1), one
    yield "nansum", lambda a: torch.nansum(a), lambda: (holed,)
    yield "nansum dim", lambda a: torch.nansum(a, 0, True), lambda: (holed,)
    yield "nanmean kink", lambda a: torch.nanmean(a), lambda: (holed,)
    yield "nanmean dim kink", lambda a: torch.nanmean(a, 1), lambda: (holed,)
    yield "nanmedian kink", lambda a: torch.nanmedian(a), lambda: (holed,)
    yield "nanmedian dim kink", lambda a: torch.nanmedian(a, 1), lambda: (holed,)
    yield "kthvalue", lambda a: torch.kthvalue(a, 2), one
    yield "kthvalue dim", lambda a: torch.kthvalue(a, 3, 0, True), one
    yield "msort", lambda a: torch.msort(a), one
    yield "quantile", lambda a: torch.quantile(a, 0.3), one
    yield "quantile dim", lambda a, q: torch.quantile(a, q, 1), lambda: (x(3, 4), at(0.1, 0.5, 0.77, 0.95))
    yield "quantile keepdim", lambda a, q: torch.quantile(a, q, 0, True), lambda: (x(3, 4), at(0.2, 0.9))
    for how in ("lower", "higher", "nearest", "midpoint"):
        yield (
            f"quantile {how}",
            lambda a, how=how: torch.quantile(a, at(0.1, 0.5, 0.77), -1, False, interpolation=how),
            one,
        )
    yield "quantile of NaN kink", lambda a: torch.quantile(a, at(0.3, 0.5), 0), lambda: (holed,)
    yield "nanquantile kink", lambda a: torch.nanquantile(a, at(0.3, 0.5), 1), lambda: (holed,)
    yield "cov", lambda a: torch.cov(a), one
    yield "cov of one", lambda a: torch.cov(a), lambda: (x(5),)
    yield (
        "cov weights",
        lambda a, f, w: torch.cov(a, correction=0, fweights=f, aweights=w),
        lambda: (x(3, 4), torch.tensor([1, 3, 2, 1]), positive(4)),
    )
    yield (
        "cov aweights",
        lambda a, w: torch.cov(a, correction=1, aweights=w),
        lambda: (x(2, 4), positive(4)),
    )
    yield "cov complex", lambda a: torch.cov(a), lambda: (z(2, 4),)
    yield "corrcoef", lambda a: torch.corrcoef(a), lambda: (x(3, 5),)
    yield "bincount reads", lambda a: torch.bincount(a), lambda: (torch.tensor([1, 3, 1, 0]),)
    yield "bincount reads weights", lambda a, w: torch.bincount(a, w, 6), lambda: (torch.tensor([1, 3, 1, 0]), at(1, 2, 3, 4))
    yield "histc", lambda a: torch.histc(a.detach(), 5), lambda: (x(20),)
    yield "histc range", lambda a: torch.histc(a.detach(), 4, -1, 1.5), lambda: (x(4, 5),)
    yield "histogram", lambda a: torch.histogram(a.detach(), 5), lambda: (x(20),)
    yield (
        "histogram weight density",
        lambda a, w: torch.histogram(a.detach(), 4, range=(-1.0, 1.5), weight=w.detach(), density=True),
        lambda: (x(12), positive(12)),
    )
    yield (
        "histogram edges",
        lambda a, e: torch.histogram(a.detach(), e.detach()),
        lambda: (x(12), at(-2, -0.5, 0, 1)),
    )
    yield (
        "unique_consecutive reads",
        lambda a: torch.unique_consecutive(a),
        lambda: (torch.tensor([1, 1, 2, 3, 3, 1]),),
    )
    yield "diff", lambda a: torch.diff(a), one
    yield "diff n", lambda a: torch.diff(a, 2, 0), one
    yield "diff of no order", lambda a, b, c: torch.diff(a, 0, -1, b, c), lambda: (x(3, 4), x(3, 1), x(3, 2))
    yield "diff prepend append", lambda a, b, c: torch.diff(a, 1, -1, b, c), lambda: (x(3, 4), x(3, 1), x(3, 2))
    yield "gradient", lambda a: torch.gradient(a), one
    yield "gradient spacing", lambda a: torch.gradient(a, spacing=0.3, dim=1, edge_order=2), lambda: (x(3, 5),)
    yield (
        "gradient places",
        lambda a: torch.gradient(a, spacing=(at(0, 0.5, 0.7, 2, 2.5),), dim=0, edge_order=1),
        lambda: (x(5, 2),),
    )
    yield "trapezoid", lambda a: torch.trapezoid(a), one
    yield "trapezoid dx", lambda a: torch.trapezoid(a, dx=0.3, dim=0), one
    yield "trapezoid x", lambda a, b: torch.trapezoid(a, b), lambda: (x(3, 4), x(4))
    yield "trapezoid x dim", lambda a, b: torch.trapezoid(a, b, dim=0), lambda: (x(3, 4), x(3, 4))
    yield "cumulative_trapezoid", lambda a: torch.cumulative_trapezoid(a), one
    yield "cumulative_trapezoid x", lambda a, b: torch.cumulative_trapezoid(a, b, dim=0), lambda: (x(3, 4), x(3))


def arrangement():
    one = lambda: (x(3, 4),)
    for rank, f in enumerate((torch.atleast_1d, torch.atleast_2d, torch.atleast_3d)):
        yield f"atleast_{rank + 1}d", lambda a, b, c, f=f: f(a, b, c), lambda: (x(), x(2), x(2, 3))
    yield "broadcast_tensors", lambda a, b: torch.broadcast_tensors(a, b), lambda: (x(3, 1), x(4))
    yield "fliplr", torch.fliplr, one
    yield "flipud", torch.flipud, one
    for k in range(-1, 4):
        yield f"rot90 {k}", lambda a, k=k: torch.rot90(a, k), one
    yield "rot90 dims", lambda a: torch.rot90(a, 1, [2, 0]), lambda: (x(2, 3, 4),)
    yield "diagflat", lambda a: torch.diagflat(a), lambda: (x(2, 2),)
    yield "diagflat offset", lambda a: torch.diagflat(a, -1), lambda: (x(3),)
    yield "mH", lambda a: a.mH, lambda: (z(2, 3),)
    yield "sum_to_size", lambda a: a.sum_to_size(1, 4), lambda: (x(2, 3, 4),)
    for name in ("hstack", "vstack", "dstack", "column_stack"):
        f = getattr(torch, name)
        yield f"{name}", lambda a, b, f=f: f((a, b)), lambda: (x(2, 3), x(2, 3))
        yield f"{name} of vectors", lambda a, b, f=f: f((a, b)), lambda: (x(3), x(3))
    yield "hsplit", lambda a: torch.hsplit(a, 2), one
    yield "hsplit indices", lambda a: torch.hsplit(a, [1, 2]), one
    yield "vsplit", lambda a: torch.vsplit(a, 3), one
    yield "vsplit indices", lambda a: torch.vsplit(a, [1]), one
    yield "dsplit", lambda a: torch.dsplit(a, 2), lambda: (x(2, 3, 4),)
    yield "dsplit indices", lambda a: torch.dsplit(a, [1]), lambda: (x(2, 3, 4),)
    yield "addmv", torch.addmv, lambda: (x(2), x(2, 3), x(3))
    yield "addr", torch.addr, lambda: (x(2, 3), x(2), x(3))
    yield "addbmm", torch.addbmm, lambda: (x(2, 3), x(4, 2, 5), x(4, 5, 3))
    yield "baddbmm", torch.baddbmm, lambda: (x(4, 2, 3), x(4, 2, 5), x(4, 5, 3))
    yield "block_diag", lambda a, b, c: torch.block_diag(a, b, c), lambda: (x(2, 3), x(2), x(1, 1))
    yield "cartesian_prod", lambda a, b, c: torch.cartesian_prod(a, b, c), lambda: (x(2), x(3), x(2))
    yield "combinations", lambda a: torch.combinations(a), lambda: (x(4),)
    yield "combinations 3", lambda a: torch.combinations(a, 3, True), lambda: (x(3),)
    yield (
        "index_copy",
        lambda a, i, b: torch.index_copy(a, 1, i, b),
        lambda: (x(2, 4), torch.tensor([3, 0]), x(2, 2)),
    )
    yield (
        "masked_scatter",
        lambda a, m, b: torch.masked_scatter(a, m, b),
        lambda: (x(2, 3), torch.tensor([[True, False, True], [False, True, True]]), x(5)),
    )
    yield (
        "put",
        lambda a, i, b: torch.put(a, i, b),
        lambda: (x(2, 3), torch.tensor([4, -6, 1]), x(3)),
    )
    yield (
        "put accumulate",
        lambda a, i, b: torch.put(a, i, b, True),
        lambda: (x(2, 3), torch.tensor([4, 4, 1]), x(3)),
    )
    yield "isin", torch.isin, lambda: (torch.tensor([[1, 2], [3, 4]]), torch.tensor([2, 4, 5]))
    yield (
        "as_strided_scatter",  # PyTorch's gradient is that of src at the places of x: put has it
        lambda a, b: torch.put(a, torch.tensor([[1, 3], [4, 6]]), b),
        lambda: (x(3, 3), x(2, 2)),
    )
    yield "unravel_index", lambda i: torch.unravel_index(i, (2, 3, 4)), lambda: (torch.tensor([[0, 23], [13, 7]]),)
    yield "tril_indices", lambda: torch.tril_indices(3, 4, 1), lambda: ()
    yield "triu_indices", lambda: torch.triu_indices(4, 3, -1), lambda: ()
    yield "tril_indices of nothing", lambda: torch.tril_indices(2, 2, -3), lambda: ()


def complex_numbers():
    pair = lambda: (z(2, 3), z(2, 3))
    one = lambda: (z(2, 3),)
    yield "logsumexp complex", lambda a: torch.logsumexp(a, 1), one
    yield "logsumexp complex keepdim", lambda a: torch.logsumexp(a, (0, 1), True), one
    yield "logsumexp whole", lambda a: torch.logsumexp(a, 0).double(), lambda: (torch.tensor([0, 0]),)
    # PyTorch has these for real numbers alone: the definition.
    yield "softmax complex", lambda a: a.exp() / a.exp().sum(1, True), one
    yield "log_softmax complex", lambda a: a - a.exp().sum(0, True).log(), one
    yield "logcumsumexp complex", lambda a: torch.logcumsumexp(a, 1), lambda: (z(2, 5),)
    yield "logaddexp complex", torch.logaddexp, pair
    yield "lerp complex", torch.lerp, lambda: (z(4), z(4), z(4))
    yield "silu complex", lambda a: a * a.sigmoid(), one  # PyTorch has no derivative of its own
    yield "nan_to_num complex", torch.nan_to_num, one
    yield "l1_loss complex", lambda a, b: F.l1_loss(a, b), pair
    yield "square boolean", torch.square, lambda: (torch.tensor([True, False]),)


def fourier():
    fft = torch.fft
    yield "fft", lambda a: fft.fft(a), lambda: (x(2, 5),)
    yield "fft complex", lambda a: fft.fft(a, dim=0, norm="ortho"), lambda: (z(6, 2),)
    yield "fft longer", lambda a: fft.fft(a, n=7, dim=1, norm="forward"), lambda: (z(2, 4, 2),)
    yield "fft shorter", lambda a: fft.fft(a, n=3), lambda: (x(5),)
    yield "ifft", lambda a: fft.ifft(a), lambda: (z(2, 5),)
    yield "ifft norm", lambda a: fft.ifft(a, n=4, dim=0, norm="forward"), lambda: (z(6),)
    yield "rfft", lambda a: fft.rfft(a), lambda: (x(2, 5),)
    yield "rfft even", lambda a: fft.rfft(a, n=6, dim=0, norm="ortho"), lambda: (x(8, 2),)
    yield "irfft", lambda a: fft.irfft(a), lambda: (z(2, 4),)
    yield "irfft odd", lambda a: fft.irfft(a, n=7, norm="ortho"), lambda: (z(2, 5),)
    yield "irfft longer", lambda a: fft.irfft(a, n=8, dim=0, norm="forward"), lambda: (z(3, 2),)
    yield "hfft", lambda a: fft.hfft(a), lambda: (z(2, 4),)
    yield "hfft odd", lambda a: fft.hfft(a, n=5, norm="ortho"), lambda: (z(3),)
    yield "ihfft", lambda a: fft.ihfft(a), lambda: (x(2, 5),)
    yield "ihfft norm", lambda a: fft.ihfft(a, n=4, dim=0, norm="forward"), lambda: (x(4, 2),)
    yield "fft2", lambda a: fft.fft2(a), lambda: (x(2, 3, 4),)
    yield "fft2 sizes", lambda a: fft.fft2(a, s=(2, 5), dim=(0, 1), norm="ortho"), lambda: (z(3, 3, 2),)
    yield "ifft2", lambda a: fft.ifft2(a), lambda: (z(3, 4),)
    yield "rfft2", lambda a: fft.rfft2(a), lambda: (x(2, 3, 4),)
    yield "irfft2", lambda a: fft.irfft2(a), lambda: (z(2, 3, 3),)
    yield "hfft2", lambda a: fft.hfft2(a), lambda: (z(2, 3, 3),)
    yield "ihfft2", lambda a: fft.ihfft2(a, norm="ortho"), lambda: (x(2, 3, 4),)
    yield "fftn", lambda a: fft.fftn(a), lambda: (x(2, 3, 4),)
    yield "fftn sizes", lambda a: fft.fftn(a, s=(2, -1), norm="forward"), lambda: (z(2, 3, 4),)
    yield "ifftn", lambda a: fft.ifftn(a, dim=(0, 2)), lambda: (z(2, 3, 4),)
    yield "rfftn", lambda a: fft.rfftn(a), lambda: (x(2, 3, 4),)
    yield "rfftn axes", lambda a: fft.rfftn(a, dim=(2, 0)), lambda: (x(4, 2, 3),)
    yield "irfftn", lambda a: fft.irfftn(a, s=(3, 5)), lambda: (z(2, 3, 3),)
    yield "hfftn", lambda a: fft.hfftn(a, norm="ortho"), lambda: (z(2, 3, 3),)
    yield "ihfftn", lambda a: fft.ihfftn(a), lambda: (x(2, 3, 4),)
    yield "fftshift", lambda a: fft.fftshift(a), lambda: (x(3, 4),)
    yield "fftshift axis", lambda a: fft.fftshift(a, dim=(1,)), lambda: (z(2, 5),)
    yield "ifftshift", lambda a: fft.ifftshift(a), lambda: (x(3, 4),)
    yield "fftfreq", lambda a: a * fft.fftfreq(5, d=0.5, dtype=a.dtype), lambda: (x(5),)
    yield "fftfreq even", lambda a: a * fft.fftfreq(6, dtype=a.dtype), lambda: (x(6),)
    yield "rfftfreq", lambda a: a * fft.rfftfreq(7, d=0.25, dtype=a.dtype), lambda: (x(4),)


FAMILIES = torch_values_of_core.FAMILIES + torch_values_of_signals.FAMILIES + [
    losses,
    distances,
    activations,
    elementwise,
    statistics,
    arrangement,
    complex_numbers,
    fourier,
    *torch_values_of_algebra.FAMILIES,
    torch_values_of_windows.windows,
    *torch_values_of_networks.FAMILIES,
    torch_values_of_distributions.distributions,
    *torch_values_of_special.FAMILIES,
]


def text(t):
    t = torch.zeros_like(t) if t._is_zerotensor() else t
    if t.is_complex():
        numbers = torch.view_as_real(t.resolve_conj()).flatten().tolist()
    else:
        numbers = [int(v) if t.dtype == torch.bool else v for v in t.flatten().tolist()]
    return f"{NAMES[t.dtype]}[{','.join(map(str, t.shape))}] {' '.join(map(repr, numbers))}".rstrip()


def is_smooth(t):
    return t.is_floating_point() or t.is_complex()


def write(name, f, inputs):
    torch.manual_seed(zlib.crc32(name.encode()))
    given = [t.detach().clone().requires_grad_(is_smooth(t)) for t in inputs()]
    while True:
        try:
            results = f(*given)
            break
        except RuntimeError as error:  # PyTorch has no derivative by this one
            last = [t for t in given if t.requires_grad][-1]
            assert "not differentiable with respect to" in str(error) or "is not implemented" in str(error), error
            last.requires_grad_(False)
    results = [results] if isinstance(results, torch.Tensor) else list(results)
    print(f"case {name}")
    for t in given:
        print("input", text(t.detach()))
    for t in results:
        print("output", text(t.detach()))
    smooth = [t for t in results if is_smooth(t) and t.requires_grad]
    if not smooth:
        return
    total = sum(
        (t * torch.cos(torch.arange(1, t.numel() + 1, dtype=torch.float64)).reshape(t.shape)).sum() for t in smooth
    )
    wanted = [t for t in given if t.requires_grad]
    try:
        found = dict(zip(map(id, wanted), torch.autograd.grad(total.real, wanted, allow_unused=True)))
    except RuntimeError as error:  # PyTorch has none
        assert "is not implemented" in str(error), error
        return
    for t in filter(is_smooth, given):
        g = found.get(id(t))
        of_unused = torch.zeros_like(t) if t.requires_grad else None
        print("gradient", "none" if g is None and of_unused is None else text(of_unused if g is None else g.resolve_conj()))


if __name__ == "__main__":
    print(f"# PyTorch {torch.__version__.split('+')[0]}; written and explained by tools/torch_values.py.")
    for family in FAMILIES:
        for name, f, inputs in family():
            write(name, f, inputs)
