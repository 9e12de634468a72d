// Groups of element types, and numbers, that several families of operations name.
#pragma once

#include <limits>

#include "ricci/primitive/loop_table.h"

namespace ricci {

inline constexpr DTypes fields = DTypes::floating | DTypes::complex;
inline constexpr DTypes ordered = DTypes::floating | DTypes::integral | DTypes::boolean;
inline constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace ricci
