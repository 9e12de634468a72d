// How errors speak of counts, of tensors and of the user's texts. Knows nothing of any operation.
#pragma once

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>

#include "tensor/value.h"

namespace ricci {

/// `1 axis`, `2 axes`.
std::string count_of(std::integral auto n, const char* one, const char* many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

/// `the legal range is [-2, 1]`; `the legal range is empty`.
inline std::string legal_range(std::int64_t low, std::int64_t high) {
  return "the legal range is " + (low > high ? "empty" : "[" + std::to_string(low) + ", " + std::to_string(high) + "]");
}

/// Names by letters: a … z, then a1 … z1.
inline std::string name_of(std::size_t i, std::string_view letters) {
  const std::string letter(1, letters[i % letters.size()]);
  return i < letters.size() ? letter : letter + std::to_string(i / letters.size());
}

/// Whether this byte of UTF-8 is none that a character begins with.
inline bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }
/// As many whole UTF-8 characters from the front of a text as fit `most` bytes.
inline std::string_view start_of(std::string_view text, std::size_t most) {
  std::size_t end = std::min(text.size(), most);
  while (end > 0 && end < text.size() && continues_character(text[end])) --end;
  return text.substr(0, end);
}
/// A text of the user's, of which a long one is cut.
inline std::string shortened(std::string_view text) {
  constexpr std::size_t most = 60;
  return std::string(start_of(text, most)) + (text.size() > most ? "…" : "");
}

/// The printed type as the user sees it, `f32[2,3]`.
inline std::string type_text(const Tensor& x) { return x.defined() ? to_string(value_of(x)->type) : "undefined"; }

}  // namespace ricci
