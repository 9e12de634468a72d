"""Random programs written in Python obey the laws that programs in C++ do: a recorded program gives what Python
computed, to the bit; to rounding, vmap is a loop, a plan gives the same, transforms may change places."""

import os

import numpy as np
import pytest
from conftest import expect

import ricci as rc

UNARY = [
    rc.sin,
    rc.cos,
    rc.tanh,
    rc.sigmoid,
    rc.neg,
    rc.square,
    rc.abs,
    rc.relu,
    rc.exp2,
    rc.atan,
    rc.erf,
    rc.softplus,
    lambda x: rc.softmax(x, -1),
    lambda x: rc.cumsum(x, 0),
    lambda x: rc.flip(x, 0),
    lambda x: rc.roll(x, 1, 0),
    lambda x: x.reshape(2, 2).mT.reshape(4),
    lambda x: x - x.mean(),
    lambda x: rc.sort(x)[0],
    lambda x: x[[3, 0, 0, 1]],
    lambda x: rc.where(x > 0, x, 0.5 * x),
    lambda x: rc.clamp(x, -1, 1),
    lambda x: rc.cat([x[2:], x[:2]]),
    lambda x: x / 3,
    lambda x: x**2,
    lambda x: rc.cond(x.sum() > 0, rc.sin, rc.cos, x),
    lambda x: rc.fori_loop(0, 3, lambda i, s: rc.sin(s), x),
]
BINARY = [
    rc.add,
    rc.sub,
    rc.mul,
    rc.maximum,
    rc.atan2,
    rc.hypot,
    lambda a, b: rc.outer(a, b) @ a,
    lambda a, b: a * b.sum(),
    lambda a, b: rc.where(a > b, a, b),
]
COUNT = int(os.environ.get("RICCI_FUZZ_PROGRAMS", 150))


def program(seed):
    """A function of two vectors [4]."""
    rng = np.random.default_rng(seed)
    steps = [
        (rng.integers(4), rng.integers(1000), rng.integers(1000), rng.integers(1000)) for _ in range(rng.integers(3, 9))
    ]
    writes = rng.integers(3) == 0

    def f(a, b):
        values = [a, b]
        for kind, op, i, j in steps:
            x, y = values[i % len(values)], values[j % len(values)]
            if kind == 0:
                values.append(BINARY[op % len(BINARY)](x, y))
            else:
                values.append(UNARY[op % len(UNARY)](x))
        result = values[-1]
        if writes:
            result = result.clone()
            result[1:3] *= 2
            result += values[-2]
        return result

    return f


def inputs(seed, *leading):
    generator = rc.Generator(seed)
    return [rc.randn(*leading, 4, dtype=rc.float64, generator=generator) for _ in range(2)]


def same_bits(x, y):
    assert x.dtype is y.dtype and x.shape == y.shape
    assert np.asarray(x).tobytes() == np.asarray(y).tobytes()


@pytest.mark.parametrize("batch", range(5))
def test_random_programs_obey_the_laws(batch):
    for seed in range(batch * COUNT // 5, (batch + 1) * COUNT // 5):
        f = program(seed)
        a, b = inputs(seed)
        value = f(a, b)
        # a recording is what Python computed, printed, read back and simplified too
        recorded = rc.trace(f)(a, b)
        same_bits(recorded(a, b)[0], value)
        same_bits(rc.parse_program(str(recorded), recorded.captured)(a, b)[0], value)
        same_bits(recorded.simplified()(a, b)[0], value)
        # vmap is a loop
        xs, ys = inputs(seed, 3)
        looped = rc.stack([f(x, y) for x, y in zip(xs, ys)])
        expect(rc.vmap(f)(xs, ys), np.asarray(looped), rtol=1e-12, atol=1e-12)
        # a compiled function is the function
        compiled = rc.compile(f)
        for _ in range(2):
            expect(compiled(a, b), np.asarray(value), rtol=1e-12, atol=1e-12)
        # transforms may change places
        loss = lambda x, y: f(x, y).sum()
        gradients = rc.grad(loss, argnums=(0, 1))
        each = rc.vmap(gradients)(xs, ys)
        for k in range(2):
            expect(each[k], [np.asarray(gradients(x, y)[k]) for x, y in zip(xs, ys)], rtol=1e-10, atol=1e-10)
        tangents = inputs(seed + 1)
        along = rc.jvp(loss, (a, b), tuple(tangents))[1]
        g = gradients(a, b)
        expect(along, ((g[0] * tangents[0]).sum() + (g[1] * tangents[1]).sum()).item(), rtol=1e-9, atol=1e-9)


def test_draws_are_those_of_the_seed_in_any_chunks():
    f = lambda x: rc.randn(3) + rc.dropout(x, 0.5)
    xs = rc.ones(7, 3)
    results = []
    for chunk in (None, 1, 2, 5):
        rc.manual_seed(3)
        results.append(rc.vmap(f, randomness="different", chunk_size=chunk)(xs))
    for other in results[1:]:
        same_bits(results[0], other)
