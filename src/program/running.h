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

/// A program that runs. Its conditionals and loops have the numbers that those of the function would have here, and
/// what follows goes on behind them (interpreters/streams.cpp).
///   const ProgramRun numbered(body);
///   const With<&ThreadContext::program_run> innermost(&numbered);
struct ProgramRun {
  explicit ProgramRun(const ProgramBody& of);
  /// The number here of the program's conditional or loop with this number.
  std::uint64_t number_of(std::uint64_t branch) const;
  /// The innermost running program whose conditionals and loops are counted in `counts`; null: no program.
  static const ProgramRun* innermost(const std::uint64_t* counts);
  /// The number of the next of them that the function itself begins, whether a program calls the function or none.
  static std::uint64_t& next_of(std::uint64_t& counts);

  std::uint64_t* const counts;  // the conditionals and loops of what draws from the same streams; null: nobody counts
  std::uint64_t* behind = nullptr;  // the number of what follows
  std::uint64_t first = 0;          // the program's
  mutable std::uint64_t next = 0;   // of those that are not the program's own, but of a function that it calls
  const ProgramRun* const outer = this_thread.program_run;
};

}  // namespace ricci
