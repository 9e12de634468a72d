"""Probability distributions with PyTorch's names: dataclasses of their parameters, so trees, with methods.

    noise = distributions.Normal(0.0, scale)
    x = noise.sample(rc.Key(0), (100,))                # the same for the same key, with derivatives by the parameters
    loss = -noise.log_prob(x).mean()

Parameters are Tensors or numbers and broadcast; a number becomes a Tensor. All have `sample(key, sample_shape=())` and
`log_prob(value)`. `cdf`, `icdf`, `entropy`, `mean` and `variance` exist where there is a closed form or PyTorch has them.
Docs page 15 tells more.
"""

from dataclasses import dataclass, fields
from typing import Any

from . import _core
from ._core import Tensor, _distributions

kl_divergence = _distributions.kl_divergence


class _Members:
    """A class whose methods are those of the C++ struct of its name."""

    _plain = ()  # fields that are no Tensors

    def __init_subclass__(cls):
        if _Members in cls.__bases__:  # a class that is derived from such a class inherits them
            for name, member in getattr(_distributions, cls.__name__).items():
                setattr(cls, name, member)

    def __post_init__(self):
        for field in fields(self):
            if field.name not in self._plain:
                value = _distributions.parameter(getattr(self, field.name), field.name, type(self).__name__)
                setattr(self, field.name, value)


# ── on the real line ──


@dataclass
class Normal(_Members):
    """Density exp(-z² / 2) / (√(2 pi) scale) with z = (x - loc) / scale; scale > 0."""

    loc: Tensor
    scale: Tensor


@dataclass
class StudentT(_Members):
    """Student's distribution of (x - loc) / scale with df degrees of freedom; df > 0, scale > 0."""

    df: Tensor
    loc: Tensor = 0
    scale: Tensor = 1


@dataclass
class Cauchy(_Members):
    """Density 1 / (pi scale (1 + z²)) with z = (x - loc) / scale; scale > 0. The mean is NaN, the variance infinite."""

    loc: Tensor
    scale: Tensor


@dataclass
class Laplace(_Members):
    """Density exp(-|x - loc| / scale) / (2 scale); scale > 0."""

    loc: Tensor
    scale: Tensor


@dataclass
class Gumbel(_Members):
    """Distribution function exp(-exp(-z)) with z = (x - loc) / scale; scale > 0."""

    loc: Tensor
    scale: Tensor


# ── on numbers that are not negative ──


@dataclass
class LogNormal(_Members):
    """The logarithm is normal with loc and scale; scale > 0."""

    loc: Tensor
    scale: Tensor


@dataclass
class HalfNormal(_Members):
    """|x| of a normal x around 0; scale > 0."""

    scale: Tensor


@dataclass
class Exponential(_Members):
    """Density rate exp(-rate x); rate > 0."""

    rate: Tensor


@dataclass
class Gamma(_Members):
    """Density x^(concentration - 1) exp(-rate x) rate^concentration / Γ(concentration); both are positive."""

    concentration: Tensor
    rate: Tensor


@dataclass
class Weibull(_Members):
    """Distribution function 1 - exp(-(x / scale)^concentration); both are positive."""

    scale: Tensor
    concentration: Tensor


# ── on an interval ──


@dataclass
class Uniform(_Members):
    """Density 1 / (high - low) on [low, high); low < high."""

    low: Tensor
    high: Tensor


@dataclass
class Beta(_Members):
    """Density in proportion to x^(concentration1 - 1) (1 - x)^(concentration0 - 1) on [0, 1]; both are positive."""

    concentration1: Tensor
    concentration0: Tensor


@dataclass
class VonMises(_Members):
    """An angle, with density exp(concentration cos(x - loc)) / (2 pi I₀(concentration)); concentration > 0."""

    loc: Tensor
    concentration: Tensor


# ── of counts and classes ──


@dataclass
class Bernoulli(_Members):
    """1 with a probability, else 0. Give probs in [0, 1], or logits = log(probs / (1 - probs))."""

    probs: Tensor | None = None
    logits: Tensor | None = None


