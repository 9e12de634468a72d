"""W12, W14, W16, W19 and the arm for the rivals: small functions of one example each, mapped over many, or one alone."""
import numpy

import adbench
from inputs import uniform


def double(shape, seed, low=-1.0, high=1.0):
    """As `uniform`, the float32 numbers as float64."""
    return uniform(shape, seed, low, high).astype(numpy.float64)


def bundle_adjustment(r):
    np = r.np

    def residual(x, feature):
        turn, from_centre = x[:3], x[11:14] - x[3:6]
        angle = np.sqrt((turn * turn).sum())
        axis, c = turn / angle, np.cos(angle)
        turned = from_centre * c + r.cross(axis, from_centre) * np.sin(angle) + axis * ((axis * from_centre).sum() * (1 - c))
        flat = turned[:2] / turned[2]
        square = (flat * flat).sum()
        return x[14] * (flat * (1 + square * (x[9] + square * x[10])) * x[6] + x[7:9] - feature)

    def values_by(jacobian):
        def values(cameras, points, weights, features, camera_of, point_of):
            x = np.concatenate([cameras[camera_of], points[point_of], weights[:, None]], 1)
            return np.concatenate([r.vmap(jacobian)(x, features).reshape(-1), -2 * weights])

        return values

    def inputs(path, sizes=None):
        n, m, p, camera, point, weight, feature = adbench.read_bundle_adjustment(path)
        n, m, p = sizes or (n, m, p)
        i = numpy.arange(p)
        arrays = (numpy.tile(camera, (n, 1)), numpy.tile(point, (m, 1)), numpy.full(p, weight),
                  numpy.tile(feature, (p, 1)), i % n, i % m)
        return tuple(map(r.array, arrays))

    folder = adbench.FOLDER / "ba"
    files = {"test": folder / "test.txt", "ba1": folder / "ba1_n49_m7776_p31843.txt",
             "ba5": folder / "ba5_n257_m65132_p225911.txt"}
    named = adbench.file_of_user("ba")
    if named:
        files[named.stem] = named
    found = {}
    for name, path in files.items():
        for way in ("jacrev", "jacfwd"):
            found[f"W12/{name}_{way}"] = (values_by(getattr(r, way)(residual)), lambda path=path: inputs(path))
    size_of_ba10 = lambda: inputs(files["ba1"], (1197, 126327, 563734))
    return {**found, "W12/p563734_synth_jacrev": (values_by(r.jacrev(residual)), size_of_ba10)}


def angle_index(bones):
    """Which angle of theta turns each bone about x, z and y; 26: none."""
    index, theta = numpy.full((bones, 3), 26), 6
    for finger in range(5):
        for joint in range(3):
            bone = 2 + 4 * finger + joint
            index[bone, 0], theta = theta, theta + 1
            if joint == 0:
                index[bone, 1], theta = theta, theta + 1
    return index


