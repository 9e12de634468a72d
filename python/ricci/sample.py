"""Samples of distributions that are known by their log density, with blackjax's names: pure functions over trees.

    def chain(key):
        return sample.sample(log_density, start, key, sample.nuts(), warmup=500, draws=1000)

    chains = rc.compile(lambda keys: rc.map(chain, keys))(rc.Key(0).split(4))
    sample.rhat(chains.draws), sample.ess(chains.draws)

A log density is a function from a tree to a number, up to a constant. A number in the start is a Tensor, 1 as 1.0;
booleans and Tensors of integers stay as they are. One call is one chain; of more than 16, `rc.vmap(chain)` is faster than
`rc.map`.
"""

from dataclasses import dataclass
from typing import Any

from . import optim
from ._core import Tensor, _sample, _unknowns_of, leaves, map_leaves, ravel_pytree, vmap

Sampler = _sample.Sampler
nuts = _sample.nuts
hmc = _sample.hmc
mala = _sample.mala
random_walk = _sample.random_walk


@dataclass
class State:
    """Where a chain is: a tree."""

    position: Any
    log_density: Tensor
    gradient: Any  # of the log density; 0 for random walks


@dataclass
class Info:
    """What a step did."""

    acceptance: Tensor  # the probability of acceptance, of nuts the mean along the trajectory
    is_divergent: Tensor  # whether the energy error was above 1,000
    steps: Tensor  # int64: evaluations of the log density


@dataclass
class Chain:
    """The draws of a chain: a tree."""

    draws: Any  # [draws, …] of each leaf
    log_density: Tensor  # [draws]
    info: Info  # of each draw
    step_size: Tensor
    inverse_mass: Tensor  # [n], or as it was given


def _of_vector(f, tree):
    vector, unravel = ravel_pytree(tree)
    return (lambda v: f(unravel(v))), vector, unravel


def _trees_of_rows(rows, unravel, like):
    """The tree of each row, stacked; without Tensors the tree itself."""
    return vmap(unravel)(rows) if leaves(like) else like


def init(sampler, log_density, position):
    """The state at a position."""
    f, vector, unravel = _of_vector(log_density, _unknowns_of("init", position))
    at, value, gradient = _sample.init(sampler, f, vector)
    return State(unravel(at), value, unravel(gradient))


def step(sampler, log_density, key, state):
    """One step of a chain: the next state and its Info."""
    f, vector, unravel = _of_vector(log_density, state.position)
    gradient = ravel_pytree(state.gradient)[0]
    (at, value, slope), info = _sample.step(sampler, f, key, vector, state.log_density, gradient)
    return State(unravel(at), value, unravel(slope)), Info(*info)


def sample(log_density, initial, key, sampler=None, *, warmup=1000, draws=1000):
    """One chain; by nuts() unless told. The warm-up chooses the masses, unless the sampler has some, and the step size.

    chain = sample.sample(lambda x: -0.5 * (x * x).sum(), rc.zeros(3), rc.Key(0))
    """
    initial = _unknowns_of("sample", initial)
    f, vector, unravel = _of_vector(log_density, initial)
    rows, values, info, *found = _sample.sample(f, vector, key, sampler or nuts(), warmup, draws)
    return Chain(_trees_of_rows(rows, unravel, initial), values, Info(*info), *found)


@dataclass
class MeanField:
    """A normal distribution for each element: a tree."""

    mean: Any
    log_std: Any
    elbo: Tensor  # [steps]: estimates of the evidence's lower bound


def meanfield_vi(log_density, initial, key, optimiser=None, *, steps=1000, samples=10):
    """The normals that maximise the evidence's lower bound, by optim.adam(0.05) unless told."""
    f, vector, unravel = _of_vector(log_density, _unknowns_of("meanfield_vi", initial))
    mean, log_std, elbo = _sample.meanfield_vi(f, vector, key, optimiser or optim.adam(0.05), steps, samples)
    return MeanField(unravel(mean), unravel(log_std), elbo)


def draws_of(q, key, n):
    """n draws of a MeanField: [n, …] of each leaf."""
    mean, unravel = ravel_pytree(q.mean)
    rows = _sample.draws_of_vectors(mean, ravel_pytree(q.log_std)[0], key, n)
    return _trees_of_rows(rows, unravel, q.mean)


def rhat(draws):
    """Gelman and Rubin's potential scale reduction of each element, from draws [chains, draws, …] cut into halves."""
    return map_leaves(_sample.rhat, draws)


def ess(draws):
    """The effective sample size of each element, from draws [chains, draws, …]."""
    return map_leaves(_sample.ess, draws)
