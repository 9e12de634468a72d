// The interpreter's lock and signals during long work.
#include "threads.h"

#include <nanobind/nanobind.h>
#include <time.h>

#include <chrono>
#include <thread>

#include "ricci/interruption.h"

namespace ricci::python {
namespace nb = nanobind;
namespace {

/// A clock that is read in some nanoseconds and goes on every few milliseconds.
std::int64_t milliseconds() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

void let_python_in() {
  constexpr std::int64_t often = 20;
  constexpr std::chrono::microseconds while_another_wakes(50);
  thread_local std::int64_t last = 0;
  const std::int64_t now = milliseconds();
  if (now - last < often) return;
  last = now;
  if (!Py_IsInitialized() || !PyGILState_GetThisThreadState()) return;
  const bool has_lock = PyGILState_Check() != 0;
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  if (!has_lock) return;
  const nb::gil_scoped_release others_run;
  std::this_thread::sleep_for(while_another_wakes);  // who takes the lock back at once is faster than who waits for it
}

void watch_signals() { set_interruption(let_python_in); }

}  // namespace ricci::python
