"""PyTorch's forms of operations, `add(x, y, alpha=2)`: against NumPy and, where it is installed, against PyTorch."""

import importlib.util
import math
import pickle

import numpy as np
import pytest
from conftest import expect

import ricci as rc

RNG = np.random.default_rng(1)
ARRAYS = {
    "x": RNG.standard_normal((3, 4)),
    "y": RNG.standard_normal((3, 4)),
    "s": RNG.standard_normal((3, 3)),
    "p": RNG.uniform(0.1, 0.9, (3, 4)),
    "i": np.array([[3, -5, 7], [2, 9, -4]]),
    "j": np.array([[2, 3, -1], [-5, 2, 3]]),
    "odd": np.array([1.0, math.nan, math.inf, -math.inf]),
    "w": np.array([1.0, 2.0, 0.5, 3.0]),
    "c": np.array([1, 3, -100]),
    "d": np.array([1, 3, 0]),
    "line": RNG.standard_normal((2, 3, 7)),
    "kernel": RNG.standard_normal((4, 3, 4)),
    "image": RNG.standard_normal((1, 2, 5, 6)),
    "filter": RNG.standard_normal((3, 2, 3, 2)),
    "m": RNG.standard_normal((2, 3, 4)),
    "n": RNG.standard_normal((4, 3, 5)),
    "up": np.array([1.0, 2.0, 2.0, 5.0]),
    "v": np.array([2.0, 0.0, 9.0]),
    "k": np.array([[0, 2, 1], [1, 0, 2], [2, 2, 0]]),
    "one": RNG.standard_normal((1, 3, 1, 2, 1)),
}
x, y, s, p, i, j, w = (ARRAYS[n] for n in "xyspijw")
SPD = s @ s.T + 3 * np.eye(3)
ARRAYS["spd"] = SPD


def log_softmax(a):
    return a - a.max(1, keepdims=True) - np.log(np.exp(a - a.max(1, keepdims=True)).sum(1, keepdims=True))


LOGS = log_softmax(x)
NLL = -LOGS[[0, 1, 2], [1, 3, 0]]
SMOOTH = -(LOGS * w).sum(1) / 4
LOGITS = (1 - p) * x + (1 + (w - 1) * p) * np.log1p(np.exp(-x))
HALF = np.array([0.5, 1.5, 2.5, -0.5, 1234.5678])

