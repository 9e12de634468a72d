// What loops can be told.
#pragma once

#include <cstdint>

namespace ricci {

/// What reverse mode keeps of a loop of n steps: every step's intermediates; the states at about sqrt(2 n) steps; those
/// at about log2(n) steps. The fewer, the more is computed again: nothing; once; about log2(n) times.
enum class Checkpoints : std::uint8_t { every_step, sqrt, log };

struct LoopOptions {
  std::int64_t max_steps = 1'000'000'000;  ///< an error where more are needed: the loop is taken for endless
  /// With sqrt and log, a condition or body that captures a tensor which a transform around the loop differentiates or
  /// maps is recorded as a program, with the tensor as part of the state. It may then not look at values.
  Checkpoints checkpoint = Checkpoints::every_step;
};

struct ScanOptions {
  std::int64_t dim = 0;  ///< the axis of xs whose slices are scanned; ys are stacked along axis 0
  bool reverse = false;  ///< from the last slice to the first; ys stay in the order of xs
};

}  // namespace ricci
