// The levels that a scope of no_grad switches off: all that run where it begins.
#include "ricci/no_grad.h"

#include <algorithm>

#include "primitive/interpreter.h"

namespace ricci {

no_grad::no_grad() : saved_(this_thread.no_grad_below) {
  this_thread.no_grad_below = std::max(this_thread.no_grad_below, current_level());
}
no_grad::~no_grad() { this_thread.no_grad_below = saved_; }

}  // namespace ricci
