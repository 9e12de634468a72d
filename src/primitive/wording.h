// How errors speak of counts and of tensors. Knows nothing of any operation.
#pragma once

#include <concepts>
#include <string>

#include "tensor/value.h"

namespace ricci {

/// `1 axis`, `2 axes`.
std::string count_of(std::integral auto n, const char* one, const char* many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

/// `the legal range is [-2, 1]`; `the legal range is empty`.
inline std::string legal_range(std::int64_t low, std::int64_t high) {
  return "the legal range is " + (low > high ? "empty" : "[" + std::to_string(low) + ", " + std::to_string(high) + "]");
}

/// The printed type as the user sees it, `f32[2,3]`.
inline std::string type_text(const Tensor& x) { return x.defined() ? to_string(value_of(x)->type) : "undefined"; }

}  // namespace ricci
