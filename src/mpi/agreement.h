// How ranks agree before data moves: each says what it calls and on what, or that it has failed, and all hear it. So a
// rank that throws meets the others where they wait for it in the same world.
// Knows nothing of tensors. Start with `agree`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/world.h"

namespace ricci::mpi {

/// All ranks call `call` on `about`, whose parts stand in lines of their own; an error names the parts that differ. The
/// result is the number `mine` of each rank, such as how many rows that rank has or where its generator is. If a rank
/// has thrown, every rank throws an error of the same class; ValueError where ranks make different calls.
std::vector<std::int64_t> agree(WorldState& world, const std::string& call, const std::string& about,
                                std::int64_t mine = 0);

/// In a handler: tells the other ranks what this one has caught; all throw. Throws on what they have all thrown.
[[noreturn]] void fail(WorldState& world);

/// Tells the others that this rank leaves the session, and waits until all do. What they call meanwhile between all
/// ranks is an error there; what they call between a part of the ranks ends all after some 10 s. Where an exception
/// ends this rank and the others do not come within 10 s, the process ends, and with it all.
void leave(WorldState& all, bool by_exception);

}  // namespace ricci::mpi
