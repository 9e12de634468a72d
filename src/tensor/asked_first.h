// What every operation asks before it looks any further, as one flag: hardly ever is any of it so.
#pragma once

#include <atomic>

namespace ricci {

inline constexpr unsigned another_dtype_was_set = 1;  ///< any thread ever set another default dtype
inline constexpr unsigned a_profile_runs = 2;         ///< spans are noted (ricci/profile.h)
extern std::atomic<unsigned> asked_first;

inline bool is_so(unsigned flag) { return (asked_first.load(std::memory_order_relaxed) & flag) != 0; }

}  // namespace ricci
