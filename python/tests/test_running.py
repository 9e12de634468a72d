"""Threads, fork, leaks: what a long-running program does."""

import gc
import os
import re
import resource
import shutil
import subprocess
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

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
    relocations = subprocess.run(["readelf", "-rW", rc._core.__file__], capture_output=True, text=True, check=True).stdout
    assert "TPOFF" in relocations
    assert not re.findall(r"TPOFF64\s+\S+ (\S+@\S+)", relocations)
