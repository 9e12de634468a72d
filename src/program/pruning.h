// Operations whose results need not all be computed: what is left of one when nobody reads some of them. An operation
// can say so where its struct has `std::optional<Pruned> pruned(const Flags& needed, std::size_t operands) const` and
// its file calls `can_be_pruned`.
#pragma once

#include <optional>

#include "ricci/primitive.h"

namespace ricci {

using Flags = SmallVector<bool, 8>;

/// The operation on fewer operands, for fewer results.
struct Pruned {
  OwnedParameters parameters;
  Flags operands, results;  // those that are left
};

/// None if nothing can be left out. `needed`: by result.
using PruningOf = std::optional<Pruned> (*)(const void* parameters, const Flags& needed, std::size_t operands);
/// Null of an operation that cannot say.
PruningOf pruning_of(const Rules& rules);

bool add_pruning(const Rules& rules, PruningOf pruning);
/// `const bool prunable = can_be_pruned<Scan>();`
template <class P>
bool can_be_pruned() {
  return add_pruning(rules_of<P>, [](const void* op, const Flags& needed, std::size_t operands) {
    return erase::as<P>(op).pruned(needed, operands);
  });
}

}  // namespace ricci
