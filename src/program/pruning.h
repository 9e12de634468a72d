// Operations that can leave out results which nobody reads. Example: a loop carries a value that only the value itself
// depends on, and nobody reads the value after the loop. The struct of such an operation has
//   std::optional<Pruned> pruned(const Flags& needed, std::size_t operands) const;
// `needed` says of each result whether somebody reads it. The answer is the smaller operation, or none if nothing can
// be left out.
#pragma once

#include <optional>

#include "ricci/primitive.h"

namespace ricci {

using Flags = SmallVector<bool, 8>;

/// Of a list, what the flags leave.
template <class List>
List left_of(const List& list, const Flags& flags) {
  List left;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (flags[i]) left.push_back(list[i]);
  return left;
}

/// The operation on fewer operands, for fewer results.
struct Pruned {
  OwnedParameters parameters;
  Flags operands, results;  // those that are left
};

}  // namespace ricci
