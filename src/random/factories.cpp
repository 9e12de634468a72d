// Draws of one distribution: rand, randn, randint, randperm and their likes.
#include "ops/axes.h"
#include "random/draws.h"

namespace ricci {
namespace {

Type like(const char* op, const Tensor& x) {
  require_defined(op, x, 0);
  return type_of(x);
}

Tensor rand_like_from(GeneratorOption generator, const Tensor& x) {
  const Type type = like("rand_like", x);
  return Noise("rand_like", generator).uniform(type.shape, type.dtype);
}
Tensor randn_like_from(GeneratorOption generator, const Tensor& x) {
  const Type type = like("randn_like", x);
  return Noise("randn_like", generator).normal(type.shape, type.dtype);
}
Tensor randint_like_from(GeneratorOption generator, const Tensor& x, std::int64_t low, std::int64_t high) {
  const Type type = like("randint_like", x);
  return Noise("randint_like", generator).integers(low, high, type.shape, type.dtype);
}

}  // namespace

namespace ops {

Tensor rand(const Shape& shape) { return rand(shape, TensorOptions{}); }
Tensor rand(const Shape& shape, TensorOptions options) {
  return Noise("rand", options.generator).uniform(shape, options.dtype);
}
Tensor randn(const Shape& shape) { return randn(shape, TensorOptions{}); }
Tensor randn(const Shape& shape, TensorOptions options) {
  return Noise("randn", options.generator).normal(shape, options.dtype);
}

Tensor randint(std::int64_t high, const Shape& shape) { return randint(0, high, shape, IntegerOptions{}); }
Tensor randint(std::int64_t high, const Shape& shape, IntegerOptions options) {
  return randint(0, high, shape, options);
}
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape) {
  return randint(low, high, shape, IntegerOptions{});
}
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, IntegerOptions options) {
  return Noise("randint", options.generator).integers(low, high, shape, options.dtype);
}

Tensor randperm(std::int64_t n) { return randperm(n, IntegerOptions{}); }
Tensor randperm(std::int64_t n, IntegerOptions options) {
  return to(Noise("randperm", options.generator).permutation(n), options.dtype);
}

Tensor rand_like(const Tensor& x) { return rand_like_from({}, x); }
Tensor rand_like(const Tensor& x, RandomOptions options) { return rand_like_from(options.generator, x); }
Tensor randn_like(const Tensor& x) { return randn_like_from({}, x); }
Tensor randn_like(const Tensor& x, RandomOptions options) { return randn_like_from(options.generator, x); }
Tensor randint_like(const Tensor& x, std::int64_t high) { return randint_like_from({}, x, 0, high); }
Tensor randint_like(const Tensor& x, std::int64_t high, RandomOptions options) {
  return randint_like_from(options.generator, x, 0, high);
}
Tensor randint_like(const Tensor& x, std::int64_t low, std::int64_t high) {
  return randint_like_from({}, x, low, high);
}
Tensor randint_like(const Tensor& x, std::int64_t low, std::int64_t high, RandomOptions options) {
  return randint_like_from(options.generator, x, low, high);
}

Tensor randint(const Key& key, std::int64_t low, std::int64_t high, const Shape& shape) {
  return Noise("randint", key).integers(low, high, shape, DType::int64);
}
Tensor randperm(const Key& key, std::int64_t n) { return Noise("randperm", key).permutation(n); }

}  // namespace ops
}  // namespace ricci
