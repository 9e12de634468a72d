"""W1 to W9 of ../w*.cpp for torch and JAX, and by `cases` all of a rival: by name, (step, function that makes its
inputs). The rest is in the other *_workloads.py."""
import functools
import math

import numpy

import casadi_workloads
import density_workloads
import drjit_workloads
import lane_workloads
import layer_workloads
import loop_workloads
import numba_workloads
import reproducers
import stan_workloads
from inputs import dense, one_hot_labels, uniform


def cases(rival):
    shared = (scalar_chain, tiny_net, fusion_chain, per_sample_gradients, jacobians, hessians, hessian_vector,
              layer_workloads.layers, *lane_workloads.groups, *loop_workloads.groups, density_workloads.log_densities,
              reproducers.asked)
    own = {"drjit": drjit_workloads.groups, "casadi": casadi_workloads.groups, "numba": numba_workloads.groups,
           "stan": stan_workloads.groups}
    return functools.reduce(dict.__or__, (group(rival) for group in own.get(rival.family, shared)))


def scalar_chain(r):
    def chain(x):
        for _ in range(50):
            x = r.np.sin(x) * 1.1
        return x

    half = lambda: (r.array(numpy.array(0.5, numpy.float32)),)
    return {
        "W1/fwd": (chain, half),
        "W1/grad": (r.grad(chain), half),
        "W1/grad_grad": (r.grad(r.grad(chain)), half),
        "W1/vmap_grad_1024": (r.vmap(r.grad(chain)), lambda: (r.array(uniform((1024,), 1, 0.1, 1.0)),)),
    }


def tiny_net(r):
    shapes = [(8, 4), (8,), (8, 8), (8,), (1, 8), (1,)]

    def hidden(net, x):
        w1, b1, w2, b2, _, _ = net
        return r.np.tanh(w2 @ r.np.tanh(w1 @ x + b1) + b2)

    def output(net, x):
        return (net[4] @ hidden(net, x) + net[5]).sum()

    def unflatten(theta):
        pieces = r.split(theta, [math.prod(shape) for shape in shapes])
        return [piece.reshape(shape) for piece, shape in zip(pieces, shapes)]

    weights = dense((4, 8, 8, 1), 21)
    example = uniform((4,), 20)
    tree = lambda: ([r.array(w) for w in weights], r.array(example))
    flat = lambda: (r.array(numpy.concatenate([w.ravel() for w in weights])), r.array(example))
    return {
        "W2/grad_input": (r.grad(output, 1), tree),
        "W2/grad_weights": (r.grad(output), tree),
        "W2/jacobian_input": (r.jacfwd(hidden, 1), tree),
        "W2/jacobian_weights": (r.jacrev(lambda theta, x: hidden(unflatten(theta), x)), flat),
        "W2/hessian_input": (r.hessian(output, 1), tree),
        "W2/hessian_weights": (r.hessian(lambda theta, x: output(unflatten(theta), x)), flat),
    }


def fusion_chain(r):
    np = r.np

    def chain(x):
        s = np.sin(x)
        return np.tanh(1.3 * x + 0.2) * np.exp(-x * x) + s * s

    found = {}
    for n in (4096, 65536, 16777216):
        x = lambda n=n: (r.array(uniform((n,), 3, -2.0, 2.0)),)
        found[f"W3/fwd_{n}"] = (chain, x)
        found[f"W3/value_grad_{n}"] = (r.value_and_grad(lambda x: chain(x).sum()), x)
    return found


def classifier_loss(r, net, x, y):
    """Mean softmax cross-entropy of a ReLU net, for a batch or for one example."""
    hidden = x
    for w, b in zip(net[:-2:2], net[1:-2:2]):
        hidden = r.relu(hidden @ w.T + b)
    logits = hidden @ net[-2].T + net[-1]
    return (r.logsumexp(logits, -1) - (logits * y).sum(-1)).mean()


def classifier(r, sizes, batch, seed):
    """A net from seed + 1, a batch and its one-hot labels."""
    net = [r.array(w) for w in dense(sizes, seed + 1)]
    return net, r.array(uniform((batch, sizes[0]), seed, 0.0, 1.0)), r.array(one_hot_labels(batch, sizes[-1]))


