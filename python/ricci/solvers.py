"""Solvers of nonlinear problems with optimistix's names, as pure functions over trees.

    root = solvers.root_find(lambda x: x * x - a, 1.0)
    root.value, root.status, root.steps, root.residual

The start is a tree. A number in it is an unknown, 1 as 1.0; booleans and Tensors of integers stay as they are.

Derivatives of a value are implicit: by what the function captures, whatever steps were taken. Under vmap each example
takes its own steps.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from ._core import Tensor, _solvers, float64, tensor, zeros

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
    lower, upper: bounds, one number for all unknowns or a tree like `initial`, with None where there is no bound. It
    ends where a step changes each element by at most atol + rtol * |element|, and the cost by at most atol + rtol times
    itself.
    """
    options = (loss, lower, upper, rtol, atol, max_steps, throw_on_failure)
    return Result(*_solvers.least_squares(f, initial, solver or levenberg_marquardt(), *options))


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


@dataclass
class SO3:
    """A rotation of space: a tree. Tensors may have leading axes, which broadcast."""

    quaternion: Tensor  # [..., 4]: w x y z, of length 1

    @staticmethod
    def identity(dtype=float64):
        """No rotation."""
        return SO3(tensor([1.0, 0.0, 0.0, 0.0], dtype=dtype))

    @staticmethod
    def exp(vector):
        """The rotation about the vector [..., 3] by its length."""
        return SO3(_solvers.so3_exp(vector))

    @staticmethod
    def of_matrix(matrix):
        """Of a matrix [..., 3, 3] with orthonormal columns and determinant 1."""
        return SO3(_solvers.so3_of_matrix(matrix))

    def log(self):
        """The vector [..., 3] of length up to pi whose exp this is."""
        return _solvers.so3_log(self.quaternion)

    def matrix(self):
        """[..., 3, 3]."""
        return _solvers.so3_matrix(self.quaternion)

    def adjoint(self):
        """[..., 3, 3]: x * exp(v) = exp(x.adjoint() @ v) * x."""
        return self.matrix()

    def inverse(self):
        """The rotation back."""
        return SO3(_solvers.so3_inverse(self.quaternion))

    def apply(self, points):
        """The points [..., 3], rotated."""
        return _solvers.so3_apply(self.quaternion, points)

    def retract(self, change):
        """self * exp(change), with a quaternion of length 1."""
        return SO3(_solvers.so3_retract(self.quaternion, change))

    def __mul__(self, other):
        """First the right one, then the left one."""
        return SO3(_solvers.so3_product(self.quaternion, other.quaternion))


@dataclass
class SE3:
    """A rigid motion, a rotation and then a translation: a tree. Leading axes broadcast."""

    rotation: SO3
    translation: Tensor  # [..., 3]

    @staticmethod
    def identity(dtype=float64):
        """No motion."""
        return SE3(SO3.identity(dtype), zeros(3, dtype=dtype))

    @staticmethod
    def exp(screw):
        """The motion of a screw [..., 6]: the velocity, then the vector of the rotation, for a time of 1."""
        return SE3._of(_solvers.se3_exp(screw))

    @staticmethod
    def of_matrix(matrix):
        """Of a matrix [..., 4, 4] of a rotation and a translation."""
        return SE3._of(_solvers.se3_of_matrix(matrix))

    def log(self):
        """The screw [..., 6] whose exp this is."""
        return _solvers.se3_log(self._parts())

    def matrix(self):
        """[..., 4, 4]."""
        return _solvers.se3_matrix(self._parts())

    def adjoint(self):
        """[..., 6, 6]: x * exp(s) = exp(x.adjoint() @ s) * x."""
        return _solvers.se3_adjoint(self._parts())

    def inverse(self):
        """The motion back."""
        return SE3._of(_solvers.se3_inverse(self._parts()))

    def apply(self, points):
        """The points [..., 3], moved."""
        return _solvers.se3_apply(self._parts(), points)

    def retract(self, change):
        """self * exp(change), with a quaternion of length 1."""
        return SE3._of(_solvers.se3_retract(self._parts(), change))

    def __mul__(self, other):
        """First the right one, then the left one."""
        return SE3._of(_solvers.se3_product(self._parts(), other._parts()))

    @staticmethod
    def _of(parts):
        return SE3(SO3(parts[0]), parts[1])

    def _parts(self):
        return self.rotation.quaternion, self.translation
