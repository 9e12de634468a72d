// Operations that have been met before, with what they gave.
#pragma once

#include <unordered_map>

#include "primitive/interpreter.h"

namespace ricci {

/// Finds an operation by its parameters and the values it reads. Values are the same if they are one object, or numbers
/// that are equal: rules make numbers anew each time. It holds the values alive.
class RememberedOperations {
 public:
  const Values* find(Op op, std::span<const ValueRef> inputs) const;
  void add(Op op, std::span<const ValueRef> inputs, const Values& results);
  void clear() { operations_.clear(); }

 private:
  struct Operation {
    const Rules* rules;
    OwnedParameters parameters;
    Values inputs, results;
  };
  std::unordered_multimap<std::size_t, Operation> operations_;
};

}  // namespace ricci
