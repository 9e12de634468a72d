"""Cases of tools/torch_values.py: distributions, and the special functions under them. A case of a distribution is named
`NAME what`, and its inputs are the parameters, then a value. Where PyTorch has no such function the case computes the
definition: an integral, a sum."""
import math

import torch
import torch.distributions as D
from torch_inputs import at, positive, unit, x
from torch_values_of_core import Digamma

special = torch.special


def integral(f, low, high, count=400):
    """By the trapezoidal rule after tanh(pi / 2 sinh t), whose ends may be singular. `high` has the result's shape."""
    t = torch.linspace(-4.0, 4.0, count, dtype=torch.float64)
    u = math.pi / 2 * torch.sinh(t)
    place, weight = torch.sigmoid(2 * u), math.pi / 2 * torch.cosh(t) / (2 * torch.cosh(u) ** 2)
    shape = (count,) + (1,) * torch.as_tensor(high).dim()
    place, weight = place.reshape(shape), weight.reshape(shape)
    step = 8.0 / (count - 1)
    return (f(low + (high - low) * place) * weight).sum(0) * (high - low) * step


def lower_gamma(a, v):
    a, v = torch.broadcast_tensors(a, v)
    return integral(lambda t: ((a - 1) * t.log() - t - torch.lgamma(a)).exp(), torch.zeros(()).double(), v)


def lower_beta(a, b, v):
    a, b, v = torch.broadcast_tensors(a, b, v)
    scale = torch.lgamma(a + b) - torch.lgamma(a) - torch.lgamma(b)
    return integral(lambda t: ((a - 1) * t.log() + (b - 1) * (-t).log1p() + scale).exp(), torch.zeros(()).double(), v)


def special_functions():
    both = lambda: (torch.cat([x(3) * 3, at(-30, 0.001, 20, -9)]),)
    yield "i0", torch.i0, both
    yield "i1", special.i1, both
    yield "i0e", special.i0e, both
    yield "i1e", special.i1e, both
    yield "i0 at 0", torch.i0, lambda: (at(0.0, 1.0),)
    yield "i1 at 0", special.i1, lambda: (at(0.0, 1.0),)
    yield "i1e at 0 kink", special.i1e, lambda: (at(0.0, 1.0),)
    yield "erfcx", special.erfcx, lambda: (torch.cat([x(4), at(-5, 3, 20)]),)
    yield "log_ndtr", special.log_ndtr, lambda: (torch.cat([x(4), at(-5, 3, -40, 9)]),)
    yield "igamma", lower_gamma, lambda: (positive(2, 3) + 0.75, positive(3))
    yield "igamma values", lambda a, v: torch.igamma(a, v), lambda: (at(0.1, 2, 5), at(0.01, 9, 4))
    yield "igamma edge kink", lambda a, v: torch.igamma(a, v).detach(), lambda: (at(1, 2, 0, 3), at(0, math.inf, 1, -1))
    yield "igammac", lambda a, v: 1 - lower_gamma(a, v), lambda: (positive(2, 3) + 0.75, positive(3))
    yield "igammac values", lambda a, v: torch.igammac(a, v), lambda: (at(0.1, 2, 5), at(0.01, 9, 4))
    yield "betainc", lower_beta, lambda: (positive(2, 3) + 0.75, positive(3) + 0.75, unit(2, 1))


