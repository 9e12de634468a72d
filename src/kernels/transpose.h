// Copies whose two operands are contiguous along different axes. Knows nothing of element types beyond their size.
#pragma once

#include "ricci/strided.h"

namespace ricci::kernels {

/// Copies where the output is contiguous along one axis and the input along another, tile by tile; false, having done
/// nothing, for every other layout. Requires: equal shapes and types, no overlap.
bool copy_transposed(const Strided& out, const Strided& in);

/// to[r, c] = from[c, r]: `to` is contiguous along c with rows `to_row` bytes apart, `from` contiguous along r with
/// columns `from_column` bytes apart.
void turn_plane(char* to, std::int64_t to_row, const char* from, std::int64_t from_column, std::int64_t rows,
                std::int64_t columns, std::int64_t size);

}  // namespace ricci::kernels
