// Whole numbers that name places of a table, and numbers that are allowed. Plain data, which operations say of
// themselves (structure.h) and generated code is made of.
#pragma once

#include <cstdint>
#include <optional>

namespace ricci {

/// Reads elements of a table, the first operand, at places that whole numbers name. Or the result is the table with the
/// second operand's elements set or added there, one after the other: sums are made in float64, or wrap. The operands
/// behind these are the indices.
struct AtPlaces {
  enum class What : std::uint8_t { reads, sets, adds };
  What what;
  /// Given: one index, of the table's rank; an element's place is its own but along this axis. Else: an index for each
  /// of the leading axes of the table; together they name a row of the others.
  std::optional<std::int64_t> axis;
  bool wraps;  // negative numbers count from the back
};
/// What an operation allows: it throws where an element of its operand is another. A result is the operand itself.
struct Allowed {
  std::int64_t least = INT64_MIN, most = INT64_MAX;  // whole numbers
  bool zero = true;
  struct Reals {
    double low, high;  // with both; NaN is not between them
  };
  std::optional<Reals> reals = {};  // given: elements as float64
};

}  // namespace ricci
