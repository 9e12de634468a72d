"""Values of GradBench's evals that owe nothing to Ricci: formulas in NumPy, constants of GradBench, sums of ADBench.

`check(eval, function, input, output)` raises an AssertionError that says what differs. A gradient is held against its
function by steps in imaginary directions, which lose no digits: the slope of f along v is Im f(x + i h v) / h.
"""
import json
import math

import numpy as np

from recipes import adbench

STEP = 1e-30
TOLERANCE = 1e-9  # relative, of sums of up to a million float64
LANDING, SADDLE = 0.2071918746486116, [8.246324826140356e-06] * 4  # GradBench's
DESCENT = 1e-8    # where a descent ends: derivatives that differ in the last bit end it one step apart at most


def near(found, expected, what, tolerance=TOLERANCE):
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    assert found.shape == expected.shape, f"{what}: shape {found.shape}, not {expected.shape}"
    error = np.abs(found - expected).max(initial=0) / max(1.0, np.abs(expected).max(initial=0))
    assert error <= tolerance, f"{what}: off by {error:.2g} of the greatest value"


def slopes(f, arguments, gradient, what):
    """Holds a gradient against f along five random directions."""
    rng = np.random.default_rng(1)
    for _ in range(5):
        direction = [rng.normal(size=np.shape(a)) for a in arguments]
        expected = f(*(np.asarray(a) + 1j * STEP * v for a, v in zip(arguments, direction))).imag / STEP
        found = sum(np.vdot(g, v) for g, v in zip(map(np.asarray, gradient), direction))
        near(found, expected, f"{what} along a direction")


def log_sum_exp(x, axis=-1):
    greatest = x.real.max(axis=axis, keepdims=True)
    return np.log(np.exp(x - greatest).sum(axis=axis)) + np.squeeze(greatest, axis)


def gmm(input):
    x, m, gamma, d, k, n = np.array(input["x"]), input["m"], input["gamma"], input["d"], input["k"], input["n"]
    columns, rows = np.triu_indices(d, 1)

    def f(alpha, mu, q, l):
        terms = []
        for i in range(k):
            factor = np.diag(np.exp(q[i])).astype(q.dtype)
            factor[rows, columns] = l[i]
            terms.append(alpha[i] + q[i].sum() - 0.5 * (((x - mu[i]) @ factor.T) ** 2).sum(1))
        degrees = d + m + 1
        constant = degrees * d * (math.log(gamma) - 0.5 * math.log(2)) - 0.25 * d * (d - 1) * math.log(math.pi)
        constant -= sum(math.lgamma(0.5 * (degrees - j)) for j in range(d))
        prior = k * constant - 0.5 * gamma**2 * ((np.exp(q) ** 2).sum() + (l**2).sum()) + m * q.sum()
        return log_sum_exp(np.stack(terms, 1)).sum() - n * log_sum_exp(alpha) - 0.5 * n * d * math.log(2 * math.pi) + prior

    return f, ("alpha", "mu", "q", "l")


def check_gmm(function, input, output):
    f, names = gmm(input)
    arguments = [np.array(input[name]) for name in names]
    if function == "objective":
        return near(output, f(*arguments), "objective")
    slopes(f, arguments, [output[name] for name in names], "jacobian")


def residual(camera, point, weight, feature):
    turn = camera[:3]
    angle = np.sqrt((turn * turn).sum())
    axis, away = turn / angle, point - camera[3:6]
    seen = away * np.cos(angle) + np.cross(axis, away) * np.sin(angle) + axis * (axis * away).sum() * (1 - np.cos(angle))
    flat = seen[:2] / seen[2]
    square = (flat * flat).sum()
    return weight * (flat * (1 + camera[9] * square + camera[10] * square**2) * camera[6] + camera[7:9] - feature)


def check_ba(function, input, output):
    one = np.array([*input["cam"], *input["x"], input["w"]])
    of = lambda x: residual(x[:11], x[11:14], x[14], np.array(input["feat"]))
    n, m, p = input["n"], input["m"], input["p"]
    if function == "objective":
        near(output["reproj_error"]["elements"], of(one), "reproj_error")
        near(output["w_err"]["element"], 1 - input["w"] ** 2, "w_err")
        assert output["reproj_error"]["repeated"] == output["w_err"]["repeated"] == p
        return
    block = np.stack([of(one + 1j * STEP * unit).imag / STEP for unit in np.eye(15)], 1)
    near(output["vals"], [*block.flatten(), -2 * input["w"]], "vals")
    columns = [*range(11), *(11 * n + j for j in range(3)), 11 * n + 3 * m]
    near(output["cols"], [*columns, *columns, 11 * n + 3 * m + p - 1], "cols")
    near(output["rows"], [*(15 * i for i in range(30)), 31 * p] if 2 * p >= 30 else
         [*(15 * i for i in range(2 * p)), *range(30 * p, 30 * p + 30 - 2 * p), 31 * p], "rows")


