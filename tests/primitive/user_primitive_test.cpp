// An operation written outside the library, by the same mechanism as the library's own: everything that an elementwise
// or a linear primitive gets must follow from the struct alone.
#include <gtest/gtest.h>
#include <ricci/primitive/elementwise.h>
#include <ricci/primitive/reduction.h>
#include <ricci/ricci.h>

#include <cmath>
#include <numbers>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using testing_support::expect_close;

namespace {

struct GentleSign {
  using kind = rc::Elementwise;
  static constexpr const char* name = "test_softsign";
  static constexpr unsigned keeps = rc::input(0);
  template <class T>
  auto formula(T x) const {
    return x / (T(1) + rc::scalar::abs(x));
  }
  Tensor partial(const Tensor& x, const Tensor&) const { return reciprocal(square(1 + abs(x))); }
};
Tensor gentle_sign(const Tensor& x) { return rc::apply(GentleSign{}, x); }

/// One that says it is not locally constant: the same as saying nothing.
struct Doubled {
  using kind = rc::Elementwise;
  static constexpr const char* name = "test_doubled";
  static constexpr unsigned keeps = rc::input(0);
  static constexpr bool locally_constant = false;
  template <class T>
  auto formula(T x) const {
    return x + x;
  }
  Tensor partial(const Tensor& x, const Tensor&) const { return full_like(x, 2); }
};

/// x y², which says input by input what the cotangents read.
struct TimesSquare {
  using kind = rc::Elementwise;
  static constexpr const char* name = "test_times_square";
  static constexpr unsigned keeps[] = {rc::input(1), rc::input(0) | rc::input(1)};
  template <class T>
  auto formula(T x, T y) const {
    return x * y * y;
  }
  Tensor partial(int i, std::span<const Tensor> x, const Tensor&) const {
    return i == 0 ? square(x[1]) : 2 * x[0] * x[1];
  }
};
static_assert(rc::rules_of<TimesSquare>.keeps[0] == rc::input(1));
static_assert(rc::rules_of<TimesSquare>.keeps[1] == (rc::input(0) | rc::input(1)));

/// Its formula asks what T is.
struct Lanes {
  using kind = rc::Elementwise;
  static constexpr const char* name = "test_lanes";
  static constexpr bool formula_is_opaque = true, locally_constant = true;
  template <class T>
  auto formula(T x) const {
    return x + T(0 * sizeof(typename T::vector));
  }
};

static_assert(rc::keeps_output(rc::output(3), 3) && !rc::keeps_output(~0U, rc::keepable_outputs));
static_assert(rc::keeps_input(rc::input(3), 3) && !rc::keeps_input(~0U, rc::keepable_inputs));

/// The sum of log cosh x: a smooth sum of sizes.
struct SumOfLogCosh {
  using kind = rc::Explicit;
  using elements = rc::reduction::Floating;
  static constexpr const char* name = "test_sum_of_log_cosh";
  static constexpr double start = 0;
  static constexpr unsigned keeps = rc::input(0);
  static constexpr bool heavy = true;
  rc::Axes axes;

  template <class T>
  auto term(T x) const {
    const T size = rc::scalar::abs(x);
    return size + rc::scalar::log1p(rc::scalar::exp(T(-2) * size)) - T(std::numbers::ln2);
  }
  template <class T>
  auto join(T a, T b) const {
    return a + b;
  }
  rc::Type type(const rc::Type& x) const { return rc::reduced_type(*this, axes, x); }
  void eval(rc::Outputs out, rc::Inputs in) const { rc::reduce(*this, axes, out, in); }
  rc::Tensors jvp(const rc::Forward& f) const {
    const Tensor changes = f.tangents[0] * tanh(f.inputs[0]);
    return {axes.empty() ? changes : sum(changes, axes)};
  }
  rc::Tensors vjp(const rc::Reverse& r) const {
    Tensor ct = r.cotangents[0];
    for (const std::int64_t axis : axes) ct = unsqueeze(ct, axis);  // ascending
    return {ct * tanh(r.inputs[0])};
  }
  SumOfLogCosh lifted() const { return {rc::behind_batch(axes)}; }
};
Tensor sum_of_log_cosh(const Tensor& x, const rc::Axes& axes) { return rc::apply(SumOfLogCosh{axes}, x); }

/// Every second element of a vector, scaled: linear, with a parameter.
struct Decimate {
  using kind = rc::Linear;
  static constexpr const char* name = "test_decimate";
  std::int64_t axis;
  double factor;

