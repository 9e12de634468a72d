// Equations over values of any number of axes as one nest of loops: a function of an index, computed and written once
// for each index, however many equations it stands for. A shifted read, as those of a stencil, is a read at another
// place. Where a value begins or ends inside the ranges, as padding does, the ranges are cut in two there, so nobody
// asks at an index whether it lies inside. Start with `nest_of`; which equations stand in one nest: nests.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "compile/lane_kernel.h"
#include "compile/said.h"
#include "program/program.h"
#include "ricci/primitive/formula.h"

namespace ricci::compiled {

/// Where a kernel begins to read or write one tensor at the first position of all ranges, and how far it moves from one
/// position of each range to the next: in elements.
struct Moving {
  int tensor;  ///< below 0: `Nest::diagonals`
  std::int64_t begin = 0;
  std::vector<std::int64_t> by_range;
  std::int64_t row = 0;  ///< where lanes are rows: from one to the next
  bool operator==(const Moving&) const = default;
};

/// Positions of the ranges at which one kernel computes everything.
struct Region {
  Ranges ranges;
  std::int64_t first, unrolled;  ///< of the outermost positions: the first, and how many of them one of `ranges` is
  int lanes = -1;                ///< the range that lanes lie along; -1: the kernel computes one index
  std::vector<std::size_t> walked = {};  ///< the other ranges of several positions, but the outermost; innermost last
  std::shared_ptr<const LaneKernel> kernel = nullptr;
  std::vector<Moving> in, out;          ///< by tensor of the kernel. Results behind the stored ones are totals of a run
  std::vector<std::int64_t> rows = {};  ///< lengths that the kernel asks for (`LaneProgram::rows`)

  std::int64_t lane_count() const { return lanes < 0 ? 1 : ranges.size(static_cast<std::size_t>(lanes)); }
  /// How many positions one call of the kernel goes through.
  std::int64_t positions_of_call() const { return walked.empty() ? 1 : ranges.size(walked.back()); }
  std::int64_t calls() const { return ranges.positions() / lane_count() / positions_of_call(); }
  /// How many totals one call gives.
  std::int64_t totals_of_call() const { return kernel->plan().walks ? 1 : positions_of_call(); }
};

/// A reduction of all elements of a value to their sum: what runs of kernels give is added, then finished.
struct SumOfRuns {
  Type type;  ///< of the result
  DType added_in;
  Formula finish;  ///< of the sum and the number of elements
  std::int64_t elements;
};

struct Nest {
  std::vector<Type> stored;      ///< the first results
  std::vector<SumOfRuns> sums;   ///< the others
  std::vector<Region> regions;   ///< each index stands in one of them
  std::vector<Variable> inputs;  ///< of the body that it was made of
  /// By type, as tensor -1 - type of `Moving`: a row of `reach` zeros, a 1, `reach` zeros. `Moving` counts from the 1.
  std::map<DType, std::vector<std::uint64_t>> diagonals = {};
  std::int64_t reach = 0;
  std::vector<int> most_times;   ///< by equation: at how many indices it is computed for one of the nest's

  std::size_t steps() const;
  /// Requires: all lie row by row. False: a kernel has no code.
  bool run(std::span<const Strided> in, std::span<const Strided> out) const;

 private:
  bool run(const Region& region, std::int64_t position, std::span<const Strided> in,
           std::span<const Strided> out) const;
};

/// What a nest is to compute. Values have as many axes as there are ranges.
struct NestResults {
  std::vector<std::size_t> stored, sums;  ///< equations
};

/// Whether the equation adds up all elements of its operands.
bool adds_up_all(const ProgramBody& body, const Equation& e);

/// Throws CannotSay and TooLong. Requires: all sizes of the body are numbers, and none of these results is empty.
Nest nest_of(const ProgramBody& body, const SaidBy& said, const NestResults& results);

}  // namespace ricci::compiled
