"""Solvers of nonlinear problems with optimistix's names, as pure functions over trees.

    root = solvers.root_find(lambda x: x * x - a, 1.0)
    root.value, root.status, root.steps, root.residual

Derivatives of a value are implicit: by what the function captures, whatever steps were taken. Under vmap each example
takes its own steps.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from ._core import Tensor, _solvers, ravel_pytree

RootFinder = _solvers.RootFinder
newton = _solvers.newton
chord = _solvers.chord
broyden = _solvers.broyden
bisection = _solvers.bisection
LeastSquaresSolver, Loss = _solvers.LeastSquaresSolver, _solvers.Loss
gauss_newton = _solvers.gauss_newton
levenberg_marquardt = _solvers.levenberg_marquardt
dogleg = _solvers.dogleg
huber = _solvers.huber
soft_l1 = _solvers.soft_l1
cauchy = _solvers.cauchy
arctan = _solvers.arctan
FixedPointSolver = _solvers.FixedPointSolver
fixed_point_iteration = _solvers.fixed_point_iteration
anderson = _solvers.anderson
Minimiser = _solvers.Minimiser
bfgs = _solvers.bfgs
lbfgs = _solvers.lbfgs
nonlinear_cg = _solvers.nonlinear_cg
trust_region = _solvers.trust_region
nelder_mead = _solvers.nelder_mead
text_of = _solvers.text_of


class Status(IntEnum):
    """What a result's status says: `Status(result.status.item())`."""

    converged = 0
    max_steps_reached = 1
    not_finite = 2
    singular = 3
    stalled = 4
    no_bracket = 5


@dataclass
class Result:
    """A solution: a tree."""

    value: Any
    residual: Tensor  # what should be 0, its greatest absolute value
    steps: Tensor  # int64
    status: Tensor  # int64: Status.converged, or why it ended


def root_find(f, initial, solver=None, *, rtol=None, atol=None, max_steps=256, throw_on_failure=False):
    """An x with f(x) = 0, from `initial` on; by newton() unless told. f: from a tree to one of as many elements.

    The solver ends where a step changes each element by at most atol + rtol * |element|, and |f(x)| is at most
    atol + rtol times that of the start. rtol and atol: the square root of the dtype's epsilon unless given.
    """
    return Result(*_solvers.root_find(f, initial, solver or newton(), rtol, atol, max_steps, throw_on_failure))


def _bound(given):
    """A number or a Tensor as it is; another tree as a vector."""
    return given if given is None or isinstance(given, (int, float, Tensor)) else ravel_pytree(given)[0]


def least_squares(
    f,
    initial,
    solver=None,
    *,
    loss=None,
    lower=None,
    upper=None,
    rtol=None,
    atol=None,
    max_steps=256,
    throw_on_failure=False,
):
    """An x that minimises the loss of f(x), near `initial`; by levenberg_marquardt() unless told.

    f: from a tree to any tree, whose elements are the residuals. loss: their squares, or huber(scale) and the like.
    lower, upper: bounds, one number for all unknowns or a tree like `initial`. It ends where a step changes each
    element by at most atol + rtol * |element|, and the cost by at most atol + rtol times itself.
    """
    solver, lower, upper = solver or levenberg_marquardt(), _bound(lower), _bound(upper)
    options = (loss, lower, upper, rtol, atol, max_steps, throw_on_failure)
    return Result(*_solvers.least_squares(f, initial, solver, *options))


def minimise(f, initial, solver=None, *, rtol=None, atol=None, max_steps=256, throw_on_failure=False):
    """An x with the least f(x), near `initial`; by bfgs() unless told. f: from a tree to a Tensor of one element.

    It ends where a step changes each element by at most atol + rtol * |element|, and f by at most atol + rtol * |f|.
    """
    return Result(*_solvers.minimise(f, initial, solver or bfgs(), rtol, atol, max_steps, throw_on_failure))


def fixed_point(f, initial, solver=None, *, rtol=None, atol=None, max_steps=256, throw_on_failure=False):
    """An x with f(x) = x, from `initial` on; by fixed_point_iteration() unless told. f: from a tree to one like it.

    It ends where f changes each element by at most atol + rtol * |element|.
    """
    solver = solver or fixed_point_iteration()
    return Result(*_solvers.fixed_point(f, initial, solver, rtol, atol, max_steps, throw_on_failure))