def real_line():
    two = lambda: (x(2, 3), positive(3), x(2, 3) * 2)
    chance = lambda: (x(2, 3), positive(3), unit(2, 3))
    none = lambda: (x(2, 1), positive(3))
    for d in (D.Normal, D.Cauchy, D.Laplace, D.Gumbel):
        name = d.__name__
        yield f"{name} log_prob", lambda a, b, v, d=d: d(a, b).log_prob(v), two
        yield f"{name} cdf", lambda a, b, v, d=d: d(a, b).cdf(v), two
        yield f"{name} icdf", lambda a, b, p, d=d: d(a, b).icdf(p), chance
        yield f"{name} entropy", lambda a, b, d=d: d(a, b).entropy(), none
    for d in (D.Normal, D.Laplace, D.Gumbel):
        yield f"{d.__name__} mean variance", lambda a, b, d=d: (d(a, b).mean, d(a, b).variance), none
    yield "Cauchy mean variance kink", lambda a, b: (D.Cauchy(a, b).mean.detach(), D.Cauchy(a, b).variance.detach()), none
    yield "Normal log_cdf", lambda a, b, v: special.log_ndtr((v - a) / b), two
    yield "Normal log_cdf tail", lambda a, b, v: special.log_ndtr((v - a) / b), lambda: (at(0, 0), at(1, 2), at(-30, 60))
    three = lambda: (positive(2, 3) + 0.5, x(3), positive(2, 1), x(2, 3) * 2)
    yield "StudentT log_prob", lambda n, a, b, v: D.StudentT(n, a, b).log_prob(v), three
    yield "StudentT entropy", lambda n, a, b: D.StudentT(n, a, b).entropy(), lambda: three()[:3]
    yield (
        "StudentT mean variance",
        lambda n, a, b: (D.StudentT(n, a, b).mean, D.StudentT(n, a, b).variance),
        lambda: (positive(2, 3) + 2.5, x(3), positive(2, 1)),
    )
    yield (
        "StudentT mean variance kink",
        lambda n: tuple(t.detach() for t in (D.StudentT(n).mean, D.StudentT(n).variance)),
        lambda: (at(0.5, 1, 1.5, 2, 3),),
    )

    def student_cdf(n, a, b, v):
        density = lambda t: D.StudentT(n, a, b).log_prob(t).exp()
        return 0.5 + integral(density, a.expand_as(v), v)

    yield "StudentT cdf", student_cdf, lambda: (positive(2, 3) + 0.5, x(2, 3), positive(2, 3), x(2, 3) * 2)


def half_line():
    two = lambda: (x(2, 3), positive(3), positive(2, 3))
    chance = lambda: (x(2, 3), positive(3), unit(2, 3))
    none = lambda: (x(2, 1), positive(3))
    yield "LogNormal log_prob", lambda a, b, v: D.LogNormal(a, b).log_prob(v), two
    yield "LogNormal cdf", lambda a, b, v: D.LogNormal(a, b).cdf(v), two
    yield "LogNormal icdf", lambda a, b, p: D.LogNormal(a, b).icdf(p), chance
    yield "LogNormal entropy", lambda a, b: D.LogNormal(a, b).entropy(), none
    yield "LogNormal mean variance", lambda a, b: (D.LogNormal(a, b).mean, D.LogNormal(a, b).variance), none
    for d in (D.HalfNormal, D.Exponential):
        name = d.__name__
        yield f"{name} log_prob", lambda a, v, d=d: d(a).log_prob(v), lambda: (positive(3), positive(2, 3))
        yield f"{name} cdf", lambda a, v, d=d: d(a).cdf(v), lambda: (positive(3), positive(2, 3))
        yield f"{name} icdf", lambda a, p, d=d: d(a).icdf(p), lambda: (positive(3), unit(2, 3))
        yield f"{name} entropy", lambda a, d=d: d(a).entropy(), lambda: (positive(3),)
        yield f"{name} mean variance", lambda a, d=d: (d(a).mean, d(a).variance), lambda: (positive(3),)
    pair = lambda: (positive(2, 3) + 0.5, positive(3))
    given = lambda: (positive(2, 3) + 0.5, positive(3), positive(2, 3))
    for d in (D.Gamma, D.Weibull):
        name = d.__name__
        yield f"{name} log_prob", lambda a, b, v, d=d: d(a, b).log_prob(v), given
        yield f"{name} entropy", lambda a, b, d=d: d(a, b).entropy(), pair
        yield f"{name} mean variance", lambda a, b, d=d: (d(a, b).mean, d(a, b).variance), pair
    yield "Gamma cdf", lambda a, b, v: lower_gamma(a, b * v), given
    yield "Weibull cdf", lambda a, b, v: D.Weibull(a, b).cdf(v), given
    yield "Weibull icdf", lambda a, b, p: D.Weibull(a, b).icdf(p), lambda: (positive(2, 3), positive(3), unit(2, 3))


