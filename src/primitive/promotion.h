// How the inputs of an elementwise operation come together: PyTorch's promotion, and broadcasting. Looks at types
// alone.
#pragma once

#include <span>

#include "ricci/primitive.h"

namespace ricci {

struct Operands {
  DType dtype;                // what the promoted operands are computed in
  unsigned kept_as_they_are;  // operands that promotion leaves alone: conditions
  Type result;
  bool promoted(int i) const { return !((kept_as_they_are >> i) & 1U); }
};
/// Throws what is wrong in the user's terms, under `name`.
Operands operands_of(const char* name, const Rules& rules, std::span<const Type* const> inputs);

/// The inputs with integers converted to the default dtype, where an elementwise operation would make float32 of them;
/// none elsewhere. So rules know float32 alone, and a recorded program shows the conversion.
Tensors converted_to_default(Op op, const Tensor* const* inputs, std::size_t count);

/// Category first, then size; 0-dim tensors and numbers do not raise the size.
DType result_dtype(std::span<const Type* const> types);

/// The shape these broadcast to; ValueError if they do not. `op` is the operation errors speak of.
Shape broadcast_shape(const char* op, std::span<const Type* const> types);
bool broadcasts_to(const Shape& from, const Shape& to);

}  // namespace ricci
