// Numbers of a program: told apart by their bits, printed where they are used, read back.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tensor/value.h"

namespace ricci {

/// What two numbers that are the same have in common.
struct NumberBits {
  DType dtype;
  bool weak;
  std::array<std::uint64_t, 2> bits;
  auto operator<=>(const NumberBits&) const = default;
};
/// Requires: a 0-dim Array.
NumberBits bits_of(const Value& number);

/// A C++ number as it is written there: `2`, `0.5`, `true`; another with its dtype: `f32(0.5)`, `c128((0,1))`. It reads
/// back bit for bit, NaN as the one of C++. Requires: a 0-dim Array.
std::string number_text(const Value& number);
/// The number at the front of `text`, which then begins behind it; none where a name stands there.
std::optional<ValueRef> parse_number(std::string_view& text);

}  // namespace ricci
