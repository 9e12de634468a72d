// What few operations say of the elements of their results: zeros that no user wrote, a part that is replaced, a part
// that is shown, and operands one behind the other.
// Knows no operation by name.
#pragma once

#include <optional>

#include "program/facts.h"

namespace ricci {

/// Of an operation that gives its first operand with a part replaced by its second: turns the first one's layout into
/// that of the part, as `Rules::alias` does.
///   const bool part_known = replaces_part<Put>();
struct PartOf {
  using Function = bool (*)(const void* parameters, Type& type, Strides& strides, void*& data);
};
template <class P>
bool replaces_part() {
  return Facts<PartOf>::add(rules_of<P>, [](const void* op, Type& type, Strides& strides, void*& data) {
    return erase::as<P>(op).view.alias(type, strides, data);
  });
}

/// Of an operation that puts its operands one behind the other along an axis.
///   const bool axis_known = joins_along_axis<Cat>();
struct JoinedAlong {
  using Function = std::int64_t (*)(const void* parameters);
};
template <class P>
bool joins_along_axis() {
  return Facts<JoinedAlong>::add(rules_of<P>, [](const void* op) { return erase::as<P>(op).axis; });
}

/// An operation states this if its result is a copy of one operand. A locally constant copy, such as that of `detach`,
/// has no derivative.
struct Copied {
  std::size_t operand = 0;
  /// The first operand says which rows take part. Copies of the first of these stand in the place of the others, so
  /// that nothing fails there. Where each example is computed by itself the result is the operand.
  bool fills_rows = false;
};
///   const bool is_a_copy = copies_operand<Clone>();
struct CopyOf {
  using Function = Copied (*)();
};
template <class P>
bool copies_operand() {
  return Facts<CopyOf>::add(rules_of<P>, [] { return P::copied; });
}
/// Whether the operation copies its first operand, and that operand is all it has.
inline bool is_plain_copy(const Rules& rules) {
  const auto copied = Facts<CopyOf>::of(rules);
  return copied && copied().operand == 0 && !copied().fills_rows;
}

/// Some positions of an axis, side by side.
struct AxisRun {
  std::int64_t axis;
  Size start, size;
};
/// Of a view that shows a run of its operand: which one; none where the parameters show something else.
///   const bool run_known = shows_run<SliceView>();
struct ShownRun {
  using Function = std::optional<AxisRun> (*)(const void* parameters);
};
template <class P>
bool shows_run() {
  return Facts<ShownRun>::add(rules_of<P>, [](const void* op) { return erase::as<P>(op).run(); });
}

/// Of an operation without operands that gives structural zeros, alone or beside the ones of seeds: the parameters that
/// give a run of its result.
///   const bool marked = gives_structural_zeros<StructuralZeros>();
struct StructuralPartOf {
  using Function = OwnedParameters (*)(const void* parameters, const AxisRun& run);
};
template <class P>
bool gives_structural_zeros() {
  return Facts<StructuralPartOf>::add(
      rules_of<P>, [](const void* op, const AxisRun& run) { return own(erase::as<P>(op).part_of(run)); });
}
/// Whether it gives nothing but structural zeros.
inline bool is_structural_zeros(const Rules& rules) { return rules.filling && Facts<StructuralPartOf>::of(rules); }

}  // namespace ricci
