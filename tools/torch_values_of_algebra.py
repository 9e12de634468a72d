"""Linear algebra beyond products and solvers: torch.linalg's factors, spectra, norms, and the Schur form of SciPy."""
import math

import numpy
import scipy.linalg
import torch

from torch_inputs import at, x, z


def spread(*shape):
    return x(*shape) / 2 + torch.diag(torch.arange(shape[-1], dtype=torch.float64) * 3 + 2)


def complement(q):
    """The projector onto what q's columns leave."""
    return torch.eye(q.shape[-2], dtype=q.dtype) - q @ q.mH


def hermitian_powers(values, vectors):
    return values, vectors @ (values.square().unsqueeze(-1) * vectors.mH)


def singular_parts(u, s, vh):
    """What reads vectors but no factor of theirs: u s² uᴴ, v s² vᴴ and the polar factor."""
    return s, (u * s.square().unsqueeze(-2)) @ u.mH, vh.mH @ (s.square().unsqueeze(-1) * vh), u @ vh


def low_rank(u, s, vh, k):
    return s[..., :k], (u * s.unsqueeze(-2)) @ vh


def geqrf(a):
    q, r = torch.linalg.qr(a)
    n = a.shape[-1]
    _, l, u = torch.linalg.lu(q - torch.eye(*a.shape[-2:], dtype=a.dtype))
    below = torch.cat((r, torch.zeros(*a.shape[:-2], a.shape[-2] - n, n, dtype=a.dtype)), -2)
    return l.tril(-1) + below, -u.diagonal(dim1=-2, dim2=-1)


def powers(values, vectors):
    """v w² v⁻¹, which reads neither order nor length nor phase."""
    return vectors @ (values.square().unsqueeze(-1) * torch.linalg.inv(vectors))


def schur_form(a):
    """SciPy's t and z; in blocks the greater element above the diagonal, the greatest elements of z's columns positive."""
    t, z = scipy.linalg.schur(a)
    for j in range(len(t) - 1):
        if abs(t[j + 1, j]) > abs(t[j, j + 1]) and t[j + 1, j] != 0:
            order = numpy.arange(len(t))
            order[[j, j + 1]] = j + 1, j
            t, z = t[order][:, order], z[:, order]
    greatest = z[abs(z).argmax(0), range(len(z))]
    phases = greatest.conj() / abs(greatest)
    return phases.conj()[:, None] * t * phases, z * phases


def schur_changes(t, z, da):
    """How t and z change: of da = d(z t zᴴ), written out for all elements of dt and zᴴ dz, the least squares."""
    n, is_complex = len(t), numpy.iscomplexobj(t)
    greatest = abs(z).argmax(0)
    parts = (1, 1j) if is_complex else (1,)
    below = [(i, j) for i in range(n) for j in range(i) if t[i, j] == 0]
    pairs = [i for i in range(n - 1) if t[i + 1, i] != 0]
    flat = lambda x: numpy.concatenate([x.real.ravel(), x.imag.ravel()])

    def equations(dt, w):
        dz = z @ w
        must_be_0 = [dt[i, j] for i, j in below] + [dt[i, i] - dt[i + 1, i + 1] for i in pairs]
        turns = [dz[k, j].imag for j, k in enumerate(greatest)]
        return numpy.concatenate([flat(x) for x in (dt + w @ t - t @ w, w + w.conj().T, numpy.array(must_be_0 + turns))])

    unknowns = []  # a change of one element of dt or w
    for which in range(2):
        for k in range(n * n):
            for part in parts:
                both = numpy.zeros((2, n, n), t.dtype)
                both[which].flat[k] = part
                unknowns.append(both)
    matrix = numpy.stack([equations(*u) for u in unknowns], 1)
    right = numpy.zeros(len(matrix))
    right[: 2 * n * n] = flat(z.conj().T @ da @ z)
    found = numpy.linalg.lstsq(matrix, right, rcond=None)[0]
    assert numpy.allclose(matrix @ found, right, atol=1e-10)
    dt, w = numpy.tensordot(found, numpy.stack(unknowns), 1)
    return dt, z @ w


