// What the laws cannot say of reductions, scans and sorting: element types, empty and 0-dim tensors, ties, zeros, NaN,
// infinities, and which errors there are. Expected values are written out or follow from a formula.
#include <cmath>
#include <complex>
#include <limits>

#include "ricci/primitive/pool.h"
#include "support/difference_quotient.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using namespace testing_support;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();
using Complex = std::complex<double>;

Tensor gradient(const std::function<Tensor(Tensor)>& f, const Tensor& x) { return rc::grad(f)(x); }

/// As expect_values, for values that may be infinite.
void expect_extended(const Tensor& actual, Values expected) {
  Values found = values(actual);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!std::isinf(expected[i])) continue;
    EXPECT_EQ(found[i], expected[i]) << "at element " << i;
    found[i] = expected[i] = 0;
  }
  expect_values(doubles(found), expected);
}

// ── sums, means, counts ──

TEST(Sum, OfIntegersAndBooleansIsInt64) {
  for (rc::DType dtype : {rc::boolean, rc::uint8, rc::int8, rc::int16, rc::int32, rc::int64}) {
    const Tensor y = sum(rc::ones({300}, dtype));
    EXPECT_EQ(y.dtype(), rc::int64);
    EXPECT_EQ(y.item<std::int64_t>(), 300);
    EXPECT_EQ(prod(rc::ones({3}, dtype)).dtype(), rc::int64);
    EXPECT_EQ(cumsum(rc::ones({3}, dtype), 0).dtype(), rc::int64);
  }
}

TEST(Sum, OfHalvesIsRoundedOnce) {
  const Tensor x = rc::full({4096}, 1.0, rc::float16);
  EXPECT_EQ(sum(x).dtype(), rc::float16);
  EXPECT_EQ(sum(x).item(), 4096.0);
  EXPECT_EQ(mean(rc::full({100000}, 3.0, rc::bfloat16)).item(), 3.0);
}

TEST(Sum, TakesTheVirtualAxisOfA0DimTensor) {
  const Tensor x = number(2.5);
  for (std::int64_t axis : {0, -1}) {
    EXPECT_EQ(sum(x, axis).item(), 2.5);
    EXPECT_EQ(sizes(sum(x, axis, true)), Sizes{});
    EXPECT_EQ(prod(x, axis, true).item(), 2.5);
    EXPECT_EQ(argmax(x, axis, true).item<std::int64_t>(), 0);
    EXPECT_EQ(rc::max(x, axis, true).first.item(), 2.5);
    EXPECT_EQ(softmax(x, axis).item(), 1.0);
    EXPECT_EQ(log_softmax(x, axis).item(), 0.0);
    EXPECT_EQ(cumsum(x, axis).item(), 2.5);
    EXPECT_EQ(rc::sort(x, axis).first.item(), 2.5);
    EXPECT_EQ(rc::median(x, axis).first.item(), 2.5);
    EXPECT_EQ(rc::topk(x, 1, axis).second.item<std::int64_t>(), 0);
  }
  EXPECT_EQ(argmin(x).item<std::int64_t>(), 0);
}

TEST(Sum, OfNothing) {
  const Tensor nothing = rc::zeros({0, 2}, rc::float64);
  expect_values(sum(nothing, 0), {0, 0});
  expect_values(prod(nothing, 0), {1, 1});
  expect_values(mean(nothing, 0), {nan, nan});
  expect_values(var(nothing, 0), {nan, nan});
  expect_values(norm(nothing, 2, 0), {0, 0});
  expect_extended(logsumexp(nothing, 0), {-infinity, -infinity});
  expect_values(gradient([](Tensor x) { return logsumexp(x, 0).sum(); }, nothing), {});
  EXPECT_TRUE(all(nothing).item<bool>());
  EXPECT_FALSE(any(nothing).item<bool>());
  EXPECT_EQ(count_nonzero(nothing).item<std::int64_t>(), 0);
  EXPECT_EQ(sizes(amax(nothing, 1)), (Sizes{0}));
}

TEST(Counts, SeeNaNAsTrue) {
  const Tensor x = doubles({0, nan, 2, 0}, {2, 2});
  expect_values(any(x, 1), {1, 1});
  expect_values(all(x, 1), {0, 0});
  EXPECT_EQ(any(x, 0).dtype(), rc::boolean);
  EXPECT_EQ(count_nonzero(x).item<std::int64_t>(), 2);
}

