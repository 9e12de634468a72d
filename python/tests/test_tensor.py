"""Tensor as a Python object: numbers, operators, indexing, copying, printing."""

import copy
import gc
import operator
import pickle
import sys
import weakref

import numpy as np
import pytest
from conftest import expect

import ricci as rc


def test_numbers_do_not_raise_the_type():
    x = rc.tensor([1.0, 2.0])
    for y in (x + 1, 1 + x, x * 2.5, 2.5 - x, x**2, 2**x, x + np.float64(1), np.float32(1) + x, x + True):
        assert y.dtype is rc.float32
    assert (rc.tensor([1, 2]) + 0.5).dtype is rc.float32
    assert (x + 1j).dtype is rc.complex64
    assert (rc.tensor([1], rc.uint8) + 3).dtype is rc.uint8


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"])
def test_operators_are_numpys_in_both_orders(name):
    f = getattr(operator, name)
    a, b = np.array([3.0, 5.0, -7.0]), np.array([2.0, 3.0, 4.0])
    expect(f(rc.tensor(a), rc.tensor(b)), f(a, b))
    expect(f(rc.tensor(a), 2.0), f(a, 2.0))
    expect(f(2.0, rc.tensor(b)), f(2.0, b))
    x = rc.tensor(a)
    same = x
    expect(getattr(operator, "i" + name)(x, rc.tensor(b)), f(a, b))
    assert x is same


def test_operators_of_integers_and_comparisons():
    a, b = np.array([6, 3, 12]), np.array([3, 5, 4])
    x, y = rc.tensor(a), rc.tensor(b)
    for f in (
        operator.and_,
        operator.or_,
        operator.xor,
        operator.lshift,
        operator.rshift,
        operator.lt,
        operator.le,
        operator.eq,
        operator.ne,
        operator.gt,
        operator.ge,
    ):
        expect(f(x, y), f(a, b))
        expect(f(x, 3), f(a, 3))
    expect(~x, ~a)
    expect(-x, -a)
    expect(abs(-x), a)
    assert +x is x
    expect(rc.tensor([[1, 2], [3, 4]]) @ rc.tensor([1, 1]), [3, 7])


def test_what_is_no_operand_is_refused():
    x = rc.tensor([1.0])
    for other in ("a", [1.0], {}, object()):
        with pytest.raises(TypeError):
            x + other
        with pytest.raises(TypeError):
            other * x if not isinstance(other, (str, list)) else x * other
    assert (x == "a") is False and (x != "a") is True
    with pytest.raises(TypeError, match="rc.from_numpy"):
        rc.add(x, np.ones(1))


def test_conversions_to_python():
    assert float(rc.tensor(2.5)) == 2.5 and int(rc.tensor(2.5)) == 2 and bool(rc.tensor([1]))
    assert rc.tensor(7).item() == 7 and isinstance(rc.tensor(7).item(), int)
    assert rc.tensor(True).item() is True and rc.tensor(1 + 2j).item() == 1 + 2j
    assert complex(rc.tensor(1 + 2j)) == 1 + 2j
    assert [10, 20, 30][rc.tensor(1)] == 20
    assert list(range(5))[rc.tensor(1) : rc.tensor(3)] == [1, 2]
    assert rc.tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert rc.tensor([[True], [False]]).tolist() == [[True], [False]]
    assert f"{rc.tensor(1.23456):.2f}" == "1.23"
    with pytest.raises(TypeError, match="integers"):
        [1, 2][rc.tensor(1.0)]
    with pytest.raises(ValueError):
        bool(rc.tensor([1, 2]))
    with pytest.raises(ValueError):
        rc.tensor([1.0, 2.0]).item()


