"""Threads, fork, leaks: what a long-running program does."""

import gc
import os
import re
import resource
import shutil
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from conftest import expect

import ricci as rc


def test_threads_compute_at_once():
    def work(seed):
        x = rc.randn(50, 50, generator=rc.Generator(seed))
        loss = lambda w: rc.tanh(x @ w).sum()
        each = rc.vmap(rc.grad(loss), in_dims=1)(rc.eye(50)[:, :4])
        big = rc.ones(1 << 17)
        return each.sum().item() + (big * 2).sum().item() + np.asarray(big).sum()

    alone = [work(s) for s in range(6)]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(work, list(range(6)) * 4)) == alone * 4


def test_threads_share_one_compiled_function():
    class Odd:
        """A value whose == is Python's."""

        def __init__(self, n):
            self.n = n

        def __eq__(self, other):
            return self.n == other.n

        __hash__ = None

    f = rc.compile(lambda x, o: x * o.n)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda i: f(rc.ones(3), Odd(i % 3)).sum().item(), range(200)))
    assert results == [3.0 * (i % 3) for i in range(200)] and f.plans <= 3


def test_a_nest_is_entered_on_another_thread():
    def f(x):
        nest = rc.current_nest()
        out = []

        def run():
            with rc.Inside(nest):
                out.append((x * x).sum())

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        return out[0]

    expect(rc.grad(f)(rc.tensor([1.0, 2.0])), [2, 4])


def test_arrays_are_freed_by_any_thread():
    a = np.ones(1000)
    seen = weakref.ref(a)
    x = rc.from_numpy(a)
    del a
    holder = [x]
    del x
    thread = threading.Thread(target=holder.clear)
    thread.start()
    thread.join()
    gc.collect()
    assert seen() is None


def test_a_forked_child_computes():
    big = rc.ones(1 << 18)
    assert (big + 1).sum().item() == 2 << 18
    child = os.fork()
    if child == 0:
        try:
            ok = (big + 1).sum().item() == 2 << 18 and rc.vmap(rc.grad(rc.sin))(rc.zeros(2)).tolist() == [1, 1]
            os._exit(0 if ok else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


class Doubled(rc.Function):
    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.extra = {"kept": object()}
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, ct):
        return ct * 2