def hand_case(r, path):
    np = r.np
    complicated = adbench.is_complicated(path)
    parents, relative, inverse, vertices, weights, triangles = adbench.read_hand_model(path)
    chosen, points, places, theta = adbench.read_hand(path)
    bones = len(parents)
    index = r.array(angle_index(bones))
    corners = r.array(triangles[chosen].T.copy() if complicated else chosen)
    relative, inverse, vertices, weights, points = map(r.array, (relative, inverse, vertices, weights, points))
    zero, right = r.array(numpy.zeros(1)), r.array(numpy.zeros((bones, 3, 1)))
    bottom = r.array(numpy.tile([[[0.0, 0.0, 0.0, 1.0]]], (bones, 1, 1)))

    def matrices(rows):
        return np.stack([np.stack(row, -1) for row in rows], -2)

    def bone_rotations(theta):
        angles = np.concatenate([theta, zero])[index]
        (sx, sz, sy), (cx, cz, cy) = (tuple(a[:, k] for k in range(3)) for a in (np.sin(angles), np.cos(angles)))
        return matrices([[cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
                         [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
                         [-sy, cy * sx, cy * cx]])

    def global_rotation(turn):
        angle = np.sqrt((turn * turn).sum())
        x, y, z = (turn[k] / angle for k in range(3))
        s, c = np.sin(angle), np.cos(angle)
        d = 1 - c
        return matrices([[x * x * d + c, x * y * d - z * s, x * z * d + y * s],
                         [x * y * d + z * s, y * y * d + c, y * z * d - x * s],
                         [x * z * d - y * s, z * y * d + x * s, z * z * d + c]])

    def posed(theta):
        local = relative @ np.concatenate([np.concatenate([bone_rotations(theta), right], 2), bottom], 1)
        absolute = []
        for bone, parent in enumerate(parents):
            absolute.append(local[bone] if parent < 0 else absolute[parent] @ local[bone])
        transforms = np.stack(absolute) @ inverse
        blended = (weights @ transforms[:, :3].reshape(bones, 12)).reshape(-1, 3, 4)
        return (blended * vertices[:, None, :]).sum(-1) @ global_rotation(theta[:3]).T + theta[3:6]

    def simple(theta):
        return (points - posed(theta)[corners]).reshape(-1)

    def residual(theta, places):
        skin, a, b = posed(theta), places[:, :1], places[:, 1:]
        return (points - (a * skin[corners[0]] + b * skin[corners[1]] + (1 - a - b) * skin[corners[2]])).reshape(-1)

    def jacobian(theta, places, first, second):
        columns = [r.jvp(lambda p: residual(theta, p), (places,), (seed,))[1] for seed in (first, second)]
        return np.concatenate([np.stack(columns, 1), r.jacfwd(residual)(theta, places)], 1)

    if not complicated:
        return r.jacfwd(simple), lambda: (r.array(theta),)
    seeds = [numpy.tile(row, (len(places), 1)) for row in ([1.0, 0.0], [0.0, 1.0])]
    return jacobian, lambda: tuple(map(r.array, (theta, places, *seeds)))


def hand_tracking(r):
    folder = adbench.FOLDER / "hand"
    files = {f"{kind}_small_hand6": folder / f"{kind}_small/hand6_t26_c1600.txt" for kind in ("simple", "complicated")}
    named = adbench.file_of_user("hand")
    if named:
        files[f"{named.parent.name}_{named.stem}"] = named
    return {f"W14/{name}": hand_case(r, path) for name, path in files.items()}


def greeks(r):
    np, dates = r.np, 64

    def price_of(payoff, market, normals):
        def discounted(z):
            spot, rate, volatility = market[0], market[1], market[2]
            logs = np.cumsum((rate - 0.5 * volatility * volatility) / dates + volatility * (1 / dates) ** 0.5 * z, 0)
            return np.exp(-rate) * payoff((spot * np.exp(logs)).mean() - 100.0)

        return r.vmap(discounted)(normals).mean()

    found = {}
    for paths in (16384, 1048576):

        def price_and_gradient(market, key, paths=paths):
            normals = r.normal(key, (paths, dates))
            return r.value_and_grad(lambda m: price_of(r.relu, m, normals))(market)

        def price_gamma(market, direction, key, paths=paths):
            normals = r.normal(key, (paths, dates))
            gradient = r.grad(lambda m: price_of(r.softplus, m, normals))
            return r.jvp(gradient, (market,), (direction,))[1]

        market = lambda: r.array(numpy.array([100.0, 0.05, 0.2], numpy.float32))
        spot = lambda: r.array(numpy.array([1.0, 0.0, 0.0], numpy.float32))
        found[f"W16/greeks_{paths}"] = (price_and_gradient, lambda: (market(), r.key()))
        found[f"W16/gamma_{paths}"] = (price_gamma, lambda: (market(), spot(), r.key()))
    return found


def material_points(r):
    np = r.np
    one = r.array(numpy.array([1.0, 1, 1, 0, 0, 0]))
    young, poisson = 200e3, 0.3
    mu, lam = young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))

    def elastic(e):
        return 2 * mu * e + lam * e[:3].sum() * one

    def residual(x, e, p0):
        s, p = x[:6], x[6]
        d = s - s[:3].sum() / 3 * one
        q = np.sqrt(1.5 * (d * d).sum() + 1e-12)
        f = q - (100 + 50 * (1 - np.exp(-80 * p)))
        g = 0.1 * (r.relu(f) / 150) ** 3
        return np.concatenate([(s - elastic(e - 1.5 * g * d / q)) / young, (p - p0 - g)[None]])

    def norm(x, e, p0):
        y = residual(x, e, p0)
        return np.sqrt((y * y).sum())

    def begin(e, p0):
        return np.concatenate([elastic(e) / 2, p0[None]])

    def step(x, e, p0):
        return x - np.linalg.solve(r.jacfwd(residual)(x, e, p0), residual(x, e, p0))

    def tangent(x, e, p0):
        return -np.linalg.solve(r.jacfwd(residual)(x, e, p0), r.jacfwd(residual, 1)(x, e, p0))

    def update_one(e, p0):
        going = lambda state: (norm(state[0], e, p0) > 1e-10) & (state[1] < 50)
        x, k = r.while_loop(going, lambda state: (step(state[0], e, p0), state[1] + 1), (begin(e, p0), 0))
        return x, tangent(x, e, p0), k

    def update_together():
        """All points step until all are done; those that are done keep what they have."""
        steps, norms, begins, tangents = (r.compile(r.vmap(f)) for f in (step, norm, begin, tangent))

        def update(e, p0):
            x, k = begins(e, p0), np.zeros(len(p0), dtype=np.int64)
            while True:
                going = (norms(x, e, p0) > 1e-10) & (k < 50)
                if not going.any().item():
                    return x, tangents(x, e, p0), k
                x, k = np.where(going[:, None], steps(x, e, p0), x), k + going

        update.is_compiled = True
        return update

    update = r.vmap(update_one) if r.family == "jax" else update_together()
    inputs = lambda n: (r.array(0.002 * double((n, 6), 190)), r.array(double((n,), 191, 0.0, 0.01)))
    sizes = {"one_point": 1, "points_1000": 1000, "points_20000": 20000}
    return {f"W19/{name}": (update, lambda n=n: inputs(n)) for name, n in sizes.items()}


