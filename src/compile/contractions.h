// Sums of products, computed factor by factor: program in, program out.
#pragma once

#include <cstdint>
#include <optional>

#include "program/program.h"

namespace ricci::compiled {

/// Rewrites sums of large products so that the products are never stored. Examples: the sum of (a_i b_j)^2 over i and j
/// becomes a product of two sums, the sum of s_n a_ni b_nj over n one product of matrices. A product is large that has
/// `fewest` elements or more, and several times as many as its factors; in loops and branches it is larger. None where
/// there is no such sum. Requires: sizes are numbers; the program is simplified and runs outside transforms.
std::optional<Program> contracted(const Program& program, std::int64_t fewest = 1 << 14);

struct Contracted {
  Program whole, planned;  // without kernels, and with them
};
/// None, too, where that saves less than a megabyte of the `bytes` that are read and written without it and no loop or
/// branch is another one, and with RICCI_COMPILE_WITHOUT=contractions in the environment.
std::optional<Contracted> with_contractions(const Program& program, double bytes);

}  // namespace ricci::compiled
