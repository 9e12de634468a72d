// Promotion and broadcasting.
#include "primitive/promotion.h"

#include <algorithm>
#include <optional>

#include "ricci/primitive/loop_table.h"
#include "ricci/primitive/raise.h"
#include "tensor/symbols.h"

namespace ricci {
namespace {

/// PyTorch's three standings: tensors with axes, 0-dim tensors, numbers.
int standing(const Type& type) { return type.weak ? 2 : type.shape.empty() ? 1 : 0; }

/// Asks the questions of broadcast_shape again: sizes of a text may have equal hints and yet differ.
[[noreturn]] void raise_broadcast(const char* name, std::span<const Type* const> inputs) {
  std::string list;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i) list += i + 1 == inputs.size() ? " and " : ", ";
    list += to_string(*inputs[i]);
  }
  for (int back = 1;; ++back) {
    Size seen = 1;
    for (const Type* t : inputs) {
      if (t->rank() < back) continue;
      const Size size = t->shape[static_cast<std::size_t>(t->rank() - back)];
      if (size == 1) continue;
      if (!(seen == 1) && !(size == seen))
        raise<ValueError>(std::string(name) + ": shapes do not broadcast: " + list + "; axis -" + std::to_string(back) +
                          " is " + hint_text(seen) + " against " + hint_text(size) + ", and neither is 1");
      seen = size;
    }
  }
}

/// The type of what stands higher, unless the lower is of a higher category; a floating one keeps its size as a complex
/// one. torch.result_type, operation combine_categories.
std::optional<DType> beside_lower(std::optional<DType> higher, std::optional<DType> lower) {
  if (!higher || !lower) return higher ? higher : lower;
  if (category(*lower) <= category(*higher)) return higher;
  return is_floating(*higher) ? complex_dtype(*higher) : promote(*higher, *lower);
}

}  // namespace

Shape broadcast_shape(const char* op, std::span<const Type* const> inputs) {
  const Shape* longest = &inputs[0]->shape;
  for (const Type* t : inputs)
    if (t->shape.size() > longest->size()) longest = &t->shape;
  Shape shape = *longest;
  for (const Type* t : inputs) {
    if (&t->shape == longest) continue;
    const std::size_t extra = shape.size() - t->shape.size();
    for (std::size_t i = 0; i < t->shape.size(); ++i) {
      const Size size = t->shape[i];
      if (size == shape[extra + i] || size == 1) continue;
      if (!(shape[extra + i] == 1)) raise_broadcast(op, inputs);
      shape[extra + i] = size;
    }
  }
  return shape;
}

DType result_dtype(std::span<const Type* const> types) {
  bool same = true;
  for (const Type* t : types) same &= t->dtype == types[0]->dtype;
  if (same) return types[0]->dtype;
  std::optional<DType> found[3];
  for (const Type* t : types) {
    std::optional<DType>& dtype = found[standing(*t)];
    dtype = dtype ? promote(*dtype, t->dtype) : t->dtype;
  }
  const bool only_numbers = !found[0] && !found[1];  // stay in double
  if (!only_numbers && found[2] && is_floating(*found[2])) found[2] = DType::float32;
  if (!only_numbers && found[2] && is_complex(*found[2])) found[2] = DType::complex64;
  return *beside_lower(found[0], beside_lower(found[1], found[2]));
}

Operands operands_of(const char* name, const Rules& rules, std::span<const Type* const> inputs) {
  const LoopTable& table = *rules.loops();
  const Type* promoted[max_loop_inputs];
  std::size_t count = 0;
  bool weak = true;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if ((table.conditions >> i) & 1U) continue;
    promoted[count++] = inputs[i];
    weak &= inputs[i]->weak;
  }
  const DType common = count ? result_dtype({promoted, count}) : DType::boolean;
  const DType compute = table.compute_dtype(common);
  if (!table.loop(compute) && is_complex(common))
    raise<TypeError>(std::string(name) + ": not defined for the complex " + short_name(common) +
                     "; pass real parts, imaginary parts or absolute values");
  if (!table.loop(compute))
    raise<TypeError>(std::string(name) + ": not defined for " + short_name(common) +
                     "; convert the operands first, for example with x.to(rc::" +
                     (table.loop(DType::float32) ? "float32)" : "int64)"));
  const DType result = table.result_dtype(compute);
  return {compute, table.conditions,
          Type{result, inputs.size() == 1 ? inputs[0]->shape : broadcast_shape(name, inputs),
               weak && count > 0 && is_floating(result)}};
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  if (from.size() > to.size()) return false;
  const std::size_t extra = to.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i)
    if (!(from[i] == 1) && !(from[i] == to[extra + i])) return false;
  return true;
}

}  // namespace ricci
