// The ordinary operations of random programs: elementwise ones, reductions, views, writes, draws, and calls that are
// wrong. Knows nothing of transforms.
#pragma once

#include <string>
#include <vector>

#include "world.h"

namespace fuzz {

/// `pick` chooses among axes and variants when the operation runs, because sizes are known only then.
struct Operation {
  const char* name;
  Tensor (*run)(const Tensor& x, int pick);
};

/// Those that write to nothing but what they made.
const std::vector<Operation>& ordinary_operations();
/// Those that write to their argument, or to a captured tensor.
const std::vector<Operation>& writing_operations();
/// Calls that throw for most inputs.
const std::vector<Operation>& wrong_operations();

/// x with at least one axis.
Tensor vector(const Tensor& x);
/// x itself, or a part of it with at most `most` elements and three axes, so that programs stay small.
Tensor small(const Tensor& x, std::int64_t most);

}  // namespace fuzz
