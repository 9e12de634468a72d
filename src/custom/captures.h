// A function that is run again for a derivative, as that of a checkpoint, may capture a tensor that a transform around
// it differentiates or maps. It is first run as an attempt. An attempt that meets such a tensor fails; the function is
// then recorded as a program, which takes the captured tensors as inputs. Not for users.
#pragma once

#include "interpreters/replay.h"
#include "primitive/custom.h"
#include "ricci/error.h"

namespace ricci::function {

/// Throws the error again, and says why the function was written down.
[[noreturn]] void raise_in_what_captures(const TransformError& error);

/// `run()`, or `write_down()` where a function captures what it may not, also if it has caught what that threw.
template <class Run, class WriteDown>
auto with_captures(const Run& run, const WriteDown& write_down) {
  StreamScope draws{StreamScope::Repeatable()};
  const std::vector<std::size_t> counts = counts_of_draws();
  bool captures = false;
  try {
    const With<&ThreadContext::captures> noted(&captures);
    auto result = run();
    if (!captures) return result;
  } catch (...) {
    if (!captures) throw;
  }
  draws.restart();
  set_counts_of_draws(counts);
  try {
    return write_down();
  } catch (const TransformError& error) { raise_in_what_captures(error); }
}

}  // namespace ricci::function