class Schur(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        both = [schur_form(one) for one in a.reshape(-1, *a.shape[-2:]).numpy()]
        ctx.both = both
        return tuple(torch.as_tensor(numpy.stack(x)).reshape(a.shape) for x in zip(*both))

    @staticmethod
    def backward(ctx, *cts):
        n = cts[0].shape[-1]
        of_each = [ct.reshape(-1, n, n).numpy() for ct in cts]
        gradients = []
        for (t, z), ct_t, ct_z in zip(ctx.both, *of_each):
            gradient = numpy.zeros(n * n, t.dtype)
            for k in range(n * n):
                for part in (1, 1j) if numpy.iscomplexobj(t) else (1,):
                    da = numpy.zeros((n, n), t.dtype)
                    da.flat[k] = part
                    dt, dz = schur_changes(t, z, da)
                    gradient[k] += part * (numpy.vdot(ct_t, dt) + numpy.vdot(ct_z, dz)).real
            gradients.append(gradient)
        return torch.as_tensor(numpy.stack(gradients)).reshape(cts[0].shape)


def algebra():
    linalg = torch.linalg
    eye = lambda *sizes: torch.eye(*sizes, dtype=torch.float64)
    tall = lambda: (x(2, 4, 3) + 2 * eye(4, 3),)
    square = lambda: (spread(3, 3),)
    complex_square = lambda: (spread(3, 3) + 1j * x(3, 3) / 2,)
    pair = lambda: (spread(3, 3), x(3, 2))
    row_pair = lambda: (spread(3, 3), x(2, 3))
    # Triangular factors.
    yield "lu", lambda a: linalg.lu(a), lambda: (x(2, 3, 3),)
    yield "lu tall", lambda a: linalg.lu(a), lambda: (x(4, 2),)
    yield "lu wide", lambda a: linalg.lu(a), lambda: (x(2, 4),)
    yield "lu complex", lambda a: linalg.lu(a), lambda: (z(3, 3),)
    yield "lu_factor", lambda a: linalg.lu_factor(a), lambda: (x(3, 3),)
    yield "lu_factor_ex", lambda a: linalg.lu_factor_ex(a), lambda: (x(2, 3, 2),)
    yield "lu_unpack", lambda a: torch.lu_unpack(*linalg.lu_factor(a)), lambda: (x(3, 3),)
    yield "lu_solve", lambda a, b: linalg.lu_solve(*linalg.lu_factor(a), b), lambda: (x(2, 3, 3), x(3, 2))
    yield "lu_solve many", lambda a, b: linalg.lu_solve(*linalg.lu_factor(a), b), lambda: (x(3, 3), x(2, 3, 2))
    yield "lu_solve adjoint", lambda a, b: linalg.lu_solve(*linalg.lu_factor(a), b, adjoint=True), lambda: (z(3, 3), z(3, 2))
    yield "lu_solve right", lambda a, b: linalg.lu_solve(*linalg.lu_factor(a), b, left=False), lambda: (x(3, 3), x(2, 3))
    yield (
        "lu_solve right adjoint",
        lambda a, b: linalg.lu_solve(*linalg.lu_factor(a), b, left=False, adjoint=True),
        lambda: (z(2, 2), z(3, 2)),
    )
    yield "inv_ex", lambda a: (linalg.inv(a), linalg.inv_ex(a.detach()).info), lambda: (x(2, 3, 3),)
    yield "solve_ex", lambda a, b: linalg.solve_ex(a, b), lambda: (x(2, 3, 3), x(2, 3, 2))
    yield "solve_ex of vectors", lambda a, b: linalg.solve_ex(a, b), lambda: (x(3, 3), x(3))
    positive_definite = lambda a: a @ a.mH + eye(a.shape[-1])
    yield "cholesky_ex", lambda a: linalg.cholesky_ex(positive_definite(a)), lambda: (x(2, 3, 3),)
    yield "cholesky_ex upper", lambda a: linalg.cholesky_ex(positive_definite(a), upper=True), lambda: (z(3, 3),)
    yield "cholesky upper", lambda a: linalg.cholesky(positive_definite(a), upper=True), lambda: (z(3, 3),)
    yield "cholesky_solve upper", lambda b, l: torch.cholesky_solve(b, l.triu(), upper=True), lambda: (x(3, 2), spread(3, 3))
    yield "cholesky_inverse", lambda a: torch.cholesky_inverse(torch.tril(a)), square
    yield "cholesky_inverse upper", lambda a: torch.cholesky_inverse(torch.triu(a), upper=True), square
    yield "solve right", lambda a, b: linalg.solve(a, b, left=False), row_pair
    yield "solve left", lambda a, b: linalg.solve(a, b, left=True), pair
    yield "solve_triangular right", lambda a, b: linalg.solve_triangular(a, b, upper=True, left=False), row_pair
    yield "solve_triangular right lower", lambda a, b: linalg.solve_triangular(a, b, upper=False, left=False), row_pair
    yield (
        "solve_triangular unit",
        lambda a, b: linalg.solve_triangular(a, b, upper=False, unitriangular=True),
        lambda: (x(2, 3, 3), x(2, 3, 1)),
    )
    # Orthogonal factors.
    yield "qr", lambda a: linalg.qr(a), tall
    yield "qr square", lambda a: linalg.qr(a), square
    yield "qr wide", lambda a: linalg.qr(a), lambda: (x(2, 4) + 2 * eye(2, 4),)
    yield "qr complex", lambda a: linalg.qr(a), lambda: (z(4, 2),)
    yield "qr complete of square", lambda a: linalg.qr(a, mode="complete"), lambda: (spread(2, 2),)
    # The span of the last columns is what the first ones leave: PyTorch has no derivative of these.
    yield "qr complete", lambda a: complement(linalg.qr(a).Q), lambda: (x(4, 2),)
    yield "qr complete complex", lambda a: complement(linalg.qr(a).Q), lambda: (z(3, 1),)
    yield "qr r", lambda a: linalg.qr(a).R, tall
    # PyTorch has no derivative: that of what QR and LU say of the reflections.
    yield "geqrf tall", lambda a: geqrf(a), tall
    yield "geqrf complex", lambda a: geqrf(a), lambda: (z(4, 2),)
    yield "geqrf wide", lambda a: torch.geqrf(a.detach()), lambda: (x(2, 4),)
    reflections = lambda a: (torch.geqrf(a)[0], torch.geqrf(a)[1])
    yield "householder_product", lambda a, t: linalg.householder_product(a, t), lambda: reflections(x(2, 4, 3))
    yield "householder_product few", lambda a, t: linalg.householder_product(a, t), lambda: (x(4, 3) / 2, x(2))
    yield "householder_product complex", lambda a, t: linalg.householder_product(a, t), lambda: reflections(z(3, 2))
    yield "ormqr", lambda a, t, b: torch.ormqr(a, t, b), lambda: (x(4, 2) / 2, x(2), x(4, 3))
    yield "ormqr transpose", lambda a, t, b: torch.ormqr(a, t, b, transpose=True), lambda: (*reflections(z(4, 2)), z(4, 3))
    yield "ormqr right", lambda a, t, b: torch.ormqr(a, t, b, left=False), lambda: (*reflections(z(3, 2)), z(2, 3))
    yield (
        "ormqr right transpose",
        lambda a, t, b: torch.ormqr(a, t, b, left=False, transpose=True),
        lambda: (x(3, 3) / 2, x(3), x(2, 3)),
    )
    yield "polar_decomposition", lambda a: linalg.polar(a), square
    yield "polar_decomposition tall", lambda a: linalg.polar(a), tall
    yield "polar_decomposition complex", lambda a: linalg.polar(a), lambda: (z(3, 2),)
    # Spectra.
    yield "eigvals", lambda a: linalg.eigvals(a).real.sort().values, square
    yield "eig powers", lambda a: powers(*linalg.eig(a)), lambda: (spread(2, 3, 3),)
    turns = torch.tensor([[0.5, -1.5, 0.1], [1.2, 0.4, -0.2], [0.3, 0.2, 2.0]], dtype=torch.float64)
    yield "eig turns", lambda a: powers(*linalg.eig(a)), lambda: (turns,)
    yield "eig complex", lambda a: powers(*linalg.eig(a)), complex_square
    yield "schur", Schur.apply, lambda: (spread(2, 3, 3),)
    two_turns = at(0.5, -1.5, 0.1, 0.2, 1.2, 0.4, -0.2, 0.3, 0.3, 0.2, 5, 2, -0.4, 0.1, -1, 6).reshape(4, 4)
    yield "schur pair", Schur.apply, lambda: (turns,)
    yield "schur pairs", Schur.apply, lambda: (torch.stack([two_turns, two_turns.mT]) + x(2, 4, 4) / 10,)
    yield "schur complex", Schur.apply, complex_square
    yield "schur to complex", lambda a: Schur.apply(torch.complex(a, torch.zeros_like(a))), lambda: (turns,)
    sides = lambda a: (a + a.mH) / 2  # both triangles are read
    yield "eigh complex", lambda a: hermitian_powers(*linalg.eigh(sides(a))), complex_square
    yield "eigvalsh complex", lambda a: linalg.eigvalsh(sides(a)), complex_square
    lower = lambda a: a.tril() + a.tril(-1).mH
    upper = lambda a: a.triu() + a.triu(1).mH
    yield "eigh L", lambda a: hermitian_powers(*linalg.eigh(lower(a))), square
    yield "eigh U", lambda a: hermitian_powers(*linalg.eigh(upper(a), UPLO="U")), square
    yield "eigvalsh L", lambda a: linalg.eigvalsh(lower(a)), square
    yield "eigvalsh U", lambda a: linalg.eigvalsh(upper(a), UPLO="U"), complex_square
    yield "svd complex", lambda a: singular_parts(*linalg.svd(a, full_matrices=False)), lambda: (z(3, 2),)
    yield "svd complex wide", lambda a: singular_parts(*linalg.svd(a, full_matrices=False)), lambda: (z(2, 3),)
    yield "svd full of square", lambda a: singular_parts(*linalg.svd(a)), square
    yield "svd full", lambda a: (linalg.svdvals(a), complement(linalg.qr(a).Q)), lambda: (x(4, 2),)
    yield "svd full wide", lambda a: (linalg.svdvals(a), complement(linalg.qr(a.mH).Q)), lambda: (z(2, 3),)
    yield "svdvals complex", lambda a: linalg.svdvals(a), lambda: (z(3, 2),)
    yield "svd_lowrank draws", lambda a, b: low_rank(*linalg.svd(a @ b, full_matrices=False), 2), lambda: (x(5, 2), x(2, 4))
    yield "svd_lowrank draws wide", lambda a: low_rank(*linalg.svd(a, full_matrices=False), 2), lambda: (x(2, 3),)
    yield "svd_lowrank draws complex", lambda a: low_rank(*linalg.svd(a, full_matrices=False), 2), lambda: (z(3, 2),)
    centred = lambda a: a - a.mean(-2, keepdim=True)
    yield "pca_lowrank draws", lambda a: low_rank(*linalg.svd(centred(a), full_matrices=False), 2), lambda: (x(5, 2),)
    yield "pca_lowrank draws as it is", lambda a: low_rank(*linalg.svd(a, full_matrices=False), 2), lambda: (x(5, 2),)
    # Functions of matrices.
    yield "matrix_exp", lambda a: linalg.matrix_exp(a), lambda: (x(2, 3, 3),)
    yield "matrix_exp great", lambda a: linalg.matrix_exp(a), lambda: (x(3, 3) * 5,)
    yield "matrix_exp small", lambda a: linalg.matrix_exp(a), lambda: (x(3, 3) / 1e3,)
    yield "matrix_exp complex", lambda a: linalg.matrix_exp(a), lambda: (z(2, 2),)
    yield "matrix_sqrth", lambda a: linalg.matrix_sqrth(positive_definite(a)), lambda: (x(2, 3, 3),)
    yield "matrix_sqrth complex", lambda a: linalg.matrix_sqrth(positive_definite(a)), lambda: (z(2, 2),)
    # Least squares, ranks and norms.
    yield "pinv", lambda a: linalg.pinv(a), tall
    yield "pinv wide", lambda a: linalg.pinv(a), lambda: (x(2, 3),)
    yield "pinv complex", lambda a: linalg.pinv(a), lambda: (z(3, 2),)
    yield "pinv rtol", lambda a: linalg.pinv(a, rtol=1e-3), lambda: (x(3, 3),)
    yield "pinv kink", lambda a: linalg.pinv(a), lambda: (torch.outer(at(1, 2, 3), at(1, -1)),)
    yield "lstsq", lambda a, b: linalg.lstsq(a, b).solution, lambda: (*tall(), x(2, 4, 2))
    yield "lstsq wide", lambda a, b: linalg.lstsq(a, b).solution, lambda: (x(2, 3), x(2, 1))
    yield "lstsq complex", lambda a, b: linalg.lstsq(a, b).solution, lambda: (z(3, 2), z(3, 1))
    yield "lstsq complex wide", lambda a, b: linalg.lstsq(a, b).solution, lambda: (z(2, 3), z(2, 1))
    yield "matrix_rank", lambda a: linalg.matrix_rank(a), lambda: (torch.outer(at(1, 2, 3), at(1, -1)),)
    yield "matrix_rank rtol", lambda a: linalg.matrix_rank(a, rtol=0.5), lambda: (torch.diag(at(1, 2, 3)),)
    yield "matrix_norm", lambda a: linalg.matrix_norm(a), lambda: (x(2, 3, 4),)
    yield "matrix_norm nuc", lambda a: linalg.matrix_norm(a, "nuc"), lambda: (x(2, 3, 4),)
    yield "matrix_norm nuc complex", lambda a: linalg.matrix_norm(a, "nuc"), lambda: (z(3, 2),)
    # Equal singular values, where PyTorch's second derivatives are NaN.
    yield "matrix_norm nuc of equal", lambda a: linalg.matrix_norm(a, "nuc"), lambda: (2 * eye(3, 3),)
    yield "matrix_norm nuc kink", lambda a: linalg.matrix_norm(a, "nuc"), lambda: (torch.diag(at(3, 2, 0)),)
    yield "matrix_norm nuc dims", lambda a: linalg.matrix_norm(a, "nuc", (2, 0), True), lambda: (x(2, 3, 4),)
    yield "matrix_norm fro dims", lambda a: linalg.matrix_norm(a, "fro", (0, 2)), lambda: (x(2, 3, 4),)
    yield "matrix_norm 2", lambda a: linalg.matrix_norm(a, 2), lambda: (x(2, 3, 4),)
    yield "matrix_norm -2", lambda a: linalg.matrix_norm(a, -2), lambda: (x(3, 3),)
    yield "matrix_norm 1", lambda a: linalg.matrix_norm(a, 1), lambda: (x(2, 3, 4),)
    yield "matrix_norm -1", lambda a: linalg.matrix_norm(a, -1), lambda: (x(3, 4),)
    yield "matrix_norm inf", lambda a: linalg.matrix_norm(a, math.inf), lambda: (x(3, 4),)
    yield "matrix_norm 1 dims", lambda a: linalg.matrix_norm(a, 1, (1, 0), True), lambda: (x(2, 3, 4),)
    yield "norm fro", lambda a: torch.norm(a, "fro"), lambda: (x(2, 3),)
    yield "norm fro dims", lambda a: torch.norm(a, "fro", (0, 1), True), lambda: (x(2, 3, 2),)
    yield "norm nuc", lambda a: torch.norm(a, "nuc"), lambda: (x(2, 3),)
    yield "norm nuc dims", lambda a: torch.norm(a, "nuc", (0, 2)), lambda: (x(2, 3, 2),)
    yield "condition_number", lambda a: linalg.cond(a), lambda: (spread(2, 3, 3),)
    # linalg.cond writes to the inverse that its derivative needs.
    yield "condition_number fro", lambda a: linalg.matrix_norm(a) * linalg.matrix_norm(linalg.inv(a)), square
    yield "condition_number 1", lambda a: linalg.matrix_norm(a, 1) * linalg.matrix_norm(linalg.inv(a), 1), square
    yield "condition_number -2", lambda a: linalg.cond(a, -2), square
    # Tensors as matrices, vectors as powers.
    yield "tensorinv", lambda a: linalg.tensorinv(a), lambda: (x(2, 3, 6),)
    yield "tensorinv ind", lambda a: linalg.tensorinv(a, 1), lambda: (x(4, 2, 2),)
    yield "tensorsolve", lambda a, b: linalg.tensorsolve(a, b), lambda: (x(2, 3, 6), x(2, 3))
    yield "tensorsolve dims", lambda a, b: linalg.tensorsolve(a, b, (0, 2)), lambda: (x(2, 4, 2), x(4))
    yield "vecdot", lambda a, b: linalg.vecdot(a, b), lambda: (z(2, 3), z(3))
    yield "vecdot dim", lambda a, b: linalg.vecdot(a, b, dim=0), lambda: (x(2, 3), x(2, 3))
    yield "vander", lambda a: linalg.vander(a), lambda: (x(2, 3),)
    yield "vander of none", lambda a: linalg.vander(a, N=2)[..., :0], lambda: (x(3),)
    yield "vander of more", lambda a: linalg.vander(a, N=4), lambda: (x(3),)


FAMILIES = [algebra]
