// Kinks and ties: which derivative an operation takes where it has none, or many. The numbers of the first table are
// those of PyTorch 2.15, first and second derivatives; the second table says where its own are not consistent and what
// is taken instead.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

/// At `x`, the gradient of the sum of a function's elements, and the rows of its Hessian; none given: all are 0.
struct Point {
  std::vector<double> x, slope, second;
};
struct Kink {
  const char* sentence;
  Tensor (*f)(Tensor);
  std::vector<double> x, slope, second;
};
struct KinksOf {
  const char* text;
  Tensor (*f)(Tensor);
  std::vector<Point> points;
};

Tensor weights(const Tensor& x) { return rc::arange(x.size(0)).to(rc::float64) + 1; }

/// A tie halves the slope, of zeros of different sign and of infinities too. A NaN gives it to both.
const std::vector<Point> ties_and_nan = {{{0, 0}, {0.5, 0.5}}, {{-0.0, 0}, {0.5, 0.5}}, {{inf, inf}, {0.5, 0.5}},
                                         {{nan, 0}, {1, 1}},   {{0, nan}, {1, 1}},      {{nan, nan}, {1, 1}}};
/// As above, but of a NaN and a number the number has the slope.
const std::vector<Point> ties_and_nan_left_out = {{{0, 0}, {0.5, 0.5}},     {{-0.0, 0}, {0.5, 0.5}},
                                                  {{inf, inf}, {0.5, 0.5}}, {{nan, 0}, {0, 1}},
                                                  {{0, nan}, {1, 0}},       {{nan, nan}, {1, 0}}};