# What is written (op(…) is an operation of either library), and what it gives.
FORMS = {
    "op('add')(x, y, alpha=2)": x + 2 * y,
    "op('add')(i, j, alpha=3)": i + 3 * j,
    "op('sub')(x, y, alpha=0.5)": x - y / 2,
    "x.add(y, alpha=3)": x + 3 * y,
    "x.clone().add_(y, alpha=2)": x + 2 * y,
    "x.clone().sub_(y, alpha=2)": x - 2 * y,
    "op('div')(x, y, rounding_mode=None)": x / y,
    "op('div')(x, y, rounding_mode='trunc')": np.trunc(x / y),
    "op('div')(x, y, rounding_mode='floor')": np.floor(x / y),
    "op('div')(i, j, rounding_mode='trunc')": np.trunc(i / j),
    "op('div')(i, j, rounding_mode='floor')": i // j,
    "x.clone().div_(y, rounding_mode='floor')": np.floor(x / y),
    "op('addcmul')(x, y, p, value=2)": x + 2 * y * p,
    "op('addcdiv')(x, y, p, value=2)": x + 2 * y / p,
    "x.clone().addcmul_(y, p, value=0.5)": x + y * p / 2,
    "x.clone().addcdiv_(y, p, value=0.5)": x + y / p / 2,
    "op('addmm')(x, s, y, beta=2, alpha=3)": 2 * x + 3 * s @ y,
    "x.clone().addmm_(s, y, beta=0.5, alpha=2)": x / 2 + 2 * s @ y,
    "op('index_add')(x, 0, k[0, :2], y[:2], alpha=2)": None,
    "op('round')(x, decimals=2)": np.round(x, 2),
    "op('nan_to_num')(odd, nan=7.0, posinf=8.0, neginf=-9.0)": [1, 7, 8, -9],
    "op('nan_to_num')(odd, 7.0)[:2]": [1, 7],
    "odd.clone().nan_to_num_(nan=1.0, posinf=2.0, neginf=3.0)": [1, 1, 2, 3],
    "op('gelu')(x, approximate='tanh')": x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "op('isclose')(odd, odd, equal_nan=True)": [True] * 4,
    "op('where')(x > 0)": list(np.where(x > 0)),
    "op('sum')(i, dim=1, dtype=float64)": i.sum(1),
    "op('sum')(i, dtype=float64)": i.sum(),
    "op('sum')(x, axis=1, keepdims=True)": x.sum(1, keepdims=True),
    "op('mean')(i, dtype=float64)": i.mean(),
    "op('mean')(i, dim=0, keepdim=True, dtype=float64)": i.mean(0, keepdims=True),
    "op('prod')(i, dtype=float64)": i.prod(),
    "op('prod')(i, dim=1, dtype=float64)": i.prod(1),
    "op('cumsum')(i, dim=1, dtype=float64)": i.cumsum(1),
    "op('cumprod')(i, dim=1, dtype=float64)": i.cumprod(1),
    "op('softmax')(i, dim=1, dtype=float64)": np.exp(log_softmax(i)),
    "op('log_softmax')(i, dim=1, dtype=float64)": log_softmax(i),
    "x.cumsum(0)": x.cumsum(0),
    "op('norm')(x, dtype=float64)": np.linalg.norm(x),
    "op('norm')(x, p='fro')": np.linalg.norm(x),
    "op('count_nonzero')(i > 2, dim=1)": (i > 2).sum(1),
    "(x > 0).count_nonzero()": (x > 0).sum(),
    "list(op('median')(y[:, :3], dim=1, keepdim=True))": None,
    "list(op('sort')(x, stable=True, dim=0))": [np.sort(x, 0), np.argsort(x, 0)],
    "op('argsort')(x, stable=True)": np.argsort(x),
    "list(op('topk')(x, 2, sorted=True))": [-np.sort(-x)[:, :2], np.argsort(-x)[:, :2]],
    "op('take_along_dim')(s, k)": s.ravel()[ARRAYS["k"].ravel()],
    "op('scatter')(s, 1, k[:, :1], value=5.0)": None,
    "op('one_hot')(d)": np.eye(4)[[1, 3, 0]],
    "op('searchsorted')(up, v, right=True)": [3, 0, 4],
    "op('searchsorted')(up, v, side='right')": [3, 0, 4],
    "op('searchsorted')(up, v, side='left')": [1, 0, 4],
    "op('cholesky')(spd, upper=True)": np.linalg.cholesky(SPD).T,
    "op('cholesky_solve')(s, op('cholesky')(spd, upper=True), upper=True)": np.linalg.solve(SPD, s),
    "list(op('eigh')(spd, UPLO='U'))[0]": np.linalg.eigvalsh(SPD),
    "op('eigvalsh')(s, UPLO='U')": np.linalg.eigvalsh(s, "U"),
    "op('solve')(s, s + 1, left=False)": np.linalg.solve(s.T, (s + 1).T).T,
    "op('solve_triangular')(s, s + 1, upper=True, left=False)": np.linalg.solve(np.triu(s).T, (s + 1).T).T,
    "op('solve_triangular')(s, s + 1, upper=False, unitriangular=True)": None,
    "op('tensordot')(m, n, dims=([1, 2], [1, 0]))": np.tensordot(ARRAYS["m"], ARRAYS["n"], ([1, 2], [1, 0])),
    "op('tensordot')(m, n, dims=([-1], [0]))": np.tensordot(ARRAYS["m"], ARRAYS["n"], ([-1], [0])),
    "op('squeeze')(one, dim=(0, 2))": ARRAYS["one"].squeeze((0, 2)),
    "op('squeeze')(one, (1, -1))": ARRAYS["one"].squeeze(-1),
    "op('diag')(s, diagonal=1)": np.diag(s, 1),
    "op('diag')(v, diagonal=-1)": np.diag([2.0, 0, 9], -1),
    "op('pad')(x, (1, 2), mode='constant', value=5.0)": np.pad(x, ((0, 0), (1, 2)), constant_values=5),
    "op('slice_scatter')(x, y[:2], end=2)": np.concatenate([y[:2], x[2:]]),
    "op('diagonal_scatter')(s, v)": s - np.diag(np.diag(s)) + np.diag([2.0, 0, 9]),
    "op('repeat_interleave')(s, 2)": np.repeat(s, 2),
    "op('roll')(s, shifts=1, dims=0)": np.roll(s, 1, 0),
    "op('flatten')(m, start_dim=1, end_dim=2)": ARRAYS["m"].reshape(2, 12),
    "list(op('split')(x, [1, 2], dim=0))": [x[:1], x[1:]],
    "list(x.split(split_size=2, dim=1))": [x[:, :2], x[:, 2:]],
    "list(op('tensor_split')(x, 2, dim=1))": [x[:, :2], x[:, 2:]],
    "list(op('meshgrid')(v, w, indexing='xy'))": list(np.meshgrid([2.0, 0, 9], w, indexing="xy")),
    "x.to(float64, copy=True)": x,
    "x.new_zeros((2, 3), dtype=int64)": np.zeros((2, 3)),
    "x.new_full((2,), 3, dtype=int64)": [3, 3],
    "op('full')(size=(2,), fill_value=3.0)": [3, 3],
    "op('conv1d')(line, kernel, padding='same')": None,
    "op('conv1d')(line, kernel, padding='valid')": None,
    "op('conv2d')(image, filter, padding='same', dilation=2)": None,
    "op('relu')(x, inplace=True)": np.maximum(x, 0),
    "op('leaky_relu')(x.clone(), 0.1, inplace=True)": np.where(x > 0, x, 0.1 * x),
    "op('nll_loss')(x, d, w)": -(x[[0, 1, 2], [1, 3, 0]] * w[[1, 3, 0]]).sum() / w[[1, 3, 0]].sum(),
    "op('nll_loss')(x, c, weight=w, ignore_index=-100)": -(x[[0, 1], [1, 3]] * w[[1, 3]]).sum() / w[[1, 3]].sum(),
    "op('cross_entropy')(x, d, weight=w, reduction='none')": NLL * w[[1, 3, 0]],
    "op('cross_entropy')(x, c, ignore_index=-100)": NLL[:2].mean(),
    "op('cross_entropy')(x, c, ignore_index=-100, reduction='sum')": NLL[:2].sum(),
    "op('cross_entropy')(x, d, ignore_index=3)": NLL[[0, 2]].mean(),
    "op('cross_entropy')(x, d, weight=w, label_smoothing=0.2, reduction='sum')": (
        0.8 * NLL * w[[1, 3, 0]] + 0.2 * SMOOTH
    ).sum(),
    "op('cross_entropy')(x, c, weight=w, ignore_index=-100, label_smoothing=0.2)": None,
    "op('cross_entropy')(x, p, weight=w, label_smoothing=0.2)": None,
    "op('binary_cross_entropy')(p, p, weight=w)": (-w * (p * np.log(p) + (1 - p) * np.log(1 - p))).mean(),
    "op('binary_cross_entropy_with_logits')(x, p, pos_weight=w)": LOGITS.mean(),
    "op('binary_cross_entropy_with_logits')(x, p, weight=w, pos_weight=w, reduction='sum')": (w * LOGITS).sum(),
    "op('kl_div')(x, p, reduction='batchmean')": (p * (np.log(p) - x)).sum() / 3,
    "op('kl_div')(x, y, reduction='sum', log_target=True)": (np.exp(y) * (y - x)).sum(),
    "op('kl_div')(x, p, log_target=False)": (p * (np.log(p) - x)).mean(),
}


