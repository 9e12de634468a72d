#!/usr/bin/env python3
"""Trains a small network on handwritten digits with differential privacy: examples/private_digits.cpp in Python.

The same seed gives the same bits of weights as the C++ program. Start with `clipped_gradients`. The noise comes from a
seeded generator, so that a run can be repeated; a release would need a secret seed.
"""

import argparse
import gzip
import math
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import ricci as rc

PIXELS, CLASSES = 64, 10

# ── the model: dataclasses, and functions of them ──


@dataclass
class Linear:
    weight: rc.Tensor  # [out, in]
    bias: rc.Tensor  # [out]


@dataclass
class Mlp:
    hidden: Linear
    output: Linear


def make_linear(inputs, outputs, random):
    return Linear(rc.randn(outputs, inputs, generator=random) / math.sqrt(inputs), rc.zeros(outputs))


def make_mlp(width, random):
    return Mlp(make_linear(PIXELS, width, random), make_linear(width, CLASSES, random))


def predict(mlp, x):
    """x: [64] gives [10], [batch, 64] gives [batch, 10]."""
    hidden = rc.relu(rc.linear(x, mlp.hidden.weight, mlp.hidden.bias))
    return rc.linear(hidden, mlp.output.weight, mlp.output.bias)


def loss(mlp, x, y):
    return rc.cross_entropy(predict(mlp, x), y)


def accuracy(mlp, images, labels):
    hits = predict(mlp, images).argmax(-1) == labels
    return hits.to(rc.float64).mean().item()


# ── one private step ──


def clipped_gradients(mlp, x, y, clip):
    """(gradients summed over the samples, each scaled to norm at most `clip`; losses [batch]).

    All samples at once: `loss` is written for one sample, vmap gives every parameter's gradient a leading batch axis.
    """
    losses, gradients = rc.vmap(rc.value_and_grad(loss), in_dims=(None, 0, 0))(mlp, x, y)
    squared_norms = rc.zeros_like(losses)
    for g in rc.leaves(gradients):
        squared_norms = squared_norms + g.square().flatten(1, -1).sum(1)
    scale = rc.clamp_max(clip / squared_norms.sqrt(), 1.0)  # [batch]
    return rc.map_leaves(lambda g: rc.tensordot(scale, g, 1), gradients), losses


def clipped_gradients_by_loop(mlp, x, y, clip):
    """The same, one sample after another: what the line with vmap replaces."""
    total, losses = rc.map_leaves(rc.zeros_like, mlp), rc.zeros(x.shape[0])
    for i in range(x.shape[0]):
        value, gradients = rc.value_and_grad(loss)(mlp, x[i], y[i])
        squared_norm = sum(g.square().sum() for g in rc.leaves(gradients))
        scale = rc.clamp_max(clip / squared_norm.sqrt(), 1.0)
        total = rc.map_leaves(lambda t, g: t + scale * g, total, gradients)
        losses[i] = value
    return total, losses


def updated(mlp, gradients, settings, random):
    """Gradient descent on (sum + noise) / batch, the expected size of a batch, as the accountant requires."""
    spread = settings.noise * settings.clip if settings.noise > 0 else 0.0
    rate = settings.rate / settings.batch
    return rc.map_leaves(lambda p, g: p - rate * (g + spread * rc.randn(p.shape, generator=random)), mlp, gradients)


def sample_batch(examples, probability, random):
    """Poisson sampling: each example is in with this probability, independently. int64 [size of the batch]."""
    return rc.nonzero(rc.rand(examples, generator=random) < probability).flatten()


# ── what a run reveals; examples/gaussian_accountant.h gives the sources ──


def renyi_of_round(order, rate, noise):
    """Rényi divergence of integer order of one round of the Poisson-subsampled Gaussian mechanism."""
    if rate >= 1:
        return order / (2 * noise * noise)
    terms = []
    for k in range(order + 1):
        log_binomial = math.lgamma(order + 1.0) - math.lgamma(k + 1.0) - math.lgamma(order - k + 1.0)
        log_weight = k * math.log(rate) + (order - k) * math.log1p(-rate)
        terms.append(log_binomial + log_weight + (k * k - k) / (2 * noise * noise))
    greatest = max(terms)
    return (greatest + math.log(sum(math.exp(t - greatest) for t in terms))) / (order - 1)


def epsilon(rate, noise, steps, delta):
    """The smallest epsilon at delta over integer orders 2 to 256; infinite without noise."""
    if noise <= 0:
        return math.inf
    bounds = (
        steps * renyi_of_round(order, rate, noise)
        + math.log1p(-1.0 / order)
        - (math.log(delta) + math.log(order)) / (order - 1)
        for order in range(2, 257)
    )
    return min(max(b, 0.0) for b in bounds)


# ── the run ──


