"""ricci.torch_func has torch.func's names, arguments and meanings."""

import inspect
from dataclasses import dataclass

import numpy as np
import pytest
from conftest import expect

import ricci as rc
from ricci import torch_func as func

X = rc.tensor([0.5, 1.0, 2.0], rc.float64)
cube = lambda x: (x**3).sum()


def test_it_has_the_names_of_torch_func():
    names = {
        "vmap",
        "grad",
        "grad_and_value",
        "vjp",
        "jvp",
        "linearize",
        "jacrev",
        "jacfwd",
        "hessian",
        "functional_call",
        "stack_module_state",
    }
    assert names <= set(func.__all__)
    for name in func.__all__:
        assert callable(getattr(func, name)) and getattr(func, name).__doc__


def test_arguments_stand_where_torch_has_them():
    assert list(inspect.signature(func.vmap).parameters) == ["func", "in_dims", "out_dims", "randomness", "chunk_size"]
    assert list(inspect.signature(func.jacfwd).parameters) == ["func", "argnums", "has_aux", "randomness"]
    expect(func.vmap(func.grad(rc.sin), 0, 0, "error")(X), np.cos(X))
    expect(func.grad(cube, 0, False)(X), 3 * np.asarray(X) ** 2)
    expect(func.hessian(cube, 0)(X), np.diag(6 * np.asarray(X)))
    expect(func.jacrev(rc.sin, chunk_size=1)(X), np.diag(np.cos(X)))
    expect(func.jacfwd(lambda x: (rc.sin(x), x), 0, True)(X)[0], np.diag(np.cos(X)))
    out, tangent = func.jvp(rc.sin, (X,), (rc.ones_like(X),))
    expect(tangent, np.cos(X))
    out, pullback = func.vjp(lambda a, b: a * b, X, X)
    assert isinstance(pullback(X), tuple) and len(pullback(X)) == 2
    with pytest.raises(TypeError, match="tuple"):
        func.jvp(rc.sin, X, X)
    for name in ("functionalize", "debug_unwrap", "replace_all_batch_norm_modules_"):
        assert not hasattr(func, name)  # they would do nothing here
    with pytest.raises(TypeError):
        func.functional_call(net(), {}, X, tie_weights=False)


@dataclass
class Linear:
    weight: rc.Tensor
    bias: rc.Tensor

    def __call__(self, x):
        return rc.linear(x, self.weight, self.bias)


@dataclass
class Net:
    layers: list
    scale: float = 2.0

    def __call__(self, x, shift=0.0):
        for layer in self.layers:
            x = layer(x)
        return x * self.scale + shift


def net():
    return Net([Linear(rc.randn(3, 3), rc.randn(3)), Linear(rc.randn(3, 3), rc.randn(3))])


def test_modules_are_called_with_other_parameters():
    one, other = net(), net()
    x = rc.randn(3)
    assert list(func.state_dict(one)) == ["layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"]
    expect(func.functional_call(one, func.state_dict(other), x), other(x).tolist())
    expect(func.functional_call(one, {}, (x,), {"shift": 1.0}), one(x, 1.0).tolist())
    state = func.state_dict(one)
    loss = lambda p: func.functional_call(one, p, (x,)).sum()
    expect(func.grad(loss)(state)["layers.1.bias"], [2, 2, 2])
    models = [net() for _ in range(4)]
    params, buffers = func.stack_module_state(models)
    out = func.vmap(lambda p, x: func.functional_call(models[0], (p, buffers), (x,)), in_dims=(0, None))(params, x)
    expect(out, [m(x).tolist() for m in models], rtol=1e-4)
    pair = ({"w": rc.ones(3)}, lambda p, x: (p["w"] * x).sum())
    expect(func.functional_call(pair, {"w": rc.zeros(3)}, x), 0)
    for bad in (({"nothing": x}, "no"), (({"layers.0.bias": x}, {"layers.0.bias": x}), "twice")):
        with pytest.raises(ValueError, match=bad[1]):
            func.functional_call(one, bad[0], x)
    with pytest.raises(ValueError, match="missing"):
        func.functional_call(one, {}, x, strict=True)
    with pytest.raises(TypeError):
        func.functional_call({"w": x}, {}, x)
    with pytest.raises(ValueError):
        func.stack_module_state([])
    with pytest.raises(ValueError):
        func.stack_module_state([net(), Net([])])


def test_control_flow_spreads_its_operands():
    expect(func.cond(rc.tensor(True), lambda a, b: a + b, lambda a, b: a - b, (X, X)), 2 * np.asarray(X))
    i, x = func.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (rc.tensor(0), X))
    expect(x, 8 * np.asarray(X))
    carry, ys = func.scan(lambda c, x: (c + x, c), rc.tensor(0.0, rc.float64), X)
    expect(carry, 3.5)
    count = lambda c, x: (c + 1, c)
    for xs in (None, (), X):
        carry, ys = func.scan(count, rc.tensor(0), xs, length=3)
        assert carry.item() == 3 and ys.tolist() == [0, 1, 2]
    assert func.scan(count, X, None) == (X, [])
    with pytest.raises(ValueError, match="length is 4, and xs has 3 slices along dim 0"):
        func.scan(count, rc.tensor(0), X, length=4)
    expect(func.associative_scan(rc.add, X, 0), np.cumsum(X))
    expect(func.map(lambda x, y: x * y, X, 3.0), 3 * np.asarray(X))


