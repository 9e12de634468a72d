// Sorting and selecting along one axis of raw strided views, for all real types. Knows nothing of tensors.
// NaN counts as greater than every number, and all NaNs are equal, as -0 and 0 are: ascending it comes last,
// descending first, as in PyTorch. Equal elements keep their order. Of rank 0, axis is 0. Lanes of types of up to 4
// bytes have less than 2^32 elements.
#pragma once

#include <cstdint>

#include "tensor/strided.h"

namespace ricci::kernels {

enum class Order : std::uint8_t { ascending, descending };

/// values[…, i, …] = in[…, places[…, i, …], …], sorted along `axis`. Stable.
/// Requires: `values` has in's type and shape, `places` its shape and int64; neither overlaps `in`. Any strides.
void sort(Strided values, Strided places, Strided in, int axis, Order order);

/// The first k of `sort`: with Order::descending the k greatest. Cheaper than sorting where k is small.
/// Requires: as sort, but values.shape[axis] = places.shape[axis] = k <= in.shape[axis].
void topk(Strided values, Strided places, Strided in, int axis, Order order);

/// What `sort` would put at `place` along `axis`, and where it was.
/// Requires: as topk with k = 1; 0 <= place < in.shape[axis].
void kth_value(Strided values, Strided places, Strided in, int axis, std::int64_t place, Order order);

/// out[i…] = how many elements of the ascending `sorted` are less than values[i…]; with `right`, less or equal.
/// Requires: `sorted` and `values` have one real type; out is int64 with values' shape; sorted.shape is values' but for
/// the last axis (or sorted is of rank 1).
void search_sorted(Strided out, Strided sorted, Strided values, bool right);

}  // namespace ricci::kernels
