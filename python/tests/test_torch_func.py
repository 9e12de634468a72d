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
    rows, _ = func.scan(lambda c, x: (c + x, c), rc.zeros(2), rc.ones(2, 5), dim=1)
    expect(rows, [5, 5])
    expect(func.associative_scan(rc.add, X, 0), np.cumsum(X))
    expect(func.map(lambda x, y: x * y, X, 3.0), 3 * np.asarray(X))


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