def value_of(form, library, namespaces, tensor):
    def op(name):
        return next(getattr(n, name) for n in namespaces if hasattr(n, name))

    scope = {name: tensor(a.copy()) for name, a in ARRAYS.items()}
    return eval(form, scope | {"op": op, "float64": library.float64, "int64": library.int64})


@pytest.mark.parametrize("form", [f for f, wanted in FORMS.items() if wanted is not None])
def test_a_form_gives(form):
    expect(value_of(form, rc, [rc], rc.tensor), FORMS[form], rtol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_a_form_gives_what_pytorch_gives(form):
    torch = pytest.importorskip("torch")
    # Where both have a name, the newer one is meant: torch.solve says only that it is gone.
    namespaces = [torch.linalg, torch.nn.functional, torch]
    if any(f"'{n}'" in form for n in ("norm", "tensordot", "diagonal", "round")):
        namespaces.reverse()
    wanted = value_of(form, torch, namespaces, torch.from_numpy)
    found = value_of(form, rc, [rc], rc.tensor)
    wanted = [t.numpy() for t in wanted] if isinstance(wanted, (list, tuple)) else wanted.numpy()
    expect(found, wanted, rtol=1e-6)


def test_out_gets_the_result():
    a, b = rc.tensor([1.0, 2.0]), rc.zeros(2)
    for give in (rc.sin, rc.exp, lambda v, out: rc.add(v, v, alpha=2, out=out), lambda v, out: rc.mul(v, v, out=out)):
        assert give(a, out=b) is b
        assert (b - give(a, out=None if give is not rc.sin else rc.zeros(2))).tolist() == [0, 0]
    values, places = rc.zeros(()), rc.zeros((), dtype=rc.int64)
    assert rc.max(a, 0, out=(values, places))[0] is values and (values.item(), places.item()) == (2, 1)
    assert rc.grad(lambda v: rc.sin(v, out=rc.zeros(2)).sum())(a).tolist() == rc.cos(a).tolist()
    with pytest.raises(rc.ValueError, match="sin: out has the shape \\[3\\], the result \\[2\\]"):
        rc.sin(a, out=rc.zeros(3))
    with pytest.raises(rc.TypeError, match="cannot hold"):
        rc.sin(a, out=rc.zeros(2, dtype=rc.int64))
    for wrong in (3, "a", (b, b)):
        with pytest.raises(rc.TypeError, match="out must be a Tensor"):
            rc.sin(a, out=wrong)
    with pytest.raises(rc.TypeError, match="tuple of 2"):
        rc.sort(a, out=b)
    with pytest.raises(rc.TypeError, match="has no argument out"):
        rc.t(a, out=b)


@pytest.mark.parametrize(
    "name, arguments, fields",
    [
        ("max", (0,), "values indices"),
        ("min", (1, True), "values indices"),
        ("sort", (), "values indices"),
        ("topk", (2,), "values indices"),
        ("median", (0,), "values indices"),
        ("nanmedian", (0,), "values indices"),
        ("kthvalue", (2,), "values indices"),
        ("aminmax", (), "min max"),
        ("var_mean", (), "var mean"),
        ("std_mean", (), "std mean"),
        ("histogram", (4,), "hist bin_edges"),
        ("slogdet", (), "sign logabsdet"),
        ("eigh", (), "eigenvalues eigenvectors"),
        ("svd", (), "U S Vh"),
    ],
)
def test_several_results_have_names(name, arguments, fields):
    a = rc.tensor(SPD)
    result = getattr(rc, name)(a, *arguments)
    assert isinstance(result, tuple) and result._fields == tuple(fields.split())
    assert all(getattr(result, field) is part for field, part in zip(result._fields, result, strict=True))
    assert type(result) is getattr(rc, type(result).__name__)
    if hasattr(a, name):
        assert type(getattr(a, name)(*arguments)) is type(result)
    restored = pickle.loads(pickle.dumps(result))
    assert type(restored) is type(result)
    expect(restored, [np.asarray(part) for part in result])
    if importlib.util.find_spec("torch"):
        torch = importlib.import_module("torch")
        theirs = getattr(torch.linalg, name, None) or getattr(torch, name)
        theirs = theirs(torch.from_numpy(SPD), *arguments)
        assert type(theirs) is tuple or all(hasattr(theirs, field) for field in result._fields)


def test_a_list_that_holds_tensors_is_a_list_of_indices():
    a, rows, columns = rc.tensor(x), rc.tensor([0, 2]), rc.tensor([1, 1])
    wanted = x.copy()
    wanted[[0, 2], [1, 1]] = 1.5
    for indices in ([rows, columns], (rows, columns)):
        expect(rc.index_put(a, indices, 1.5), wanted)
        expect(a[indices], x[[0, 2], [1, 1]])
    expect(a[[0, 2]], x[[0, 2]])


def test_named_results_are_trees():
    a = rc.tensor(x)
    assert rc.vmap(lambda row: rc.max(row, 0))(a).values.tolist() == rc.max(a, 1).values.tolist()
    assert rc.compile(rc.sort)(a).indices.tolist() == rc.sort(a).indices.tolist()
    ends = rc.vmap(lambda row: rc.cond(row[0] > 0, lambda r: rc.max(r, 0), lambda r: rc.min(r, 0), row))(a)
    assert ends.values.tolist() == [row.max() if row[0] > 0 else row.min() for row in x]
    assert rc.grad(lambda v: rc.topk(v, 2).values.sum())(a[0]).sum().item() == 2


def test_forms_work_under_transforms():
    a, b = rc.tensor(x), rc.tensor(y)
    f = lambda u, v: rc.cross_entropy(rc.add(u, v, alpha=2)[None], rc.tensor([1]), label_smoothing=0.1)
    each = rc.vmap(rc.grad(f))(a, b)
    for row in range(3):
        expect(each[row], np.asarray(rc.grad(f)(a[row], b[row])))
    expect(rc.compile(rc.vmap(rc.grad(f)))(a, b), np.asarray(each))
    assert rc.vmap(lambda u: rc.relu(u, inplace=True))(rc.tensor([-1.0, 1.0])).tolist() == [0, 1]


def test_options_that_are_not_there_are_errors_that_name_those_that_are():
    a = rc.ones(2, 2)
    for call, words in [
        (lambda: rc.div(a, a, rounding_mode="up"), 'None, "trunc" or "floor"'),
        (lambda: rc.gelu(a, "fast"), '"none" or "tanh"'),
        (lambda: rc.pad(a, (1, 1), mode="reflect"), 'must be "constant"'),
        (lambda: rc.meshgrid(a[0], a[0], indexing="ji"), '"ij" or "xy"'),
        (lambda: rc.norm(a, "nuc"), 'must be "fro"'),
        (lambda: rc.eigh(a, UPLO="X"), '"L" or "U"'),
        (lambda: rc.searchsorted(a[0], a[0], side="up"), '"left" or "right"'),
        (lambda: rc.conv1d(rc.ones(1, 1, 5), rc.ones(1, 1, 3), stride=2, padding="same"), "stride of 1"),
        (lambda: rc.conv1d(rc.ones(1, 1, 5), rc.ones(1, 1, 3), padding="full"), 'must be "same"'),
        (lambda: rc.cross_entropy(a, rc.tensor([0, 1]), label_smoothing=2.0), "between 0 and 1"),
        (lambda: rc.kl_div(a, a, reduction="batch"), '"batchmean", "none", "mean" or "sum"'),
        (lambda: rc.mse_loss(a, a, reduction="batchmean"), 'must be "none", "mean" or "sum"'),
        (lambda: rc.tensordot(a, a, dims=([0, 1], [0])), "as many of each"),
    ]:
        with pytest.raises(rc.ValueError, match=words):
            call()
    with pytest.raises(rc.IndexError):
        rc.squeeze(a, (0, 5))


def test_inplace_writes_to_the_first_argument_however_it_is_given():
    for give in (lambda a: rc.relu(a, inplace=True), lambda a: rc.relu(input=a, inplace=True)):
        a = rc.tensor([-1.0, 1.0])
        assert give(a) is a and a.tolist() == [0, 1]
    a = rc.tensor([-1.0, 1.0])
    with pytest.raises(rc.TypeError, match="relu: give out or inplace=True, not both"):
        rc.relu(a, inplace=True, out=rc.zeros(2))
    with pytest.raises(rc.TypeError, match="relu: the input must be a Tensor, not float; leave inplace=True out"):
        rc.relu(-1.0, inplace=True)
    with pytest.raises(rc.TypeError, match="elu: .* which the input, int64, cannot hold; leave inplace=True out"):
        rc.elu(rc.tensor([-1]), inplace=True)
    assert a.tolist() == [-1, 1] and rc.relu(a, inplace=True, out=None) is a


def test_out_is_written_as_a_whole_or_not_at_all():
    values = rc.zeros(2)
    for wrong in (rc.zeros(3, dtype=rc.int64), rc.zeros(2, dtype=rc.bool), 3):
        with pytest.raises(rc.Error):
            rc.sort(rc.tensor([2.0, 1.0]), out=(values, wrong))
    assert values.tolist() == [0, 0]


def test_eigenvalues_are_those_of_the_lower_triangle():
    a = np.array([[1.0, 9.0], [2.0, 3.0]])
    wanted = np.linalg.eigvalsh(a)
    for found in (rc.eigvalsh(rc.tensor(a)), rc.eigvalsh(rc.tensor(a), UPLO="L"), rc.eigh(rc.tensor(a))[0]):
        expect(found, wanted)
    expect(rc.eigvalsh(rc.tensor(a), "U"), np.linalg.eigvalsh(a, "U"))
    with pytest.raises(rc.ValueError, match="eigh: .*f32\\[2,3\\]"):
        rc.eigh(rc.ones(2, 3), UPLO="U")


@pytest.mark.parametrize(
    "table, value",
    [
        ([1.0, 2.0, math.nan], 2.0),
        ([1.0, 2.0, 2.0, math.inf], math.inf),
        ([-(2**63), 0, 5], -(2**63)),
        ([0, 5, 2**63 - 1], 2**63 - 1),
        (np.array([0, 5, 255], dtype=np.uint8), np.uint8(5)),
    ],
)
def test_searchsorted_from_the_right(table, value):
    table, value = np.asarray(table), np.asarray([value])
    expect(rc.searchsorted(rc.tensor(table), rc.tensor(value), right=True), np.searchsorted(table, value, "right"))
    expect(rc.searchsorted(rc.tensor(table), rc.tensor(value)), np.searchsorted(table, value))


def test_searchsorted_from_the_right_in_rows():
    table, values = np.array([[1, 2, 2], [2, 3, 4]]), np.array([[2, 0], [2, 9]])
    found = rc.searchsorted(rc.tensor(table), rc.tensor(values), side="right")
    expect(found, np.stack([np.searchsorted(t, v, "right") for t, v in zip(table, values)]))


def test_convolutions_with_same_padding_refuse_weights_and_lists_of_another_length():
    for call, words in [
        (lambda: rc.conv1d(rc.ones(1, 1, 4), rc.ones(3), padding="same"), "conv1d: .*\\[O, C / groups, K\\]"),
        (lambda: rc.conv1d(rc.ones(1, 1, 4), rc.ones(()), padding="same"), "conv1d: .*\\[O, C / groups, K\\]"),
        (lambda: rc.conv2d(rc.ones(1, 1, 4, 4), rc.ones(1, 1, 2, 2), dilation=(), padding="same"), "dilation"),
        (lambda: rc.conv2d(rc.ones(1, 1, 4, 4), rc.ones(1, 1, 2, 2), stride=[], padding="same"), "stride"),
        (lambda: rc.conv2d(rc.ones(1, 1, 4, 4), rc.ones(1, 1, 2, 2), stride=[1, 1, 1], padding="same"), "stride"),
    ]:
        with pytest.raises(rc.ValueError, match=words):
            call()


def test_numbers_at_the_end_of_their_range():
    assert rc.round(rc.tensor([1.5]), decimals=-(2**63)).shape == (1,)
    for sizes in ((3, 2**62), (2**62, 2**62), (2**40, 2**40)):
        with pytest.raises((rc.Error, MemoryError)):
            rc.zeros(*sizes)
    assert rc.zeros(2**40, 0).shape == (2**40, 0)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64", "float32"])
def test_dtype_is_that_of_the_result(dtype):
    a = np.array([[100, 200], [3, 1]])
    ours, theirs = getattr(rc, dtype), np.dtype(dtype)
    for name, arguments in [("sum", ()), ("sum", (1,)), ("prod", ()), ("prod", (1,)), ("cumsum", (1,)), ("cumprod", (1,))]:
        found = getattr(rc, name)(rc.tensor(a), *arguments, dtype=ours)
        assert found.dtype is ours
        expect(found, getattr(np, name)(a, *arguments, dtype=theirs))


def test_forms_in_place_refuse_what_they_cannot_hold():
    whole = rc.tensor([[7]])
    for call in (
        lambda: whole.div_(rc.tensor([2.5]), rounding_mode=None),
        lambda: whole.div_(rc.tensor([2.5]), rounding_mode="floor"),
        lambda: whole.addmm_(rc.ones(1, 1), rc.ones(1, 1), beta=2),
    ):
        with pytest.raises(rc.TypeError, match="which self, int64, cannot hold"):
            call()
    assert whole.div_(2, rounding_mode="floor").item() == 3


def test_an_index_without_classes_is_refused_in_its_own_words():
    with pytest.raises(rc.IndexError, match="-1"):
        rc.one_hot(rc.tensor([-1]))
    with pytest.raises(rc.ValueError, match="give num_classes"):
        rc.one_hot(rc.zeros(0, dtype=rc.int64))


def test_new_tensors_with_a_dtype():
    big = rc.zeros(2, 2)
    for made, value in [
        (big.new_full((2,), 1.5, dtype=rc.float64), 1.5),
        (big.new_ones((2,), dtype=rc.float64), 1),
        (big.new_zeros((2,), dtype=rc.float64), 0),
    ]:
        assert made.dtype is rc.float64 and made.tolist() == [value] * 2
    assert big.new_full((1,), 0.1, dtype=rc.float64).item() == np.float64(0.1)


def test_the_norm_of_frobenius_takes_a_dtype():
    assert rc.norm(rc.tensor(i), p="fro", dtype=rc.float64).dtype is rc.float64
