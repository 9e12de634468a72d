// A write that runs out of memory at any allocation has happened or has not: no argument is half written.
#include <gtest/gtest.h>

#include <new>

#include "failing_heap.h"
#include "operations.h"
#include "ricci/primitive/elementwise.h"
#include "ricci/primitive/pool.h"

namespace {

using fuzz::Function;
using fuzz::Tensor;
using fuzz::world;
namespace rc = ricci;

using Elements = std::vector<std::vector<double>>;

/// The argument and the captured tensor, as numbers.
Elements elements_of(const Tensor& x) { return {x.to_vector(), world().captured[0].to_vector()}; }

struct Around {
  const char* name;
  Function (*of)(const Function& f);
};

const std::vector<Around> arounds = {
    {"nothing", [](const Function& f) { return f; }},
    {"vmap", [](const Function& f) -> Function { return [f](const Tensor& x) { return rc::vmap(f)(x); }; }},
    {"vmap of vmap",
     [](const Function& f) -> Function { return [f](const Tensor& x) { return rc::vmap(rc::vmap(f))(x); }; }},
    {"vmap whose examples may part",
     [](const Function& f) -> Function {
       return [f](const Tensor& x) { return rc::vmap(f, {.lanes = rc::Lanes::split})(x); };
     }},
    {"vmap in chunks",
     [](const Function& f) -> Function {
       return [f](const Tensor& x) { return rc::vmap(f, {.chunk_size = (x.size(0) + 1) / 2})(x); };
     }},
    {"vjp", [](const Function& f) -> Function { return [f](const Tensor& x) { return rc::vjp(f, x).first; }; }},
    {"jvp of vmap",
     [](const Function& f) -> Function {
       return [f](const Tensor& x) { return rc::jvp(Function(rc::vmap(f)), x, x).first; };
     }},
};

/// Runs f on a fresh argument with the n-th allocation failing; what the tensors then hold. `done`: none failed.
/// The argument has `side` rows, as long.
Elements after_failure(const Function& f, int side, std::uint64_t n, bool& done) {
  const Tensor x = sin(rc::arange(side * side, rc::float64)).reshape({side, side}).clone();
  world().captured = {rc::arange(side, rc::float64) + 1};
  done = false;
  try {
    rc::pool::fail_after(n);
    f(x);
    done = true;
  } catch (const std::bad_alloc&) {
  } catch (const rc::Error&) { done = true; }  // a write that this transform forbids
  rc::pool::fail_after(0);
  EXPECT_FALSE(rc::inside_transform());
  return elements_of(x);
}

/// So many operands that their list does not fit on the stack.
struct FourOperands {
  using kind = rc::Elementwise;
  static constexpr const char* name = "four_operands";
  static constexpr bool locally_constant = true;
  template <class T>
  auto formula(T a, T b, T c, T d) const {
    return a * b + c * d;
  }
  static std::vector<rc::Sample<FourOperands>> samples() { return {}; }
};

TEST(MappedOperands, AreUnharmedWhenTheHeapRunsOut) {
  const Tensor x = rc::tensor({1.0, -2.0, 3.0}), y = x + 1, z = x * 2, w = x - 5;
  const auto f = rc::vmap([](Tensor a, Tensor b, Tensor c, Tensor d) { return rc::apply(FourOperands{}, a, b, c, d); });
  constexpr std::uint64_t most_allocations = 100;
  bool done = false;
  for (std::uint64_t n = 1; n < most_allocations && !done; ++n) {
    try {
      fuzz::heap::fail_after(n);
      f(x, y, z, w);
      done = true;
    } catch (const std::bad_alloc&) {}
    fuzz::heap::fail_after(0);
    EXPECT_TRUE(rc::equal(y, x + 1) && rc::equal(z, x * 2) && rc::equal(w, x - 5));
  }
  EXPECT_TRUE(done);
}

/// A write to a few elements is computed apart; one to many may overwrite them, and puts them back.
class Writes : public testing::TestWithParam<int> {};

TEST_P(Writes, AreNeverHalfDoneWhenMemoryRunsOut) {
  const int side = GetParam();
  constexpr std::uint64_t most_allocations = 1000;
  for (const fuzz::Operation& operation : fuzz::writing_operations()) {
    for (const Around& around : arounds) {
      SCOPED_TRACE(std::string(operation.name) + " under " + around.name);
      const Function f = around.of([&operation](const Tensor& x) { return operation.f(x, 0); });
      bool done = false;
      rc::manual_seed(1);
      const Elements whole = after_failure(f, side, 0, done),
                     untouched = after_failure([](const Tensor& x) { return x; }, side, 0, done);
      std::uint64_t n = 1;
      for (done = false; !done && n < most_allocations; ++n) {
        rc::manual_seed(1);
        const Elements found = after_failure(f, side, n, done);
        EXPECT_TRUE(found == whole || found == untouched) << "half written where allocation " << n << " fails";
      }
      EXPECT_LT(n, most_allocations);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfTensorsOfSide, Writes, testing::Values(3, 36), testing::PrintToStringParamName());

}  // namespace
