// Session and World: when MPI begins and ends, and what becomes of an exception that leaves main.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>

#include "mpi/agreement.h"
#include "mpi/world.h"
#include "ricci/primitive/raise.h"

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
[[noreturn]] void end_all_ranks() {
  std::string text = "terminated";
  try {
    if (std::current_exception()) throw;
  } catch (const std::exception& e) { text = e.what(); } catch (...) {
    text = "an exception that is no std::exception";
  }
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::fprintf(stderr, "rc::mpi: rank %d of %d ends all ranks: %s\n", rank, size, text.c_str());
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

World world_of(MPI_Comm comm) { return World(std::make_shared<WorldState>(comm)); }

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
  MPI_Comm all;
  must(MPI_Comm_dup(MPI_COMM_WORLD, &all), "MPI_Comm_dup");
  state_ = new State{{.world = world_of(all),
                      .checks = options.checks && environment_checks(),
                      .initialised_here = !is_initialised,
                      .exceptions = std::uncaught_exceptions()}};
  session = state_.get();
  session->before = std::set_terminate(end_all_ranks);
}

Session::~Session() {
  const bool by_exception = std::uncaught_exceptions() > state_->exceptions;
  try {
    leave(*state_->world.state(), by_exception);
  } catch (const std::exception& e) { std::fprintf(stderr, "rc::mpi: the session ends badly: %s\n", e.what()); }
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
  const std::vector<Numbers> colors = agree(*state_, "mpi::World::split", "", {color});
  for (std::size_t r = 0; r < colors.size(); ++r)
    if (colors[r][0] < 0)
      throw ValueError("mpi::World::split: rank " + std::to_string(r) + " gives the color " +
                       std::to_string(colors[r][0]) + "; it must be at least 0");
  MPI_Comm part;
  must(MPI_Comm_split(state_->comm, color, state_->rank, &part), "MPI_Comm_split");
  return world_of(part);
}

void World::barrier() const { agree(*state_, "mpi::World::barrier", ""); }

}  // namespace ricci::mpi
