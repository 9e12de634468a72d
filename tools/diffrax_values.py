#!/usr/bin/env python3
"""Writes what diffrax's solvers give, which tests/ode/values_test.cpp holds ours against.

    python3 tools/diffrax_values.py > tests/data/values_of_diffrax.txt               # needs diffrax

The first step is given: diffrax 0.7.2 takes 0.01 where it is not. That of Dopri8 is long enough for an error above what
rounding makes of it, which the controller would go by. For each case, in float64: how many steps were accepted and rejected, the state at the end and, of solvers whose values
between steps are the same ones, the states at three times in between.
"""
import diffrax
import jax
import jax.numpy as jnp


def lorenz(t, y, args):
    return jnp.stack([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]])


def van_der_pol(t, y, args):
    return jnp.stack([y[1], 2 * (1 - y[0] ** 2) * y[1] - y[0]])


def driven(t, y, args):
    return jnp.stack([y[1], -4 * y[0] + jnp.cos(3 * t)])


PROBLEMS = {
    "lorenz": (lorenz, [1.0, 1.0, 1.0], 0.0, 2.0),
    "van_der_pol": (van_der_pol, [2.0, 0.0], 0.0, 6.0),
    "driven": (driven, [0.0, 1.0], 1.0, 5.0),
    "driven back": (driven, [0.0, 1.0], 5.0, 1.0),
}
SOLVERS = {name: getattr(diffrax, name)() for name in ("Heun", "Midpoint", "Tsit5", "Dopri5", "Dopri8")}
SIZES = {"i": (0, 1, 0), "pi": (0.4, 0.3, 0), "pid": (0.2, 0.4, 0.1)}
BETWEEN = ("Tsit5", "Dopri5", "Dopri8")


def solve(solver, problem, tolerance, sizes):
    f, y0, t0, t1 = PROBLEMS[problem]
    p, i, d = SIZES[sizes]
    first = 0.2 if solver == "Dopri8" else 0.01
    ts = jnp.linspace(t0, t1, 5)[1:4]
    return diffrax.diffeqsolve(
        diffrax.ODETerm(f), SOLVERS[solver], t0, t1, dt0=first if t1 > t0 else -first, y0=jnp.array(y0),
        stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=tolerance, pcoeff=p, icoeff=i, dcoeff=d),
        saveat=diffrax.SaveAt(subs=[diffrax.SubSaveAt(t1=True), diffrax.SubSaveAt(ts=ts)]), max_steps=100_000,
    )


def numbers(values):
    return " ".join(repr(float(x)) for x in jnp.ravel(values))


def main():
    print(f"# diffrax {diffrax.__version__}, jax {jax.__version__}; made by tools/diffrax_values.py")
    for solver in SOLVERS:
        for problem in PROBLEMS:
            for sizes in SIZES:
                tolerance = 1e-4 if solver in ("Heun", "Midpoint") else 1e-8
                found = solve(solver, problem, tolerance, sizes)
                last, between = found.ys
                print("case", solver, sizes, tolerance, problem)
                print("steps", found.stats["num_accepted_steps"], found.stats["num_rejected_steps"])
                print("end", numbers(last))
                if solver in BETWEEN:
                    print("between", numbers(between))


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    main()
