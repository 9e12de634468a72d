"""Optimisers and schedules with optax's names, defaults and formulas, as pure functions over trees.

    optimiser = optim.chain(optim.clip_by_global_norm(1.0), optim.adamw(1e-3))
    state = optimiser.init(params)
    updates, state = optimiser.update(grads, state, params)
    params = optim.apply_updates(params, updates)

A learning rate is a number, a Tensor, or a function of the number of steps before. A mask is a function that says of a
parameter's name (`rc.leaf_names`) whether it is meant.
"""

from dataclasses import dataclass

from ._core import Tensor, _optim

Optimiser, Schedule = _optim.Optimiser, _optim.Schedule
sgd = _optim.sgd
momentum = _optim.momentum
nesterov = _optim.nesterov
adam = _optim.adam
adamw = _optim.adamw
lamb = _optim.lamb
lion = _optim.lion
rmsprop = _optim.rmsprop
adagrad = _optim.adagrad
clip = _optim.clip
clip_by_global_norm = _optim.clip_by_global_norm
add_decayed_weights = _optim.add_decayed_weights
scale_by_schedule = _optim.scale_by_schedule
scale_by_learning_rate = _optim.scale_by_learning_rate
chain = _optim.chain
masked = _optim.masked
apply_updates = _optim.apply_updates
cosine_decay = _optim.cosine_decay
warmup_cosine = _optim.warmup_cosine
exponential_decay = _optim.exponential_decay
piecewise = _optim.piecewise
linear_schedule = _optim.linear_schedule
join_schedules = _optim.join_schedules


@dataclass
class State:
    """What an optimiser keeps between steps: a tree."""

    count: Tensor
    moments: dict  # from names such as "mu" to trees like the parameters
