"""density for JAX: the hierarchical logistic regression of ../log_density.cpp, and the numbers of both sides."""
import numpy

from inputs import uniform
from loop_workloads import loops_of_jax

SIZES = {"regression_40": (40, 4, 2), "regression_4000": (4000, 50, 16)}


def inputs(n, groups, d):
    """The parameters mean, log_spread, base, slope; and x, group, y."""
    double = lambda shape, seed, low=-1.0: uniform(shape, seed, low, 1.0).astype(numpy.float64)
    start = [double((), 700), double((), 701), double((groups,), 702), double((d,), 703)]
    return start, [double((n, d), 704), numpy.arange(n) % groups, (double((n,), 705, 0.0) < 0.3).astype(numpy.float64)]


@loops_of_jax
def log_densities(r):
    np = r.np

    def normal(x, mean, spread):
        return (-0.5 * ((x - mean) / spread) ** 2 - np.log(spread) - 0.5 * np.log(2 * np.pi)).sum()

    def log_density(parameters, x, group, y):
        mean, log_spread, base, slope = parameters
        spread, odds = np.exp(log_spread), base[group] + x @ slope
        return (normal(mean, 0.0, 5.0) + normal(spread, 0.0, 1.0) + normal(base, mean, spread) + normal(slope, 0.0, 1.0)
                + (y * odds - r.softplus(odds)).sum() + log_spread)

    def make(size):
        start, seen = inputs(*size)
        return (list(map(r.array, start)), *map(r.array, seen))

    return {f"density/{name}": (r.value_and_grad(log_density), lambda size=size: make(size))
            for name, size in SIZES.items()}
