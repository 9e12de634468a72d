#!/usr/bin/env python3
"""Writes PyTorch's values and gradients of public functions, which tests/laws/public_functions_test.cpp holds ours against.

    python3 tools/torch_values.py > tests/data/values_of_torch.txt               # needs PyTorch

A case is a function of tensors, the inputs that it is tried on, its results, and the gradients of the sum of all
floating results times cos(1), cos(2), … by each floating input:

    case NAME
    input f64[2,3] 0.5 …
    output f64[] 1.25
    gradient f64[2,3] …                                                          # or `none`, where PyTorch has none

The name's first word is the function. "kink" in a name says that there are no difference quotients there. Numbers are
row-major, those of complex elements in pairs. Inputs are drawn anew for each case, from a seed made of its name.
"""
import math
import zlib

import torch
import torch.nn.functional as F

NAMES = {
    torch.float64: "f64",
    torch.float32: "f32",
    torch.complex128: "c128",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.uint8: "u8",
    torch.bool: "bool",
}


def x(*shape):
    return torch.rand(shape, dtype=torch.float64) * 4 - 2


def positive(*shape):
    return torch.rand(shape, dtype=torch.float64) * 2 + 0.25


def unit(*shape):
    return torch.rand(shape, dtype=torch.float64) * 0.9 + 0.05


def sign(*shape):
    return torch.randint(0, 2, shape).to(torch.float64) * 2 - 1


def classes(count, *shape):
    return torch.randint(0, count, shape)


def z(*shape):
    return torch.complex(x(*shape), x(*shape))


def at(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)


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
    yield "cosine_similarity", lambda a, b: F.cosine_similarity(a, b), pair
    yield "cosine_similarity dim", lambda a, b: F.cosine_similarity(a, b, dim=-1), lambda: (x(2, 4, 3), x(4, 3))
    yield "cosine_similarity kink", lambda a, b: F.cosine_similarity(a, b, dim=0), lambda: (at(0, 0), at(1, 2))
    yield "normalize", lambda a: F.normalize(a), lambda: (x(4, 3),)
    yield "normalize p", lambda a: F.normalize(a, p=3.0, dim=0), lambda: (x(4, 3),)
    yield "normalize kink", lambda a: F.normalize(a, dim=0), lambda: (at(0, 0),)
    yield "local_response_norm", lambda a: F.local_response_norm(a, 3, 0.5, 0.6, 1.5), lambda: (x(2, 5, 3),)
    yield "local_response_norm planes", lambda a: F.local_response_norm(a, 2), lambda: (x(2, 4, 2, 3),)
    yield "rms_norm", lambda a: F.rms_norm(a, (3,)), lambda: (x(4, 3),)
    yield "rms_norm weight", lambda a, v: F.rms_norm(a, (2, 3), v, 1e-3), lambda: (x(4, 2, 3), x(2, 3))
    yield "bilinear", lambda a, b, v: F.bilinear(a, b, v), lambda: (x(4, 3), x(4, 2), x(5, 3, 2))
    yield "bilinear bias", lambda a, b, v, c: F.bilinear(a, b, v, c), lambda: (x(2, 2, 3), x(2, 2, 2), x(5, 3, 2), x(5))


FAMILIES = [losses, distances]


def text(t):
    if t.is_complex():
        numbers = torch.view_as_real(t).flatten().tolist()
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
    found = dict(zip(map(id, wanted), torch.autograd.grad(total.real, wanted, allow_unused=True)))
    for t in filter(is_smooth, given):
        g = found.get(id(t))
        of_unused = torch.zeros_like(t) if t.requires_grad else None
        print("gradient", "none" if g is None and of_unused is None else text(of_unused if g is None else g.resolve_conj()))


if __name__ == "__main__":
    print(f"# PyTorch {torch.__version__.split('+')[0]}; written and explained by tools/torch_values.py.")
    for family in FAMILIES:
        for name, f, inputs in family():
            write(name, f, inputs)
