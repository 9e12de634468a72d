"""Transforms of Python functions: what they compute, their options, that they nest, that errors leave them clean."""

import math

import numpy as np
import pytest
from conftest import expect

import ricci as rc

X = rc.tensor([0.5, 1.0, 2.0], rc.float64)
cube = lambda x: (x**3).sum()


def test_vmap_maps_grad_maps_and_all_nest():
    expect(rc.vmap(rc.grad(rc.sin))(X), np.cos(X))
    expect(rc.vmap(rc.grad(rc.grad(lambda x: x**3)))(X), 6 * np.asarray(X))
    expect(rc.grad(lambda x: rc.vmap(rc.sin)(x).sum())(X), np.cos(X))
    expect(rc.vmap(rc.vmap(lambda a, b: a * b, in_dims=(None, 0)), in_dims=(0, None))(X, X), np.outer(X, X))
    expect(rc.jacrev(rc.jacfwd(cube))(X), np.diag(6 * np.asarray(X)))
    expect(rc.hessian(cube)(X), np.diag(6 * np.asarray(X)))
    expect(rc.jvp(rc.grad(cube), (X,), (rc.ones_like(X),))[1], 6 * np.asarray(X))


def test_vmap_with_index_tells_the_number_of_the_example():
    f = lambda i, x: {"number": i, "value": x + 10 * i}
    for chunk in (None, 2):
        found = rc.vmap_with_index(f, chunk_size=chunk)(X)
        assert found["number"].tolist() == [0, 1, 2]
        expect(found["value"], np.asarray(X) + [0, 10, 20])
    inner = lambda i, row: rc.vmap_with_index(lambda j, x, i: x + 10 * i + j, in_dims=(0, None))(row, i)
    assert rc.vmap_with_index(inner)(rc.zeros((2, 3))).tolist() == [[0, 1, 2], [10, 11, 12]]
    with pytest.raises(rc.TypeError, match="vmap_with_index: a function is needed"):
        rc.vmap_with_index(3)


def test_an_operation_in_place_gives_its_argument_back():
    x = X.clone()
    assert rc.vmap(rc.sin_)(x) is x
    expect(x, np.sin(X))
    assert rc.vmap(lambda y: y)(x) is x


def test_options_of_vmap():
    xs = rc.randn(6, 3)
    f = lambda x: x.sum()
    expect(rc.vmap(f, chunk_size=2)(xs), xs.sum(1).tolist())
    expect(rc.vmap(lambda x: x, in_dims=1, out_dims=-1)(xs), xs.tolist())
    expect(rc.vmap(lambda x, y: x + y, in_dims=(0, None))(xs, 1.0 * rc.ones(3)), (xs + 1).tolist())
    with pytest.raises(rc.TransformError, match='randomness="different"'):
        rc.vmap(lambda x: x + rc.randn(3))(xs)
    drawn = rc.vmap(lambda x: x + rc.randn(3), randomness="different")(rc.zeros(6, 3))
    assert not rc.equal(drawn[0], drawn[1])
    drawn = rc.vmap(lambda x: x + rc.randn(3), randomness="same")(rc.zeros(6, 3))
    assert rc.equal(drawn[0], drawn[1])
    split = rc.vmap(lambda x: x * 2 if x.sum() > 0 else -x, lanes="split")(xs)
    expect(split, [(2 * x if x.sum() > 0 else -x).tolist() for x in xs])
    ragged = rc.vmap(lambda x: rc.masked_select(x, x > 0), out_dims=rc.ragged)(xs)
    assert isinstance(ragged, rc.Ragged) and len(ragged) == 6
    expect(ragged.lengths(), (xs > 0).sum(1).tolist())
    expect(ragged[0], xs[0][xs[0] > 0].tolist())
    expect(ragged.sum(), xs.clamp(min=0).sum(1).tolist())
    assert ragged.pad(-1).shape[0] == 6
    for bad in (dict(randomness="some"), dict(lanes="apart"), dict(chunk_size=0)):
        with pytest.raises(ValueError):
            rc.vmap(f, **bad)(xs)
    with pytest.raises(TypeError):
        rc.vmap(f, chunk_size="a")
    with pytest.raises(TypeError):
        rc.vmap(3)