const std::vector<KinksOf> as_in_pytorch{
    // Between numbers the slope is 0 at both, and at NaN.
    {"clamp(x, 0, 1)", [](Tensor x) { return clamp(x, 0, 1); }, {{{0}, {0}}, {{1}, {0}}, {{nan}, {0}}}},
    // Where x equals one bound, x and that bound share the slope; where x equals both, x has all of it. Where the lower
    // bound is above the upper one, the upper one has the slope. A NaN in x has the slope; a NaN bound leaves it to x.
    {"clamp(x[0], x[1], x[2])",
     [](Tensor x) { return clamp(x[0], x[1], x[2]); },
     {{{0.5, 0, 1}, {1, 0, 0}},
      {{0, 0, 1}, {0.5, 0.5, 0}},
      {{1, 0, 1}, {0.5, 0, 0.5}},
      {{1, 1, 1}, {1, 0, 0}},
      {{-1, 0, 1}, {0, 1, 0}},
      {{-1, 1, 1}, {0, 1, 0}},
      {{3, 0, 1}, {0, 0, 1}},
      {{3, 1, 1}, {0, 0, 1}},
      {{1.5, 2, 1}, {0, 0, 1}},
      {{1, 2, 1}, {0, 0, 1}},
      {{2, 2, 1}, {0, 0, 1}},
      {{nan, 0, 1}, {1, 0, 0}},
      {{0.5, nan, 1}, {1, 0, 0}},
      {{0.5, 0, nan}, {1, 0, 0}},
      {{inf, 0, inf}, {0.5, 0, 0.5}}}},
    {"clamp(x, 1, 1)", [](Tensor x) { return clamp(x, 1, 1); }, {{{1}, {0}}}},
    {"clamp(x, 2, 1)", [](Tensor x) { return clamp(x, 2, 1); }, {{{1.5}, {0}}}},
    {"clamp_min(x, 0)", [](Tensor x) { return clamp_min(x, 0); }, {{{0}, {0}}, {{nan}, {0}}}},
    {"clamp_max(x, 0)", [](Tensor x) { return clamp_max(x, 0); }, {{{0}, {0}}}},
    {"clamp_min(x[0], x[1])", [](Tensor x) { return clamp_min(x[0], x[1]); }, ties_and_nan},
    {"clamp_max(x[0], x[1])", [](Tensor x) { return clamp_max(x[0], x[1]); }, ties_and_nan},
    {"maximum(x[0], x[1])", [](Tensor x) { return maximum(x[0], x[1]); }, ties_and_nan},
    {"minimum(x[0], x[1])", [](Tensor x) { return minimum(x[0], x[1]); }, ties_and_nan},
    {"fmax(x[0], x[1])", [](Tensor x) { return fmax(x[0], x[1]); }, ties_and_nan_left_out},
    {"fmin(x[0], x[1])", [](Tensor x) { return fmin(x[0], x[1]); }, ties_and_nan_left_out},
    // All that tie share the slope, infinities and NaN too; along an axis the first has it.
    {"amax(x)",
     [](Tensor x) { return amax(x); },
     {{{2, 2, 2}, {1. / 3, 1. / 3, 1. / 3}}, {{inf, inf, 1}, {0.5, 0.5, 0}}, {{2, 2, 1}, {0.5, 0.5, 0}}}},
    {"amin(x)",
     [](Tensor x) { return amin(x); },
     {{{2, 2, 2}, {1. / 3, 1. / 3, 1. / 3}}, {{inf, inf, 1}, {0, 0, 1}}, {{2, 2, 1}, {0, 0, 1}}}},
    {"max(x)",
     [](Tensor x) { return max(x); },
     {{{2, 2, 2}, {1. / 3, 1. / 3, 1. / 3}},
      {{inf, inf, 1}, {0.5, 0.5, 0}},
      {{2, 2, 1}, {0.5, 0.5, 0}},
      {{nan, nan, 1}, {0.5, 0.5, 0}}}},
    {"min(x)",
     [](Tensor x) { return min(x); },
     {{{2, 2, 2}, {1. / 3, 1. / 3, 1. / 3}},
      {{inf, inf, 1}, {0, 0, 1}},
      {{2, 2, 1}, {0, 0, 1}},
      {{nan, nan, 1}, {0.5, 0.5, 0}}}},
    {"max(x, 0).first", [](Tensor x) { return max(x, 0).first; }, {{{2, 2, 1}, {1, 0, 0}}, {{nan, nan, 1}, {1, 0, 0}}}},
    {"min(x, 0).first", [](Tensor x) { return min(x, 0).first; }, {{{2, 2, 1}, {0, 0, 1}}, {{nan, nan, 1}, {1, 0, 0}}}},
    {"median(x)",
     [](Tensor x) { return median(x); },
     {{{2, 2, 1}, {0.5, 0.5, 0}},
      {{1, 2, 2, 3}, {0, 0.5, 0.5, 0}},
      {{2, 2, 2}, {1. / 3, 1. / 3, 1. / 3}},
      {{nan, nan, 1}, {0.5, 0.5, 0}}}},
    {"median(x, 0).first",
     [](Tensor x) { return median(x, 0).first; },
     {{{2, 2, 1}, {1, 0, 0}}, {{nan, nan, 1}, {1, 0, 0}}}},
    // Sorting leaves elements that tie in order.
    {"(sort(x).first * weights(x)).sum()",
     [](Tensor x) { return (sort(x).first * weights(x)).sum(); },
     {{{2, 2, 1}, {2, 3, 1}}}},
    {"(sort(x, 0, true).first * weights(x)).sum()",
     [](Tensor x) { return (sort(x, 0, true).first * weights(x)).sum(); },
     {{{2, 2, 1}, {1, 2, 3}}}},
    // The greatest by size share the slope, and the smallest; at the origin it is 0.
    {"norm(x, inf)", [](Tensor x) { return norm(x, inf); }, {{{2, 2, 1}, {0.5, 0.5, 0}}, {{0, 0}, {0, 0}}}},
    {"norm(x, -inf)", [](Tensor x) { return norm(x, -inf); }, {{{1, 1, 2}, {0.5, 0.5, 0}}}},
    {"norm(x, 1)", [](Tensor x) { return norm(x, 1); }, {{{0, 0}, {0, 0}}, {{0, 1}, {0, 1}}}},
    {"norm(x, 0)", [](Tensor x) { return norm(x, 0); }, {{{0, 0}, {0, 0}}}},
    {"abs(x)", [](Tensor x) { return abs(x); }, {{{0}, {0}}}},
    {"sign(x)", [](Tensor x) { return sign(x); }, {{{0}, {0}}}},
    {"relu(x)", [](Tensor x) { return relu(x); }, {{{0}, {0}}}},
    // At the kink they have the slope of one side, and no second derivative.
    {"leaky_relu(x)", [](Tensor x) { return leaky_relu(x); }, {{{0}, {0.01}}}},
    {"elu(x, 2)", [](Tensor x) { return elu(x, 2); }, {{{0}, {2}}}},
    {"elu(x)", [](Tensor x) { return elu(x); }, {{{0}, {1}}}},
    {"threshold(x, 0, -1)", [](Tensor x) { return threshold(x, 0, -1); }, {{{0}, {0}}, {{1}, {1}}}},
    {"softplus(x, 2, 1)", [](Tensor x) { return softplus(x, 2, 1); }, {{{0.5}, {0.7310585786300049}}}},
    {"huber_loss(x, zeros_like(x), 1)",
     [](Tensor x) { return huber_loss(x, zeros_like(x), 1); },
     {{{1}, {1}}, {{-1}, {-1}}, {{0}, {0}, {1}}}},
    {"huber_loss(x, zeros_like(x), 0.5)", [](Tensor x) { return huber_loss(x, zeros_like(x), 0.5); }, {{{0.5}, {0.5}}}},
    {"l1_loss(x, zeros_like(x))", [](Tensor x) { return l1_loss(x, zeros_like(x)); }, {{{0}, {0}}}},
    {"floor(x)", [](Tensor x) { return floor(x); }, {{{1}, {0}}}},
    {"round(x)", [](Tensor x) { return round(x); }, {{{0.5}, {0}}}},
    {"frac(x)", [](Tensor x) { return frac(x); }, {{{1}, {1}}}},
    {"sqrt(x)", [](Tensor x) { return sqrt(x); }, {{{0}, {inf}, {-inf}}}},
    {"pow(x, 0)", [](Tensor x) { return pow(x, 0); }, {{{0}, {0}}}},
    {"pow(x, 1)", [](Tensor x) { return pow(x, 1); }, {{{0}, {1}}}},
    // Of an infinity, or of nothing but -infinity, all is NaN; -infinity beside numbers counts as 0.
    {"softmax(x, 0)",
     [](Tensor x) { return softmax(x, 0); },
     {{{inf, 1, inf}, {nan, nan, nan}, {nan, nan, nan, nan, nan, nan, nan, nan, nan}},
      {{inf, 1}, {nan, nan}, {nan, nan, nan, nan}},
      {{-inf, -inf}, {nan, nan}, {nan, nan, nan, nan}},
      {{-inf, 1, -inf}, {0, 0, 0}}}},
    {"log_softmax(x, 0)",
     [](Tensor x) { return log_softmax(x, 0); },
     {{{inf, 1, inf}, {nan, nan, nan}, {nan, nan, nan, nan, nan, nan, nan, nan, nan}},
      {{inf, 1}, {nan, nan}, {nan, nan, nan, nan}},
      {{-inf, -inf}, {nan, nan}, {nan, nan, nan, nan}}}},
    {"logsumexp(x)", [](Tensor x) { return logsumexp(x); }, {{{-inf, 1, -inf}, {0, 1, 0}}}},
    {"max_pool2d(x.reshape({1, 1, 2, 2}), {2, 2})",
     [](Tensor x) { return max_pool2d(x.reshape({1, 1, 2, 2}), {2, 2}); },
     {{{1, 1, 0, 1}, {1, 0, 0, 0}}}},
    {"prod(x)",
     [](Tensor x) { return prod(x); },
     {{{0, 2, 3}, {6, 0, 0}, {0, 3, 2, 3, 0, 0, 2, 0, 0}}, {{0, 0, 3}, {0, 0, 0}, {0, 3, 0, 3, 0, 0, 0, 0, 0}}}},
    {"cumprod(x, 0)", [](Tensor x) { return cumprod(x, 0); }, {{{2, 0, 3}, {1, 8, 0}, {0, 4, 0, 4, 0, 2, 0, 2, 0}}}},
};

