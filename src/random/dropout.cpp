// Dropout: products with random masks.
#include <cmath>

#include "ops/axes.h"
#include "random/request.h"

namespace ricci {
namespace {

/// x's own shape, and one element a channel.
Shape each_element(const char*, const Tensor& x) { return type_of(x).shape; }
Shape each_channel(const char* op, const Tensor& x) {
  Shape shape = type_of(x).shape;
  if (shape.size() < 2)
    raise<ValueError>(std::string(op) + ": " + type_text(x) + " has no channels; it must be [N, C, ...]");
  for (std::size_t i = 2; i < shape.size(); ++i) shape[i] = 1;
  return shape;
}

/// A member of the family, as it was called.
struct Dropout {
  const char* op;
  double p;
  bool training;
  GeneratorOption generator;
  Shape (*mask_shape)(const char* op, const Tensor& x);

  void check(const Tensor& x) const {
    require_floating(op, x);
    require_in_range(op, "p", p, Range::probability);
  }
  /// 1 with probability 1 - p, else 0, in x's real type.
  Tensor mask(const Tensor& x) const {
    const DType dtype = real_dtype(type_of(x).dtype);
    const Shape shape = mask_shape(op, x);
    return to(ge(Noise(op, generator).uniform(shape, dtype), p), dtype);
  }
};

Tensor drop(const Dropout& dropout, const Tensor& x) {
  dropout.check(x);
  if (!dropout.training) return x;
  return x * (dropout.mask(x) * (dropout.p == 1 ? 0 : 1 / (1 - dropout.p)));
}

/// What is dropped becomes `limit`; then all are scaled and shifted to mean 0 and variance 1.
Tensor drop_to_limit(const Dropout& dropout, const Tensor& x) {
  constexpr double limit = -1.7580993408473766;  // of selu at -∞
  dropout.check(x);
  if (!dropout.training) return x;
  const Tensor mask = dropout.mask(x);
  const double p = dropout.p, scale = p == 1 ? 0 : 1 / std::sqrt((1 - p) * (1 + p * limit * limit));
  return x * (mask * scale) + ((1 - mask) * (limit * scale) - limit * p * scale);
}

}  // namespace

namespace ops {

Tensor dropout(const Tensor& x) { return dropout(x, 0.5, true); }
Tensor dropout(const Tensor& x, double p) { return dropout(x, p, true); }

#define RICCI_DEFINE_DROPOUT(op, drop, mask_shape)                                                            \
  Tensor op(const Tensor& x, double p, bool training) { return drop({#op, p, training, {}, mask_shape}, x); } \
  Tensor op(const Tensor& x, double p, bool training, RandomOptions options) {                                \
    return drop({#op, p, training, options.generator, mask_shape}, x);                                        \
  }
RICCI_DEFINE_DROPOUT(dropout, drop, each_element)
RICCI_DEFINE_DROPOUT(feature_dropout, drop, each_channel)
RICCI_DEFINE_DROPOUT(alpha_dropout, drop_to_limit, each_element)
RICCI_DEFINE_DROPOUT(feature_alpha_dropout, drop_to_limit, each_channel)
#undef RICCI_DEFINE_DROPOUT

}  // namespace ops
}  // namespace ricci
