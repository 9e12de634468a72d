// A way to end long runs from outside, for bindings of other languages. Knows nothing of signals.
#pragma once

namespace ricci {

/// Called on the thread that runs a program, before each run: so at each step of a recorded loop. What it throws ends
/// the call.
using Interruption = void (*)();

/// From now on `check` is asked; null: nothing is.
void set_interruption(Interruption check);

/// Asks.
void allow_interruption();

}  // namespace ricci
