"""ricci.distributions: the members of the C++ structs, whose values tests/distributions holds against SciPy's."""

import math
import pickle
import re
from dataclasses import dataclass

import pytest

import ricci as rc
from ricci import distributions as rd

ALL = [
    rd.Normal(0.5, 2.0),
    rd.StudentT(5.0),
    rd.Cauchy(0.5, 2.0),
    rd.Laplace(0.5, 2.0),
    rd.Gumbel(0.5, 2.0),
    rd.LogNormal(0.5, 0.3),
    rd.HalfNormal(2.0),
    rd.Exponential(2.0),
    rd.Gamma(2.0, 3.0),
    rd.Weibull(2.0, 3.0),
    rd.Uniform(-1.0, 2.0),
    rd.Beta(2.0, 3.0),
    rd.VonMises(0.5, 2.0),
    rd.Bernoulli(0.3),
    rd.Binomial(5, 0.3),
    rd.Poisson(2.0),
    rd.Categorical(logits=rc.tensor([0.0, 1.0, 2.0])),
    rd.Multinomial(4, logits=rc.tensor([0.0, 1.0, 2.0])),
    rd.MultivariateNormal(rc.zeros(2), scale_tril=rc.tensor([[1.0, 0.0], [0.5, 2.0]])),
    rd.Dirichlet(rc.tensor([1.0, 2.0, 3.0])),
    rd.MixtureSameFamily(rd.Categorical(rc.tensor([1.0, 3.0])), rd.Normal(rc.tensor([-2.0, 2.0]), 1.0)),
    rd.TransformedDistribution(rd.Normal(0.0, 1.0), [rd.AffineTransform(1.0, -0.5), rd.ExpTransform()]),
]
NAMES = [type(d).__name__ for d in ALL]