/// PyTorch has NaN in the derivatives of these, or another derivative in reverse than in forward mode.
const std::vector<Kink> beyond_pytorch{
    {"atan2 is flat at the origin", [](Tensor x) { return atan2(x[0], x[1]); }, {0, 0}, {0, 0}, {}},
    {"copysign is flat where the magnitude is 0", [](Tensor x) { return copysign(x[0], x[1]); }, {0, 1}, {0, 0}, {}},
    {"0 to the power 0 is flat", [](Tensor x) { return pow(x[0], x[1]); }, {0, 0}, {0, 0}, {}},
    {"0 squared by a tensor is as 0 squared", [](Tensor x) { return pow(x[0], x[1]); }, {0, 2}, {0, 0}, {2, 0, 0, 0}},
    {"0 log 0 is flat", [](Tensor x) { return xlogy(x[0], x[1]); }, {0, 0}, {0, 0}, {}},
    {"logsumexp is flat where all are -infinity", [](Tensor x) { return logsumexp(x); }, {-inf, -inf}, {0, 0}, {}},
    {"two equal infinities share the slope of logaddexp",
     [](Tensor x) { return logaddexp(x[0], x[1]); },
     {inf, inf},
     {0.5, 0.5},
     {0.25, -0.25, -0.25, 0.25}},
    {"the slope of an infinite sum of exponentials does not change",
     [](Tensor x) { return logaddexp(x[0], x[1]); },
     {inf, 1},
     {1, 0},
     {}},
    {"NaN share the slope of amax as of max", [](Tensor x) { return amax(x); }, {nan, nan, 1}, {0.5, 0.5, 0}, {}},
    {"NaN share the slope of amin as of min", [](Tensor x) { return amin(x); }, {nan, 1, 2}, {1, 0, 0}, {}},
    {"a cross entropy of a certain and right probability is flat but for its limit",
     [](Tensor x) { return binary_cross_entropy(x, zeros_like(x)); },
     {0},
     {0},
     {1e12}},
    {"a cross entropy of a certain and wrong probability is straight but for its limit",
     [](Tensor x) { return binary_cross_entropy(x, rc::ones_like(x)); },
     {0},
     {-1e12},
     {1e12}},
    {"the product of an infinite factor is linear in the others",
     [](Tensor x) { return prod(x); },
     {inf, 2},
     {2, inf},
     {0, 1, 1, 0}},
};

