// Where the user's call stands, for bindings of other languages. Knows nothing of errors.
#pragma once

#include <string>

namespace ricci {

/// `train.py:41`, or nothing where it is unknown. Called on the thread that made the call.
using CallerPlace = std::string (*)();

/// Errors name the place that `place` gives instead of the first C++ frame outside the library; null: that frame.
void set_caller_place(CallerPlace place);

}  // namespace ricci
