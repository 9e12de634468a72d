// What stands behind a World: a communicator of MPI, and how bytes go from rank to rank. Knows nothing of tensors.
// Every function here is called by all ranks of the world together.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ricci/mpi.h"

namespace ricci::mpi {

struct WorldState {
  /// Takes the communicator over: of all ranks, or of those of `all` that `members` names.
  explicit WorldState(MPI_Comm own, std::shared_ptr<WorldState> all = nullptr, std::vector<int> members = {});
  WorldState(const WorldState&) = delete;
  ~WorldState();

  MPI_Comm comm;
  int rank = 0, size = 1;
  Traffic traffic;

  // Of a part of the ranks.
  const std::shared_ptr<WorldState> all;
  const std::vector<int> members;  // by their ranks in `all`
  // Of all ranks.
  bool has_parts = false;    // there has been a part, so that a rank who leaves says so to each other one
  std::set<int> have_left;  // of which this one has heard
};

/// Whether the session compares what ranks call.
bool checks_calls();
/// Throws ValueError where there is no session any more: a World, or a program that holds one, may outlive it.
void require_session();

/// Throws Error where MPI says that a call has failed.
void must(int code, const char* call);

/// Says why, and ends all ranks.
[[noreturn]] void end_all_ranks(const std::string& why);

/// `bytes` of every rank, in rank order, each equally many.
void all_gather_bytes(WorldState& world, const void* mine, std::size_t bytes, void* all);
/// The same, where a rank may never come. Between a part of the ranks it ends all ranks when one of them has left the
/// session some seconds ago; who leaves answers the calls between all ranks, and those alone.
void meet(WorldState& world, const void* mine, std::size_t bytes, void* all, const std::string& call);

/// Tells each other rank that this one leaves; gives what is still to be sent. Does nothing where there was no part.
std::vector<MPI_Request> tell_that_this_rank_leaves(WorldState& all);
/// Returns when all others have told it too, and what this one had to send is sent.
void hear_that_all_leave(WorldState& all, std::vector<MPI_Request> sent);

/// Strings of any length.
std::vector<std::string> all_gather_texts(WorldState& world, const std::string& mine);
/// Rows of `row_bytes` each, `counts[r]` of rank r.
void all_gather_rows(WorldState& world, const void* mine, void* all, std::span<const std::int64_t> counts,
                     std::int64_t row_bytes);
/// The same at the root alone.
void gather_rows(WorldState& world, const void* mine, void* all, std::span<const std::int64_t> counts,
                 std::int64_t row_bytes, int root);
/// The reverse: rank r gets its `counts[r]` rows of the root's.
void scatter_rows(WorldState& world, const void* all, void* mine, std::span<const std::int64_t> counts,
                  std::int64_t row_bytes, int root);
/// The root's bytes, in every rank's memory.
void broadcast_bytes(WorldState& world, void* bytes, std::int64_t count, int root);
/// Every rank's part r goes to rank r, which gets them one behind the other, in rank order. `parts[r]` is the size of
/// part r, in bytes.
void exchange_parts(WorldState& world, const void* mine, void* received, std::span<const int> parts);

/// Where block `rank` of `count` rows begins; the block behind the last begins at `count`. The first blocks may have
/// one row more than the last.
inline std::int64_t block_begin(std::int64_t count, int rank, int size) {
  return count / size * rank + std::min<std::int64_t>(rank, count % size);
}

}  // namespace ricci::mpi
