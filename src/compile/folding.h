// Which equations of a program kernels run, where nothing of the library is there to run the others.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compile/target.h"
#include "program/program.h"

namespace ricci::compiled {

/// A program whose sizes are numbers.
struct Folded {
  Program program;                // its inputs: the arguments, then `constants`
  std::vector<Tensor> constants;  // what follows from captured tensors alone
};

/// What may become a constant.
struct FoldOptions {
  std::int64_t most_elements = INT64_MAX;
  bool folds_views = true;
};
/// Without the equations that need no element of an argument: what they give is among the constants.
Folded folded(const Program& program, std::span<const Tensor> captured, const FoldOptions& options = {});
/// With kernels whose lanes lie along the open sizes of the program's call, as the compiled function has them: both
/// give the same bits. These sizes stay open. Requires: as below.
Folded with_kernels_along_open_sizes(const Program& program, std::span<const Tensor> captured, const Target& target);
/// With kernels for as many equations as can be. Requires: where sizes are open, the program is in a call; its last
/// inputs are captured tensors, of these values.
Folded with_kernels(const Program& program, std::span<const Tensor> captured, const Target& target);

/// Whether an equation that has no kernel of its own can be computed element by element, its operands spread under one
/// shape. Example: the sum of two [64, 64], where a kernel cannot tell which of the axes holds the lanes.
bool runs_in_a_row(const ProgramBody& body, const Equation& e);

/// Whether its results have no elements.
bool gives_nothing(const ProgramBody& body, const Equation& e);
/// Whether an equation is computed though its results are empty: the values of its operands may be such that it throws,
/// as an index into an empty tensor is, or it does more than give results.
bool may_be_wrong(const ProgramBody& body, const Equation& e);

/// Whether its elements follow from nothing: they are constants.
bool gives_constants(const Equation& e);

Types operand_types(const ProgramBody& body, const Equation& e);

}  // namespace ricci::compiled
