// Memory shared with Python's other arrays, and tensors made of Python's values. Start with `make_sharing`.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "ricci/tensor.h"

namespace ricci::python {

/// `tensor`, `from_numpy`, `from_dlpack`.
void make_sharing(nanobind::module_& m);
/// A copy of numbers, of lists within lists of them, or of an array; the dtype is theirs unless given.
Tensor tensor_of_values(nanobind::handle values, std::optional<DType> dtype);

}  // namespace ricci::python
