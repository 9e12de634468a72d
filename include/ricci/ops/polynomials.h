// Orthogonal polynomials of degree n at x, by their recurrence in n: n multiplications, which `compile` makes one loop.
// Real and complex x; any number of derivatives. 0 for a negative n, ValueError for one above 100,000. DLMF 18.9 gives
// the recurrences.
#pragma once

#include "ricci/tensor.h"

namespace ricci::ops {

Tensor chebyshev_polynomial_t(const Tensor& x, std::int64_t n);  ///< of the first kind: T_n(cos a) = cos(n a)
Tensor chebyshev_polynomial_u(const Tensor& x, std::int64_t n);  ///< of the second: U_n(cos a) = sin((n + 1) a) / sin a
Tensor chebyshev_polynomial_v(const Tensor& x, std::int64_t n);  ///< of the third kind
Tensor chebyshev_polynomial_w(const Tensor& x, std::int64_t n);  ///< of the fourth kind
/// The same on [0, 1]: at 2x - 1.
Tensor shifted_chebyshev_polynomial_t(const Tensor& x, std::int64_t n);
Tensor shifted_chebyshev_polynomial_u(const Tensor& x, std::int64_t n);
Tensor shifted_chebyshev_polynomial_v(const Tensor& x, std::int64_t n);
Tensor shifted_chebyshev_polynomial_w(const Tensor& x, std::int64_t n);
Tensor hermite_polynomial_h(const Tensor& x, std::int64_t n);   ///< the physicists', of the weight exp(-x²)
Tensor hermite_polynomial_he(const Tensor& x, std::int64_t n);  ///< the probabilists', of the weight exp(-x²/2)
Tensor laguerre_polynomial_l(const Tensor& x, std::int64_t n);  ///< of the weight exp(-x) on x > 0
Tensor legendre_polynomial_p(const Tensor& x, std::int64_t n);  ///< of the weight 1 on [-1, 1]

}  // namespace ricci::ops
