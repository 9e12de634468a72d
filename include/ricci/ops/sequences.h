// Sequences of numbers that a formula gives: geometric ones, triangles of ones, windows of signals.
#pragma once

#include <optional>

#include "ricci/default_dtype.h"
#include "ricci/tensor.h"

namespace ricci {

/// A periodic window of n samples is the first n of a symmetric window of n + 1; a symmetric one ends as it begins.
struct WindowOptions {
  bool periodic = true;
  DType dtype = default_dtype();
};

namespace ops {

// ── sequences ──

/// base^start to base^end in `steps` numbers (base 10 if not given) whose logarithms are evenly spaced; differentiable
/// in start, end and base. In the default dtype unless one is given. ValueError for negative steps.
Tensor logspace(const Tensor& start, const Tensor& end, Size steps);
Tensor logspace(const Tensor& start, const Tensor& end, Size steps, const Tensor& base);
Tensor logspace(const Tensor& start, const Tensor& end, Size steps, const Tensor& base, DType dtype);
/// start to end in `steps` numbers of one quotient, both ends as given; neither may be 0, and both have one sign.
/// ValueError otherwise, as far as they are numbers.
///   rc::geomspace(1, 1000, 4)  // 1 10 100 1000
Tensor geomspace(const Tensor& start, const Tensor& end, Size steps);
Tensor geomspace(const Tensor& start, const Tensor& end, Size steps, DType dtype);
/// n × m (n × n) with ones on and below a diagonal, as of `tril`, and zeros above.
Tensor tri(Size n);
Tensor tri(Size n, Size m);
Tensor tri(Size n, Size m, Size diagonal);
Tensor tri(Size n, Size m, Size diagonal, DType dtype);

// ── windows of n samples, [n]: differentiable in their parameters. ValueError for n < 0, TypeError for a dtype that is
// not floating. The formulas, with N = n, or n - 1 unless periodic, and k = 0, 1, …, are SciPy's ──

Tensor hann_window(Size n);  ///< 1/2 - cos(2πk/N) / 2. `rc::hann_window(400, {.periodic = false})`
Tensor hann_window(Size n, WindowOptions options);
Tensor hamming_window(Size n);  ///< 0.54 - 0.46 cos(2πk/N)
Tensor hamming_window(Size n, WindowOptions options);
Tensor blackman_window(Size n);  ///< 0.42 - 0.5 cos(2πk/N) + 0.08 cos(4πk/N)
Tensor blackman_window(Size n, WindowOptions options);
Tensor nuttall_window(Size n);  ///< four cosines, 0.3635819 0.4891775 0.1365995 0.0106411
Tensor nuttall_window(Size n, WindowOptions options);
Tensor bartlett_window(Size n);  ///< 1 - |2k/N - 1|
Tensor bartlett_window(Size n, WindowOptions options);
Tensor cosine_window(Size n);  ///< sin(π (k + 1/2) / (N + 1)), N + 1 being n + 1 if periodic
Tensor cosine_window(Size n, WindowOptions options);
/// Σ (-1)^j a_j cos(2πjk/N) of the coefficients a [m].
Tensor general_cosine_window(Size n, const Tensor& coefficients);
Tensor general_cosine_window(Size n, const Tensor& coefficients, WindowOptions options);
Tensor general_hamming_window(Size n, const Tensor& alpha);  ///< alpha - (1 - alpha) cos(2πk/N)
Tensor general_hamming_window(Size n, const Tensor& alpha, WindowOptions options);
Tensor exponential_window(Size n, const Tensor& tau);  ///< exp(-|k - N/2| / tau)
Tensor exponential_window(Size n, const Tensor& tau, WindowOptions options);
Tensor gaussian_window(Size n, const Tensor& std);  ///< exp(-((k - N/2) / std)² / 2)
Tensor gaussian_window(Size n, const Tensor& std, WindowOptions options);
/// I₀(beta sqrt(1 - (2k/N - 1)²)) / I₀(beta); beta is 12 if not given.
Tensor kaiser_window(Size n);
Tensor kaiser_window(Size n, const Tensor& beta);
Tensor kaiser_window(Size n, const Tensor& beta, WindowOptions options);

}  // namespace ops
}  // namespace ricci