def read_digits(path):
    """(images, labels) for training and for testing, every fifth row: float32 [n, 64] in [0, 1], int64 [n]."""
    rows = ([], [])
    with gzip.open(path, "rt") as file:
        for number, line in enumerate(file):
            rows[number % 5 == 0].append([int(v) for v in line.split(",")])
    return [
        (rc.tensor([[v / 16 for v in r[:PIXELS]] for r in part], rc.float32), rc.tensor([r[PIXELS] for r in part]))
        for part in rows
    ]


def require(holds, what):
    if not holds:
        raise RuntimeError(f"required: {what}")


def train(images, labels, settings):
    """(model, steps, samples seen, seconds)."""
    random = rc.Generator(settings.seed)
    examples = labels.shape[0]
    probability = settings.batch / examples
    mlp = make_mlp(settings.width, random)
    steps, samples, seconds = max(1, round(settings.epochs / probability)), 0, 0.0
    for _ in range(steps):
        start = time.perf_counter()
        chosen = sample_batch(examples, probability, random)
        x, y = images.index_select(0, chosen), labels.index_select(0, chosen)
        gradients, losses = clipped_gradients(mlp, x, y, settings.clip)
        mlp = updated(mlp, gradients, settings, random)
        seconds += time.perf_counter() - start
        samples += chosen.shape[0]
        mean_loss = losses.mean().item() if chosen.shape[0] > 0 else 0.0
        require(math.isfinite(mean_loss), "the loss stays finite; a smaller --rate may help")
    return mlp, steps, samples, seconds


def fastest(runs, call):
    best = math.inf
    for _ in range(runs):
        start = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - start)
    return best, result


def speedup_over_loop(mlp, images, labels, settings):
    """How many times faster vmap makes the gradients of one batch. Requires that both ways agree."""
    x, y = images[: settings.batch], labels[: settings.batch]
    with_vmap, mapped = fastest(5, lambda: clipped_gradients(mlp, x, y, settings.clip))
    with_loop, looped = fastest(3, lambda: clipped_gradients_by_loop(mlp, x, y, settings.clip))
    for ours, theirs in zip(rc.leaves(mapped), rc.leaves(looped)):
        # Both sum some hundred float32 terms, in different orders.
        require(rc.allclose(ours, theirs, 1e-3, 1e-4), "vmap and the loop give the same gradients")
    return with_loop / with_vmap


def parse(arguments):
    data = Path(__file__).resolve().parents[2] / "data/digits.csv.gz"
    parser = argparse.ArgumentParser(description="Trains a network on handwritten digits with differential privacy.")
    parser.add_argument("--epochs", type=float, default=40, help="expected passes over the training set")
    parser.add_argument("--batch", type=int, default=128, help="expected samples in a step")
    parser.add_argument("--rate", type=float, default=0.5, help="learning rate")
    parser.add_argument("--noise", type=float, default=2, help="noise, in units of the clipping norm")
    parser.add_argument("--clip", type=float, default=1, help="largest norm of a sample's gradient; inf for none")
    parser.add_argument("--delta", type=float, default=1e-5, help="where epsilon is reported")
    parser.add_argument("--width", type=int, default=128, help="hidden units")
    parser.add_argument("--seed", type=int, default=0, help="same seed, same numbers")
    parser.add_argument("--data", default=str(data), help="the digits, as gzipped CSV")
    parser.add_argument("--at-least", type=float, default=0, help="fail below this test accuracy")
    parser.add_argument("--save", help="writes the parameters to this .npz file")
    parser.add_argument("--quick", action="store_true", help="two epochs: a test that the program runs")
    settings = parser.parse_args(arguments)
    if settings.quick:
        settings.epochs = 2
    require(settings.noise <= 0 or math.isfinite(settings.clip), "noise needs a finite --clip to be measured in")
    return settings


def main(arguments=None):
    settings = parse(arguments)
    (images, labels), test = read_digits(settings.data)
    require(1 <= settings.batch <= labels.shape[0], "--batch is a part of the training set")
    mlp, steps, samples, seconds = train(images, labels, settings)
    for p in rc.leaves(mlp):
        require(rc.isfinite(p).all(), "all parameters are finite")
    correct = accuracy(mlp, *test)
    spent = epsilon(settings.batch / labels.shape[0], settings.noise, steps, settings.delta)
    print(f"test accuracy      {correct:.4f}")
    print(f"epsilon            {spent:.3f} at delta {settings.delta:g}")
    print(f"samples a second   {samples / seconds:.0f}")
    print(f"vmap over a loop   {speedup_over_loop(mlp, images, labels, settings):.1f} times faster")
    if settings.save:
        rc.save(settings.save, mlp)
    require(correct >= settings.at_least, "the test accuracy is at least --at-least")


if __name__ == "__main__":
    try:
        main()
    except (RuntimeError, OSError) as error:
        sys.exit(f"private_digits: {error}")
