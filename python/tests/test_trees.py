"""Trees: every container, through every transform, comes back as what it was."""

import gc
import weakref
from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass, field

import optree
import pytest
from conftest import expect

import ricci as rc

Point = namedtuple("Point", "x y")


@dataclass
class Layer:
    weight: rc.Tensor
    bias: rc.Tensor
    name: str = "linear"


@dataclass(frozen=True)
class Frozen:
    a: rc.Tensor
    count: int = 3
    later: object = field(default=None, init=False)


class Box:
    def __init__(self, inside, label):
        self.inside, self.label = inside, label


rc.register_tree(Box, lambda b: ((b.inside,), b.label), lambda label, children: Box(children[0], label))


class MyList(list):
    pass


X = rc.tensor([1.0, 2.0])
TREES = {
    "a Tensor": X,
    "a tuple": (X, X + 1),
    "a list": [X, X * 2],
    "a dict": {"b": X, "a": X + 1},
    "nothing in it": (X, (), [], {}),
    "a namedtuple": Point(X, X + 3),
    "a dataclass": Layer(X, X),
    "a frozen dataclass": Frozen(X),
    "None": (X, None),
    "an OrderedDict": OrderedDict([("z", X), ("a", X + 1)]),
    "a defaultdict": defaultdict(list, {"k": X}),
    "numbers as keys": {2: X, 1: X + 1},
    "values": (X, 3, "text", 2.5, b"raw"),
    "a registered class": Box(X, "mine"),
    "deep": {"layers": [Layer(X, X), (Point({"x": X}, None), Frozen(X))]},
    "a class of lists": MyList([X, X]),
}


def same(a, b):
    """Whether two trees are of the same classes, with equal Tensors."""
    assert type(a) is type(b)
    if isinstance(a, rc.Tensor):
        expect(a, b.tolist())
    elif isinstance(a, dict):
        assert list(a) == list(b)
        [same(a[k], b[k]) for k in a]
    elif isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        [same(p, q) for p, q in zip(a, b)]
    elif isinstance(a, Box):
        assert a.label == b.label
        same(a.inside, b.inside)
    elif hasattr(a, "__dataclass_fields__"):
        [same(getattr(a, f), getattr(b, f)) for f in a.__dataclass_fields__]
    else:
        assert a == b


@pytest.mark.parametrize("kind", TREES)
def test_a_tree_passes_through_every_transform(kind):
    tree = TREES[kind]
    total = lambda t: sum((leaf.sum() for leaf in rc.leaves(t)), rc.tensor(0.0))
    ones = rc.map_leaves(rc.ones_like, tree)
    same(rc.map_leaves(lambda x: x, tree), tree)
    same(rc.vmap(lambda t: t)(tree), tree)
    same(rc.grad(total)(tree), ones)
    same(rc.vjp(lambda t: t, tree)[1](ones)[0], ones)
    same(rc.jvp(lambda t: t, (tree,), (ones,))[1], ones)
    same(rc.linearize(lambda t: t, tree)[1](ones), ones)
    same(rc.compile(lambda t: rc.map_leaves(lambda x: x * 1, t))(tree), tree)
    same(rc.checkpoint(lambda t: rc.map_leaves(lambda x: x * 1, t))(tree), tree)
    same(rc.cond(True, lambda t: t, lambda t: t, tree), tree)
    same(rc.while_loop(lambda t: rc.leaves(t)[0].sum() < 0, lambda t: t, tree), tree)
    same(rc.unstack_trees(rc.stack_trees([tree, ones]))[0], tree)


def test_leaves_of_a_dict_stand_in_the_order_of_its_keys():
    assert [leaf.item() for leaf in rc.leaves({"b": rc.tensor(2.0), "a": rc.tensor(1.0)})] == [1, 2]
    names = rc.leaf_names({"b": X, "a": [X, Layer(X, X)]})
    assert [n.replace('"', "") for n in names] == ["[a][0]", "[a][1].weight", "[a][1].bias", "[b]"]


def test_in_dims_follow_the_tree():
    xs = rc.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    f = lambda p, y: p["w"] + p["b"] + y
    expect(rc.vmap(f, in_dims=({"w": 0, "b": None}, None))({"w": xs, "b": X}, X), (xs + X + X).tolist())
    expect(rc.vmap(f, in_dims=({"w": 0, "b": None}, 1))({"w": xs, "b": X}, rc.ones(2, 3)), (xs + X + 1).tolist())
    layer = Layer(xs, X)
    expect(rc.vmap(lambda m: m.weight * m.bias, in_dims=(Layer(0, None, None),))(layer), (xs * X).tolist())
    out = rc.vmap(lambda x: (x, {"s": x.sum()}), out_dims=(1, 0))(xs)
    assert out[0].shape == (2, 3) and out[1]["s"].shape == (3,)
    with pytest.raises(TypeError, match="in_dims"):
        rc.vmap(f, in_dims="a")
    with pytest.raises(ValueError):
        rc.vmap(f, in_dims=(0, 0, 0))(X, X)


