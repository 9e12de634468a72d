// Text from outside, as error texts repeat it: nothing in it may act on the terminal that shows the error.
#pragma once

#include <string>
#include <string_view>

#include "ricci/primitive/raise.h"

namespace ricci {

/// The text with control characters, ends of lines among them, and bytes that are no UTF-8 written as `\x1b`.
std::string escaped(std::string_view text);

/// As `raise`, for a text of one line that repeats names or words of a file.
template <class E>
[[noreturn]] void raise_escaped(const std::string& text) {
  raise<E>(escaped(text));
}

}  // namespace ricci