def interval():
    ends = lambda *more: lambda: (x(2, 3) - 2, positive(3) + 4, *(f(2, 3) for f in more))
    uniform = lambda low, width: D.Uniform(low, low + width)
    yield "Uniform log_prob", lambda a, w, v: uniform(a, w).log_prob(v * 0.2), ends(unit)
    yield "Uniform cdf", lambda a, w, v: uniform(a, w).cdf(v * 0.2), ends(unit)
    yield "Uniform icdf", lambda a, w, u: uniform(a, w).icdf(u), ends(unit)
    yield "Uniform entropy", lambda a, w: uniform(a, w).entropy(), ends()
    yield "Uniform mean variance", lambda a, w: (uniform(a, w).mean, uniform(a, w).variance), ends()
    pair = lambda: (positive(2, 3) + 0.5, positive(3) + 0.5)
    given = lambda: (positive(2, 3) + 0.5, positive(3) + 0.5, unit(2, 3))
    yield "Beta log_prob", lambda a, b, v: D.Beta(a, b).log_prob(v), given
    yield "Beta cdf", lower_beta, given
    yield "Beta entropy", lambda a, b: D.Beta(a, b).entropy(), pair
    yield "Beta mean variance", lambda a, b: (D.Beta(a, b).mean, D.Beta(a, b).variance), pair

    def log_angle(a, k, v):  # torch's polynomials for log I0 have seven digits
        return k * (torch.cos(v - a) - 1) - math.log(2 * math.pi) - special.i0e(k).log()

    angle = lambda: (x(2, 3), positive(3) * 2)
    yield "VonMises log_prob", log_angle, lambda: (*angle(), x(2, 3))
    yield (
        "VonMises cdf",
        lambda a, k, v: integral(lambda t: log_angle(a, k, t).exp(), a - math.pi, v),
        lambda: (x(2, 3) * 0.5, positive(3) * 2, x(2, 3)),
    )
    yield (
        "VonMises entropy",
        lambda a, k: -integral(lambda t: log_angle(a, k, t).exp() * log_angle(a, k, t), a - math.pi, a + math.pi),
        lambda: angle(),
    )
    yield (
        "VonMises mean variance",
        lambda a, k: (
            a * torch.ones_like(k),
            1 - integral(lambda t: log_angle(a, k, t).exp() * torch.cos(t - a), a - math.pi, a + math.pi),
        ),
        lambda: angle(),
    )


def counts():
    whole = lambda *numbers: torch.tensor(numbers)
    yield "Bernoulli log_prob", lambda p, v: D.Bernoulli(p).log_prob(v.double()), lambda: (unit(2, 2), whole(0, 1))
    yield "Bernoulli log_prob logits", lambda a, v: D.Bernoulli(logits=a).log_prob(v.double()), lambda: (x(2, 2) * 5, whole(0, 1))
    yield "Bernoulli entropy", lambda p: D.Bernoulli(p).entropy(), lambda: (unit(2, 2),)
    yield "Bernoulli entropy logits", lambda a: D.Bernoulli(logits=a).entropy(), lambda: (x(2, 2),)
    yield "Bernoulli mean variance", lambda p: (D.Bernoulli(p).mean, D.Bernoulli(p).variance), lambda: (unit(3),)
    yield "Bernoulli mean variance logits", lambda a: (D.Bernoulli(logits=a).mean, D.Bernoulli(logits=a).variance), lambda: (x(3),)
    n = at(3, 5, 8)
    yield "Binomial log_prob", lambda p, v: D.Binomial(n, p).log_prob(v.double()), lambda: (unit(2, 3), whole(0, 2, 8))
    yield (
        "Binomial log_prob logits",
        lambda a, v: D.Binomial(n, logits=a).log_prob(v.double()),
        lambda: (x(2, 3) * 3, whole(1, 5, 3)),
    )

    def binomial_cdf(p, v):
        k = torch.arange(9, dtype=torch.float64).reshape(9, 1, 1)
        seen = (k <= v.double()) & (k <= n)
        return torch.where(seen, D.Binomial(n, p).log_prob(torch.minimum(k, n)).exp(), 0.0).sum(0)

    yield "Binomial cdf", binomial_cdf, lambda: (unit(2, 3), whole(1, 4, 3))
    yield "Binomial entropy", lambda p: D.Binomial(at(6), p).entropy(), lambda: (unit(2, 3),)
    yield "Binomial mean variance", lambda p: (D.Binomial(n, p).mean, D.Binomial(n, p).variance), lambda: (unit(2, 3),)
    yield "Poisson log_prob", lambda r, v: D.Poisson(r).log_prob(v.double()), lambda: (positive(2, 3), whole(0, 1, 7))

    def poisson_cdf(r, v):
        k = torch.arange(12, dtype=torch.float64).reshape(12, 1, 1)
        return torch.where(k <= v.double(), D.Poisson(r).log_prob(k).exp(), 0.0).sum(0)

    yield "Poisson cdf", poisson_cdf, lambda: (positive(2, 3), whole(0, 1, 7))
    yield "Poisson mean variance", lambda r: (D.Poisson(r).mean, D.Poisson(r).variance), lambda: (positive(2, 3),)


