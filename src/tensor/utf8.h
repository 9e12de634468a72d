// Texts in files that must be UTF-8. Names in them come from users, and may be any bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ricci {

/// How many bytes the character takes that `text` begins with; 0 where these bytes are no character (RFC 3629, section
/// 4). U+FFFE and U+FFFF, which XML forbids, count as none.
/// Requires: text is not empty.
inline std::size_t size_of_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc0 || first >= 0xf8 || text.size() < size) return 0;
  std::uint32_t code = first & (0x7fU >> size);
  for (const char c : text.substr(1, size - 1)) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0U) != 0x80) return 0;
    code = code << 6U | (byte & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};  // fewer bytes would do for less
  const bool is_half = code >= 0xd800 && code <= 0xdfff;                         // of a pair in UTF-16
  return code < least[size] || code > 0x10ffff || is_half || code == 0xfffe || code == 0xffff ? 0 : size;
}

/// The text, with a U+FFFD for each byte that is part of no character.
///   in_utf8("a\xff")  // "a�"
inline std::string in_utf8(std::string_view text) {
  std::string whole;
  while (!text.empty()) {
    const std::size_t size = size_of_character(text);
    whole += size ? text.substr(0, size) : std::string_view("\xEF\xBF\xBD");
    text.remove_prefix(size ? size : 1);
  }
  return whole;
}

}  // namespace ricci
