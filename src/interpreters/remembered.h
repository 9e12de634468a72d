// Operations that have been met before, with what they gave.
#pragma once

#include <unordered_map>

#include "primitive/interpreter.h"

namespace ricci {

/// Finds an operation by its parameters and the values it reads. Values are the same if they are one object, or numbers
/// that are equal: rules make numbers anew each time. It holds the values alive.
class RememberedOperations {
 public:
  /// What the operation gave the first time, else `make()`, which may ask for other operations.
  template <class Make>
  Values get(Op op, std::span<const ValueRef> inputs, const Make& make) {
    const std::size_t hash = hash_of(op, inputs);
    if (const Values* known = find(hash, op, inputs)) return *known;
    Values results = make();
    add(hash, op, inputs, results);
    return results;
  }
  void clear() { operations_.clear(); }

 private:
  static std::size_t hash_of(Op op, std::span<const ValueRef> inputs);
  const Values* find(std::size_t hash, Op op, std::span<const ValueRef> inputs) const;
  void add(std::size_t hash, Op op, std::span<const ValueRef> inputs, const Values& results);

  struct Operation {
    const Rules* rules;
    OwnedParameters parameters;
    Values inputs, results;
  };
  std::unordered_multimap<std::size_t, Operation> operations_;
};

}  // namespace ricci
