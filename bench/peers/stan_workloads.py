"""density for Stan: the regression of ../log_density.cpp as a Stan program, its C++ by stanc, and Stan's own gradient. The
package httpstan brings stanc and the headers; BridgeStan makes the same call of the same C++."""
import json

import numpy

import density_workloads

PROGRAM = """
data { int n; int groups; int d; matrix[n, d] x; array[n] int group; array[n] int y; }
parameters { real mean; real<lower=0> spread; vector[groups] base; vector[d] slope; }
model {
  mean ~ normal(0, 5);
  spread ~ normal(0, 1);
  base ~ normal(mean, spread);
  slope ~ normal(0, 1);
  y ~ bernoulli_logit(base[group] + x * slope);
}
"""


def log_densities(r):
    def make(size):
        start, (x, group, y) = density_workloads.inputs(*size)
        data = dict(zip(("n", "groups", "d"), size)) | {"x": x.tolist(), "group": (group + 1).tolist(),
                                                        "y": y.astype(int).tolist()}
        n, groups, d = size
        return r.model(PROGRAM, json.dumps(data)), numpy.concatenate([numpy.ravel(part) for part in start]), [1, 1, groups, d]

    def value_and_gradient(model, start, sizes):
        value, slope = model(start)
        return value, numpy.split(slope, numpy.cumsum(sizes)[:-1])

    return {f"density/{name}": (value_and_gradient, lambda size=size: make(size))
            for name, size in density_workloads.SIZES.items()}


groups = (log_densities,)
