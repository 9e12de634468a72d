// Operations that are made of others: errors name what the user called. Knows no operation.
#pragma once

#include "ricci/primitive/raise.h"
#include "tensor/thread_context.h"

namespace ricci {

/// While it lives, the errors of operations begin with `name` instead of their own names; inside another one, with that
/// one's. For code that runs no function of the user's.
///   Tensor vdot(const Tensor& a, const Tensor& b) {
///     const Called as("vdot", a, b);
///     return dot(conj_if_complex(a), b);
///   }
class Called {
 public:
  /// Throws ValueError if an operand is undefined.
  template <class... X>
  explicit Called(const char* name, const X&... operands) : as_(this_thread.called ? this_thread.called : name) {
    int operand = 0;
    (require_defined(this_thread.called, operands, operand++), ...);
  }
  /// The text of an operation's error under the name that was called.
  static std::string renamed(const std::string& text);

 private:
  const With<&ThreadContext::called> as_;
};

}  // namespace ricci