def test_argnums_and_aux():
    f = lambda x, y: (x * y**2).sum()
    expect(rc.grad(f, argnums=1)(X, X), 2 * np.asarray(X) ** 2)
    gx, gy = rc.grad(f, argnums=(0, -1))(X, X)
    expect(gx, np.asarray(X) ** 2)
    expect(gy, 2 * np.asarray(X) ** 2)
    aux = lambda x: (cube(x), {"n": x.sum(), "text": "a"})
    gradient, extra = rc.grad(aux, has_aux=True)(X)
    assert extra["text"] == "a" and extra["n"].item() == 3.5
    gradient, (value, extra) = rc.grad_and_value(aux, has_aux=True)(X)
    (value, extra), gradient = rc.value_and_grad(aux, has_aux=True)(X)
    assert value.item() == cube(X).item()
    value, pullback, extra = rc.vjp(aux, X, has_aux=True)
    expect(pullback(rc.tensor(1.0, rc.float64))[0], 3 * np.asarray(X) ** 2)
    value, tangent, extra = rc.jvp(aux, (X,), (rc.ones_like(X),), has_aux=True)
    jacobian, extra = rc.jacrev(lambda x: (x**2, x.sum()), has_aux=True)(X)
    expect(jacobian, np.diag(2 * np.asarray(X)))
    jacobian, extra = rc.jacfwd(lambda x: (x**2, x.sum()), has_aux=True, chunk_size=1)(X)
    expect(jacobian, np.diag(2 * np.asarray(X)))
    hessian, extra = rc.hessian(lambda x: (cube(x), x.sum()), has_aux=True)(X)
    expect(hessian, np.diag(6 * np.asarray(X)))
    both = rc.jacrev(f, argnums=(0, 1))(X, X)
    assert len(both) == 2
    for bad in (2, -3, (0, 5)):
        with pytest.raises(IndexError, match="argnum"):
            rc.grad(f, argnums=bad)(X, X)
    with pytest.raises(ValueError, match="twice"):
        rc.grad(f, argnums=(0, -2))(X, X)
    for bad in ("a", 1.5, None):
        with pytest.raises(TypeError, match="argnums"):
            rc.grad(f, argnums=bad)
    for t in (rc.grad, rc.jacrev, rc.jacfwd):
        with pytest.raises(TypeError, match="has_aux"):
            t(cube, has_aux=True)(X)


def test_arguments_by_name_are_passed_on():
    f = lambda x, *, power=2: (x**power).sum()
    expect(rc.grad(f)(X, power=3), 3 * np.asarray(X) ** 2)
    expect(rc.vmap(f)(X.reshape(3, 1), power=2), np.asarray(X) ** 2)
    expect(rc.jacrev(lambda x, power: x**power)(X, power=2), np.diag(2 * np.asarray(X)))


def test_linearize_is_jvp_many_times():
    runs = []

    def f(x):
        runs.append(1)
        return rc.sin(x)

    value, along = rc.linearize(f, X)
    for _ in range(3):
        expect(along(rc.ones_like(X)), np.cos(X))
    assert len(runs) == 1
    with pytest.raises(ValueError):
        along(rc.ones_like(X), X)
    with pytest.raises(ValueError):
        along(rc.ones(2, dtype=rc.float64))


def test_strict_wants_a_dependence():
    with pytest.raises(rc.TransformError, match="strict=True"):
        rc.jvp(lambda x: rc.ones(2), (X,), (X,), strict=True)


