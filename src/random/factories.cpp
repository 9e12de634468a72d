// Draws of one distribution: rand, randn, randint, randperm and their likes.
#include "ops/axes.h"
#include "random/draws.h"

namespace ricci {
namespace {

/// The type of x, with the dtype that the options ask for.
Type like(const char* op, const Tensor& x, const LikeOptions& options) {
  require_defined(op, x, 0);
  Type type = type_of(x);
  type.dtype = options.dtype.value_or(type.dtype);
  return type;
}

Tensor permutation(const Noise& noise, Size n, DType dtype) {
  if (n > 0) require_fits(noise.op(), n - 1, dtype);
  return to(noise.permutation(n), dtype);
}

}  // namespace

namespace ops {

Tensor rand(const Shape& shape) { return rand(shape, TensorOptions{}); }
Tensor rand(const Shape& shape, TensorOptions options) {
  return Noise("rand", options.generator).uniform(shape, options.dtype);
}
Tensor randn(const Shape& shape) { return randn(shape, TensorOptions{}); }
Tensor randn(const Shape& shape, TensorOptions options) {
  return Noise("randn", options.generator).real_or_complex_normal(shape, options.dtype);
}

Tensor randint(Bound high, const Shape& shape) { return randint(0, high, shape, IntegerOptions{}); }
Tensor randint(Bound high, const Shape& shape, IntegerOptions options) { return randint(0, high, shape, options); }
Tensor randint(Bound low, Bound high, const Shape& shape) { return randint(low, high, shape, IntegerOptions{}); }
Tensor randint(Bound low, Bound high, const Shape& shape, IntegerOptions options) {
  return Noise("randint", options.generator).integers(low, high, shape, options.dtype);
}

Tensor randperm(Size n) { return randperm(n, IntegerOptions{}); }
Tensor randperm(Size n, IntegerOptions options) {
  return permutation(Noise("randperm", options.generator), n, options.dtype);
}

Tensor rand_like(const Tensor& x) { return rand_like(x, LikeOptions{}); }
Tensor rand_like(const Tensor& x, LikeOptions options) {
  const Type type = like("rand_like", x, options);
  return Noise("rand_like", options.generator).uniform(type.shape, type.dtype);
}
Tensor randn_like(const Tensor& x) { return randn_like(x, LikeOptions{}); }
Tensor randn_like(const Tensor& x, LikeOptions options) {
  const Type type = like("randn_like", x, options);
  return Noise("randn_like", options.generator).real_or_complex_normal(type.shape, type.dtype);
}
Tensor randint_like(const Tensor& x, Bound high) { return randint_like(x, 0, high, LikeOptions{}); }
Tensor randint_like(const Tensor& x, Bound high, LikeOptions options) { return randint_like(x, 0, high, options); }
Tensor randint_like(const Tensor& x, Bound low, Bound high) { return randint_like(x, low, high, LikeOptions{}); }
Tensor randint_like(const Tensor& x, Bound low, Bound high, LikeOptions options) {
  const Type type = like("randint_like", x, options);
  return Noise("randint_like", options.generator).integers(low, high, type.shape, type.dtype);
}

Tensor randint(const Key& key, Bound low, Bound high, const Shape& shape) {
  return randint(key, low, high, shape, DType::int64);
}
Tensor randint(const Key& key, Bound low, Bound high, const Shape& shape, DType dtype) {
  return Noise("randint", key).integers(low, high, shape, dtype);
}
Tensor randperm(const Key& key, Size n) { return randperm(key, n, DType::int64); }
Tensor randperm(const Key& key, Size n, DType dtype) { return permutation(Noise("randperm", key), n, dtype); }

}  // namespace ops
}  // namespace ricci
