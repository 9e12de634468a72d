// Which transforms run at the moment, on any thread: a value whose transform is not on the stack of the thread that
// uses it either has left a transform that ended, or belongs to one that runs on another thread. Names no operation.
#pragma once

#include <optional>

#include "primitive/interpreter.h"

namespace ricci {

/// A transform with this level that runs on another thread than this one; none: it has ended, or runs here.
std::optional<Entry> find_on_another_thread(Level level);
/// How errors name one of the last transforms that have ended on this thread, so that a stale value can say where it
/// came from; empty: it is none of these.
Entry ended_here(Level level);
/// Whether the transform of this level has not ended yet, on whatever thread.
bool is_running(Level level);
/// From now on a transform that cannot leave its stack counts as ended.
void count_as_ended(Level level) noexcept;
/// Throws TransformError on a thread that goes on inside a transform which has ended where it began.
[[noreturn]] void raise_ended_elsewhere(const Entry& entry);

}  // namespace ricci
