// What an elementwise operation should give, in 113 bits. Start with `exact`.
#pragma once

#include <vector>

#include "cases.h"
#include "quad.h"

namespace laws {

/// The value to come, and what the error is counted in units in the last place of where that is larger.
struct Expected {
  Quad value, unit;
};

/// What the case's operation should give for the operands `x`, its constants being those of `element` where the
/// operation rounds them to it. Requires: the operation has bound its error.
Expected exact(const Case& c, ricci::DType element, const std::vector<double>& x);

}  // namespace laws
