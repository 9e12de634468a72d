// Equations between tensors: some axes count rows of a matrix, the others its columns.
#include "ops/axes.h"
#include "ops/factorizations.h"
#include "primitive/called.h"
#include "ricci/ops/decompositions.h"

namespace ricci {
namespace {

Shape part(const Shape& shape, std::size_t from, std::size_t until) {
  return Shape(shape.begin() + static_cast<std::ptrdiff_t>(from), shape.begin() + static_cast<std::ptrdiff_t>(until));
}
Shape joined(Shape a, const Shape& b) {
  a.append(b.begin(), b.end());
  return a;
}

}  // namespace

namespace ops {

Tensor tensorinv(const Tensor& a) { return tensorinv(a, 2); }
Tensor tensorinv(const Tensor& a, std::int64_t ind) {
  const Called as("tensorinv", a);
  const Shape shape = type_of(a).shape;
  if (ind < 1) raise<ValueError>("tensorinv: ind is " + std::to_string(ind) + "; it must be at least 1");
  const std::size_t split = std::min(shape.size(), static_cast<std::size_t>(ind));
  const Shape rows = part(shape, 0, split), columns = part(shape, split, shape.size());
  if (!(rows.numel() == columns.numel()))
    raise<ValueError>("tensorinv: the first " + std::to_string(ind) + " axes of " + type_text(a) +
                      " have another number of elements than the others");
  return reshape(inverse(reshape(a, {rows.numel(), columns.numel()})), joined(columns, rows));
}

Tensor tensorsolve(const Tensor& a, const Tensor& b) {
  const Called as("tensorsolve", a, b);
  const Shape shape = type_of(a).shape, right = type_of(b).shape;
  const std::size_t split = std::min(shape.size(), right.size());
  const Shape unknowns = part(shape, split, shape.size());
  if (!(unknowns.numel() == right.numel()) || !(part(shape, 0, split).numel() == right.numel()))
    raise<ValueError>("tensorsolve: " + type_text(a) + " is no square matrix of equations for " + type_text(b) +
                      "; the first axes of a must have b's sizes, and the others as many elements");
  return reshape(solve(reshape(a, {right.numel(), right.numel()}), reshape(b, {right.numel()})), unknowns);
}
Tensor tensorsolve(const Tensor& a, const Tensor& b, const Axes& dims) {
  const Called as("tensorsolve", a, b);
  const Axes axes = wrap_axes("tensorsolve", dims, a);
  Axes last;
  for (std::size_t i = 0; i < dims.size(); ++i)
    last.push_back(static_cast<std::int64_t>(i) - static_cast<std::int64_t>(dims.size()));
  return tensorsolve(dims.size() == 0 ? a : movedim(a, axes, last), b);
}

}  // namespace ops
}  // namespace ricci
