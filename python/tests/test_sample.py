"""Samplers: moments that are known, under every transform, from Python."""

from dataclasses import dataclass

import numpy as np
import pytest

import ricci as rc
from conftest import expect
from ricci import optim, sample

SCALES = rc.tensor([0.1, 1.0, 10.0], dtype=rc.float64)
SAMPLERS = {"nuts": sample.nuts(), "hmc": sample.hmc(), "mala": sample.mala(), "random_walk": sample.random_walk()}


def log_density(x):
    return -0.5 * (x / SCALES - 1).square().sum()


@pytest.mark.parametrize("name", SAMPLERS)
def test_chains_have_the_moments_of_the_distribution(name):
    def chain(key):
        start = rc.zeros(3, dtype=rc.float64)
        return sample.sample(log_density, start, key, SAMPLERS[name], warmup=400, draws=1000)

    keys = rc.Key(0).split(12)
    chains = rc.compile(rc.vmap(chain))(keys)
    independent = sample.ess(chains.draws).numpy().min()
    off = (chains.draws / SCALES).mean((0, 1)).numpy() - 1
    assert np.abs(off).max() < 4 / np.sqrt(independent)
    assert sample.rhat(chains.draws).numpy().max() < 1.2
    assert not chains.info.is_divergent.any().item()
    expect(chains.log_density[3, -1], log_density(chains.draws[3, -1]).numpy(), 1e-9)


def test_trees_and_steps_by_hand():
    @dataclass
    class Model:
        rate: rc.Tensor
        offsets: list

    def density(m):
        return -0.5 * m.rate.square() - 0.5 * m.offsets[0].square().sum()

    start = Model(rc.tensor(0.5), [rc.zeros(2, 3)])
    chain = sample.sample(density, start, rc.Key(0), warmup=10, draws=7)
    assert chain.draws.rate.shape == (7,) and chain.draws.offsets[0].shape == (7, 2, 3)
    by, key = sample.hmc(0.3, steps=4), rc.Key(5)
    state = sample.init(by, density, start)
    for i in range(3):
        state, info = sample.step(by, density, key.split()[1].fold_in(i), state)
    again = sample.sample(density, start, key, by, warmup=0, draws=3)
    expect(state.position.offsets[0], again.draws.offsets[0][2].numpy(), 1e-6)
    assert info.steps.item() == 4 and sample.rhat({"a": rc.ones(2, 9, 4)})["a"].shape == (4,)


def test_independent_normals_are_found_by_mean_field():
    def run(key):
        start = {"x": rc.zeros(3, dtype=rc.float64)}
        by = optim.adam(optim.cosine_decay(0.1, 1500))
        return sample.meanfield_vi(lambda t: log_density(t["x"]), start, key, by, steps=1500)

    q = rc.compile(run)(rc.Key(0))
    assert np.abs((q.mean["x"] / SCALES).numpy() - 1).max() < 0.1
    assert np.abs((q.log_std["x"] - rc.log(SCALES)).numpy()).max() < 0.1
    assert sample.draws_of(q, rc.Key(1), 5)["x"].shape == (5, 3)


def test_numbers_in_a_start_are_sampled_and_trees_without_unknowns_refused():
    start = {"x": 1, "y": rc.zeros(2)}
    chain = sample.sample(lambda t: -0.5 * (t["x"] ** 2 + t["y"].square().sum()), start, rc.Key(0), warmup=5, draws=4)
    assert chain.draws["x"].shape == (4,) and len(set(chain.draws["x"].tolist())) > 1
    q = sample.meanfield_vi(lambda x: -0.5 * x * x, 3.0, rc.Key(0), steps=2)
    assert sample.draws_of(q, rc.Key(1), 5).shape == (5,)
    none = sample.meanfield_vi(lambda x: rc.zeros(()), [], rc.Key(0), steps=2)
    assert sample.draws_of(none, rc.Key(1), 5) == []

    def density(x):
        return -x.to(rc.float32).square().sum()

    integers, by = rc.tensor([1, 2]), sample.nuts()
    for run in (
        lambda: sample.sample(density, integers, rc.Key(0)),
        lambda: sample.meanfield_vi(density, integers, rc.Key(0)),
        lambda: sample.init(by, density, integers),
    ):
        with pytest.raises(rc.TypeError, match="no unknowns"):
            run()


def test_diagnostics_of_constants_and_integers():
    assert np.isnan(sample.rhat(rc.full((2, 1000, 1), 0.1)).item()) and np.isnan(sample.ess(rc.full((2, 9), 3)).item())
    counts = rc.arange(100).square().remainder(13).view(2, 50).to(rc.float32)
    assert sample.ess(counts.to(rc.int64)).item() == sample.ess(counts).item()


def test_errors_say_what_to_do():
    with pytest.raises(rc.ValueError, match="the log density of the start is nan"):
        sample.sample(lambda x: rc.log(x).sum(), rc.tensor([-1.0]), rc.Key(0))
    with pytest.raises(rc.ValueError, match="max_depth is 0"):
        sample.nuts(max_depth=0)
    with pytest.raises(rc.ValueError, match="hmc: step_size is -0.1; it must be positive"):
        sample.hmc(-0.1)
