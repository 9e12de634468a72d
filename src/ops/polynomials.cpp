// Orthogonal polynomials by three-term recurrences.
#include "ricci/ops/polynomials.h"

#include "ops/dense.h"
#include "primitive/called.h"
#include "ricci/ops.h"
#include "ricci/primitive/raise.h"

namespace ricci {
namespace {

/// p_n(x) from p_0 = 1, p_1 = factor x + offset, and next(k, p_k, p_{k-1}) = p_{k+1}.
struct First {
  double factor = 1, offset = 0;
};
template <class Next>
Tensor recurrence(const char* op, const Tensor& x, std::int64_t n, First first, const Next& next) {
  const Called as(op, x);
  constexpr std::int64_t most = 100'000;
  if (n > most)
    raise<ValueError>(std::string(op) + ": the degree is " + std::to_string(n) + "; pass one of at most " +
                      std::to_string(most));
  const Tensor values = floating(x);
  if (n <= 0) return full_like(values, n < 0 ? 0 : 1);
  Tensor before = ones_like(values), now = values * first.factor + first.offset;
  for (std::int64_t k = 1; k < n; ++k) before = std::exchange(now, next(static_cast<double>(k), now, before));
  return now;
}

/// The four kinds of Chebyshev's differ in p_1 alone.
Tensor chebyshev(const char* op, const Tensor& x, std::int64_t n, First first) {
  return recurrence(op, x, n, first, [&](double, const Tensor& p, const Tensor& before) { return 2 * x * p - before; });
}
Tensor on_unit_interval(const Tensor& x) { return 2 * x - 1; }

}  // namespace

namespace ops {

Tensor chebyshev_polynomial_t(const Tensor& x, std::int64_t n) { return chebyshev("chebyshev_polynomial_t", x, n, {}); }
Tensor chebyshev_polynomial_u(const Tensor& x, std::int64_t n) {
  return chebyshev("chebyshev_polynomial_u", x, n, {2, 0});
}
Tensor chebyshev_polynomial_v(const Tensor& x, std::int64_t n) {
  return chebyshev("chebyshev_polynomial_v", x, n, {2, -1});
}
Tensor chebyshev_polynomial_w(const Tensor& x, std::int64_t n) {
  return chebyshev("chebyshev_polynomial_w", x, n, {2, 1});
}
Tensor shifted_chebyshev_polynomial_t(const Tensor& x, std::int64_t n) {
  const Called as("shifted_chebyshev_polynomial_t", x);
  return chebyshev_polynomial_t(on_unit_interval(x), n);
}
Tensor shifted_chebyshev_polynomial_u(const Tensor& x, std::int64_t n) {
  const Called as("shifted_chebyshev_polynomial_u", x);
  return chebyshev_polynomial_u(on_unit_interval(x), n);
}
Tensor shifted_chebyshev_polynomial_v(const Tensor& x, std::int64_t n) {
  const Called as("shifted_chebyshev_polynomial_v", x);
  return chebyshev_polynomial_v(on_unit_interval(x), n);
}
Tensor shifted_chebyshev_polynomial_w(const Tensor& x, std::int64_t n) {
  const Called as("shifted_chebyshev_polynomial_w", x);
  return chebyshev_polynomial_w(on_unit_interval(x), n);
}
Tensor hermite_polynomial_h(const Tensor& x, std::int64_t n) {
  return recurrence("hermite_polynomial_h", x, n, {2, 0},
                    [&](double k, const Tensor& p, const Tensor& before) { return 2 * (x * p - k * before); });
}
Tensor hermite_polynomial_he(const Tensor& x, std::int64_t n) {
  return recurrence("hermite_polynomial_he", x, n, {},
                    [&](double k, const Tensor& p, const Tensor& before) { return x * p - k * before; });
}
Tensor laguerre_polynomial_l(const Tensor& x, std::int64_t n) {
  return recurrence("laguerre_polynomial_l", x, n, {-1, 1}, [&](double k, const Tensor& p, const Tensor& before) {
    return ((2 * k + 1 - x) * p - k * before) / (k + 1);
  });
}
Tensor legendre_polynomial_p(const Tensor& x, std::int64_t n) {
  return recurrence("legendre_polynomial_p", x, n, {}, [&](double k, const Tensor& p, const Tensor& before) {
    return ((2 * k + 1) * x * p - k * before) / (k + 1);
  });
}

}  // namespace ops
}  // namespace ricci
