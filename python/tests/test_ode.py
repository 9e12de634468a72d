"""Differential equations: every solver, under every transform, from Python."""

import math

import pytest

import ricci as rc
from ricci import ode

ADAPTIVE = ["Heun", "Midpoint", "Tsit5", "Dopri5", "Dopri8", "Kvaerno3", "Kvaerno5"]
SOLVERS = ["Euler", "RK4", "LeapfrogMidpoint", "ImplicitEuler", *ADAPTIVE]


def wave(t, y):
    return y * t.cos()


def one():
    return rc.tensor(1.0, dtype=rc.float64)


@pytest.mark.parametrize("solver", SOLVERS)
def test_constant_steps_reach_the_end(solver):
    found = ode.ode_solve(wave, one(), 0, 2, solver=solver, dt=0.01)
    assert found.steps.item() == 200
    assert abs(found.y.item() - math.exp(math.sin(2))) < (0.03 if "Euler" in solver else 1e-3)


@pytest.mark.parametrize("solver", ADAPTIVE)
def test_is_the_same_compiled_mapped_and_differentiated(solver):
    def solve(rate):
        sizes = {"pcoeff": 0.2, "icoeff": 0.4, "dcoeff": 0.1}
        return ode.ode_solve(lambda t, y: -rate * y, one(), 0.0, 1.0, solver=solver, rtol=1e-7, atol=1e-7, **sizes).y

    rates = rc.tensor([0.5, 2.0], dtype=rc.float64)
    for f in (solve, rc.compile(solve)):
        assert abs(f(rates[0]).item() - math.exp(-0.5)) < 1e-5
        assert abs(rc.grad(f)(rates[0]).item() + math.exp(-0.5)) < 1e-5
    mapped = rc.vmap(solve)(rates).tolist()
    assert mapped == pytest.approx([math.exp(-0.5), math.exp(-2)], abs=1e-5)


def test_states_are_trees_and_are_saved():
    def turns(t, y):
        return {"x": y["v"], "v": -y["x"]}

    start, times = {"x": one(), "v": one() * 0}, rc.tensor([0.0, math.pi / 2, math.pi], dtype=rc.float64)
    found = ode.ode_solve(turns, start, 0, math.pi, rtol=1e-9, atol=1e-9, save_at=times)
    assert found.ys["x"].tolist() == pytest.approx([1, 0, -1], abs=1e-6)
    assert found.y["v"].item() == pytest.approx(0, abs=1e-7)


def test_ends_at_events():
    def falls(t, y):
        return {"height": y["speed"], "speed": rc.full((), -10.0, dtype=rc.float64)}

    def time(height, *events):
        start = {"height": height, "speed": 0 * height}
        found = ode.ode_solve(falls, start, 0, 9, events=events)
        return found.t, found.event

    height = lambda t, y: y["height"]
    at, event = time(5 * one(), (height, "rising"), height)
    assert at.item() == pytest.approx(1, abs=1e-6) and event.item() == 1
    assert rc.grad(lambda h: time(h, height)[0])(5 * one()).item() == pytest.approx(0.1, abs=1e-6)
    with pytest.raises(rc.ValueError, match='the crossing is "up"; it must be one of any, rising, falling'):
        time(one(), (height, "up"))


@pytest.mark.parametrize("solver", ["EulerMaruyama", "Heun", "Milstein"])
def test_noise_goes_along_the_path_of_the_key(solver):
    # y = exp(W): dy = y / 2 dt + y dW of Itô, dy = y dW of Stratonovich.
    part = 0.0 if solver == "Heun" else 0.5

    def end(key):
        return ode.sde_solve(lambda t, y: part * y, lambda t, y: y, one(), 0, 1, key, dt=1 / 64, solver=solver).y

    keys = rc.Key(0).split(4)
    exact = rc.vmap(lambda key: ode.brownian_path(key, 0.0, 1.0, 1.0, (), dtype=rc.float64))(keys).exp()
    for f in (end, rc.compile(end)):
        assert (rc.vmap(f)(keys) / exact).log().abs().max().item() < (0.4 if solver == "EulerMaruyama" else 0.05)


