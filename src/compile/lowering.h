// The elementary functions (exp, expm1, log, tanh, sin, cos) in the words that are instructions of the machine: the
// library's own formulas, written into the graph. Knows nothing of machine code.
#pragma once

#include "compile/expansion.h"

namespace ricci::compiled {

/// The same program with these words taken apart. A `sin` or `cos` keeps its word, with what its formula gives as its
/// second operand: where |x| is beyond `circular_limit`, the function itself gives the result.
LaneProgram lowered(const LaneProgram& program);

/// From which size of x on the formulas of sin and cos do not hold.
double circular_limit(DType dtype);

}  // namespace ricci::compiled
