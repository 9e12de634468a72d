// Sums that loops carry: found in the body of a loop, and taken out of it. Example: gradients of weights on the way
// back through a recurrent network.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "compile/terms.h"
#include "program/program.h"

namespace ricci::compiled {

/// A part of a loop's state that no turn reads: each turn adds products to it.
struct CarriedSum {
  Variable start, result;  // before the first turn, and after the last
  std::vector<Sum> terms;  // added up in all turns; factors are values outside the loop
};

/// The loop, which gives the factors as rows, and what is added up behind it.
struct LoopWithRows {
  Equation loop;
  std::vector<CarriedSum> sums;
  DigitTable digits;  // of the factors
};
/// None where `e` is no such loop, or its sums had better stay inside: see docs/inside/contractions.md. The variables
/// of new rows are appended to `to`, the program of `e`. Requires: sizes are numbers.
std::optional<LoopWithRows> with_sums_taken_out(const Equation& e, ProgramBody& to);

}  // namespace ricci::compiled
