#!/usr/bin/env python3
"""Writes what optax's optimisers and schedules give, which tests/optim/values_test.cpp holds ours against.

    python3 tools/optax_values.py > tests/data/values_of_optax.txt               # needs optax

First stand the parameters and the gradients of ten steps, then for each case its updates at each step, first in float32,
then in float64; weight [2,3] before bias [3]. A schedule has its values at the counts 0, 1, … . optax computes operation by
operation (`jax.disable_jit`), so that no compiler contracts or reorders what is compared, and with `jax_enable_x64`: else
its own powers and schedules have the errors of float32, of which 1 - 0.999ⁿ shows 1.3e-5.
"""
import jax
import jax.numpy as jnp
import numpy
import optax

STEPS = 10


def schedules():
    yield "cosine_decay", optax.cosine_decay_schedule(0.3, 8)
    yield "cosine_decay alpha exponent", optax.cosine_decay_schedule(0.3, 8, alpha=0.1, exponent=1.5)
    yield "exponential_decay", optax.exponential_decay(0.3, 4, 0.5)
    yield "exponential_decay staircase", optax.exponential_decay(0.3, 3, 0.5, transition_begin=2, staircase=True)
    yield "exponential_decay end", optax.exponential_decay(0.3, 2, 0.5, end_value=0.05)
    yield "exponential_decay growing", optax.exponential_decay(0.3, 2, 1.5, end_value=0.9)
    yield "warmup_cosine", optax.warmup_cosine_decay_schedule(0.01, 0.4, 3, 11, end_value=0.02)
    yield "warmup_cosine exponent", optax.warmup_cosine_decay_schedule(0, 0.4, 2, 9, exponent=2)
    yield "piecewise", optax.piecewise_constant_schedule(0.3, {3: 0.5, 7: 0.1})
    yield "linear_schedule", optax.linear_schedule(0.3, 0.1, 5, transition_begin=2)
    yield "join_schedules", optax.join_schedules([lambda _: 0.2, optax.cosine_decay_schedule(0.3, 6)], [4])


def optimisers():
    weights = {"weight": True, "bias": False}
    yield "sgd", optax.sgd(0.1)
    yield "momentum", optax.sgd(0.1, momentum=0.9)
    yield "nesterov", optax.sgd(0.1, momentum=0.8, nesterov=True)
    yield "adam", optax.adam(0.1)
    yield "adam options", optax.adam(0.1, b1=0.8, b2=0.95, eps=1e-4, eps_root=1e-6)
    yield "adam nesterov", optax.adam(0.1, nesterov=True)
    yield "adamw", optax.adamw(0.1)
    yield "adamw options", optax.adamw(0.1, weight_decay=0.05, mask=weights, nesterov=True)
    yield "lamb", optax.lamb(0.1)
    yield "lamb options", optax.lamb(0.1, weight_decay=0.05, mask=weights)
    yield "lion", optax.lion(0.1)
    yield "lion options", optax.lion(0.1, b1=0.8, b2=0.9, weight_decay=0.05, mask=weights)
    yield "rmsprop", optax.rmsprop(0.1)
    yield "rmsprop momentum", optax.rmsprop(0.1, decay=0.8, initial_scale=0.5, momentum=0.9, nesterov=True)
    yield "rmsprop outside", optax.rmsprop(0.1, eps_in_sqrt=False, bias_correction=True)
    yield "rmsprop centered", optax.rmsprop(0.1, centered=True)
    yield "adagrad", optax.adagrad(0.1)
    yield "adagrad options", optax.adagrad(0.1, initial_accumulator_value=0.0, eps=1e-3)
    yield "clip", optax.clip(0.5)
    yield "clip_by_global_norm", optax.clip_by_global_norm(2.0)
    yield "add_decayed_weights", optax.add_decayed_weights(0.1)
    yield "scale_by_schedule", optax.scale_by_schedule(optax.cosine_decay_schedule(0.3, 8))
    rate = lambda count: optax.warmup_cosine_decay_schedule(0.01, 0.4, 3, 11)(jnp.int64(count))
    yield "chain", optax.chain(optax.clip_by_global_norm(2.0), optax.adamw(rate, weight_decay=0.01))
    yield "masked", optax.masked(optax.clip_by_global_norm(1.0), weights)


def text(tree):
    numbers = numpy.concatenate([numpy.ravel(tree["weight"]), numpy.ravel(tree["bias"])])
    return " ".join(repr(float(x)) for x in numbers)


def updates_of(optimiser, start, gradients, dtype):
    cast = lambda tree: jax.tree.map(lambda x: x.astype(dtype), tree)
    params = cast(start)
    state = optimiser.init(params)
    for gradient in gradients:
        updates, state = optimiser.update(cast(gradient), state, params)
        params = optax.apply_updates(params, updates)
        yield updates


def main():
    drawn = numpy.random.default_rng(51)
    single = lambda *shape: jnp.asarray(drawn.standard_normal(shape), jnp.float32)
    tree = lambda scale: {"weight": scale * single(2, 3), "bias": scale * single(3)}
    start = tree(1.0)
    gradients = [tree(0.25 + 0.25 * step) for step in range(STEPS)]
    print(f"# optax {optax.__version__}, jax {jax.__version__}; made by tools/optax_values.py")
    print("parameters", text(start))
    for gradient in gradients:
        print("gradient", text(gradient))
    for name, schedule in schedules():
        print("schedule", name)
        print("values", " ".join(repr(float(schedule(jnp.int64(count)))) for count in range(14)))
    for name, optimiser in optimisers():
        print("optimiser", name)
        for dtype in ("float32", "float64"):
            for updates in updates_of(optimiser, start, gradients, dtype):
                print(dtype, text(updates))


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    with jax.disable_jit():
        main()
