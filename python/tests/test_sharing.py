"""Memory shared with NumPy and by DLPack: without a copy, in both directions, with writes seen by both."""

import array
import gc
import operator as op
import weakref

import numpy as np
import pytest
from conftest import expect

import ricci as rc

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


@pytest.mark.parametrize("take", [rc.from_numpy, rc.from_dlpack])
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_written_to_either_is_seen_by_both(take, dtype):
    a = np.array([[1, 0, 1], [1, 1, 0]]).astype(dtype)
    x = take(a)
    assert x.dtype is getattr(rc, dtype) and x.shape == (2, 3)
    expect(x, a)
    a[0, 0] = 0
    assert x[0, 0].item() == 0
    x[1] = 1
    assert a[1].tolist() == np.ones(3, dtype).tolist()
    x.T[2] = 0
    assert a[:, 2].tolist() == np.zeros(2, dtype).tolist()
    back = np.asarray(x)
    assert back.ctypes.data == a.ctypes.data and back.flags.writeable
    back[0, 1] = 1
    assert x[0, 1].item() == 1 and a[0, 1] == 1
    again = np.from_dlpack(x)
    assert again.ctypes.data == a.ctypes.data
    assert np.asarray(x[1]).ctypes.data == a[1].ctypes.data


def test_writes_under_transforms_reach_the_array():
    a = np.array([1.0, 2.0])
    x = rc.from_numpy(a)
    rc.vmap(rc.sin_)(x)
    expect(x, np.sin([1.0, 2.0]))
    np.testing.assert_allclose(a, np.sin([1.0, 2.0]))
    assert rc.grad(lambda y: (y * y).sum())(x).tolist() == (2 * a).tolist()


@pytest.mark.parametrize(
    "view", [lambda a: a.T, lambda a: a[:, ::2], lambda a: a[1:, 1], lambda a: a[::2], lambda a: a[:1]]
)
def test_strided_arrays_are_shared_too(view):
    a = np.arange(24.0).reshape(4, 6)
    part = view(a)
    x = rc.from_numpy(part)
    expect(x, part)
    a += 100
    expect(x, part)
    x += 1
    expect(x, part)
    expect(rc.from_dlpack(part), part)
    assert np.asarray(x).flags.writeable


def test_an_array_that_cannot_be_shared_is_refused_with_what_to_do():
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    for bad, words in [
        (frozen, "read-only"),
        (np.arange(3.0)[::-1], "not negative"),
        (np.zeros(3, "u2"), "float32"),
        (np.zeros(3, ">f8"), "float32"),
        (np.zeros(3, "U3"), "float32"),
        (np.zeros(2, [("a", "f4"), ("b", "i8")])["b"], "multiple"),
        (np.array([object()]), "float32"),
        (np.zeros(3, "datetime64[s]"), "datetime|buffer|float32"),
        ([1.0, 2.0], "rc.tensor"),
        (None, "array"),
    ]:
        with pytest.raises((ValueError, TypeError, BufferError), match=words):
            rc.from_numpy(bad)
    for bad in (frozen, np.arange(3.0)[::-1], np.zeros(3, "u2")):
        with pytest.raises((ValueError, TypeError, BufferError)):
            rc.from_dlpack(bad)
    with pytest.raises(TypeError, match="__dlpack__"):
        rc.from_dlpack([1])
    assert rc.tensor(frozen).tolist() == [0, 1, 2]
    assert rc.tensor(np.arange(3.0)[::-1]).tolist() == [2, 1, 0]
    assert rc.tensor(np.zeros(2, [("a", "f4"), ("b", "i8")])["b"]).tolist() == [0, 0]


def test_a_tensor_of_ours_is_shown_without_a_copy_and_read_only():
    x = rc.arange(6, dtype=rc.float32).reshape(2, 3)
    a, b = np.asarray(x), np.asarray(x)
    assert a.ctypes.data == b.ctypes.data and not a.flags.writeable
    expect(x, a)
    x += 1  # the array shows the elements as they were
    assert a.tolist() == [[0, 1, 2], [3, 4, 5]] and x[0, 0].item() == 1
    assert np.asarray(x.T).tolist() == np.asarray(x).T.tolist()
    assert np.array(x).flags.writeable and np.asarray(x, dtype=np.int64).dtype == np.int64
    assert x.numpy().tolist() == np.asarray(x).tolist()
    assert not np.from_dlpack(x).flags.writeable
    assert memoryview(x).shape == (2, 3) and memoryview(x).readonly
    for dtype in DTYPES:
        assert np.asarray(rc.ones(2, dtype=getattr(rc, dtype))).dtype == np.dtype(dtype)
    with pytest.raises(TypeError, match="bfloat16"):
        np.asarray(rc.ones(2, dtype=rc.bfloat16))
    assert np.asarray(rc.zeros(0, 3)).shape == (0, 3) and np.asarray(rc.tensor(3.0)).shape == ()


