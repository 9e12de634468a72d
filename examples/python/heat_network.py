"""A physics-informed network, as examples/heat_network.cpp: a network of place and time is trained, with AdamW under a
schedule, until it satisfies the heat equation u_t = a u_xx. Prints the greatest error against the known solution and fails
unless that is small. `--quick` takes fewer steps.
"""

import math
import sys
from dataclasses import dataclass

import ricci as rc
from ricci import optim

A = 0.1
POINTS = 64


@dataclass
class Network:  # 2 → 16 → 16 → 1
    w1: rc.Tensor
    b1: rc.Tensor
    w2: rc.Tensor
    b2: rc.Tensor
    w3: rc.Tensor


def random_network(key):
    def weights(k, n_in, n_out):
        return k.normal((n_in, n_out), dtype=rc.float64) / math.sqrt(n_in)

    k1, k2, k3 = key.split(3)
    zero = rc.zeros(16, dtype=rc.float64)
    return Network(weights(k1, 2, 16), zero, weights(k2, 16, 16), zero, weights(k3, 16, 1))


def u(n, t, x):
    """u = sin(pi x) at the start and 0 at the ends, whatever the network gives."""
    hidden = ((rc.stack([t, x]) @ n.w1 + n.b1).tanh() @ n.w2 + n.b2).tanh()
    return (math.pi * x).sin() * (1 + t * (hidden @ n.w3).sum())


def residual(n, t, x):
    """u_t - a u_xx at one point."""
    one = rc.ones_like(x)
    u_t = rc.jvp(lambda s: u(n, s, x), (t,), (one,))[1]
    u_xx = rc.jet(lambda s: u(n, t, s), (x,), ((one, rc.zeros_like(x)),))[1][1]
    return u_t - A * u_xx


def loss(n, t, x):
    return rc.vmap(residual, in_dims=(None, 0, 0))(n, t, x).square().mean()


def main(is_quick):
    steps = 300 if is_quick else 2000
    key = rc.Key(0)
    network = random_network(key.fold_in(0))
    adamw = optim.adamw(optim.warmup_cosine(0.0, 1e-2, steps // 10, steps), weight_decay=1e-5)
    state = adamw.init(network)

    @rc.compile
    def step(n, s, k):
        key_t, key_x = k.split()
        t, x = key_t.uniform(POINTS, dtype=rc.float64), key_x.uniform(POINTS, dtype=rc.float64)
        gradient, value = rc.grad_and_value(loss)(n, t, x)
        updates, s = adamw.update(gradient, s, n)
        return optim.apply_updates(n, updates), s, value

    show, keys = rc.progress(steps), key.fold_in(1).split(steps)
    for i in range(steps):
        network, state, value = step(network, state, keys[i])
        show(i)

    line = rc.linspace(0, 1, 21, dtype=rc.float64)
    t, x = line.unsqueeze(1).expand(21, 21).reshape(441), line.expand(21, 21).reshape(441)
    found = rc.vmap(u, in_dims=(None, 0, 0))(network, t, x)
    error = (found - (-A * math.pi**2 * t).exp() * (math.pi * x).sin()).abs().amax().item()
    print(f"loss after {steps} steps: {value.item():.1e}, greatest error: {error:.1e}")
    # With keys 0 to 4 the error is 0.4e-3 to 1.9e-3, 2e-3 to 10e-3 if quick; without training it is 0.4.
    return 0 if error < (3e-2 if is_quick else 5e-3) else 1


if __name__ == "__main__":
    sys.exit(main("--quick" in sys.argv))
