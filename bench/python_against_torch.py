#!/usr/bin/env python3
"""Times the Python package beside torch.func and NumPy, in one process on one core, turn by turn.

    PYTHONPATH=build/release/python taskset -c 1 python3 bench/python_against_torch.py [seconds of each case]

The Python needs PyTorch and NumPy. First what one call costs: a + b of two numbers, vmap(grad(sin)), gradients of each
sample of a network in a dict, a Hessian. Then workloads like W1, W2, W4 and W8 of ricci_bench, eager and compiled.
Results are compared first. Prints the least time of each, and how many times that torch.func takes.
"""
import sys
import time

import numpy as np
import torch

import ricci as rc

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 2
RNG = np.random.default_rng(0)


def array(*shape):
    return RNG.standard_normal(shape).astype(np.float32) * 0.3


def chain(m):
    def f(x):
        for _ in range(50):
            x = m.sin(x) * 1.01
        return x

    return f


def tiny_net(m):
    def f(x, w):
        h = m.tanh(m.tanh(x @ w["a"] + w["b"]) @ w["c"] + w["d"])
        return (h @ w["e"]).sum()

    return f


def classifier_loss(m):
    def f(w, x, y):
        logits = m.relu(x @ w["a"] + w["b"]) @ w["c"] + w["d"]
        return -(m.log_softmax(logits, -1) * y).sum()

    return f


def two_layers(m):
    return lambda x, w: (m.tanh(x @ w["a"] + w["b"]) @ w["c"]).sum()


def squared_error(m):
    def f(w, x, y):
        return ((m.tanh(x @ w["w1"] + w["b1"]) @ w["w2"] + w["b2"] - y) ** 2).sum()

    return f


OF_CHAIN = np.float32(0.5)
TINY = dict(a=array(4, 8), b=array(8), c=array(8, 8), d=array(8), e=array(8, 1))
DIGITS = dict(a=array(784, 256), b=array(256), c=array(256, 10), d=array(10))
LAYERS = dict(a=array(64, 128), b=array(128), c=array(128, 1))
DICT = dict(w1=array(4, 8), b1=array(8), w2=array(8), b2=array())
CLASSES = np.eye(10, dtype=np.float32)[RNG.integers(10, size=256)]
ALL = (None, 0, 0)

# Of either library m with its transforms t: a function of arrays.
CASES = {
    "vmap(grad(sin)) of 3": lambda m, t: (t.vmap(t.grad(m.sin)), array(3)),
    "per sample, a dict, 16": lambda m, t: (t.vmap(t.grad(squared_error(m)), ALL), DICT, array(16, 4), array(16)),
    "hessian of 10": lambda m, t: (t.hessian(lambda x: (x**3).sum()), array(10)),
    "W1 grad": lambda m, t: (t.grad(chain(m)), OF_CHAIN),
    "W1 grad of grad": lambda m, t: (t.grad(t.grad(chain(m))), OF_CHAIN),
    "W1 vmap(grad), 1,024": lambda m, t: (t.vmap(t.grad(chain(m))), array(1024)),
    "W2 grad of weights": lambda m, t: (t.grad(tiny_net(m), argnums=1), array(4), TINY),
    "W2 hessian": lambda m, t: (t.hessian(tiny_net(m)), array(4), TINY),
    "W4 per sample": lambda m, t: (t.vmap(t.grad(classifier_loss(m)), ALL), DIGITS, array(256, 784), CLASSES),
    "W8 hessian": lambda m, t: (t.hessian(two_layers(m)), array(64), LAYERS),
    "W8 vmap(hessian), 64": lambda m, t: (t.vmap(t.hessian(two_layers(m)), (0, None)), array(64, 64), LAYERS),
}


def converted(value, to):
    return {k: converted(v, to) for k, v in value.items()} if isinstance(value, dict) else to(np.asarray(value))


def flat(result):
    parts = [result[k] for k in sorted(result)] if isinstance(result, dict) else [result]
    return np.concatenate([np.asarray(part).ravel() for part in parts])


def least_times(calls, seconds):
    """In seconds; the calls take turns, each as often as takes about a millisecond."""
    counts = []
    for call in calls:
        call()
        start = time.perf_counter()
        call()
        counts.append(max(1, int(1e-3 / (time.perf_counter() - start))))
    best, end = [float("inf")] * len(calls), time.perf_counter() + seconds
    while time.perf_counter() < end:
        for k, call in enumerate(calls):
            start = time.perf_counter()
            for _ in range(counts[k]):
                call()
            best[k] = min(best[k], (time.perf_counter() - start) / counts[k])
    return best


def text(seconds):
    return f"{seconds * 1e6:,.2f}" if seconds < 1e-4 else f"{seconds * 1e6:,.0f}"


def main():
    torch.set_num_threads(1)
    rc.set_num_threads(1)
    pairs = [(make(1.0), make(2.0)) for make in (rc.tensor, torch.tensor, np.array)]
    times = least_times([lambda a=a, b=b: a + b for a, b in pairs], SECONDS)
    print("a + b of two numbers, ns:", *(f"{n} {s * 1e9:.0f}" for n, s in zip(("Ricci", "torch", "NumPy"), times)))
    print(f"{'us':24} {'torch.func':>12} {'eager':>10} {'':>8} {'compiled':>10}")
    for name, case in CASES.items():
        state = RNG.bit_generator.state
        theirs, *arguments = case(torch, torch.func)
        RNG.bit_generator.state = state
        ours, *_ = case(rc, rc.func)
        of_torch = [converted(a, lambda x: torch.from_numpy(x.copy())) for a in arguments]
        of_ours = [converted(a, rc.tensor) for a in arguments]
        compiled = rc.compile(ours)
        calls = [lambda: theirs(*of_torch), lambda: ours(*of_ours), lambda: compiled(*of_ours)]
        wanted = flat(calls[0]())
        for call in calls[1:]:
            assert np.allclose(flat(call()), wanted, rtol=2e-3, atol=1e-4), name
        times = least_times(calls, SECONDS)
        against = [f"{text(s):>10} {times[0] / s:7.1f}x" for s in times[1:]]
        print(f"{name:24} {text(times[0]):>12}", *against, flush=True)


if __name__ == "__main__":
    main()
