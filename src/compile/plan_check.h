// Whether a plan gives what its program gives by the library's own kernels. Knows nothing of how a plan runs. Start
// with `checked`.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "program/program.h"

namespace ricci::compiled {

/// What `plan()` gives. Throws TransformError where a result differs from the program's by more than sums in another
/// order explain. The program runs after the plan, with the same draws, and no plan runs inside it. `name(i)` is what
/// the error calls result i; `at` is the place of the call, as `ricci::at` writes it. Requires: there is no transform;
/// the inputs are arrays.
Tensors checked(const std::function<Tensors()>& plan, const Program& program, std::span<const Tensor> inputs,
                const std::function<std::string(std::size_t)>& name, const std::string& at);

}  // namespace ricci::compiled
