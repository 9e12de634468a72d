// Elements at computed places, and draws, in lane kernels: compiled functions give what eager code gives.
#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <sstream>
#include <string>

#include "support/lane_kernels.h"

namespace rc = ricci;
using rc::Tensor;

namespace {

class CompiledElements : public testing::Test {
 protected:
  void SetUp() override {
    if (!testing_support::makes_kernels()) GTEST_SKIP() << "built without a compiler";
  }
};

void expect_same(const Tensor& found, const Tensor& expected, double tolerance) {
  ASSERT_EQ(found.dtype(), expected.dtype());
  ASSERT_EQ(found.shape(), expected.shape());
  if (tolerance == 0) EXPECT_TRUE(rc::equal(found, expected)) << found << "\n" << expected;
  else EXPECT_TRUE(allclose(found, expected, tolerance, tolerance)) << found << "\n" << expected;
}

/// f(x…) compiled: one kernel and at most `steps` - 1 other steps, with the bits of eager, or up to a tolerance.
template <class F, class... Inputs>
void expect_in_lanes(std::size_t steps, double tolerance, const F& f, const Inputs&... x) {
  const auto fast = rc::compile(f);
  rc::manual_seed(3);
  const Tensor expected = f(x...);
  rc::manual_seed(3);
  expect_same(fast(x...), expected, tolerance);
  std::ostringstream text;
  text << fast.plan(x...);
  EXPECT_EQ(fast.plan(x...).steps(), steps) << text.str();
  EXPECT_NE(text.str().find("lanes["), std::string::npos) << text.str();
}

Tensor places(std::int64_t count, std::int64_t below) { return rc::arange(count) * 7 % below; }

// ── gathers ──

TEST_F(CompiledElements, RowsAreReadWhereTheLaneSays) {
  const auto f = [](const Tensor& cameras, const Tensor& points, const Tensor& camera_of, const Tensor& point_of) {
    const auto one = [](const Tensor& camera, const Tensor& point) { return sin(camera).sum() * point + camera[2]; };
    return rc::vmap(one)(cameras.index_select(0, camera_of), points.index_select(0, point_of));
  };
  for (const rc::DType dtype : {rc::float64, rc::float32})
    for (const std::int64_t count : {300, 37, 19})
      expect_in_lanes(1, 0, f, rc::randn({49, 11}).to(dtype), rc::randn({70, 3}).to(dtype), places(count, 49),
                      places(count, 70));
}

TEST_F(CompiledElements, OnePlanServesTablesOfAnyLength) {
  const auto f = [](const Tensor& table, const Tensor& index) { return exp(table[index] * 2); };
  const auto fast = rc::compile(f);
  for (const auto& [rows, count] :
       {std::pair(20, 100), std::pair(1000, 17), std::pair(33, 3000), std::pair(33, 3), std::pair(2, 5)}) {
    const Tensor table = rc::randn({rows}), index = places(count, rows);
    expect_same(fast(table, index), f(table, index), 0);
  }
  EXPECT_EQ(fast.plans(), 1U);
}

TEST_F(CompiledElements, EachLaneReadsItsOwnRow) {
  const auto f = [](const Tensor& x, const Tensor& i) {
    return rc::vmap([](const Tensor& row, const Tensor& k) { return sin(row.index_select(0, k)) * row.sum(); })(x, i);
  };
  expect_in_lanes(1, 0, f, rc::randn({100, 6}), places(200, 6).reshape({100, 2}));
  expect_in_lanes(1, 0, f, rc::randn({19, 16}), places(38, 16).reshape({19, 2}));
  const auto gathered = [](const Tensor& x, const Tensor& i) { return tanh(x.gather(1, i)) + 1; };
  expect_in_lanes(1, 0, gathered, rc::randn({200, 5}), places(400, 5).reshape({200, 2}));
}

TEST_F(CompiledElements, ElementsOfTheLaneAreChosen) {
  const auto f = [](const Tensor& x, const Tensor& i) {
    const auto one = [](const Tensor& row, const Tensor& k) { return (row * 2).index_select(0, k) + row.sum(); };
    return rc::vmap(one)(x, i);
  };
  expect_in_lanes(1, 0, f, rc::randn({100, 4}), places(200, 4).reshape({100, 2}));
}

TEST_F(CompiledElements, ClassesChooseInTheLane) {
  const auto loss = [](const Tensor& x, const Tensor& c) { return rc::cross_entropy(x * 2, c); };
  const Tensor x = rc::randn({100, 5}), classes = places(100, 5);
  expect_in_lanes(1, 1e-6, [&](const Tensor& a, const Tensor& c) { return rc::vmap(loss)(a, c); }, x, classes);
  expect_in_lanes(
      1, 1e-6, [&](const Tensor& a, const Tensor& c) { return rc::vmap(rc::grad(loss))(a, c); }, x, classes);
}

TEST_F(CompiledElements, SmallAxesAreSortedInTheLane) {
  const auto f = [](const Tensor& x) {
    const auto one = [](const Tensor& row) {
      const auto [sorted, order] = (row * 2).sort();
      return sorted.cumsum(0) + order + row.argmax() + row.max(0, false).second;
    };
    return rc::vmap(one)(x);
  };
  for (const rc::DType dtype : {rc::float32, rc::float64, rc::int32})
    expect_in_lanes(1, 0, f, (rc::randn({100, 6}) * 3).to(dtype));
}

TEST_F(CompiledElements, SmallDeterminantsHaveTheirGradientsInTheLane) {
  const auto energy = [](const Tensor& f) { return (f * f).sum() + log(rc::det(f)); };
  const Tensor f = rc::eye(3) + rc::rand({100, 3, 3}) * 0.3;
  for (const rc::DType dtype : {rc::float32, rc::float64})
    expect_in_lanes(
        1, dtype == rc::float32 ? 1e-5 : 1e-13, [&](const Tensor& x) { return rc::vmap(rc::grad(energy))(x); },
        f.to(dtype));
  const auto gradient = [](const Tensor& x) {
    return rc::vmap(rc::grad([](const Tensor& a) { return rc::det(a); }))(x);
  };
  const Tensor singular = rc::ones({100, 3, 3});
  expect_same(rc::compile(gradient)(singular), gradient(singular), 1e-6);
}

TEST_F(CompiledElements, TypesOfAnySizeAreRead) {
  const auto f = [](const Tensor& x, const Tensor& i) { return rc::where(x[i] > 0, x[i] + x[i], x[i]); };
  for (const rc::DType dtype : {rc::float16, rc::bfloat16, rc::int8, rc::uint8, rc::int16, rc::int32, rc::int64})
    expect_in_lanes(1, 0, f, (rc::rand({50}) * 100).to(dtype), places(77, 50));
  const auto of_truth = [](const Tensor& x, const Tensor& i) { return logical_not(x[i]).to(rc::float32) * 3; };
  expect_in_lanes(1, 0, of_truth, rc::rand({50}) > 0.5, places(77, 50));
}

TEST_F(CompiledElements, PlacesOutOfRangeAreErrorsOfTheOperation) {
  const auto f = [](const Tensor& table, const Tensor& index) { return sin(table.index_select(0, index)) * 2; };
  const auto fast = rc::compile(f);
  const auto error_of = [](const auto& g, const Tensor& table, const Tensor& index) {
    try {
      g(table, index);
      return std::string("threw nothing");
    } catch (const rc::IndexError& error) { return std::string(error.what()); }
  };
  const Tensor table = rc::randn({40}), index = places(100, 40);
  expect_same(fast(table, index), f(table, index), 0);
  for (const std::int64_t wrong : {40, -1, 1000000000}) {
    const Tensor bad = index.clone();
    bad[77].fill_(wrong);
    const std::string expected = error_of(f, table, bad), found = error_of(fast, table, bad);
    EXPECT_NE(expected.find("is out of range"), std::string::npos);
    EXPECT_EQ(found.substr(0, expected.find('\n')), expected.substr(0, expected.find('\n')));
  }
  expect_same(fast(table, index), f(table, index), 0);
  const auto longer = [](const Tensor& t, const Tensor& i) {
    return sin(rc::cat({t, t.slice(0, 0, 1)}).index_select(0, i)) * 2;
  };
  const auto fast_longer = rc::compile(longer);
  Tensor bad = index.clone();
  expect_same(fast_longer(table, bad), longer(table, bad), 0);
  bad[77].fill_(41);
  EXPECT_NE(error_of(fast_longer, table, bad).find("index 41 is out of range for axis 0 of f32[41]"), std::string::npos)
      << error_of(fast_longer, table, bad);
  const auto wrapping = [](const Tensor& t, const Tensor& i) { return sin(t[i]) * 2; };
  expect_same(rc::compile(wrapping)(table, index - 40), wrapping(table, index - 40), 0);
}

TEST_F(CompiledElements, PlacesAreCounted) {
  const auto f = [](const Tensor& x) { return x * rc::arange(500) + rc::arange(0.5, 250.5, 0.5); };
  expect_in_lanes(1, 0, f, rc::tensor(0.3F));
}

TEST_F(CompiledElements, LargeArgumentsOfSineStandBesideThem) {
  const auto f = [](const Tensor& table, const Tensor& index) {
    return sin(table[index] * rc::arange(index.shape()[0])) + cos(table[index]);
  };
  const auto fast = rc::compile(f);
  for (const std::int64_t count : {100, 3, 37}) {
    const Tensor table = rc::randn({30}) * 1e9, index = places(count, 30);
    expect_same(fast(table, index), f(table, index), 0);
  }
}

// ── draws ──

TEST_F(CompiledElements, NumbersAreDrawnInTheLane) {
  for (const rc::DType dtype : {rc::float32, rc::float64, rc::float16, rc::bfloat16}) {
    const auto both = [dtype](const Tensor& x) {
      return x * rc::randn({300, 8}, dtype) + rc::rand({300, 4}, dtype).sum(1, true);
    };
    expect_in_lanes(3, dtype == rc::float64 ? 1e-14 : dtype == rc::float32 ? 1e-6 : 0.05, both, rc::ones({}, dtype));
    const auto normals = [dtype](const Tensor& x) { return x * rc::randn({300, 8}, dtype) + 1; };
    expect_in_lanes(2, 0, normals, rc::ones({}, dtype));
    const auto uniform = [dtype](const Tensor& x) { return x * rc::rand({300, 12}, dtype) + 1; };
    expect_in_lanes(2, 0, uniform, rc::ones({}, dtype));
  }
}

TEST_F(CompiledElements, EachExampleDrawsItsOwn) {
  const auto noisy = [](const Tensor& x) { return (rc::randn({8}) * x).sum() + rc::bernoulli(x * 0 + 0.3).mean(); };
  const auto f = [noisy](const Tensor& x) { return rc::vmap(noisy, {.randomness = rc::Randomness::different})(x); };
  const auto fast = rc::compile(f);
  for (const std::int64_t count : {100, 19, 3, 2, 9, 3000}) {  // fewer than a register has lanes, too
    const Tensor x = rc::rand({count, 8});
    for (int i = 0; i < 3; ++i) {
      rc::manual_seed(5 + i);
      const Tensor expected = f(x);
      rc::manual_seed(5 + i);
      expect_same(fast(x), expected, 1e-6);
    }
  }
  EXPECT_EQ(fast.plans(), 1U);
}

TEST_F(CompiledElements, PathsAreNoInput) {
  const auto f = [](const Tensor& scale) {
    const auto payoff = [&](const Tensor& z) { return exp(cumsum(z * scale, 0)).mean(); };
    return rc::vmap(payoff)(rc::randn({5000, 16})).mean();
  };
  expect_in_lanes(2, 1e-5, f, rc::tensor(0.1F));
  expect_in_lanes(2, 1e-5, rc::grad(f), rc::tensor(0.1F));
}

TEST_F(CompiledElements, KeysDrawInTheLane) {
  const auto f = [](const rc::Key& keys, const Tensor& x) {
    const auto one = [](const rc::Key& key, const Tensor& row) {
      return row * rc::normal(key, {3}) + rc::uniform(rc::fold_in(key, rc::tensor(std::int64_t{1})), {3});
    };
    return rc::vmap(one)(keys, x);
  };
  const rc::Key keys = rc::split(rc::Key(3), 100);
  const Tensor x = rc::randn({100, 3});
  expect_same(rc::compile(f)(keys, x), f(keys, x), 0);
}

TEST_F(CompiledElements, IntegersAreDrawnInTheLane) {
  for (const auto& [low, high] :
       {std::pair<std::int64_t, std::int64_t>(-3, 5), {0, std::int64_t{1} << 40}, {INT64_MIN, INT64_MAX}}) {
    const auto f = [low = low, high = high](const Tensor& x) { return (x + rc::randint(low, high, {300, 4})) * x; };
    expect_in_lanes(2, 0, f, rc::ones({}, rc::int64));
  }
}

}  // namespace