/// Sizes, which are flat where they are 0. What is computed from one may be smooth there: then its second derivative
/// depends on what is computed, and is NaN, never a number that would be wrong for some.
const std::vector<Kink> sizes_at_their_edge{
    {"the norm of order 2", [](Tensor x) { return norm(x, 2); }, {0, 0}, {0, 0}, {}},
    {"the norm of order 3/2", [](Tensor x) { return norm(x, 1.5); }, {0, 0}, {0, 0}, {}},
    {"the norm of order 3", [](Tensor x) { return norm(x, 3); }, {0, 0}, {0, 0}, {}},
    {"a norm of negative order", [](Tensor x) { return norm(x, -1); }, {0, 0}, {0, 0}, {}},
    {"hypot", [](Tensor x) { return hypot(x[0], x[1]); }, {0, 0}, {0, 0}, {}},
    {"the size of a complex number", [](Tensor x) { return abs(rc::complex(x[0], x[1])); }, {0, 0}, {0, 0}, {}},
    {"the sum of such sizes",
     [](Tensor x) { return norm(rc::complex(x[0], x[1]).unsqueeze(0), 1); },
     {0, 0},
     {0, 0},
     {}},
    {"the deviation of equal numbers", [](Tensor x) { return rc::std(x); }, {1, 1}, {0, 0}, {}},
};

