"""W3, W12, W15, W16 and W19 for Dr.Jit: arrays with a lane for each example, loops that are recorded, one kernel a step.
W16's gamma is absent: Dr.Jit differentiates once. Knows nothing of the other rivals."""
import numpy

import adbench
from inputs import uniform


def fusion_chain(r):
    dr = r.module

    def chain(x):
        s = dr.sin(x)
        return dr.tanh(1.3 * x + 0.2) * dr.exp(-x * x) + s * s

    def value_and_gradient(x):
        x = r.variable(x)
        value = dr.sum(chain(x))
        dr.backward(value)
        return dr.detach(value), dr.grad(x)

    found = {}
    for n in (4096, 65536, 16777216):
        x = lambda n=n: (r.float32(uniform((n,), 3, -2.0, 2.0)),)
        found |= {f"W3/fwd_{n}": (chain, x), f"W3/value_grad_{n}": (value_and_gradient, x)}
    return found


def bundle_adjustment(r):
    dr = r.module

    def residual(x, feature):
        turn, centre = x[:3], [p - c for p, c in zip(x[11:14], x[3:6])]
        dot = lambda a, b: sum(p * q for p, q in zip(a, b))
        angle = dr.sqrt(dot(turn, turn))
        axis, c, s = [t / angle for t in turn], dr.cos(angle), dr.sin(angle)
        crossed = [axis[(i + 1) % 3] * centre[(i + 2) % 3] - axis[(i + 2) % 3] * centre[(i + 1) % 3] for i in range(3)]
        along = dot(axis, centre) * (1 - c)
        turned = [centre[i] * c + crossed[i] * s + axis[i] * along for i in range(3)]
        flat = [turned[0] / turned[2], turned[1] / turned[2]]
        square = dot(flat, flat)
        grown = (1 + square * (x[9] + square * x[10])) * x[6]
        return [x[14] * (flat[i] * grown + x[7 + i] - feature[i]) for i in range(2)]

    def values(cameras, points, weights, features, camera_of, point_of, observation):
        """Row by row, from the two rows' gradients; `observation` counts from 0, as cameras and points stand by axes."""
        count = dr.width(weights)
        x = [dr.gather(r.Float64, camera, camera_of) for camera in cameras]
        x += [dr.gather(r.Float64, point, point_of) for point in points] + [weights]
        all_values = dr.zeros(r.Float64, 31 * count)
        for row in range(2):
            own = [r.variable(value) for value in x]
            dr.backward(residual(own, features)[row])
            for column, value in enumerate(own):
                dr.scatter(all_values, dr.grad(value), 30 * observation + (15 * row + column))
        dr.scatter(all_values, -2 * weights, 30 * count + observation)
        return all_values

    def inputs(path):
        n, m, p, camera, point, weight, feature = adbench.read_bundle_adjustment(path)
        i = numpy.arange(p, dtype=numpy.uint32)
        full = lambda values, count: tuple(r.float64(numpy.full(count, value)) for value in values)
        return (full(camera, n), full(point, m), *full([weight], p), full(feature, p), r.UInt32(i % n), r.UInt32(i % m),
                r.UInt32(i))

    files = {"test": "test.txt", "ba1": "ba1_n49_m7776_p31843.txt", "ba5": "ba5_n257_m65132_p225911.txt"}
    return {f"W12/{name}_jacrev": (values, lambda file=file: inputs(adbench.FOLDER / "ba" / file))
            for name, file in files.items()}