TEST(Counts, OfAllTypes) {
  using rc::DType;
  for (const DType dtype :
       {DType::boolean, DType::uint8, DType::int8, DType::int16, DType::int32, DType::int64, DType::float16,
        DType::bfloat16, DType::float32, DType::float64, DType::complex64, DType::complex128}) {
    SCOPED_TRACE(rc::short_name(dtype));
    const Tensor x = doubles({0, -0.0, 1, 0}, {2, 2}).to(dtype), y = x + 1;
    expect_values(any(x, 1), {0, 1});
    expect_values(any(x, 0), {1, 0});
    expect_values(all(x, 1), {0, 0});
    expect_values(all(y, 1), {1, 1});
    EXPECT_EQ(count_nonzero(x).item<std::int64_t>(), 1);
    EXPECT_EQ(count_nonzero(y).item<std::int64_t>(), 4);
    if (!rc::is_complex(dtype)) continue;
    const Tensor i = Tensor(std::complex<double>(0, 1)).to(dtype), z = (-x) * i;
    expect_values(any(z, 1), {0, 1});
    expect_values(all(x + z, 1), {0, 0});
    EXPECT_EQ(count_nonzero(z).item<std::int64_t>(), 1);
  }
}

TEST(Trace, OfAMatrix) {
  const Tensor x = doubles({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(trace(x).item(), 6.0);
  EXPECT_EQ(rc::trace(x).item(), 6.0);  // not a program
  EXPECT_EQ(rc::trace(x.index({rc::tensor({0, 0})})).item(), 3.0);
  expect_values(rc::vmap(rc::trace)(rc::stack({x, x * 2})), {6, 12});
  expect_values(gradient([](Tensor v) { return trace(v); }, x), {1, 0, 0, 0, 1, 0});
}

// ── products ──

TEST(Prod, HasTheThirdDerivativeOfThreeZeros) {
  const Tensor third = rc::jacfwd(rc::hessian([](Tensor x) { return prod(x); }))(doubles({0, 0, 0}));
  EXPECT_EQ(third.sum().item(), 6.0);  // one for every order of the three
}

// ── extremes ──

TEST(Extremes, AreNaNWhereThereIsOne) {
  const Tensor x = doubles({1, nan, 3, nan});
  expect_values(amax(x), {nan});
  expect_values(amin(x), {nan});
  EXPECT_EQ(argmax(x).item<std::int64_t>(), 1);
  EXPECT_EQ(rc::min(x, 0).second.item<std::int64_t>(), 1);
}

TEST(Extremes, GiveTheFirstPlace) {
  const Tensor x = rc::tensor({{1, 7, 7}, {4, 2, 4}});
  EXPECT_EQ(argmax(x).item<std::int64_t>(), 1);
  expect_values(argmax(x, 1), {1, 0});
  expect_values(argmin(x, 0), {0, 1, 1});
  const auto [value, place] = x.max(0);
  expect_values(value, {4, 7, 7});
  expect_values(place, {1, 0, 0});
  EXPECT_EQ(value.dtype(), rc::int64);
  expect_values(rc::vmap([](Tensor v) { return argmax(v); })(x), {1, 0});
}

// ── moments ──

TEST(Std, HasGradientZeroWhereItIsZero) {
  expect_values(gradient([](Tensor x) { return rc::std(x); }, doubles({3, 3, 3})), {0, 0, 0});
  EXPECT_TRUE(all(isnan(rc::hessian([](Tensor x) { return rc::std(x); })(doubles({3, 3})))).item<bool>());
}

/// Where the variance is beyond the elements' type, or below it, the deviation and its gradient need not be.
TEST(Std, IsThatOfDoublesWhateverTheVariance) {
  const auto expect_as_doubles = [](const Tensor& x) {
    const Tensor wide = x.to(rc::is_complex(x.dtype()) ? rc::complex128 : rc::float64), found = rc::std(x);
    EXPECT_EQ(found.dtype(), rc::real_dtype(x.dtype()));
    expect_values(found, values(rc::std(wide).to(found.dtype())));
    const auto f = [](Tensor v) { return rc::std(v); };
    expect_values(rc::grad(f)(x), values(rc::grad(f)(wide).to(x.dtype())));
  };
  for (const Values& numbers : {Values{1000, -1000, 2000, 4}, Values{1e-4, 3e-4, 2e-4, 1e-4}})
    for (const rc::DType dtype : {rc::float16, rc::bfloat16}) expect_as_doubles(doubles(numbers).to(dtype));
  expect_as_doubles(doubles({0, 1e19, 3e19}).to(rc::bfloat16));
  expect_as_doubles(doubles({1e20, 1e19, -1e20, 700}).to(rc::float32));
  expect_as_doubles(doubles({1e-30, 3e-30}).to(rc::float32));
}

TEST(Norm, OfEveryOrder) {
  const Tensor x = doubles({3, -4, 0});
  expect_values(norm(x), {5});
  expect_values(norm(x, 1), {7});
  expect_values(norm(x, 0), {2});
  expect_values(norm(x, infinity), {4});
  expect_values(norm(x, -infinity), {0});
  expect_values(norm(x, 3), {std::cbrt(27.0 + 64.0)});
  expect_values(norm(x, 0.5), {std::pow(std::sqrt(3.0) + 2, 2)});
  expect_values(norm(doubles({1, 2}), -1), {2.0 / 3});
  expect_values(norm(rc::tensor(std::vector<Complex>{{3, 4}, {0, 12}})), {13});
  expect_values(norm(ramp({2, 3}), 2, 1, true), values(sqrt(sum(square(ramp({2, 3})), 1))));
}

TEST(Norm, HasGradientZeroAtZero) {
  for (double p : {0.5, 1.0, 1.5, 2.0, 3.0, infinity}) {
    SCOPED_TRACE(p);
    const auto f = [p](Tensor x) { return norm(x, p); };
    expect_values(gradient(f, doubles({0, 0})), {0, 0});
    const Tensor second = rc::hessian(f)(doubles({0, 0}));
    if (p == 1 || p == infinity) expect_values(second, {0, 0, 0, 0});
    else EXPECT_TRUE(all(isnan(second)).item<bool>());  // no rule knows it
    EXPECT_TRUE(all(isfinite(gradient(f, doubles({0, 2})))).item<bool>());
  }
}

TEST(Norm, OfEveryOrderHasTheRightGradient) {
  const Tensor x = doubles({0.5, -1.5, 2});
  for (double p : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, -1.0, infinity, -infinity}) {
    SCOPED_TRACE(p);
    const auto f = [p](Tensor v) { return norm(v, p); };
    expect_close(gradient(f, x), difference_quotient(f, x), difference_tolerance);
    if (!std::isinf(p)) expect_close(rc::hessian(f)(x), difference_quotient(rc::grad(f), x), 1e-6);
  }
}

TEST(Norm, OfHalvesDoesNotOverflow) { expect_values(norm(rc::full({4}, 300.0, rc::float16)), {600}); }

TEST(Norm, MakesNoSquares) {
  const Tensor x = rc::ones({1000});
  norm(x);
  const std::uint64_t before = rc::pool::allocation_count();
  const Tensor y = norm(x);
  EXPECT_LE(rc::pool::allocation_count() - before, 4U);  // the sum, its root, and their cells
}

TEST(Norm, NeedsFloatingElementsAndForInfinityAny) {
  expect_error<rc::ValueError>([] { norm(rc::zeros({0}), infinity); },
                               "norm: f32[0] has no elements along axis 0; reduce at least 1 element");
}

// ── softmax and its relatives ──

TEST(Softmax, IsRightForLargeValues) {
  const Tensor x = doubles({1000, 1000, -infinity});
  expect_values(softmax(x, 0), {0.5, 0.5, 0});
  expect_extended(log_softmax(x, 0), {-std::log(2.0), -std::log(2.0), -infinity});
  expect_values(logsumexp(x), {1000 + std::log(2.0)});
  expect_values(logcumsumexp(x, 0), {1000, 1000 + std::log(2.0), 1000 + std::log(2.0)});
  expect_values(gradient([](Tensor v) { return logsumexp(v); }, x), {0.5, 0.5, 0});
}

TEST(Softmax, OfMaskedLanesHasNoNaNInGradients) {
  const Tensor x = doubles({-infinity, -infinity, 0, -infinity, 1, 1}, {2, 3});
  expect_values(logsumexp(x, 1), {0, 1 + std::log(2.0)});
  const Tensor masked = doubles({-infinity, -infinity});
  expect_extended(logsumexp(masked), {-infinity});
  expect_values(gradient([](Tensor v) { return logsumexp(v); }, masked), {0, 0});
  expect_values(gradient([](Tensor v) { return logcumsumexp(v, 0).select(0, 2); }, doubles({-infinity, 0, 0})),
                {0, 0.5, 0.5});
}

TEST(Softmax, OfHalvesFollowsSingles) {
  const Tensor x = ramp({2, 5}).to(rc::float16), wide = x.to(rc::float32);
  EXPECT_EQ(softmax(x, 1).dtype(), rc::float16);
  expect_close(softmax(x, 1), softmax(wide, 1).to(rc::float16), 1e-3);
  expect_close(logsumexp(x, 1), logsumexp(wide, 1).to(rc::float16), 1e-3);
  expect_close(var(x, 1), var(wide, 1).to(rc::float16), 2e-3);
  expect_close(cumsum(x, 1), cumsum(wide, 1).to(rc::float16), 2e-3);
}

// ── sorting ──

TEST(Sort, IsStableAndPutsNaNLast) {
  const auto [value, place] = rc::sort(doubles({2, nan, 1, 2, -infinity}));
  expect_extended(value, {-infinity, 1, 2, 2, nan});
  expect_values(place, {4, 2, 0, 3, 1});
  expect_values(rc::sort(doubles({2, nan, 1, 2}), 0, true).second, {1, 0, 3, 2});
  expect_values(argsort(rc::tensor({{3, 1, 2}, {1, 3, 2}})), {1, 2, 0, 0, 2, 1});
  expect_values(argsort(rc::tensor({{3, 1}, {1, 3}}), 0, true), {0, 1, 1, 0});
}

TEST(TopK, TakesAsManyAsThereAre) {
  const Tensor x = rc::tensor({{5, 1, 4}, {2, 9, 3}});
  EXPECT_EQ(sizes(rc::topk(x, 0).first), (Sizes{2, 0}));
}

TEST(Median, IsTheLowerOneOrNaN) {
  expect_values(rc::median(doubles({4, 1, 3, 2})), {2});
  const auto [value, place] = rc::median(doubles({4, 1, 3, nan, 5, 2, 6, nan, 7}, {3, 3}), 1);
  expect_values(value, {3, nan, nan});
  expect_values(place, {2, 0, 1});
  expect_values(rc::median(rc::tensor({3, 1, 2}), 0).first, {2});
}

/// The values between -inf, 1, inf and inf, and those between 0 and an infinite number, at parts of the way.
TEST(Quantile, IsInfiniteAtAndBesideAnInfiniteElement) {  // torch gives NaN at one, and on half the way to one
  const Tensor x = rc::tensor({-infinity, 1., infinity, infinity}), q = rc::tensor({0., 1. / 3, 2. / 3, 0.9, 1.});
  const Tensor up = rc::tensor({0., infinity}), down = rc::tensor({-infinity, 0.}), way = rc::tensor({0.25, 0.5, 0.75});
  for (const char* between : {"linear", "midpoint"})
    for (const auto nan_too : {false, true}) {
      const auto quantile = [&](const Tensor& of, const Tensor& q) {
        return nan_too ? rc::nanquantile(of, q, 0, false, between) : rc::quantile(of, q, 0, false, between);
      };
      const auto found = [&](const Tensor& q) { return quantile(x, q); };
      expect_extended(found(q), {-infinity, 1, infinity, infinity, infinity});
      EXPECT_EQ(rc::grad(found)(rc::tensor(1.)).item(), 0);
      EXPECT_EQ(rc::jacfwd(found)(rc::tensor(1.)).item(), 0);
      expect_extended(quantile(up, way), {infinity, infinity, infinity});
      expect_extended(quantile(up, rc::tensor({0., 1.})), {0, infinity});
      expect_extended(quantile(down, way), {-infinity, -infinity, -infinity});
      expect_extended(quantile(rc::tensor({-infinity, infinity}), way), {nan, nan, nan});
      const auto gradient = rc::grad([&](const Tensor& of) { return quantile(of, rc::tensor(0.5)); });
      expect_values(gradient(up), {0, 1});
      expect_values(gradient(down), {1, 0});
    }
}

}  // namespace
