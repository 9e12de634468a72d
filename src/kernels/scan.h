// Running sums, products and extremes along one axis of raw strided views. Knows nothing of tensors or promotion.
#pragma once

#include <cstdint>

#include "tensor/strided.h"

namespace ricci::kernels {

enum class Scan : std::uint8_t {
  sum,       // booleans and integers to int64; float32 in double, 16-bit types in float; one after the other in pieces
             // of one size, each added to the sum before it
  prod,      // as sum, but all one after the other
  logsumexp  // floating
};

/// Whether element i of the output joins elements 0 to i, or i to the last.
enum class Direction : std::uint8_t { forward, reverse };

/// The element type of a scan's output.
DType scanned_dtype(Scan kind, DType in);
/// The floating or complex type in which elements of such a type are added and multiplied.
DType total_dtype(DType in);

/// out[…, i, …] = kind of in[…, 0 to i, …] along `axis`. A lane's bits are those it would have alone.
/// Requires: `out` has in's shape and element type `scanned_dtype`; it may be in's memory with in's strides if the
/// types are equal. Any strides and sizes; of rank 0, axis is 0.
void scan(Scan kind, Strided out, Strided in, int axis, Direction direction = Direction::forward);

/// The greatest (or smallest) element so far and its int64 place, the latest among equals; from the first NaN on, the
/// latest NaN. Real types. `values` has in's type and shape, `places` its shape.
void scan_extreme(bool greatest, Strided values, Strided places, Strided in, int axis,
                  Direction direction = Direction::forward);

}  // namespace ricci::kernels
