// Operations whose results need not all be computed: what is left of one when nobody reads some of them. An operation
// can say so where its struct has `std::optional<Pruned> pruned(const Flags& needed, std::size_t operands) const` and
// its file calls `can_be_pruned`.
#pragma once

#include <optional>

#include "program/facts.h"

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

/// None if nothing can be left out. `needed`: by result.
struct PruningOf {
  using Function = std::optional<Pruned> (*)(const void* parameters, const Flags& needed, std::size_t operands);
};
/// `const bool prunable = can_be_pruned<Scan>();`
template <class P>
bool can_be_pruned() {
  return Facts<PruningOf>::add(rules_of<P>, [](const void* op, const Flags& needed, std::size_t operands) {
    return erase::as<P>(op).pruned(needed, operands);
  });
}

}  // namespace ricci
