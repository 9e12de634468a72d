// A program run step by step, for whoever wants to know where the time goes.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "program/program.h"

namespace ricci {

/// Around each equation of a run: `run()` computes it.
using AroundEquation = std::function<void(const Equation& e, const std::function<void()>& run)>;

/// As calling the program.
std::vector<Tensor> run_program(const Program& program, std::span<const Tensor> inputs, const AroundEquation& around);

}  // namespace ricci