def test_memory_lives_as_long_as_either_side():
    a = np.arange(5.0)
    seen = weakref.ref(a)
    x = rc.from_numpy(a)
    y = x[1:3]
    del a, x
    gc.collect()
    assert seen() is not None and y.tolist() == [1, 2]
    z = np.asarray(y)
    del y
    gc.collect()
    assert z.tolist() == [1, 2] and seen() is not None
    del z
    gc.collect()
    assert seen() is None
    b = np.asarray(rc.ones(1000))
    gc.collect()
    rc.empty_cache()
    rc.zeros(1000)
    assert b.sum() == 1000


def test_other_buffers_are_taken_too():
    a = array.array("d", [1, 2, 3])
    x = rc.from_numpy(a)
    x[0] = 9
    assert a[0] == 9
    m = bytearray(b"\x01\x02")
    assert rc.from_numpy(m).dtype is rc.uint8
    assert rc.tensor(memoryview(b"\x01\x02")).tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        rc.from_numpy(b"\x01\x02")


def test_values_of_examples_are_shown_to_nobody():
    for look in (np.asarray, lambda x: x.numpy(), np.from_dlpack, lambda x: x.tolist(), lambda x: x.item()):
        with pytest.raises(rc.TransformError):
            rc.vmap(lambda x: look(x) is None or x)(rc.ones(3))
    assert not rc.inside_transform()


ARRAYS = {
    "asarray": np.asarray,
    "array": np.array,
    "numpy": lambda x: x.numpy(),
    "dlpack": np.from_dlpack,
    "memoryview": memoryview,
    "bytes": bytes,
    "elements": lambda x: np.array([x[0], x[1]]),
    "written": lambda x: np.zeros(2).__setitem__(slice(None), x),
    "dot": lambda x: np.dot(x, np.ones(2)),
    "sin": np.sin,
    "concatenate": lambda x: np.concatenate([x, x]),
    "norm": np.linalg.norm,
    "tensor": rc.tensor,
    "list": lambda x: rc.tensor([x[0], x[1]]),
    "list of lists": lambda x: rc.tensor([[x[0], 1.0]]),
    "new_tensor": lambda x: x.new_tensor([x[0]]),
}
DERIVATIVES = {
    "grad": lambda f, x: rc.grad(f)(x),
    "vjp": lambda f, x: rc.vjp(f, x),
    "jvp": lambda f, x: rc.jvp(f, (x,), (x,)),
    "linearize": lambda f, x: rc.linearize(f, x),
    "jacrev": lambda f, x: rc.jacrev(f)(x),
    "hessian": lambda f, x: rc.hessian(f)(x),
    "grad of grad": lambda f, x: rc.grad(lambda y: rc.grad(lambda z: f(y) + z.sum())(y).sum())(x),
    "compile of grad": lambda f, x: rc.compile(rc.grad(f))(x),
    "vmap of grad": lambda f, x: rc.vmap(rc.grad(f))(rc.stack([x, x])),
    "grad of vmap": lambda f, x: rc.grad(lambda y: rc.vmap(lambda z: f(y) + z)(rc.ones(2)).sum())(x),
}


@pytest.mark.parametrize("made", ARRAYS)
@pytest.mark.parametrize("derivative", DERIVATIVES)
def test_an_array_of_what_is_differentiated_is_no_silent_zero(made, derivative):
    with pytest.raises(rc.TransformError, match="detach|item|value"):
        DERIVATIVES[derivative](lambda x: (ARRAYS[made](x), x.sum())[1], rc.tensor([1.0, 2.0]))
    assert not rc.inside_transform()


def test_the_error_for_an_array_names_the_transform_and_the_remedy():
    x = rc.tensor([1.0, 2.0])
    with pytest.raises(rc.TransformError, match=r"array of f32\[2\] would.*grad \(test_sharing.py:.*x.detach\(\)"):
        rc.grad(lambda x: rc.tensor(np.asarray(x)).sum())(x)
    with pytest.raises(rc.TransformError, match="rc.stack"):
        rc.grad(lambda x: rc.tensor([x[0], x[1]]).sum())(x)
    with rc.Tape() as tape:
        tape.watch(x)
        with pytest.raises(rc.TransformError, match="Tape"):
            x.numpy()