/// The elements are these, or all 0 where none are given.
bool same(const Tensor& found, Values wanted) {
  const Values elements = values(found);
  if (wanted.empty()) wanted.resize(elements.size(), 0);
  return std::ranges::equal(elements, wanted, [](double x, double want) { return is_close(x, want, 1e-12); });
}

void expect_kink(Tensor (*sum_of)(Tensor), const Point& kink) {
  const Tensor x = rc::tensor(kink.x);
  SCOPED_TRACE(x);
  const auto f = [&](Tensor v) { return sum_of(v).sum(); };
  const auto slope = rc::grad(f);
  EXPECT_TRUE(same(slope(x), kink.slope)) << "the gradient is " << slope(x);
  EXPECT_TRUE(same(rc::jacfwd(f)(x), kink.slope)) << "in forward mode the gradient is " << rc::jacfwd(f)(x);
  EXPECT_TRUE(same(rc::jacrev(slope)(x), kink.second)) << "the Hessian is " << rc::jacrev(slope)(x);
  EXPECT_TRUE(same(rc::hessian(f)(x), kink.second)) << "forward over reverse, the Hessian is " << rc::hessian(f)(x);
}

TEST(Kinks, HaveTheDerivativesOfPyTorch) {
  for (const KinksOf& kinks : as_in_pytorch)
    for (const Point& kink : kinks.points) {
      SCOPED_TRACE(kinks.text);
      expect_kink(kinks.f, kink);
    }
}

TEST(Kinks, HaveDerivativesWherePyTorchIsNotConsistent) {
  for (const Kink& kink : beyond_pytorch) {
    SCOPED_TRACE(kink.sentence);
    expect_kink(kink.f, {kink.x, kink.slope, kink.second});
  }
}

TEST(Kinks, OfASizeLeaveNoSecondDerivativeThatWouldBeWrong) {
  const std::vector<std::pair<const char*, Tensor (*)(Tensor)>> outer{
      {"itself", [](Tensor r) { return r; }},
      {"its square", [](Tensor r) { return square(r); }},
      {"its power", [](Tensor r) { return pow(r, 2); }},
      {"its product with itself", [](Tensor r) { return r * r; }},
      {"exp of -r^2", [](Tensor r) { return exp(-square(r)); }},
      {"its cosine", [](Tensor r) { return cos(r); }}};
  for (const Kink& size : sizes_at_their_edge)
    for (const auto& [what, h] : outer) {
      SCOPED_TRACE(std::string(what) + " of " + size.sentence);
      const Tensor x = rc::tensor(size.x);
      const auto f = [&, &h = h](Tensor v) { return h(size.f(v)).sum(); };
      EXPECT_TRUE(same(rc::grad(f)(x), size.slope)) << rc::grad(f)(x);
      EXPECT_TRUE(same(rc::jacfwd(f)(x), size.slope)) << rc::jacfwd(f)(x);
      for (const Tensor& second : {rc::hessian(f)(x), rc::jacrev(rc::grad(f))(x), rc::jacfwd(rc::grad(f))(x),
                                   rc::jacfwd(rc::jacfwd(f))(x), rc::jacrev(rc::jacfwd(f))(x)})
        EXPECT_TRUE(isnan(second).all().item<bool>()) << second;
    }
}

