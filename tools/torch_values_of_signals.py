"""Cases of running and scattered reductions, searching, sequences, windows, polynomials and short-time transforms, for
tools/torch_values.py."""
import numpy
import torch
from torch_inputs import apart, at, positive, whole, x, z

WINDOWS = torch.signal.windows


def running():
    for name in "cummax cummin".split():
        f = getattr(torch, name)
        yield name, lambda a, f=f: f(a, 1), lambda: (apart(3, 4),)
        yield f"{name} ties kink", lambda a, f=f: f(a, 0), lambda: (at(1, 3, 3, 2, 3, -1, 1),)
        yield f"{name} of NaN kink", lambda a, f=f: f(a.detach(), 0), lambda: (at(1, float("nan"), 3, 2),)
        yield f"{name} whole", lambda a, f=f: f(a, 0), lambda: (whole(3, 1, 3, 5),)
    ties = lambda: (at(3, 1, 3, 2, 1, 7, 3, 3, 0, 0, 1, 2).reshape(2, 6),)
    yield "mode kink", torch.mode, ties
    yield "mode dim kink", lambda a: torch.mode(a, 0), ties
    yield "mode keepdim kink", lambda a: torch.mode(a, 1, True), ties
    yield "mode whole", torch.mode, lambda: (whole(2, 1, 2, 1, 5),)


def scattered():
    places = torch.tensor([[0, 2, 0], [1, 1, 3]])
    for how in "sum prod mean amax amin".split():
        for include in (True, False):
            name = how if include else f"{how} without self"
            f = lambda a, i, b, how=how, include=include: torch.scatter_reduce(a, 1, i, b, how, include_self=include)
            yield f"scatter_reduce {name}", f, lambda: (apart(2, 4), places, apart(2, 3) + 0.05)
            if how == "sum":
                continue
            f = lambda a, i, b, how=how, include=include: torch.index_reduce(a, 0, i, b, how, include_self=include)
            yield f"index_reduce {name}", f, lambda: (apart(4, 2), whole(3, 0, 3), apart(3, 2) + 0.05)
    one = lambda how: lambda a, i, b: torch.scatter_reduce(a, 0, i, b, how)
    yield "scatter_reduce ties kink", one("amax"), lambda: (at(1, 2, 3), whole(0, 0, 2, 0), at(4, 4, 3, 1))
    # PyTorch's second derivatives are wrong at zeros; a product of few has those of its formula.
    yield (
        "scatter_reduce prod of zero",
        lambda a, i, b: torch.stack((a[0] * b[0] * b[1] * b[3], a[1], a[2] * b[2])),
        lambda: (at(1, 2, 3), whole(0, 0, 2, 0), at(0, 4, 0, 0)),
    )
    yield "scatter_reduce whole", one("mean"), lambda: (whole(1, 2, 3), whole(0, 0, 2), whole(4, 5, -9))


def searching():
    table = at(1, 2, 2, 5)
    yield "searchsorted right", lambda a, v: torch.searchsorted(a, v, right=True), lambda: (table, at(0, 1, 2, 3, 9))
    yield (
        "searchsorted sorter",
        lambda a, v, s: torch.searchsorted(a, v, sorter=s),
        lambda: (at(5, 1, 2), at(0, 1.5, 2, 9), whole(1, 2, 0)),
    )
    yield "searchsorted whole", torch.searchsorted, lambda: (whole(1, 3, 5), whole(3, 4, 0))
    yield "bucketize", torch.bucketize, lambda: (at(0, 1, 2, 3).reshape(2, 2), table)
    yield "bucketize right", lambda v, b: torch.bucketize(v, b, right=True), lambda: (at(0, 1, 2, 3), table)
    ties = lambda: (torch.tensor([[3, 1, 2], [1, 1, 7]]),)
    yield "unique_inverse reads", lambda a: torch.unique(a, return_inverse=True), ties
    yield "unique_counts reads", lambda a: torch.unique(a, return_counts=True), ties
    flat = lambda r: (r[0], *r[1])
    yield "histogramdd", lambda a: flat(torch.histogramdd(a.detach(), [2, 3])), lambda: (x(12, 2),)
    yield (
        "histogramdd range weight density",
        lambda a, w: flat(
            torch.histogramdd(a.detach(), [2, 3], range=[-1.0, 1.5, -1.0, 1.5], weight=w.detach(), density=True)
        ),
        lambda: (x(12, 2), positive(12)),
    )
    yield (
        "histogramdd edges",
        lambda a, e, f: flat(torch.histogramdd(a.detach(), [e.detach(), f.detach()])),
        lambda: (x(12, 2), at(-2, -0.5, 0, 1), at(-1, 0, 2)),
    )