def test_tensor_of_nested_lists():
    assert rc.tensor([1.0]).dtype is rc.float32 and rc.tensor([1]).dtype is rc.int64
    assert rc.tensor([True]).dtype is rc.bool and rc.tensor([1, 2.5]).dtype is rc.float32
    assert rc.tensor([1j]).dtype is rc.complex64 and rc.tensor([], rc.int8).shape == (0,)
    assert rc.tensor([[], []]).shape == (2, 0) and rc.tensor(3).shape == ()
    assert rc.tensor([rc.tensor(1.0), np.float32(2)]).tolist() == [1, 2]
    assert rc.tensor(((1, 2), (3, 4)), dtype=float).dtype is rc.default_dtype()
    x = rc.tensor([1.0, 2.0])
    y = rc.tensor(x)
    y += 1
    assert x.tolist() == [1, 2]
    for bad in ([[1], [1, 2]], [1, [2]], [[1], 2]):
        with pytest.raises(ValueError, match="tensor"):
            rc.tensor(bad)
    for bad in (None, "abc", [None], [rc.ones(2)], {}):
        with pytest.raises(TypeError, match="tensor"):
            rc.tensor(bad)
    with pytest.raises(ValueError, match="64 bits"):
        rc.tensor([2**64])
    loop = []
    loop.append(loop)
    with pytest.raises(RecursionError):
        rc.leaves(loop)


A = np.arange(24).reshape(2, 3, 4)
INDICES = {
    "an int": 1,
    "a negative int": -1,
    "a slice": slice(None, 1),
    "a step": (slice(None), slice(0, 3, 2)),
    "None": None,
    "an ellipsis": (..., 0),
    "a list": [1, 0],
    "a list of an axis": (slice(None), [2, 0]),
    "an array": np.array([1, 0, 1]),
    "a mask": A > 5,
    "a mask of an axis": (slice(None), np.array([True, False, True])),
    "a bool": True,
    "all kinds": (0, None, slice(1, None), ..., 2),
    "a NumPy integer": np.int64(1),
    "nothing": (),
    "an empty list": [],
    "two lists": ([0, 1], slice(None), [1, 2]),
}


@pytest.mark.parametrize("kind", INDICES)
def test_indexing_reads_and_writes_as_numpy(kind):
    index = INDICES[kind]
    expect(rc.tensor(A)[index], A[index])
    as_tensors = tuple(
        rc.tensor(i) if isinstance(i, np.ndarray) else i for i in (index if isinstance(index, tuple) else (index,))
    )
    expect(rc.tensor(A)[as_tensors], A[index])
    x, a = rc.tensor(A), A.copy()
    x[index] = -1
    a[index] = -1
    expect(x, a)
    x, a = rc.tensor(A), A.copy()
    x[index] += 10
    a[index] += 10
    expect(x, a)


def test_wrong_indices_are_refused():
    x = rc.tensor(A)
    for index in (5, (0, 0, 0, 0), rc.tensor([7])):
        with pytest.raises(IndexError):
            x[index]
    for index in ("a", 1.5, {}, (0, "a"), rc.tensor(1.5)):
        with pytest.raises((TypeError, IndexError)):
            x[index]
    with pytest.raises(ValueError, match="step"):
        x[::-1]
    with pytest.raises(TypeError, match="deleted"):
        del x[0]
    with pytest.raises(TypeError, match="rc.tensor"):
        x[0] = [1, 2]


def test_rows_length_and_membership():
    x = rc.tensor([[1, 2], [3, 4], [5, 6]])
    assert len(x) == 3 and [r.tolist() for r in x] == [[1, 2], [3, 4], [5, 6]]
    a, b, c = x
    assert c.tolist() == [5, 6] and 4 in x and 9 not in x
    for f in (len, iter):
        with pytest.raises(TypeError):
            f(rc.tensor(1))


def test_copies_share_nothing_and_pickles_come_back():
    x = rc.tensor([[1.5, 2.5]])
    for y in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.clone()):
        assert y.dtype is x.dtype and rc.equal(x, y)
        y[0] = 0
        assert x.tolist() == [[1.5, 2.5]]
    for dtype in (rc.bool, rc.uint8, rc.int16, rc.float16, rc.bfloat16, rc.float64, rc.complex128):
        y = pickle.loads(pickle.dumps(x.T.to(dtype)))
        assert y.dtype is dtype and rc.equal(y, x.T.to(dtype))
    assert pickle.loads(pickle.dumps(rc.float32)) is rc.float32
    assert pickle.loads(pickle.dumps(rc.sin)) is rc.sin
    assert rc.equal(pickle.loads(pickle.dumps(rc.Key(3))).data, rc.Key(3).data)
    with pytest.raises(ValueError):
        rc._core.rebuild_tensor(b"abc", (2,), rc.float32)


