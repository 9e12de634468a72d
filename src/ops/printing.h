// The elements of an array as text.
#pragma once

#include <cstddef>
#include <string>

#include "tensor/value.h"

namespace ricci {

/// `[[1, 2],` and `[3, 4]]`: as `<<` prints a tensor, without its type. `column`: where the text starts, and further
/// lines too.
std::string text_of_elements(const Array& array, std::size_t column);

}  // namespace ricci