def per_sample_gradients(r):
    np = r.np
    loss = functools.partial(classifier_loss, r)
    each = lambda f: r.vmap(f, (None, 0, 0))
    per_sample = each(r.grad(loss))

    def clip_scale(squares):
        return 1 / np.maximum(np.sqrt(squares), np.ones_like(squares))

    def dp_clip(net, x, y):
        gradients = per_sample(net, x, y)
        scale = clip_scale(sum(r.square_norms(g.reshape(256, -1)) for g in gradients)) / 256
        return [np.tensordot(scale, g, 1) for g in gradients]

    def clipped(net, x, y):
        gradient = r.grad(loss)(net, x, y)
        scale = clip_scale(sum((g * g).sum() for g in gradient))
        return [scale * g for g in gradient]

    def square_norm(net, x, y):
        return sum((g * g).sum() for g in r.grad(loss)(net, x, y))

    def dp_clip_twopass(net, x, y):
        scale = clip_scale(each(square_norm)(net, x, y)) / 256
        return r.grad(lambda net: (scale * each(loss)(net, x, y)).sum())(net)

    steps = {
        "mean": r.grad(loss),
        "per_sample": per_sample,
        "dp_clip": dp_clip,
        "dp_clip_inside": lambda net, x, y: [g.mean(0) for g in each(clipped)(net, x, y)],
        "dp_clip_twopass": dp_clip_twopass,
    }
    return {f"W4/{name}": (step, lambda: classifier(r, (784, 256, 10), 256, 40)) for name, step in steps.items()}


def jacobians(r):
    tanh = r.np.tanh

    def layer(x, w, b):
        return tanh(w @ x + b)

    def net(x, weights):
        w1, b1, w2, b2, w3, b3 = weights
        return w3 @ tanh(w2 @ tanh(w1 @ x + b1) + b2) + b3

    def inputs(n, m):
        return lambda: [r.array(a) for a in (uniform((n,), 80), *dense((n, m), 81))]

    batch = lambda: (r.array(uniform((32, 64), 83)), [r.array(w) for w in dense((64, 256, 256, 32), 84)])
    return {
        "W7/16x16_jacrev": (r.jacrev(layer), inputs(16, 16)),
        "W7/16x16_jacfwd": (r.jacfwd(layer), inputs(16, 16)),
        "W7/32to2048_jacfwd": (r.jacfwd(layer), inputs(32, 2048)),
        "W7/2048to32_jacrev": (r.jacrev(layer), inputs(2048, 32)),
        "W7/mlp_batch32_jacrev": (r.vmap(r.jacrev(net), (0, None)), batch),
    }


def rosenbrock(x):
    a, b = x[:-1], x[1:]
    return (100 * (b - a * a) ** 2 + (1 - a) ** 2).sum()


def product(r, f, x, v):
    """The Hessian of f at x times v, forward over reverse."""
    return r.jvp(r.grad(f), (x,), (v,))[1]


def hessians(r):
    def output(x, weights):
        w1, b1, w2, b2 = weights
        return (w2 @ r.np.tanh(w1 @ x + b1) + b2).sum()

    def products(x, seeds):
        return r.vmap(lambda v: product(r, rosenbrock, x, v))(seeds)

    X = uniform((64, 64), 90)
    weights = lambda: [r.array(w) for w in dense((64, 128, 1), 91)]
    start = lambda n: r.array(uniform((n,), 92, -1.5, 1.5))
    thirds = (numpy.arange(1000)[None, :] % 3 == numpy.arange(3)[:, None]).astype(numpy.float32)
    return {
        "W8/mlp_one": (r.hessian(output), lambda: (r.array(X[0].copy()), weights())),
        "W8/mlp_vmap64": (r.vmap(r.hessian(output), (0, None)), lambda: (r.array(X), weights())),
        "W8/rosenbrock_100": (r.hessian(rosenbrock), lambda: (start(100),)),
        "W8/rosenbrock_1000": (r.hessian(rosenbrock), lambda: (start(1000),)),
        "W8/rosenbrock_1000_sparse": (products, lambda: (start(1000), r.array(thirds))),
    }


def hessian_vector(r):
    sizes = (784, 512, 512, 10)
    loss = functools.partial(classifier_loss, r)
    large = lambda: classifier(r, sizes, 128, 100)
    start = lambda: r.array(uniform((1000000,), 120, -1.5, 1.5))

    def net_product(net, x, y, direction):
        return product(r, lambda net: loss(net, x, y), net, direction)

    def rosenbrock_product(x, direction):
        return product(r, rosenbrock, x, direction)

    return {
        "W9/mlp_grad": (r.grad(loss), large),
        "W9/mlp_hvp": (net_product, lambda: (*large(), [r.array(w) for w in dense(sizes, 111)])),
        "W9/rosenbrock_1e6_grad": (r.grad(rosenbrock), lambda: (start(),)),
        "W9/rosenbrock_1e6_hvp": (rosenbrock_product, lambda: (start(), r.array(uniform((1000000,), 121)))),
    }
