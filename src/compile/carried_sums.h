// Sums that loops carry: found in the body of a loop, and taken out of it. Example: gradients of weights on the way
// back through a recurrent network.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "compile/terms.h"
#include "program/program.h"

namespace ricci::compiled {

/// A part of a loop's state: each turn adds products to it, and reads it for nothing else.
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
/// None: no sum is taken out; which ones stay inside, docs/inside/contractions.md says. The variables
/// of new rows are appended to `to`, the program of `e`. Requires: sizes are numbers.
std::optional<LoopWithRows> with_sums_taken_out(const Equation& e, ProgramBody& to);

}  // namespace ricci::compiled
