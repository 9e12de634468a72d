// The two products that a convolution and a transposed one are. Knows nothing of bias or of users' options.
#pragma once

#include "kernels/convolution.h"
#include "ricci/primitive.h"

namespace ricci {

/// y [N, O, …] of x [N, C, …] and w [O, C / groups, …].
Tensor convolution(const Tensor& x, const Tensor& w, const kernels::ConvolutionShape& shape);
/// The x, with these spatial sizes, for which Σ x' x = Σ y convolution(x', w) for all x': transposed convolution.
Tensor convolution_input(const Tensor& y, const Tensor& w, const kernels::ConvolutionShape& shape, const Shape& sizes);

}  // namespace ricci
