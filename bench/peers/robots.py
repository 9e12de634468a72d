#!/usr/bin/env python3
"""A robot's dynamics by Pinocchio, JAX and CasADi, beside examples/robot_dynamics.cpp: values first, then times.

    bench/peers/robots.py data/robots/arm.urdf --values data/robots/arm_values.json
    bench/peers/robots.py hyq.urdf --values hyq_values.json --rivals casadi

A table in microseconds a state, for one state and for each of 16, 256 and 4,096: JAX by vmap, CasADi by a loop in its
C, which gcc compiles. Pinocchio, called from Python, takes one at a time. VALUES are Pinocchio's, by
tools/pinocchio_values.py; a row whose values differ by more than 1e-9 of the greatest says so and has no times.
"""
import argparse
import json
import sys
import timeit
from types import SimpleNamespace

import numpy

from rivals import BY_NAME, Absent

COUNTS = (1, 16, 256, 4096)
NAMES = ("inverse dynamics", "mass matrix", "forward dynamics", "derivatives")


def links_of(model):
    """parent, placement, axis, inertia of each joint's link, in the joint's frame; bodies that are fixed are added up."""
    links = []
    for i in range(1, model.njoints):
        joint = model.joints[i].createData()
        model.joints[i].calc(joint, numpy.zeros(model.nq))
        motion, place, body = numpy.asarray(joint.S).ravel(), model.jointPlacements[i], model.inertias[i]
        slides = bool(motion[:3].any())
        links.append(SimpleNamespace(
            parent=model.parents[i] - 1, slides=slides, turn=place.rotation, place=place.translation,
            axis=motion[:3] if slides else motion[3:], mass=body.mass, centre=body.lever, inertia=body.inertia))
    return links


def inverse_dynamics(m, links, q, v, a):
    """Newton's and Euler's equations along the tree, out and back. `m` has the words of one library."""
    places, motions, loads = [], [], []
    for i, link in enumerate(links):
        axis, along = m.constant(link.axis), numpy.outer(link.axis, link.axis)
        if link.slides:
            turn, place = m.constant(link.turn), m.constant(link.place) + m.constant(link.turn @ link.axis) * q[i]
        else:  # Rodrigues' formula
            across = numpy.cross(link.axis, numpy.eye(3), axisb=0, axisc=0)
            turn = (m.constant(link.turn @ along) + m.sin(q[i]) * m.constant(link.turn @ across)
                    + m.cos(q[i]) * m.constant(link.turn @ (numpy.eye(3) - along)))
            place = m.constant(link.place)
        if link.parent < 0:
            spin = spin_rate = m.constant(numpy.zeros(3))
            before = m.constant(numpy.array([0, 0, 9.81]))
        else:
            spin, spin_rate, before = motions[link.parent]
        before = turn.T @ (before + m.cross(spin_rate, place) + m.cross(spin, m.cross(spin, place)))
        spin, spin_rate = turn.T @ spin, turn.T @ spin_rate
        rate, gain = axis * v[i], axis * a[i]
        if link.slides:
            before = before + gain + 2 * m.cross(spin, rate)
        else:
            spin_rate = spin_rate + gain + m.cross(spin, rate)
            spin = spin + rate
        centre, inertia = m.constant(link.centre), m.constant(link.inertia)
        force = link.mass * (before + m.cross(spin_rate, centre) + m.cross(spin, m.cross(spin, centre)))
        moment = inertia @ spin_rate + m.cross(spin, inertia @ spin) + m.cross(centre, force)
        places.append((turn, place)), motions.append((spin, spin_rate, before)), loads.append((force, moment))
    torques = [None] * len(links)
    for i in reversed(range(len(links))):
        link, (turn, place), (force, moment) = links[i], places[i], loads[i]
        torques[i] = m.dot(m.constant(link.axis), force if link.slides else moment)
        if link.parent >= 0:
            of_force, of_moment = loads[link.parent]
            force = turn @ force
            loads[link.parent] = of_force + force, of_moment + turn @ moment + m.cross(place, force)
    return m.vector(torques)


# What follows gives `make(name, inputs, count)`: a call without arguments, and what it gives for the last state.

def of_pinocchio(pin, model):
    data = model.createData()
    calls = dict(zip(NAMES, (pin.rnea, pin.crba, pin.aba, pin.computeABADerivatives)))
    symmetric = lambda upper: numpy.triu(upper) + numpy.triu(upper, 1).T

    def make(name, inputs, count):
        call = lambda: calls[name](model, data, *inputs)
        found = [numpy.array(x) for x in (call() if name == NAMES[3] else [call()])]
        if name in (NAMES[1], NAMES[3]):
            found[-1] = symmetric(found[-1])
        return call, found

    return make


