// Memory in blocks: many of a size, given back in any order and on any thread; what is kept, and when it is given back
// to the system. What depends on all that a process has held runs in a process of its own.
#include "ricci/primitive/pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <thread>
#include <vector>

#include "ricci/memory.h"

namespace {

namespace pool = ricci::pool;

/// More than a thread keeps, so that the blocks come from regions and go back there.
constexpr std::size_t in_all = std::size_t{48} << 20;

struct Blocks {
  std::size_t bytes;
  std::vector<unsigned char*> all;

  explicit Blocks(std::size_t bytes) : bytes(bytes) {
    for (std::size_t i = 0; i < in_all / bytes; ++i) {
      all.push_back(static_cast<unsigned char*>(pool::allocate(bytes)));
      std::memset(all.back(), static_cast<int>(i % 251), bytes);
    }
  }
  /// Whether each holds what was written to it, so that no two share memory.
  void expect_whole() const {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
      wrong += all[i][0] != i % 251 || all[i][bytes - 1] != i % 251 || reinterpret_cast<std::uintptr_t>(all[i]) % 64;
    EXPECT_EQ(wrong, 0U) << "of blocks of " << bytes;
  }
  void release_every(std::size_t step, std::size_t from) {
    for (std::size_t i = from; i < all.size(); i += step) pool::release(all[i], bytes);
  }
};

class PoolOfManyBlocks : public testing::TestWithParam<std::size_t> {};

TEST_P(PoolOfManyBlocks, GivesEachItsOwnMemoryAndTakesItBack) {
  const std::size_t before = pool::bytes_in_use();
  for (int again = 0; again < 2; ++again) {
    Blocks blocks(GetParam());
    blocks.expect_whole();
    EXPECT_GE(pool::bytes_in_use(), before + in_all - GetParam());
    for (std::size_t from : {2, 0, 1}) blocks.release_every(3, from);
  }
  EXPECT_EQ(pool::bytes_in_use(), before);
}

TEST_P(PoolOfManyBlocks, GivesBlocksAgainThatCameBackBetweenOthers) {
  const std::size_t before = pool::bytes_in_use();
  Blocks first(GetParam());
  first.release_every(2, 0);
  Blocks second(GetParam());
  second.expect_whole();
  first.release_every(2, 1);
  second.release_every(1, 0);
  EXPECT_EQ(pool::bytes_in_use(), before);
}

TEST_P(PoolOfManyBlocks, TakesThemBackOnAnotherThread) {
  const std::size_t before = pool::bytes_in_use();
  Blocks blocks(GetParam());
  std::thread([&] { blocks.release_every(1, 0); }).join();  // what that thread keeps ends with it
  EXPECT_EQ(pool::bytes_in_use(), before);
}

INSTANTIATE_TEST_SUITE_P(Sizes, PoolOfManyBlocks, testing::Values(64, 320, 4416, 100000, 262144, 300000, 1 << 20));

// ── What is kept ──

constexpr std::size_t MiB = std::size_t{1} << 20;

#if defined(RICCI_SANITIZE)
constexpr bool keeps = false;
#else
constexpr bool keeps = true;
#endif

/// Blocks of which nothing is read or written here.
class Untouched {
 public:
  Untouched(std::size_t bytes, std::size_t in_all) : bytes_(bytes) {
    while (all_.size() * bytes < in_all) all_.push_back(pool::allocate(bytes));
  }
  Untouched(const Untouched&) = delete;
  ~Untouched() {
    for (void* block : all_) pool::release(block, bytes_);
  }

 private:
  std::size_t bytes_;
  std::vector<void*> all_;
};

/// The process may take `bytes` more of addresses than it has.
void limit_memory_to(std::size_t bytes) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t most = pages * 4096 + bytes;
  const rlimit limit{most, most};
  if (setrlimit(RLIMIT_AS, &limit) != 0) std::exit(10);
}

/// Ends the process of a death test: with 0 if all is right.
[[noreturn]] void exit_with(bool is_right) {
  const ricci::MemoryStats stats = ricci::memory_stats();
  std::fprintf(stderr, "allocated %zu MiB, reserved %zu MiB, at most %zu MiB\n", stats.allocated / MiB,
               stats.reserved / MiB, stats.max_reserved / MiB);
  std::exit(is_right ? 0 : 1);
}

class PoolOfRegionsDeathTest : public testing::Test {
  void SetUp() override {
    if (!keeps) GTEST_SKIP() << "a sanitizer build keeps nothing";
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // the process begins anew
  }
};
/// Of blocks too large for regions, of which no byte is touched.
class PoolThatKeepsDeathTest : public PoolOfRegionsDeathTest, public testing::WithParamInterface<std::size_t> {};

TEST_P(PoolThatKeepsDeathTest, GivesBackWhatItKeepsBeforeAnAllocationFails) {
  const auto program = [] {
    limit_memory_to(1000 * MiB);
    for (int again = 0; again < 2; ++again) {
      { const Untouched ended(GetParam(), 600 * MiB); }
      { const Untouched wanted(800 * MiB, 800 * MiB); }
    }
    try {
      const Untouched too_large(1100 * MiB, 1100 * MiB);
    } catch (const std::bad_alloc&) { exit_with(ricci::memory_stats().reserved < 1000 * MiB); }
    exit_with(false);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), "");
}

TEST_F(PoolOfRegionsDeathTest, GivesBackWhatItKeepsBeforeAnAllocationFails) {
  const auto program = [] {
    limit_memory_to(150 * MiB);
    for (int again = 0; again < 2; ++again) {
      { const Untouched ended(3000, 90 * MiB); }
      { const Untouched wanted(120 * MiB, 120 * MiB); }
    }
    exit_with(true);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), "");
}

TEST_P(PoolThatKeepsDeathTest, HoldsAtMostAQuarterMoreThanWasAliveAtOneTime) {
  const auto program = [] {
    for (std::size_t bytes : {GetParam(), 3 * GetParam() / 2, 7 * GetParam() / 3, GetParam()})
      const Untouched ended(bytes, 1400 * MiB);
    // Blocks of 4/3 MiB are of a class of 1.5 MiB.
    exit_with(ricci::memory_stats().max_reserved < 2100 * MiB);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), "");
}

TEST_P(PoolThatKeepsDeathTest, AsksTheSystemOnceForWhatALoopUsesAgain) {
  const auto program = [] {
    const auto step = [] {
      const Untouched part(GetParam(), 1000 * MiB);
      const Untouched other(2 * GetParam(), 500 * MiB);
    };
    step();
    const std::size_t after_one = ricci::memory_stats().reserved;
    for (int again = 0; again < 3; ++again) step();
    exit_with(ricci::memory_stats().max_reserved == after_one && after_one >= 1500 * MiB);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), "");
}

TEST_P(PoolThatKeepsDeathTest, KeepsNothingOnceItsCacheIsEmptied) {
  const auto program = [] {
    { const Untouched ended(GetParam(), 600 * MiB); }
    if (ricci::memory_stats().reserved < 600 * MiB) exit_with(false);
    ricci::empty_cache();
    const ricci::MemoryStats stats = ricci::memory_stats();
    if (stats.reserved != stats.allocated || stats.max_reserved < 600 * MiB) exit_with(false);
    ricci::reset_peak_memory_stats();
    exit_with(ricci::memory_stats().max_reserved == stats.reserved);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(Sizes, PoolThatKeepsDeathTest, testing::Values(300000, 4 * MiB / 3, 8 * MiB, 64 * MiB));

}  // namespace
