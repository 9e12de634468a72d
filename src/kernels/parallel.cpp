// The pool. Each thread gets a range of the work and takes pieces from its front; who is done helps others. The caller
// takes part, and at the end takes back what a worker has not begun: it never waits for a worker that got no processor,
// only for one that is in the middle of a piece. Workers spin for a while after work and then sleep.
//
// Figures of two cores of one processor: hand-off to a spinning worker and back 0.12 us, a parallel region of libgomp
// 0.47 us, a sleeping worker some 50 us. A region of libgomp also waits for each of its threads, whether or not that
// one has a processor.
#include "ricci/primitive/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <limits>
#include <thread>

#include "kernels/machine.h"
#include "ricci/interruption.h"
#include "tensor/profile.h"
#include "tensor/thread_context.h"

namespace ricci::kernels {
namespace {

constexpr int most_threads = 256;
/// Work of a piece of its own, and work that is cut at all. Below, the second core does not win the hand-off back.
constexpr double least_of_piece = 800, least_work = 2 * least_of_piece;
/// A range is cut into pieces of this so that who is early can help.
constexpr double usual_piece = 20'000;
constexpr std::int64_t pieces_of_range = 8;
/// A range is also cut into pieces of this, so that the caller may be interrupted between them.
constexpr double longest_piece = 20'000'000;
/// How long a worker waits awake, and how much work it must miss before it is worth a wake.
constexpr std::chrono::microseconds awake{200};
constexpr double worth_waking = 100'000;

// --- Waiting

/// Calls `done()` until it is true: at once, then giving the processor away in between.
template <class Done>
void wait_until(const Done& done) {
  for (int i = 0; i < 4000; ++i) {
    if (done()) return;
    pause();
  }
  while (!done()) std::this_thread::yield();
}

// --- The work

/// Of units; `next` is taken atomically. Plain numbers, so that a job is made without touching all ranges.
struct alignas(64) Range {
  std::int64_t next, end;
};

/// One call of `run`. Each share of it is a first piece, which its thread is given, and a range of further pieces,
/// which anybody takes.
struct Job {
  parallel::Run run;
  const void* work;
  std::int64_t piece;  // units
  int shares;
  bool is_long;
  const char* name = "work";  // for a profile: the operation
  std::atomic<bool> failed = false;
  std::exception_ptr error;
  Range ranges[most_threads];

  Job() {}  // leaves the ranges unset

  /// Throws nothing.
  void run_piece(std::int64_t begin, std::int64_t end) {
    const profile::Noted noted(name, "piece");
    unless_failed([&] { run(work, begin, end); });
  }

  /// Takes pieces from the ranges, first that of its own share. Share 0 is the caller's.
  void help(int share) {
    for (int i = 0; i < shares; ++i) {
      Range& range = ranges[(share + i) % shares];
      while (true) {
        const std::atomic_ref next(range.next);
        if (next.load(std::memory_order_relaxed) >= range.end) break;
        const std::int64_t begin = next.fetch_add(piece, std::memory_order_relaxed);
        if (begin >= range.end) break;
        if (is_long && share == 0) unless_failed(allow_interruption);
        run_piece(begin, std::min(begin + piece, range.end));
      }
    }
  }

 private:
  template <class F>
  void unless_failed(const F& f) {
    if (failed.load(std::memory_order_relaxed)) return;
    try {
      f();
    } catch (...) {
      if (!failed.exchange(true, std::memory_order_relaxed)) error = std::current_exception();
    }
  }
};

// --- Workers

/// What a worker is given fits the cache line that it watches: each further line would cost some 0.1 us.
struct alignas(64) Worker {
  enum State : int { unborn, idle, offered, busy, asleep };
  std::atomic<int> state = unborn;
  // Of an offer, which the worker accepts by making it busy:
  std::uint64_t mode = 0;
  Job* job = nullptr;
  const void* work = nullptr;
  std::int64_t begin = 0, end = 0;  // the first piece
  int share = 0;
  bool has_more = false;  // than the first pieces

  double missed = 0;  // nanoseconds of work since it fell asleep

  void live();
  bool take() {
    int expected = offered;
    return state.load(std::memory_order_relaxed) == offered &&
           state.compare_exchange_strong(expected, busy, std::memory_order_acquire, std::memory_order_relaxed);
  }
};

struct Pool {
  std::atomic<bool> taken = false;      // by a caller whose work is under way
  std::atomic<int> wanted = 0;          // 0: not yet decided
  std::atomic<bool> crowded = false;    // more threads than processors
  std::atomic<int> cutting_finely = 0;  // CutEverything
  Worker workers[most_threads - 1];

