// Sparse Jacobians and Hessians are the dense ones, under every transform; random functions are held against dense
// derivatives.
#include <gtest/gtest.h>
#include <ricci/ricci.h>
#include <ricci/sparse.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <sstream>
#include <string>

#include "program/program.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::ColorMode, rc::Sparsity, rc::Tensor;
using namespace testing_support;

namespace {

Tensor stencil(const Tensor& x) { return sin(x) * x.roll(1, 0) - x.roll(-2, 0) * x[0]; }
Tensor loss(const Tensor& x) { return (sin(x) * x.roll(1, 0) * x[0]).sum(); }
Tensor point() { return rc::linspace(0.25, 2, 7, rc::float64); }

TEST(SparseDerivatives, AreTheDenseOnesInEveryMode) {
  const Tensor x = point(), dense = rc::jacfwd(stencil)(x);
  const Sparsity pattern = rc::jacobian_sparsity(stencil, x);
  for (const ColorMode mode : {ColorMode::columns, ColorMode::rows, ColorMode::both})
    expect_close(rc::jacobian(stencil, rc::color(pattern, {.mode = mode}))(x).to_dense(), dense, 1e-14);
  const Sparsity second = rc::hessian_sparsity(loss, x);
  for (const ColorMode mode : {ColorMode::star, ColorMode::acyclic, ColorMode::columns})
    expect_close(rc::hessian(loss, rc::color(second, {.mode = mode}))(x).to_dense(), rc::hessian(loss)(x), 1e-14);
}

TEST(SparseDerivatives, MapDifferentiateAndCompile) {
  const Tensor x = point(), xs = rc::stack({x, 2 * x, x.flip(0)}, 0);
  for (const ColorMode mode : {ColorMode::columns, ColorMode::rows, ColorMode::both}) {
    const auto jacobian = rc::jacobian(stencil, rc::color(rc::jacobian_sparsity(stencil, x), {.mode = mode}));
    const auto dense = rc::jacfwd(stencil);
    const auto sparse = [&](const Tensor& at) { return jacobian(at).to_dense(); };
    expect_close(rc::vmap(sparse)(xs), rc::vmap(dense)(xs), 1e-14);
    const auto squares = [](const Tensor& j) { return (j * j).sum(); };
    const auto of_sparse = [&](const Tensor& at) { return squares(jacobian(at).values); };
    const auto of_dense = [&](const Tensor& at) { return squares(dense(at)); };
    expect_close(rc::grad(of_sparse)(x), rc::grad(of_dense)(x), 1e-13);
    expect_close(rc::hessian(of_sparse)(x), rc::hessian(of_dense)(x), 1e-12);
    expect_close(rc::jvp(sparse, x, x).second, rc::jvp(dense, x, x).second, 1e-13);
    expect_close(rc::compile(jacobian)(x).to_dense(), dense(x), 1e-14);
    expect_close(rc::compile(rc::vmap(jacobian))(xs).to_dense(), rc::vmap(dense)(xs), 1e-14);
    expect_close(rc::vmap(rc::compile(sparse))(xs), rc::vmap(dense)(xs), 1e-14);
    expect_close(rc::compile(rc::grad(of_sparse))(x), rc::grad(of_dense)(x), 1e-13);
  }
}

/// Springs in a row: with two colors, each element is found from the next.
Tensor springs(const Tensor& x) {
  return (exp(x.slice(0, 1, 40) - x.slice(0, 0, 39)) + sin(x.slice(0, 1, 40))).sum() + rc::square(x[0]);
}

TEST(SparseDerivatives, OfTreesOfTwoColorsMapDifferentiateAndCompile) {
  const Tensor x = rc::linspace(0, 1, 40, rc::float64), xs = rc::stack({x, 2 * x}, 0);
  const rc::Coloring coloring =
      rc::color(rc::hessian_sparsity(springs, x), {.mode = ColorMode::acyclic, .order = rc::ColorOrder::natural});
  EXPECT_EQ(coloring.colors(), 2);
  EXPECT_GT(coloring.system().sparsity().rows(), 30);
  const auto sparse = [&](const Tensor& at) { return rc::hessian(springs, coloring)(at).to_dense(); };
  const auto dense = [](const Tensor& at) { return rc::hessian(springs)(at); };
  expect_close(sparse(x), dense(x), 1e-13);
  expect_close(rc::vmap(sparse)(xs), rc::vmap(dense)(xs), 1e-13);
  expect_close(rc::compile(rc::vmap(sparse))(xs), rc::vmap(dense)(xs), 1e-13);
  const auto size = [](const auto& of) { return [&of](const Tensor& at) { return rc::square(of(at)).sum(); }; };
  expect_close(rc::grad(size(sparse))(x), rc::grad(size(dense))(x), 1e-12);
  expect_close(rc::jvp(sparse, x, x).second, rc::jvp(dense, x, x).second, 1e-12);
  expect_close(rc::compile(rc::grad(size(sparse)))(x), rc::grad(size(dense))(x), 1e-12);
  expect_close(sparse(x.to(rc::float32)), dense(x.to(rc::float32)), 1e-5);
}

TEST(SparseDerivatives, OfFunctionsThatAreWrittenDownHaveNoDirections) {
  const Tensor x = point();
  const auto f = [](const Tensor& v) {
    const Tensor u = sin(v).view({7, 1}) * v.slice(0, 0, 3), w = matmul(u, rc::tensor({1., 2., 3.}, rc::float64));
    const Tensor lengths = rc::sqrt(rc::square(u).sum(1)).index({rc::tensor({6, 0, 3})});
    return rc::cat({w * v.roll(2, 0), rc::square(v).sum().view({1}), lengths}, 0);
  };
  const rc::Coloring coloring = rc::color(rc::jacobian_sparsity(f, x));
  const auto values = [&](const Tensor& at) { return rc::jacobian(f, coloring)(at).values; };
  const rc::Sparse at_other{coloring.sparsity(), rc::trace(values)(x)({x * 2})[0]};
  expect_close(at_other.to_dense(), rc::jacfwd(f)(x * 2), 1e-13);
  std::ostringstream text;
  text << rc::trace(values)(x).simplified();
  EXPECT_EQ(text.str().find("i="), std::string::npos) << "directions were mapped in\n" << text.str();
}

/// The derivative at x, by a program that was recorded at another point.
template <class F>
rc::Sparse written_down(const F& derivative, const Tensor& x) {
  const auto values = [&](const Tensor& at) { return derivative(at).values; };
  return {derivative.coloring.sparsity(), rc::trace(values)(x.flip(0) * 0.5)({x})[0]};
}

/// The gradient of what is read adds to the places that were read, some of them twice.
TEST(SparseDerivatives, OfGradientsThatAddAtPlacesHaveNoDirections) {
  const Tensor x = point();
  const auto loss = [](const Tensor& v) {
    const Tensor read = v.index({rc::tensor({6, 0, 3, 0})}), next = v.index_select(0, rc::tensor({1, 2, 4, 5}));
    const Tensor rows = v.slice(0, 0, 6).view({3, 2}).index({rc::tensor({2, 0}), rc::tensor({1, 0})});
    return (sin(read) * rc::square(next)).sum() + (rows * rc::square(rows.roll(1, 0))).sum();
  };
  const auto second = rc::hessian(loss, rc::color(rc::hessian_sparsity(loss, x), {.mode = ColorMode::star}));
  expect_close(written_down(second, x).to_dense(), rc::hessian(loss)(x), 1e-13);
  std::ostringstream text;
  text << rc::trace([&](const Tensor& at) { return second(at).values; })(x).simplified();
  EXPECT_EQ(text.str().find("i="), std::string::npos) << "directions were mapped in\n" << text.str();
}

/// Rows that are made alike, from the first to the last or but for some; rows of numbers; nonzeros made of two parts.
TEST(SparseDerivatives, OfFunctionsThatAreWrittenDownHaveTheirNonzerosInOrder) {
  const std::vector<Tensor (*)(const Tensor&)> functions = {
      [](const Tensor& x) { return x * (x.roll(1, 0) - x.roll(-2, 0)) + sin(x); },
      [](const Tensor& x) { return rc::cat({rc::square(x).sum().view({1}), x.slice(0, 1, 60) * x[0]}, 0); },
      [](const Tensor& x) { return 3 * x - x.roll(1, 0) - 0.5 * x.roll(-1, 0); },
      [](const Tensor& x) { return x.slice(0, 1, 60) * 2 - x.slice(0, 0, 59) * 3 + sin(x.slice(0, 1, 60)); },
      [](const Tensor& x) {
        const Tensor w = x.view({20, 3}), a = w.select(1, 0), b = w.select(1, 1), c = w.select(1, 2);
        return rc::stack({a * b, c + 1, sin(a) * b - 2 * c, exp(c)}, 1).flatten();
      },
      [](const Tensor& x) {
        const Tensor w = x.view({2, 5, 6}), u = w[0], v = w[1], spread = u.roll(1, 0) + u.roll(-1, 1) - 4 * u;
        return rc::stack({u * u * v + 0.1 * spread, 3.4 * u - v}, 0).flatten();
      },
      [](const Tensor& x) { return matmul(x.view({6, 10}), rc::arange(20).view({10, 2}).to(x.dtype()) + 1).flatten(); },
      [](const Tensor& x) { return x.slice(0, 0, 1) * x.slice(0, 7, 8); },
      [](const Tensor& x) { return rc::where(x > 0.5, x, 2 * x.flip(0)); },
  };
  for (const rc::DType dtype : {rc::float64, rc::float32})
    for (std::size_t i = 0; i < functions.size(); ++i) {
      SCOPED_TRACE(i);
      const Tensor x = (1.5 + sin(rc::arange(60).to(rc::float64))).to(dtype), dense = rc::jacfwd(functions[i])(x);
      const auto jacobian = rc::jacobian(functions[i], rc::color(rc::jacobian_sparsity(functions[i], x)));
      const double tolerance = dtype == rc::float64 ? 1e-13 : 1e-4;
      const rc::Sparse found = written_down(jacobian, x);
      EXPECT_EQ(found.dtype(), dtype);
      expect_close(found.to_dense(), dense, tolerance);
      expect_close(rc::compile(jacobian)(x).to_dense(), dense, tolerance);
    }
}

TEST(SparseDerivatives, OfFunctionsThatAreWrittenDownAreZeroWhereThePatternHasMore) {
  const Tensor x = point();
  const Sparsity all = Sparsity::of_dense(rc::ones({7, 7}));
  expect_close(written_down(rc::jacobian(stencil, rc::color(all)), x).to_dense(), rc::jacfwd(stencil)(x), 1e-14);
  const auto nothing = [](Tensor v) { return rc::zeros_like(v); };
  EXPECT_EQ(written_down(rc::jacobian(nothing, rc::color(all)), x).values.count_nonzero().item<std::int64_t>(), 0);
  const auto none = rc::jacobian(nothing, rc::color(rc::jacobian_sparsity(nothing, x)));
  EXPECT_EQ(written_down(none, x).values.numel(), 0);
}

/// Numbers that the equations of a derivative's recording give, together; a view gives none.
template <class F>
std::int64_t numbers_of(const F& derivative, const Tensor& x) {
  const auto values = [&](const Tensor& at) { return derivative(at).values; };
  rc::Program program = rc::trace(values)(x).simplified();
  if (const auto& symbols = program.body().symbols)
    program = program.in_call(
        std::make_shared<const rc::CallSizes>(symbols, std::vector<rc::Size>{rc::Size(x.numel())}));
  std::int64_t numbers = 0;
  for (const rc::Equation& e : program.body().equations)
    for (const rc::Variable v : e.outputs)
      if (!e.rules->is_view()) numbers += type_of_variable(program, v).shape.numel().raw();
  return numbers;
}

/// Nonzeros of a long row would go through each further operation on a few numbers: one reverse pass computes less.
TEST(SparseDerivatives, OfFunctionsThatAreWrittenDownComputeNoMoreThanDirectionsDo) {
  const auto summed_first = [](const Tensor& x) {
    Tensor s = x.view({30, 100}).sum(1);
    for (int i = 0; i < 30; ++i) s = sin(s) * 0.5 + s * 0.5;
    return s;
  };
  const Tensor in = rc::ones({60, 8}, rc::float64) * 0.1, middle = rc::ones({60, 60}, rc::float64) * 0.01;
  const auto network = [&](const Tensor& x) {
    return matmul(middle, tanh(matmul(middle, tanh(matmul(in, x))))).sum().view({1});
  };
  const auto check = [](const auto& f, const Tensor& x, std::int64_t most) {
    const auto jacobian = rc::jacobian(f, rc::color(rc::jacobian_sparsity(f, x)));
    EXPECT_EQ(jacobian.coloring.colors(), 1);
    EXPECT_LT(numbers_of(jacobian, x), most);
    expect_close(rc::compile(jacobian)(x).to_dense(), rc::jacrev(f)(x), 1e-13);
  };
  check(summed_first, rc::linspace(0, 0.01, 3000, rc::float64), 20'000);  // 270,000 and more as nonzeros
  check(network, rc::linspace(0, 1, 8, rc::float64), 20'000);             // 60,000 and more
}

/// Each step of a stencil adds two nonzeros to each row: the equations would grow with the square of the steps.
TEST(SparseDerivatives, OfFunctionsThatAreWrittenDownHaveEquationsInProportionToTheFunction) {
  const Tensor x = rc::linspace(0, 1, 200, rc::float64);
  const auto equations = [&](int steps) {
    const auto f = [steps](Tensor v) {
      for (int k = 0; k < steps; ++k) v = v + 0.1 * sin(v.roll(1, 0) - 2 * v + v.roll(-1, 0));
      return v;
    };
    const auto jacobian = rc::jacobian(f, rc::color(rc::jacobian_sparsity(f, x)));
    return rc::trace([&](const Tensor& at) { return jacobian(at).values; })(x).equations();
  };
  EXPECT_LT(equations(40), 2000U);  // 34,860 as nonzeros
}

TEST(SparseDerivatives, OfFunctionsThatAreWrittenDownPassComplexNumbers) {
  const std::complex<double> i(0, 1);
  const std::vector<std::function<Tensor(const Tensor&)>> functions = {
      [i](const Tensor& x) { return rc::to(rc::to(x, rc::complex128) * i * i, rc::float64); },
      [i](const Tensor& x) { return rc::real(rc::conj(rc::to(x, rc::complex128) * i) * i) * x; },
      [i](const Tensor& x) { return rc::to((rc::to(x, rc::complex128) * i).sum() * i, rc::float64).view({1}); },
      [i](const Tensor& x) { return rc::to(rc::to(x.flip(0), rc::complex64) * (2. + i), rc::float32).flip(0); },
  };
  for (std::size_t k = 0; k < functions.size(); ++k) {
    SCOPED_TRACE(k);
    const auto jacobian = rc::jacobian(functions[k], rc::color(rc::jacobian_sparsity(functions[k], point())));
    const rc::Sparse found = written_down(jacobian, point()), eager = jacobian(point());
    EXPECT_EQ(found.dtype(), eager.dtype());
    expect_close(found.to_dense(), eager.to_dense(), 1e-14);
    EXPECT_GT(found.values.count_nonzero().item<std::int64_t>(), 0);
  }
}

/// A nonzero that is not a number is one of its place alone.
TEST(SparseDerivatives, OfFunctionsThatAreWrittenDownKeepFactorsThatAreNoNumbersInTheirPlaces) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const bool is_first : {false, true}) {
    const auto f = [=](const Tensor& x) {
      const Tensor of_two = x * 2., of_nan = x.roll(1, 0) * nan;
      return is_first ? of_nan + of_two : of_two + of_nan;
    };
    const auto jacobian = rc::jacobian(f, rc::color(rc::jacobian_sparsity(f, point())));
    const Tensor found = written_down(jacobian, point()).to_dense();
    expect_close(found.diagonal(), rc::full({7}, 2., rc::float64), 0);
    EXPECT_EQ(isnan(found).sum().item<std::int64_t>(), 7);
    for (std::int64_t i = 0; i < 7; ++i) EXPECT_TRUE(std::isnan(found[i][(i + 6) % 7].item<double>())) << i;
  }
}

/// A print stands in it once, whether its nonzeros were found one by one, by directions or by reverse passes.
TEST(SparseDerivatives, OfFunctionsThatAreWrittenDownRunThemOnce) {
  for (const ColorMode mode : {ColorMode::columns, ColorMode::rows})
    for (const bool prints : {false, true}) {
      int runs = 0;
      const auto f = [&](const Tensor& x) {
        ++runs;
        if (prints) rc::debug::print("x[0] is {}", x[0]);
        return x * x.roll(1, 0);
      };
      const Tensor x = point(), dense = rc::jacfwd([](const Tensor& v) { return v * v.roll(1, 0); })(x);
      const rc::Coloring coloring = rc::color(rc::jacobian_sparsity(f, x), {.mode = mode});
      runs = 0;
      testing::internal::CaptureStdout();
      const rc::Program program = rc::trace([&](const Tensor& at) { return rc::jacobian(f, coloring)(at).values; })(x);
      testing::internal::GetCapturedStdout();
      EXPECT_EQ(runs, 1);
      testing::internal::CaptureStdout();
      const rc::Sparse found{coloring.sparsity(), program({x})[0]};
      EXPECT_EQ(testing::internal::GetCapturedStdout(), prints ? "x[0] is 0.25\n" : "");
      expect_close(found.to_dense(), dense, 1e-14);
    }
}

/// Such a function has no forward mode.
TEST(SparseDerivatives, OfFunctionsThatAreWrittenDownTakeReversePassesThroughTheirOwnDerivatives) {
  const auto f = [](const Tensor& x) {
    return rc::custom_vjp([](const Tensor& v) { return v * v; },
                          [](const Tensor& v) { return std::pair{v * v, v}; },
                          [](const Tensor& v, const Tensor& ct) { return 3 * v * ct; })(x);
  };
  const Sparsity diagonal = Sparsity::of_dense(rc::eye(7));
  const auto jacobian = rc::jacobian(f, rc::color(diagonal, {.mode = ColorMode::rows}));
  expect_close(rc::compile(jacobian)(point()).values, 3 * point(), 1e-14);
}

struct Model {
  Tensor scale, shifts;
  int power = 2;
};

TEST(SparseDerivatives, OfTreesAndFurtherArguments) {
  const Model model{rc::tensor(2., rc::float64), point()};
  const Tensor at = point() * 0.5;
  const auto f = [](const Model& m, const Tensor& x) {
    return std::pair{pow(m.shifts, m.power) * m.scale, (m.shifts * x).sum()};
  };
  const rc::Coloring coloring = rc::color(rc::jacobian_sparsity(f, model, at));
  const auto dense = rc::jacrev([&](const Tensor& v) {
    const auto [first, second] = f({v[0], v.slice(0, 1, 8)}, at);
    return rc::cat({first, second.view({1})}, 0);
  })(rc::ravel(model).vector);
  expect_close(rc::jacobian(f, coloring)(model, at).to_dense(), dense, 1e-14);
  EXPECT_LE(coloring.colors(), 4);
}

TEST(SparseDerivatives, AreOfTheArgumentsThatAreChosen) {
  const Tensor x = point(), y = 3 - x;
  const auto f = [](const Tensor& a, double by, const Model& m) { return a * m.shifts.roll(1, 0) * by + m.scale; };
  const Model model{rc::tensor(2., rc::float64), y};
  const Tensor by_model = rc::jacfwd([&](const Tensor& v) { return f(x, 0.5, {v[0], v.slice(0, 1, 8)}); })(
      rc::ravel(model).vector);
  const Tensor by_x = rc::jacfwd([&](const Tensor& v) { return f(v, 0.5, model); })(x);
  const Sparsity second = rc::jacobian_sparsity(f, rc::argnums<2>, x, 0.5, model);
  expect_close(rc::jacobian<2>(f, rc::color(second))(x, 0.5, model).to_dense(), by_model, 1e-14);
  EXPECT_EQ(second, (rc::jacobian_sparsity(f, rc::argnums<-1>, rc::at_point, x, 0.5, model)));
  const Sparsity both = rc::jacobian_sparsity(f, rc::argnums<2, 0>, x, 0.5, model);
  expect_close(rc::jacobian<2, 0>(f, rc::color(both))(x, 0.5, model).to_dense(), rc::cat({by_model, by_x}, 1), 1e-14);
  const auto product = [](const Tensor& a, const Tensor& b) { return (sin(a) * b * b.roll(1, 0)).sum(); };
  const Sparsity of_b = rc::hessian_sparsity(product, rc::argnums<1>, x, y);
  expect_close(rc::hessian<1>(product, rc::color(of_b, {.mode = ColorMode::acyclic}))(x, y).to_dense(),
               rc::hessian<1>(product)(x, y), 1e-14);
}

TEST(SparseDerivatives, OfOneArgumentThatIsATupleOrAPair) {
  const Tensor x = point(), y = 3 - x;
  using Pair = std::pair<Tensor, Tensor>;
  using Tuple = std::tuple<Tensor, Tensor>;
  const auto product = [](const Tensor& a, const Tensor& b) { return sin(a) * b.roll(1, 0); };
  const auto of_pair = [&](const Pair& p) { return product(p.first, p.second); };
  const auto of_tuple = [&](const Tuple& t) { return product(std::get<0>(t), std::get<1>(t)); };
  const auto by_second = [&](const Tensor& a, const Tuple& t) { return a * of_tuple(t); };
  const Sparsity expected = rc::jacobian_sparsity(product, rc::argnums<0, 1>, x, y);
  const Sparsity pattern = rc::jacobian_sparsity(of_tuple, Tuple{x, y});
  EXPECT_EQ(pattern, expected);
  EXPECT_EQ(rc::jacobian_sparsity(of_pair, Pair{x, y}), expected);
  EXPECT_EQ((rc::jacobian_sparsity(by_second, rc::argnums<1>, rc::at_point, x, Tuple{x, y})), expected);
  const Tensor dense = rc::jacobian<0, 1>(product, rc::color(expected))(x, y).to_dense();
  expect_equal(rc::jacobian(of_tuple, rc::color(pattern))(Tuple{x, y}).to_dense(), dense);
  expect_equal(rc::jacobian(of_pair, rc::color(pattern))(Pair{x, y}).to_dense(), dense);
  const auto loss = [&](const Pair& p) { return square(of_pair(p)).sum(); };
  const auto loss_of_both = [&](const Tensor& a, const Tensor& b) { return loss({a, b}); };
  const Sparsity second = rc::hessian_sparsity(loss, Pair{x, y});
  EXPECT_EQ(second, rc::hessian_sparsity(loss_of_both, rc::argnums<0, 1>, x, y));
  const rc::Coloring stars = rc::color(second, {.mode = ColorMode::star});
  const Tensor dense_second = rc::hessian<0, 1>(loss_of_both, stars)(x, y).to_dense();
  expect_equal(rc::hessian(loss, stars)(Pair{x, y}).to_dense(), dense_second);
}

TEST(SparseDerivatives, RefuseComplexArgumentsAndResults) {
  const auto square = [](const Tensor& x) { return x * x; };
  const auto turned = [](const Tensor& x) { return x * std::complex<double>(0, 1); };
  const Tensor complex = rc::to(point(), rc::complex128);
  const auto refused = [](const std::string& call, const char* what) {
    return call + ": the " + what +
           " is c128[7]; sparse derivatives are those of real functions: pass real and imaginary parts apart";
  };
  const char* const pattern = "jacobian_sparsity";
  expect_error<rc::TypeError>([&] { rc::jacobian_sparsity(square, complex); }, refused(pattern, "argument"));
  expect_error<rc::TypeError>([&] { rc::jacobian_sparsity(turned, point()); }, refused(pattern, "result"));
  for (const ColorMode mode : {ColorMode::columns, ColorMode::rows}) {
    const rc::Coloring coloring = rc::color(rc::jacobian_sparsity(square, point()), {.mode = mode});
    for (const bool compiles : {false, true}) {
      const auto of = [&](const auto& f, const Tensor& x) {
        return [=] { compiles ? rc::compile(rc::jacobian(f, coloring))(x) : rc::jacobian(f, coloring)(x); };
      };
      EXPECT_THROW(of(square, complex)(), rc::TypeError);
      EXPECT_THROW(of(turned, point())(), rc::TypeError);
    }
    expect_error<rc::TypeError>([&] { rc::jacobian(square, coloring)(complex); }, refused("jacobian", "argument"));
    expect_error<rc::TypeError>([&] { rc::jacobian(turned, coloring)(point()); }, refused("jacobian", "result"));
  }
}

TEST(SparseDerivatives, RefuseArgumentsOfOtherSizes) {
  const rc::Coloring coloring = rc::color(rc::jacobian_sparsity(stencil, point()), {.mode = ColorMode::columns});
  expect_error<rc::ValueError>([&] { rc::jacobian(stencil, coloring)(rc::ones({3})); },
                               "jacobian: the argument has 3 elements, the pattern has 7 columns; find the pattern of "
                               "this function at arguments of these shapes");
  expect_error<rc::ValueError>([&] { rc::jacobian([](Tensor x) { return x.sum(); }, coloring)(point()); },
                               "jacobian: the result has 1 elements, the pattern has 7 rows; find the pattern of this "
                               "function at arguments of these shapes");
  const auto nothing = [](Tensor x) { return rc::zeros_like(x); };
  const rc::Coloring of_nothing = rc::color(rc::jacobian_sparsity(nothing, point()));
  EXPECT_EQ(rc::jacobian(nothing, of_nothing)(point()).sparsity.nnz(), 0);
  expect_error<rc::ValueError>([&] { rc::jacobian([](Tensor x) { return x.sum(); }, of_nothing)(point()); },
                               "jacobian: the result has 1 elements, the pattern has 7 rows; find the pattern of this "
                               "function at arguments of these shapes");
  const rc::Coloring of_rows = rc::color(rc::hessian_sparsity(loss, point()), {.mode = ColorMode::rows});
  expect_error<rc::ValueError>([&] { rc::hessian(loss, of_rows)(point()); },
                               "hessian: the coloring has 7 colors of rows; use {.mode = rc::ColorMode::star}, "
                               "acyclic or columns");
}

// ── random functions ──

/// A function of a vector of 8, made of a few steps that mix, move, choose and loop. One Tensor in, one out.
class RandomFunction {
 public:
  explicit RandomFunction(unsigned seed) {
    std::mt19937 numbers(seed);
    const auto random = [&numbers] { return static_cast<unsigned>(numbers()); };
    for (unsigned k = 2 + random() % 5; k > 0; --k) steps_.push_back({random() % kinds, random(), random() % 64});
  }
  Tensor operator()(const Tensor& x) const {
    std::vector<Tensor> made{x};
    for (const Step& step : steps_) made.push_back(applied(step, made.back(), made[step.other % made.size()]));
    return made.back();
  }

