"""W13, W15, W18, loops and lanes for JAX, the rival with loops that transforms enter."""
import numpy

import adbench
from inputs import uniform
from lane_workloads import double


def loops_of_jax(group):
    return lambda r: group(r) if r.family == "jax" else {}


@loops_of_jax
def differential_equations(r):
    np = r.np

    def slope(p, c):
        (x, y, z), (sigma, rho, beta) = p, c
        return sigma * (y - x), x * (rho - z) - y, x * y - beta * z

    def runge_kutta(p, c, dt=0.01):
        along = lambda k, h: tuple(s + h * d for s, d in zip(p, k))
        k1 = slope(p, c)
        k2 = slope(along(k1, dt / 2), c)
        k3 = slope(along(k2, dt / 2), c)
        k4 = slope(along(k3, dt), c)
        return tuple(s + dt / 6 * (a + 2 * b + 2 * c + d) for s, a, b, c, d in zip(p, k1, k2, k3, k4))

    def trajectory(start, c):
        return r.fori_loop(0, 200, lambda _, p: runge_kutta(p, c), start)

    def squared_distance(c, start):
        return r.vmap(lambda p: sum(s * s for s in trajectory(p, c)))(start).sum()

    starts = lambda: tuple(r.array(uniform((16384,), seed, -10.0, 10.0)) for seed in (150, 151, 152))
    parameters = lambda: tuple(r.array(numpy.array(p, numpy.float32)) for p in (10.0, 28.0, 8 / 3))

    end = 10.0
    weights = ((1 / 5,), (3 / 40, 9 / 40), (44 / 45, -56 / 15, 32 / 9),
               (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
               (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
               (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84))
    error_weights = (71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)

    def dormand_prince(mu, s):
        t, y, v, h, slope_y, slope_v, attempts = s
        mix = lambda row, slopes: sum(w * k for w, k in zip(row, slopes) if w)
        last = h >= end - t
        h = np.where(last, end - t, h)
        of_y, of_v = [slope_y], [slope_v]
        for row in weights:
            y1, v1 = y + h * mix(row, of_y), v + h * mix(row, of_v)
            of_y.append(v1)
            of_v.append(mu * (1 - y1 * y1) * v1 - y1)
        scaled = lambda slopes, a, b: h * mix(error_weights, slopes) / (1e-6 + 1e-4 * np.maximum(abs(a), abs(b)))
        error_y, error_v = scaled(of_y, y, y1), scaled(of_v, v, v1)
        error = np.sqrt(0.5 * (error_y * error_y + error_v * error_v))
        factor = np.clip(0.9 * np.maximum(error, 1e-10) ** -0.2, 0.2, 5.0)
        keep = lambda after, before: np.where(error <= 1, after, before)
        return (keep(np.where(last, end, t + h), t), keep(y1, y), keep(v1, v), h * factor, keep(of_y[-1], slope_y),
                keep(of_v[-1], slope_v), attempts + 1)

    def van_der_pol(mu):
        zero = 0 * mu
        start = (zero, zero + 2, zero, zero + 0.001, zero, zero - 2, zero)
        s = r.while_loop(lambda s: s[0] < end, lambda s: dormand_prince(mu, s), start)
        return s[1], s[2], s[6]

    stiffness = lambda: (r.array((0.1 * 1000.0 ** (numpy.arange(4096) / 4095)).astype(numpy.float32)),)
    return {
        "W15/lorenz_fwd": (r.vmap(trajectory, (0, None)), lambda: (starts(), parameters())),
        "W15/lorenz_grad": (r.grad(squared_distance), lambda: (parameters(), starts())),
        "W15/vdp": (r.vmap(van_der_pol), stiffness),
    }


@loops_of_jax
def parting_lanes(r):
    np, lanes = r.np, 4096
    newton_step = lambda x, a: 0.5 * (x + a / x)

    def by_while_loop(a, steps):
        step = lambda s: (newton_step(s[0], a), s[1] + 1)
        return r.while_loop(lambda s: s[1] < steps, step, (a, np.zeros_like(steps)))[0]

    def counts(least, most, place):
        return numpy.rint(least * (most / least) ** (place / (lanes - 1))).astype(numpy.int64)

    in_order = numpy.arange(lanes)
    found = {}
    for each in (1, 64):
        shape = (lanes,) if each == 1 else (lanes, each)
        inputs = lambda steps, shape=shape: (r.array(uniform(shape, 200, 1.0, 100.0)), r.array(steps))
        wide = counts(1, 1000, in_order)
        mean = int(numpy.ceil(wide.mean()))
        named = {f"{mean}_to_{mean}": counts(mean, mean, in_order), "1_to_10": counts(1, 10, in_order), "1_to_1000": wide}
        if each == 1:
            named["1_to_1000_shuffled"] = counts(1, 1000, 1597 * in_order % lanes)
        for name, steps in named.items():
            found[f"lanes/while_loop/of_{each}/{name}"] = (r.vmap(by_while_loop), lambda steps=steps, of=inputs: of(steps))
    return found


@loops_of_jax
def common_loops(r):
    np, f32 = r.np, numpy.float32

    def mean_square_infected(rates):
        def day(p, _):
            s, i, recovered = p
            caught, healed = rates[0] * s * i, rates[1] * i
            return (s - caught, i + caught - healed, recovered + healed), i + caught - healed

        return (r.scan(day, (f32(0.99), f32(0.01), f32(0)), None, 200)[1] ** 2).mean()

    def rates(n):
        return numpy.stack([uniform((n,), 220, 0.2, 0.5), uniform((n,), 221, 0.05, 0.15)], 1)

    def newton(f, start):
        def step(s):
            y, slope = r.jvp(f, (s[0],), (np.ones_like(s[0]),))
            return s[0] - y / slope, y / slope

        return r.while_loop(lambda s: abs(s[1]) > 1e-12, step, (start, np.ones_like(start)))[0]

    def eccentric_anomaly(mean_anomaly, eccentricity):
        equation = lambda x: x - eccentricity * np.sin(x) - mean_anomaly
        return r.custom_root(equation, mean_anomaly, newton, lambda g, y: y / g(np.ones_like(y)))

    kepler = r.value_and_grad(eccentric_anomaly, (0, 1))
    orbits = lambda n: (double((n,), 222, 0.1, 6.2), double((n,), 223, 0.0, 0.9))

    def reaction(y, k):
        a, b, c = k[0] * y[0], k[1] * y[1] * y[1], k[2] * y[1] * y[2]
        return np.stack([c - a, a - b - c, b])

    def sum_of_first(k):
        def step(s, _):
            y, h = s
            residual = lambda z: z - y - h * reaction(z, k)
            z = y
            for _ in range(3):
                z = z - np.linalg.solve(r.jacfwd(residual)(z), residual(z))
            return (z, 1.2 * h), z[0]

        return r.scan(step, (np.array([1.0, 0.0, 0.0]), 1e-4), None, 60)[1].sum()

    dt, gravity, pole, mass, length = 0.02, 9.8, 0.1, 1.1, 0.5

    def cart_pole(x, force, np=np):
        s, c = np.sin(x[2]), np.cos(x[2])
        push = (force + pole * length * x[3] * x[3] * s) / mass
        turn = (gravity * s - c * push) / (length * (4 / 3 - pole / mass * c * c))
        return x + dt * np.stack([x[1], push - pole * length / mass * turn * c, x[3], turn])

    def ilqr_iteration(states, controls):
        cost, control_cost = np.array([1, 0.1, 10, 0.1]), 0.01

        def gain(after, knot):
            (slope, curvature), (x, u) = after, knot
            a, b = r.jacfwd(cart_pole)(x, u), r.jacfwd(cart_pole, 1)(x, u)
            by_state, by_control = cost * x + a.T @ slope, control_cost * u + b @ slope
            of_both, of_control = b @ curvature @ a, control_cost + b @ curvature @ b
            of_state = np.diag(cost) + a.T @ curvature @ a
            shift, feedback = -by_control / of_control, -of_both / of_control
            before = by_state + by_control * feedback, of_state + of_both[:, None] * feedback[None, :]
            return before, (shift, feedback)

        def forward(x, s):
            old, u, shift, feedback = s
            u = u + shift + feedback @ (x - old)
            return cart_pole(x, u), (x, u)

        last = 100 * cost * states[-1], 100 * np.diag(cost)
        gains = r.scan(gain, last, (states[:-1], controls), reverse=True)[1]
        return r.scan(forward, states[0], (states[:-1], controls, *gains))[1]

    def trajectory():
        controls = double((40,), 230)
        states = [numpy.array([0, 0, 0.2, 0])]
        for u in controls:
            states.append(cart_pole(states[-1], u, numpy))
        return numpy.stack(states), controls

    def energy(x):
        apart = x[:, None] - x[None, :]
        sixth = ((apart * apart).sum(2) + np.eye(27, dtype=f32)) ** -3
        return 2 * (sixth * sixth - sixth).sum()

    def verlet(start):
        h, force = f32(0.005), lambda x: -r.grad(energy)(x)

        def step(m, _):
            x, v, f = m
            half = v + h / 2 * f
            x = x + h * half
            f = force(x)
            v = half + h / 2 * f
            return (x, v, f), (v * v).sum()

        last, squares = r.scan(step, (start, np.zeros_like(start), force(start)), None, 200)
        return last[0], squares

    def lattice():
        i = numpy.arange(27)
        return (1.1 * numpy.stack([i // 9, i // 3 % 3, i % 3], 1)).astype(f32) + uniform((27, 3), 240, -0.05, 0.05)

    def leapfrog(precision, x, p):
        h, slope = f32(0.05), r.grad(lambda x: 0.5 * (x * (precision @ x)).sum())

        def step(m, _):
            x, p, s = m
            half = p - h / 2 * s
            x = x + h * half
            s = slope(x)
            return (x, half - h / 2 * s, s), None

        return r.scan(step, (x, p, slope(x)), None, 100)[0][:2]

    def gaussian():
        a = uniform((10, 10), 250)
        return a @ a.T / f32(10) + numpy.eye(10, dtype=f32), uniform((64, 10), 251), uniform((64, 10), 252)

    def mean_square_state(w, inputs):
        def step(h, x):
            h = np.tanh(h @ w + x)
            return h, h

        return (r.scan(step, np.zeros(128, f32), inputs)[1] ** 2).mean()

    def recurrence():
        return uniform((128, 128), 260, -0.15, 0.15), uniform((32, 128), 261)

    cases = {
        "epidemic_4096": (r.vmap(r.grad(mean_square_infected)), lambda: (rates(4096),)),
        "epidemic_one": (r.grad(mean_square_infected), lambda: (rates(1)[0],)),
        "kepler_4096": (r.vmap(kepler), lambda: orbits(4096)),
        "kepler_one": (kepler, lambda: tuple(numpy.array(x[0]) for x in orbits(1))),
        "robertson": (r.grad(sum_of_first), lambda: (numpy.array([0.04, 3e7, 1e4]),)),
        "ilqr": (ilqr_iteration, trajectory),
        "verlet": (verlet, lambda: (lattice(),)),
        "hmc": (r.vmap(leapfrog, (None, 0, 0)), gaussian),
        "rnn": (r.grad(mean_square_state, (0, 1)), recurrence),
    }
    return {f"loops/{name}": (step, lambda make=make: tuple(map(r.array, make()))) for name, (step, make) in cases.items()}


@loops_of_jax
def recurrent_net(r):
    np = r.np

    def loss(weights, state, sequence):
        main, extra = weights
        layers, (c, b) = len(main) // 2, sequence.shape

        def character(before, pair):
            now, following = pair
            x, after = now * extra[0], []
            for k in range(layers):
                w, v, h, cell = main[2 * k].reshape(4, b), main[2 * k + 1].reshape(4, b), before[2 * k], before[2 * k + 1]
                forget, into = r.sigmoid(x * w[0] + v[0]), r.sigmoid(h * w[1] + v[1])
                out, change = r.sigmoid(x * w[2] + v[2]), np.tanh(h * w[3] + v[3])
                cell = cell * forget + into * change
                x = out * np.tanh(cell)
                after += [x, cell]
            y = x * extra[1] + extra[2]
            return after, (following * (y - np.log(2 + np.exp(y).sum()))).sum()

        terms = r.scan(character, [state[k] for k in range(2 * layers)], (sequence[:-1], sequence[1:]))[1]
        return -terms.sum() / ((c - 1) * b)

    def gradient(weights, state, sequence):
        return np.concatenate([g.reshape(-1) for g in r.grad(loss)(weights, state, sequence)])

    def inputs():
        main, extra, state, sequence = map(r.array, adbench.read_lstm(adbench.FOLDER / "lstm/lstm_l2_c1024.txt"))
        return (main, extra), state, sequence

    return {"W13/l2_c1024_F": (loss, inputs), "W13/l2_c1024_J": (gradient, inputs)}


@loops_of_jax
def nested_optimisation(r):
    np = r.np
    norm = lambda x: np.sqrt((x * x).sum())
    by = {"f": r.jacfwd, "r": r.grad}

    def argmin(mode, f, x):
        gradient = by[mode](f)

        def descend(s):
            x, value, slope, rate, in_a_row, _ = s
            after = x - rate * slope
            new, stop = f(after), norm(x - after) <= 1e-5
            return r.cond((new < value) & ~stop, lambda: (after, new, gradient(after), rate, in_a_row + 1, stop),
                          lambda: (x, value, slope, np.where(stop, rate, rate / 2), 0, stop))

        def faster(s):
            x, value, slope, rate, _, done = s
            return x, value, slope, 2 * rate, 0, done

        going = lambda s: (norm(s[2]) > 1e-5) & ~s[5]
        start = (x, f(x), gradient(x), 1e-5, 0, False)
        return r.while_loop(going, lambda s: r.cond(s[4] == 10, faster, descend, s), start)[0]

    def saddle(outer, inner, start):
        f = lambda a, b: (a * a).sum() - (b * b).sum()
        best_b = lambda a: argmin(inner, lambda b: -f(a, b), start)
        a = argmin(outer, lambda a: f(a, best_b(a)), start)
        return np.concatenate([a, best_b(a)])

    def landing(inner, w):
        second, up = np.array([10.0, 0.0]), np.array([0.0, 1.0])
        first = second + (10 - w) * up
        slope = by[inner](lambda x: 1 / norm(x - first) + 1 / norm(x - second))
        x, v = r.while_loop(lambda s: (s[0] + 0.1 * s[1])[1] > 0,
                            lambda s: (s[0] + 0.1 * s[1], s[1] - 0.1 * slope(s[0])),
                            (np.array([0.0, 8.0]), np.array([0.75, 0.0])))
        return (x[0] - x[1] / v[1] * v[0]) ** 2

    found = {}
    for outer, inner in ("ff", "fr", "rf", "rr"):
        found[f"W18/saddle_{outer}{inner}"] = (
            lambda start, outer=outer, inner=inner: saddle(outer, inner, start), lambda: (r.array(numpy.ones(2)),))
        found[f"W18/particle_{outer}{inner}"] = (
            lambda w, outer=outer, inner=inner: argmin(outer, lambda w: landing(inner, w), w),
            lambda: (r.array(numpy.zeros(1)),))
    return found


groups = (recurrent_net, differential_equations, nested_optimisation, parting_lanes, common_loops)
