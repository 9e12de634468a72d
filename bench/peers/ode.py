#!/usr/bin/env python3
"""Differential equations by diffrax on JAX, beside build/release/bench/ode_bench, in its columns.

    taskset -c 0 python bench/peers/ode.py
"""
import os
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import diffrax
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def lorenz(t, y, args):
    return jnp.stack([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]])


def robertson(t, y, args):
    first, last = -0.04 * y[0] + 1e4 * y[1] * y[2], 3e7 * y[1] * y[1]
    return jnp.stack([first, -first - last, last])


def solved(solution):
    return solution.ys, solution.stats["num_steps"]


def constant(solver):
    return lambda y: solved(diffrax.diffeqsolve(diffrax.ODETerm(lorenz), solver, 0.0, 1.0, 1e-3, y, max_steps=1010))


def by_tolerance(f, solver, y, t1, first, rtol, atol, **more):
    sizes = diffrax.PIDController(rtol=rtol, atol=atol)
    term = diffrax.ODETerm(f)
    return solved(
        diffrax.diffeqsolve(term, solver, 0.0, t1, first, y, stepsize_controller=sizes, **{"max_steps": 4096, **more})
    )


def adaptive(solver, t1=10.0, **more):
    return lambda y: by_tolerance(lorenz, solver, y, t1, 0.01, 1e-6, 1e-6, **more)


def stiff(solver, rtol):
    return lambda y: by_tolerance(robertson, solver, y, 1e4, 1e-5, rtol, 1e-4 * rtol)


def slope(y, t1):
    def f(y):
        values, steps = adaptive(diffrax.Tsit5(), t1)(y)
        return values.sum(), steps

    return jax.grad(f, has_aux=True)(y)


def noisy(key):
    path = diffrax.VirtualBrownianTree(0.0, 1.0, tol=2**-15, shape=(), key=key)
    drift = diffrax.ODETerm(lambda t, y, args: 0.05 * y)
    terms = diffrax.MultiTerm(drift, diffrax.ControlTerm(lambda t, y, args: 0.2 * y, path))
    return solved(diffrax.diffeqsolve(terms, diffrax.Euler(), 0.0, 1.0, 0.01, 1.0, max_steps=128))


def run(name, call, *start):
    f = jax.jit(call)
    values, steps = jax.block_until_ready(f(*start))
    times = []
    for _ in range(21):
        begin, calls, spent = time.perf_counter(), 0, 0.0
        while spent < 2e-2:
            jax.block_until_ready(f(*start))
            calls += 1
            spent = time.perf_counter() - begin
        times.append(1e6 * spent / calls)
    times.sort()
    figures = f"{times[0]:12.2f} {times[len(times) // 2]:12.2f} us {int(steps.sum()):10} steps"
    print(f"{name:34} {figures}  sum {float(values.sum()):.9g}", flush=True)


ONES = jnp.ones(3)
for name in ("Euler", "Heun", "Tsit5", "Dopri5", "Dopri8", "LeapfrogMidpoint"):
    run(f"{name}, constant", constant(getattr(diffrax, name)()), ONES)
run("Heun", adaptive(diffrax.Heun(), max_steps=100_000), ONES)
for name in ("Tsit5", "Dopri5", "Dopri8"):
    run(name, adaptive(getattr(diffrax, name)()), ONES)
run("Kvaerno3, stiff", stiff(diffrax.Kvaerno3(), 1e-5), jnp.array([1.0, 0, 0]))
run("Kvaerno5, stiff", stiff(diffrax.Kvaerno5(), 1e-6), jnp.array([1.0, 0, 0]))
run("Tsit5, saved at 101 times", adaptive(diffrax.Tsit5(), saveat=diffrax.SaveAt(ts=jnp.linspace(0, 10, 101))), ONES)
run("Tsit5, its derivative", lambda y: slope(y, 10.0), ONES)

PLACES = jnp.arange(1000.0) * 617 % 1000
ENDS = 0.1 * jnp.exp(PLACES / 999 * jnp.log(200.0))
STARTS = ONES + 0.5 * jnp.sin(PLACES)[:, None]
run("Tsit5, 1000 examples", jax.vmap(lambda y, t1: adaptive(diffrax.Tsit5(), t1)(y)), STARTS, ENDS)
run("their derivatives", jax.vmap(slope), STARTS, ENDS)
run("EulerMaruyama, 1000 paths", jax.vmap(noisy), jax.random.split(jax.random.PRNGKey(0), 1000))
