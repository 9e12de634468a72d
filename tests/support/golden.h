// Programs held against the text that they should print, with the lines that differ.
#pragma once

#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace testing_support {

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// `-` before lines that were expected alone, `+` before those that were found alone.
inline std::string difference(const std::vector<std::string>& expected, const std::vector<std::string>& found) {
  const std::size_t m = expected.size(), n = found.size();
  std::vector<std::vector<std::size_t>> common(m + 1, std::vector<std::size_t>(n + 1));  // from here to the ends
  for (std::size_t i = m; i-- > 0;)
    for (std::size_t k = n; k-- > 0;)
      common[i][k] = expected[i] == found[k] ? common[i + 1][k + 1] + 1 : std::max(common[i + 1][k], common[i][k + 1]);
  std::string text;
  for (std::size_t i = 0, k = 0; i < m || k < n;) {
    if (i < m && k < n && expected[i] == found[k]) text += "  " + expected[i++] + "\n", ++k;
    else if (k == n || (i < m && common[i + 1][k] >= common[i][k + 1])) text += "- " + expected[i++] + "\n";
    else text += "+ " + found[k++] + "\n";
  }
  return text;
}

/// The program prints as `text` does, which may begin with an empty line, and is well formed.
inline void expect_golden(const ricci::Program& program, std::string_view text) {
  if (text.starts_with('\n')) text.remove_prefix(1);
  const std::string found = to_string(program);
  if (found != text) ADD_FAILURE() << difference(lines_of(std::string(text)), lines_of(found));
  check(program);
}

/// The same of a program without functions, which its text holds whole.
inline void expect_golden_whole(const ricci::Program& program, std::string_view text) {
  expect_golden(program, text);
  EXPECT_EQ(to_string(ricci::parse_program(to_string(program), program.captured())), to_string(program));
}

}  // namespace testing_support