 private:
  struct Step {
    unsigned kind;
    std::uint64_t seed;
    std::size_t other;
  };
  static constexpr unsigned kinds = 22;

  static Tensor places(std::uint64_t seed, std::int64_t count, std::int64_t below) {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back(static_cast<std::int64_t>((seed >> (3 * i)) % below));
    return rc::tensor(all);
  }
  static Tensor applied(const Step& step, const Tensor& x, const Tensor& y) {
    const auto shift = static_cast<std::int64_t>(step.seed % 8);
    switch (step.kind) {
      case 0: return sin(x) + 0.5 * y;
      case 1: return x * y.roll(shift, 0);
      case 2: return rc::cat({x.slice(0, shift, 8), y.slice(0, 0, shift)}, 0);
      case 3: return x.index({places(step.seed, 8, 8)});
      case 4: return y.index_add(0, places(step.seed, 8, 8), tanh(x));
      case 5: return rc::where(x > y, x, tanh(y.flip(0)));
      case 6: return (x.view({2, 4}).t() * 1).view({8}) + y;
      case 7: return x + tanh(y.view({2, 4}).sum(1)).index({places(step.seed, 8, 2)});
      case 8: return matmul(x.view({4, 2}), rc::tensor({{1., 0.5}, {-0.5, 2.}}, rc::float64)).view({8});
      case 9: return matmul(x.view({2, 2, 2}), tanh(y).view({2, 2, 2})).view({8});
      case 10: return cumsum(x.view({2, 4}), 1).view({8}) * 0.5;
      case 11:
        return rc::cond(
            x[shift] > 0, [](Tensor a, Tensor b) { return a * 2 + b; },
            [](Tensor a, Tensor b) { return a.flip(0) * tanh(b); }, x, y);
      case 12: return rc::fori_loop(0, 2, [&](Tensor, Tensor s) { return tanh(s.roll(1, 0)) + y; }, x);
      case 13:
        return rc::scan([](Tensor c, Tensor row) { return std::pair{tanh(c + row), c * row}; }, y[shift] * 1, x).second;
      case 14:
        return rc::while_loop([](Tensor s) { return (s * s).sum() > 2; },
                              [](Tensor s) { return 0.5 * s + 0.125 * s.roll(1, 0); }, x);
      case 15: return rc::vmap([](Tensor row) { return softmax(row, 0); })(x.view({4, 2})).view({8}) + y;
      case 16: {
        Tensor copy = x.clone();
        copy.slice(0, shift, 8).copy_(y.slice(0, 0, 8 - shift));
        return copy * x;
      }
      case 17: return rc::stack({x.slice(0, 0, 4), y.slice(0, 4, 8)}, 1).view({8});
      case 18: return x.gather(0, argsort(y)) * 0.5;
      case 19: return rc::fori_loop(0, 8, [&](Tensor i, Tensor s) { return s + 0.125 * y.index({i}) * x; }, x);
      case 20: return rc::real(x * std::complex<double>(0.5, 1) * (y + x * std::complex<double>(0, 0.5)));
      default: return x * floor(y) + rc::sqrt(1 + x * x);
    }
  }

