// A recording whose function catches that memory ran out, wherever it did: the sizes of the recording are what they
// were, and can be computed again.
#include <gtest/gtest.h>

#include <new>

#include "failing_heap.h"
#include "world.h"

namespace {

namespace rc = ricci;
using fuzz::Tensor;

TEST(SizesOfARecording, AreThereAfterAnyAllocationHasFailed) {
  bool done = false;
  for (std::uint64_t n = 1; !done; ++n) {
    const auto f = [&](const Tensor& x) {
      const rc::Size rows = x.shape()[0], columns = x.shape()[1];
      const auto sizes = [&] { return rc::Shape{rows * columns + 3, (rows + 1) / 2, rows * rows}; };
      fuzz::heap::fail_after(n);
      try {
        sizes();
        done = true;
      } catch (const std::bad_alloc&) {}
      fuzz::heap::fail_after(0);
      EXPECT_EQ(rc::to_string(rc::zeros(sizes()).shape()), "[23,2,16]") << "allocation " << n << " failed";
      return x.sum();
    };
    rc::trace(f)(rc::ones({4, 5}));
  }
}

}  // namespace
