"""Eight schools, as examples/eight_schools.cpp: how much coaching raised test scores in each of eight schools, by 64 chains
of the no-U-turn sampler, mapped and compiled. Prints the posterior and fails unless chains agree and the moments are those
of the reference draws of posteriordb.
"""

import sys
import time
from dataclasses import dataclass

import ricci as rc
from ricci import sample

ESTIMATES = rc.tensor([28.0, 8, -3, 7, -1, 1, 18, 12], dtype=rc.float64)
ERRORS = rc.tensor([15.0, 10, 16, 11, 9, 11, 10, 18], dtype=rc.float64)
CHAINS = 64


@dataclass
class Schools:
    """Effects are mean + spread z: so their prior does not depend on the spread, and chains move freely."""

    mean: rc.Tensor  # []
    log_spread: rc.Tensor  # []
    z: rc.Tensor  # [8]


def effects(s):
    return s.mean + rc.exp(s.log_spread) * s.z


def log_density(s):
    """Priors: mean ~ N(0, 5), spread ~ half-Cauchy(5), z ~ N(0, 1). The last term is the derivative of exp."""
    spread = rc.exp(s.log_spread)
    prior = -0.5 * (s.mean / 5).square() - rc.log1p((spread / 5).square()) - 0.5 * s.z.square().sum()
    return prior - 0.5 * ((ESTIMATES - effects(s)) / ERRORS).square().sum() + s.log_spread


def main(is_quick):
    steps = 300 if is_quick else 1000
    start = Schools(*(rc.zeros(shape, dtype=rc.float64) for shape in ((), (), (8,))))

    def chain(key):
        by = sample.nuts(target_acceptance=0.9)
        return sample.sample(log_density, start, key, by, warmup=steps, draws=steps)

    chains = rc.compile(rc.vmap(chain))
    chains(rc.Key(0).split(CHAINS))  # builds the plan
    before = time.perf_counter()
    found = chains(rc.Key(1).split(CHAINS))
    took = time.perf_counter() - before

    effect = rc.vmap(rc.vmap(effects))(found.draws)
    for i in range(8):
        print(f"school {i + 1}: {effect[..., i].mean().item():5.1f} +- {effect[..., i].std().item():4.1f}")
    mean, spread = found.draws.mean.mean().item(), rc.exp(found.draws.log_spread).mean().item()
    worst = sample.rhat(found.draws).z.max().item()
    divergent = 100 * found.info.is_divergent.to(rc.float64).mean().item()
    independent = sample.ess(found.draws).mean.item()
    print(
        f"mean {mean:.2f}, spread {spread:.2f}, R-hat {worst:.3f}, divergent {divergent:.2f} %, "
        f"{independent:.0f} independent draws in {took:.2f} s"
    )
    is_right = abs(mean - 4.41) < 0.15 and abs(spread - 3.60) < 0.15 and worst < 1.02
    if not is_right:
        print("FAILED: the reference has mean 4.41 and spread 3.60")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main("--quick" in sys.argv))
