#!/usr/bin/env python3
"""Sparse Jacobians by CasADi's C, and by asdex and sparsejac on JAX, beside build/release/bench/sparse_bench.

    bench/peers/sparse.py --rivals casadi,asdex,sparsejac brusselator:32 cart_pole:40 ...

Prints a line for each rival and case, in sparse_bench's columns: the last one holds the values against ours. Times in
milliseconds of the processor, the least of several; `first` is the time to a function that can be called: for CasADi,
gcc's.
"""
import argparse
import ctypes
import os
import resource
import subprocess
import tempfile
import time

import numpy as np


def start(case, size):
    count = {"brusselator": 2 * size * size, "cart_pole": 5 * (size + 1)}.get(case, size)
    return 1 + 0.1 * np.sin(np.arange(count))


def function_of(m, case, size):
    """The function of bench/sparse/sparse.cpp in the words of a library `m`."""

    def brusselator(x):
        u, v = m.matrix(x[: size * size], size), m.matrix(x[size * size :], size)
        reaction = u * u * v

        def spread(x):
            return m.roll(x, 1, 0) + m.roll(x, -1, 0) + m.roll(x, 1, 1) + m.roll(x, -1, 1) - 4 * x

        return m.joined(m.flat(1 + reaction - 4.4 * u + 0.1 * spread(u)), m.flat(3.4 * u - reaction + 0.1 * spread(v)))

    def arrow(x):
        return m.joined(m.sum_of_squares(x), x[1:] * x[0])

    def banded(x):
        total = m.sin(x)
        for k in range(1, 6):
            total = total + x * (m.roll(x, k, 0) - m.roll(x, -k, 0)) / k
        return total

    def scattered(x):
        total = x
        for prime in (7919, 104729, 1299709, 15485863):
            total = total + m.sin(m.take(x, (np.arange(size) * prime + prime // 3) % size)) * x
        return total

    def slope(state, force):
        _, angle, speed, turning = state
        s, c = m.sin(angle), m.cos(angle)
        below = 1 + 0.1 * s * s
        push = (force + 0.1 * s * (0.5 * turning * turning + 9.81 * c)) / below
        turn = (-force * c - 0.05 * turning * turning * c * s - 1.1 * 9.81 * s) / (0.5 * below)
        return speed, turning, push, turn

    def cart_pole(x):
        columns = m.columns(x, 5)  # of each number, at all stages
        before, after = [c[:-1] for c in columns[:4]], [c[1:] for c in columns[:4]]
        slopes = slope([(b + a) / 2 for b, a in zip(before, after)], columns[4][:-1])
        return m.interleaved([a - b - 0.05 * s for b, a, s in zip(before, after, slopes)])

    return locals()[case]


def processor_time():
    """Seconds, of this process and those that it ran."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def least_of(sampled, most=200, milliseconds=500):
    """Milliseconds of a call, the least of several samples; `sampled(calls)` gives those of so many calls."""
    best, spent, calls = float("inf"), 0, 1
    for _ in range(most):
        sample = sampled(calls)
        best, spent = min(best, sample / calls), spent + sample
        if spent > milliseconds:
            break
        if sample < 0.1:
            calls *= 2
    return best


def least(f):
    def sampled(calls):
        before = processor_time()
        for _ in range(calls):
            f()
        return 1e3 * (processor_time() - before)

    return least_of(sampled)


def timed(f):
    before = processor_time()
    found = f()
    return found, 1e3 * (processor_time() - before)


def checksum(values):
    return float((values * np.cos(np.arange(values.size))).sum())


TIMER = """
#include <time.h>
typedef int (*Generated)(const double**, double**, long long*, double*, int);
double milliseconds(Generated f, const double** in, double** out, long long* whole, double* work, int calls) {
  struct timespec a, b;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
  for (int k = 0; k < calls; ++k) f(in, out, whole, work, 0);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
  return 1e3 * (b.tv_sec - a.tv_sec) + 1e-6 * (b.tv_nsec - a.tv_nsec);
}
"""


def casadi_side(case, size):
    """Called from C, as ctypes takes half a microsecond for a call."""
    import casadi

    class Words:
        sin, cos = staticmethod(casadi.sin), staticmethod(casadi.cos)
        matrix = staticmethod(lambda x, n: casadi.reshape(x, n, n).T)
        flat = staticmethod(lambda x: casadi.vec(x.T))
        joined = staticmethod(casadi.vertcat)
        sum_of_squares = staticmethod(casadi.sumsqr)
        take = staticmethod(lambda x, places: x[[int(i) for i in places]])
        columns = staticmethod(lambda x, n: [x[i::n] for i in range(n)])
        interleaved = staticmethod(lambda parts: casadi.vec(casadi.horzcat(*parts).T))

        @staticmethod
        def roll(x, by, axis):
            if axis == 1:
                return Words.roll(x.T, by, 0).T
            by %= x.shape[0]
            return casadi.vertcat(x[x.shape[0] - by :, :], x[: x.shape[0] - by, :])

    x0 = start(case, size)
    x = casadi.SX.sym("x", x0.size)
    y = function_of(Words, case, size)(x)
    f = casadi.Function("f", [x], [y])
    pattern, to_pattern = timed(lambda: f.jac_sparsity(0, 0))
    whole, to_code = timed(lambda: casadi.Function("j", [x], [casadi.jacobian(y, x).T]))  # by rows
    with tempfile.TemporaryDirectory() as folder:
        before, here = processor_time(), os.getcwd()
        os.chdir(folder)
        try:
            code = casadi.CodeGenerator("sparse.c")
            code.add(whole)
            code.add(f)
            code.generate()
            with open("sparse.c", "a") as file:
                file.write(TIMER)
            level = "-O3" if os.path.getsize("sparse.c") < 3_000_000 else "-O1"
            subprocess.run(["gcc", level, "-march=native", "-fPIC", "-shared", "sparse.c", "-o", "sparse.so"], check=True)
        finally:
            os.chdir(here)
        first = 1e3 * (processor_time() - before)
        library = ctypes.CDLL(os.path.join(folder, "sparse.so"))
        library.milliseconds.restype = ctypes.c_double

    def called(name, like):
        out = np.zeros(like)
        sizes = [ctypes.c_longlong() for _ in range(4)]
        getattr(library, name + "_work")(*[ctypes.byref(s) for s in sizes])
        arguments, results = (ctypes.c_void_p * max(1, sizes[0].value))(), (ctypes.c_void_p * max(1, sizes[1].value))()
        whole_numbers, work = np.zeros(max(1, sizes[2].value), "int64"), np.zeros(max(1, sizes[3].value))
        arguments[0], results[0] = x0.ctypes.data, out.ctypes.data
        pointers = (arguments, results, whole_numbers.ctypes.data_as(ctypes.c_void_p), work.ctypes.data_as(ctypes.c_void_p))

        return least_of(lambda calls: library.milliseconds(getattr(library, name), *pointers, calls)), out

    to_values, values = called("j", whole.nnz_out(0))
    to_function, _ = called("f", y.shape[0])
    return pattern.nnz(), 0, to_pattern, to_code, first, to_values, to_function, values


def jax_words():
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    class Words:
        sin, cos, roll = staticmethod(jnp.sin), staticmethod(jnp.cos), staticmethod(jnp.roll)
        matrix = staticmethod(lambda x, n: x.reshape(n, n))
        flat = staticmethod(jnp.ravel)
        joined = staticmethod(lambda *parts: jnp.concatenate([jnp.atleast_1d(p) for p in parts]))
        sum_of_squares = staticmethod(lambda x: (x * x).sum())
        take = staticmethod(lambda x, places: x[places])
        columns = staticmethod(lambda x, n: list(x.reshape(-1, n).T))
        interleaved = staticmethod(lambda parts: jnp.stack(parts, 1).ravel())

    return jax, Words


def by_rows(rows, columns, values):
    return np.asarray(values)[np.lexsort((columns, rows))]


def asdex_side(case, size):
    import asdex

    jax, words = jax_words()
    f, x = function_of(words, case, size), start(case, size)
    pattern, to_pattern = timed(lambda: asdex.jacobian_sparsity(f, x))
    coloring, to_coloring = timed(lambda: asdex.jacobian_coloring_from_sparsity(pattern))
    j = jax.jit(asdex.jacobian_from_coloring(f, coloring))
    found, first = timed(lambda: jax.block_until_ready(j(x)))
    value = jax.jit(f)
    value(x)
    rows, columns = np.asarray(found.indices).T
    return (pattern.nnz, coloring.num_colors, to_pattern, to_coloring, first,
            least(lambda: jax.block_until_ready(j(x))), least(lambda: value(x).block_until_ready()),
            by_rows(rows, columns, found.data))


def sparsejac_side(case, size):
    """It is given the pattern: that of a dense Jacobian, as it finds none itself."""
    import sparsejac
    from jax.experimental import sparse

    jax, words = jax_words()
    f, x = function_of(words, case, size), start(case, size)
    if x.size > 5000:
        raise MemoryError("sparsejac finds no patterns: this one comes from a dense Jacobian, too large here")
    dense = np.asarray(jax.jit(jax.jacfwd(f))(x))
    j, to_coloring = timed(lambda: jax.jit(sparsejac.jacfwd(f, sparse.BCOO.fromdense(dense != 0))))
    found, first = timed(lambda: jax.block_until_ready(j(x)))
    rows, columns = np.asarray(found.indices).T
    value = jax.jit(f)
    value(x)
    return (found.nse, 0, 0, to_coloring, first, least(lambda: jax.block_until_ready(j(x))),
            least(lambda: value(x).block_until_ready()), by_rows(rows, columns, found.data))


SIDES = {"casadi": casadi_side, "asdex": asdex_side, "sparsejac": sparsejac_side}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rivals", default=",".join(SIDES))
    parser.add_argument("cases", nargs="+", help="case:size")
    given = parser.parse_args()
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    for case in given.cases:
        name, size = case.split(":")
        for rival in given.rivals.split(","):
            try:
                found = SIDES[rival](name, int(size))
            except ImportError as missing:
                print(f"[SKIP] {rival} needs {missing.name}")
                continue
            except Exception as error:  # noqa: BLE001: what a rival cannot do is a line of the table
                print(f"{name:12} {size:>6} {rival}: {type(error).__name__}: {str(error)[:150]}")
                continue
            nonzeros, colors, *times, values = found
            print(f"{name:12} {size:>6} {rival:>9} {nonzeros:9} {colors:3}  " + " ".join(f"{t:9.4f}" for t in times)
                  + f"  {checksum(values):.10g}", flush=True)


if __name__ == "__main__":
    main()