  rc::Type type(const rc::Type& x) const {
    rc::Type t = x;
    auto& size = t.shape[static_cast<std::size_t>(axis)];
    size = (size + 1) / 2;
    return t;
  }
  void eval(rc::Outputs out, rc::Inputs in) const {
    // Written for tests: rank 1 or 2, float64.
    const auto& x = in[0];
    const std::int64_t rows = x.rank == 2 ? x.shape[0] : 1, columns = out[0].shape[out[0].rank - 1];
    const std::int64_t row_stride = x.rank == 2 ? x.strides[0] : 0, stride = x.strides[x.rank - 1];
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c)
        static_cast<double*>(out[0].data)[r * columns + c] =
            factor * static_cast<const double*>(x.data)[r * row_stride + 2 * c * stride];
  }
  Tensor transpose(const Tensor& ct, const rc::Type& input) const {
    const Tensor back = rc::zeros(input.shape, input.dtype);
    back.slice(axis, std::nullopt, std::nullopt, 2).copy_(factor * ct);
    return back;
  }
  Decimate lifted() const { return {axis + 1, factor}; }
};
Tensor decimate(const Tensor& x) { return rc::apply(Decimate{0, 3.0}, x); }

double value(double x) { return x / (1 + std::fabs(x)); }
double slope(double x) { return 1 / ((1 + std::fabs(x)) * (1 + std::fabs(x))); }

TEST(UserPrimitive, MayKeepForEachInputWhatItsCotangentReads) {
  const auto f = [](const Tensor& x, const Tensor& y) { return rc::apply(TimesSquare{}, x, y).sum(); };
  const Tensor x = rc::tensor({2., 3.}, rc::float64), y = rc::tensor({5., 7.}, rc::float64);
  expect_close(rc::grad(f)(x, y), y * y);
  expect_close(rc::grad<1>(f)(x, y), 2 * x * y);
  const auto [of_x, of_y] = rc::grad<0, 1>(f)(x, y);
  expect_close(of_x, y * y);
  expect_close(of_y, 2 * x * y);
}

TEST(UserPrimitive, AnElementwiseOneBroadcastsAndPromotes) {
  const auto y = gentle_sign(rc::tensor({-2, 0, 3})).to_vector<double>();
  EXPECT_EQ(gentle_sign(rc::tensor({1, 2})).dtype(), rc::float32);
  EXPECT_NEAR(y[0], value(-2), 1e-7);
  EXPECT_NEAR(y[2], value(3), 1e-7);
}

TEST(UserPrimitive, AnElementwiseOneHasItsFormulaWrittenDown) {
  const auto text_of = []<class P>(const P& op) { return to_string(rc::rules_of<P>.formula()(&op)); };
  EXPECT_EQ(text_of(GentleSign{}), "a = abs x0\nb = add 1 a\nc = divide x0 b\nreturn c\n");
  EXPECT_EQ(text_of(Doubled{}), "a = add x0 x0\nreturn a\n");
  EXPECT_EQ(rc::rules_of<Lanes>.formula(), nullptr);
  EXPECT_EQ(rc::apply(Lanes{}, rc::tensor(3.0)).item<double>(), 3);
}

TEST(UserPrimitive, AnElementwiseOneWorksUnderEveryNestingOfTransforms) {
  const Tensor x = rc::tensor(std::vector<double>{-1.5, 0.25, 2.0});
  const auto first = rc::vmap(rc::grad(gentle_sign))(x).to_vector<double>();
  const auto forward = rc::jvp(gentle_sign, x, rc::ones_like(x)).second.to_vector<double>();
  const auto second = rc::vmap(rc::grad(rc::grad(gentle_sign)))(x).to_vector<double>();
  const double points[] = {-1.5, 0.25, 2.0};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(first[i], slope(points[i]), 1e-12);
    EXPECT_NEAR(forward[i], slope(points[i]), 1e-12);
    EXPECT_NEAR(second[i], (slope(points[i] + 1e-5) - slope(points[i] - 1e-5)) / 2e-5, 1e-6);
  }
}

