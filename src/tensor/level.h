// The numbers of levels. Knows nothing of what runs there.
#pragma once

#include <cstdint>

namespace ricci {

/// Identifies one run of one transform: a count that grows with every transform entered, so that of two live levels of
/// a thread the greater is the inner one, and below it the number of the thread. 0 is the eager level.
using Level = std::uint64_t;
inline constexpr int thread_bits = 16;
inline bool same_thread(Level a, Level b) { return ((a ^ b) & ((Level{1} << thread_bits) - 1)) == 0; }

}  // namespace ricci
