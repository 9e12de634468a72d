// Operations that are made of others: errors name what the user called. Knows no operation.
#pragma once

#include "ricci/primitive/raise.h"

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
  explicit Called(const char* name, const X&... operands) : is_outermost_(!current_) {
    int operand = 0;
    (require_defined(current_ ? current_ : name, operands, operand++), ...);
    if (is_outermost_) current_ = name;
  }
  Called(const Called&) = delete;
  ~Called() {
    if (is_outermost_) current_ = nullptr;
  }
  /// The text of an operation's error under the name that was called.
  static std::string renamed(const std::string& text);

 private:
  static thread_local constinit const char* current_ __attribute__((tls_model("initial-exec")));
  const bool is_outermost_;
};

}  // namespace ricci
