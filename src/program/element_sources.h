// Which elements of its operands an element of a result is made of, of operations that move elements and of reductions.
// Knows no operation by name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ricci/primitive.h"
#include "ricci/primitive/formula.h"

namespace ricci {

/// One element of a result. Operand -1: the operation writes a number of its own.
struct ElementSource {
  int operand;
  std::int64_t element;  // row by row
};

/// By result, its elements row by row. `operands`: those that choose places, with their values; of the others the shape
/// counts alone. Bit k of `moved`: operand k moves. Requires: sizes are numbers.
std::vector<std::vector<ElementSource>> sources_of(Op op, unsigned moved, std::span<const Strided> operands,
                                                   const Types& results);

/// Of a reduction: by axis of the first operand, whether it is reduced. The reduced axes are those whose sizes the type
/// rule leaves out. None where it does not keep the others as they are.
std::optional<std::vector<bool>> reduced_axes(Op op, Types operands, int rank_of_result);

/// Whether two totals of a reduction are joined by adding them, beginning with 0: as in a sum or a mean.
bool adds_totals(const Accumulation& accumulation);

}  // namespace ricci
