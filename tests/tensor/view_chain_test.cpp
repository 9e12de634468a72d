// Views of views of views: as many as a program makes. A chain of a million ends at all only if making a view does not
// walk to the base.
#include "ricci/primitive/pool.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

Tensor chain(const Tensor& base, int length) {
  Tensor x = base;
  for (int i = 0; i < length; ++i) x = x.view({i % 2 ? 6 : 2, -1});
  return x;
}

TEST(ViewChain, MayBeLongerThanTheStackIsDeep) {
  const Tensor base = rc::zeros({6}), last = chain(base, 300000);
  base.add_(1);
  expect_values(last, Values(6, 1));
}

constexpr int many = 1000000;

Tensor reshaped(const Tensor& base) { return chain(base, many / 5); }

TEST(ViewChain, IsWrittenThroughHoweverLongItIs) {
  const Tensor base = rc::zeros({6}), other = base.view({3, 2}), last = chain(base, many);
  last.add_(1);
  expect_values(base, Values(6, 1));
  last.copy_(rc::full(last.shape(), 3));
  expect_values(other, Values(6, 3));
  expect_values(last, Values(6, 3));
}

TEST(ViewChain, IsWrittenThroughUnderEveryTransform) {
  const auto f = [](const Tensor& x) {
    const Tensor base = x * 1;
    reshaped(base).mul_(3);
    return base.sum();
  };
  const Tensor x = rc::ones({6});
  expect_values(rc::grad(f)(x), Values(6, 3));
  EXPECT_EQ(std::get<1>(rc::jvp(f, x, x)).item(), 18);
  expect_values(rc::vmap(f)(rc::ones({2, 6})), {18, 18});
}

TEST(ViewChain, OfAnArgumentWritesToTheCallersTensor) {
  const Tensor rows = rc::ones({2, 6});
  rc::vmap([](const Tensor& x) { return reshaped(x).mul_(3); })(rows);
  expect_values(rows, Values(12, 3));
}

TEST(ViewChain, ThroughAMappedFunctionIsOneToo) {
  const Tensor base = rc::zeros({6});
  Tensor x = base;
  for (int i = 0; i < many / 10; ++i) x = rc::vmap([](const Tensor& row) { return row.reshape({1}).reshape({}); })(x);
  x.add_(1);
  expect_values(base, Values(6, 1));
}

/// Elements in another order are no layout of the base's: every view stays, and a write passes through them all.
TEST(ViewChain, ThatCopiesElementsIsWrittenThrough) {
  const Tensor base = rc::zeros({2, 3});
  Tensor x = base;
  for (int i = 0; i < 60000; ++i) x = x.t().reshape({2, 3});
  x[0][1] = 1;
  EXPECT_EQ(base.sum().item(), 1);
  base.copy_(rc::arange(6.0).reshape({2, 3}));
  Tensor expected = rc::arange(6.0).reshape({2, 3});
  for (int i = 0; i < 60000; ++i) expected = expected.t().reshape({2, 3}).clone();
  expect_equal(x, expected);
}

/// Views in between that nobody holds do not hold elements either.
TEST(ViewChain, ThatCopiesElementsKeepsTwoCopies) {
  const Tensor base = rc::arange(60000.0).reshape({2, 30000});
  const std::size_t before = rc::pool::bytes_in_use();
  Tensor x = base;
  for (int i = 0; i < 100; ++i) x = x.t().reshape({2, 30000});
  EXPECT_LE(rc::pool::bytes_in_use() - before, 3 * 60000 * sizeof(float));
  base[0][1] = -1;
  Tensor expected = base.clone();
  for (int i = 0; i < 100; ++i) expected = expected.t().reshape({2, 30000}).clone();
  expect_equal(x, expected);
}

TEST(ViewChain, ThatCopiesElementsAndIsWrittenInALoopDoesNotGrow) {
  constexpr int rows = 200;
  const auto steps = [](const Tensor& x, int n) {
    Tensor y = x * 1;
    for (int i = 0; i < n; ++i) {
      y = y.t().reshape({rows, 3});
      y.add_(1);
    }
    return y;
  };
  const auto with_clones = [](const Tensor& x, int n) {
    Tensor y = x * 1;
    for (int i = 0; i < n; ++i) y = y.t().clone().reshape({rows, 3}) + 1;
    return y;
  };
  const Tensor x = rc::arange(3.0 * rows).reshape({rows, 3});
  const auto cost = [&](const auto& f, int n) {
    const rc::pool::Costs costs;
    const Tensor result = f(n);
    return std::pair<std::size_t, std::uint64_t>(costs.peak, costs.bytes);
  };
  const auto holds = [&](const char* transform, const auto& around) {
    SCOPED_TRACE(transform);
    const auto f = [&](int n) { return around([&](const Tensor& y) { return steps(y, n); }); };
    expect_equal(f(7), around([&](const Tensor& y) { return with_clones(y, 7); }));
    const auto [peak, bytes] = cost(f, 40);
    const auto [peak_of_twice, bytes_of_twice] = cost(f, 80);
    EXPECT_LE(bytes_of_twice, 2 * bytes + 4096);
    return std::pair(peak, peak_of_twice);
  };
  const auto [peak, twice] = holds("nothing", [&](const auto& f) { return f(x); });
  EXPECT_LE(twice, peak + 1024);
  const auto [peak_of_vmap, twice_of_vmap] =
      holds("vmap", [&](const auto& f) { return rc::vmap(f)(rc::stack({x, x})); });
  EXPECT_LE(twice_of_vmap, peak_of_vmap + 1024);
  holds("jvp", [&](const auto& f) { return rc::jvp(f, x, rc::ones_like(x)).second; });
  holds("grad", [&](const auto& f) { return rc::grad([&](Tensor y) { return (f(y) * f(y)).sum(); })(x); });
  holds("trace", [&](const auto& f) { return rc::trace(f)(x)(std::vector{x})[0]; });
}

