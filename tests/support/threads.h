// What tests do with several threads: run a function on another one, and hold what it gives on one against what it
// gives on several.
#pragma once

#include <gtest/gtest.h>

#include <future>
#include <string>

#include "ricci/primitive/parallel.h"

namespace testing_support {

template <class F>
auto on_another_thread(const F& f) {
  return std::async(std::launch::async, f).get();
}

/// `outcome()`, which has ==, is the same with 2, 3 and 7 threads of the kernels' pool as with one.
template <class F>
void expect_same_with_any_threads(const F& outcome, const std::string& what) {
  const int before = ricci::kernels::thread_count();
  ricci::kernels::set_thread_count(1);
  const auto alone = outcome();
  for (const int threads : {2, 3, 7}) {
    ricci::kernels::set_thread_count(threads);
    EXPECT_TRUE(outcome() == alone) << what << " with " << threads << " threads";
  }
  ricci::kernels::set_thread_count(before);
}

}  // namespace testing_support
