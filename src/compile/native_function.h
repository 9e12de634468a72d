// A program at the sizes of its calls as one function of machine code, which runs loops and branches, too. Start with
// `NativeFunctions`.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "program/program.h"

namespace ricci::compiled {

class NativeFunction;

/// How many functions were made in this process so far.
std::int64_t made_native_functions();

/// The functions of one program, by the sizes of calls: the last few that were asked for.
class NativeFunctions {
 public:
  /// Null if one function would be no faster. `program`: with lane kernels; its sizes are symbols of a call.
  static std::shared_ptr<NativeFunctions> of(const Program& program);

  explicit NativeFunctions(Program program, bool has_turns) : program_(std::move(program)), has_turns_(has_turns) {}
  /// Whether there is one for these sizes, which then fills `results`. `sizes`: null where none is open. Several
  /// threads may call it. Throws what the program throws. Requires: it runs outside transforms.
  bool run(const std::shared_ptr<const CallSizes>& sizes, std::span<const Tensor> inputs, Tensors& results);
  /// Makes the function that the first two calls with these sizes would make.
  void prepare(const std::shared_ptr<const CallSizes>& sizes) {
    if (!plan_of(sizes)) plan_of(sizes);  // some sizes get code at their second call
  }

 private:
  struct Known {
    std::vector<Size> sizes;
    std::uint64_t last_use = 0;
    std::int64_t calls = 0, calls_before_made = 2;
    int times_made = 0;
    bool is_made = false;
    std::shared_ptr<const NativeFunction> plan;  // null: there is none for them
  };
  static constexpr int most_made = 8;
  std::shared_ptr<const NativeFunction> plan_of(const std::shared_ptr<const CallSizes>& sizes);
  // Requires: the mutex is held.
  Known& find(std::span<const Size> sizes);
  void forget_one();

  const Program program_;
  const bool has_turns_;
  std::mutex mutex_;
  std::deque<Known> known_;
  std::uint64_t calls_ = 0;
  int made_ = 0;  // plans that are held
};

}  // namespace ricci::compiled