/// A write leaves of a view what the view was made as: one that derivatives go through.
TEST(ViewChain, ThatCopiesElementsKeepsItsDerivativeWhereItIsWrittenUnderNoGrad) {
  const auto written = [](const Tensor& x) {
    Tensor y = x * 1;
    y = y.t().reshape({2, 3});
    {
      const rc::no_grad guard;
      y[0] = 0;
    }
    return y * y;
  };
  const Tensor x = rc::arange(6.0).reshape({2, 3}), places = rc::tensor({{0., 0., 1.}, {0., 1., 1.}});
  expect_equal(rc::grad([&](Tensor y) { return written(y).sum(); })(x), 2 * x * places);
  const Tensor moved = (2 * x * places).t().reshape({2, 3}).clone();
  expect_equal(rc::jvp(written, x, rc::ones_like(x)).second, moved);
  rc::Tape tape;
  Tensor w = (x * 1).t().reshape({2, 3});
  {
    const rc::no_grad guard;
    w.mul_(2);
  }
  tape.watch(w);
  const Tensor first = w[0].detach().clone();
  w[1] = w[0] * 3;
  expect_equal(tape.gradient((w * w).sum(), w), rc::stack({20 * first, rc::zeros({3})}));
}

TEST(ViewChain, ThatCopiesElementsIsAsItWasAfterAWriteThatFailsInARecording) {
  const Tensor rows = rc::arange(12.0).reshape({2, 2, 3});
  const auto f = [](const Tensor& x) {
    Tensor y = x * 1;
    y = y.t().reshape({2, 3});
    const auto write = [&](const Tensor& z) {
      y.scatter_(0, rc::zeros({1, 3}, rc::int64), z);
      return z;
    };
    EXPECT_THROW(rc::trace(write)(rc::ones({1, 3})), rc::Error);
    return y * 2;
  };
  expect_equal(rc::vmap(f)(rows), rc::vmap([](Tensor x) { return x.t().clone().reshape({2, 3}) * 2; })(rows));
}

/// Nobody but the chain holds the handle of lent memory, and a write reaches the memory none the less.
TEST(ViewChain, ThatCopiesElementsOfLentMemoryWritesThere) {
  float memory[6] = {0, 1, 2, 3, 4, 5};
  Tensor y = rc::from_blob(memory, {2, 3}, rc::float32);
  y = y.t().reshape({2, 3});
  y.add_(10);
  expect_values(rc::from_blob(memory, {2, 3}, rc::float32), {10, 11, 12, 13, 14, 15});
}

/// A tensor that somebody still holds is written, as ever.
TEST(ViewChain, ThatCopiesElementsOfATensorThatIsHeldIsTiedToIt) {
  const Tensor base = rc::zeros({2, 3}), other = base;
  Tensor x = base;
  x = x.t().reshape({2, 3});
  x.add_(1);
  expect_values(base, Values(6, 1));
  Tensor y = rc::zeros({2, 3});
  const Tensor row = y[0];
  y = y.t().reshape({2, 3});
  y.add_(1);
  expect_values(row, {1, 1, 1});
  Tensor z = rc::zeros({2, 3});
  Tensor shown = z.t().reshape({6});
  z = z.t().reshape({2, 3});
  shown.add_(1);
  expect_values(z, Values(6, 1));
  Tensor self = rc::ones({2, 3});
  Tensor& same = self;
  self = std::move(same);
  expect_values(self, Values(6, 1));
}

/// A view that is tied to the root stands for the whole chain: slices, permutations and all.
TEST(ViewChain, OfManyKindsShowsTheSamePlaces) {
  const Tensor base = rc::arange(24.0).reshape({4, 6}).clone();
  Tensor x = base;
  for (int i = 0; i < 40; ++i) x = i % 2 ? x.t().unsqueeze(0).squeeze(0) : x.t().reshape(x.t().shape());
  const Tensor part = x.slice(0, 1, 3).slice(1, 0, 6, 2)[1];
  part.zero_();
  expect_values(base[2], {0, 13, 0, 15, 0, 17});
  base.fill_(7);
  expect_values(part, {7, 7, 7});
  const Tensor wide = rc::ones({1, 3});
  Tensor y = wide;
  for (int i = 0; i < 40; ++i) y = y.t();
  const Tensor expanded = y.expand({2, 3});
  wide.fill_(5);
  expect_values(expanded, Values(6, 5));
  expect_error<rc::ValueError>([&] { expanded.add_(1); },
                               "add_: the target f32[2,3] is expanded: several of its elements are one in memory; "
                               "write to a clone() of it");
}

/// What no_grad and tapes say of a view in the middle holds for those made of it.
TEST(ViewChain, KeepsWhatIsCutOfIt) {
  const auto f = [](const Tensor& x) {
    const Tensor base = x * 1;
    Tensor cut = base;
    {
      const rc::no_grad guard;
      cut = chain(base, 20);
    }
    const Tensor last = chain(cut, 50);
    base.mul_(2);
    return (last.reshape({6}) * base).sum();
  };
  expect_values(rc::grad(f)(rc::ones({6})), Values(6, 4));

  const Tensor x = rc::ones({6}), middle = chain(x, 20);
  rc::Tape tape;
  tape.watch(middle);
  const Tensor last = chain(middle, 40);
  expect_values(tape.gradient(last.square().sum(), middle), Values(6, 2));
}

}  // namespace
