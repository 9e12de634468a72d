// One tent of each width.
#include "ricci/ode/brownian.h"

#include "ricci/default_dtype.h"
#include "ricci/ops.h"
#include "ricci/primitive/raise.h"

namespace ricci::ode {

Tensor BrownianPath::operator()(const Tensor& t, const Shape& shape, DType dtype) const {
  constexpr std::int64_t most_levels = 50;  // the numbers of tents are exact in float64
  if (levels < 0 || levels > most_levels)
    raise<ValueError>("BrownianPath: there are " + std::to_string(levels) + " levels; give 0 to 50");
  const Tensor begin = to(t0.detach(), float64), length = to(t1.detach(), float64) - begin;
  const Tensor part = (to(t.detach(), float64) - begin) / where(eq(length, 0), 1, length);
  const Tensor widths = pow(2., -arange(levels, float64));  // as parts of the whole, [levels]
  const Tensor places = part / widths, numbers = floor(places);
  const Tensor heights = sqrt(abs(length) * widths) / 2 * (1 - abs(2 * (places - numbers) - 1));
  const Tensor line = sqrt(abs(length)) * part;
  // The line to t1 has number 0; those of one width begin at the number of tents of that width.
  const Tensor all_numbers = cat(std::vector<Tensor>{zeros({1}, float64), 1 / widths + numbers});
  const Tensor all_heights = cat(std::vector<Tensor>{reshape(line, {1}), heights});
  const Tensor drawn = normal(fold_in(key, to(all_numbers, int64)), Shape{shape.numel()}, dtype);  // [levels + 1, n]
  return matmul(to(all_heights, dtype), drawn).reshape(shape);
}

Tensor BrownianPath::operator()(const Tensor& t, const Shape& shape) const {
  return (*this)(t, shape, default_dtype());
}

}  // namespace ricci::ode
