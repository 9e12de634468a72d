// The lines that rc::debug::print prints while something runs.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ricci/debug.h"

namespace testing_support {

using Lines = std::vector<std::string>;

template <class F>
Lines printed(const F& f) {
  Lines lines;
  struct Before {
    ricci::debug::Sink sink;
    ~Before() { ricci::debug::set_sink(std::move(sink)); }
  } const before{ricci::debug::set_sink([&lines](const std::string& line) { lines.push_back(line); })};
  f();
  return lines;
}

inline Lines as_they_come(Lines lines) { return lines; }
/// Without those that name no example.
inline Lines of_examples(Lines lines) {
  std::erase_if(lines, [](const std::string& line) { return line.rfind("(example ") == std::string::npos; });
  return lines;
}
/// Those of one example behind each other, in their order; first those that name no example.
inline Lines by_example(Lines lines) {
  const auto example = [](const std::string& line) {
    const std::size_t at = line.rfind("(example ");
    return at == std::string::npos ? std::string() : line.substr(at);
  };
  std::stable_sort(lines.begin(), lines.end(),
                   [&](const std::string& a, const std::string& b) { return example(a) < example(b); });
  return lines;
}

}  // namespace testing_support
