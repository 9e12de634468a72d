// One tent of each width.
#include "ricci/ode/brownian.h"

#include <cmath>

#include "ricci/default_dtype.h"
#include "ricci/ops.h"
#include "ricci/primitive/raise.h"

namespace ricci::ode {

Tensor BrownianPath::operator()(const Tensor& t, const Shape& shape, DType dtype) const {
  constexpr std::int64_t most_levels = 48;  // the numbers of tents are exact in float64
  if (levels < 1 || levels > most_levels)
    raise<ValueError>("BrownianPath: there are " + std::to_string(levels) + " levels; give 1 to 48");
  const Tensor begin = to(t0.detach(), float64), length = to(t1.detach(), float64) - begin;
  const Tensor part = (to(t.detach(), float64) - begin) / where(eq(length, 0), 1, length);
  // A key draws for a tent, the two below it and the four below those: eight numbers take as long as one. Tents of one
  // width have numbers from that of all tents of the width on, so no two keys are the same.
  const std::int64_t groups = (levels + 2) / 3;
  const Tensor counts = pow(8., arange(groups, float64)), places = part * counts;  // [groups]
  const Tensor numbers = minimum(floor(places), counts - 1);                       // at t1 the last ones
  const Tensor below = tensor({0, 1, 2, 2, 4, 4, 4, 4}, float64), along = tensor({0, 0, 0, 1, 0, 1, 2, 3}, float64);
  const Tensor within = unsqueeze(places - numbers, 1) * below - along;  // of the tent's width, [groups, 8]
  const Tensor tents = clamp_min(1 - abs(2 * within - 1), 0);
  const Tensor heights = sqrt(abs(length) / (unsqueeze(counts, 1) * clamp_min(below, 1))) / 2 * tents;
  // The first number of the first key is that of the line to t1.
  const Tensor is_line = logical_and(unsqueeze(eq(counts, 1), 1), eq(below, 0));
  const Tensor weights = where(is_line, sqrt(abs(length)) * part, where(eq(below, 0), 0, heights));
  const Tensor drawn = normal(fold_in(key, to(counts + numbers, int64)), Shape{8, shape.numel()}, dtype);
  const Tensor value = matmul(to(weights, dtype).reshape({-1}), drawn.reshape({8 * groups, shape.numel()}));
  return where(logical_and(ge(part, 0), le(part, 1)), value, std::nan("")).reshape(shape);
}

Tensor BrownianPath::operator()(const Tensor& t, const Shape& shape) const {
  return (*this)(t, shape, default_dtype());
}

}  // namespace ricci::ode
