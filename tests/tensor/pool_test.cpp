// Memory in blocks: many of a size, given back in any order and on any thread.
#include "ricci/primitive/pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

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

}  // namespace