def several():
    labels = torch.tensor([0, 2])
    yield "Categorical log_prob", lambda p, k: D.Categorical(p).log_prob(k), lambda: (unit(2, 3), labels)
    yield "Categorical log_prob logits", lambda a, k: D.Categorical(logits=a).log_prob(k), lambda: (x(3), labels)
    yield "Categorical entropy", lambda p: D.Categorical(p).entropy(), lambda: (unit(2, 3),)
    yield "Categorical entropy logits", lambda a: D.Categorical(logits=a).entropy(), lambda: (x(2, 3),)
    drawn = torch.tensor([2, 0, 3])
    yield "Multinomial log_prob", lambda p, v: D.Multinomial(5, p).log_prob(v.double()), lambda: (unit(2, 3), drawn)
    yield (
        "Multinomial log_prob logits",
        lambda a, v: D.Multinomial(5, logits=a).log_prob(v.double()),
        lambda: (x(2, 3), drawn),
    )
    yield "Multinomial entropy", lambda p: D.Multinomial(4, p).entropy(), lambda: (unit(3),)
    yield "Multinomial mean variance", lambda p: (D.Multinomial(4, p).mean, D.Multinomial(4, p).variance), lambda: (unit(2, 3),)

    def lower(a):
        return a.tril(-1) + torch.diag_embed(a.diagonal(dim1=-2, dim2=-1).exp())

    def covariance(a):
        return lower(a) @ lower(a).mT

    N = D.MultivariateNormal
    yield (
        "MultivariateNormal log_prob",
        lambda m, a, v: N(m, scale_tril=lower(a)).log_prob(v),
        lambda: (x(3), x(3, 3) * 0.5, x(2, 4, 3)),
    )
    yield (
        "MultivariateNormal log_prob batch",
        lambda m, a, v: N(m, scale_tril=lower(a)).log_prob(v),
        lambda: (x(3), x(2, 3, 3) * 0.5, x(4, 1, 3)),
    )
    yield (
        "MultivariateNormal log_prob covariance",
        lambda m, a, v: N(m, covariance(a)).log_prob(v),
        lambda: (x(2, 3), x(3, 3) * 0.5, x(2, 3)),
    )
    yield (
        "MultivariateNormal log_prob precision",
        lambda m, a, v: N(m, precision_matrix=covariance(a)).log_prob(v),
        lambda: (x(3), x(3, 3) * 0.5, x(3)),
    )
    yield "MultivariateNormal entropy", lambda m, a: N(m, scale_tril=lower(a)).entropy(), lambda: (x(2, 3), x(3, 3) * 0.5)
    yield (
        "MultivariateNormal mean variance",
        lambda m, a: (N(m, scale_tril=lower(a)).mean, N(m, scale_tril=lower(a)).variance),
        lambda: (x(2, 3), x(3, 3) * 0.5),
    )
    yield "Dirichlet log_prob", lambda c, v: D.Dirichlet(c).log_prob(v / v.sum(-1, True)), lambda: (positive(2, 3), unit(3))
    yield "Dirichlet entropy", lambda c: D.Dirichlet(c).entropy(), lambda: (positive(2, 3),)
    yield "Dirichlet mean variance", lambda c: (D.Dirichlet(c).mean, D.Dirichlet(c).variance), lambda: (positive(2, 3),)


