// Switching derivatives off for a scope.
#pragma once

#include <cstdint>

namespace ricci {

/// While it lives, what is computed or written has no derivative for any transform around it, nor have the results of
/// transforms entered inside; those transforms themselves work as ever. A write makes a constant of the tensor or view
/// that it is called on, and what is beside that view keeps its derivative. A view that is made in the scope is a
/// constant for as long as the view lives, whatever is written to its base.
///   { rc::no_grad guard; scale = x.norm(); }
class no_grad {
 public:
  no_grad();
  no_grad(const no_grad&) = delete;
  ~no_grad();

 private:
  std::uint64_t saved_;
};

}  // namespace ricci
