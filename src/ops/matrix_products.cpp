// Products of vectors and matrices that are made of others.
#include "ops/axes.h"
#include "ops/factorizations.h"
#include "primitive/called.h"
#include "ricci/ops/decompositions.h"

namespace ricci::ops {

Tensor vecdot(const Tensor& a, const Tensor& b) { return vecdot(a, b, -1); }
Tensor vecdot(const Tensor& a, const Tensor& b, std::int64_t dim) {
  const Called as("vecdot", a, b);
  return sum(conj_if_complex(a) * b, {dim}, false);
}

Tensor vander(const Tensor& x) {
  const Called as("vander", x);
  const Shape shape = type_of(x).shape;
  return vander(x, shape.empty() ? Size(1) : shape.back());
}
Tensor vander(const Tensor& x, Size n) {
  const Called as("vander", x);
  if (type_of(x).rank() == 0) raise<ValueError>("vander: needs a vector, found " + type_text(x));
  if (n < 0)
    raise<ValueError>("vander: the number of columns is " + std::to_string(n.hint()) + "; it may not be negative");
  Shape shape = type_of(x).shape;
  shape.push_back(1);
  const Tensor one = full(shape, 1, type_of(x).dtype);
  if (n == 0) return narrow(one, -1, 0, 0);
  if (n == 1) return one;
  shape.back() = n - 1;
  return cat({one, cumprod(expand(unsqueeze(x, -1), shape), -1)}, -1);
}

Tensor cholesky_inverse(const Tensor& l) {
  require_square("cholesky_inverse", l);
  const Called as("cholesky_inverse", l);
  return cholesky_solve(eye(type_of(l).shape.back(), type_of(l).dtype), l);
}
Tensor cholesky_inverse(const Tensor& l, bool upper) {
  require_square("cholesky_inverse", l);
  return cholesky_inverse(upper ? adjoint(l) : l);
}

}  // namespace ricci::ops
