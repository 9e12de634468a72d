// Equations that stand for a step of a plan where the step does not do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "program/program.h"
#include "tensor/at.h"

namespace ricci::compiled {

/// Some equations of a program as a program of their own.
struct Apart {
  Program program;
  std::vector<Variable> inputs;  // the program's, as the body numbers them
};
/// The equations of `body` that give `outputs` from `inputs`, as far as `takes_part(equation)` holds. Where an equation
/// reads another value, that value is a further input, behind `inputs`.
template <class TakesPart>
Apart equations_between(const ProgramBody& body, std::span<const Variable> inputs, std::span<const Variable> outputs,
                        const TakesPart& takes_part) {
  ProgramBody apart;
  apart.types = body.types;
  apart.inputs.assign(inputs.begin(), inputs.end()), apart.outputs.assign(outputs.begin(), outputs.end());
  std::vector<bool> is_needed(body.types.size()), is_given(body.types.size());
  for (const Variable v : outputs) is_needed[at(v)] = true;
  for (const Variable v : inputs) is_given[at(v)] = true;
  for (const Constant& constant : body.constants) is_given[at(constant.variable)] = true;
  for (std::size_t i = body.equations.size(); i-- > 0;) {
    const Equation& e = body.equations[i];
    const auto is_wanted = [&](Variable v) { return is_needed[at(v)] && !is_given[at(v)]; };
    if (std::ranges::none_of(e.outputs, is_wanted) || !takes_part(e)) continue;
    apart.equations.push_back(e);
    for (const Variable v : e.outputs) is_given[at(v)] = true;
    for (const Variable v : e.inputs) is_needed[at(v)] = true;
  }
  std::ranges::reverse(apart.equations);
  for (const Constant& constant : body.constants)
    if (is_needed[at(constant.variable)]) apart.constants.push_back(constant);
  for (std::size_t v = 0; v < is_needed.size(); ++v)
    if (is_needed[v] && !is_given[v]) apart.inputs.push_back(static_cast<Variable>(v));
  return {with_own_numbers(apart), apart.inputs};
}

/// Runs such a program on elements of others, and writes what it gives to `out`.
void run_apart(const Program& apart, Outputs out, Inputs in);

}  // namespace ricci::compiled
