"""torch.special's names."""

from ._core import (  # noqa: F401
    airy_ai,
    bessel_j0,
    bessel_j1,
    bessel_y0,
    bessel_y1,
    chebyshev_polynomial_t,
    chebyshev_polynomial_u,
    chebyshev_polynomial_v,
    chebyshev_polynomial_w,
    digamma,
    entr,
    erf,
    erfc,
    erfcx,
    erfinv,
    exp2,
    expm1,
    hermite_polynomial_h,
    hermite_polynomial_he,
    i0,
    i0e,
    i1,
    i1e,
    laguerre_polynomial_l,
    legendre_polynomial_p,
    log1p,
    log_ndtr,
    log_softmax,
    logit,
    logsumexp,
    modified_bessel_i0,
    modified_bessel_i1,
    modified_bessel_k0,
    modified_bessel_k1,
    ndtr,
    ndtri,
    polygamma,
    round,
    scaled_modified_bessel_k0,
    scaled_modified_bessel_k1,
    shifted_chebyshev_polynomial_t,
    shifted_chebyshev_polynomial_u,
    shifted_chebyshev_polynomial_v,
    shifted_chebyshev_polynomial_w,
    sinc,
    sinhc,
    softmax,
    spherical_bessel_j0,
    xlog1py,
    xlogy,
    zeta,
)
from ._core import (
    digamma as psi,  # noqa: F401
    igamma as gammainc,  # noqa: F401
    igammac as gammaincc,  # noqa: F401
    lgamma as gammaln,  # noqa: F401
    mvlgamma as multigammaln,  # noqa: F401
    sigmoid as expit,  # noqa: F401
)
