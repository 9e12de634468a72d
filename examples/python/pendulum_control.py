"""Model predictive control, as examples/pendulum_control.cpp: a motor too weak to lift a pendulum at once swings it up
and holds it. Each turn improves a plan of torques by iterative LQR. The controller, loops included, is exported as text
in C. Where there is a C compiler, the text is compiled and gives the torque of each turn too. Prints where the pendulum
is, and fails unless that is upright at the end and both torques agree.
"""

import ctypes
import math
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import ricci as rc

HORIZON, IMPROVEMENTS, TURNS = 40, 3, 120
SECONDS, STRONGEST, GRAVITY = 0.05, 4.0, 9.81


def moved(state, u):
    """The state, [angle from upright, speed], one turn later. The motor gives STRONGEST * tanh(u)."""
    speed = state[1] + SECONDS * (GRAVITY * state[0].sin() + STRONGEST * u.tanh())
    return rc.stack([state[0] + SECONDS * speed, speed])


def deviation(state, u):
    """What a turn costs is the square of this: [4]."""
    return rc.stack([2 * (state[0] / 2).sin(), 0.1 * state[1], 0.05 * u, 0.5 * (1 - state[0].cos())])


@dataclass
class Slopes:
    of_state: rc.Tensor  # of the next state: [2, 2]
    of_u: rc.Tensor  # [2]
    error: rc.Tensor  # [4]
    error_of_state: rc.Tensor  # [4, 2]
    error_of_u: rc.Tensor  # [4]


def slopes_at(x, u):
    a, b = rc.jacfwd(moved, argnums=(0, 1))(x, u)
    c, d = rc.jacfwd(deviation, argnums=(0, 1))(x, u)
    return Slopes(a, b, deviation(x, u), c, d)


def improved(start, plan):
    """A better plan: Gauss and Newton's step by Riccati's recursion."""

    def back(value, s):  # the cost from here on: slope · x + x · curvature x / 2
        slope, curvature = value
        later, of_u = curvature @ s.of_state, curvature @ s.of_u
        q_x = s.error @ s.error_of_state + slope @ s.of_state
        q_u = (s.error * s.error_of_u).sum() + (slope * s.of_u).sum()
        q_xx = s.error_of_state.t() @ s.error_of_state + s.of_state.t() @ later
        q_uu = (s.error_of_u * s.error_of_u).sum() + (s.of_u * of_u).sum() + 1e-2
        q_ux = s.error_of_u @ s.error_of_state + s.of_u @ later
        change, gain = -q_u / q_uu, -q_ux / q_uu
        return (q_x + q_u * gain, q_xx + rc.outer(gain, q_ux)), (change, gain)

    def forth(x, at):
        was, u, change, gain = at
        better = (u + (change + (gain * (x - was)).sum()).clamp(-1, 1)).clamp(-3, 3)
        return moved(x, better), better

    states = rc.scan(lambda x, u: (moved(x, u), x), start, plan)[1]
    slopes = rc.vmap(slopes_at)(states, plan)
    none = rc.zeros(2, dtype=rc.float64), rc.zeros((2, 2), dtype=rc.float64)
    change, gain = rc.scan(back, none, slopes, reverse=True)[1]
    return rc.scan(forth, start, (states, plan, change, gain))[1]


def control(state, plan):
    """The torque to give now, and the plan for the next turn."""
    better = rc.fori_loop(0, IMPROVEMENTS, lambda i, p: improved(state, p), plan)
    return better[0], rc.cat([better[1:], better[-1:]])


CALL = """
#include "pendulum_controller.h"
static _Alignas(64) char workspace[PENDULUM_CONTROLLER_WORKSPACE_BYTES + 1];
int call(const double *state, const double *plan, double *u, double *next) {
  return pendulum_controller(state, plan, u, next, workspace);
}
"""


def compiled_in_c(folder):
    """The exported text, compiled and loaded: a function of a state and a plan. None if there is no C compiler."""
    if shutil.which("cc") is None:
        return None
    with open(os.path.join(folder, "call.c"), "w") as file:
        file.write(CALL)
    options = "-O1 -ffp-contract=off -shared -fPIC -o controller.so call.c pendulum_controller.c -lm"
    subprocess.run(["cc", *options.split()], cwd=folder, check=True)
    library = ctypes.CDLL(os.path.join(folder, "controller.so"))

    def torque(state, plan):
        u, following = ctypes.c_double(), (ctypes.c_double * HORIZON)()
        numbers = [(ctypes.c_double * x.numel())(*x.tolist()) for x in (state, plan)]
        if library.call(*numbers, ctypes.byref(u), following) != 0:
            raise RuntimeError("the controller in C fails")
        return u.value

    return torque


def main():
    controller = rc.compile(control)
    state = rc.tensor([math.pi, 0.0], dtype=rc.float64)
    plan = 0.1 * rc.ones(HORIZON, dtype=rc.float64)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pendulum_controller")
        rc.export_object(controller, path, state, plan, target="c")
        print(f"the controller in C: {os.path.getsize(path + '.c')} bytes")
        in_c = compiled_in_c(folder)

    difference = 0.0
    for turn in range(TURNS):
        u, following = controller(state, plan)
        if in_c:
            difference += abs(in_c(state, plan) - u.item())
        plan = following
        state = moved(state, u)
        if turn % 20 == 19:
            print(f"after {(turn + 1) * SECONDS:4.1f} s: {state[0].item():6.3f} from upright, {state[1].item():6.3f} a second")
    if in_c:
        print(f"torques in C: in total the same but for {difference:.0e}")
    else:
        print("torques in C: not computed, there is no C compiler `cc`")
    agrees = difference < 1e-6  # C's sin and tanh round another way, and each turn's loops carry that on
    return 0 if agrees and ((state[0] / 2).sin().abs() + state[1].abs()).item() < 0.05 else 1


if __name__ == "__main__":
    sys.exit(main())
