// Random numbers as tensors: of a generator, as the randomness modes of the running vmaps want them, or of a key.
// Knows of no distribution but those the kernels make. Start with `Noise`.
#pragma once

#include <optional>

#include "ricci/keys.h"
#include "ricci/ops.h"
#include "ricci/random.h"

namespace ricci {

/// Where the numbers under a random operation come from. Each call takes one position of the generator's stream; a key
/// gives the same numbers every time.
class Noise {
 public:
  /// `op` is the operation errors speak of. TransformError if a running vmap is in error mode: a random operation takes
  /// its noise before it does anything else.
  Noise(const char* op, GeneratorOption generator);
  Noise(const char* op, Key key) : op_(op), key_(std::move(key)) {}

  Tensor uniform(const Shape& shape, DType dtype) const;  ///< on [0, 1)
  Tensor normal(const Shape& shape, DType dtype) const;
  /// The same; a complex number's real and imaginary part have variance 1/2 each, as torch.randn's.
  Tensor real_or_complex_normal(const Shape& shape, DType dtype) const;
  Tensor integers(Bound low, Bound high, const Shape& shape, DType dtype) const;  ///< low, …, high - 1
  Tensor permutation(Size size) const;
  Tensor keys(const Shape& shape) const;  ///< 64 bits each, int64: the seeds of samplers that draw until satisfied

  const char* op() const { return op_; }

 private:
  template <class Numbers>
  Tensor draw(const Numbers& numbers, const Shape& shape) const;

  const char* op_;
  GeneratorOption generator_;
  std::optional<Key> key_;
};

/// Throws TypeError unless `dtype` is a floating one.
void require_floating_draw(const char* op, DType dtype);

}  // namespace ricci