def numbers():
    yield "sinc", torch.sinc, lambda: (x(2, 3),)
    yield "sinc whole numbers", torch.sinc, lambda: (at(1, -2, 3),)
    yield "gcd", torch.gcd, lambda: (whole(12, -18, 0, 0), whole(-8, 27, 5, 0))
    yield "gcd narrow", torch.gcd, lambda: (whole(12, -18).to(torch.int32), whole(4).to(torch.int32))
    yield "lcm", torch.lcm, lambda: (whole(12, -18, 0, 0), whole(-8, 27, 5, 0))
    yield "nextafter kink", lambda a, b: torch.nextafter(a.detach(), b.detach()), lambda: (at(1, -1, 0, 2), at(2, -2, -1, 2))
    # PyTorch has no derivative of the mantissa.
    yield "frexp", lambda a: (torch.ldexp(a, -torch.frexp(a.detach())[1]), torch.frexp(a.detach())[1]), lambda: (x(5),)
    yield "frexp extremes kink", lambda a: torch.frexp(a.detach()), lambda: (at(0, 5e-324, -1e308, float("inf")),)


def sequences():
    double = torch.float64
    power = lambda a, b, n, base: base ** (a + (b - a) * torch.arange(n, dtype=double) / (n - 1))
    yield "logspace", lambda a, b: power(a, b, 4, torch.tensor(10.0, dtype=double)), lambda: (x(), x())
    yield "logspace base", lambda a, b, c: power(a, b, 3, c), lambda: (x(), x(), positive())
    yield "logspace whole", lambda: torch.logspace(0, 3, 4, dtype=torch.int64), lambda: ()
    yield "geomspace", lambda a, b: a * (b / a) ** (torch.arange(4, dtype=double) / 3), lambda: (positive(), positive())
    yield "geomspace dtype", lambda: torch.from_numpy(numpy.geomspace(1, 1000, 4)), lambda: ()
    yield "tri", lambda: torch.from_numpy(numpy.tri(3)).double(), lambda: ()
    yield "tri rectangular", lambda: torch.from_numpy(numpy.tri(3, 4, dtype=numpy.int64)), lambda: ()
    yield "tri diagonal", lambda: torch.from_numpy(numpy.tri(3, 4, 1, dtype=numpy.int64)), lambda: ()


def windows():
    for name in "hann hamming blackman nuttall bartlett cosine".split():
        f = getattr(WINDOWS, name)
        for n in (7, 8, 1):
            yield f"{name}_window {n}", lambda f=f, n=n: f(n, sym=False, dtype=torch.float64), lambda: ()
        yield f"{name}_window symmetric", lambda f=f: f(6, dtype=torch.float64), lambda: ()
    k = torch.arange(6, dtype=torch.float64)
    angle = 2 * torch.pi * k / 6
    cosines = lambda a: sum((-1) ** j * a[j] * torch.cos(j * angle) for j in range(a.shape[0]))
    yield "general_cosine_window", cosines, lambda: (x(3),)
    yield "general_cosine_window symmetric", lambda: WINDOWS.general_cosine(5, a=[0.4, 0.5, 0.1], dtype=torch.float64), lambda: ()
    yield "general_hamming_window", lambda a: a - (1 - a) * torch.cos(angle), lambda: (x(),)
    yield "general_hamming_window symmetric", lambda: WINDOWS.general_hamming(5, alpha=0.6, dtype=torch.float64), lambda: ()
    yield "exponential_window", lambda tau: torch.exp(-(k - 3).abs() / tau), lambda: (positive(),)
    yield "exponential_window symmetric", lambda: WINDOWS.exponential(5, tau=1.5, dtype=torch.float64), lambda: ()
    yield "gaussian_window", lambda std: torch.exp(-(((k - 3) / std) ** 2) / 2), lambda: (positive(),)
    yield "gaussian_window symmetric", lambda: WINDOWS.gaussian(5, std=1.5, dtype=torch.float64), lambda: ()


