// Session and World: when MPI begins and ends, and what becomes of an exception that leaves main.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>

#include "kernels/alone.h"
#include "mpi/agreement.h"
#include "mpi/operations.h"
#include "mpi/runs.h"
#include "mpi/world.h"
#include "ricci/primitive/raise.h"
#include "tensor/profile.h"

namespace ricci::mpi {

namespace {

struct Running {
  World world;  // all ranks, in a communicator of the library's own
  bool checks;
  bool initialised_here;
  int exceptions;  // under way when it began
  std::terminate_handler before = nullptr;
};
Running* session = nullptr;  // one for the process, as MPI is

/// An exception that nobody catches: its text, and the end of all ranks.
[[noreturn]] void end_by_exception() {
  std::string text = "terminated";
  try {
    if (std::current_exception()) throw;
  } catch (const std::exception& e) { text = e.what(); } catch (...) {
    text = "an exception that is no std::exception";
  }
  end_all_ranks(text);
}

bool environment_checks() {
  const char* word = std::getenv("RICCI_MPI_CHECK");
  return !word || std::strcmp(word, "off") != 0;
}

}  // namespace

struct Session::State : Running {};

void require_session() {
  if (!session) throw ValueError("mpi: the rc::mpi::Session of this World has ended; keep it to the end of main");
}

bool checks_calls() { return !session || session->checks; }

Session::Session(int* argc, char*** argv, SessionOptions options) {
  if (session) throw ValueError("mpi::Session: there is one already; make one, in main, for the whole program");
  int is_initialised = 0, is_over = 0, level = 0;
  MPI_Initialized(&is_initialised);
  MPI_Finalized(&is_over);
  if (is_over) throw ValueError("mpi::Session: MPI has ended in this process, and begins only once; keep one Session");
  if (!is_initialised) must(MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
  else must(MPI_Query_thread(&level), "MPI_Query_thread");
  if (level < MPI_THREAD_SERIALIZED)
    throw NotImplementedError(
        "mpi::Session: this MPI lets one thread alone call it, and Ricci's may be another; start it with "
        "MPI_Init_thread and MPI_THREAD_SERIALIZED, or use an MPI that grants that");
  MPI_Comm all;
  must(MPI_Comm_dup(MPI_COMM_WORLD, &all), "MPI_Comm_dup");
  state_ = new State{{.world = World(std::make_shared<WorldState>(all)),
                      .checks = options.checks && environment_checks(),
                      .initialised_here = !is_initialised,
                      .exceptions = std::uncaught_exceptions()}};
  session = state_.get();
  if (state_->world.size() > 1) profile::set_rank(state_->world.rank());
  session->before = std::set_terminate(end_by_exception);
  kernels::let_rows_stand_alone(options.same_bits);
}

Session::~Session() {
  const bool by_exception = std::uncaught_exceptions() > state_->exceptions;
  try {
    leave(*state_->world.state(), by_exception);
  } catch (const std::exception& e) { std::fprintf(stderr, "rc::mpi: the session ends badly: %s\n", e.what()); }
  kernels::let_rows_stand_alone(false);
  std::set_terminate(state_->before);
  session = nullptr;
  const bool finalises = state_->initialised_here;
  state_ = Owned<State>();
  if (finalises) MPI_Finalize();
}

World::World() {
  if (!session)
    throw ValueError(
        "mpi::World: there is no rc::mpi::Session; make one at the start of main: "
        "rc::mpi::Session session(argc, argv);");
  state_ = session->world.state_;
}

int World::rank() const { return state_->rank; }
int World::size() const { return state_->size; }
Traffic World::traffic() const { return state_->traffic; }

World World::split(int color) const {
  constexpr const char* call = "mpi::World::split";
  const runs::Turn turn(call);
  require_place(call, *state_);
  const std::vector<std::int64_t> colors = agree(*state_, call, "", color);
  for (std::size_t r = 0; r < colors.size(); ++r)
    if (colors[r] < 0)
      throw ValueError(std::string(call) + ": rank " + std::to_string(r) + " gives the color " +
                       std::to_string(colors[r]) + "; it must be at least 0");
  const std::shared_ptr<WorldState> all = state_->all ? state_->all : state_;
  all->has_parts = true;
  MPI_Comm part;
  must(MPI_Comm_split(state_->comm, color, state_->rank, &part), "MPI_Comm_split");
  std::vector<int> members;
  for (int r = 0; r < size(); ++r)
    if (colors[static_cast<std::size_t>(r)] == color)
      members.push_back(state_->all ? state_->members[static_cast<std::size_t>(r)] : r);
  return World(std::make_shared<WorldState>(part, all, std::move(members)));
}

void World::barrier() const {
  constexpr const char* call = "mpi::World::barrier";
  const runs::Turn turn(call);
  require_place(call, *state_);
  agree(*state_, call, "");
}

}  // namespace ricci::mpi