@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 4)])
def test_a_dim_is_the_axis_of_what_is_given_and_of_what_is_stacked(shape):
    xs = rc.randn(*shape, dtype=rc.float64)
    for dim in range(-len(shape), len(shape)):
        rows = xs.movedim(dim, 0)
        sums = np.asarray(xs).cumsum(dim)
        step = lambda c, x: (c + x, {"sum": c + x, "first": (c + x).sum()})
        for reverse in (False, True):
            wanted = np.flip(np.flip(np.asarray(xs), dim).cumsum(dim), dim) if reverse else sums
            last, ys = func.scan(step, rc.zeros_like(rows[0]), xs, dim=dim, reverse=reverse)
            expect(last, np.asarray(rows).sum(0), rtol=1e-12)
            expect(ys["sum"], wanted, rtol=1e-12)
            assert ys["first"].shape == (shape[dim],), "it has no axis but that of the steps"
            expect(func.associative_scan(rc.add, xs, dim, reverse), wanted, rtol=1e-12)
        loss = lambda z: (func.scan(step, rc.zeros_like(rows[0]), z, dim=dim)[1]["sum"] * xs).sum()
        expect(func.grad(loss)(xs), np.asarray(func.vmap(func.grad(loss))(xs[None]))[0])
    for f in (lambda d: func.scan(step, rows[0], xs, dim=d), lambda d: func.associative_scan(rc.add, xs, d)):
        for dim in (len(shape), -len(shape) - 1):
            with pytest.raises(IndexError):
                f(dim)


def test_a_jacobian_one_row_at_a_time_maps_no_backward_pass():
    class Looks(rc.Function):
        forward = staticmethod(lambda x: x.clone())
        setup_context = staticmethod(lambda ctx, inputs, output: None)

        @staticmethod
        def backward(ctx, ct):
            assert len(ct.nonzero()) == 1  # whose size depends on values
            return ct

    for jacrev in (func.jacrev, rc.jacrev):
        expect(jacrev(Looks.apply, chunk_size=1)(X), np.eye(3))
        expect(func.vmap(lambda x: jacrev(rc.sin, chunk_size=1)(x))(X[None])[0], np.diag(np.cos(X)))
        with pytest.raises(rc.TransformError, match="nonzero"):
            jacrev(Looks.apply, chunk_size=2)(X)


def test_a_tape_outside_of_vmap_gives_gradients_for_cotangents_of_examples():
    x, w = rc.tensor([1.0, 2.0, 3.0]), rc.tensor(2.0)
    at = np.array([1.0, 2.0, 3.0])
    with rc.Tape() as tape:
        tape.watch((x, w))
        y = (x**3 * w).clone()
        rows, slopes = func.vmap(lambda v: tape.gradient(y, (x, w), v))(rc.eye(3))
        expect(rows, np.diag(6 * at**2))
        expect(slopes, at**3)
        nested = func.vmap(func.vmap(lambda v: tape.gradient((y, w), x, (v, rc.zeros(())))))(rc.eye(3)[None])
        expect(nested[0], np.diag(6 * at**2))
        tangent = func.jvp(lambda v: tape.gradient(y, x, v), (rc.ones(3),), (x,))[1]
        expect(tangent, 6 * at**3)
        with pytest.raises(rc.TransformError, match="runs inside the tape; take the gradient of what that returns"):
            func.vmap(lambda a: tape.gradient((x * a).sum(), x))(x)
        outputs = func.vmap(lambda a: (x * a).sum())(rc.ones(2))
        expect(tape.gradient(outputs.sum(), x), [2, 2, 2])


def test_map_runs_over_axis_0_of_trees():
    xs = {"a": rc.randn(4, 2), "b": rc.randn(4, 3)}
    ys = func.map(lambda x, w: (x["a"] * w, x["b"].sum()), xs, 2.0)
    expect(ys[0], 2 * np.asarray(xs["a"]))
    expect(ys[1], np.asarray(xs["b"]).sum(1))


def test_factories_take_pytorchs_arguments():
    assert func.randn(2, 3, dtype=rc.float64, device="cpu").shape == (2, 3)
    assert func.randint(3, 5, (4,)).dtype is rc.int64 and func.randint(5, (4,), generator=rc.Generator(1)).shape == (4,)
    assert func.tensor([1.0], dtype=rc.float64, device=None).dtype is rc.float64
    out = rc.ones(2)
    assert func.zeros(2, out=out) is out and out.tolist() == [0, 0]
    for name in ("arange", "eye", "rand", "randperm", "ones", "empty"):
        assert getattr(func, name)(3).numel() in (3, 9)
    with pytest.raises(ValueError, match="device"):
        func.zeros(2, device="cuda")
    with pytest.raises(ValueError, match="requires_grad"):
        func.zeros(2, requires_grad=True)
