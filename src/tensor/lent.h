// Memory that the user lends. The first tensor made of its array (`make_lent`) is the handle: what is written to the
// handle is written to the memory. Knows nothing of operations.
#pragma once

#include "tensor/value.h"

namespace ricci {

/// Whether the elements are memory that the user lent.
bool is_lent(const Array& array);
/// The user's memory behind a handle; null if the cell is none.
ArrayRef lent_elements(const Cell& handle);

}  // namespace ricci
