// A way to end long work from outside, for bindings of other languages. Knows nothing of signals.
#pragma once

namespace ricci {

/// Called on the thread that works: before each run of a program, so at each step of a recorded loop; for each equation
/// while a program is simplified or planned; between the pieces of a long operation on several threads. What it throws
/// ends the call. An operation that writes in place may have written a part by then.
using Interruption = void (*)();

/// From now on `check` is asked; null: nothing is.
void set_interruption(Interruption check);

/// Asks.
void allow_interruption();

}  // namespace ricci
