// Under vmap and vmap of vmap, against a plain loop over the examples: views of each example, what a tensor says of its
// layout and type there, trees, reading, and what a law met only by chance. The laws map all operations and functions.
#include <functional>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using List = std::vector<Tensor>;
using Function = std::function<Tensor(const List&)>;

/// vmap of f, spelt out: a function of as many tensors as f reads.
Tensor mapped(const Function& f, const List& x, std::int64_t in_dim) {
  return rc::vmap([&](List one) { return f(one); }, {.in_dims = in_dim})(x);
}

Tensor looped(const Function& f, const List& x) {
  List rows;
  for (std::int64_t k = 0; k < x[0].size(0); ++k) {
    List one;
    for (const Tensor& t : x) one.push_back(t[k]);
    rows.push_back(f(one));
  }
  return rc::stack(rows);
}

/// x: examples along axis 0 and 1 of each. With the batch in front, at the back, and mapped twice.
void expect_the_loop(const Function& f, const List& x) {
  const auto over_one = [&](const List& rows) { return looped(f, rows); };
  const auto map_one = [&](const List& rows) { return mapped(f, rows, 0); };
  List first, behind;
  for (const Tensor& t : x) {
    first.push_back(t[0]);
    behind.push_back(t[0].movedim(0, -1));
  }
  expect_close(mapped(f, first, 0), looped(f, first));
  expect_close(mapped(f, behind, -1), looped(f, first));
  expect_close(mapped(map_one, x, 0), looped(over_one, x));
}

// ── views and shapes ──

TEST(UnderVmap, TheTransposeIsThatOfOneExample) {
  expect_the_loop([](const List& a) { return a[0].T(); }, {ramp({2, 3, 4, 5, 2})});
  EXPECT_EQ(sizes(ramp({2, 3, 4}).T()), (Sizes{4, 3, 2}));
  expect_values(ramp({3}).T(), values(ramp({3})));
}

TEST(UnderVmap, PartsOfEachExampleAreViews) {
  const std::vector<std::function<Tensor(Tensor)>> parts{
      [](Tensor a) { return rc::narrow(a, 1, 1, 2); },
      [](Tensor a) { return rc::select(a, -1, 2); },
      [](Tensor a) { return a.slice(0, 1, std::nullopt, 2); },
      [](Tensor a) { return a.diagonal(); },
      [](Tensor a) { return a[0]; },
  };
  for (const auto& part : parts) {
    const Tensor x = ramp({2, 3, 4, 5});
    expect_the_loop([&](const List& a) { return part(a[0]); }, {x});
    EXPECT_TRUE(shares_memory(rc::vmap(part)(x[0]), x));
  }
}

TEST(UnderVmap, ShapesMayBeThoseOfAnotherExample) {
  const Tensor x = ramp({2, 3, 4, 6}), like = ramp({2, 3, 8, 3}), row = ramp({2, 3, 6});
  expect_the_loop([](const List& a) { return a[0].contiguous().view_as(a[1]); }, {x, like});
  expect_the_loop([](const List& a) { return a[0].reshape_as(a[1]); }, {x, like});
  expect_the_loop([](const List& a) { return a[0].expand_as(a[1]); }, {row, x});
}

TEST(UnderVmap, ZeroAndFillOverwriteEachExample) {
  const Tensor x = ramp({3, 2}), y = ramp({3, 2});
  rc::vmap([](Tensor a) { return a.zero_(); }, {.in_dims = 1})(x);
  expect_equal(x, rc::zeros({3, 2}, rc::float64));
  rc::vmap([](Tensor a) { return a.fill_(2.5); })(y);
  expect_equal(y, rc::full({3, 2}, 2.5, rc::float64));
}

TEST(UnderVmap, WritesToOneOfTheListOfViewsReachTheBase) {
  const auto f = [](Tensor a) {
    const Tensor base = a * 1;
    rc::unbind(base)[1].mul_(10);
    rc::split(base, 1)[0].add_(100);
    return base;
  };
  const Tensor x = doubles({1, 2, 3, 4, 5, 6}, {2, 3});
  expect_values(rc::vmap(f)(x), {101, 20, 3, 104, 50, 6});
  expect_values(rc::vmap(rc::grad([&](Tensor a) { return f(a).sum(); }))(x), {1, 10, 1, 1, 10, 1});
}

// ── what a tensor says of itself ──

TEST(UnderVmap, AnExampleSaysItsType) {
  rc::vmap([](Tensor a) {
    EXPECT_TRUE(a.is_floating_point());
    EXPECT_FALSE(a.is_complex());
    EXPECT_TRUE(a.to(rc::complex64).is_complex());
    EXPECT_FALSE(a.to(rc::complex64).is_floating_point());
    EXPECT_FALSE(a.to(rc::int32).is_floating_point());
    return a;
  })(ramp({3, 2, 4}));
}

TEST(UnderVmap, AnExampleWithoutAxesDoesNotRaiseTheType) {
  const Tensor narrow = rc::ones({3, 2}), wide = rc::ones({3}, rc::float64);
  EXPECT_EQ(rc::vmap(rc::add)(narrow, wide).dtype(), rc::float32);
  EXPECT_EQ(rc::vmap(rc::add)(wide, narrow).dtype(), rc::float32);
  EXPECT_EQ(rc::vmap(rc::add)(rc::ones({3}), wide).dtype(), rc::float64);
  EXPECT_EQ(rc::vmap(rc::add)(rc::ones({3, 2}, rc::int64), wide).dtype(), rc::float64);
}