def test_a_function_that_returns_no_tensor_is_refused():
    for f in (lambda x: None, lambda x: 3, lambda x: "a", lambda x: ()):
        for t in (rc.grad(f), rc.jacrev(f), rc.jacfwd(f), rc.trace(f), rc.compile(f)):
            with pytest.raises(TypeError):
                t(X)
        for t in (rc.vjp, rc.linearize):
            with pytest.raises(TypeError):
                t(f, X)
        with pytest.raises(TypeError):
            rc.jvp(f, (X,), (X,))
    with pytest.raises(TypeError):
        rc.vmap(lambda x: None)(X)


def test_a_python_exception_passes_and_leaves_nothing_behind():
    class Mine(Exception):
        pass

    def fail(x):
        raise Mine("inside")

    nests = [
        rc.vmap(fail),
        rc.grad(fail),
        rc.vmap(rc.grad(fail)),
        rc.jacfwd(fail),
        rc.hessian(fail),
        rc.compile(fail),
        rc.trace(fail),
        lambda x: rc.vjp(fail, x),
        lambda x: rc.jvp(fail, (x,), (x,)),
        rc.checkpoint(fail),
        lambda x: rc.linearize(fail, x),
        lambda x: rc.cond(True, fail, fail, x),
        lambda x: rc.map(fail, x),
        lambda x: rc.while_loop(lambda s: True, fail, x),
        lambda x: rc.scan(lambda c, y: fail(c), x, x),
    ]
    for f in nests:
        with pytest.raises(Mine, match="inside") as caught:
            f(X)
        assert caught.traceback[-1].name == "fail"
        assert not rc.inside_transform()
    with pytest.raises(SystemExit):
        rc.vmap(lambda x: exit())(X)
    assert not rc.inside_transform()


def test_an_error_of_ours_keeps_its_traceback_and_can_be_caught_inside():
    def wrong(x):
        return x.reshape(7)

    with pytest.raises(rc.ValueError, match="inside vmap") as caught:
        rc.vmap(rc.grad(wrong))(X)
    assert caught.traceback[-1].name == "wrong"

    def careful(x):
        try:
            return wrong(x)
        except rc.ValueError:
            return x * 2

    expect(rc.vmap(careful)(X), 2 * np.asarray(X))


def test_control_flow_parts_examples():
    f = lambda x: rc.cond(x > 0.8, lambda v: v * 10, lambda v: -v, x)
    expect(rc.vmap(f)(X), [-0.5, 10, 20])
    expect(rc.vmap(rc.grad(f))(X), [-1, 10, 10])
    branches = [lambda v: v, lambda v: v * 2, lambda v: v * 3, lambda v: v * 4, lambda v: v * 5]
    index = rc.tensor([4, 0, 3])
    expect(rc.vmap(lambda i, v: rc.switch_case(i, branches, v))(index, X), [2.5, 1, 8])
    with pytest.raises(IndexError):
        rc.switch_case(5, branches, X)
    double = lambda x: rc.while_loop(
        lambda s: s["x"] < 100, lambda s: {"x": s["x"] * 2, "n": s["n"] + 1}, {"x": x, "n": rc.tensor(0)}
    )
    out = rc.vmap(double)(X)
    expect(out["n"], [8, 7, 6])
    expect(rc.vmap(rc.grad(lambda x: double(x)["x"]))(X), [256, 128, 64])
    expect(rc.fori_loop(1, 6, lambda i, p: p * i, rc.tensor(1.0)), 120)
    expect(rc.vmap(lambda n: rc.fori_loop(0, n, lambda i, p: p + i, rc.tensor(0)))(rc.tensor([2, 3, 5])), [1, 3, 10])
    carry, ys = rc.scan(lambda c, x: (c + x, {"y": c * x}), rc.tensor(0.0, rc.float64), X)
    expect(carry, 3.5)
    expect(ys["y"], [0, 0.5, 3])
    expect(rc.map(lambda x: x * 2, X), 2 * np.asarray(X))
    expect(rc.associative_scan(lambda a, b: a + b, X), np.cumsum(X))
    expect(rc.associative_scan(rc.mul, X, reverse=True), np.cumprod(np.asarray(X)[::-1])[::-1])
    rows = np.arange(6.0).reshape(2, 3)
    last, sums = rc.scan(lambda c, x: (c + x, c + x), rc.zeros(2, dtype=rc.float64), rc.tensor(rows), dim=1)
    expect(last, rows.sum(1))
    expect(sums, np.cumsum(rows, 1).T)
    _, back = rc.scan(lambda c, x: (c + x, c + x), rc.zeros(2, dtype=rc.float64), rc.tensor(rows), dim=-1, reverse=True)
    expect(back, np.cumsum(rows[:, ::-1], 1)[:, ::-1].T)
    with pytest.raises(IndexError):
        rc.scan(lambda c, x: (c, x), X, X, dim=3)
    for mode in ("every_step", "sqrt", "log"):
        loop = lambda x: rc.fori_loop(0, 9, lambda i, s: rc.sin(s), x, checkpoint=mode)
        slope = rc.grad(loop)(rc.tensor(1.0, rc.float64)).item()
        assert math.isclose(
            slope, rc.grad(lambda x: rc.fori_loop(0, 9, lambda i, s: rc.sin(s), x))(rc.tensor(1.0, rc.float64)).item()
        )
    with pytest.raises(ValueError, match="checkpoint"):
        rc.while_loop(lambda s: s < 1, lambda s: s, X, checkpoint="some")
    with pytest.raises(ValueError):
        rc.while_loop(lambda s: True, lambda s: s, rc.tensor(1.0), max_steps=10)
    with pytest.raises(TypeError, match="condition"):
        rc.while_loop(lambda s: "a", lambda s: s, X)
    with pytest.raises(TypeError, match="carry, y"):
        rc.scan(lambda c, x: c, X, X)
    with pytest.raises(ValueError):
        rc.cond(rc.tensor([True, False]), lambda x: x, lambda x: x, X)
    with pytest.raises(ValueError):
        rc.vmap(lambda x: rc.cond(x > 0.8, lambda v: (v, v), lambda v: v, x))(X)


