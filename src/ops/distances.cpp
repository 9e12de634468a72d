// Distances between vectors and normalisation by lengths, made of norms, whose derivative at 0 is 0.
#include "ricci/ops/distances.h"

#include <limits>

#include "ops/axes.h"
#include "ops/dense.h"
#include "ops/sums.h"
#include "primitive/called.h"

namespace ricci {
namespace {

/// a[..., i, :] - b[..., j, :] as [..., i, j, :].
Tensor differences(const Tensor& a, const Tensor& b) { return unsqueeze(a, -2) - unsqueeze(b, -3); }

void require_rows(const char* op, const Tensor& x) {
  if (type_of(x).rank() < 2)
    raise<ValueError>(std::string(op) + ": " + type_text(x) + " has no rows; it must have at least two axes");
}

}  // namespace

namespace ops {

Tensor pairwise_distance(const Tensor& a, const Tensor& b) { return pairwise_distance(a, b, 2); }
Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p) { return pairwise_distance(a, b, p, 1e-6); }
Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p, double eps) {
  return pairwise_distance(a, b, p, eps, false);
}
Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p, double eps, bool keepdim) {
  const Called as("pairwise_distance", a, b);
  return norm(a - b + eps, p, -1, keepdim);
}

Tensor cdist(const Tensor& a, const Tensor& b) { return cdist(a, b, 2); }
Tensor cdist(const Tensor& a, const Tensor& b, double p) {
  const Called as("cdist", a, b);
  require_rows("cdist", a);
  require_rows("cdist", b);
  if (!(type_of(a).shape.back() == type_of(b).shape.back()))
    raise<ValueError>("cdist: the rows of " + type_text(a) + " and " + type_text(b) + " must have one size");
  return norm(differences(a, b), p, -1);
}

Tensor pdist(const Tensor& x) { return pdist(x, 2); }
Tensor pdist(const Tensor& x, double p) {
  const Called as("pdist", x);
  if (type_of(x).rank() != 2) raise<ValueError>("pdist: " + type_text(x) + " is no matrix; it must be [N, D]");
  const Size n = type_of(x).shape[0];
  // A row's distance from itself is not asked for: away from 0 it has derivatives.
  const Tensor apart = differences(x, x) + unsqueeze(eye(n, type_of(x).dtype), -1);
  return flip(tril_pack(flip(norm(apart, p, -1), {0, 1}), -1), 0);
}

Tensor dist(const Tensor& a, const Tensor& b) { return dist(a, b, 2); }
Tensor dist(const Tensor& a, const Tensor& b, double p) {
  const Called as("dist", a, b);
  return norm(a - b, p);
}

Tensor cosine_similarity(const Tensor& a, const Tensor& b) { return cosine_similarity(a, b, 1); }
Tensor cosine_similarity(const Tensor& a, const Tensor& b, std::int64_t dim) {
  return cosine_similarity(a, b, dim, 1e-8);
}
Tensor cosine_similarity(const Tensor& a, const Tensor& b, std::int64_t dim, double eps) {
  const Called as("cosine_similarity", a, b);
  const auto direction = [&](const Tensor& v) { return v / clamp_min(norm(v, 2, dim, true), eps); };
  if (type_of(a).rank() == type_of(b).rank()) return sum(direction(a) * direction(b), dim);
  const Tensor product = a * b;  // of the axes that `dim` counts
  return sum(direction(expand(a, type_of(product).shape)) * direction(expand(b, type_of(product).shape)), dim);
}

Tensor normalize(const Tensor& x) { return normalize(x, 2); }
Tensor normalize(const Tensor& x, double p) { return normalize(x, p, 1); }
Tensor normalize(const Tensor& x, double p, std::int64_t dim) { return normalize(x, p, dim, 1e-12); }
Tensor normalize(const Tensor& x, double p, std::int64_t dim, double eps) {
  const Called as("normalize", x);
  return x / clamp_min(norm(x, p, dim, true), eps);
}

Tensor renorm(const Tensor& x, double p, std::int64_t dim, double most) {
  const Called as("renorm", x);
  require_rows("renorm", x);
  if (!(most >= 0))
    raise<ValueError>("renorm: the greatest norm is " + std::to_string(most) + "; it must be at least 0");
  Axes others;
  for (std::int64_t axis = 0, along = wrap_axis("renorm", dim, x); axis < type_of(x).rank(); ++axis)
    if (axis != along) others.push_back(axis);
  const Tensor length = norm(x, p, others, true);
  return x * where(length > most, most / (length + 1e-7), 1);
}

Tensor local_response_norm(const Tensor& x, Size size) { return local_response_norm(x, size, 1e-4, 0.75, 1); }
Tensor local_response_norm(const Tensor& x, Size size, double alpha, double beta, double k) {
  const Called as("local_response_norm", x);
  if (type_of(x).rank() < 3)
    raise<ValueError>("local_response_norm: " + type_text(x) + " must be [N, C, …] with at least three axes");
  if (size < 1)
    raise<ValueError>("local_response_norm: size is " + std::to_string(size.hint()) + "; it must be at least 1");
  Sizes widths;
  for (int axis = type_of(x).rank(); axis-- > 2;)
    for (int side = 0; side < 2; ++side) widths.push_back(0);
  widths.push_back(size / 2);
  widths.push_back((size - 1) / 2);
  const Tensor power = mean(unfold(pad(square(x), widths), 1, size, 1), -1);
  return x / pow(power * alpha + k, beta);
}

Tensor rms_norm(const Tensor& x, const Shape& normalized_shape) { return rms_norm(x, normalized_shape, {}); }
Tensor rms_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight) {
  require_defined("rms_norm", x, 0);
  const bool is_double = type_of(x).dtype == DType::float64;
  return rms_norm(
      x, normalized_shape, weight,
      is_double ? std::numeric_limits<double>::epsilon() : static_cast<double>(std::numeric_limits<float>::epsilon()));
}
Tensor rms_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, double eps) {
  const Called as("rms_norm", x);
  require_real_floating("rms_norm", x);
  const Type& type = type_of(x);
  const std::size_t count = normalized_shape.size();
  if (count == 0 || count > type.shape.size() ||
      !(Shape(type.shape.end() - static_cast<std::ptrdiff_t>(count), type.shape.end()) == normalized_shape))
    raise<ValueError>("rms_norm: the normalized shape " + to_string(normalized_shape) +
                      " is not that of the last axes of " + type_text(x));
  if (weight.defined() && !(type_of(weight).shape == normalized_shape))
    raise<ValueError>("rms_norm: the weight " + type_text(weight) + " must have the shape " +
                      to_string(normalized_shape));
  Axes last;
  for (std::size_t i = count; i > 0; --i) last.push_back(-static_cast<std::int64_t>(i));
  const DType computed = computed_dtype(type.dtype);
  const Tensor wide = computed == type.dtype ? x : to(x, computed);
  const Tensor y = wide * rsqrt(mean(square(wide), last, true) + eps);
  const Tensor scaled = weight.defined() ? y * weight : y;
  return computed == type.dtype ? scaled : to(scaled, type.dtype);
}

Tensor bilinear(const Tensor& a, const Tensor& b, const Tensor& weight) { return bilinear(a, b, weight, {}); }
Tensor bilinear(const Tensor& a, const Tensor& b, const Tensor& weight, const Tensor& bias) {
  const Called as("bilinear", a, b, weight);
  const Tensor y = einsum("...i,oij,...j->...o", a, weight, b);
  return bias.defined() ? y + bias : y;
}

}  // namespace ops
}  // namespace ricci
