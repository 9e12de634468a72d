"""Differential equations with diffrax's names, as pure functions over trees.

    solution = ode.ode_solve(lambda t, y: -y, rc.tensor(1.0), 0, 2, rtol=1e-6)
    solution.y                                                # at time 2
    solution = ode.ode_solve(f, y0, 0, 2, solver="Dopri8", save_at=rc.linspace(0, 2, 21))
    solution.ys                                               # 21 states

Solvers: "Euler", "Heun", "Midpoint", "RK4", "Tsit5", "Dopri5", "Dopri8", "LeapfrogMidpoint"; for stiff equations
"ImplicitEuler", "Kvaerno3", "Kvaerno5". Of sde_solve: "EulerMaruyama", "Heun", "Milstein". A solution is differentiated by
what f captures, mapped, compiled.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from ._core import Tensor, _ode

ode_solve = _ode.ode_solve
backsolve = _ode.backsolve
sde_solve = _ode.sde_solve
brownian_path = _ode.brownian_path
text_of = _ode.text_of


class Status(IntEnum):
    """What a solution's status says: `Status(solution.status.item())`."""

    success = 0
    max_steps_reached = 1
    not_finite = 2
    step_too_small = 3


@dataclass
class Solution:
    """What ode_solve gives: a tree."""

    t: Tensor  # the time that was reached: t1, or earlier where an event or a failure ended it
    y: Any  # the state there
    ts: Tensor  # save_at
    ys: Any  # the states there, with a first axis of as many; NaN for times that were not reached
    event: Tensor  # which event ended it; -1: none
    status: Tensor  # a Status
    steps: Tensor  # accepted steps
    rejected: Tensor  # steps that were tried and not accepted
