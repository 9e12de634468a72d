// Elements that are given away: nobody needs their value once an operation has replaced a part of it, so the operation
// writes into them instead of copying them. Knows no operation by name. Start with `GivenAway`.
#pragma once

#include <span>

#include "primitive/interpreter.h"

namespace ricci {

/// The elements behind a cell's value that nobody else can see, at whatever level they stand. While they are offered,
/// an operation with the rule `overwrite` may put its result into them, if its first operand shows them. Example:
/// `D[i] = y` under vmap then copies one row, not all of D.
///   GivenAway given(cell, nullptr);  const GivenAway::Offer offer(&given);  result = put(base, value, view);
class GivenAway {
 public:
  /// Requires: `owner` is a root. Once the operation has succeeded, `owner` takes its result or ends; so do the tensors
  /// that `owner` shows, if it is the argument of a transform. `incoming` may be a view of the elements, and the
  /// caller holds it once.
  GivenAway(const Cell& owner, const Value* incoming) : GivenAway(owner, incoming, true) {}
  GivenAway(const GivenAway&) = delete;
  /// As above, of an owner that ends afterwards: its elements may lie in any way.
  static GivenAway from_ending(const Cell& owner) { return GivenAway(owner, nullptr, false); }
  /// Whether a whole like this is large enough: to copy a few elements costs less than to find out who holds them.
  static bool pays_for(const Value& whole);
  /// run(), an operation on the value of `handle`, with its elements offered where the handle holds them alone, or is a
  /// view of bases that nobody else holds. The handle is not to be used again. `incoming`: as above.
  template <class Run>
  static auto from_handle(const Tensor& handle, const Run& run, const Value* incoming = nullptr);

  /// From now on, `undo` can give overwritten elements their values back.
  void keep_what_is_overwritten() { keeps_ = true; }
  /// Neither allocates nor throws.
  void undo() noexcept;
  /// Whether the value shows elements that have been overwritten.
  bool has_overwritten(const Value& value) const;
  /// The operation's result, with the owner's own arrays where it shows all of their elements as they do.
  ValueRef settled(ValueRef result) const;

  /// While it lives, the operations of this thread find what is given away. Null offers nothing.
  using Offer = With<&ThreadContext::given_away>;
  static bool is_offered() { return this_thread.given_away != nullptr; }
  /// The operation's result in the elements that its first operand shows; null where these are not offered.
  /// Requires: the operation has the rule.
  static ValueRef overwritten(Op op, std::span<const ValueRef> inputs);

 private:
  struct Elements {
    ArrayRef array;
    const Rules* rules = nullptr;  // of the operation that has overwritten them
    OwnedParameters parameters;    // its own, here and below, where they are kept
    Values inputs;
    ArrayRef before;  // of the elements that it has replaced
  };
  /// Not `as_made`: the owner ends, so that its elements may lie in any way.
  GivenAway(const Cell& owner, const Value* incoming, bool as_made);
  static Cell* sole_root(const Tensor& handle);
  Elements* find(const Value& array);

  SmallVector<Elements, 2> elements_;
  bool keeps_ = false;
};

template <class Run>
auto GivenAway::from_handle(const Tensor& handle, const Run& run, const Value* incoming) {
  Cell* const root = sole_root(handle);
  if (!root || !pays_for(*root->value)) return run();
  forget_views(root);
  GivenAway given(*root, incoming, false);
  const Offer offer(&given);
  return run();
}

}  // namespace ricci