def made_of_others():
    def mixture(w, m, s):
        return D.MixtureSameFamily(D.Categorical(logits=w), D.Normal(m, s))

    inputs = lambda: (x(2, 3), x(2, 3), positive(3))
    yield "MixtureSameFamily log_prob", lambda w, m, s, v: mixture(w, m, s).log_prob(v), lambda: (*inputs(), x(4, 2))
    yield "MixtureSameFamily cdf", lambda w, m, s, v: mixture(w, m, s).cdf(v), lambda: (*inputs(), x(4, 2))
    yield "MixtureSameFamily mean variance", lambda w, m, s: (mixture(w, m, s).mean, mixture(w, m, s).variance), inputs

    def vectors(w, m, c):
        return D.MixtureSameFamily(D.Categorical(logits=w), D.MultivariateNormal(m, scale_tril=torch.diag_embed(c)))

    several_vectors = lambda: (x(3), x(3, 2), positive(3, 2))
    yield (
        "MixtureSameFamily log_prob of vectors",
        lambda w, m, c, v: vectors(w, m, c).log_prob(v),
        lambda: (*several_vectors(), x(4, 2)),
    )
    yield (
        "MixtureSameFamily mean variance of vectors",
        lambda w, m, c: (vectors(w, m, c).mean, vectors(w, m, c).variance),
        several_vectors,
    )

    def moved(transforms):
        return lambda m, s, *more: D.TransformedDistribution(D.Normal(m, s), transforms(*more))

    def cases(name, transforms, values, more=lambda: ()):
        f = moved(transforms)
        inputs = lambda: (x(2, 3), positive(3), *more())
        count = len(more())
        yield f"TransformedDistribution log_prob {name}", lambda m, s, *r: f(m, s, *r[:count]).log_prob(r[-1]), lambda: (
            *inputs(),
            values(2, 3),
        )
        yield f"TransformedDistribution cdf {name}", lambda m, s, *r: f(m, s, *r[:count]).cdf(r[-1]), lambda: (
            *inputs(),
            values(2, 3),
        )
        yield f"TransformedDistribution icdf {name}", lambda m, s, *r: f(m, s, *r[:count]).icdf(r[-1]), lambda: (
            *inputs(),
            unit(2, 3),
        )

    T = D.transforms
    yield from cases("affine", lambda a, b: [T.AffineTransform(a, b)], x, lambda: (x(3), positive(2, 3)))
    yield from cases("falling", lambda a, b: [T.AffineTransform(a, -b), T.ExpTransform()], positive, lambda: (x(3), positive(2, 3)))
    yield from cases("exp", lambda: [T.ExpTransform()], positive)
    yield from cases("sigmoid", lambda: [T.SigmoidTransform()], unit)
    yield from cases("tanh", lambda: [T.TanhTransform()], lambda *shape: x(*shape) * 0.45)
    yield from cases("softplus", lambda: [T.SoftplusTransform()], positive)
    yield (
        "TransformedDistribution log_prob power",
        lambda a, b, e, v: D.TransformedDistribution(D.Gamma(a, b), [T.PowerTransform(e)]).log_prob(v),
        lambda: (positive(2, 3), positive(3), positive(3), positive(2, 3)),
    )
    yield (
        "TransformedDistribution log_prob of vectors",
        lambda m, c, a, v: D.TransformedDistribution(
            D.MultivariateNormal(m, scale_tril=torch.diag_embed(c)), [T.AffineTransform(a, 2.0, event_dim=1), T.ExpTransform()]
        ).log_prob(v),
        lambda: (x(2, 3), positive(3), x(3), positive(2, 3)),
    )