def test_what_is_not_differentiated_is_an_array_inside_a_derivative_too():
    constant, seen = rc.tensor([3.0, 4.0]), []

    def loss(x):
        seen.append(x.detach().numpy())
        with rc.no_grad():
            seen.append((x * 2).numpy())
        seen.extend([constant.numpy(), np.asarray(rc.sign(x) > 0), np.from_dlpack(x.detach())])
        assert rc.tensor(x.detach()).tolist() == x.tolist() and rc.tensor([x[0].item()]).tolist() == [1]
        assert float(x[0]) == x[0].item() == 1 and repr(x) == str(x) == f"{x}" and len(list(x)) == 2
        return (x * x).sum() * rc.from_numpy(np.array([1.0, 1.0], "f4"))[0]

    x = rc.tensor([1.0, 2.0])
    assert rc.grad(loss)(x).tolist() == [2, 4] and rc.jvp(loss, (x,), (x,))[1].item() == 10
    assert [a.tolist() for a in seen[:5]] == [[1, 2], [2, 4], [3, 4], [True, True], [1, 2]]
    kept = []
    rc.grad(lambda x: kept.append(x) or x.sum())(x)
    assert kept[0].numpy().tolist() == [1, 2]  # the derivative has ended
    with rc.Tape() as tape:
        tape.watch(x)
    assert x.numpy().tolist() == [1, 2]


def test_functions_with_rules_of_their_own_compute_with_arrays():
    class Sine(rc.Function):
        @staticmethod
        def forward(x):
            return rc.tensor(np.sin(x.numpy()))

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0])

        @staticmethod
        def backward(ctx, ct):
            return ct * rc.cos(ctx.saved_tensors[0])

    x = rc.tensor([1.0, 2.0])
    expect(rc.grad(lambda x: Sine.apply(x).sum())(x), np.cos([1, 2]), rtol=1e-6)
    expect(rc.grad(lambda y: rc.grad(lambda x: Sine.apply(x).sum())(y).sum())(x), -np.sin([1, 2]), rtol=1e-6)


def test_arrays_are_operands():
    x = rc.ones(2)
    for a, b in [(np.array([1.0, 2.0]), x), (x, np.array([1.0, 2.0]))]:
        for operator in (op.add, op.sub, op.mul, op.truediv, op.floordiv, op.mod, op.pow):
            found = operator(a, b)
            assert isinstance(found, rc.Tensor) and found.dtype is rc.float64
            assert found.tolist() == operator(np.asarray(a), np.asarray(b)).tolist()
        for operator in (op.eq, op.ne, op.lt, op.le, op.gt, op.ge):
            found = operator(a, b)
            assert isinstance(found, rc.Tensor) and found.dtype is rc.bool
            assert found.tolist() == operator(np.asarray(a), np.asarray(b)).tolist()
    assert (np.arange(2.0) @ x).item() == (x @ np.arange(2.0)).item() == 1
    assert (np.array([1, 3]) & rc.tensor([3, 2])).tolist() == [1, 2]
    y = x.clone()
    y += np.array([1.0, 2.0])
    y[0] = np.array(9.0)
    assert y.dtype is rc.float32 and y.tolist() == [9, 3]
    class Own(np.ndarray):
        pass

    own = np.array([1.0, 2.0]).view(Own)
    assert (own == x).tolist() == (x == own).tolist() == [True, False]
    for wrong, error in [
        (np.array(["a", "b"]), rc.TypeError),
        (np.ones(2, dtype=object), rc.TypeError),
        (np.ma.array([1.0, 2.0], mask=[True, False]), rc.TypeError),
        (np.ones(3), rc.ValueError),
    ]:
        for operator in (op.eq, op.add, op.lt):
            with pytest.raises(error):
                operator(x, wrong)
    assert (x == None) is False and (x == [1, 1]) is False  # noqa: E711: no array, so not equal, as in PyTorch
    assert (np.float32(2) * x).tolist() == [2, 2] and isinstance(np.float64(2) * x, rc.Tensor)


def test_memory_stays_lent_when_a_part_of_it_was_lent_too():
    a = np.zeros(100)
    x = rc.from_numpy(a)
    y = rc.from_numpy(a[20:50])
    z = rc.from_numpy(a[60:])
    for tensor in (x, y, z, x[55:57]):
        assert np.asarray(tensor).flags.writeable
    shown = np.asarray(x)
    x[0] = 5
    assert shown[0] == 5 and a[0] == 5
    del z
    gc.collect()
    assert np.asarray(x).flags.writeable
    del x, shown, tensor
    gc.collect()
    assert np.asarray(y).flags.writeable and not np.asarray(rc.zeros(100)).flags.writeable
