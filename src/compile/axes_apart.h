// Axes of one size that a value has side by side, as those of x.unsqueeze(1) - x.unsqueeze(0), told apart: program in,
// programs out. Knows the rules of operations, no operation by name.
#pragma once

#include <cstdint>
#include <vector>

#include "compile/lane_sizes.h"
#include "program/program.h"

namespace ricci::compiled {

/// The program with another number for the size of some axes, the same for all axes that equations make one of: the
/// lanes may lie along those. Where an equation joins such an axis with another of the old size (x + x.t()), its types
/// do not fit any more; that equation is to stay apart.
struct AxesApart {
  ProgramBody body;
  OpenSize lanes;  // the number of these axes, and the size that it stands for
};

/// For each number of at least `fewest` that several axes of one value have, the most frequent number first: the
/// program with one of those axes told apart, for one after the other. A few at most. Symbols that are known become
/// numbers. Requires: the program's symbols are installed.
std::vector<AxesApart> axes_told_apart(const ProgramBody& whole, const ExpandOptions& options, std::int64_t fewest);

}  // namespace ricci::compiled
