// What stands behind a World: a communicator of MPI, and how bytes go from rank to rank. Knows nothing of tensors.
// Every function here is called by all ranks of the world together.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ricci/mpi.h"

namespace ricci::mpi {

struct WorldState {
  explicit WorldState(MPI_Comm own);  ///< takes the communicator over
  WorldState(const WorldState&) = delete;
  ~WorldState();

  MPI_Comm comm;
  int rank = 0, size = 1;
  Traffic traffic;
};

/// Whether the session compares what ranks call.
bool checks_calls();
/// Throws ValueError where there is no session any more: a World, or a program that holds one, may outlive it.
void require_session();

/// Throws Error where MPI says that a call has failed.
void must(int code, const char* call);

/// `bytes` of every rank, in rank order, each equally many.
void all_gather_bytes(WorldState& world, const void* mine, std::size_t bytes, void* all);
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

/// Where block `rank` of `count` rows begins; the block behind the last begins at `count`.
inline std::int64_t block_begin(std::int64_t count, int rank, int size) {
  return count / size * rank + count % size * rank / size;
}

}  // namespace ricci::mpi