def test_an_alias_is_the_same_object_only_by_name():
    x = rc.tensor([1.0, 2.0])
    y = x
    y += 1
    assert x.tolist() == [2, 3] and x.is_same(y) and not x.is_same(x.clone())
    assert x.contiguous() is x and x.to(rc.float32) is x and rc.positive(x) is x
    assert {x: 1}[y] == 1


def test_views_share_and_have_strides():
    x = rc.zeros(2, 3)
    x.T[0] = 5
    assert x.tolist() == [[5, 0, 0], [5, 0, 0]]
    assert x.stride(0) == 3 and x.stride(dim=-1) == 1
    with pytest.raises(IndexError, match="stride: axis 2"):
        x.stride(2)
    assert x.stride() == (3, 1) and x.T.stride() == (1, 3) and not x.T.is_contiguous()
    assert x.ndim == x.dim() == 2 and x.numel() == 6 and x.size() == (2, 3) and x.size(-1) == 3
    with pytest.raises(IndexError):
        x.size(2)


def test_printing_is_that_of_the_library():
    assert repr(rc.tensor([1.0, 2.0])) == "[1, 2] f32[2]"
    assert repr(rc.float32) == "ricci.float32" and str(rc.bool) == "ricci.bool"
    assert repr(rc.sum) == "<operation ricci.sum>"
    assert rc.sum.__module__ == rc.Operation.__module__ == rc.Tensor.__module__ == "ricci"


def test_dtypes_have_numpys_names():
    for dtype in (
        rc.bool,
        rc.uint8,
        rc.int8,
        rc.int16,
        rc.int32,
        rc.int64,
        rc.float16,
        rc.float32,
        rc.float64,
        rc.complex64,
        rc.complex128,
    ):
        assert rc.zeros(1, dtype=np.dtype(dtype.name)).dtype is dtype
        assert rc.zeros(1, dtype=dtype.name).dtype is dtype
        assert dtype.itemsize == np.dtype(dtype.name).itemsize
    assert rc.zeros(1, dtype=np.float64).dtype is rc.float64 and rc.zeros(1, dtype=int).dtype is rc.int64
    assert rc.promote_types(rc.int64, rc.float16) is rc.float16
    for bad in ("float8", np.uint16, 3, object):
        with pytest.raises(TypeError):
            rc.zeros(1, dtype=bad)


def test_a_default_dtype_holds_until_it_is_set_back():
    rc.set_default_dtype(rc.float64)
    try:
        assert rc.zeros(1).dtype is rc.float64 and rc.tensor([0.5]).dtype is rc.float64
    finally:
        rc.set_default_dtype(rc.float32)
    assert rc.zeros(1).dtype is rc.float32
    with pytest.raises(TypeError):
        rc.set_default_dtype(rc.int64)


PROPERTIES = [n for n, v in vars(rc.Tensor).items() if type(v).__name__ == "getset_descriptor"]


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int64", "bool"])
@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 3), (2, 3, 4)])
def test_a_tensor_has_a_property_or_lacks_it(shape, dtype):
    def look(x):
        for name in PROPERTIES:
            if hasattr(x, name):
                getattr(x, name)
                continue
            with pytest.raises(rc.AttributeError) as lacks:
                getattr(x, name)
            assert isinstance(lacks.value, AttributeError) and str(lacks.value)
        return x

    x = rc.ones(shape).to(dtype)
    look(x)
    rc.vmap(look)(x.unsqueeze(0))
    if dtype == "float32":
        rc.grad(lambda x: look(x).sum())(x)
    assert {"mT", "mH", "H", "T", "real", "imag", "shape", "dtype", "ndim", "device", "data"} <= set(PROPERTIES)
    assert hasattr(x, "mT") == hasattr(x, "mH") == (len(shape) > 1) and hasattr(x, "H") == (len(shape) in (0, 2))


