// A program at the sizes of its calls as one function of machine code, which runs loops and branches, too. Start with
// `NativeFunctions`.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "program/program.h"

namespace ricci::compiled {

class NativeFunction;

/// How many functions were made in this process so far.
std::int64_t made_native_functions();

/// What runs one program faster at the sizes of a call: the last few sizes that were asked for.
class NativeFunctions {
 public:
  /// Null if one function would be no faster. `program`: with lane kernels; its sizes are symbols of a call. `whole`:
  /// the same without kernels.
  static std::shared_ptr<NativeFunctions> of(const Program& program, const Program& whole);

  NativeFunctions(Program program, Program whole, bool has_turns)
      : program_(std::move(program)), whole_(std::move(whole)), has_turns_(has_turns) {}
  /// Whether there is something for these sizes, which then fills `results`. `sizes`: null where none is open. Several
  /// threads may call it. Throws what the program throws. Requires: it runs outside transforms.
  bool run(const std::shared_ptr<const CallSizes>& sizes, std::span<const Tensor> inputs, Tensors& results);
  /// Makes what many calls with these sizes would make.
  void prepare(const std::shared_ptr<const CallSizes>& sizes);
  /// The program with kernels for these sizes, which are written into it, made where a call would make it; none: what
  /// serves all sizes runs.
  std::optional<Program> make_program_at(const std::shared_ptr<const CallSizes>& sizes) {
    return plan_of(sizes, 0)->program;
  }
  /// Whether calls with these sizes run one function, as far as it was made.
  bool has_function_at(const std::shared_ptr<const CallSizes>& sizes) { return plan_of(sizes, 0)->function != nullptr; }

 private:
  struct Plan {
    std::optional<Program> in_call = {};                       // with kernels for these sizes
    std::optional<Program> program = {};                       // the same, with the sizes written into it
    std::shared_ptr<const NativeFunction> function = nullptr;  // of that program, or of the one for all sizes
  };
  struct Known {
    std::vector<Size> sizes;
    std::uint64_t last_use = 0;
    std::int64_t calls = 0, calls_before_made = 2;
    int times_made = 0;
    bool has_sought_kernels = false, is_made = false;  // is_made: the function, if there can be one
    std::shared_ptr<const Plan> plan = std::make_shared<const Plan>();
  };
  static constexpr int most_made = 8;
  /// The first sizes that come get kernels of their own, if these gain. What runs for some sizes never changes: their
  /// results would.
  static constexpr int most_sought = 8;
  std::shared_ptr<const Plan> plan_of(const std::shared_ptr<const CallSizes>& sizes, std::int64_t calls = 1);
  Plan with_kernels(const std::shared_ptr<const CallSizes>& sizes) const;
  std::shared_ptr<const NativeFunction> function_at(const Program& program) const;
  // Requires: the mutex is held.
  Known& find(std::span<const Size> sizes);
  void forget_one();

  const Program program_, whole_;
  const bool has_turns_;
  std::mutex mutex_;
  std::deque<Known> known_;
  std::uint64_t calls_ = 0;
  int made_ = 0, sizes_sought_ = 0;  // functions that are held; sizes that kernels were sought for
};

}  // namespace ricci::compiled
