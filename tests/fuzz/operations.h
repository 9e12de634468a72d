// The operations of random programs: those of the registry, calls as users write them, writes, draws, and calls that
// are wrong. Knows nothing of transforms.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/table.h"
#include "world.h"

namespace fuzz {

/// `pick` chooses among axes and variants when the operation runs, because sizes are known only then.
struct Operation : testing_support::Row<Tensor(const Tensor& x, int pick)> {
  template <class F>
  Operation(const char* operation, F run, std::string in_python)
      : Row(operation, std::move(run)), python(std::move(in_python)) {}

  std::string python;  // the same, as python_text.h says
};

/// Every operation of the registry, as far as its rules or samples tell what it takes.
const std::vector<Operation>& registered_operations();
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
/// The functions that operations in Python call.
const char* helpers_in_python();

}  // namespace fuzz
