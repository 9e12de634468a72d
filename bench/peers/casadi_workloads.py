"""W14's simple hand and loops/ilqr, a step of model-predictive control, for CasADi: expressions of numbers, from which it
generates C with sparse Jacobians. The complicated hand is absent: gcc does not compile its C in minutes."""
import numpy

import adbench
from inputs import uniform
from lane_workloads import angle_index


def hand_tracking(r):
    ca = r.module
    path = adbench.FOLDER / "hand/simple_small/hand6_t26_c1600.txt"
    parents, relative, inverse, vertices, weights, _ = adbench.read_hand_model(path)
    chosen, points, _, start = adbench.read_hand(path)
    index = angle_index(len(parents))
    rows = lambda *rows: ca.vertcat(*(ca.horzcat(*row) for row in rows))

    def bone_rotation(angles):
        (sx, sz, sy), (cx, cz, cy) = [map(f, angles) for f in (ca.sin, ca.cos)]
        return rows([cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
                    [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
                    [-sy, cy * sx, cy * cx])

    def global_rotation(turn):
        angle = ca.norm_2(turn)
        x, y, z = (turn[k] / angle for k in range(3))
        s, c = ca.sin(angle), ca.cos(angle)
        d = 1 - c
        return rows([x * x * d + c, x * y * d - z * s, x * z * d + y * s],
                    [x * y * d + z * s, y * y * d + c, y * z * d - x * s],
                    [x * z * d - y * s, z * y * d + x * s, z * z * d + c])

    def posed(theta):
        angles, absolute = ca.vertcat(theta, 0), []
        for bone, parent in enumerate(parents):
            own = ca.SX(relative[bone]) @ ca.diagcat(bone_rotation([angles[int(i)] for i in index[bone]]), 1)
            absolute.append(own if parent < 0 else absolute[parent] @ own)
        flat = [ca.vec((a @ ca.SX(before))[:3, :].T).T for a, before in zip(absolute, inverse)]
        blended = ca.SX(ca.sparsify(weights)) @ ca.vertcat(*flat)
        skin = ca.horzcat(*(ca.sum2(blended[:, 4 * i : 4 * i + 4] * vertices) for i in range(3)))
        return skin @ global_rotation(theta[:3]).T + ca.repmat(theta[3:6].T, len(vertices), 1)

    def generated():
        theta = ca.SX.sym("theta", 26)
        residual = points - posed(theta)[chosen.tolist(), :]
        function = ca.Function("hand", [theta], [ca.jacobian(ca.vec(residual.T), theta)])
        dense = lambda outputs: [ca.DM(function.sparsity_out(0), outputs[0]).full()]
        return r.generated(function, [start], dense)

    return {"W14/simple_small_hand6": (r.step, generated)}


def control(r):
    ca = r.module
    dt, gravity, pole, mass, length = 0.02, 9.8, 0.1, 1.1, 0.5

    def cart_pole(x, force, of=ca.vertcat, np=ca):
        s, c = np.sin(x[2]), np.cos(x[2])
        push = (force + pole * length * x[3] * x[3] * s) / mass
        turn = (gravity * s - c * push) / (length * (4 / 3 - pole / mass * c * c))
        return x + dt * of(x[1], push - pole * length / mass * turn * c, x[3], turn)

    def gain():
        """The function of a knot, and the shift and feedback of its control."""
        slope, curvature = ca.SX.sym("slope", 4), ca.SX.sym("curvature", 4, 4)
        x, u = ca.SX.sym("x", 4), ca.SX.sym("u")
        cost, control_cost = ca.DM([1, 0.1, 10, 0.1]), 0.01
        following = cart_pole(x, u)
        a, b = ca.jacobian(following, x), ca.jacobian(following, u)
        by_state, by_control = cost * x + a.T @ slope, control_cost * u + b.T @ slope
        of_both, of_control = b.T @ curvature @ a, control_cost + b.T @ curvature @ b
        of_state = ca.diag(cost) + a.T @ curvature @ a
        shift, feedback = -by_control / of_control, -of_both / of_control
        before = ca.densify(by_state + by_control * feedback.T), ca.densify(of_state + of_both.T @ feedback)
        return ca.Function("gain", [slope, curvature, x, u], [*before, shift, feedback.T])

    def advance():
        now, x = ca.SX.sym("now", 4), ca.SX.sym("x", 4)
        u, shift, feedback = ca.SX.sym("u"), ca.SX.sym("shift"), ca.SX.sym("feedback", 4)
        push = u + shift + feedback.T @ (now - x)
        return ca.Function("advance", [now, x, u, shift, feedback], [cart_pole(now, push), now, push])

    def trajectory():
        of = lambda *parts: numpy.array(parts)
        controls = uniform((40,), 230).astype(numpy.float64)
        states = [numpy.array([0, 0, 0.2, 0])]
        for u in controls:
            states.append(cart_pole(states[-1], u, of, numpy))
        return numpy.stack(states), controls

    def generated():
        states, controls = trajectory()
        n = len(controls)
        x, u, last = ca.MX.sym("x", 4, n), ca.MX.sym("u", 1, n), ca.MX.sym("last", 4)
        cost = ca.DM([1, 0.1, 10, 0.1])
        backwards = lambda values: values[:, ::-1]
        _, _, shifts, feedbacks = gain().mapaccum("gains", n, [0, 1], [0, 1])(
            100 * cost * last, 100 * ca.diag(cost), backwards(x), backwards(u))
        _, followed, pushes = advance().mapaccum("advances", n)(x[:, 0], x, u, backwards(shifts), backwards(feedbacks))
        function = ca.Function("ilqr", [x, u, last], [followed, pushes])
        shaped = lambda outputs: [outputs[0].reshape(n, 4), outputs[1]]
        return r.generated(function, [states[:-1], controls, states[-1]], shaped)

    return {"loops/ilqr": (r.step, generated)}


groups = (hand_tracking, control)
