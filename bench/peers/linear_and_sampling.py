#!/usr/bin/env python3
"""Linear systems by lineax and chains by blackjax on JAX, beside ricci.linear and ricci.sample: all compiled, on one core,
in turn. Prints the least and the median time of a call.

    PYTHONPATH=build/release/python OPENBLAS_NUM_THREADS=1 taskset -c 0 bench/peers/linear_and_sampling.py [linear|sampling]
"""

import os
import sys
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import blackjax
import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np

import ricci as rc
from ricci import linear, sample

jax.config.update("jax_enable_x64", True)
RNG = np.random.default_rng(0)


def seconds(f, calls):
    start = time.perf_counter()
    for _ in range(calls):
        jax.block_until_ready(f())
    return (time.perf_counter() - start) / calls


def compare(name, ours, theirs, rounds=9, budget=0.02):
    ours(), theirs()
    calls = max(1, int(budget / max(seconds(theirs, 1), seconds(ours, 1), 1e-6)))
    times = [(seconds(ours, calls), seconds(theirs, calls)) for _ in range(rounds)]
    columns = [[1e6 * f(side) for f in (min, np.median)] for side in zip(*times)]
    print(f"{name:30} " + " ".join(f"{least:10.1f} {median:10.1f}" for least, median in columns), flush=True)


def tensors(arrays):
    return [rc.tensor(np.ascontiguousarray(a)) for a in arrays]


def compare_systems(name, ours, theirs, *arrays, transforms=((rc.compile, jax.jit),)):
    for outer, jitted in transforms:
        f, g, x = outer(ours), jitted(theirs), tensors(arrays)
        gap = np.abs(f(*x).numpy() - np.asarray(g(*arrays))).max()
        compare(name, lambda: f(*x), lambda: g(*arrays))
        if gap > 1e-5:
            print(f"    they differ by {gap:.1e}")
        name += ", gradient"


def dense_systems():
    def solved(solver, positive=False):
        return lambda a, b: linear.linear_solve(linear.Matrix(a, positive=positive), b, solver).value

    def by_lineax(solver, *tags):
        return lambda a, b: lx.linear_solve(lx.MatrixLinearOperator(a, tags), b, solver).value

    both = (
        (rc.compile, jax.jit),
        (lambda f: rc.compile(rc.grad(lambda a, b: f(a, b).sum())), lambda f: jax.jit(jax.grad(lambda a, b: f(a, b).sum()))),
    )
    positive = lx.positive_semidefinite_tag
    for n in (8, 50, 200):
        a, b = RNG.standard_normal((n, n)) + 2 * n**0.5 * np.eye(n), RNG.standard_normal(n)
        compare_systems(f"lu {n}", solved(linear.lu()), by_lineax(lx.LU()), a, b, transforms=both)
        compare_systems(
            f"cholesky {n}", solved(None, True), by_lineax(lx.Cholesky(), positive), a @ a.T, b, transforms=both
        )
    a, b = RNG.standard_normal((200, 50)), RNG.standard_normal(200)
    compare_systems("qr 200 x 50", solved(linear.qr()), by_lineax(lx.QR()), a, b)
    compare_systems("svd 200 x 50", solved(linear.svd()), by_lineax(lx.SVD()), a, b)
    mapped = ((lambda f: rc.compile(rc.vmap(f)), lambda f: jax.jit(jax.vmap(f))),)
    a, b = RNG.standard_normal((1000, 8, 8)) + 6 * np.eye(8), RNG.standard_normal((1000, 8))
    p = a @ a.transpose(0, 2, 1)
    compare_systems("lu, 1,000 of 8", solved(linear.lu()), by_lineax(lx.LU()), a, b, transforms=mapped)
    compare_systems("cholesky, 1,000 of 8", solved(None, True), by_lineax(lx.Cholesky(), positive), p, b, transforms=mapped)
    cg = lx.CG(rtol=1e-8, atol=1e-8)
    compare_systems("cg, 1,000 of 8", solved(linear.cg(tol=1e-8), True), by_lineax(cg, positive), p, b, transforms=mapped)


def structured_systems():
    for n in (100, 10000):
        diagonals = RNG.standard_normal(n - 1), 4 + RNG.random(n), RNG.standard_normal(n - 1), RNG.standard_normal(n)
        compare_systems(
            f"tridiagonal {n}",
            lambda l, d, u, b: linear.linear_solve(linear.Tridiagonal(l, d, u), b).value,
            lambda l, d, u, b: lx.linear_solve(lx.TridiagonalLinearOperator(d, l, u), b, lx.Tridiagonal()).value,
            *diagonals,
        )
        b, like = RNG.standard_normal(n), jax.ShapeDtypeStruct((n,), jnp.float64)
        for name, ours, theirs in (("cg", linear.cg, lx.CG), ("bicgstab", linear.bicgstab, lx.BiCGStab), ("gmres", linear.gmres, lx.GMRES)):
            operator = lx.FunctionLinearOperator(
                lambda x: 2.1 * x - jnp.roll(x, 1) - jnp.roll(x, -1), like, lx.positive_semidefinite_tag
            )
            compare_systems(
                f"{name} {n}",
                lambda b: linear.linear_solve(lambda x: 2.1 * x - x.roll(1, 0) - x.roll(-1, 0), b, ours(tol=1e-6)).value,
                lambda b: lx.linear_solve(operator, b, theirs(rtol=1e-6, atol=1e-6)).value,
                b,
            )