  std::vector<Step> steps_;
};

TEST(SparseDerivatives, OfRandomFunctionsAreTheDenseOnes) {
  const char* const wanted = std::getenv("RICCI_FUZZ_PROGRAMS");
  const unsigned programs = wanted ? static_cast<unsigned>(std::atoi(wanted)) : 150;
  const Tensor x = rc::linspace(-1.25, 1.5, 8, rc::float64);
  for (unsigned seed = 0; seed < programs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomFunction f(seed);
    const Tensor dense = rc::jacfwd(f)(x);
    const double size = 1 + abs(dense).max().item<double>();
    if (!(size < 1e6)) continue;
    const rc::Coloring coloring = rc::color(rc::jacobian_sparsity(f, x));
    expect_close(rc::jacobian(f, coloring)(x).to_dense() / size, dense / size, 1e-12);
    expect_close(written_down(rc::jacobian(f, coloring), x).to_dense() / size, dense / size, 1e-12);
    const auto loss = [&](const Tensor& v) { return tanh(f(v)).sum(); };
    const Tensor second = rc::hessian(loss)(x);
    const double second_size = 1 + abs(second).max().item<double>();
    if (!(second_size < 1e6)) continue;
    for (const ColorMode mode : {ColorMode::columns, ColorMode::acyclic}) {
      const rc::Coloring colors = rc::color(rc::hessian_sparsity(loss, x), {.mode = mode});
      expect_close(rc::hessian(loss, colors)(x).to_dense() / second_size, second / second_size, 1e-11);
      expect_close(written_down(rc::hessian(loss, colors), x).to_dense() / second_size, second / second_size, 1e-11);
    }
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
