// When other Python threads run, and when an interrupt (Ctrl-C) is seen, while C++ works.
#pragma once

#include "ricci/tensor.h"

namespace ricci::python {

/// So many elements take longer than another thread's wait for the interpreter's lock.
inline constexpr std::int64_t many_elements = 1 << 15;

/// Whether C++ should work on it without the interpreter's lock. Inside transforms Python may be called back, and a
/// size that is read is fixed in the program.
inline bool takes_long(const Tensor& t) { return t.defined() && !inside_transform() && t.numel() >= many_elements; }

/// From now on long work lets other threads run, and raises what a signal's handler raises.
void watch_signals();

/// Every 20 ms: lets other threads run, and throws what a signal's handler raised. Any thread may call it, with the
/// lock or without; on a thread that Python does not know it does nothing.
void let_python_in();

}  // namespace ricci::python
