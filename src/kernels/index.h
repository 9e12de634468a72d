// Reading and writing at places given by int64 tensors of indices, over raw strided views. Knows nothing of tensors
// or errors: indices must be in range (`find_out_of_range` tells); negative ones count from the back. Any strides and
// sizes; what is written to overlaps nothing that is read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ricci/strided.h"

namespace ricci::kernels {

enum class Write : std::uint8_t { set, add, greatest, least };

/// out[i…] = in[i… with i[axis] replaced by index[i…]]. Requires: out and index have one shape, no larger than in's
/// along the other axes; of rank 0, axis is 0 and the index 0.
void gather(Strided out, Strided in, int axis, Strided index);

/// inout[i… with i[axis] replaced by index[i…]] = or += src[i…], or the greatest or least of both, NaN before all, over
/// the index's shape. Requires: index no larger than src, and no larger than inout along the other axes. Of several
/// writes to one place the last in row-major order wins; additions are made in that order.
void scatter(Write write, Strided inout, int axis, Strided index, Strided src);
/// out = in, then scatter into out.
void scatter(Write write, Strided out, Strided in, int axis, Strided index, Strided src);

/// out[p…, r…] = in[index₀[p…], index₁[p…], …, r…]. Requires: the indices have one shape p (stride 0 where they were
/// broadcast), in has as many axes in front of r as there are indices.
/// To select along a later axis, or to have p elsewhere in out, permute the views.
void take(Strided out, Strided in, std::span<const Strided> indices);

/// inout[index₀[p…], …, r…] = or += values[p…, r…]. Several writes to one place as in `scatter`.
void put(Write write, Strided inout, std::span<const Strided> indices, Strided values);

/// The first index outside [lowest, size), in row-major order. Requires: lowest <= size.
std::optional<std::int64_t> find_out_of_range(Strided index, std::int64_t lowest, std::int64_t size);

std::int64_t count_nonzero(Strided in);
/// The coordinates of the elements that are not zero, in row-major order. Requires: out is int64 [count, in.rank],
/// contiguous.
void nonzero(Strided out, Strided in);

}  // namespace ricci::kernels
