// A compiled function whose making runs out of memory throws, and is made by the next call.
#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <new>

#include "failing_heap.h"

namespace {

namespace rc = ricci;
using rc::Tensor;

Tensor wave(const Tensor& x) { return sin(x) * cos(3 * x) + tanh(x); }

TEST(CompiledFunctions, LoseNothingWhereAnAllocationFails) {
  const Tensor x = rc::rand({100}) * 8 - 4, expected = wave(x);
  rc::compile(wave)(x);  // what is set up once
  std::uint64_t all = 0;
  {
    const auto fast = rc::compile(wave);
    const std::uint64_t before = fuzz::heap::allocation_count();
    fast(x);
    all = fuzz::heap::allocation_count() - before;
  }
  std::uint64_t failures = 0;
  for (std::uint64_t n = 1; n <= all; n += 1 + n / 8) {
    const auto fast = rc::compile(wave);
    try {
      fuzz::heap::fail_after(n);
      fast(x);
    } catch (const std::bad_alloc&) { ++failures; }
    fuzz::heap::fail_after(0);
    EXPECT_FALSE(rc::inside_transform());
    EXPECT_TRUE(rc::equal(fast(x), expected)) << "after allocation " << n << " failed";
  }
  EXPECT_GT(failures, 0U);
}

// Code that calls the functions of sin and cos is made when an argument is first beyond what their formulas hold for.
TEST(CompiledFunctions, LoseNothingWhereTheCarefulCodeRunsOutOfMemory) {
  const Tensor x = rc::rand({100}), large = x * 1e9F, expected = wave(large);
  for (std::uint64_t n = 1; n < 20'000; n += 1 + n / 4) {
    const auto fast = rc::compile(wave);
    fast(x);
    try {
      fuzz::heap::fail_after(n);
      EXPECT_TRUE(rc::equal(fast(large), expected)) << "allocation " << n << " failed";
    } catch (const std::bad_alloc&) {}
    fuzz::heap::fail_after(0);
    EXPECT_TRUE(rc::equal(fast(large), expected)) << "after allocation " << n << " failed";
  }
}

}  // namespace
