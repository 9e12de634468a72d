// A program run step by step, for whoever times its equations or changes what they read.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "program/program.h"

namespace ricci {

/// Around each equation of a run: `run()` computes it of the operands.
using AroundEquation = std::function<void(const Equation& e, Tensors& operands, const std::function<void()>& run)>;

/// As calling the program.
std::vector<Tensor> run_program(const Program& program, std::span<const Tensor> inputs, const AroundEquation& around);

/// Around each equation of each program that is called: of the programs of loops and branches, too.
using AroundAllEquations =
    std::function<void(const Program& of, const Equation& e, Tensors& operands, const std::function<void()>& run)>;

/// While it lives, programs that are called on this thread run so.
class WatchedPrograms {
 public:
  explicit WatchedPrograms(const AroundAllEquations& around);
  WatchedPrograms(const WatchedPrograms&) = delete;
  ~WatchedPrograms();

 private:
  const AroundAllEquations* const before_;
};

}  // namespace ricci