def test_none_stands_for_no_tangent_and_no_cotangent():
    i = rc.tensor([1, 2])
    f = lambda x, n: x * n
    value, tangent = rc.jvp(f, (X, i), (rc.ones(2), None))
    expect(tangent, [1, 2])
    value, pullback = rc.vjp(lambda x: {"a": x * 2, "b": x * 5}, X)
    expect(pullback({"a": rc.ones(2), "b": rc.zeros(2)})[0], [2, 2])
    with pytest.raises(ValueError, match="b"):
        pullback({"a": rc.ones(2), "b": None})


def test_a_tree_that_holds_itself_is_refused():
    loop = {}
    loop["me"] = [loop]
    for f in (rc.leaves, rc.vmap(lambda x: x), rc.compile(lambda x: x)):
        with pytest.raises(RecursionError):
            f(loop)


def test_flatten_that_is_wrong_is_refused():
    class Bad:
        pass

    rc.register_tree(Bad, lambda b: 3, lambda rest, children: Bad())
    with pytest.raises(TypeError, match="flatten"):
        rc.leaves(Bad())
    for bad in ((3, len, len), (Bad, 3, len)):
        with pytest.raises(TypeError):
            rc.register_tree(*bad)

    class Raises:
        pass

    def fail(b):
        raise ZeroDivisionError("mine")

    rc.register_tree(Raises, fail, fail)
    with pytest.raises(ZeroDivisionError, match="mine"):
        rc.vmap(lambda x: x)(Raises())


def test_trees_are_saved_and_loaded(tmp_path):
    tree = {"layers": [Layer(X, rc.ones(3)), Layer(X * 2, rc.zeros(1))]}
    for kind in ("npz", "safetensors"):
        path = str(tmp_path / f"tree.{kind}")
        rc.save(path, tree)
        same(rc.load(path, like=rc.map_leaves(rc.zeros_like, tree)), tree)
        assert len(rc.load(path)) == 4
    rc.save_npy(str(tmp_path / "x.npy"), X)
    expect(rc.load_npy(str(tmp_path / "x.npy")), [1, 2])
    rc.save(tmp_path / "path.npz", tree)
    assert len(rc.load(tmp_path / "path.npz")) == 4
    with pytest.raises(ValueError):
        rc.save(str(tmp_path / "tree.txt"), tree)
    with pytest.raises(ValueError):
        rc.load(str(tmp_path / "absent.npz"))


def test_axes_in_a_dict_go_to_the_tensors_of_their_keys():
    ones, zeros = rc.ones(3, 3), rc.zeros(3, 3)
    ordered = OrderedDict([("b", ones), ("a", zeros)])
    shapes = lambda d: {k: rc.tensor(float(d[k].dim())) for k in d}
    found = rc.vmap(shapes, in_dims=({"b": 0, "a": None},))(ordered)
    expect(found["b"], [1, 1, 1])
    expect(found["a"], [2, 2, 2])
    found = rc.vmap(shapes, in_dims=({2: 0, 1: None},))({1: zeros, 2: ones})
    expect(found[2], [1, 1, 1])
    expect(found[1], [2, 2, 2])
    found = rc.vmap(lambda x: OrderedDict([("b", x), ("a", x)]), out_dims={"a": 0, "b": 1})(rc.ones(2, 3))
    assert found["a"].shape == (2, 3) and found["b"].shape == (3, 2)
    mixed = {"x": zeros, 1: ones, (1, 2): zeros}
    found = rc.vmap(shapes, in_dims=({(1, 2): None, "x": None, 1: 1},))(mixed)
    expect(found[1], [1, 1, 1])
    assert list(found) == list(mixed)


@pytest.mark.parametrize("dims", [{"q": 0, "z": None}, {"a": 0}, {"a": 0, "b": None, "c": None}, {1: 0, "a": 0}])
def test_axes_for_other_keys_are_refused(dims):
    tree = {"a": rc.ones(3), "b": rc.ones(3)}
    with pytest.raises(ValueError, match="in_dims.*keys"):
        rc.vmap(lambda d: d["a"], in_dims=(dims,))(tree)
    with pytest.raises(ValueError, match="out_dims.*keys"):
        rc.vmap(lambda d: d, out_dims=dims)(tree)
    assert not rc.inside_transform()


def test_axes_in_a_dict_for_what_is_none_are_refused():
    with pytest.raises(ValueError, match="dict"):
        rc.vmap(lambda x: x, in_dims=({"a": 0},))(rc.ones(3))
    with pytest.raises(ValueError, match="tuple"):
        rc.vmap(lambda d: d["a"], in_dims={"a": 0})({"a": rc.ones(3)})


