"""PyTorch's forms of operations, `add(x, y, alpha=2)`: against NumPy and against PyTorch's answers."""

import math
import pickle

import numpy as np
import pytest
from conftest import ANSWERS_OF_TORCH, array_of, expect
from written_for_both import FORMS, NAMED_RESULTS, SPD, i, value_of, x, y

import ricci as rc

ANSWERS = ANSWERS_OF_TORCH["forms"]


@pytest.mark.parametrize("form", [f for f, wanted in FORMS.items() if wanted is not None])
def test_a_form_gives(form):
    expect(value_of(form, rc, [rc], rc.tensor), FORMS[form], rtol=1e-6)


def test_a_form_without_a_value_of_its_own_has_an_answer():
    assert [f for f, wanted in FORMS.items() if wanted is None and f not in ANSWERS] == []


@pytest.mark.parametrize("form", ANSWERS)
def test_a_form_gives_what_pytorch_gives(form):
    answer = ANSWERS[form]
    found = value_of(form, rc, [rc], rc.tensor)
    is_list = isinstance(answer, list)
    expect(found, [array_of(part) for part in answer] if is_list else array_of(answer), rtol=1e-6)
    for one, part in zip(found if is_list else [found], answer if is_list else [answer], strict=True):
        assert str(one.dtype).endswith(part["dtype"])


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


@pytest.mark.parametrize("name, arguments, fields", NAMED_RESULTS)
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
    assert set(result._fields) <= set(ANSWERS_OF_TORCH["results"].get(name, result._fields))


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
        (lambda: rc.div(a, a, rounding_mode="up"), '"trunc" or "floor"'),
        (lambda: rc.gelu(a, "fast"), '"none" or "tanh"'),
        (lambda: rc.pad(a, (1, 1), mode="mirror"), '"reflect"'),
        (lambda: rc.meshgrid(a[0], a[0], indexing="ji"), '"ij" or "xy"'),
        (lambda: rc.norm(a, "most"), 'pass "fro", "nuc"'),
        (lambda: rc.eigh(a, UPLO="X"), '"L" or "U"'),
        (lambda: rc.searchsorted(a[0], a[0], side="up"), '"left" or "right"'),
        (lambda: rc.conv1d(rc.ones(1, 1, 5), rc.ones(1, 1, 3), stride=2, padding="same"), "stride of 1"),
        (lambda: rc.conv1d(rc.ones(1, 1, 5), rc.ones(1, 1, 3), padding="full"), '"same", "valid" or numbers'),
        (lambda: rc.cross_entropy(a, rc.tensor([0, 1]), label_smoothing=2.0), "between 0 and 1"),
        (lambda: rc.kl_div(a, a, reduction="batch"), '"batchmean", "none", "mean" or "sum"'),
        (lambda: rc.mse_loss(a, a, reduction="batchmean"), 'must be "none", "mean" or "sum"'),
        (lambda: rc.tensordot(a, a, dims=([0, 1], [0])), "give one of b for each of a"),
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
    with pytest.raises(rc.ValueError, match="how many classes there are"):
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


def test_lstsq_solves_with_the_rank_that_rcond_gives():
    a = rc.tensor([[1.0, 0], [0, 1e-3]], dtype=rc.float64)
    b = rc.ones(2, dtype=rc.float64)
    assert rc.linalg.lstsq(a, b).rank.item() == 2
    expect(rc.linalg.lstsq(a, b).solution, [1, 1000])
    for driver in (None, "gels", "gelsy", "gelsd", "gelss"):
        found = rc.linalg.lstsq(a, b, rcond=0.1, driver=driver)
        assert found.rank.item() == 1
        expect(found.solution, [1, 0])
    with pytest.raises(ValueError, match='lstsq: driver must be .*, not \'nonsense\''):
        rc.linalg.lstsq(a, b, driver="nonsense")
