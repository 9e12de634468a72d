// A whole number among the parameters of an elementwise operation, which has no type rule that could hold it: a
// program's text is refused where it is read. Knows nothing of any operation.
#pragma once

#include <string>
#include <string_view>

#include "primitive/wording.h"
#include "ricci/error.h"
#include "ricci/primitive/parameters.h"

namespace ricci {

/// A parameter whose text must say a number in [low, high].
template <std::int64_t low, std::int64_t high>
struct BoundedNumber {
  std::int64_t value;

  operator std::int64_t() const { return value; }
  void print_parameter(std::string& out) const { parameters::print(value, out); }
  void parse_parameter(std::string_view& text) {
    parameters::parse(value, text);
    if (value < low || value > high)
      throw ValueError("the parameter " + std::to_string(value) + " is out of range; " + legal_range(low, high));
  }
  bool operator==(const BoundedNumber&) const = default;
};

}  // namespace ricci