def divergences():
    four = lambda: (x(2, 3), positive(3), x(3), positive(2, 3))
    all_positive = lambda: (positive(2, 3), positive(3), positive(3), positive(2, 3))
    for d in (D.Normal, D.LogNormal, D.Laplace, D.Cauchy, D.Gumbel):
        yield f"kl_divergence {d.__name__}", lambda a, b, c, e, d=d: D.kl_divergence(d(a, b), d(c, e)), four
    for d in (D.HalfNormal, D.Exponential, D.Poisson, D.Dirichlet):
        yield f"kl_divergence {d.__name__}", lambda a, c, d=d: D.kl_divergence(d(a), d(c)), lambda: (positive(2, 3), positive(3))
    for d in (D.Gamma, D.Beta):
        yield f"kl_divergence {d.__name__}", lambda a, b, c, e, d=d: D.kl_divergence(d(a, b), d(c, e)), all_positive
    yield (
        "kl_divergence Uniform",
        lambda a, b, c, e: D.kl_divergence(D.Uniform(a, a + b), D.Uniform(c - 8, c + e + 8)),
        lambda: (x(2, 3), positive(3), x(3), positive(2, 3)),
    )
    for d in (D.Bernoulli, D.Categorical):
        yield f"kl_divergence {d.__name__}", lambda a, c, d=d: D.kl_divergence(d(a), d(c)), lambda: (unit(2, 3), unit(2, 3))
        yield (
            f"kl_divergence {d.__name__} logits",
            lambda a, c, d=d: D.kl_divergence(d(logits=a), d(logits=c)),
            lambda: (x(2, 3), x(2, 3)),
        )
    yield (
        "kl_divergence Binomial",
        lambda a, c: D.kl_divergence(D.Binomial(at(4, 5, 6), a), D.Binomial(at(4, 5, 6), c)),
        lambda: (unit(2, 3), unit(3)),
    )

    def lower(a):
        return a.tril(-1) + torch.diag_embed(a.diagonal(dim1=-2, dim2=-1).exp())

    N = D.MultivariateNormal
    yield (
        "kl_divergence MultivariateNormal",
        lambda a, b, c, e: D.kl_divergence(N(a, scale_tril=lower(b)), N(c, scale_tril=lower(e))),
        lambda: (x(2, 3), x(3, 3) * 0.5, x(3), x(2, 3, 3) * 0.5),
    )

    def of_angles(a, k, b, l):
        log_p = lambda t: k * (torch.cos(t - a) - 1) - special.i0e(k).log()
        log_q = lambda t: l * (torch.cos(t - b) - 1) - special.i0e(l).log()
        f = lambda t: log_p(t).exp() / (2 * math.pi) * (log_p(t) - log_q(t))
        return integral(f, a - math.pi, a + math.pi)

    yield "kl_divergence VonMises", of_angles, lambda: (x(2, 3), positive(2, 3), x(3), positive(2, 3))
    yield (
        "kl_divergence Uniform Normal",
        lambda a, b, c, e: D.kl_divergence(D.Uniform(a, a + b), D.Normal(c, e)),
        four,
    )
    for p, q, inputs in (
        (D.Laplace, D.Normal, four),
        (D.Gamma, D.Normal, lambda: (positive(2, 3), positive(3), x(3), positive(2, 3))),
        (D.Beta, D.Normal, lambda: (positive(2, 3), positive(3), x(3), positive(2, 3))),
    ):
        yield (
            f"kl_divergence {p.__name__} {q.__name__}",
            lambda a, b, c, e, p=p, q=q: D.kl_divergence(p(a, b), q(c, e)),
            inputs,
        )
    yield (
        "kl_divergence Exponential Normal",
        lambda r, c, e: D.kl_divergence(D.Exponential(r), D.Normal(c, e)),
        lambda: (positive(2, 3), x(3), positive(2, 3)),
    )
    yield (
        "kl_divergence Exponential Gamma",
        lambda r, c, e: D.kl_divergence(D.Exponential(r), D.Gamma(c, e)),
        lambda: (positive(2, 3), positive(3), positive(2, 3)),
    )
    yield (
        "kl_divergence Gamma Exponential",
        lambda c, e, r: D.kl_divergence(D.Gamma(c, e), D.Exponential(r)),
        lambda: (positive(2, 3), positive(3), positive(2, 3)),
    )


def distributions():
    of_torch = torch.digamma, torch.Tensor.digamma
    torch.digamma = torch.Tensor.digamma = lambda a: Digamma.apply(a)
    for part in (
        special_functions,
        real_line,
        half_line,
        interval,
        counts,
        several,
        made_of_others,
        divergences,
    ):
        yield from part()
    torch.digamma, torch.Tensor.digamma = of_torch