def test_a_tape_records_and_no_grad_stops_it():
    with rc.Tape() as tape:
        x = X.clone()
        tape.watch({"x": x})
        y = cube(x)
        with rc.no_grad():
            z = cube(x)
        expect(tape.gradient(y, {"x": x})["x"], 3 * np.asarray(X) ** 2)
        expect(tape.gradient(z, x), np.zeros(3))
        expect(tape.gradient(x**2, x, cotangents=rc.ones_like(x)), 2 * np.asarray(X))
        with pytest.raises(TypeError):
            tape.gradient(3, x)
    with pytest.raises(rc.TransformError):
        tape.watch(x)

    @rc.no_grad()
    def constant(x):
        return cube(x)

    expect(rc.grad(lambda x: constant(x) + x.sum())(X), np.ones(3))
    expect(rc.grad(lambda x: (x * x.detach()).sum())(X), X.tolist())


def test_custom_functions_have_their_rules():
    class Square(rc.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x, scale):
            return x * x * scale

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0])
            ctx.save_for_forward(inputs[0])
            ctx.scale = inputs[1]

        @staticmethod
        def backward(ctx, ct):
            (x,) = ctx.saved_tensors
            assert ctx.needs_input_grad == (True, False)
            return 3 * x * ctx.scale * ct, None  # three, to be told from the true one

        @staticmethod
        def jvp(ctx, tangent, _):
            (x,) = ctx.saved_tensors
            return 5 * x * ctx.scale * tangent

    f = lambda x: Square.apply(x, 2)
    expect(f(X), 2 * np.asarray(X) ** 2)
    expect(rc.grad(lambda x: f(x).sum())(X), 6 * np.asarray(X))
    expect(rc.vmap(rc.grad(f))(X), 6 * np.asarray(X))
    expect(rc.jvp(f, (X,), (rc.ones_like(X),))[1], 10 * np.asarray(X))
    expect(rc.grad(lambda x: rc.grad(lambda y: f(y).sum())(x).sum())(X), [6, 6, 6])

    class Mapped(rc.Function):
        @staticmethod
        def forward(x):
            return x + 1

        @staticmethod
        def vmap(info, in_dims, x):
            assert info.batch_size == 3 and info.randomness == "error" and in_dims == (0,)
            return x + 10, 0

    expect(rc.vmap(Mapped.apply)(X), np.asarray(X) + 10)

    class Nothing(rc.Function):
        @staticmethod
        def forward(x):
            return x * 2

    with pytest.raises(rc.NotImplementedError, match="Nothing"):
        rc.grad(lambda x: Nothing.apply(x).sum())(X)
    with pytest.raises(TypeError, match="forward"):
        rc.Function.apply(X)

    class Short(Nothing):
        @staticmethod
        def backward(ctx, ct):
            return ct, ct

    with pytest.raises(ValueError, match="2 gradients for 1"):
        rc.grad(lambda x: Short.apply(x).sum())(X)


