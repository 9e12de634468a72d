// Which bytes of a text from outside are shown as they are.
#include "primitive/escaped.h"

#include <algorithm>
#include <cstdint>

namespace ricci {
namespace {

/// The bytes of the character that the text begins with; 0 if it is not UTF-8, or a control character.
std::size_t shown_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  std::uint32_t code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000};  // below 0xa0 stand control characters
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  return code < least[length] || code > 0x10ffff || is_surrogate ? 0 : length;
}

}  // namespace

std::string escaped(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string result;
  while (!text.empty()) {
    const std::size_t shown = shown_character(text);
    if (shown == 0) {
      const auto byte = static_cast<unsigned char>(text[0]);
      result += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    } else {
      result += text.substr(0, shown);
    }
    text.remove_prefix(std::max<std::size_t>(shown, 1));
  }
  return result;
}

}  // namespace ricci
