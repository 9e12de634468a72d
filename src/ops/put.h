// Writing a value into the part of a base that a view shows, as an operation without side effects.
#pragma once

#include "interpreters/lifted.h"

namespace ricci {

/// A view as the parameter of another operation: views one after the other, of which the first is one of the base. A
/// program shows `permute[axes=(1,0)].select[axis=0, index=2]`.
struct ViewParameter {
  SmallVector<InnerOp, 1> views;

  ViewParameter() = default;
  ViewParameter(InnerOp view) { views.push_back(std::move(view)); }

  Type type_of_part(const Type& base) const;
  Tensor part_of(const Tensor& base) const;
  static constexpr std::size_t no_limit = ~std::size_t{0};
  /// Turns the base's layout into that of the part; false where the layout does not allow it, or a view on the way has
  /// more axes than `most_axes`.
  bool alias(Type& type, Strides& strides, void*& data, std::size_t most_axes = no_limit) const;
  /// The same for one more leading axis of this size.
  ViewParameter lifted(Size batch) const;

  void print_parameter(std::string& out) const;
  void parse_parameter(std::string_view& text);
  void walk_parameter(ParameterVisitor& visitor);
  bool operator==(const ViewParameter&) const = default;
};

/// What a view shows all of, every element once, where it shows `shown`; undefined for a view that may not. Lives with
/// the views.
Tensor seen_back(Op view, const Type& base, const Tensor& shown);
/// `base` with the part that `view` shows replaced by `value`.
Tensor put(const Tensor& base, const Tensor& value, const ViewParameter& view);
/// The same, in the elements of `base` where nobody else can see them: its handle is not to be used again.
Tensor put_giving_away(const Tensor& base, const Tensor& value, const ViewParameter& view);

template <class View>
Tensor put(const Tensor& base, const Tensor& value, const View& view) {
  return put(base, value, ViewParameter{InnerOp({&rules_of<View>, &view})});
}

}  // namespace ricci
