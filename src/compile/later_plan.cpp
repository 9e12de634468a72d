// The thread of a plan.
#include "compile/later_plan.h"

#include <unistd.h>

#include <csignal>
#include <exception>
#include <iostream>
#include <system_error>

#include "compile/switches.h"

namespace ricci::compiled {

void LaterPlan::run() noexcept {
  try {
    plan_ = make_(is_dropped_);
  } catch (const std::exception& error) {  // calls go on without it
    if (is_listed("RICCI_LOG", "trace")) std::clog << "compile: no plan in the background: " << error.what() << "\n";
  }
  make_ = nullptr;
  is_made_ = true;
}

void LaterPlan::begin() {
  if (has_begun_.exchange(true)) return;
  const std::lock_guard lock(mutex_);
  process_ = getpid();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals go to the program's own threads
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {}
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!thread_.joinable()) run();
}

void LaterPlan::wait() {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) return;
  if (process_ == getpid()) thread_.join();
  else thread_.detach();  // it stayed in the process that this one was forked from
}

LaterPlan::~LaterPlan() {
  is_dropped_ = true;
  wait();
}

}  // namespace ricci::compiled
