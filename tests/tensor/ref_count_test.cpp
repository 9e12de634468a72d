// References that one thread takes and others give up.
#include "ricci/ref_count.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "ricci/primitive/pool.h"
#include "ricci/ricci.h"

namespace {

namespace rc = ricci;
using rc::Tensor;

TEST(RefCount, SaysWhichReferenceWasTheLast) {
  rc::RefCount count;
  count.add();
  count.add();
  EXPECT_TRUE(count.is(3));
  EXPECT_FALSE(count.drop());
  EXPECT_FALSE(count.drop());
  EXPECT_TRUE(count.drop());
}

/// Until the first thread begins, references are counted without locks.
TEST(RefCount, HoldsForReferencesFromBeforeTheFirstThread) {
  constexpr int threads = 4, copies = 1000;
  const std::size_t before = rc::pool::bytes_in_use();
  {
    const Tensor shared = rc::arange(64);
    std::vector<std::vector<Tensor>> given(threads, std::vector<Tensor>(copies, shared));
    std::vector<std::thread> running;
    for (std::vector<Tensor>& own : given)
      running.emplace_back([&own] {
        const std::vector<Tensor> more = own;
        const Tensor first = own[0] + more[1];
        EXPECT_EQ(first.sum().item(), 64 * 63);
        own.clear();
      });
    for (std::thread& t : running) t.join();
    EXPECT_EQ(shared.sum().item(), 32 * 63);
  }
  EXPECT_EQ(rc::pool::bytes_in_use(), before);
}

}  // namespace