/// Of |x|^p the second derivative at 0 is 0 from order 2 on. Below, it is infinite: then a number would be wrong.
TEST(Kinks, OfAnElementThatIs0LeaveNoWrongDerivativesInANorm) {
  struct Vector {
    const char* name;
    std::function<Tensor(Tensor)> made_of;
    std::vector<double> parts;
    Values slope, second;
    int of_zero;  // so many parts, from the first on, belong to the element that is 0
  };
  const std::vector<Vector> vectors{{"real", [](Tensor x) { return x; }, {0, 1}, {0, 1}, {0, 0, 0, 0}, 1},
                                    {"complex",
                                     [](Tensor x) { return rc::complex(x.slice(0, 0, 4, 2), x.slice(0, 1, 4, 2)); },
                                     {0, 0, 1, 0},
                                     {0, 0, 1, 0},
                                     {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
                                     2}};
  for (const Vector& vector : vectors)
    for (double p : {0.5, 1.5, 1.9, 2.5, 3.0, 4.0}) {
      SCOPED_TRACE(std::string(vector.name) + ", of order " + std::to_string(p));
      const Tensor x = rc::tensor(vector.parts);
      const auto f = [&](Tensor v) { return norm(vector.made_of(v), p); };
      EXPECT_TRUE(same(rc::grad(f)(x), vector.slope)) << rc::grad(f)(x);
      EXPECT_TRUE(same(rc::jacfwd(f)(x), vector.slope)) << rc::jacfwd(f)(x);
      for (const Tensor& found : {rc::hessian(f)(x), rc::jacrev(rc::grad(f))(x), rc::jacfwd(rc::grad(f))(x),
                                  rc::jacfwd(rc::jacfwd(f))(x), rc::jacrev(rc::jacfwd(f))(x)}) {
        const Values second = values(found);
        const auto count = static_cast<int>(vector.parts.size());
        for (int i = 0; i < count; ++i)
          for (int k = 0; k < count; ++k) {
            const auto at = static_cast<std::size_t>(i * count + k);
            if (i == k && i < vector.of_zero && p < 2) {
              EXPECT_FALSE(std::isfinite(second[at])) << found;
            } else if (p > 2 || std::isfinite(second[at])) {
              EXPECT_NEAR(second[at], vector.second[at], 1e-12) << found;
            }
          }
      }
    }
}

/// A slope at a kink is a constant, as in PyTorch. So where a square removes the kink, the second derivative is 0; that
/// of the function is 2. docs/07-from-torch-func.md says so.
TEST(Kinks, OfRealFunctionsStayConstantWhereASquareRemovesThem) {
  const std::vector<std::pair<const char*, Tensor (*)(Tensor)>> squares{
      {"abs", [](Tensor x) { return square(abs(x)); }},
      {"relu", [](Tensor x) { return square(relu(x)) + square(relu(-x)); }},
      {"maximum", [](Tensor x) { return square(maximum(x, -x)); }},
      {"clamp", [](Tensor x) { return square(clamp_min(x, 0)) + square(clamp_max(x, 0)); }},
      {"l1_loss", [](Tensor x) { return square(l1_loss(x, zeros_like(x))); }},
      {"norm of order 1", [](Tensor x) { return square(norm(x, 1)); }},
      {"norm of order infinity", [](Tensor x) { return square(norm(x, inf)); }}};
  for (const auto& [name, f] : squares) {
    SCOPED_TRACE(name);
    const Tensor x = number(0);
    for (const Tensor& second : {rc::hessian(f)(x), rc::jacrev(rc::grad(f))(x), rc::jacfwd(rc::jacfwd(f))(x)})
      expect_values(second, {0});
  }
}

/// The second derivative of pow(x, 1.1) at 0 is infinite, and no rule knows by what power of x it is multiplied:
/// x pow(x, 1.1) has 0 there, pow(pow(x, 1.1), 2 / 1.1) has 2.
TEST(Kinks, OfPowersLeaveNaNInProductsAndNotInOnePower) {
  const auto product = [](Tensor x) { return x * (1 - pow(x, 1.1)); };
  const auto nested = [](Tensor x) { return pow(pow(x, 1.1), 2 / 1.1); };
  const auto one_power = [](Tensor x) { return x - pow(x, 2.1); };
  EXPECT_TRUE(isnan(rc::grad(rc::grad(product))(number(0))).item<bool>());
  EXPECT_TRUE(isnan(rc::grad(rc::grad(nested))(number(0))).item<bool>());
  expect_values(rc::grad(rc::grad(one_power))(number(0)), {0});
}

/// docs/reference/accuracy.md says so.
TEST(Cotangents, OfATensorThatIsReadOftenAreAddedInItsType) {
  const auto sum_of_reads = [](Tensor x) {
    Tensor sum = rc::zeros({});
    for (int i = 0; i < 512; ++i) sum = sum + x.to(rc::float32);
    return sum;
  };
  expect_values(rc::grad(sum_of_reads)(rc::ones({}, rc::bfloat16)), {256});
  expect_values(rc::grad([&](Tensor x) { return sum_of_reads(x.to(rc::float32)); })(rc::ones({}, rc::bfloat16)), {512});
}

/// A second derivative by something else does not go through the edge.
TEST(Kinks, OfASizeDoNotReachDerivativesByOtherNumbers) {
  const auto slope = [](Tensor w) { return rc::grad([&](Tensor x) { return w * norm(x); })(doubles({0, 0})).sum(); };
  expect_values(rc::grad(slope)(number(2)), {0});
  const auto rows = [](Tensor x) { return norm(x.reshape({2, 2}), 2, {1}).sum(); };
  const Values second = values(rc::hessian(rows)(doubles({3, 4, 0, 0})));
  EXPECT_NEAR(second[0], 0.128, 1e-12);
  EXPECT_NEAR(second[5], 0.072, 1e-12);
}

TEST(Kinks, OfANumberStayThoseOfANumberUnderEveryTransform) {
  const Tensor x = doubles({0, 0.5, 1, 2});
  const auto between = [](Tensor v) { return clamp(v, 0, 1); };
  const auto slope = rc::grad([&](Tensor v) { return between(v).sum(); });
  expect_values(slope(x), {0, 1, 0, 0});
  expect_values(rc::vmap(rc::grad(between))(x), {0, 1, 0, 0});
  expect_values(rc::grad([&](Tensor v) { return rc::vmap(between)(v).sum(); })(x), {0, 1, 0, 0});
  expect_values(rc::trace(slope)(x)({x})[0], {0, 1, 0, 0});
  const rc::Program program = rc::trace(between)(x);
  expect_values(rc::grad([&](Tensor v) { return program({v})[0].sum(); })(x), {0, 1, 0, 0});
  expect_values(rc::grad([](Tensor v) { return (v * 1).clamp_(0, 1).sum(); })(x), {0, 1, 0, 0});
}

TEST(Kinks, OfWhichNoneIsPassedByHaveSharesThatAddUpToOne) {
  const auto shares = [](double x, double low, double high) {
    return rc::grad([](Tensor v) { return clamp(v[0], v[1], v[2]); })(doubles({x, low, high})).sum();
  };
  for (double x : {-1.0, 0.0, 0.5, 1.0, 2.0, 3.0})
    for (double low : {0.0, 1.0, 2.0})
      for (double high : {0.0, 1.0, 2.0}) expect_values(shares(x, low, high), {1});
}

TEST(Softmax, IsNanWhereTheGreatestIsInfinite) {
  for (const Tensor& x :
       {doubles({inf, 1, inf}), doubles({inf, 1, 0}), doubles({-inf, -inf, -inf}), doubles({nan, 1, 2})}) {
    EXPECT_TRUE(isnan(softmax(x, 0)).all().item<bool>()) << x;
    EXPECT_TRUE(isnan(log_softmax(x, 0)).all().item<bool>()) << x;
  }
  expect_values(softmax(doubles({-inf, 1, -inf}), 0), {0, 1, 0});
}

}  // namespace
