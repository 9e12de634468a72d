// Where elements come from, of operations that move them. Knows no operation by name.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ricci/primitive.h"

namespace ricci::compiled {

/// One element of a result. Operand -1: the operation writes a number of its own.
struct Source {
  int operand;
  std::int64_t element;  // row by row
};

/// By result, its elements row by row. `operands`: those that choose places, with their values; of the others the shape
/// counts alone. Bit k of `moved`: operand k moves. Requires: sizes are numbers.
std::vector<std::vector<Source>> sources_of(Op op, unsigned moved, std::span<const Strided> operands,
                                            const Types& results);

}  // namespace ricci::compiled
