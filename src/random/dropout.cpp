// Dropout: products with random masks.
#include <cmath>
#include <cstdio>

#include "ops/axes.h"
#include "random/draws.h"

namespace ricci {
namespace {

void check_dropout(const char* op, const Tensor& x, double p) {
  require_floating(op, x);
  if (p >= 0 && p <= 1) return;
  char text[32];
  std::snprintf(text, sizeof text, "%g", p);
  raise<ValueError>(std::string(op) + ": p is " + text + "; it must be at least 0 and at most 1");
}

/// x's own shape, and one element a channel.
Shape each_element(const char*, const Tensor& x) { return type_of(x).shape; }
Shape each_channel(const char* op, const Tensor& x) {
  Shape shape = type_of(x).shape;
  if (shape.size() < 2)
    raise<ValueError>(std::string(op) + ": " + type_text(x) + " has no channels; it must be [N, C, ...]");
  for (std::size_t i = 2; i < shape.size(); ++i) shape[i] = 1;
  return shape;
}

/// 1 with probability 1 - p, else 0, in x's real type.
Tensor kept(const char* op, const Tensor& x, double p, const Shape& shape) {
  const DType dtype = real_dtype(type_of(x).dtype);
  return to(ge(Noise(op, GeneratorOption()).uniform(shape, dtype), p), dtype);
}

using MaskShape = Shape (*)(const char* op, const Tensor& x);

Tensor drop(const char* op, const Tensor& x, double p, bool training, MaskShape mask_shape) {
  check_dropout(op, x, p);
  if (!training) return x;
  return x * (kept(op, x, p, mask_shape(op, x)) * (p == 1 ? 0 : 1 / (1 - p)));
}

/// What is dropped becomes `limit`; then all are scaled and shifted to mean 0 and variance 1.
Tensor drop_to_limit(const char* op, const Tensor& x, double p, bool training, MaskShape mask_shape) {
  constexpr double limit = -1.7580993408473766;  // of selu at -∞
  check_dropout(op, x, p);
  if (!training) return x;
  const Tensor mask = kept(op, x, p, mask_shape(op, x));
  const double scale = p == 1 ? 0 : 1 / std::sqrt((1 - p) * (1 + p * limit * limit));
  return x * (mask * scale) + ((1 - mask) * (limit * scale) - limit * p * scale);
}

}  // namespace

namespace ops {

Tensor dropout(const Tensor& x) { return dropout(x, 0.5, true); }
Tensor dropout(const Tensor& x, double p) { return dropout(x, p, true); }
Tensor dropout(const Tensor& x, double p, bool training) { return drop("dropout", x, p, training, each_element); }
Tensor feature_dropout(const Tensor& x, double p, bool training) {
  return drop("feature_dropout", x, p, training, each_channel);
}
Tensor alpha_dropout(const Tensor& x, double p, bool training) {
  return drop_to_limit("alpha_dropout", x, p, training, each_element);
}
Tensor feature_alpha_dropout(const Tensor& x, double p, bool training) {
  return drop_to_limit("feature_alpha_dropout", x, p, training, each_channel);
}

}  // namespace ops
}  // namespace ricci