def of_jax(r, links):
    import jax.scipy.linalg as linalg

    np, n = r.np, len(links)
    words = SimpleNamespace(constant=np.asarray, sin=np.sin, cos=np.cos, cross=np.cross, dot=np.dot, vector=np.stack)
    inverse = lambda q, v, a: inverse_dynamics(words, links, q, v, a)
    zeros = numpy.zeros(n)
    mass = lambda q: r.jacfwd(lambda a: inverse(q, zeros, a))(zeros)

    def factor_and_acceleration(q, v, torques):
        factor = linalg.cho_factor(mass(q))
        return factor, linalg.cho_solve(factor, torques - inverse(q, v, zeros))

    def implicit(q, v, torques):
        factor, a = factor_and_acceleration(q, v, torques)
        by_q, by_v = r.jacfwd(inverse, (0, 1))(q, v, a)
        return tuple(linalg.cho_solve(factor, b) for b in (-by_q, -by_v, np.eye(n)))

    forward = lambda q, v, torques: factor_and_acceleration(q, v, torques)[1]
    functions = dict(zip(NAMES, (inverse, mass, forward, implicit)))

    def make(name, inputs, count):
        alone = count == 1
        function = r.compile(functions[name] if alone else r.vmap(functions[name]))
        arguments = [r.array(x if alone else numpy.tile(x, (count, 1))) for x in inputs]
        found = r.leaves(function(*arguments))
        return lambda: r.wait(function(*arguments)), found if alone else [x[-1] for x in found]

    return make


def of_casadi(r, links):
    ca, n = r.module, len(links)
    words = SimpleNamespace(constant=lambda x: ca.SX(ca.sparsify(x)), sin=ca.sin, cos=ca.cos, cross=ca.cross, dot=ca.dot,
                            vector=lambda parts: ca.vertcat(*parts))
    q, v, a, torques = (ca.SX.sym(name, n) for name in ("q", "v", "a", "torques"))
    inverse = inverse_dynamics(words, links, q, v, a)
    mass = ca.jacobian(inverse, a)
    factors = ca.ldl(mass)
    solved = lambda b: ca.ldl_solve(b, *factors)
    acceleration = solved(torques - ca.substitute(inverse, a, ca.SX.zeros(n, 1)))
    slopes = ca.Function("slopes", [q, v, a], [ca.jacobian(inverse, q), ca.jacobian(inverse, v)])
    by_q, by_v = slopes(q, v, acceleration)
    implicit = [ca.densify(solved(b)) for b in (-by_q, -by_v, ca.SX.eye(n))]
    functions = dict(zip(NAMES, (
        ca.Function("inverse", [q, v, a], [inverse]), ca.Function("mass", [q], [ca.densify(mass)]),
        ca.Function("forward", [q, v, torques], [acceleration]), ca.Function("implicit", [q, v, torques], implicit))))
    by_rows = lambda x: x.reshape(n, n).T if len(x) == n * n else x

    def make(name, inputs, count):
        function = functions[name] if count == 1 else functions[name].map(count)
        generated, = r.generated(function, [numpy.tile(x, count) for x in inputs], None)
        return generated, [by_rows(x.reshape(count, -1)[-1]) for x in generated()]

    return make


def microseconds(call):
    """The least of a call, after two."""
    call(), call()
    number = max(1, int(1e-3 / max(timeit.timeit(call, number=1), 1e-7)))
    return 1e6 * min(timeit.repeat(call, number=number, repeat=50)) / number


def differs(found, expected):
    return max(abs(f - e).max() / abs(e).max() for f, e in zip(found, expected)) > 1e-9


def rows(rival, make, state, expected):
    """Makes and times each function for each count, and prints its row."""
    for name in NAMES:
        cells = []
        for count in COUNTS if rival != "pinocchio" else COUNTS[:1]:
            call, found = make(name, state[:1] if name == "mass matrix" else state, count)
            if differs(found, expected[name]):
                cells.append("DIFFERS from Pinocchio's values")
                break
            cells.append(f"{microseconds(call) / count:.3f}")
        print(f"| {rival} | {name} | {' | '.join(cells + ['-'] * (len(COUNTS) - len(cells)))} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("urdf")
    parser.add_argument("--values", required=True)
    parser.add_argument("--rivals", default="pinocchio,jax,casadi")
    arguments = parser.parse_args()
    try:
        import pinocchio as pin
    except ImportError:
        print("[SKIP] needs pin")
        sys.exit(0)
    model = pin.buildModelFromUrdf(arguments.urdf)
    with open(arguments.values) as file:
        values = {name: numpy.array(x) for name, x in json.load(file).items()}
    state = [values[name] for name in ("q", "v", "torques")]
    expected = {name: [values[name.replace(" ", "_")]] for name in NAMES[:3]}
    expected[NAMES[3]] = [values[name] for name in ("by_q", "by_v", "by_torques")]
    makers = {"pinocchio": lambda: of_pinocchio(pin, model), "jax": lambda: of_jax(BY_NAME["jax"](), links_of(model)),
              "casadi": lambda: of_casadi(BY_NAME["casadi"](), links_of(model))}
    print("| rival | function | one, us | each of 16 | each of 256 | each of 4,096 |\n|---|---|---|---|---|---|")
    for rival in arguments.rivals.split(","):
        try:
            make = makers[rival]()
        except (ImportError, Absent) as absent:
            print(f"[SKIP] {rival} needs {absent}")
            continue
        rows(rival, make, state, expected)


if __name__ == "__main__":
    main()