@dataclass
class Binomial(_Members):
    """Successes among total_count trials. Give probs or logits."""

    total_count: Tensor
    probs: Tensor | None = None
    logits: Tensor | None = None


@dataclass
class Poisson(_Members):
    """Events at rate, which is not negative."""

    rate: Tensor


@dataclass
class Categorical(_Members):
    """A class 0, …, n - 1, int64. Give probs [..., n] or logits [..., n]."""

    probs: Tensor | None = None
    logits: Tensor | None = None


@dataclass
class Multinomial(_Members):
    """How often each class comes in total_count draws, an int. Give probs [..., n] or logits [..., n]."""

    _plain = ("total_count",)
    total_count: int = 1
    probs: Tensor | None = None
    logits: Tensor | None = None


# ── of vectors ──


@dataclass
class MultivariateNormal(_Members):
    """loc [..., n], and one of three matrices [..., n, n]; scale_tril costs least."""

    loc: Tensor
    covariance_matrix: Tensor | None = None
    precision_matrix: Tensor | None = None
    scale_tril: Tensor | None = None


@dataclass
class Dirichlet(_Members):
    """Probabilities along the last axis, with density in proportion to ∏ x^(concentration - 1)."""

    concentration: Tensor


# ── transforms ──


@dataclass
class AffineTransform(_Members):
    """loc + scale x; scale is not 0, and may be negative."""

    loc: Tensor
    scale: Tensor


@dataclass
class ExpTransform(_Members):
    """exp(x)"""


@dataclass
class PowerTransform(_Members):
    """x^exponent of positive numbers; exponent is not 0."""

    exponent: Tensor


@dataclass
class SigmoidTransform(_Members):
    """1 / (1 + exp(-x))"""


@dataclass
class TanhTransform(_Members):
    """tanh(x)"""


@dataclass
class SoftplusTransform(_Members):
    """log(1 + exp(x))"""


# ── made of others ──


class _MadeOfOthers:
    """Its members are those for numbers, or for vectors: for the axes of its part's events."""

    def __init_subclass__(cls):
        if _MadeOfOthers in cls.__bases__:
            cls._by_event_dims = getattr(_distributions, cls.__name__)

    def __getattr__(self, name):
        is_own = name.startswith("_") or name == "event_dims" or name in self.__dataclass_fields__
        members = {} if is_own else self._by_event_dims[self.event_dims]
        if name not in members:
            raise AttributeError(f"{type(self).__name__} has no member {name}")
        return members[name].__get__(self)

    def __dir__(self):
        return [*super().__dir__(), *self._by_event_dims[self.event_dims]]

    @property
    def event_dims(self):
        part = getattr(self, self._part)
        dims = getattr(part, "event_dims", None)
        if dims not in (0, 1):
            raise _core.TypeError(
                f"{type(self).__name__}: {self._part} must be a distribution, with event_dims 0 or 1, "
                f"not {type(part).__name__}"
            )
        return dims


@dataclass
class MixtureSameFamily(_MadeOfOthers):
    """A class k of a Categorical is drawn, then a number of the k-th component; components are stacked along the last
    batch axis. Samples are constant in the parameters."""

    _part = "component_distribution"
    mixture_distribution: Categorical
    component_distribution: Any


@dataclass
class TransformedDistribution(_MadeOfOthers):
    """What a transform, or several, applied one after the other, make of numbers of base_dist. A transform of your own
    is a dataclass with the methods of AffineTransform."""

    _part = "base_dist"
    base_dist: Any
    transforms: Any

    @property
    def _all(self):
        some = tuple(self.transforms) if isinstance(self.transforms, (tuple, list)) else (self.transforms,)
        return some or (AffineTransform(0, 1),)  # which changes nothing

    @property
    def _last(self):
        return self._all[-1]

    @property
    def _below(self):
        rest = self._all[:-1]
        return TransformedDistribution(self.base_dist, rest) if rest else self.base_dist
