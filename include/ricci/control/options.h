// What loops can be told.
#pragma once

#include <cstdint>

namespace ricci {

/// What reverse mode keeps of a loop of n steps: every step's intermediates; the states at about sqrt(2 n) steps; those
/// at about log2(n) steps. The fewer, the more is computed again: nothing; once; about log2(n) times.
enum class Checkpoints : std::uint8_t { every_step, sqrt, log };

struct LoopOptions {
  std::int64_t max_steps = 1'000'000'000;  ///< an error where more are needed: the loop is taken for endless
  /// Other than every_step: functions that capture what a transform around them differentiates or maps are written
  /// down, with that as part of the state, and may not look at values.
  Checkpoints checkpoint = Checkpoints::every_step;
};

struct ScanOptions {
  bool reverse = false;  ///< from the last slice to the first; ys stay in the order of xs
};

}  // namespace ricci