def equal(x, y):
    return rc.allclose(x, y, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("d", ALL, ids=NAMES)
def test_a_distribution_is_a_tree_with_samples_and_densities(d):
    x = d.sample(rc.Key(3), (200,))
    assert x.shape == (200, *d.sample(rc.Key(3)).shape) and rc.equal(x, d.sample(rc.Key(3), (200,)))
    assert d.log_prob(x).shape == (200,) and rc.isfinite(d.log_prob(x)).all()
    stacked = rc.map_leaves(lambda leaf: rc.stack([leaf, leaf]), d)
    both = rc.vmap(lambda one, x: one.log_prob(x))(stacked, rc.stack([x, x]))
    assert equal(both[1], d.log_prob(x))
    assert equal(rc.compile(lambda one, x: one.log_prob(x))(d, x), d.log_prob(x))
    slope = rc.grad(lambda one: one.log_prob(x).sum())(d)
    assert type(slope) is type(d) and rc.isfinite(rc.ravel_pytree(slope)[0]).all()
    assert equal(pickle.loads(pickle.dumps(d)).log_prob(x), d.log_prob(x))


@pytest.mark.parametrize("d", [d for d in ALL if hasattr(d, "icdf")], ids=lambda d: type(d).__name__)
def test_quantiles_are_the_inverse_of_the_distribution_function(d):
    p = rc.tensor([0.1, 0.5, 0.9])
    assert equal(d.cdf(d.icdf(p)), p)


def test_members_are_those_of_the_headers(source):
    """A class of C++ and the dataclass of its name have the same members."""
    text = "\n".join(p.read_text() for p in sorted((source / "include/ricci/distributions").glob("*.h")))
    seen = 0
    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", text, re.MULTILINE | re.DOTALL):
        public = body.partition(" private:")[0]
        members = set(re.findall(r"^  Tensor (\w+)\(", public, re.MULTILINE))
        if "operator()" in public:
            members = members - {"operator"} | {"__call__"}
        given = getattr(rd._distributions, name)
        given = given[0] if isinstance(given, tuple) else given
        assert members == set(given) - {"event_dims"}, name
        assert hasattr(rd, name)
        seen += 1
    assert seen == 28


def test_numbers_are_parameters_with_derivatives():
    slope = rc.grad(lambda d: d.log_prob(1.0))(rd.Normal(0.0, 2.0))
    assert math.isclose(slope.loc.item(), 0.25) and math.isclose(slope.scale.item(), -0.375)
    assert rd.Normal(0, rc.tensor(1.0, dtype=rc.float64)).log_prob(0.5).dtype is rc.float64


def test_divergences():
    assert rd.kl_divergence(rd.Normal(0.0, 1.0), rd.Normal(1.0, 1.0)).item() == 0.5
    with pytest.raises(rc.NotImplementedError, match="no closed form for ricci.distributions.Weibull and ricci.dist"):
        rd.kl_divergence(rd.Weibull(1.0, 1.0), rd.Normal(0.0, 1.0))


def test_divergences_are_of_our_classes_and_what_is_derived_from_them():
    class Mine(rd.Normal):
        pass

    class Normal:
        loc, scale = 0.0, 1.0

    assert rd.kl_divergence(Mine(0.0, 1.0), rd.Normal(1.0, 1.0)).item() == 0.5
    with pytest.raises(rc.NotImplementedError, match="no closed form for test_distributions.Normal and ricci.dist"):
        rd.kl_divergence(Normal(), rd.Normal(0.0, 1.0))
    with pytest.raises(rc.NotImplementedError, match="no closed form for int and int"):
        rd.kl_divergence(3, 4)


def test_a_derived_class_has_the_members_of_its_base():
    class Mine(rd.Normal):
        def entropy(self):
            return 7

    @dataclass
    class Shifted(rd.Normal):
        by: rc.Tensor = 0

        def log_prob(self, value):
            return super().log_prob(value - self.by)

    @dataclass
    class Gamma(rd.MixtureSameFamily):  # the name of another class
        pass

    class Price(rd.TransformedDistribution):
        pass

    mine, shifted = Mine(0.0, 1.0), Shifted(0.0, 1.0, 2.0)
    assert equal(mine.log_prob(0.5), rd.Normal(0.0, 1.0).log_prob(0.5)) and mine.entropy() == 7
    assert equal(shifted.log_prob(2.5), mine.log_prob(0.5)) and isinstance(shifted.by, rc.Tensor)
    assert rc.grad(lambda d: d.log_prob(2.5))(shifted).by.item() == 0.5
    mixture = Gamma(rd.Categorical(rc.tensor([1.0, 3.0])), rd.Normal(rc.tensor([-2.0, 2.0]), 1.0))
    assert equal(mixture.mean(), rc.tensor(1.0)) and "cdf" in dir(mixture)
    price = Price(mine, [rd.AffineTransform(1.0, 0.5), rd.ExpTransform()])
    assert equal(price.log_prob(2.0), rd.LogNormal(1.0, 0.5).log_prob(2.0))
    with pytest.raises(AttributeError, match="Price has no member entropy"):
        price.entropy()


@pytest.mark.parametrize("none", [(), []])
def test_without_transforms_a_transformed_distribution_is_its_base(none):
    same, normal = rd.TransformedDistribution(rd.Normal(1.0, 2.0), none), rd.Normal(1.0, 2.0)
    assert equal(same.log_prob(0.5), normal.log_prob(0.5)) and equal(same.icdf(0.3), normal.icdf(0.3))
    assert equal(same.sample(rc.Key(1), (5,)), normal.sample(rc.Key(1), (5,)))


def test_made_of_others_have_the_members_of_their_parts():
    mixture = rd.MixtureSameFamily(rd.Categorical(rc.tensor([1.0, 3.0])), rd.Normal(rc.tensor([-2.0, 2.0]), 1.0))
    assert equal(mixture.mean(), rc.tensor(1.0)) and equal(mixture.cdf(0.0), rc.tensor(0.261375))
    price = rd.TransformedDistribution(rd.Normal(0.0, 1.0), [rd.AffineTransform(1.0, 0.5), rd.ExpTransform()])
    assert equal(price.log_prob(2.0), rd.LogNormal(1.0, 0.5).log_prob(2.0))
    assert equal(price.icdf(0.3), rd.LogNormal(1.0, 0.5).icdf(0.3)) and "cdf" in dir(price)
    assert not hasattr(price, "entropy")
    vectors = rd.MixtureSameFamily(
        rd.Categorical(rc.tensor([1.0, 3.0])), rd.MultivariateNormal(rc.zeros(2, 3), scale_tril=rc.eye(3))
    )
    assert vectors.event_dims == 1 and vectors.sample(rc.Key(0), (7,)).shape == (7, 3)


def test_bad_parameters_are_named():
    for make, words in (
        (lambda: rd.Normal(0.0, "x"), "Normal: scale must be a Tensor or a number, not str"),
        (lambda: rd.Normal(None, 1.0).log_prob(0.0), "Normal: loc is missing"),
        (lambda: rd.Normal(0.0, rc.tensor([1.0, -1.0])).log_prob(0.0), r"scale is -1 at \[1\]; it must be positive"),
        (lambda: rd.Multinomial(2.5, logits=rc.zeros(2)).mean(), "total_count must be an int, not float"),
        (lambda: rd.Normal(0.0, 1.0).sample(rc.Key(0), "a"), "sample_shape must be an int or a tuple"),
        (lambda: rd.MixtureSameFamily(rd.Categorical(rc.ones(2)), 3).log_prob(0.5),
         "MixtureSameFamily: component_distribution must be a distribution, with event_dims 0 or 1, not int"),
        (lambda: rd.TransformedDistribution(None, rd.ExpTransform()).mean(),
         "TransformedDistribution: base_dist must be a distribution, with event_dims 0 or 1, not NoneType"),
    ):
        with pytest.raises(rc.Error, match=words):
            make()
