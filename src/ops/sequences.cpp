// Geometric sequences, triangles of ones, windows.
#include "ricci/ops/sequences.h"

#include <numbers>

#include "ops/axes.h"
#include "ops/patterns.h"
#include "primitive/called.h"
#include "primitive/given.h"
#include "primitive/wording.h"
#include "ricci/ops.h"
#include "ricci/ops/bessel.h"

namespace ricci {
namespace {

constexpr double pi = std::numbers::pi;

/// Halves are computed in float32 and rounded once.
DType computed_in(DType dtype) { return dtype == DType::float64 ? dtype : DType::float32; }

/// k = 0, 1, …, n - 1 of a window, and N.
struct Samples {
  Tensor k, period;
};
Samples samples_of(const char* op, Size n, const WindowOptions& options) {
  if (n < 0) raise<ValueError>(std::string(op) + ": n is " + std::to_string(n.hint()) + "; it must be at least 0");
  if (!is_floating(options.dtype))
    raise<TypeError>(std::string(op) + ": a window has fractions; pass a floating dtype, such as rc::float64");
  const Tensor count = Tensor(n) - (options.periodic ? 0 : 1);
  const DType dtype = computed_in(options.dtype);
  return {to(places_along(n), dtype), to(clamp_min(count, 1), dtype)};
}
/// The window in its own type; one of one sample is 1.
Tensor finished(Size n, const Tensor& window, const WindowOptions& options) {
  return to(n == 1 ? ones_like(window) : window, options.dtype);
}

void require_number(const char* op, const char* what, const Tensor& x) {
  if (type_of(x).rank() != 0)
    raise<ValueError>(std::string(op) + ": " + what + " is " + type_text(x) +
                      "; it must be a number or a 0-dim tensor: map over it by vmap");
}

Tensor sum_of_cosines(const char* op, Size n, const Tensor& coefficients, const WindowOptions& options) {
  const Called as(op, coefficients);
  if (type_of(coefficients).rank() != 1)
    raise<ValueError>(std::string(op) + ": the coefficients " + type_text(coefficients) + " must be a vector");
  const auto [k, period] = samples_of(op, n, options);
  const Tensor j = places_along(type_of(coefficients).shape[0]);
  const Tensor signs = 1 - 2 * remainder(j, 2), angles = unsqueeze(k, -1) * (2 * pi / period) * j;
  return finished(n, matmul(cos(angles), to(coefficients * signs, computed_in(options.dtype))), options);
}
Tensor sum_of_cosines(const char* op, Size n, std::vector<double> coefficients, const WindowOptions& options) {
  const Called as(op);
  return sum_of_cosines(op, n, tensor(coefficients, DType::float64), options);
}

/// k - N / 2 over `width`.
Tensor from_centre(const char* op, Size n, const char* what, const Tensor& width, const WindowOptions& options) {
  require_number(op, what, width);
  const auto [k, period] = samples_of(op, n, options);
  return (k - period / 2) / to(width, computed_in(options.dtype));
}

}  // namespace

namespace ops {

Tensor logspace(const Tensor& start, const Tensor& end, Size steps) { return logspace(start, end, steps, 10); }
Tensor logspace(const Tensor& start, const Tensor& end, Size steps, const Tensor& base) {
  return logspace(start, end, steps, base, default_dtype());
}
Tensor logspace(const Tensor& start, const Tensor& end, Size steps, const Tensor& base, DType dtype) {
  const Called as("logspace", start, end, base);
  require_number("logspace", "the base", base);
  const DType computed = is_integral(dtype) ? DType::float64 : dtype;
  return to(pow(to(base, computed), linspace(start, end, steps, computed)), dtype);
}

Tensor geomspace(const Tensor& start, const Tensor& end, Size steps) {
  return geomspace(start, end, steps, default_dtype());
}
Tensor geomspace(const Tensor& start, const Tensor& end, Size steps, DType dtype) {
  const Called as("geomspace", start, end);
  for (const auto& [what, bound] : {std::pair{"the start", &start}, std::pair{"the end", &end}})
    require_number("geomspace", what, *bound);
  if (!inside_transform() && !(start.item<double>() * end.item<double>() > 0))
    raise<ValueError>("geomspace: from " + std::to_string(start.item<double>()) + " to " +
                      std::to_string(end.item<double>()) + "; neither may be 0, and both must have one sign");
  if (steps < 0) raise<ValueError>("geomspace: steps is " + std::to_string(steps.hint()) + "; it must be at least 0");
  const DType computed = is_integral(dtype) ? DType::float64 : dtype;
  const Tensor first = to(start, computed), last = to(end, computed), k = places_along(steps);
  const Tensor part = linspace(0, 1, steps, computed);  // the quotient of the ends may be infinite
  const Tensor inner = sign(first) * pow(abs(first), 1 - part) * pow(abs(last), part);
  return to(where(eq(k, 0), first, where(eq(k, Tensor(steps) - 1), last, inner)), dtype);
}

Tensor tri(Size n) { return tri(n, n); }
Tensor tri(Size n, Size m) { return tri(n, m, 0); }
Tensor tri(Size n, Size m, Size diagonal) { return tri(n, m, diagonal, default_dtype()); }
Tensor tri(Size n, Size m, Size diagonal, DType dtype) {
  const Called as("tri");
  return tril(ones({n, m}, dtype), diagonal);
}

Tensor hann_window(Size n) { return hann_window(n, WindowOptions{}); }
Tensor hann_window(Size n, WindowOptions options) { return sum_of_cosines("hann_window", n, {0.5, 0.5}, options); }
Tensor hamming_window(Size n) { return hamming_window(n, WindowOptions{}); }
Tensor hamming_window(Size n, WindowOptions options) {
  return sum_of_cosines("hamming_window", n, {0.54, 0.46}, options);
}
Tensor blackman_window(Size n) { return blackman_window(n, WindowOptions{}); }
Tensor blackman_window(Size n, WindowOptions options) {
  return sum_of_cosines("blackman_window", n, {0.42, 0.5, 0.08}, options);
}
Tensor nuttall_window(Size n) { return nuttall_window(n, WindowOptions{}); }
Tensor nuttall_window(Size n, WindowOptions options) {
  return sum_of_cosines("nuttall_window", n, {0.3635819, 0.4891775, 0.1365995, 0.0106411}, options);
}
Tensor bartlett_window(Size n) { return bartlett_window(n, WindowOptions{}); }
Tensor bartlett_window(Size n, WindowOptions options) {
  const Called as("bartlett_window");
  const auto [k, period] = samples_of("bartlett_window", n, options);
  return finished(n, 1 - abs(2 * k / period - 1), options);
}
Tensor cosine_window(Size n) { return cosine_window(n, WindowOptions{}); }
Tensor cosine_window(Size n, WindowOptions options) {
  const Called as("cosine_window");
  const auto [k, period] = samples_of("cosine_window", n, options);
  return finished(n, sin((k + 0.5) * (pi / (period + 1))), options);
}
Tensor general_cosine_window(Size n, const Tensor& coefficients) {
  return general_cosine_window(n, coefficients, WindowOptions{});
}
Tensor general_cosine_window(Size n, const Tensor& coefficients, WindowOptions options) {
  return sum_of_cosines("general_cosine_window", n, coefficients, options);
}
Tensor general_hamming_window(Size n, const Tensor& alpha) { return general_hamming_window(n, alpha, WindowOptions{}); }
Tensor general_hamming_window(Size n, const Tensor& alpha, WindowOptions options) {
  const Called as("general_hamming_window", alpha);
  require_number("general_hamming_window", "alpha", alpha);
  return sum_of_cosines("general_hamming_window", n, stack({alpha, 1 - alpha}), options);
}
Tensor exponential_window(Size n, const Tensor& tau) { return exponential_window(n, tau, WindowOptions{}); }
Tensor exponential_window(Size n, const Tensor& tau, WindowOptions options) {
  const Called as("exponential_window", tau);
  return finished(n, exp(-abs(from_centre("exponential_window", n, "tau", tau, options))), options);
}
Tensor gaussian_window(Size n, const Tensor& std) { return gaussian_window(n, std, WindowOptions{}); }
Tensor gaussian_window(Size n, const Tensor& std, WindowOptions options) {
  const Called as("gaussian_window", std);
  return finished(n, exp(square(from_centre("gaussian_window", n, "std", std, options)) / -2), options);
}
Tensor kaiser_window(Size n) { return kaiser_window(n, 12); }
Tensor kaiser_window(Size n, const Tensor& beta) { return kaiser_window(n, beta, WindowOptions{}); }
Tensor kaiser_window(Size n, const Tensor& beta, WindowOptions options) {
  const Called as("kaiser_window", beta);
  require_number("kaiser_window", "beta", beta);
  const auto [k, period] = samples_of("kaiser_window", n, options);
  const Tensor whole = abs(to(beta, computed_in(options.dtype)));
  const Tensor part = whole * (2 * sqrt(clamp_min(k * (period - k), 0)) / period);
  return finished(n, i0e(part) / i0e(whole) * exp(part - whole), options);  // neither factor overflows
}

}  // namespace ops
}  // namespace ricci