TEST(UserPrimitive, AReductionIsOneStruct) {
  const Tensor x = rc::arange(-600, 600, 1, rc::float64).reshape({2, 30, 20}) / 100;
  const Tensor terms = log(cosh(x));
  for (const rc::Axes& axes : {rc::Axes{0, 1, 2}, rc::Axes{1}, rc::Axes{0, 2}, rc::Axes{2}, rc::Axes{}}) {
    expect_close(sum_of_log_cosh(x, axes), axes.empty() ? terms : sum(terms, axes));
    expect_close(sum_of_log_cosh(x.to(rc::float32), axes), (axes.empty() ? terms : sum(terms, axes)).to(rc::float32),
                 1e-3);
  }
  EXPECT_EQ(sum_of_log_cosh(rc::zeros({0, 3}, rc::float64), {0}).to_vector<double>(), (std::vector<double>{0, 0, 0}));
  const auto f = [](Tensor v) { return sum_of_log_cosh(v, {0}); };
  const Tensor v = x[0][0];
  expect_close(rc::grad(f)(v), tanh(v), 1e-12);
  expect_close(rc::hessian(f)(v), diag(1 - square(tanh(v))), 1e-12);
  expect_close(rc::vmap(rc::grad(f))(x[0]), tanh(x[0]), 1e-12);
  expect_close(rc::trace(rc::vmap(f))(x[0])({x[1]})[0], sum_of_log_cosh(x[1], {1}));
  EXPECT_THROW(f(rc::arange(3)), rc::TypeError);
  EXPECT_THROW(sum_of_log_cosh(v, {1}), rc::IndexError);
}

TEST(UserPrimitive, AReductionHasWhatItDoesWrittenDown) {
  const SumOfLogCosh op{{0}};
  const rc::Accumulation written = rc::rules_of<SumOfLogCosh>.accumulation()(&op);
  EXPECT_EQ(written.start, 0);
  EXPECT_EQ(written.nothing, 0);
  EXPECT_EQ(to_string(written.term),
            "a = abs x0\nb = multiply -2 a\nc = exp b\nd = log1p c\ne = add a d\nf = subtract e "
            "0.6931471805599452862\nreturn f\n");
  EXPECT_EQ(to_string(written.join), "a = add x0 x1\nreturn a\n");
  EXPECT_EQ(to_string(written.finish), "return x0\n");
}

TEST(UserPrimitive, ALinearOneIsDifferentiatedByItsTranspose) {
  const Tensor x = rc::tensor(std::vector<double>{1, 2, 3, 4, 5});
  const auto g =
      rc::grad([](const Tensor& x) { return (decimate(x) * rc::tensor({1, 10, 100}).to(rc::float64)).sum(); })(x)
          .to_vector<double>();
  EXPECT_EQ(g, (std::vector<double>{3, 0, 30, 0, 300}));
  const Tensor rows = rc::stack({x, 2 * x});
  const auto mapped = rc::vmap(decimate)(rows).to_vector<double>();
  EXPECT_EQ(mapped, (std::vector<double>{3, 9, 15, 6, 18, 30}));
}

TEST(UserPrimitive, IsRecordedWithItsParameters) {
  const rc::Program p = rc::trace(decimate)(rc::zeros({4}, rc::float64));
  EXPECT_NE(rc::to_string(p).find("test_decimate[axis=0, factor=3"), std::string::npos) << p;
}

TEST(UserPrimitive, ThatSaysItIsNotLocallyConstantHasDerivatives) {
  const auto doubled = [](const Tensor& x) { return rc::apply(Doubled{}, x); };
  EXPECT_EQ(rc::grad(doubled)(rc::tensor(3.0)).item(), 2);
  EXPECT_EQ(std::get<1>(rc::jvp(doubled, rc::tensor(3.0), rc::tensor(1.0))).item(), 2);
}

}  // namespace