def test_a_class_ends_though_it_was_in_a_tree():
    def use():
        @dataclass
        class Local:
            x: rc.Tensor

        class Value:
            pass

        rc.vmap(lambda t: t)((Local(X), X))
        rc.compile(lambda t, v: t.x * 2)(Local(X), Value())
        rc.leaves((Value(), MyList([X])))
        return weakref.ref(Local), weakref.ref(Value)

    ended = [use() for _ in range(3)]
    gc.collect()
    assert all(r() is None for pair in ended for r in pair)
    same(rc.map_leaves(lambda x: x, Layer(X, X)), Layer(X, X))


def test_a_class_of_dicts_comes_back_as_it_is():
    class Config(dict):
        pass

    config = Config(b=X, a=X + 1)
    config.note = "kept"
    for back in (rc.map_leaves(lambda x: x, config), rc.compile(lambda c: c)(config)):
        same(back, config)
        assert back.note == "kept"


def test_many_tensors_are_given_back_as_they_are():
    tree = {f"k{i}": rc.tensor([float(i)]) for i in range(40)}
    back = rc.vmap(lambda t: t)(tree)
    assert all(back[k] is tree[k] for k in tree)
    tree["k3"] = tree["k7"]
    back = rc.compile(lambda t: {k: v + 1 for k, v in t.items()})(tree)
    assert back["k3"].tolist() == [8] and back["k39"].tolist() == [40]


class Pair:
    def __init__(self, first, rest):
        self.first, self.rest = first, rest


def registered(register):
    """A new class that a library knows as a container."""
    cls = type("Other", (Pair,), {})
    register(cls, lambda o: ((o.first, o.rest), "aux"), lambda aux, parts: cls(*parts))
    return cls


def check_container(cls):
    a = rc.tensor([1.0, 2.0])
    one = cls(a, {"b": [cls(a * 3, None)]})
    assert [leaf.tolist() for leaf in rc.leaves(one)] == [[1, 2], [3, 6]]
    slopes = rc.grad(lambda o: (o.first * o.rest["b"][0].first).sum())(one)
    assert type(slopes) is cls and slopes.first.tolist() == [3, 6] and slopes.rest["b"][0].first.tolist() == [1, 2]
    assert slopes.rest["b"][0].rest is None
    doubled = rc.vmap(lambda o: cls(o.first * 2, o.rest))(one)
    assert type(doubled) is cls and doubled.first.tolist() == [2, 4]
    compiled = rc.compile(lambda o: cls(o.first + 1, 5))
    assert compiled(one).first.tolist() == [2, 3] and compiled(one).rest == 5 and compiled.plans == 1


def register_with_optree(cls, flatten, unflatten):
    optree.register_pytree_node(cls, flatten, unflatten, namespace="somewhere")


def test_classes_registered_with_optree_are_containers():
    check_container(registered(register_with_optree))


def test_a_class_may_be_registered_after_its_first_object():
    cls = type("Late", (Pair,), {})
    one = cls(rc.ones(2), None)
    plans = rc.compile(lambda o, x: x + 1)
    assert rc.leaves(one) == [] and plans(one, rc.ones(2)).tolist() == [2, 2]
    register_with_optree(cls, lambda o: ((o.first, o.rest), "aux"), lambda aux, parts: cls(*parts))
    assert [leaf.tolist() for leaf in rc.leaves(one)] == [[1, 1]]
    assert plans(one, rc.ones(2)).tolist() == [2, 2] and plans.plans == 2
    check_container(cls)


def test_classes_registered_with_jax_are_containers():
    jax = pytest.importorskip("jax", reason="needs JAX, which is too large for the project's environment")
    check_container(registered(jax.tree_util.register_pytree_node))


def test_a_class_that_nobody_registered_is_a_value():
    one = Pair(rc.ones(2), None)
    assert rc.leaves([one, rc.ones(3)])[0].shape == (3,) and len(rc.leaves(one)) == 0


def test_a_tree_is_a_vector_and_back():
    layer = Layer(rc.ones(2, 2), rc.tensor([3.0]))
    vector, unravel = rc.ravel_pytree({"layer": layer, "steps": rc.tensor(7)})
    assert vector.tolist() == [1, 1, 1, 1, 3]
    back = unravel(2 * vector)
    assert back["layer"].weight.tolist() == [[2, 2], [2, 2]] and back["steps"].item() == 7
    assert rc.hessian(lambda v: unravel(v)["layer"].weight.square().sum())(vector).shape == (5, 5)
    with pytest.raises(rc.ValueError, match="the tree has 5 elements"):
        unravel(rc.ones(4))