def test_derivatives_given_as_functions():
    clip = rc.custom_vjp(lambda x: x * 1, lambda x: (x * 1, None), lambda _, ct: rc.clamp(ct, -1, 1))
    expect(rc.grad(lambda x: (clip(x) * 5).sum())(X), [1, 1, 1])
    two = rc.custom_vjp(
        lambda a, b: a * b, lambda a, b: (a * b, {"a": a, "b": b}), lambda r, ct: (r["b"] * ct, r["a"] * ct)
    )
    expect(rc.grad(lambda a, b: two(a, b).sum(), argnums=1)(X, X * 2), X.tolist())
    sine = rc.custom_jvp(lambda x: rc.sin(x), lambda p, t: (rc.sin(p[0]), 7 * t[0]))
    expect(rc.jvp(sine, (X,), (rc.ones_like(X),))[1], [7, 7, 7])
    expect(rc.grad(lambda x: sine(x).sum())(X), [7, 7, 7])
    block = rc.checkpoint(lambda p, x: rc.sin(p["w"] * x))
    expect(rc.grad(lambda p: block(p, X).sum())({"w": X})["w"], np.cos(np.asarray(X) ** 2) * np.asarray(X))
    root = lambda a: rc.custom_root(lambda x: x * x - a, 1.0, newton, lambda g, y: y / g(rc.ones_like(y)))

    def newton(f, x):
        for _ in range(30):
            x = x - f(x) / (2 * x)
        return x

    a = rc.tensor(9.0, rc.float64)
    assert math.isclose(root(a).item(), 3, rel_tol=1e-6)
    assert math.isclose(rc.grad(root)(a).item(), 1 / 6, rel_tol=1e-6)
    m = rc.tensor([[2.0, 1.0], [0.0, 4.0]], rc.float64)
    solve = lambda mv, b: rc.solve(rc.jacfwd(mv)(b), b)
    x = lambda b: rc.custom_linear_solve(lambda v: m @ v, b, solve, solve)
    b = rc.tensor([1.0, 2.0], rc.float64)
    expect(m @ x(b), b.tolist())
    expect(rc.jacrev(x)(b), np.linalg.inv(m))


def test_keys_map_and_split():
    key = rc.Key(0)
    a, b = key.split()
    assert not rc.equal(a.normal(3), b.normal(3)) and rc.equal(a.normal(3), a.normal((3,)))
    keys = key.split(4)
    expect(rc.vmap(lambda k: k.uniform(2))(keys), [rc.Key(d).uniform(2).tolist() for d in keys.data])
    assert rc.equal(key.fold_in(3).data, key.fold_in(rc.tensor(3)).data)
    assert key.randint(low=0, high=5, size=(100,)).amax().item() < 5
    for bad in ("a", 1.5, None):
        with pytest.raises(TypeError):
            rc.Key(bad)


def test_transformed_functions_show_what_they_wrap():
    def named(x):
        """its doc"""
        return x

    for t in (
        rc.vmap(named),
        rc.grad(named),
        rc.jacrev(named),
        rc.compile(named),
        rc.trace(named),
        rc.checkpoint(named),
    ):
        assert t.__wrapped__ is named and t.__name__ == "named"
        with pytest.raises(AttributeError):
            t.nothing