TEST(UnderVmap, FactoriesLikeAnExampleHaveItsType) {
  const auto f = [](Tensor a) {
    return std::tuple{rc::zeros_like(a), rc::ones_like(a), rc::full_like(a, a.sum()), rc::empty_like(a)};
  };
  const Tensor x = ramp({3, 2}).to(rc::float32);
  const auto [zeros, ones, full, empty] = rc::vmap(f)(x);
  expect_equal(zeros, rc::zeros({3, 2}));
  expect_equal(ones, rc::ones({3, 2}));
  expect_equal(full, x.sum(1, true).expand({3, 2}));
  EXPECT_EQ(sizes(empty), (Sizes{3, 2}));
  EXPECT_EQ(empty.dtype(), rc::float32);
}

// ── algebra and reductions ──

/// Three examples are no axis of size 3.
TEST(UnderVmap, CrossProductsOfThreeExamples) {
  expect_values(rc::vmap([](Tensor a, Tensor b) { return rc::cross(a, b); })(rc::eye(3, rc::float64),
                                                                             rc::ones({3, 3}, rc::float64)),
                {0, -1, 1, 1, 0, -1, -1, 1, 0});
}

TEST(UnderVmap, ANumberOfEachExampleHasItsVirtualAxis) {
  expect_the_loop([](const List& a) { return rc::sum(a[0], 0) + rc::sum(a[0], -1) + rc::mean(a[0]); }, {ramp({2, 3})});
}

TEST(UnderVmap, TwoMapsOverTangentsOfSolve) {
  const Tensor a = rc::eye(3, rc::float64) * 4 + sin(ramp({3, 3})), b = ramp({3, 2}),
               tangents = cos(ramp({2, 4, 3, 3}));
  const auto along = [&](Tensor t) { return std::get<1>(rc::jvp([&](Tensor m) { return rc::solve(m, b); }, a, t)); };
  const Tensor y = rc::vmap(rc::vmap(along))(tangents);
  const Tensor inverse = rc::inverse(a), x = rc::matmul(inverse, b);
  expect_close(y, -rc::matmul(inverse, rc::matmul(tangents, x)));  // d(A⁻¹b) = -A⁻¹ dA A⁻¹b
}

// ── trees and reading ──

TEST(UnderVmap, PairsThatOperationsReturnAreTrees) {
  const Tensor x = doubles({3, 1, 2, 5, 6, 4}, {2, 3});
  const auto [values, places] = rc::vmap([](Tensor a) { return rc::max(a, 0); }, {.out_dims = {0, 0}})(x);
  expect_values(values, {3, 6});
  expect_values(places, {0, 1});
  const auto [sorted, order] = rc::vmap([](Tensor a) { return rc::sort(a); }, {.out_dims = {1, 0}})(x);
  expect_values(sorted, {1, 4, 2, 5, 3, 6});
  expect_values(order, {1, 2, 0, 2, 0, 1});
}

TEST(UnderVmap, AllAndAnyOfSharedValuesMayBeRead) {
  const Tensor mask = rc::tensor({1, 0, 1}) > 0;
  const auto f = [&](Tensor x) {
    EXPECT_FALSE(bool(rc::all(mask)));
    EXPECT_TRUE(bool(rc::any(mask)));
    return x * 2;
  };
  expect_values(rc::vmap(f)(doubles({1, 2})), {2, 4});
  const auto batched = [](Tensor x) { return bool(rc::all(x > 0)) ? x : -x; };
  EXPECT_THROW(rc::vmap(batched)(ramp({2, 3})), rc::TransformError);
  expect_values(rc::vmap([](Tensor x) { return rc::all(x > 1); })(doubles({1, 2, 2, 3}, {2, 2})), {0, 1});
}

TEST(UnderVmap, AnEmptyTensorOfGivenStridesIsOneExamples) {
  const auto f = [](Tensor a) {
    const Tensor buffer = a.new_empty_strided({2, 3}, {1, 2});
    EXPECT_EQ(buffer.dtype(), rc::float64);
    buffer.copy_(a);
    return buffer * 2;
  };
  const Tensor x = ramp({4, 2, 3});
  expect_close(rc::vmap(f)(x), x * 2);
  expect_close(rc::vmap(rc::vmap(f))(ramp({2, 4, 2, 3})), ramp({2, 4, 2, 3}) * 2);
  EXPECT_EQ(x.new_empty_strided({2, 3}, {1, 2}).strides(), (rc::Strides{1, 2}));
  EXPECT_EQ(x.new_empty_strided({2, 0}, {5, 1}).numel(), 0);
}

TEST(UnderVmap, ThresholdKeepsWhatIsAbove) {
  expect_the_loop([](const List& a) { return rc::threshold(a[0], 0.9, -3); }, {ramp({2, 3, 4})});
  expect_values(rc::threshold(doubles({-1, 0.5, 2, NAN}), 0.5, 7), {7, 7, 2, NAN});
  expect_values(rc::grad([](Tensor x) { return rc::threshold(x, 0.5, 7).square().sum(); })(doubles({-1, 0.5, 2})),
                {0, 0, 4});
}

}  // namespace
