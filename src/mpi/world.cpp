// The calls of MPI.
#include "mpi/world.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

#include "mpi/runs.h"
#include "ricci/error.h"

namespace ricci::mpi {
namespace {

/// Of the process: the thread that calls between ranks now, and how many of its calls stand inside each other.
std::mutex turns;
std::thread::id whose_turn;
int depth = 0;

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
      counts.push_back(static_cast<int>(count));
      begins.push_back(static_cast<int>(all));
      all += count;
    }
    if (all > INT_MAX)
      throw NotImplementedError("mpi: " + std::to_string(all) + " rows are too many for one message; gather parts");
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

void end_all_ranks(const std::string& why) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::fprintf(stderr, "rc::mpi: rank %d of %d ends all ranks: %s\n", rank, size, why.c_str());
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

runs::Turn::Turn(const char* call) {
  const std::lock_guard lock(turns);
  const std::thread::id mine = std::this_thread::get_id();
  if (depth > 0 && whose_turn != mine)
    throw Error(std::string(call) +
                ": another thread of this rank calls between ranks now; let one thread at a time call, on every rank "
                "in the same order");
  whose_turn = mine;
  ++depth;
}
runs::Turn::~Turn() {
  const std::lock_guard lock(turns);
  --depth;
}

WorldState::WorldState(MPI_Comm own, std::shared_ptr<WorldState> of_all, std::vector<int> ranks)
    : comm(own), all(std::move(of_all)), members(std::move(ranks)) {
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

namespace {

constexpr int departure = 1;  // the tag of its message, which is empty

void hear_departures(WorldState& all) {
  int is_there = 0;
  while (true) {
    MPI_Status status;
    must(MPI_Iprobe(MPI_ANY_SOURCE, departure, all.comm, &is_there, &status), "MPI_Iprobe");
    if (!is_there) return;
    must(MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, departure, all.comm, MPI_STATUS_IGNORE), "MPI_Recv");
    all.have_left.insert(status.MPI_SOURCE);
  }
}

/// A member of this part that has left, as far as this rank has heard.
std::optional<int> missing_member(WorldState& part) {
  hear_departures(*part.all);
  for (const int member : part.members)
    if (part.all->have_left.contains(member)) return member;
  return std::nullopt;
}

}  // namespace

void meet(WorldState& world, const void* mine, std::size_t bytes, void* all, const std::string& call) {
  if (!world.all) return all_gather_bytes(world, mine, bytes, all);
  require_session();
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds patience(1000), between_looks(100);
  // Who has left after this call has sent its bytes, so that they come within that time.
  constexpr auto time_of_a_message = std::chrono::seconds(10);
  MPI_Request request;
  must(MPI_Iallgather(mine, static_cast<int>(bytes), MPI_BYTE, all, static_cast<int>(bytes), MPI_BYTE, world.comm,
                      &request),
       "MPI_Iallgather");
  auto next_look = Clock::now() + patience;
  std::optional<Clock::time_point> heard;
  for (int is_done = 0;;) {
    must(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
    if (is_done) break;
    std::this_thread::yield();
    if (Clock::now() < next_look) continue;
    next_look = Clock::now() + between_looks;
    const std::optional<int> missing = missing_member(world);
    if (!missing) continue;
    if (!heard) heard = Clock::now();
    if (Clock::now() - *heard > time_of_a_message)
      end_all_ranks("it waits in " + call + ", between " + std::to_string(world.size) + " ranks, for rank " +
                    std::to_string(*missing) + ", which has left its rc::mpi::Session");
  }
  ++world.traffic.calls;
  world.traffic.bytes += static_cast<std::int64_t>(bytes) * (world.size - 1);
}

std::vector<MPI_Request> tell_that_this_rank_leaves(WorldState& all) {
  std::vector<MPI_Request> sent;
  if (!all.has_parts) return sent;
  for (int r = 0; r < all.size; ++r)
    if (r != all.rank) must(MPI_Isend(nullptr, 0, MPI_BYTE, r, departure, all.comm, &sent.emplace_back()), "MPI_Isend");
  return sent;
}

void hear_that_all_leave(WorldState& all, std::vector<MPI_Request> sent) {
  if (!all.has_parts) return;
  while (std::ssize(all.have_left) < all.size - 1) hear_departures(all);
  must(MPI_Waitall(static_cast<int>(sent.size()), sent.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
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
