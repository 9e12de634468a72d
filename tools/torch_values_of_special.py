"""Cases of tools/torch_values.py: Bessel functions, exponential integrals, the zeta function, Kaiser's window, and L D L*
factors. PyTorch has few derivatives of these, and no exponential integrals: those are SciPy's and mpmath's, and what is
solved with the factors has the derivatives of torch.linalg.solve."""
import mpmath
import numpy
import scipy.special
import torch
from torch_inputs import at, positive, x, z

special, linalg = torch.special, torch.linalg


def by(value, *slopes):
    """A function of arrays whose derivatives are `slopes`, by each argument."""

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *arguments):
            ctx.save_for_backward(*arguments)
            return torch.as_tensor(value(*(a.numpy() for a in arguments)))

        @staticmethod
        def backward(ctx, ct):
            arrays = [a.numpy() for a in ctx.saved_tensors]
            return tuple(
                (ct * torch.as_tensor(slope(*arrays))).sum_to_size(a.shape) for a, slope in zip(ctx.saved_tensors, slopes)
            )

    return Function.apply


def of_mpmath(f):
    return numpy.vectorize(lambda *numbers: float(f(*map(mpmath.mpf, numbers))), otypes=[float])


def spherical_slope(v):
    return of_mpmath(lambda w: (mpmath.cos(w) - mpmath.sinc(w)) / w if w else mpmath.mpf(0))(v)


def bessel():
    s = scipy.special
    kinds = {
        "bessel_j0": (s.j0, lambda v: -s.j1(v)),
        "bessel_j1": (s.j1, lambda v: s.jvp(1, v)),
        "bessel_y0": (s.y0, lambda v: -s.y1(v)),
        "bessel_y1": (s.y1, lambda v: s.yvp(1, v)),
        "airy_ai": (lambda v: s.airy(v)[0], lambda v: s.airy(v)[1]),
        "spherical_bessel_j0": (lambda v: s.spherical_jn(0, v), spherical_slope),
        "modified_bessel_i0": (s.i0, s.i1),
        "modified_bessel_i1": (s.i1, lambda v: s.ivp(1, v)),
        "modified_bessel_k0": (s.k0, lambda v: -s.k1(v)),
        "modified_bessel_k1": (s.k1, lambda v: s.kvp(1, v)),
        "scaled_modified_bessel_k0": (s.k0e, lambda v: s.k0e(v) - s.k1e(v)),
        "scaled_modified_bessel_k1": (s.k1e, lambda v: s.k1e(v) - s.k0e(v) - s.k1e(v) / v),
    }
    for name, (value, slope) in kinds.items():
        falls = "_y" in name or "_k" in name
        inputs = (lambda: (torch.cat([positive(3), at(0.1, 7, 20)]),)) if falls else (lambda: (torch.cat([x(3), at(-7, 20)]),))
        check = torch.tensor([0.3, 7.0, 20.0], dtype=torch.float64)  # PyTorch's own have five digits at 7
        torch.testing.assert_close(by(value, slope)(check), getattr(special, name)(check), rtol=1e-4, atol=0)
        yield name, by(value, slope), inputs
        if not falls:
            yield f"{name} at 0", by(value, slope), lambda: (at(0, 1),)


def integrals():
    s, exp = scipy.special, numpy.exp
    yield "exp1", by(s.exp1, lambda v: -exp(-v) / v), lambda: (torch.cat([positive(4), at(0.01, 30)]),)
    yield "expi", by(s.expi, lambda v: exp(v) / v), lambda: (torch.cat([x(3), at(-30, 0.37, 8, 20, 40)]),)


def zeta():
    slope_by_s = of_mpmath(lambda s, q: mpmath.zeta(s, q, 1))
    slope_by_q = lambda s, q: -s * scipy.special.zeta(s + 1, q)
    f = by(scipy.special.zeta, slope_by_s, slope_by_q)
    yield "zeta", f, lambda: (positive(2, 3) + 1.25, positive(3))
    yield "zeta values", f, lambda: (at(1.1, 2, 30, 4), at(0.1, 1, 3, 50))
    yield "zeta edges kink", lambda s, q: special.zeta(s, q).detach(), lambda: (at(1, 2, 0.5), at(2, 0, 2))


def windows():
    def kaiser(beta):
        k = torch.arange(7, dtype=torch.float64)
        return torch.i0(beta * torch.sqrt(1 - (2 * k / 7 - 1) ** 2)) / torch.i0(beta)

    yield "kaiser_window", kaiser, lambda: (positive() * 4,)
    for name, n, periodic, beta in (("12", 8, True, 12.0), ("symmetric", 6, False, 3.0), ("one", 1, True, 3.0)):
        f = lambda n=n, p=periodic, b=beta: torch.kaiser_window(n, p, b, dtype=torch.float64)
        yield f"kaiser_window {name}", f, lambda: ()


def factors():
    pairs = at(0.1, 2, 0.3, 2, 0, 0.2, 0.3, 0.2, -1).reshape(3, 3)
    near = lambda: pairs + x(3, 3) * 0.1
    complex_near = lambda: pairs + z(3, 3) * 0.1
    half = lambda a: (a + a.mT) / 2
    hermitian = lambda a: (a + a.mH) / 2
    factor = lambda a, **options: linalg.ldl_factor(half(a) if not options else hermitian(a), **options)
    solve = lambda a, b: linalg.solve(half(a), b)
    yield "ldl_factor kink", lambda a: factor(a.detach()), lambda: (x(3, 3),)
    yield "ldl_factor pairs kink", lambda a: factor(a.detach()), lambda: (near(),)
    yield "ldl_factor complex kink", lambda a: factor(a.detach()), lambda: (complex_near(),)
    yield "ldl_factor hermitian kink", lambda a: factor(a.detach(), hermitian=True), lambda: (complex_near(),)
    yield "ldl_factor_ex kink", lambda a: linalg.ldl_factor_ex(half(a.detach())), lambda: (x(2, 3, 3),)
    yield (
        "ldl_factor_ex hermitian kink",
        lambda a: linalg.ldl_factor_ex(hermitian(a.detach()), hermitian=True),
        lambda: (complex_near(),),
    )
    yield "ldl_solve", solve, lambda: (near(), x(3, 2))
    yield "ldl_solve many", solve, lambda: (x(2, 3, 3) + 3 * torch.eye(3).double(), x(3, 1))
    yield "ldl_solve complex", solve, lambda: (complex_near(), z(3, 2))
    yield "ldl_solve hermitian", lambda a, b: linalg.solve(hermitian(a), b), lambda: (complex_near(), z(3, 2))
    yield "ldl_solve longer", solve, lambda: (x(5, 5), x(5, 1))


FAMILIES = [bessel, integrals, zeta, windows, factors]
