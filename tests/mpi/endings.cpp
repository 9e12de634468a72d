// Programs of several ranks of which one ends badly: by an exception, by a signal, or by going home early. The others
// wait for it in a call and must not wait for ever. The last line is what none may print.
#include <ricci/mpi.h>
#include <ricci/ricci.h>

#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace rc = ricci;
using rc::Tensor;

namespace {

int run(const std::string& how) {
  const rc::mpi::World world;
  const bool is_last_but_one = world.rank() == world.size() - 2;
  if (how == "killed" && is_last_but_one) std::raise(SIGKILL);
  if ((how == "uncaught" || how == "caught_outside") && is_last_but_one)
    throw std::runtime_error("the loss is not finite");
  if (how == "left_early") {
    if (is_last_but_one) return 0;
    rc::mpi::sum(rc::ones({3}), world);
  }
  if (how == "left_a_part" || how == "parts") {
    const rc::mpi::World part = world.split(world.rank() / 2);  // ranks 0 and 1
    if (how == "parts") {
      part.barrier();
      if (world.rank() == 0) std::puts("all ranks have ended");
      return 0;
    }
    if (is_last_but_one) return 0;
    part.barrier();
  }
  world.barrier();
  std::puts("reached the end");
  return 0;
}

/// A world that outlives its session.
rc::mpi::World kept(int argc, char** argv) {
  rc::mpi::Session session(argc, argv);
  return {};
}

int run_session(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "after_session") {
    rc::mpi::sum(rc::ones({3}), kept(argc, argv));
    return 0;
  }
  rc::mpi::Session session(argc, argv);
  return run(argc > 1 ? argv[1] : "");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "uncaught") return run_session(argc, argv);
  try {
    return run_session(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "caught: %s\n", error.what());
    return 1;
  }
}