def arms(r):
    np = r.np
    chain = ((0.34, -1, 0), (0, 1, 0), (0.4, 1, 0), (0, -1, 0), (0.4, -1, 0), (0, 1, 0), (0.126, 0, 1))
    base, damping = r.array(numpy.eye(3)), r.array(0.01 * numpy.eye(7))

    def pose(angles):
        x, y, z, place = base[0], base[1], base[2], 0 * base[0]
        s, c = np.sin(angles), np.cos(angles)
        for i, (offset, twist_sine, twist_cosine) in enumerate(chain):
            x, turned = x * c[i] + y * s[i], y * c[i] - x * s[i]
            place = place + z * offset
            y, z = turned * twist_cosine + z * twist_sine, z * twist_cosine - turned * twist_sine
        return np.concatenate([x, y, z, place])

    def damped_step(angles, target):
        jacobian = r.jacfwd(pose)(angles)
        damped = jacobian.T @ jacobian + damping
        return angles + r.cholesky_solve(jacobian.T @ (target - pose(angles)), np.linalg.cholesky(damped))

    def inputs(count):
        angles, others = (r.array(double((count, 7), seed, -2.0, 2.0)) for seed in (200, 201))
        return angles, r.vmap(pose)(others)

    one = lambda: tuple(r.array(numpy.array(x[0])) for x in inputs(1))
    return {"arm/step_4096": (r.vmap(damped_step), lambda: inputs(4096)), "arm/step_one": (damped_step, one)}


groups = (bundle_adjustment, hand_tracking, greeks, material_points, arms)
