// Words that all readers of a program's text use. See also take and expect in ricci/primitive/parameters.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ricci {

/// Throws ValueError: `expected a number at 'x'; write a program as it is printed`.
[[noreturn]] void raise_expected(const std::string& what, std::string_view text);

/// Numbers beyond it would overflow where sizes are added.
inline constexpr std::int64_t most_of_a_size = std::int64_t{1} << 47;

}  // namespace ricci