def curvature():
    x = RNG.standard_normal(20)

    def ours(x):
        return (rc.sin(x) * x.roll(1, 0)).sum() + (x**4).sum()

    def theirs(x):
        return (jnp.sin(x) * jnp.roll(x, 1)).sum() + (x**4).sum()

    compare_systems("hvp 20", lambda x: linear.hvp(ours, x, x), lambda x: jax.jvp(jax.grad(theirs), (x,), (x,))[1], x)
    compare_systems("laplacian 20", lambda x: linear.laplacian(ours, x), lambda x: jnp.trace(jax.hessian(theirs)(x)), x)


ESTIMATES = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
ERRORS = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
STEPS = 500  # of the warm-up, and draws


def eight_schools(lib, estimates, errors):
    def log_density(s):
        spread = lib.exp(s["log_spread"])
        gaps = (estimates - s["mean"] - spread * s["z"]) / errors
        prior = -0.5 * (s["mean"] / 5) ** 2 - lib.log1p((spread / 5) ** 2) - 0.5 * (s["z"] ** 2).sum()
        return prior - 0.5 * (gaps**2).sum() + s["log_spread"]

    return log_density


def chains_of_schools():
    ours, theirs = eight_schools(rc, *tensors((ESTIMATES, ERRORS))), eight_schools(jnp, ESTIMATES, ERRORS)
    places = {"mean": (), "log_spread": (), "z": (8,)}

    def chain(key):
        start = {name: rc.zeros(shape, dtype=rc.float64) for name, shape in places.items()}
        return sample.sample(ours, start, key, warmup=STEPS, draws=STEPS)

    def by_blackjax(key):
        start = {name: jnp.zeros(shape) for name, shape in places.items()}
        of_warmup, of_draws = jax.random.split(key)
        (state, parameters), _ = blackjax.window_adaptation(blackjax.nuts, theirs).run(of_warmup, start, num_steps=STEPS)
        step = blackjax.nuts(theirs, **parameters).step

        def draw(state, key):
            state, info = step(key, state)
            return state, (state.position, info.num_integration_steps, info.acceptance_rate)

        return jax.lax.scan(draw, state, jax.random.split(of_draws, STEPS))[1]

    def report(name, f, g, keys, others):
        compare(name, lambda: f(keys), lambda: g(others), rounds=5)
        found, (place, steps, acceptance) = f(keys), g(others)
        means = [np.array(x).reshape(-1, STEPS) for x in (found.draws["mean"].numpy(), place["mean"])]
        independent = [sample.ess(rc.tensor(x)).item() for x in means]
        print(f"    steps a draw {found.info.steps.to(rc.float64).mean().item():.1f}, {steps.mean():.1f}; acceptance "
              f"{found.info.acceptance.mean().item():.2f}, {acceptance.mean():.2f}; independent draws "
              f"{independent[0]:.0f}, {independent[1]:.0f}")

    report("eight schools, 1 chain", rc.compile(chain), jax.jit(by_blackjax), rc.Key(0), jax.random.key(0))
    for n in (17, 64):
        keys, others = rc.Key(0).split(n), jax.random.split(jax.random.key(0), n)
        report(f"eight schools, {n} chains", rc.compile(rc.vmap(chain)), jax.jit(jax.vmap(by_blackjax)), keys, others)


def hmc_of_normals():
    def chain(key):
        by = sample.hmc(0.3, inverse_mass=rc.ones(10, dtype=rc.float64), steps=10)
        start = rc.zeros(10, dtype=rc.float64)
        return sample.sample(lambda x: -0.5 * (x * x).sum(), start, key, by, warmup=0, draws=1000)

    def by_blackjax(key):
        sampler = blackjax.hmc(lambda x: -0.5 * (x * x).sum(), 0.3, jnp.ones(10), 10)

        def draw(state, key):
            state, _ = sampler.step(key, state)
            return state, state.position

        return jax.lax.scan(draw, sampler.init(jnp.zeros(10)), jax.random.split(key, 1000))[1]

    f, g = rc.compile(chain), jax.jit(by_blackjax)
    compare("hmc, 1,000 draws, 1 chain", lambda: f(rc.Key(0)), lambda: g(jax.random.key(0)))
    f, g = rc.compile(rc.vmap(chain)), jax.jit(jax.vmap(by_blackjax))
    keys, others = rc.Key(0).split(64), jax.random.split(jax.random.key(0), 64)
    compare("hmc, 1,000 draws, 64 chains", lambda: f(keys), lambda: g(others))


if __name__ == "__main__":
    print(f"JAX {jax.__version__}, lineax {lx.__version__}, blackjax {blackjax.__version__}; microseconds a call")
    print(f"{'':30} {'ours, least':>10} {'median':>10} {'theirs':>10} {'median':>10}")
    wanted = sys.argv[1:] or ["linear", "sampling"]
    if "linear" in wanted:
        dense_systems(), structured_systems(), curvature()
    if "sampling" in wanted:
        hmc_of_normals(), chains_of_schools()