  /// Whether the worker is awake, or is woken or started because that pays; else it will not have a share.
  bool is_ready(Worker& worker, double nanoseconds);
};
constinit Pool pool;

void Worker::live() {
  this_thread.inside_work = true;
  std::uint64_t mode = float_mode();
  while (true) {
    auto fell_idle = std::chrono::steady_clock::now();
    while (!take()) {
      for (int i = 0; i < 64 && state.load(std::memory_order_relaxed) != offered; ++i) pause();
      if (pool.crowded.load(std::memory_order_relaxed)) std::this_thread::yield();
      if (std::chrono::steady_clock::now() - fell_idle < awake) continue;
      int expected = idle;
      if (!state.compare_exchange_strong(expected, asleep, std::memory_order_relaxed)) continue;
      state.wait(asleep, std::memory_order_relaxed);
      fell_idle = std::chrono::steady_clock::now();
    }
    const char* closure = static_cast<const char*>(work);
    for (int line = 0; line < 4; ++line) __builtin_prefetch(closure + 64 * line);
    __builtin_prefetch(job);
    if (this->mode != mode) set_float_mode(mode = this->mode);
    job->run_piece(begin, end);
    if (has_more) job->help(share);
    state.store(idle, std::memory_order_release);
  }
}

/// Its threads are those of the parent; the child starts others when it needs them.
void forget_workers_after_fork() {
  for (Worker& worker : pool.workers) worker.state.store(Worker::unborn, std::memory_order_relaxed);
  pool.taken.store(false, std::memory_order_relaxed);
}

/// False if the system has no more threads.
bool start(Worker& worker) {
  static const int registered = pthread_atfork(nullptr, nullptr, forget_workers_after_fork);
  static_cast<void>(registered);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals go to the program's own threads
  bool started = true;
  worker.state.store(Worker::idle, std::memory_order_relaxed);
  try {
    std::thread([&worker] { worker.live(); }).detach();
  } catch (const std::exception&) {
    worker.state.store(Worker::unborn, std::memory_order_relaxed);
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

bool Pool::is_ready(Worker& worker, double nanoseconds) {
  const int state = worker.state.load(std::memory_order_acquire);
  if (state != Worker::unborn && state != Worker::asleep) return true;
  worker.missed += nanoseconds;
  if (worker.missed < worth_waking && cutting_finely.load(std::memory_order_relaxed) == 0) return false;
  worker.missed = 0;
  return state == Worker::asleep || start(worker);
}

int processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return std::max(1U, std::thread::hardware_concurrency());
  return std::max(1, CPU_COUNT(&set));
}

int decide_thread_count() {
  const char* text = std::getenv("RICCI_THREADS");
  const int asked = text == nullptr ? 0 : std::atoi(text);
  return std::clamp(asked > 0 ? asked : processors(), 1, most_threads);
}

/// Threads that may work on this now, 1 or more.
int threads_now(const Cuts& cuts) {
  if (this_thread.inside_work || cuts.size <= cuts.step) return 1;
  const bool finely = pool.cutting_finely.load(std::memory_order_relaxed) > 0;
  const double worth = static_cast<double>(cuts.size) * cuts.nanoseconds / least_of_piece;
  const auto threads = static_cast<std::int64_t>(std::min<double>(finely ? most_threads : worth, thread_count()));
  return static_cast<int>(std::clamp<std::int64_t>(std::min(cuts.steps(), threads), 1, most_threads));
}

std::int64_t piece_of(const Cuts& cuts, int threads) {
  const std::int64_t share = (cuts.steps() + threads - 1) / threads;
  const double of_share = static_cast<double>(share * cuts.step) * cuts.nanoseconds;
  const auto most = std::max(pieces_of_range, static_cast<std::int64_t>(of_share / longest_piece));
  const auto pieces = std::clamp<std::int64_t>(static_cast<std::int64_t>(of_share / usual_piece), 1, most);
  return std::max<std::int64_t>(1, share / pieces) * cuts.step;
}

bool is_long(const Cuts& cuts, int threads) {
  return static_cast<double>(cuts.size) * cuts.nanoseconds / threads > longest_piece;
}

/// On this thread alone. Long work is cut too, so that it may be interrupted.
void run_alone(parallel::Run run, const void* work, const Cuts& cuts) {
  if (cuts.size <= 0) return;
  if (this_thread.inside_work || !is_long(cuts, 1)) return run(work, 0, cuts.size);
  const std::int64_t piece = piece_of(cuts, 1);
  for (std::int64_t begin = 0; begin < cuts.size; begin += piece) {
    allow_interruption();
    run(work, begin, std::min(begin + piece, cuts.size));
  }
}

/// Recomputes `worth_cutting` and `crowded`. Another thread may change the number of threads meanwhile; so it repeats
/// until the number it used is still the current one. That is read sequentially consistent, so never before the stores.
void update_worth() {
  int count;
  bool finely;
  do {
    count = thread_count();
    finely = pool.cutting_finely.load() > 0;
    const double worth = count == 1 ? std::numeric_limits<double>::infinity() : finely ? 0 : least_work;
    parallel::worth_cutting.store(worth);
    pool.crowded.store(count > processors());
  } while (pool.wanted.load() != count || (pool.cutting_finely.load() > 0) != finely);
}

}  // namespace

namespace parallel {

// Until the number of threads is known, the first work that might be cut asks for it.
constinit std::atomic<double> worth_cutting = least_work;

bool would_be_cut(const Cuts& cuts) { return threads_now(cuts) > 1; }

void run(Run run, const void* work, const Cuts& cuts) {
  int threads = threads_now(cuts);
  if (threads == 1 || pool.taken.exchange(true, std::memory_order_acquire)) return run_alone(run, work, cuts);
  const double nanoseconds = static_cast<double>(cuts.size) * cuts.nanoseconds / threads;
  Worker* workers[most_threads];
  int ready = 0;
  for (int i = 0; i + 1 < threads; ++i) {
    if (pool.is_ready(pool.workers[i], nanoseconds)) workers[ready++] = &pool.workers[i];
  }
  if (ready == 0) {
    pool.taken.store(false, std::memory_order_release);
    return run_alone(run, work, cuts);
  }
  threads = ready + 1;
  const std::int64_t steps = cuts.steps();
  const auto begin_of = [&](int share) { return std::min(steps * share / threads * cuts.step, cuts.size); };
  Job job;
  job.run = run;
  job.work = work;
  job.shares = threads;
  job.piece = piece_of(cuts, threads);
  job.is_long = is_long(cuts, threads);
  if (const char* const operation = profile::Noted::innermost()) job.name = operation;
  const std::uint64_t mode = float_mode();
  const auto end_of_first = [&](int share) { return std::min(begin_of(share) + job.piece, begin_of(share + 1)); };
  for (int i = 0; i < threads; ++i) job.ranges[i] = {end_of_first(i), begin_of(i + 1)};
  const bool has_more = job.piece < (steps + threads - 1) / threads * cuts.step;
  for (int i = 1; i < threads; ++i) {
    Worker& worker = *workers[i - 1];
    worker.mode = mode;
    worker.job = &job;
    worker.work = work;
    worker.begin = begin_of(i);
    worker.end = end_of_first(i);  // others may already take from the range
    worker.share = i;
    worker.has_more = has_more;
    if (worker.state.exchange(Worker::offered, std::memory_order_acq_rel) == Worker::asleep) worker.state.notify_one();
  }
  this_thread.inside_work = true;
  job.run_piece(0, end_of_first(0));
  if (has_more) job.help(0);
  for (int i = 1; i < threads; ++i) {
    Worker& worker = *workers[i - 1];
    int expected = Worker::offered;
    if (worker.state.compare_exchange_strong(expected, Worker::idle, std::memory_order_acquire)) {
      job.run_piece(worker.begin, worker.end);
    }
  }
  for (int i = 1; i < threads; ++i) {
    const std::atomic<int>& state = workers[i - 1]->state;
    wait_until([&] { return state.load(std::memory_order_acquire) != Worker::busy; });
  }
  this_thread.inside_work = false;
  pool.taken.store(false, std::memory_order_release);
  if (job.failed.load(std::memory_order_relaxed)) std::rethrow_exception(job.error);
}

}  // namespace parallel

std::int64_t line_step() { return pool.cutting_finely.load(std::memory_order_relaxed) > 0 ? 1 : 64; }

int thread_count() {
  int count = pool.wanted.load(std::memory_order_relaxed);
  if (count == 0) {
    count = decide_thread_count();
    int undecided = 0;
    if (!pool.wanted.compare_exchange_strong(undecided, count, std::memory_order_relaxed)) count = undecided;
    update_worth();
  }
  return count;
}

void set_thread_count(int count) {
  pool.wanted.store(std::clamp(count, 1, most_threads));
  update_worth();
}

CutEverything::CutEverything() {
  pool.cutting_finely.fetch_add(1);
  update_worth();
}
CutEverything::~CutEverything() {
  pool.cutting_finely.fetch_sub(1);
  update_worth();
}

}  // namespace ricci::kernels
