#!/usr/bin/env python3
"""Solvers of nonlinear problems by optimistix on JAX, beside build/release/bench/solvers_bench, in its columns.

    taskset -c 0 python bench/peers/solvers.py
"""
import os
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax
import jax.numpy as jnp
import optimistix as optx

jax.config.update("jax_enable_x64", True)
TOLERANCES = {"rtol": 1e-8, "atol": 1e-8}
SOLVE = {"throw": False, "max_steps": 1000}


def root(a):
    def f(x, _):
        cube = 0.5 * (x[0] - x[1]) ** 3
        return jnp.stack([x[0] + a * cube - 1, x[1] - cube])

    return optx.root_find(f, optx.Newton(**TOLERANCES), jnp.zeros(2), **SOLVE)


def bisected(a):
    bounds = {"lower": 0.0, "upper": 4.0}
    return optx.root_find(lambda x, _: x * x - a, optx.Bisection(**TOLERANCES), a, options=bounds, **SOLVE)


def fixed(a):
    return optx.fixed_point(lambda x, _: jnp.cos(x), optx.FixedPointIteration(**TOLERANCES), a, **SOLVE)


X = jnp.array([77.6, 114.9, 141.1, 190.8, 239.9, 289, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760])
Y = jnp.array([10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.4, 75.47, 81.78])


def misra(start):
    solver = optx.LevenbergMarquardt(**TOLERANCES)
    return optx.least_squares(lambda b, _: b[0] * (1 - jnp.exp(-1e-3 * b[1] * X)) - Y, solver, start, **SOLVE)


def valley(start):
    solver = optx.Dogleg(**TOLERANCES)
    return optx.least_squares(lambda x, _: jnp.stack([10 * (x[1] - x[0] ** 2), 1 - x[0]]), solver, start, **SOLVE)


def least(solver):
    def rosenbrock(x, _):
        return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

    return lambda start: optx.minimise(rosenbrock, solver(**TOLERANCES), start, **SOLVE)


def found(solve):
    def call(start):
        solution = solve(start)
        return solution.value, solution.stats["num_steps"]

    return call


def slope_of_root(a):
    def f(a):
        solution = root(a)
        return solution.value.sum(), solution.stats["num_steps"]

    return jax.grad(f, has_aux=True)(a)


def run(name, call, start):
    f = jax.jit(jax.vmap(call) if "examples" in name else call)
    values, steps = jax.block_until_ready(f(start))
    times = []
    for _ in range(21):
        begin, calls, spent = time.perf_counter(), 0, 0.0
        while spent < 2e-2:
            jax.block_until_ready(f(start))
            calls += 1
            spent = time.perf_counter() - begin
        times.append(1e6 * spent / calls)
    times.sort()
    figures = f"{times[0]:10.2f} {times[len(times) // 2]:10.2f} us {float(jnp.mean(steps)):7.1f} steps"
    print(f"{name:36} {figures}  sum {float(values.sum()):.9g}", flush=True)


FIVE = jnp.array([1.3, 0.7, 0.8, 1.9, 1.2])
NEAR = jnp.linspace(0.5, 2, 1000)
PART = (1 + 0.1 * jnp.sin(jnp.arange(100.0)))[:, None]
CURVE = jnp.array([250, 0.5])

run("newton", found(root), jnp.array(1.0))
run("newton, 1000 examples", found(root), NEAR)
run("its derivative, 1000 examples", slope_of_root, NEAR)
run("bisection", found(bisected), jnp.array(1.3))
run("fixed_point_iteration", found(fixed), jnp.array(1.0))
run("levenberg_marquardt, Misra1a", found(misra), CURVE)
run("levenberg_marquardt, 100 examples", found(misra), PART * CURVE)
run("dogleg, Rosenbrock", found(valley), jnp.array([-1.2, 1]))
run("bfgs, Rosenbrock 5", found(least(optx.BFGS)), FIVE)
run("bfgs, 100 examples", found(least(optx.BFGS)), PART * FIVE)
run("nonlinear_cg, Rosenbrock 5", found(least(optx.NonlinearCG)), FIVE)
run("nelder_mead, Rosenbrock 5", found(least(optx.NelderMead)), FIVE)
