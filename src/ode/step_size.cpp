// Step sizes as formulas of errors.
#include "ode/step_size.h"

#include "ricci/ops.h"

namespace ricci::ode {

Tensor scaled_norm(const Tolerance& tolerance, const Tensor& x, const Tensor& y) {
  if (x.shape().numel() == 0) return zeros({}, float64);
  // The squares of parts overflow in float16. An element without an error is within any tolerance, 0 too.
  const Tensor size = to(abs(x.detach()), float64),
               allowed = tolerance.atol + tolerance.rtol * to(abs(y.detach()), float64);
  return sqrt(mean(square(where(eq(size, 0), 0, size / allowed)))).detach();
}

Tensor greater_size(const Tensor& y, const Tensor& other) { return maximum(abs(y), abs(other)); }

Tensor first_step_size(const Tolerance& tolerance, const Field& field, int error_order, const Tensor& t,
                       const Tensor& y, const Tensor& f, const Tensor& direction) {
  const Tensor size = scaled_norm(tolerance, y, y), slope = scaled_norm(tolerance, f, y);
  const Tensor is_small = logical_or(lt(size, 1e-5), lt(slope, 1e-5));
  const Tensor trial = where(is_small, 1e-6, 0.01 * size / where(is_small, 1, slope));
  const Tensor h = direction * trial, after = field(t + h, y + h * f);
  const Tensor bend = scaled_norm(tolerance, after - f, y) / trial, greatest = maximum(slope, bend);
  const Tensor is_flat = le(greatest, 1e-15);
  const Tensor by_order =
      where(is_flat, maximum(1e-6, 1e-3 * trial), pow(0.01 / where(is_flat, 1, greatest), 1. / error_order));
  return minimum(100 * trial, by_order).detach();
}

Tensor size_factor(const StepSizes& sizes, int error_order, const Tensor& error, const Tensor& accepted,
                   Errors& errors) {
  const auto power = [error_order](const Tensor& x, double beta) { return pow(x, beta / error_order); };
  const Tensor inverse = 1 / error;
  Tensor factor = sizes.safety * power(inverse, sizes.p + sizes.i + sizes.d);
  if (sizes.p + 2 * sizes.d != 0) factor = factor * power(errors.last, -(sizes.p + 2 * sizes.d));
  if (sizes.d != 0) factor = factor * power(errors.before, sizes.d);
  factor = where(isnan(error), 0, factor);
  factor = clamp(factor, where(accepted, 1, sizes.factor_min), where(accepted, sizes.factor_max, sizes.safety));
  // A step without an error, or with an infinite one, says nothing of those that follow.
  const Tensor told = where(logical_or(eq(inverse, 0), isinf(inverse)), 1, inverse);
  errors = {where(accepted, told, errors.last), where(accepted, errors.last, errors.before)};
  return factor.detach();
}

}  // namespace ricci::ode
