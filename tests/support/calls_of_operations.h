// A call of every operation in the index of operations, with operands of the caller's choice. Knows nothing of what a
// test asks of the calls. `NamesOfCalls` says where the index has an operation that is not called.
#pragma once

#include <ricci/ricci.h>

#include <span>
#include <vector>

namespace testing_support {

using Tensors = std::vector<ricci::Tensor>;

/// What a call is made of: as many of the tensors as it takes, and one number for all that is a number.
struct In {
  ricci::Tensor a, b, c;
  std::int64_t n;
  double x;
};

struct Call {
  const char* name;
  void (*append)(const In& in, Tensors& list);

  /// The tensors of what the call returns.
  Tensors operator()(const In& in) const {
    Tensors results;
    append(in, results);
    return results;
  }
};

/// Calls of each declaration in include/ricci/ops, which tools/calls_of_operations.py makes, and those that it cannot
/// make: of memory, of lists in braces, and where a text or the form of an operand matters.
std::span<const Call> calls();

}  // namespace testing_support
