// How many lanes the code of a plan computes together.
#pragma once

#include "compile/plan.h"

namespace ricci::compiled {

/// The lanes of a register of this many bytes: by the widest elements that a lane computes with. Where those are few
/// beside elements of half their size, such as sums of floats in double, they take two registers.
int width_of(const LanePlan& plan, int register_bytes);

/// How many operations a processor looks ahead, roughly. Turns of fewer are computed one register after the other.
inline constexpr std::size_t seen_ahead = 150;

/// How many registers of lanes are computed side by side: as many as hide the latency of the longest chain of
/// operations, where the code is so long that the processor sees no second one of it ahead; with at most so many
/// operations together. A processor is taken to begin two operations in a cycle.
int registers_of(const LanePlan& plan, std::size_t most_operations);

}  // namespace ricci::compiled
