// Writing a value into the part of a base that a view shows, as an operation without side effects.
#pragma once

#include "ricci/primitive.h"

namespace ricci {

/// A view as the parameter of another operation.
struct ViewParameter {
  const Rules* rules = nullptr;
  OwnedParameters parameters;

  Op op() const { return {rules, parameters.get()}; }
  void print_parameter(std::string& out) const;
  void parse_parameter(std::string_view& text);
  void visit_parameter_sizes(SizeVisitor& visitor);
  friend bool operator==(const ViewParameter& a, const ViewParameter& b);
};

/// `base` with the part that `view` shows replaced by `value`.
Tensor put(const Tensor& base, const Tensor& value, const ViewParameter& view);

template <class View>
Tensor put(const Tensor& base, const Tensor& value, const View& view) {
  return put(base, value, ViewParameter{&rules_of<View>, own(view)});
}

}  // namespace ricci