def differential_equations(r):
    dr = r.module

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
        step = lambda i, p, c: (i + 1, runge_kutta(p, c), c)
        return dr.while_loop((r.UInt32(0), start, c), lambda i, p, c: i < 200, step)[1]

    def gradient(c, start):
        """Forward, once for each parameter: backward takes longer, as it keeps the states of all steps."""
        found = []
        for i in range(3):
            own = [r.variable(value) if k == i else r.Float32(value) for k, value in enumerate(c)]
            total = dr.sum(sum(s * s for s in trajectory(start, tuple(own))))
            dr.forward(own[i])
            found.append(dr.grad(total))
        return tuple(found)

    end = 10.0
    weights = ((1 / 5,), (3 / 40, 9 / 40), (44 / 45, -56 / 15, 32 / 9),
               (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
               (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
               (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84))
    error_weights = (71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)

    def dormand_prince(mu, t, y, v, h, slope_y, slope_v, attempts):
        mix = lambda row, slopes: sum(w * k for w, k in zip(row, slopes) if w)
        last = h >= end - t
        h = dr.select(last, end - t, h)
        of_y, of_v = [slope_y], [slope_v]
        for row in weights:
            y1, v1 = y + h * mix(row, of_y), v + h * mix(row, of_v)
            of_y.append(v1)
            of_v.append(mu * (1 - y1 * y1) * v1 - y1)
        scaled = lambda slopes, a, b: h * mix(error_weights, slopes) / (1e-6 + 1e-4 * dr.maximum(abs(a), abs(b)))
        error_y, error_v = scaled(of_y, y, y1), scaled(of_v, v, v1)
        error = dr.sqrt(0.5 * (error_y * error_y + error_v * error_v))
        factor = dr.clip(0.9 * dr.power(dr.maximum(error, 1e-10), -0.2), 0.2, 5.0)
        keep = lambda after, before: dr.select(error <= 1, after, before)
        return (mu, keep(dr.select(last, end, t + h), t), keep(y1, y), keep(v1, v), h * factor,
                keep(of_y[-1], slope_y), keep(of_v[-1], slope_v), attempts + 1)

    def van_der_pol(mu):
        full = lambda value: dr.full(r.Float32, value, dr.width(mu))
        start = (mu, full(0), full(2), full(0), full(0.001), full(0), full(-2), dr.zeros(r.Int32, dr.width(mu)))
        last = dr.while_loop(start, lambda mu, t, *_: t < end, dormand_prince)
        return last[2], last[3], last[7]

    starts = lambda: tuple(r.float32(uniform((16384,), seed, -10.0, 10.0)) for seed in (150, 151, 152))
    parameters = lambda: tuple(dr.opaque(r.Float32, p) for p in (10.0, 28.0, 8 / 3))
    stiffness = lambda: (r.float32((0.1 * 1000.0 ** (numpy.arange(4096) / 4095)).astype(numpy.float32)),)
    return {
        "W15/lorenz_fwd": (trajectory, lambda: (starts(), parameters())),
        "W15/lorenz_grad": (gradient, lambda: (parameters(), starts())),
        "W15/vdp": (van_der_pol, stiffness),
    }


def greeks(r):
    dr, dates = r.module, 64

    def price(market, paths, stream):
        """Two dates a turn: Box and Muller's formula makes two normals of two uniform numbers."""
        spot, rate, volatility = market
        generator = r.generator(dr.width(paths), stream)
        step = lambda normal: (rate - 0.5 * volatility * volatility) / dates + volatility * (1 / dates) ** 0.5 * normal

        def two_dates(i, generator, log, total):
            radius = dr.sqrt(-2 * dr.log(1 - generator.next_float32()))
            sine, cosine = dr.sincos(2 * dr.pi * generator.next_float32())
            log = log + step(radius * cosine)
            total = total + spot * dr.exp(log)
            log = log + step(radius * sine)
            return i + 1, generator, log, total + spot * dr.exp(log)

        zero = dr.zeros(r.Float32, dr.width(paths))
        last = dr.while_loop((r.UInt32(0), generator, zero, zero), lambda i, *_: i < dates // 2, two_dates)
        return dr.mean(dr.exp(-rate) * dr.maximum(last[3] / dates - 100.0, 0.0))

    def price_and_gradient(market, paths, stream):
        """Forward, once for each of the three: backward would keep the states of all turns."""
        slopes = []
        for k in range(3):
            own = [r.variable(value) if i == k else r.Float32(value) for i, value in enumerate(market)]
            found = price(own, paths, stream)
            dr.forward(own[k])
            slopes.append(dr.grad(found))
        return dr.detach(found), dr.concat(slopes)

    market = lambda: tuple(dr.opaque(r.Float32, value) for value in (100.0, 0.05, 0.2))
    inputs = lambda n: (market(), dr.opaque(r.Float32, 0, n), dr.opaque(r.UInt64, 7))  # zeros: the number of paths
    return {f"W16/greeks_{n}": (price_and_gradient, lambda n=n: inputs(n)) for n in (16384, 1048576)}


def material_points(r):
    dr = r.module
    young, poisson = 200e3, 0.3
    mu, lam = young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))

    def elastic(e):
        trace = lam * (e[0] + e[1] + e[2])
        return [2 * mu * value + (trace if i < 3 else 0) for i, value in enumerate(e)]

    def residual(x, e, p0):
        s, p = x[:6], x[6]
        pressure = (s[0] + s[1] + s[2]) / 3
        d = [value - pressure if i < 3 else value for i, value in enumerate(s)]
        q = dr.sqrt(1.5 * sum(value * value for value in d) + 1e-12)
        f = q - (100 + 50 * (1 - dr.exp(-80 * p)))
        g = 0.1 * (dr.maximum(f, 0) / 150) ** 3
        strain = elastic([value - 1.5 * g * flow / q for value, flow in zip(e, d)])
        return [(a - b) / young for a, b in zip(s, strain)] + [p - p0 - g]

    def columns(f, x):
        """The Jacobian's columns: f's derivative by each x[k], forward."""
        found = []
        for k in range(len(x)):
            own = [r.variable(value) if i == k else r.Float64(value) for i, value in enumerate(x)]
            y = f(own)
            dr.forward(own[k])
            found.append([dr.grad(value) for value in y])
        return found

    def solve(matrix, rights):
        """Elimination without a search for pivots: those of this matrix are never small. Given and found by columns."""
        n, a = len(matrix), [list(column) for column in (*matrix, *rights)]
        for k in range(n):
            inverse = 1 / a[k][k]
            for i in range(k + 1, n):
                factor = a[k][i] * inverse
                for j in range(k + 1, len(a)):
                    a[j][i] = a[j][i] - factor * a[j][k]
        for column in a[n:]:
            for i in reversed(range(n)):
                column[i] = (column[i] - sum(a[j][i] * column[j] for j in range(i + 1, n))) / a[i][i]
        return a[n:]

    def update(e, p0):
        e = list(e)

        def goes_on(x, steps):
            norm = dr.sqrt(sum(value * value for value in residual(x, e, p0)))
            return (norm > 1e-10) & (steps < 50)

        def step(x, steps):
            with dr.isolate_grad():
                change, = solve(columns(lambda x: residual(x, e, p0), x), [residual(x, e, p0)])
            return [value - by for value, by in zip(x, change)], steps + 1

        start = [value / 2 for value in elastic(e)] + [p0]
        x, steps = dr.while_loop((start, dr.zeros(r.Int32, dr.width(p0))), goes_on, step)
        tangent = solve(columns(lambda x: residual(x, e, p0), x), columns(lambda e: residual(x, e, p0), e))
        return x, [[-value for value in column] for column in tangent], steps

    def gathered(outputs):
        x, tangent, steps = outputs
        by_lanes = lambda values: numpy.stack([value.numpy() for value in values], -1)
        return [by_lanes(x), numpy.stack([by_lanes(column) for column in tangent], -1), steps.numpy()]

    def inputs(n):
        strains = 0.002 * uniform((n, 6), 190).astype(numpy.float64)
        old = uniform((n,), 191, 0.0, 0.01).astype(numpy.float64)
        return [r.float64(column.copy()) for column in strains.T], r.float64(old)

    update.leaves = gathered
    sizes = {"one_point": 1, "points_1000": 1000, "points_20000": 20000}
    return {f"W19/{name}": (update, lambda n=n: inputs(n)) for name, n in sizes.items()}


groups = (fusion_chain, bundle_adjustment, differential_equations, greeks, material_points)
