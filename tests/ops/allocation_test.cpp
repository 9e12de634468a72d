// How much memory operations ask for outside transforms: one block for a result, none for writing in place.
#include <functional>

#include "ricci/primitive/pool.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

std::uint64_t allocations(const std::function<void()>& call) {
  call();  // what is set up once
  const std::uint64_t before = rc::pool::allocation_count();
  call();
  return rc::pool::allocation_count() - before;
}

TEST(Allocations, AreOneForAResult) {
  const Tensor x = rc::ones({4, 3}), y = rc::ones({3}), w = rc::ones({3, 2});
  EXPECT_EQ(allocations([&] { sin(x); }), 1U);
  EXPECT_EQ(allocations([&] { x + y; }), 1U);
  EXPECT_EQ(allocations([&] { matmul(x, w); }), 1U);
  EXPECT_EQ(allocations([&] { x.sum(); }), 1U);
  EXPECT_EQ(allocations([&] { rc::where(x > y, x, y); }), 2U);
  EXPECT_EQ(allocations([&] { rc::flip(x, 0); }), 1U);
  EXPECT_EQ(allocations([&] { rc::rand({3}); }), 1U);
}

TEST(Allocations, AreOneForAFactory) {
  EXPECT_EQ(allocations([] { rc::zeros({3}); }), 1U);
  EXPECT_EQ(allocations([] { rc::ones({}); }), 1U);
  EXPECT_EQ(allocations([] { rc::arange(rc::Tensor(3)); }), 4U);  // three numbers, one result
  EXPECT_EQ(allocations([] { Tensor(2.5); }), 1U);
}

TEST(Allocations, AreNoneForWritingInPlace) {
  const Tensor x = rc::ones({4, 3}), y = rc::ones({3});
  EXPECT_EQ(allocations([&] { x.add_(y); }), 0U);
  EXPECT_EQ(allocations([&] { x.sin_(); }), 0U);
  EXPECT_EQ(allocations([&] { x.copy_(y); }), 0U);
}

TEST(Allocations, KeepAValueThatSomebodyElseHolds) {
  const Tensor x = rc::ones({3});
  const Tensor kept = x.clone();
  const Tensor view = x[0];
  x.add_(1);
  expect_values(kept, {1, 1, 1});
  EXPECT_EQ(view.item(), 2);
}

TEST(Allocations, AreNoneForReading) {
  const Tensor x = rc::ones({4, 3});
  const Tensor one = rc::tensor(1.0);
  EXPECT_EQ(allocations([&] { one.item(); }), 0U);
  EXPECT_EQ(allocations([&] { x.shape(); }), 0U);
}

}  // namespace