def test_a_hundred_thousand_calls_leak_nothing():
    x, tree = rc.ones(4), {"w": rc.ones(2, 2), "b": [rc.ones(2), 3]}
    compiled = rc.compile(lambda t, y: t["w"].sum() * y.sum())
    step = rc.vmap(rc.grad(lambda t, y: (t["w"] * y.sum() + t["b"][0]).sum()), in_dims=(None, 0))

    def calls(n):
        for i in range(n):
            x + i
            rc.sum(x, dim=0, keepdim=True)
            x[0] = 1.0
            compiled(tree, x)
            if i % 10 == 0:
                step(tree, x)
                rc.vjp(lambda v: {"a": v * 2}, x)[1]({"a": x})
                Doubled.apply(x)
                rc.grad(lambda v: Doubled.apply(v).sum())(x)
                np.asarray(x)
                rc.from_numpy(np.ones(3))
                try:
                    x.reshape(77)
                except rc.ValueError:
                    pass

    calls(2000)
    gc.collect()
    objects, held = len(gc.get_objects()), rc.memory_stats()["allocated"]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    calls(100_000 // 5)
    gc.collect()
    assert len(gc.get_objects()) - objects < 100
    assert rc.memory_stats()["allocated"] - held < 100_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 30_000  # KiB


# Long work in C++, most of it an endless loop of small operations: what begins it, and what runs it.
LONG = {
    "a compiled loop": (
        "f = rc.compile(lambda x: rc.while_loop(lambda s: s < 1e30, lambda s: rc.cos(s), x)); f(rc.tensor(1e31))",
        "f(rc.tensor(1.0))",
    ),
    "a compiled loop of matrices": (
        "f = rc.compile(lambda x, n: rc.fori_loop(0, n, lambda i, s: s @ s * 0.01, x)); f(rc.ones(9, 9), rc.tensor(2))",
        "f(rc.ones(9, 9), rc.tensor(900_000_000))",
    ),
    "a compiled scan": (
        "f = rc.compile(lambda x, n: rc.while_loop(lambda s: s < n, lambda s: rc.scan(lambda c, y: (rc.cos(c), c), s,"
        " rc.ones(9))[0], x)); f(rc.tensor(2.0), rc.tensor(1.0))",
        "f(rc.tensor(1.0), rc.tensor(9.0))",
    ),
    "a program's loop": (
        "f = rc.trace(lambda x: rc.while_loop(lambda s: s < 9, rc.cos, x))(rc.tensor(1.0))",
        "f(rc.tensor(1.0))",
    ),
    "a loop over operations": ("", "rc.while_loop(rc.isfinite, rc.cos, rc.tensor(1.0))"),
    "a loop over functions": ("", "rc.while_loop(lambda s: s < 9, lambda s: rc.cos(s), rc.tensor(1.0))"),
    "the planning of a large program": (
        "def f(x):\n"
        "    for i in range(40_000):\n"
        "        x = rc.sin(x) * 1.01 if i % 3 else x @ x\n"
        "    return x.sum()\n"
        "f = rc.compile(rc.grad(f))",
        "f(rc.ones(4, 4))",
    ),
    "one large operation": ("x = rc.ones(1, 1).expand(1 << 22, 1 << 22)", "x.sum(1)"),
    "a mapped loop": ("", "rc.vmap(lambda x: rc.while_loop(lambda s: s < 9, rc.cos, x))(rc.ones(3))"),
}


@pytest.mark.parametrize("case", LONG)
def test_an_interrupt_ends_long_work_and_other_threads_run_meanwhile(case):
    setup, run = LONG[case]
    program = f"""
import os, signal, sys, threading, time
import ricci as rc
sys.setswitchinterval(100)  # Python asks nobody to give the lock away
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
{setup}
ticks = 0
def tick():
    global ticks
    while ticks < 20:
        ticks += 1
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)
try:
    threading.Thread(target=tick, daemon=True).start()
    {run}
except KeyboardInterrupt:
    print(ticks, rc.inside_transform(), rc.grad(rc.sin)(rc.tensor(0.0)).item())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "20 False 1.0\n", done.stderr


def test_other_threads_run_while_large_operations_do():
    """The lock is free: another thread comes to its turn in the middle of one operation."""
    x, seen, stop = rc.ones(1 << 22), [], threading.Event()

    def count():
        while not stop.is_set():
            seen.append(None)
            stop.wait(0.0005)

    for work in (lambda: x * x, lambda: rc.randn(1 << 22), lambda: rc.arange(1 << 22), lambda: x.clone().add_(x)):
        stop.clear()
        thread = threading.Thread(target=count)
        thread.start()
        before = sys.getswitchinterval()
        sys.setswitchinterval(100)  # nobody is asked to give the lock away
        try:
            start, tries = len(seen), 0
            while len(seen) < start + 3 and tries < 1000:
                work()
                tries += 1
            assert len(seen) >= start + 3
        finally:
            sys.setswitchinterval(before)
            stop.set()
            thread.join()


def test_cycles_are_collected():
    """100,000 cycles through what holds Python's objects: nothing stays."""

    class Own(rc.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.me = ctx  # the context holds itself
            ctx.save_for_backward(inputs[0])

        @staticmethod
        def backward(ctx, ct):
            return ct * 2

    def made(kind, x):
        def f(v):
            return kept and (v * v).sum()

        kept = [kind(f)]  # f holds what holds f

    kinds = [
        rc.vmap,
        rc.grad,
        rc.jacrev,
        rc.hessian,
        rc.compile,
        rc.trace,
        rc.checkpoint,
        rc.no_grad(),
        lambda f: rc.custom_vjp(f, f, f),
        lambda f: rc.custom_jvp(f, f),
    ]

    def classes():
        class Short(rc.Function):
            @staticmethod
            def forward(x):
                return Short and x * 2

            @staticmethod
            def backward(ctx, ct):
                return ct * 2

        rc.grad(lambda v: Short.apply(v).sum())(x)
        return weakref.ref(Short)

    x = rc.ones(2)

    def cycles(n):
        for k in range(n):
            made(kinds[k % len(kinds)], x)
            if k % 10 == 0:
                rc.grad(lambda v: Own.apply(v).sum())(x)
                rc.vjp(lambda v: v * 2, x)

    cycles(1000)
    gone = [classes() for _ in range(20)]
    gc.collect()
    objects, held = len(gc.get_objects()), rc.memory_stats()["allocated"]
    assert all(ref() is None for ref in gone)
    cycles(100_000)
    gc.collect()
    assert len(gc.get_objects()) - objects < 100
    assert rc.memory_stats()["allocated"] - held < 10_000


def test_transforms_are_freed_with_what_they_hold():
    class Model:
        def __call__(self, x):
            return (x * x).sum()

    model = Model()
    seen = weakref.ref(model)
    wraps = [rc.vmap(model), rc.grad(model), rc.hessian(model), rc.compile(model), rc.checkpoint(model)]
    for f in wraps[1:]:
        f(rc.ones(2))
    value, pullback = rc.vjp(model, rc.ones(2))
    del model, wraps, f, value, pullback
    gc.collect()
    assert seen() is None


def test_the_module_takes_no_thread_locals_of_other_libraries():
    """A host that has loaded many libraries, PyTorch for one, has no place left for those of a late one."""
    if not shutil.which("readelf"):
        pytest.skip("needs readelf")
    mapped = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "/libricci.so" in line}
    command = ["readelf", "-rW", rc._core.__file__, *mapped]
    relocations = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "TPOFF" in relocations
    assert not re.findall(r"TPOFF64\s+\S+ (\S+@\S+)", relocations)
