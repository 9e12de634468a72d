// A function that is run again for a derivative, as that of a checkpoint, may capture a tensor that a transform around
// it differentiates or maps. It is first run as an attempt. An attempt that meets such a tensor fails; the function is
// then recorded as a program, which takes the captured tensors as inputs. Not for users.
#pragma once

#include "ricci/error.h"
#include "ricci/owned.h"

namespace ricci::function {

/// While it lives, using a tensor that a rule does not reach throws Captured (src/primitive/custom.h).
class Attempt {
 public:
  Attempt();
  Attempt(const Attempt&) = delete;
  ~Attempt();
  /// Whether it has thrown Captured, also where the user's function has caught that.
  bool has_failed() const;
  /// From now on nothing throws Captured, and what is drawn repeats what was drawn so far. Requires: it has failed.
  void begin_again();

 private:
  struct State;
  Owned<State> state_;
};

/// Throws the error again, and says why the function was written down.
[[noreturn]] void raise_in_what_captures(const TransformError& error);

/// `run()`, or `write_down()` where a function captures what it may not, also if it has caught what that threw.
template <class Run, class WriteDown>
auto with_captures(const Run& run, const WriteDown& write_down) {
  Attempt attempt;
  try {
    auto result = run();
    if (!attempt.has_failed()) return result;
  } catch (...) {
    if (!attempt.has_failed()) throw;
  }
  attempt.begin_again();
  try {
    return write_down();
  } catch (const TransformError& error) { raise_in_what_captures(error); }
}

}  // namespace ricci::function
