// What a simplified program owes to the program that it was made of.
#pragma once

#include <string>

#include "ricci/program.h"

namespace testing_support {

/// Whether the simplified program's result has the type and the elements that the program's has: bit for bit, given as
/// `same_bits`. Where the program holds structural zeros, a zero may have the other sign (x plus one is x, also where x
/// is -0), and what is NaN may be a number (one times inf is one).
inline bool is_kept_by_simplifying(const ricci::Tensor& found, const ricci::Tensor& whole, bool same_bits,
                                   const std::string& program) {
  if (found.dtype() != whole.dtype() || !(found.shape() == whole.shape())) return false;
  if (same_bits || program.find("structural_zeros[") == std::string::npos) return same_bits;
  return logical_or(eq(found, whole), isnan(whole)).all().item<bool>();
}

}  // namespace testing_support