def check_ht(function, input, output, description):
    name = f"hand/{description}.txt"
    expected = json.loads((adbench.FOLDER / "reference_values.json").read_text()).get(name)
    assert expected, f"no values of ADBench for {name}"
    expected = expected["residual" if function == "objective" else "jacobian_colmajor"]
    values = np.array(output)
    assert values.size == expected["size"]
    near([np.sqrt((values**2).sum()), values.sum()], [expected["l2"], expected["sum"]], function)


def lstm(state, sequence):
    def f(main, extra):
        sigmoid = lambda x: 1 / (1 + np.exp(-x))
        bits, total = extra.shape[1], 0.0
        hidden, cell = list(state[0::2]), list(state[1::2])
        for now, following in zip(sequence[:-1], sequence[1:]):
            x = now * extra[0]
            for layer in range(len(hidden)):
                w, b = main[2 * layer].reshape(4, bits), main[2 * layer + 1].reshape(4, bits)
                change = sigmoid(hidden[layer] * w[1] + b[1]) * np.tanh(hidden[layer] * w[3] + b[3])
                cell[layer] = cell[layer] * sigmoid(x * w[0] + b[0]) + change
                x = hidden[layer] = sigmoid(x * w[2] + b[2]) * np.tanh(cell[layer])
            y = x * extra[1] + extra[2]
            total += (following * (y - np.log(2 + np.exp(y).sum()))).sum()
        return -total / (bits * (len(sequence) - 1))

    return f


def check_lstm(function, input, output):
    f = lstm(np.array(input["state"]), np.array(input["sequence"], float))
    arguments = [np.array(input["main_params"]), np.array(input["extra_params"])]
    if function == "objective":
        return near(output, f(*arguments), "objective")
    assert len(output) == sum(a.size for a in arguments)
    split = arguments[0].size
    slopes(f, arguments, [np.reshape(output[:split], arguments[0].shape), np.reshape(output[split:], arguments[1].shape)],
           "jacobian")


def check_kmeans(function, input, output):
    points, centroids = np.array(input["points"]), np.array(input["centroids"])
    distances = np.stack([((points - c) ** 2).sum(1) for c in centroids], 1)
    if function == "cost":
        return near(output, distances.min(1).sum(), "cost")
    nearest = distances.argmin(1)
    near(output, [c - points[nearest == i].mean(0) for i, c in enumerate(centroids)], "dir")


def llsq(n):
    t = -1 + 2 * np.arange(n) / (n - 1)
    return lambda x: 0.5 * ((np.sign(t) - np.polynomial.polynomial.polyval(t, x)) ** 2).sum()


def ode(steps):
    def solution(x):
        h, y = 2 / steps, np.zeros_like(x)
        slope = lambda y: x * np.concatenate([np.ones(1), y[:-1]])
        for _ in range(steps):
            k1 = slope(y)
            k2 = slope(y + h / 2 * k1)
            k3 = slope(y + h / 2 * k2)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(y + h * k3))
        return y

    return solution


def check_of_one(f, last=lambda y: y):
    """f of input["x"]; the gradient is that of last(f(x))."""

    def check(function, input, output):
        x = np.array(input["x"])
        if function == "primal":
            return near(output, f(input)(x), "primal")
        slopes(lambda x: last(f(input)(x)), [x], [output], "gradient")

    return check


def check_det(function, input, output):
    a = np.array(input["A"]).reshape(input["ell"], input["ell"])
    value = np.linalg.det(a)
    near(output, value if function == "primal" else (value * np.linalg.inv(a).T).flatten(), function)


def check_hello(function, input, output):
    near(output, input * input if function == "square" else 2 * input, function)


CHECKS = {
    "hello": check_hello, "gmm": check_gmm, "ba": check_ba, "lstm": check_lstm, "kmeans": check_kmeans,
    "llsq": check_of_one(lambda input: llsq(input["n"])), "lse": check_of_one(lambda input: log_sum_exp),
    "ode": check_of_one(lambda input: ode(input["s"]), last=lambda y: y[-1]), "det": check_det,
    "particle": lambda function, input, output: near(output, LANDING, function, DESCENT),
    "saddle": lambda function, input, output: near(output, SADDLE, function, DESCENT),
}


def check(name, function, input, output, description):
    if name == "ht":
        return check_ht(function, input, output, description)
    CHECKS[name](function, input, output)
