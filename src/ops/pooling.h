// What all pooling operations share: places of maxima, and the derivatives that read and write at these places. Knows
// nothing of where windows lie.
#pragma once

#include "ops/spatial.h"
#include "ricci/primitive.h"

namespace ricci {

/// What jvp and vjp are of an operation whose outputs are maxima of input 0, over its last `spatial` axes, and their
/// places, which count the elements of these axes row-major.
Tensors tangents_of_maxima(const Forward& f, int spatial);
Tensors cotangents_of_maxima(const Reverse& r, int spatial);

/// The types of maxima, so many along each of the last axes of x, and of their places. TypeError if x has no order.
Types types_of_maxima(const char* op, const Type& x, const Shape& outputs);

/// Throws unless x is images of so many spatial axes, none of them empty; of numbers with an order if maxima are taken.
enum class Pooled : bool { means, maxima };
void require_pooled_images(const char* op, const Tensor& x, int spatial, Pooled pooled);

}  // namespace ricci
