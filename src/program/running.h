// A program run: as a call of it, or step by step, for whoever times its equations or changes what they read.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "program/program.h"
#include "tensor/thread_context.h"

namespace ricci {

/// Around each equation of a run: `run()` computes it of the operands.
using AroundEquation = std::function<void(const Equation& e, Tensors& operands, const std::function<void()>& run)>;

/// As calling the program.
Tensors run_program(const Program& program, std::span<const Tensor> inputs);
Tensors run_program(const Program& program, std::span<const Tensor> inputs, const AroundEquation& around);

/// Around each equation of each program that is called: of the programs of loops and branches, too.
struct AroundAllEquations
    : std::function<void(const Program& of, const Equation& e, Tensors& operands, const std::function<void()>& run)> {
  using function::function;
};
/// While it lives, programs that are called on this thread run so.
using WatchedPrograms = With<&ThreadContext::watches>;

class NumberedBranches;

/// Counts the conditionals and loops of what draws from the same streams.
struct BranchCounter {
  std::uint64_t* count = nullptr;        // null: nobody counts
  NumberedBranches** program = nullptr;  // the innermost one that runs there
};

/// While it lives, a program runs: its conditionals and loops have the numbers that those of the function would have
/// here, and what follows goes on behind them (interpreters/streams.cpp).
class NumberedBranches {
 public:
  explicit NumberedBranches(const ProgramBody& of);
  NumberedBranches(const NumberedBranches&) = delete;
  ~NumberedBranches();
  /// The number here of the program's branch with this number.
  std::uint64_t here(std::uint64_t branch);

 private:
  const BranchCounter counter_;
  const std::uint64_t before_;
  std::uint64_t count_;
  NumberedBranches* const around_;
};

}  // namespace ricci
