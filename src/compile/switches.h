// Switches in the environment that are lists of words: RICCI_DUMP=lanes,code prints what these passes give, and
// RICCI_LOG=trace reports recordings. RICCI_COMPILE_WITHOUT leaves out passes and limits, by the words of the table in
// docs/12-making-it-fast.md. One switch is a number: RICCI_COMPILE_REGISTERS=16 makes code for registers of so many
// bytes (words.h).
#pragma once

#include <cstdlib>
#include <string_view>

namespace ricci::compiled {

/// Whether the variable's list, separated by commas, has the word.
inline bool is_listed(const char* variable, std::string_view word) {
  const char* const listed = std::getenv(variable);
  for (std::string_view list = listed ? listed : ""; !list.empty();) {
    const std::size_t end = list.find(',') == std::string_view::npos ? list.size() : list.find(',');
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(end == list.size() ? end : end + 1);
  }
  return false;
}

}  // namespace ricci::compiled
