"""asked: the programs of ../reproducers.cpp for JAX. The numbers are those of public threads."""
import numpy

from inputs import dense, uniform
from loop_workloads import loops_of_jax


@loops_of_jax
def asked(r):
    np = r.np
    f32 = numpy.float32

    def rewards_to_go(rewards):
        def step(later, reward):
            now = reward + f32(0.99) * later
            return now, now

        return r.scan(step, np.zeros(16, f32), rewards[::-1])[1][::-1]

    def forecast(start):
        def step(state, y):
            level, season = state
            expected = np.maximum((level + 2 * np.sqrt(level)) * season[0], 0)
            following = y / season[0] + 0.5 * level
            return (following, y / following + 0.5 * season), expected

        return r.scan(step, (f32(1), start), np.ones(80, f32))[1].sum()

    def network_of_scalars(weights, inputs):
        def step(state, value):
            following = [0.9 * s + 0.1 * np.tanh((value if k == 0 else state[k - 1]) + weights[k] * value)
                         for k, s in enumerate(state)]
            return following, following[-1]

        return (r.scan(step, [f32(0)] * 60, inputs)[1] ** 2).sum()

    def greatest(numbers):
        stop = numbers.max()
        zero = numpy.int64(0)
        return r.while_loop(lambda s: s[0] < stop, lambda s: (np.maximum(s[0], numbers[s[1]]), s[1] + 1),
                            (zero, zero))[1]

    def logistic_map(rate):
        step = lambda t, x: x.at[t + 1].set(rate * x[t] * (1 - x[t]))
        return r.fori_loop(0, 16383, step, np.full(16384, 0.3, f32))

    def slot_to_slot(first):
        start = np.concatenate([first[None], np.zeros((999, 10, 10), f32)])
        return r.scan(lambda all, i: (all.at[i].set(all[i - 1]), None), start, np.arange(1, 1000))[0][-1].sum()

    pushes = uniform((1000,), 601)

    def walk(table):
        last = len(table) - 1

        def step(x, push):
            at = np.clip(x * last, 0, f32(last - 1e-3))
            left = np.floor(at)
            i = left.astype(numpy.int64)
            following = x + f32(0.01) * (table[i] + (at - left) * (table[i + 1] - table[i]) + push)
            return following, following

        return (r.scan(step, f32(0.5), pushes)[1] ** 2).mean()

    def mass_of_chain(q):
        n = len(q)
        turn, place, axes, places, centres = np.eye(3), np.zeros(3), [], [], []
        for i in range(n):
            c, s = np.cos(q[i]), np.sin(q[i])
            turn = turn @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
            axes.append(turn[:, 2])
            places.append(place)
            centres.append(place + 0.5 * turn[:, 0])
            place = place + turn[:, 0]
        axis, arms = np.stack(axes), np.stack(centres)[:, None] - np.stack(places)[None]
        carried = np.tril(np.ones((n, n)))[:, :, None]
        moved, turned = carried * np.cross(axis[None], arms), carried * axis
        both = np.concatenate([moved, 0.1**0.5 * turned], 2).transpose(1, 0, 2).reshape(n, -1)
        return both @ both.T

    def total_variation(volume):
        return sum(abs(np.diff(volume, axis=axis)).sum() for axis in range(3))

    def attention_loss(weights, x):
        query, key, value = ((x @ w).reshape(64, 4, 16).transpose(1, 0, 2) for w in weights[:3])
        scores = query @ key.transpose(0, 2, 1) / 4
        weighted = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = weighted / weighted.sum(-1, keepdims=True) @ value
        return ((mixed.transpose(1, 0, 2).reshape(64, 64) @ weights[3]) ** 2).mean()

    def net_value(net, x):
        return (net[2] @ np.tanh(net[0] @ x + net[1]) + net[3]).sum()

    def written_out(arguments, x):
        numerator = denominator = f32(0)
        for i in range(200):
            at = arguments[i] * x
            both = np.sin(at) + np.cos(at)
            denominator = denominator + (both**2).sum()
            numerator = numerator + both.sum() ** 2
        return np.log(numerator / np.sqrt(denominator))

    arrays = lambda *found: lambda: tuple(r.array(a) for a in found)
    scalars = lambda: arrays(uniform((60,), 602), uniform((614,), 603))()
    angles = lambda: arrays(uniform((35,), 610).astype(numpy.float64))()
    volume = lambda: arrays(uniform((256, 256, 256), 611))()
    steps = {
        "jax_810_rewards": (rewards_to_go, lambda: arrays(uniform((10000, 16), 600))()),
        "jax_772_forecast_grad": (r.grad(forecast), arrays(numpy.ones(2, f32))),
        "jax_40150_scalars": (network_of_scalars, scalars),
        "jax_40150_scalars_grad": (r.grad(network_of_scalars), scalars),
        "jax_25190_while": (greatest, arrays(numpy.arange(1 << 14))),
        "jax_40101_writes": (logistic_map, arrays(numpy.array(3.2, f32))),
        "jax_10197_slots_grad": (r.grad(slot_to_slot), arrays(uniform((10, 10), 604))),
        "jax_3850_walk_grad": (r.grad(walk), arrays(uniform((256,), 605, 0, 0.01))),
        "jax_33004_turned": (lambda a, m: np.einsum("...i,...ij->...j", a, m),
                             lambda: arrays(uniform((1000000, 3), 606), uniform((3, 3), 607))()),
        "jax_1139_solved": (r.vmap(np.linalg.solve),
                            lambda: arrays(uniform((100000, 3, 3), 608) + 3 * numpy.eye(3, dtype=f32),
                                           uniform((100000, 3), 609))()),
        "jax_26021_mass": (mass_of_chain, angles),
        "jax_26021_mass_jacobian": (r.jacfwd(mass_of_chain), angles),
        "jax_2690_variation": (total_variation, volume),
        "jax_2690_variation_grad": (r.grad(total_variation), volume),
        "jax_1563_diagonal": (lambda x: np.diagonal(r.jacfwd(lambda x: x * np.sin(x))(x)), arrays(uniform((1000,), 612))),
        "sparsejac_10_diagonal": (r.jacrev(lambda x: x**4), arrays(uniform((2000,), 613))),
        "pytorch_187266_attention": (r.vmap(r.grad(attention_loss), (None, 0)),
                                     lambda: ([r.array(uniform((64, 64), 614 + i, -0.2, 0.2)) for i in range(4)],
                                              r.array(uniform((32, 64, 64), 618)))),
        "functorch_977_hessians": (r.vmap(r.hessian(net_value, 1), (None, 0)),
                                   lambda: ([r.array(w) for w in dense((8, 32, 1), 619)],
                                            r.array(uniform((256, 8), 623)))),
        "jax_1399_written_out_grad": (r.grad(written_out), arrays(uniform((200,), 624), uniform((10000,), 625))),
    }
    return {f"asked/{name}": step for name, step in steps.items()}