def test_jet_gives_the_derivatives_along_a_curve():
    x, one, zero = rc.tensor(0.5), rc.tensor(1.0), rc.tensor(0.0)
    value, derivatives = rc.jet(rc.sin, (x,), ([one, zero, zero],))
    expect(value, math.sin(0.5))
    for derivative, wanted in zip(derivatives, (math.cos(0.5), -math.sin(0.5), -math.cos(0.5)), strict=True):
        expect(derivative, wanted)

    product = lambda p, z: {"y": p["a"] * z}
    value, derivatives = rc.jet(product, ({"a": x}, one), ([{"a": one}, {"a": zero}], [one, one]))
    expect(value["y"], 0.5)
    expect(derivatives[0]["y"], 1.5)  # x' z + x z'
    expect(derivatives[1]["y"], 2.5)  # 2 x' z' + x z''
    expect(rc.grad(lambda x: rc.jet(rc.sin, (x,), ([one, zero],))[1][1])(x), -math.cos(0.5))


def test_jet_refuses_what_does_not_fit():
    x = rc.tensor([0.5, 1.0])
    for primals, series, words in (
        ((x,), ([rc.ones(3)],), "coefficient 1 of argument 0 is f32"),
        ((x, x), ([x], [x, x]), "argument 0 has 1 coefficients, argument 1 has 2"),
        ((x,), ([x], [x]), "1 primals and 2 lists"),
        (({"a": x},), ([{"b": x}],), "coefficient"),
    ):
        with pytest.raises(ValueError, match=words):
            rc.jet(lambda *a: a[0], primals, series)
    with pytest.raises(TypeError, match="must be a list"):
        rc.jet(rc.sin, (x,), (x,))


def test_detect_anomaly_names_the_operation_whose_derivative_is_nan():
    roots = lambda x: rc.sqrt(x).sum()
    x = rc.tensor([-1.0, 4.0])
    with rc.detect_anomaly():
        with pytest.raises(ValueError, match="sqrt: the gradient of operand 0"):
            rc.grad(roots)(x)
    assert math.isnan(rc.grad(roots)(x).tolist()[0])
    with pytest.raises(rc.TransformError, match="entered"):
        rc.detect_anomaly().__exit__(None, None, None)


def test_scopes_end_in_any_order():
    square = lambda x: (x * x).sum()
    both = [rc.no_grad(), rc.no_grad()]

    def f(x):
        for scope in both:
            scope.__enter__()
        for scope in both:
            scope.__exit__(None, None, None)
        return square(x)

    assert rc.grad(f)(rc.tensor([2.0])).tolist() == [4]

    def with_generators(x):
        def steps():
            with rc.no_grad():
                yield

        a, b = steps(), steps()
        next(a), next(b)
        a.close()
        inner = square(x)
        b.close()
        return square(x) + inner

    assert rc.grad(with_generators)(rc.tensor([2.0])).tolist() == [4]

    def forgotten(x):
        rc.no_grad().__enter__()
        return square(x)

    assert rc.grad(forgotten)(rc.tensor([2.0])).tolist() == [4]
    with pytest.raises(rc.TransformError, match="entered"):
        rc.no_grad().__exit__(None, None, None)


def test_a_nest_is_entered_and_left_in_pairs():
    def f(x):
        inside = rc.Inside(rc.current_nest())
        with inside, inside:
            y = x * x
        with pytest.raises(rc.TransformError, match="entered"):
            inside.__exit__(None, None, None)
        return y * x

    assert rc.grad(f)(rc.tensor(2.0)).item() == 12


def test_once_differentiable_stands_above_backward_too():
    class Square(rc.Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        @rc.once_differentiable
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0]

    assert rc.grad(Square.apply)(rc.tensor(3.0)).item() == 6
    with pytest.raises(rc.Error, match="once_differentiable"):
        rc.grad(rc.grad(Square.apply))(rc.tensor(3.0))
    with pytest.raises(TypeError, match="once_differentiable"):
        rc.once_differentiable(3)


