// Elements that are given away: nobody needs their value once an operation has replaced a part of it, so the operation
// writes into them instead of copying them. Knows no operation by name. Start with `GivenAway`.
#pragma once

#include <span>

#include "primitive/interpreter.h"

namespace ricci {

/// The elements behind a cell's value that nobody else can see, at whatever level they stand. While they are offered,
/// an operation with the rule `overwrite` computes its result in the elements of its first operand: `D[i] = y` under
/// vmap then copies one row, not all of D.
///   GivenAway given(cell, nullptr);  const GivenAway::Offer offer(&given);  result = put(base, value, view);
class GivenAway {
 public:
  /// Requires: `owner` is a root. Once the operation has succeeded, `owner` takes its result or ends; so do the tensors
  /// that `owner` shows, if it is the argument of a transform. `incoming`, which the caller holds, may be a view of the
  /// elements.
  GivenAway(const Cell& owner, const Value* incoming);
  /// Whether a whole of this type is large enough: to copy a few elements costs less than to find out who holds them.
  static bool pays_for(const Type& whole) {
    constexpr std::int64_t few = 1024;
    std::int64_t elements = 1;
    for (Size size : whole.shape) elements *= size.hint();
    return elements >= few;
  }
  GivenAway(const GivenAway&) = delete;
  /// From now on, `undo` can give overwritten elements their values back.
  void keep_what_is_overwritten() { keeps_ = true; }
  void undo() noexcept;

  /// While it lives, the operations of this thread find what is given away. Null offers nothing.
  class Offer {
   public:
    explicit Offer(GivenAway* given) : outer_(std::exchange(offered_, given)) {}
    Offer(const Offer&) = delete;
    ~Offer() { offered_ = outer_; }

   private:
    GivenAway* outer_;
  };
  static bool is_offered() { return offered_ != nullptr; }
  /// The operation's result in the elements of its first operand; null where these are not offered.
  /// Requires: the operation has the rule.
  static ValueRef overwritten(Op op, std::span<const ValueRef> inputs);

 private:
  struct Elements {
    Array* array;
    ArrayRef before;               // of the part that was overwritten
    const Rules* rules = nullptr;  // of the operation that has overwritten them
    OwnedParameters parameters;
  };
  SmallVector<Elements, 2> elements_;
  bool keeps_ = false;
  static thread_local constinit GivenAway* offered_;
};

}  // namespace ricci
