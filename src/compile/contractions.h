// Sums of products, computed factor by factor: program in, program out.
#pragma once

#include <cstdint>
#include <optional>

#include "program/program.h"

namespace ricci::compiled {

/// The program without products that are larger than what they are made of, where they are only added up: the sum of
/// (a_i b_j)^2 over i and j is the product of two sums, the sum of s_n a_ni b_nj over n is one product of matrices.
/// `fewest`: elements of such a product. So are the programs of loops and branches, where products are large. None
/// where there is no such sum. Requires: sizes are numbers; the program is simplified and runs outside transforms.
std::optional<Program> contracted(const Program& program, std::int64_t fewest = 1 << 14);

/// The same, with kernels. None, too, where it reads and writes hardly less than `bytes` and no loop or branch is
/// another one, and with RICCI_COMPILE_WITHOUT=contractions in the environment.
std::optional<Program> with_contractions(const Program& program, double bytes);

}  // namespace ricci::compiled
