// The segments of loops.
#include "ricci/control/loops.h"

#include <algorithm>

namespace ricci::runs {

std::int64_t segment_length(const char* name, std::int64_t index, bool doubling, std::int64_t most) {
  constexpr std::int64_t last_doubling = 62;
  const std::int64_t power = std::int64_t{1} << std::min(index, last_doubling);
  const std::int64_t done = doubling ? power - 1 : index * (index + 1) / 2;
  require_below_limit(name, done, most);
  return std::min(most - done, doubling ? power : index + 1);
}

}  // namespace ricci::runs
