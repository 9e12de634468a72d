// Words that all readers of a program's text use. See also take and expect in ricci/primitive/parameters.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ricci/shape.h"

namespace ricci {

/// Throws ValueError: `expected a number at 'x'; write a program as it is printed`.
[[noreturn]] void raise_expected(const std::string& what, std::string_view text);

/// Numbers beyond it would overflow where sizes are added.
inline constexpr std::int64_t most_of_a_size = std::int64_t{1} << 47;
/// Throws ValueError for a number beyond it. `text` begins with the size.
void require_extent(Size size, std::string_view text);

}  // namespace ricci