def test_what_is_no_function_is_refused_at_once():
    for name in ("trace", "checkpoint", "vmap", "grad", "jacrev", "compile"):
        with pytest.raises(TypeError, match=f"{name}: a function is needed, not int"):
            getattr(rc, name)(3)
    for name in ("jacrev", "jacfwd", "hessian", "vmap"):
        with pytest.raises(TypeError, match=f"{name}: chunk_size"):
            getattr(rc, name)(cube, chunk_size="a")


@pytest.mark.parametrize("count", [1, 2, 3, 8, 9, 17])
def test_switch_case_takes_any_number_of_branches(count):
    branches = [lambda x, k=k: x + k for k in range(count)]
    choose = lambda i, x: rc.switch_case(i, branches, x)
    indices = rc.arange(count)
    assert rc.vmap(choose)(indices, rc.zeros(count)).tolist() == list(range(count))
    assert [choose(i, rc.zeros(())).item() for i in indices.unbind()] == list(range(count))
    with pytest.raises(rc.IndexError, match="switch_case"):
        choose(rc.tensor(count), rc.zeros(()))


def test_branches_of_switch_case_that_no_example_takes_must_agree():
    branches = (rc.sin, lambda x: rc.cos(x).unsqueeze(0), rc.sin)
    with pytest.raises(rc.ValueError, match="switch_case"):
        rc.vmap(lambda i, x: rc.switch_case(i, branches, x))(rc.tensor([0, 0]), rc.ones(2))


def test_eval_shape_computes_nothing_and_gives_shapes_and_dtypes():
    large = rc.zeros(()).expand(1_000_000, 1_000_000)
    found = rc.eval_shape(lambda x, y: {"product": x @ x, "mask": x[0] > y, "name": "f"}, large, y=rc.ones(()))
    assert found["product"].shape == (1_000_000, 1_000_000) and found["product"].dtype == rc.float32
    assert found["mask"].shape == (1_000_000,) and found["mask"].dtype == rc.bool and found["name"] == "f"
    with pytest.raises(rc.TransformError):
        rc.eval_shape(lambda x: x if x.sum().item() > 0 else -x, rc.ones(2))
    with pytest.raises(rc.TypeError, match="eval_shape"):
        rc.eval_shape(lambda x: 3, rc.ones(2))


def test_dynamic_slices_are_clamped_and_map():
    x = rc.arange(5.0)
    assert rc.dynamic_slice(x, [rc.tensor(9)], (2,)).tolist() == [3, 4]
    assert rc.dynamic_slice(x, [-5], (2,)).tolist() == [0, 1]
    assert rc.dynamic_update_slice(x, rc.ones(2), [1]).tolist() == [0, 1, 1, 3, 4]
    rows = rc.vmap(lambda i: rc.dynamic_slice(x, [i], (2,)))(rc.tensor([0, 2]))
    assert rows.tolist() == [[0, 1], [2, 3]]


def test_keys_of_a_split_are_indexed_and_taken_apart():
    keys = rc.Key(3).split(3)
    a, b, c = keys
    assert len(keys) == 3 and [k.data.tolist() for k in (a, b, c)] == keys.data.tolist()
    assert keys[rc.tensor(1)].data.tolist() == b.data.tolist() and keys[-1].data.tolist() == c.data.tolist()
    with pytest.raises(rc.IndexError):
        keys[3]
    with pytest.raises(rc.ValueError, match="single one"):
        a[0]
    with pytest.raises(rc.TypeError):
        len(a)


def test_progress_draws_nothing_where_there_is_no_terminal(capfd):
    show = rc.progress(3)
    rc.compile(lambda x: rc.fori_loop(0, 3, lambda i, y: (show(i), y + 1)[1], x))(rc.ones(2))
    show(2)
    assert capfd.readouterr().err == ""
    with pytest.raises(rc.ValueError, match="progress"):
        rc.progress(0)
