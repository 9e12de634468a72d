// Texts inside HTML and SVG.
#pragma once

#include <string>
#include <string_view>

#include "tensor/utf8.h"

namespace ricci {

/// In UTF-8, with the characters that markup has a meaning for written as entities, and those that XML forbids as �.
inline std::string in_markup(std::string_view text) {
  std::string safe;
  for (const char c : in_utf8(text)) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      case '\'': safe += "&#39;"; break;
      default:
        safe += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? "\xEF\xBF\xBD" : std::string(1, c);
    }
  }
  return safe;
}

}  // namespace ricci
