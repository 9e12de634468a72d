// The calls of MPI.
#include "mpi/world.h"

#include <algorithm>
#include <climits>
#include <numeric>

#include "ricci/error.h"

namespace ricci::mpi {
namespace {

/// A row as MPI sees it, so that counts and places are counts of rows.
class RowType {
 public:
  explicit RowType(std::int64_t bytes) {
    if (bytes > INT_MAX)
      throw NotImplementedError("mpi: a row of " + std::to_string(bytes) +
                                " bytes is too long for one message; gather narrower rows, a part of the columns each");
    must(MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type), "MPI_Type_contiguous");
    must(MPI_Type_commit(&type), "MPI_Type_commit");
  }
  RowType(const RowType&) = delete;
  ~RowType() { MPI_Type_free(&type); }
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

/// How many rows each rank has, and where they begin.
struct Layout {
  std::vector<int> counts, begins;
  std::int64_t all = 0;
  explicit Layout(std::span<const std::int64_t> rows) {
    for (std::int64_t count : rows) {
      if (count > INT_MAX || all > INT_MAX)
        throw NotImplementedError("mpi: " + std::to_string(count) + " rows are too many for one message; gather parts");
      counts.push_back(static_cast<int>(count));
      begins.push_back(static_cast<int>(all));
      all += count;
    }
  }
};

constexpr std::int64_t most_bytes = std::int64_t{1} << 30;  // in one call

}  // namespace

void must(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(std::string("mpi: ") + call + " has failed: " + std::string(text, static_cast<std::size_t>(length)));
}

WorldState::WorldState(MPI_Comm own) : comm(own) {
  must(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  must(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  must(MPI_Comm_size(comm, &size), "MPI_Comm_size");
}

WorldState::~WorldState() {
  int is_over = 0;
  MPI_Finalized(&is_over);
  if (!is_over) MPI_Comm_free(&comm);
}

void all_gather_bytes(WorldState& world, const void* mine, std::size_t bytes, void* all) {
  require_session();
  must(MPI_Allgather(mine, static_cast<int>(bytes), MPI_BYTE, all, static_cast<int>(bytes), MPI_BYTE, world.comm),
       "MPI_Allgather");
  ++world.traffic.calls;
  world.traffic.bytes += static_cast<std::int64_t>(bytes) * (world.size - 1);
}

std::vector<std::string> all_gather_texts(WorldState& world, const std::string& mine) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(world.size));
  const auto length = static_cast<std::int64_t>(mine.size());
  all_gather_bytes(world, &length, sizeof length, lengths.data());
  std::string all(static_cast<std::size_t>(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0})), ' ');
  all_gather_rows(world, mine.data(), all.data(), lengths, 1);
  std::vector<std::string> texts;
  std::size_t begin = 0;
  for (std::int64_t size : lengths) {
    texts.push_back(all.substr(begin, static_cast<std::size_t>(size)));
    begin += static_cast<std::size_t>(size);
  }
  return texts;
}

void all_gather_rows(WorldState& world, const void* mine, void* all, std::span<const std::int64_t> counts,
                     std::int64_t row_bytes) {
  require_session();
  const Layout layout(counts);
  const RowType row(row_bytes);
  const int own = layout.counts[static_cast<std::size_t>(world.rank)];
  must(MPI_Allgatherv(mine, own, row.type, all, layout.counts.data(), layout.begins.data(), row.type, world.comm),
       "MPI_Allgatherv");
  ++world.traffic.calls;
  world.traffic.bytes += own * row_bytes * (world.size - 1);
}

void gather_rows(WorldState& world, const void* mine, void* all, std::span<const std::int64_t> counts,
                 std::int64_t row_bytes, int root) {
  require_session();
  const Layout layout(counts);
  const RowType row(row_bytes);
  const int own = layout.counts[static_cast<std::size_t>(world.rank)];
  must(MPI_Gatherv(mine, own, row.type, all, layout.counts.data(), layout.begins.data(), row.type, root, world.comm),
       "MPI_Gatherv");
  ++world.traffic.calls;
  if (world.rank != root) world.traffic.bytes += own * row_bytes;
}

void scatter_rows(WorldState& world, const void* all, void* mine, std::span<const std::int64_t> counts,
                  std::int64_t row_bytes, int root) {
  require_session();
  const Layout layout(counts);
  const RowType row(row_bytes);
  const int own = layout.counts[static_cast<std::size_t>(world.rank)];
  must(MPI_Scatterv(all, layout.counts.data(), layout.begins.data(), row.type, mine, own, row.type, root, world.comm),
       "MPI_Scatterv");
  ++world.traffic.calls;
  if (world.rank == root) world.traffic.bytes += (layout.all - own) * row_bytes;
}

void broadcast_bytes(WorldState& world, void* bytes, std::int64_t count, int root) {
  require_session();
  for (std::int64_t from = 0; from < count; from += most_bytes) {
    const std::int64_t now = std::min(most_bytes, count - from);
    must(MPI_Bcast(static_cast<std::byte*>(bytes) + from, static_cast<int>(now), MPI_BYTE, root, world.comm),
         "MPI_Bcast");
    ++world.traffic.calls;
    if (world.rank == root) world.traffic.bytes += now * (world.size - 1);
  }
}

void exchange_parts(WorldState& world, const void* mine, void* received, std::span<const int> parts) {
  require_session();
  const auto ranks = static_cast<std::size_t>(world.size);
  const int own = parts[static_cast<std::size_t>(world.rank)];
  std::vector<int> begins(ranks), counts_of_own(ranks, own), begins_of_own(ranks);
  for (std::size_t r = 1; r < ranks; ++r) {
    begins[r] = begins[r - 1] + parts[r - 1];
    begins_of_own[r] = begins_of_own[r - 1] + own;
  }
  must(MPI_Alltoallv(mine, parts.data(), begins.data(), MPI_BYTE, received, counts_of_own.data(), begins_of_own.data(),
                     MPI_BYTE, world.comm),
       "MPI_Alltoallv");
  ++world.traffic.calls;
  world.traffic.bytes += begins.back() + parts.back() - own;
}

}  // namespace ricci::mpi
