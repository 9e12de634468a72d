#!/usr/bin/env python3
"""The same evals in JAX, for run.py: what bench/peers does not time already (ba, ht, lstm, particle and saddle are W12,
W13, W14 and W18). One thread is the caller's business."""
import json
import math
import os
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)


def square(x):
    return x * x


def gmm(input):
    d, k, m, gamma = input["d"], input["k"], input["m"], input["gamma"]
    columns, rows = np.triu_indices(d, 1)
    n = d + m + 1
    constant = n * d * (math.log(gamma) - 0.5 * math.log(2)) - 0.25 * d * (d - 1) * math.log(math.pi)
    constant -= sum(math.lgamma(0.5 * (n - j)) for j in range(d))

    def f(mixture, x):
        alpha, mu, q, l = mixture["alpha"], mixture["mu"], mixture["q"], mixture["l"]
        factors = jax.vmap(lambda q, l: jnp.diag(jnp.exp(q)).at[rows, columns].set(l))(q, l)

        def log_likelihood(x):
            distances = jax.vmap(lambda factor, away: ((factor @ away) ** 2).sum())(factors, x - mu)
            return jax.nn.logsumexp(alpha + q.sum(1) - 0.5 * distances)

        prior = k * constant - 0.5 * gamma**2 * ((jnp.exp(q) ** 2).sum() + (l**2).sum()) + m * q.sum()
        return (jax.vmap(log_likelihood)(x).sum() - len(x) * jax.nn.logsumexp(alpha)
                - 0.5 * len(x) * d * math.log(2 * math.pi) + prior)

    mixture = {name: jnp.array(input[name]) for name in ("alpha", "mu", "q", "l")}
    return f, (mixture, jnp.array(input["x"]))


def kmeans(input):
    def cost(centroids, points):
        return jax.vmap(lambda point: ((centroids - point) ** 2).sum(1).min())(points).sum()

    return cost, (jnp.array(input["centroids"]), jnp.array(input["points"]))


def newton_direction(cost):
    def direction(centroids, points):
        slope = lambda c: jax.grad(cost)(c, points)
        gradient, diagonal = jax.jvp(slope, (centroids,), (jnp.ones_like(centroids),))
        return gradient / diagonal

    return direction


def llsq(input):
    n = input["n"]

    def f(x):
        t = jnp.arange(n) * (2 / (n - 1)) - 1
        polynomial = lambda t: jax.lax.scan(lambda sum, c: (sum * t + c, None), 0.0, x[::-1])[0]
        return 0.5 * ((jnp.sign(t) - jax.vmap(polynomial)(t)) ** 2).sum()

    return f, (jnp.array(input["x"]),)


def log_sum_exp(x):
    greatest = x.max()
    return greatest + jnp.log(jnp.exp(x - greatest).sum())


def ode(input):
    steps = input["s"]

    def solution(x):
        h = 2 / steps
        slope = lambda y: x * jnp.concatenate([jnp.ones(1), y[:-1]])

        def step(y, _):
            k1 = slope(y)
            k2 = slope(y + h / 2 * k1)
            k3 = slope(y + h / 2 * k2)
            return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(y + h * k3)), None

        return jax.lax.scan(step, jnp.zeros_like(x), length=steps)[0]

    return solution, (jnp.array(input["x"]),)



EVALS = {
    "hello": {"square": lambda x: (square, (x,)), "double": lambda x: (jax.grad(square), (x,))},
    "gmm": {"objective": gmm, "jacobian": lambda i: (jax.grad(gmm(i)[0]), gmm(i)[1])},
    "kmeans": {"cost": kmeans, "dir": lambda i: (newton_direction(kmeans(i)[0]), kmeans(i)[1])},
    "llsq": {"primal": llsq, "gradient": lambda i: (jax.grad(llsq(i)[0]), llsq(i)[1])},
    "lse": {"primal": lambda i: (log_sum_exp, (jnp.array(i["x"]),)),
            "gradient": lambda i: (jax.grad(log_sum_exp), (jnp.array(i["x"]),))},
    "ode": {"primal": ode, "gradient": lambda i: (jax.grad(lambda x: ode(i)[0](x)[-1]), ode(i)[1])},
}


def evaluate(message):
    input = message["input"]
    f, arguments = EVALS[message["module"]][message["function"]](input)
    step, timings = jax.jit(f), []

    def run(name):
        start = time.perf_counter_ns()
        result = jax.block_until_ready(step(*arguments))
        timings.append({"name": name, "nanoseconds": time.perf_counter_ns() - start})
        return result

    run("prepare")
    wanted = input if isinstance(input, dict) else {}
    spent, runs = 0, 0
    while runs < wanted.get("min_runs", 1) or spent < wanted.get("min_seconds", 0) * 1e9:
        result = run("evaluate")
        spent, runs = spent + timings[-1]["nanoseconds"], runs + 1
    output = jax.tree.map(lambda leaf: np.asarray(leaf).tolist(), result)
    return {"success": True, "output": output, "timings": timings}


def respond(message):
    if message["kind"] == "start":
        return {"tool": "jax"}
    if message["kind"] == "define":
        return {"success": message["module"] in EVALS}
    if message["kind"] != "evaluate":
        return {}
    try:
        return evaluate(message)
    except Exception as error:
        return {"success": False, "error": f"{type(error).__name__}: {error}"}


for line in sys.stdin:
    message = json.loads(line)
    print(json.dumps({"id": message["id"], **respond(message)}), flush=True)