def test_a_tensor_lies_in_the_processors_memory():
    x = rc.ones(2)
    assert x.device == rc.device("cpu") == rc.device("cpu", 0) == rc.device("cpu:0") and x.cpu() is x.to("cpu") is x
    assert str(x.device) == x.device.type == "cpu" and x.device.index is None
    assert pickle.loads(pickle.dumps(x.device)) == x.device and {x.device: 1}[rc.device("cpu")] == 1
    for elsewhere in (
        lambda: rc.device("cuda"),
        lambda: rc.device("cpu", 1),
        lambda: x.to("cuda:0"),
        lambda: rc.zeros(2, device="cuda"),
        lambda: rc.rand_like(x, device="mps"),
        lambda: rc.tensor([1], device="cuda"),
        lambda: x.new_tensor([1], device="cuda"),
        lambda: x.new_zeros(2, device="cuda"),
    ):
        with pytest.raises(ValueError, match='there is no device .*; Tensors lie in the processor\'s memory, "cpu"'):
            elsewhere()
    with pytest.raises(TypeError, match="device must be"):
        rc.zeros(2, device=3)


def test_an_order_of_elements_is_asked_for_by_pytorchs_words():
    x = rc.zeros(2, 3, 4, 5)
    last = rc.zeros(2, 4, 5, 3).permute(0, 3, 1, 2)
    assert x.is_contiguous() and x.is_contiguous(memory_format=rc.contiguous_format)
    assert last.is_contiguous(memory_format=rc.channels_last) and not last.is_contiguous()
    assert not x.is_contiguous(memory_format=rc.channels_last)
    assert not x.is_contiguous(memory_format=rc.channels_last_3d)
    assert pickle.loads(pickle.dumps(rc.channels_last)) is rc.channels_last
    for ask in (
        lambda: x.to(memory_format="nonsense"),
        lambda: x.to(memory_format="channels_last"),
        lambda: x.clone(memory_format=rc.strided),
        lambda: rc.zeros_like(x, memory_format=3),
        lambda: x.double(memory_format="nonsense"),
        lambda: x.cpu(memory_format="nonsense"),
        lambda: x.is_contiguous(memory_format="nonsense"),
    ):
        with pytest.raises(TypeError, match="memory_format must be a format, such as rc.channels_last, not"):
            ask()
    assert rc.zeros(2, layout=rc.strided).tolist() == x.new_tensor([0.0, 0], layout=rc.strided).tolist()
    for ask in (lambda: rc.zeros(2, layout="sparse"), lambda: x.new_tensor([1.0], layout=rc.channels_last)):
        with pytest.raises(TypeError, match="layout must be rc.strided, not"):
            ask()


def test_requires_grad_says_what_to_do_instead():
    x = rc.ones(2)
    assert x.requires_grad is False
    x.requires_grad = False
    assert x.requires_grad_(False) is x
    for ask in (
        lambda: setattr(x, "requires_grad", True),
        lambda: x.requires_grad_(),
        lambda: rc.zeros(2, requires_grad=True),
        lambda: rc.tensor([1.0], requires_grad=True),
        lambda: x.new_tensor([1.0], requires_grad=True),
    ):
        with pytest.raises(ValueError, match="rc.grad or rc.vjp, or watch the Tensor on a rc.Tape"):
            ask()
    seen = []
    rc.grad(lambda y: (seen.append((y.requires_grad, y.detach().requires_grad, x.requires_grad)), y.sum())[1])(x)
    assert seen == [(True, False, False)]
    with rc.Tape() as tape:
        tape.watch(x)
        with pytest.raises(ValueError, match="cannot become False while a derivative or a rc.Tape records"):
            x.requires_grad = 0
        with pytest.raises(ValueError, match="rc.grad or rc.vjp"):
            x.requires_grad = True
        assert x.requires_grad and (x * 2).requires_grad and not x.data.requires_grad
    assert not x.requires_grad


def test_what_python_raises_for_a_truth_is_what_the_caller_sees():
    x, several = rc.ones(2), rc.ones(3)
    for ask in (
        lambda: rc.zeros(3, requires_grad=several),
        lambda: x.new_tensor([1.0], requires_grad=several),
        lambda: x.requires_grad_(several),
        lambda: setattr(x, "requires_grad", several),
    ):
        with pytest.raises(ValueError, match="several|one element|3"):
            ask()


def test_data_is_a_view_without_derivatives():
    x = rc.tensor([1.0, 2.0])
    x.data.mul_(3)
    assert x.tolist() == [3, 6]
    assert rc.grad(lambda y: (y * y.data).sum())(x).tolist() == [3, 6]
    assert rc.tensor(2.0).data.shape == ()


