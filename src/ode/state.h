// States as vectors and back.
#pragma once

#include "ricci/tensor.h"
#include "ricci/tree/any.h"

namespace ricci::ode {

/// A tree like `like` of the elements of each row of a matrix; the rows are the first axis of its leaves.
tree::AnyTree rows_as_trees(const Tensor& rows, const tree::AnyTree& like);

/// The vector, in `dtype`, of what f gives for a state like `like`: an element for each of the state. Throws ValueError
/// unless it is a tree like the state with as many elements, TypeError if `dtype` does not hold it. Integers are
/// derivatives like others.
Tensor slope_vector(const char* call, const tree::AnyTree& slope, const tree::AnyTree& like, DType dtype);

/// `save_at` as times are kept: in its dtype, if that is floating, else in float64.
Tensor times_of(const char* call, const Tensor& save_at);

}  // namespace ricci::ode
