"""Optimisers: optax's values, under every transform, from Python."""

from dataclasses import dataclass

import numpy as np
import pytest

import ricci as rc
from ricci import optim

PARAMS = {"weight": rc.tensor([[1.0, 2.0], [3.0, 4.0]]), "bias": rc.tensor([0.5, -1.0])}


def loss(p):
    return (p["weight"] @ p["bias"]).square().sum() + p["bias"].square().sum()


def stepped(optimiser, params, state):
    updates, state = optimiser.update(rc.grad(loss)(params), state, params)
    return optim.apply_updates(params, updates), state


def trained(optimiser, steps=5):
    params, state = PARAMS, optimiser.init(PARAMS)
    for _ in range(steps):
        params, state = stepped(optimiser, params, state)
    return params


def is_weight(name):
    return "weight" in name


def optimisers():
    weights = {"weight_decay": 0.05, "mask": is_weight}
    rate = optim.warmup_cosine(0.01, 0.4, 3, 11)
    return {
        "sgd": optim.sgd(0.1),
        "momentum": optim.momentum(0.1),
        "nesterov": optim.sgd(0.1, momentum=0.8, nesterov=True),
        "adam": optim.adam(0.1),
        "adam options": optim.adam(0.1, b1=0.8, b2=0.95, eps=1e-4, eps_root=1e-6),
        "adamw": optim.adamw(0.1),
        "adamw options": optim.adamw(0.1, nesterov=True, **weights),
        "lamb options": optim.lamb(0.1, **weights),
        "lion options": optim.lion(0.1, 0.8, 0.9, **weights),
        "rmsprop momentum": optim.rmsprop(0.1, decay=0.8, initial_scale=0.5, momentum=0.9, nesterov=True),
        "rmsprop centered": optim.rmsprop(0.1, centered=True),
        "adagrad options": optim.adagrad(0.1, initial_accumulator_value=0.0, eps=1e-3),
        "clip": optim.clip(0.5),
        "add_decayed_weights": optim.add_decayed_weights(0.1),
        "scale_by_schedule": optim.scale_by_schedule(lambda count: optim.cosine_decay(0.3, 8)(count)),
        "chain": optim.chain(optim.clip_by_global_norm(2.0), optim.adamw(rate, weight_decay=0.01)),
        "masked": optim.masked(optim.clip_by_global_norm(1.0), is_weight),
    }


def read_table(source):
    start, gradients, updates, name = None, [], {}, ""
    for line in (source / "tests/data/values_of_optax.txt").read_text().splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "optimiser":
            name = rest
        elif kind == "parameters":
            start = np.array(rest.split(), np.float32)
        elif kind == "gradient":
            gradients.append(np.array(rest.split(), np.float32))
        elif kind == "float32":
            updates.setdefault(name, []).append(np.array(rest.split(), np.float64))
    return start, gradients, updates


def test_updates_are_those_of_optax(source):
    def tree(numbers):
        return {"weight": rc.tensor(numbers[:6].reshape(2, 3)), "bias": rc.tensor(numbers[6:])}

    start, gradients, expected = read_table(source)
    for name, optimiser in optimisers().items():
        params = tree(start)
        state = optimiser.init(params)
        for gradient, wanted in zip(gradients, expected[name], strict=True):
            updates, state = optimiser.update(tree(gradient), state, params)
            params = optim.apply_updates(params, updates)
            found = np.concatenate([np.ravel(updates["weight"].numpy()), updates["bias"].numpy()])
            np.testing.assert_allclose(found, wanted, rtol=2.5e-7, atol=2.5e-7, err_msg=name)


def test_schedules_are_functions_of_the_count():
    assert optim.piecewise(1.0, {2: 0.5, 4: 0.5})(4).item() == 0.25
    assert optim.exponential_decay(1.0, 2, 0.5, staircase=True)(3).item() == 0.5
    joined = optim.join_schedules([optim.linear_schedule(0.0, 1.0, 4), lambda count: 7.0], [2])
    assert [joined(count).item() for count in (1, 2)] == [0.25, 7.0]


def test_a_step_compiles_and_maps():
    for name, optimiser in optimisers().items():
        step = rc.compile(lambda params, state, optimiser=optimiser: stepped(optimiser, params, state))
        params, state = PARAMS, optimiser.init(PARAMS)
        for _ in range(3):
            params, state = step(params, state)
        np.testing.assert_allclose(params["weight"], trained(optimiser, 3)["weight"], rtol=1e-5, err_msg=name)
        assert state.count.item() == 3

    alone = trained(optim.adam(0.1))["bias"]
    mapped = rc.vmap(lambda rate: trained(optim.adam(rate))["bias"])(rc.tensor([0.01, 0.1]))
    np.testing.assert_allclose(mapped[1], alone, rtol=1e-6)


def test_a_rate_has_a_gradient():
    def after(rate):
        return loss(trained(optim.adam(rate, eps_root=1e-8)))

    rate, h = rc.tensor(0.02), 1e-3
    slope = (after(rate + h).item() - after(rate - h).item()) / (2 * h)
    assert rc.grad(after)(rate).item() == pytest.approx(slope, rel=1e-2)


@dataclass
class Model:
    weight: rc.Tensor
    steps: rc.Tensor
    name: str = "model"


def test_states_are_trees_of_names(tmp_path):
    model = Model(rc.ones(2), rc.tensor(3))
    adam = optim.adam(0.1)
    updates, state = adam.update(model, adam.init(model), model)
    assert rc.leaf_names(state)[:2] == ["count", 'moments["mu"].weight']
    rc.save_safetensors(str(tmp_path / "state.safetensors"), rc.named_leaves(state))
    loaded = rc.load_leaves(adam.init(model), rc.load_safetensors(str(tmp_path / "state.safetensors")))
    assert isinstance(loaded, optim.State) and loaded.moments["mu"].weight.tolist() == state.moments["mu"].weight.tolist()
    after = optim.apply_updates(model, updates)
    assert after.steps.item() == 3 and after.name == "model"


def test_errors_say_what_was_given():
    adam = optim.adam(0.1)
    with pytest.raises(rc.TypeError, match="adam: a rate is a number, a Tensor or a function of the count, not str"):
        optim.adam("fast")
    with pytest.raises(rc.TypeError, match="update: a state is what init or update gave, not dict"):
        adam.update(PARAMS, {}, PARAMS)
    with pytest.raises(rc.ValueError, match='the first is {"bias": f32.2., "weight": f32.2,2.}, number 2 is f32'):
        adam.update(rc.ones(2), adam.init(PARAMS), PARAMS)
    with pytest.raises(rc.TypeError, match="sgd: a schedule must return a Tensor or a number, not str"):
        sgd = optim.sgd(lambda count: "fast")
        sgd.update(PARAMS, sgd.init(PARAMS), PARAMS)
