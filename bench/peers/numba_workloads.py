"""W15 for numba: loops over lanes, written out, as numba has no transforms. lorenz_grad is absent: it has no derivatives."""
import numpy

from inputs import uniform


def differential_equations(r):
    jit, f32 = r.module.njit, numpy.float32
    half, sixth, dt = f32(0.005), f32(0.01 / 6), f32(0.01)

    @jit
    def slope(x, y, z, sigma, rho, beta):
        return sigma * (y - x), x * (rho - z) - y, x * y - beta * z

    @jit
    def lorenz(starts, sigma, rho, beta):
        """A block of lanes goes through all steps, so that it stays in the cache and the inner loop has vectors."""
        block = 256
        ends = starts.copy()
        for first in range(0, ends.shape[1], block):
            x, y, z = ends[0, first:first + block], ends[1, first:first + block], ends[2, first:first + block]
            for _ in range(200):
                for i in range(len(x)):
                    a, b, c = x[i], y[i], z[i]
                    a1, b1, c1 = slope(a, b, c, sigma, rho, beta)
                    a2, b2, c2 = slope(a + half * a1, b + half * b1, c + half * c1, sigma, rho, beta)
                    a3, b3, c3 = slope(a + half * a2, b + half * b2, c + half * c2, sigma, rho, beta)
                    a4, b4, c4 = slope(a + dt * a3, b + dt * b3, c + dt * c3, sigma, rho, beta)
                    x[i] = a + sixth * (a1 + f32(2) * a2 + f32(2) * a3 + a4)
                    y[i] = b + sixth * (b1 + f32(2) * b2 + f32(2) * b3 + b4)
                    z[i] = c + sixth * (c1 + f32(2) * c2 + f32(2) * c3 + c4)
        return ends[0], ends[1], ends[2]

    w = [tuple(map(f32, row)) for row in (
        (1 / 5,), (3 / 40, 9 / 40), (44 / 45, -56 / 15, 32 / 9), (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84))]
    w1, w2, w3, w4, w5, w6 = w
    e = tuple(map(f32, (71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)))
    end, nine, fifth, least, most = f32(10), f32(0.9), f32(-0.2), f32(0.2), f32(5)
    absolute, relative, smallest = f32(1e-6), f32(1e-4), f32(1e-10)

    @jit
    def turn(mu, y, v):
        return mu * (f32(1) - y * y) * v - y

    @jit
    def van_der_pol(stiffness):
        ys, vs = numpy.empty_like(stiffness), numpy.empty_like(stiffness)
        attempts = numpy.zeros(len(stiffness), numpy.int32)
        for lane in range(len(stiffness)):
            mu, t, y, v, h = stiffness[lane], f32(0), f32(2), f32(0), f32(0.001)
            y0, v0 = v, turn(mu, y, v)
            while t < end:
                last = h >= end - t
                if last:
                    h = end - t
                v1 = v + h * (w1[0] * v0)
                y1 = y + h * (w1[0] * y0)
                k1 = turn(mu, y1, v1)
                y2 = y + h * (w2[0] * y0 + w2[1] * v1)
                v2 = v + h * (w2[0] * v0 + w2[1] * k1)
                k2 = turn(mu, y2, v2)
                y3 = y + h * (w3[0] * y0 + w3[1] * v1 + w3[2] * v2)
                v3 = v + h * (w3[0] * v0 + w3[1] * k1 + w3[2] * k2)
                k3 = turn(mu, y3, v3)
                y4 = y + h * (w4[0] * y0 + w4[1] * v1 + w4[2] * v2 + w4[3] * v3)
                v4 = v + h * (w4[0] * v0 + w4[1] * k1 + w4[2] * k2 + w4[3] * k3)
                k4 = turn(mu, y4, v4)
                y5 = y + h * (w5[0] * y0 + w5[1] * v1 + w5[2] * v2 + w5[3] * v3 + w5[4] * v4)
                v5 = v + h * (w5[0] * v0 + w5[1] * k1 + w5[2] * k2 + w5[3] * k3 + w5[4] * k4)
                k5 = turn(mu, y5, v5)
                y6 = y + h * (w6[0] * y0 + w6[2] * v2 + w6[3] * v3 + w6[4] * v4 + w6[5] * v5)
                v6 = v + h * (w6[0] * v0 + w6[2] * k2 + w6[3] * k3 + w6[4] * k4 + w6[5] * k5)
                k6 = turn(mu, y6, v6)
                of_y = h * (e[0] * y0 + e[2] * v2 + e[3] * v3 + e[4] * v4 + e[5] * v5 + e[6] * v6)
                of_v = h * (e[0] * v0 + e[2] * k2 + e[3] * k3 + e[4] * k4 + e[5] * k5 + e[6] * k6)
                of_y /= absolute + relative * max(abs(y), abs(y6))
                of_v /= absolute + relative * max(abs(v), abs(v6))
                error = numpy.sqrt(f32(0.5) * (of_y * of_y + of_v * of_v))
                if error <= f32(1):
                    t = end if last else t + h
                    y, v, y0, v0 = y6, v6, v6, k6
                h *= min(max(nine * max(error, smallest) ** fifth, least), most)
                attempts[lane] += 1
            ys[lane], vs[lane] = y, v
        return ys, vs, attempts

    starts = lambda: numpy.stack([uniform((16384,), seed, -10.0, 10.0) for seed in (150, 151, 152)])
    stiffness = lambda: (0.1 * 1000.0 ** (numpy.arange(4096) / 4095)).astype(f32)
    return {"W15/lorenz_fwd": (lorenz, lambda: (starts(), f32(10), f32(28), f32(8 / 3))),
            "W15/vdp": (van_der_pol, lambda: (stiffness(),))}


groups = (differential_equations,)