def polynomials():
    # PyTorch has no derivatives of these: its own recurrences in Python have them.
    def by(first, following):
        def f(a, n):
            before, now = torch.ones_like(a), first(a)
            if n <= 0:
                return before if n == 0 else torch.zeros_like(a)
            for k in range(1, n):
                before, now = now, following(k, a, now, before)
            return now

        return f

    chebyshev = lambda k, a, p, q: 2 * a * p - q
    kinds = {"t": lambda a: a, "u": lambda a: 2 * a, "v": lambda a: 2 * a - 1, "w": lambda a: 2 * a + 1}
    definitions = {f"chebyshev_polynomial_{kind}": by(first, chebyshev) for kind, first in kinds.items()}
    for kind, first in kinds.items():
        definitions[f"shifted_chebyshev_polynomial_{kind}"] = lambda a, n, f=by(first, chebyshev): f(2 * a - 1, n)
    definitions["hermite_polynomial_h"] = by(lambda a: 2 * a, lambda k, a, p, q: 2 * (a * p - k * q))
    definitions["hermite_polynomial_he"] = by(lambda a: a, lambda k, a, p, q: a * p - k * q)
    definitions["laguerre_polynomial_l"] = by(lambda a: 1 - a, lambda k, a, p, q: ((2 * k + 1 - a) * p - k * q) / (k + 1))
    definitions["legendre_polynomial_p"] = by(lambda a: a, lambda k, a, p, q: ((2 * k + 1) * a * p - k * q) / (k + 1))
    for name, f in definitions.items():
        check = torch.tensor([0.3, 0.8], dtype=torch.float64)
        torch.testing.assert_close(f(check, 5), getattr(torch.special, name)(check, 5))
        for n in (0, 1, 5):
            yield f"{name} {n}", lambda a, f=f, n=n: f(a, n) * 1.0 + 0 * a, lambda: (x(4) / 2,)
    yield "legendre_polynomial_p -1", lambda a: 0 * a, lambda: (x(4),)


def short_time():
    window = lambda: positive(6)
    stft = lambda a, n, **how: torch.stft(a, n, return_complex=True, **how)
    yield "stft", lambda a: stft(a, 8, window=torch.ones(8).double()), lambda: (x(2, 20),)
    yield (
        "stft options",
        lambda a, w: stft(a, 8, hop_length=3, win_length=6, window=w, center=False, normalized=True),
        lambda: (x(2, 20), window()),
    )
    yield "stft pad_mode", lambda a: stft(a, 8, pad_mode="constant", window=torch.ones(8).double()), lambda: (x(3),)
    yield "stft odd", lambda a: stft(a, 7, hop_length=2, window=torch.ones(7).double()), lambda: (x(15),)
    yield "stft complex", lambda a: stft(a, 4, window=torch.ones(4).double()), lambda: (z(10),)
    yield "stft two sides", lambda a: stft(a, 4, onesided=False, window=torch.ones(4).double()), lambda: (x(10),)
    yield "istft", lambda a: torch.istft(a, 8, window=torch.ones(8).double()), lambda: (z(2, 5, 6),)
    yield (
        "istft options",
        lambda a, w: torch.istft(a, 8, hop_length=2, win_length=6, window=w, normalized=True),
        lambda: (z(5, 7), window()),
    )
    yield "istft length", lambda a: torch.istft(a, 8, window=torch.ones(8).double(), length=9), lambda: (z(5, 6),)
    yield "istft not centred", lambda a: torch.istft(a, 4, center=False, window=torch.ones(4).double()), lambda: (z(3, 5),)
    yield (
        "istft two sides",
        lambda a: torch.istft(a, 4, onesided=False, return_complex=True, window=torch.ones(4).double()),
        lambda: (z(4, 5),),
    )


FAMILIES = [running, scattered, searching, numbers, sequences, windows, polynomials, short_time]
