// Writing a value into the part of a base that a view shows, as an operation without side effects.
#pragma once

#include "interpreters/lifted.h"

namespace ricci {

/// A view as the parameter of another operation.
struct ViewParameter {
  InnerOp inner;

  Op op() const { return inner.op(); }
  void print_parameter(std::string& out) const { inner.print_parameter(out); }
  void parse_parameter(std::string_view& text);
  void visit_parameter_sizes(SizeVisitor& visitor) { inner.visit_parameter_sizes(visitor); }
  bool operator==(const ViewParameter&) const = default;
};

/// `base` with the part that `view` shows replaced by `value`.
Tensor put(const Tensor& base, const Tensor& value, const ViewParameter& view);
/// The same, in the elements of `base` where nobody else can see them: its handle is not to be used again.
Tensor put_giving_away(const Tensor& base, const Tensor& value, const ViewParameter& view);

template <class View>
Tensor put(const Tensor& base, const Tensor& value, const View& view) {
  return put(base, value, ViewParameter{InnerOp({&rules_of<View>, &view})});
}

}  // namespace ricci
