// What hands a tensor's elements to code that knows nothing of derivatives asks here first: arrays of Python do.
// Not for users.
#pragma once

#include "ricci/tensor.h"

namespace ricci::runs {

/// Throws TransformError where a running transform or a tape differentiates x, at any level, and neither `no_grad` nor
/// `detach` cut that off: instead of a derivative, the user would get a zero. `made` is what would have none, as
/// `an array`; `remedy` ends the sentence.
void require_undifferentiated(const Tensor& x, const char* made, const char* remedy);

}  // namespace ricci::runs
