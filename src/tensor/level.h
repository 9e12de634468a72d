// The numbers of levels. Knows nothing of what runs there.
#pragma once

#include <cstdint>

namespace ricci {

/// Identifies one run of one transform. The lower bits hold the number of the thread. The upper bits count the
/// transforms that were entered: of two transforms that run on a thread, the inner one has the greater level. 0 is the
/// eager level.
using Level = std::uint64_t;
inline constexpr int thread_bits = 16;
inline bool same_thread(Level a, Level b) { return ((a ^ b) & ((Level{1} << thread_bits) - 1)) == 0; }

}  // namespace ricci