def test_shapes_in_place_are_those_of_the_object():
    x = rc.zeros(2, 3)
    same, view = x, x[0]
    assert x.unsqueeze_(0) is x and same.shape == (1, 2, 3) and view.shape == (3,)
    x.squeeze_(0).t_().fill_(5)
    assert same.shape == (3, 2) and view.tolist() == [5, 5, 5]
    assert rc.grad(lambda y: (y.unsqueeze_(0).transpose_(0, 1) * rc.ones(3, 1)).sum())(rc.ones(3)).tolist() == [1, 1, 1]
    assert rc.vmap(lambda y: y.unsqueeze_(-1))(rc.ones(4, 3)).shape == (4, 3, 1)
    y = rc.ones(3)
    assert rc.grad(lambda z: (z * z.clone().detach_()).sum())(y).tolist() == [1, 1, 1]
    with pytest.raises(IndexError):
        y.unsqueeze_(5)
    assert y.shape == (3,)


def test_dtypes_by_methods_work_under_transforms():
    x = rc.tensor([1.5, -2.5])
    assert x.float() is x and x.double().dtype is rc.float64 and x.bool().tolist() == [True, True]
    assert rc.grad(lambda y: (y.double() * y.long().double()).sum())(x).tolist() == [1, -2]
    assert rc.vmap(lambda y: y.half().unflatten(0, (2, 1)))(rc.ones(3, 2)).dtype is rc.float16
    program = rc.trace(lambda y: y.unflatten(0, (-1, 2)).ravel())(rc.ones(6))
    assert program(rc.ones(10))[0].shape == (10,)
    with pytest.raises(ValueError, match="unflatten: axis 0"):
        rc.ones(6).unflatten(0, (4, 2))


def test_tensors_can_be_watched_and_go():
    x = rc.ones(3)
    seen = weakref.ref(x)
    assert seen() is x
    del x
    gc.collect()
    assert seen() is None


def test_references_stay_counted():
    x, y = rc.ones(3), rc.ones(3)
    before = sys.getrefcount(x), sys.getrefcount(None)
    for _ in range(1000):
        x + y
        x.add_(0)
        x[0] = 1
        x.sum(dim=0, keepdim=True)
        rc.cat([x, y])
    assert (sys.getrefcount(x), sys.getrefcount(None) // 100) == (before[0], before[1] // 100)


def test_a_tensor_cannot_be_made_by_its_class_or_derived_from():
    with pytest.raises(TypeError):
        rc.Tensor()
    with pytest.raises(TypeError):
        type("Mine", (rc.Tensor,), {})


def test_scalars_without_a_dtype_are_refused():
    for bad in (np.longdouble(1), np.clongdouble(1)):
        for use in (lambda: rc.ones(2) + bad, lambda: bad * rc.ones(2), lambda: rc.add(rc.ones(2), bad)):
            with pytest.raises(TypeError):
                use()
        with pytest.raises((TypeError, ValueError)):
            rc.tensor([bad])
    assert (rc.ones(2) + np.longlong(1)).tolist() == [2, 2]


def test_a_seed_beyond_64_bits_is_refused():
    for seed in (2**63, 2**64, -(2**63) - 1):
        with pytest.raises(ValueError, match="64 bits"):
            rc.Key(seed)
    rc.Key(2**63 - 1)


def test_size_takes_its_axis_by_name():
    x = rc.ones(2, 3)
    assert x.size(dim=1) == x.size(-1) == 3 and x.size() == (2, 3)
    for call in (lambda: x.size(axis=1), lambda: x.size(0, dim=1), lambda: x.size(dim="a"), lambda: x.size(0, 1)):
        with pytest.raises(TypeError, match="size takes"):
            call()


def test_lists_that_hold_themselves_or_lie_are_no_danger():
    class Liar(list):
        def __len__(self):
            return 100000

    loop, deep = [], []
    loop.append(loop)
    for _ in range(100000):
        deep = [deep]
    for bad in (loop, deep):
        with pytest.raises(RecursionError):
            rc.tensor(bad)
    assert rc.tensor(Liar([1])).tolist() == [1] and rc.ones(3)[Liar([1])].tolist() == [1]