def test_the_adjoint_equation_gives_derivatives_by_params():
    def end(params):
        decays = lambda t, y, p: {"y": -p["rate"] * y["y"]}
        found = ode.backsolve(decays, {"y": 2 * one()}, 0, 1.0, params, rtol=1e-9, atol=1e-9, solver="Dopri5")
        return found.y["y"]

    for f in (end, rc.compile(end)):
        assert rc.grad(f)({"rate": 0.5 * one()})["rate"].item() == pytest.approx(-2 * math.exp(-0.5), abs=1e-7)
    with pytest.raises(TypeError, match="backsolve"):
        ode.backsolve(lambda t, y, p: y, one(), 0, 1, one(), events=[lambda t, y: y])
    with pytest.raises(TypeError, match="ode_solve"):
        ode.ode_solve(lambda t, y: y, one(), 0, 1, params=one())


def test_the_adjoint_equation_takes_no_params():
    found = ode.backsolve(lambda t, y, p: -y if p is None else y, one(), 0, 2, None)
    assert found.y.item() == pytest.approx(math.exp(-2), abs=1e-3)


def test_numbers_of_a_start_are_unknowns():
    assert ode.ode_solve(lambda t, y: -y, 1.0, 0, 2).y.item() == pytest.approx(math.exp(-2), abs=1e-3)
    assert ode.ode_solve(lambda t, y: -y, 1, 0, 2).y.item() == pytest.approx(math.exp(-2), abs=1e-3)
    found = ode.ode_solve(lambda t, y: {"a": -y["a"]}, {"a": 1.0}, 0, 2)
    assert found.y["a"].item() == pytest.approx(math.exp(-2), abs=1e-3)
    back = ode.backsolve(lambda t, y, p: {"a": -p * y["a"]}, {"a": 1.0}, 0, 2, one())
    assert back.y["a"].item() == pytest.approx(math.exp(-2), abs=1e-3)
    still = ode.sde_solve(lambda t, y: -y, lambda t, y: 0 * y, 1.0, 0, 2, rc.Key(0), dt=1e-3)
    assert still.y.item() == pytest.approx(math.exp(-2), abs=1e-2)
    with pytest.raises(rc.TypeError, match="ode_solve: the start .* has no unknowns"):
        ode.ode_solve(lambda t, y: y, rc.tensor(1), 0, 2)


def test_slopes_may_be_integers():
    start = {"height": 100 * one(), "speed": 0 * one()}
    found = ode.ode_solve(lambda t, y: {"height": y["speed"], "speed": rc.tensor(-10)}, start, 0, 1)
    assert found.y["height"].item() == pytest.approx(95)


def test_its_status_says_how_it_ended():
    found = ode.ode_solve(lambda t, y: y * y, one(), 0, 2)
    assert found.status.item() == ode.Status.step_too_small
    assert ode.ode_solve(wave, one(), 0, 2, max_steps=2).status.item() == ode.Status.max_steps_reached
    with pytest.raises(rc.ValueError, match="steps became too small"):
        ode.ode_solve(lambda t, y: y * y, one(), 0, 2, throw_on_failure=True)


def test_errors_name_the_words():
    with pytest.raises(rc.ValueError, match='ode_solve: the solver is "RK45"; it must be one of Euler, Heun'):
        ode.ode_solve(wave, one(), 0, 2, solver="RK45")
    with pytest.raises(rc.ValueError, match='ode_solve: the checkpoint is "all"'):
        ode.ode_solve(wave, one(), 0, 2, checkpoint="all")
    with pytest.raises(rc.ValueError, match="f must give a tree like the state"):
        ode.ode_solve(lambda t, y: [y], one(), 0, 2)


def test_numbers_in_what_f_gives_stand_for_tensors():
    found = ode.ode_solve(lambda t, y: (y[1], -9.81), (rc.tensor(10.0), rc.tensor(0.0)), 0, 1)
    assert found.y[1].item() == pytest.approx(-9.81) and found.y[0].item() == pytest.approx(10 - 9.81 / 2, rel=1e-3)
    assert ode.ode_solve(lambda t, y: 2, 1.0, 0, 1).y.item() == pytest.approx(3)


def test_backsolve_names_itself_where_forward_mode_is_asked_for():
    def end(a):
        return ode.backsolve(lambda t, y, a: -a * y, 1.0, 0, 1, a).y

    with pytest.raises(rc.NotImplementedError, match="backsolve: a derivative by forward mode .* take ode_solve"):
        rc.jvp(end, (rc.tensor(1.0),), (rc.tensor(1.0),))
