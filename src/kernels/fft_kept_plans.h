// Plans of Fourier transforms that were used last, kept for the next transform of the same length: making a plan takes
// longer than using it. All kinds of plans share one bound of bytes. Knows nothing of what a plan does. Safe to call
// from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ricci::kernels {

/// The most bytes that plans hold between transforms. A larger plan is made for one call.
inline constexpr std::size_t most_bytes_of_plans = std::size_t{64} << 20;
/// What they hold now.
std::size_t bytes_of_kept_plans();

struct PlanKey {
  const void* kind;  // an address for each type of plan
  std::int64_t n;
  bool for_one_line;
  bool operator==(const PlanKey&) const = default;
};
using AnyPlan = std::shared_ptr<const void>;

/// The plan, which counts as used; null if none is kept.
AnyPlan kept_plan(const PlanKey& key);
/// Keeps a plan of so many bytes, and forgets those that have not been used for longest. Another thread may have kept
/// one for this key meanwhile: then that one stays.
void keep_plan(const PlanKey& key, AnyPlan plan, std::size_t bytes);

}  // namespace ricci::kernels
