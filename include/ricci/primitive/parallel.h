// One pool of threads for every loop of the library. A kernel says what can be cut and what it costs; the pool decides
// whether and how often. Knows nothing of what is computed. Start with `parallel_for`.
//
// Results never depend on the number of threads, so a kernel cuts only where the pieces compute what the whole would:
// elements, lanes of a batch, or parts of a sum whose borders follow from the sizes alone.
//
// The pool cuts one call at a time. Meanwhile, calls of other threads, and calls from inside a piece, run whole on the
// thread that makes them. So no more threads are busy than the program's own and the pool's.
// The libraries (OpenBLAS, oneDNN) run on the thread that calls them; large calls are cut here (`kernels/blas.h`).
#pragma once

#include <atomic>
#include <cstdint>

namespace ricci::kernels {

/// What can be cut: `size` units that take one thread about `nanoseconds` each. Pieces begin at multiples of `step`.
struct Cuts {
  std::int64_t size;
  double nanoseconds;
  std::int64_t step = 1;

  std::int64_t steps() const { return (size + step - 1) / step; }
};

/// Elements from which pieces of a loop over single elements begin, so that no two threads write one cache line.
std::int64_t line_step();

namespace parallel {

/// Nanoseconds below which nothing is cut: infinite where there is one thread. A relaxed load is a plain one.
extern constinit std::atomic<double> worth_cutting;

inline bool is_little(const Cuts& cuts) {
  return !(static_cast<double>(cuts.size) * cuts.nanoseconds >= worth_cutting.load(std::memory_order_relaxed));
}

using Run = void (*)(const void* work, std::int64_t begin, std::int64_t end);
void run(Run run, const void* work, const Cuts& cuts);

/// Whether `run` would make more than one piece of it now. Requires: it is not little.
bool would_be_cut(const Cuts& cuts);

}  // namespace parallel

/// Calls work(begin, end) for pieces that together are [0, size), on this thread and others, in any order, and returns
/// when all are done. An exception of a piece stops those that have not begun and is thrown here.
template <class Work>
void parallel_for(const Cuts& cuts, const Work& work) {
  if (parallel::is_little(cuts)) [[likely]] {
    if (cuts.size > 0) work(std::int64_t{0}, cuts.size);
    return;
  }
  parallel::run(
      [](const void* erased, std::int64_t begin, std::int64_t end) { (*static_cast<const Work*>(erased))(begin, end); },
      &work, cuts);
}

/// Whether `parallel_for` would cut this now, for kernels that prepare for it.
inline bool would_cut(const Cuts& cuts) {
  if (parallel::is_little(cuts)) [[likely]]
    return false;
  return parallel::would_be_cut(cuts);
}

/// The most threads that work is cut for, this one included: the last `set_thread_count`, else RICCI_THREADS, else the
/// processors that the process may use.
int thread_count();
/// Requires: 1 <= count. At most 256 are used. Work that is under way keeps its threads.
void set_thread_count(int count);

/// While it lives, everything with two steps is cut, and lines are single elements. For tests.
class CutEverything {
 public:
  CutEverything();
  CutEverything(const CutEverything&) = delete;
  ~CutEverything();
};

}  // namespace ricci::kernels
