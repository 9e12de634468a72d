// Derivatives of determinants of every order and in every order of modes, at singular and nearly singular matrices too:
// against minors, which are the exact derivatives of a polynomial of degree one in each element.
#include <algorithm>
#include <complex>
#include <functional>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Function = std::function<Tensor(Tensor)>;
using Places = std::vector<std::size_t>;

/// Without the rows and columns at these places, by expansion along the first row that is left: no division.
long double minor_of(const Values& a, std::size_t n, const Places& rows, const Places& columns) {
  const auto left = [n](const Places& without) {
    Places all;
    for (std::size_t i = 0; i < n; ++i)
      if (std::find(without.begin(), without.end(), i) == without.end()) all.push_back(i);
    return all;
  };
  const Places rows_left = left(rows), columns_left = left(columns);
  if (rows_left.empty()) return 1;
  Places more_rows = rows;
  more_rows.push_back(rows_left[0]);
  long double sum = 0, sign = 1;
  for (const std::size_t column : columns_left) {
    Places more_columns = columns;
    more_columns.push_back(column);
    sum += sign * static_cast<long double>(a[rows_left[0] * n + column]) * minor_of(a, n, more_rows, more_columns);
    sign = -sign;
  }
  return sum;
}

/// +1 or -1 for the order that sorts the places; 0 where two agree.
int sign_of(const Places& places) {
  int sign = 1;
  for (std::size_t i = 0; i < places.size(); ++i)
    for (std::size_t j = i + 1; j < places.size(); ++j)
      sign *= places[i] == places[j] ? 0 : places[i] < places[j] ? 1 : -1;
  return sign;
}

/// The derivatives of det a by `order` elements, [n, n, …].
Tensor exact(const Tensor& a, std::size_t order) {
  const std::size_t n = static_cast<std::size_t>(a.size(0)), elements = n * n;
  const Values of = values(a);
  std::size_t count = 1;
  Sizes shape;
  for (std::size_t k = 0; k < order; ++k) {
    count *= elements;
    shape.insert(shape.end(), 2, a.size(0));
  }
  Values all;
  for (std::size_t index = 0; index < count; ++index) {
    Places rows, columns;
    for (std::size_t rest = index, k = 0; k < order; ++k, rest /= elements) {
      rows.push_back(rest % elements / n);
      columns.push_back(rest % n);
    }
    std::size_t places = 0;
    for (std::size_t k = 0; k < order; ++k) places += rows[k] + columns[k];
    const int sign = sign_of(rows) * sign_of(columns) * (places % 2 == 0 ? 1 : -1);
    all.push_back(sign == 0 ? 0 : static_cast<double>(sign * minor_of(of, n, rows, columns)));
  }
  return doubles(all, shape);
}

const Function det = [](Tensor a) { return rc::det(a); };

/// The derivative by forward mode, by reverse mode, and both with a map around: [x] → [f(x), x].
const std::vector<std::pair<const char*, std::function<Function(Function)>>> modes = {
    {"forward", [](Function f) -> Function { return [f](Tensor x) { return rc::jacfwd(f)(x); }; }},
    {"reverse", [](Function f) -> Function { return [f](Tensor x) { return rc::jacrev(f)(x); }; }},
};

/// All matrices at which derivatives are tried, [3, 3].
std::vector<Tensor> matrices() {
  const Tensor u = ramp({3, 1}), one = matmul(u, mT(u) + 1), two = one + matmul(sin(u), cos(mT(u)));
  std::vector<Tensor> all = {doubles({1, 2, 3, 4, 5, 6, 7, 8, 9}, {3, 3}),
                             rc::zeros({3, 3}, rc::float64),
                             rc::eye(3, rc::float64),
                             one,
                             two,
                             doubles({0, 1, 0, 0, 0, 1, 0, 0, 0}, {3, 3}),
                             doubles({1, 2, 3, 2, 4, 6, 0, 1, 5}, {3, 3}),
                             sin(ramp({3, 3}) * 7.3) + rc::eye(3, rc::float64) * 3};
  for (const double small : {1e-6, 1e-12, 1e-15, 1e-30}) {
    all.push_back(one + rc::eye(3, rc::float64) * small);
    all.push_back(two + sin(ramp({3, 3}) * 7.3) * small);
    all.push_back(matmul(rc::eye(3, rc::float64) * doubles({1, small, small * small}), sin(ramp({3, 3}) * 5.1)));
  }
  return all;
}

TEST(DeterminantDerivatives, SecondOnesAreMinorsInAllOrdersOfModes) {
  for (const Tensor& a : matrices())
    for (const auto& [outer_name, outer] : modes)
      for (const auto& [inner_name, inner] : modes) {
        SCOPED_TRACE(std::string(outer_name) + " over " + inner_name + " at " + rc::to_string(a));
        expect_close(outer(inner(det))(a), exact(a, 2), 1e-13 * (1 + std::abs(values(rc::amax(rc::abs(a)))[0])));
      }
}

TEST(DeterminantDerivatives, SecondOnesUnderAMap) {
  const Tensor all = rc::stack(matrices());
  for (const auto& [outer_name, outer] : modes)
    for (const auto& [inner_name, inner] : modes) {
      SCOPED_TRACE(std::string(outer_name) + " over " + inner_name);
      const Tensor each = rc::vmap(outer(inner(det)))(all);
      for (std::int64_t i = 0; i < all.size(0); ++i) expect_close(each[i], exact(all[i], 2), 1e-11);
    }
}

TEST(DeterminantDerivatives, ThirdOnesAreMinors) {
  const Tensor u = ramp({4, 1}) / 2;
  const std::vector<Tensor> all = {rc::zeros({4, 4}, rc::float64), matmul(u, mT(u) + 1),
                                   matmul(u, mT(u) + 1) + matmul(sin(u * 3), cos(mT(u) * 2)),
                                   sin(ramp({4, 4}) * 7.3) + rc::eye(4, rc::float64)};
  for (const Tensor& a : all) {
    for (const auto& [first, f] : modes)
      for (const auto& [second, g] : modes)
        for (const auto& [third, h] : modes) {
          SCOPED_TRACE(std::string(first) + " over " + second + " over " + third);
          expect_close(f(g(h(det)))(a), exact(a, 3), 1e-12);
        }
  }
}

/// det(a + t b) is a polynomial in t whose highest coefficient is det b.
TEST(DeterminantDerivatives, FourthOnesAlongALine) {
  const Tensor u = ramp({4, 1}) / 2, b = sin(ramp({4, 4}) * 7.3) + rc::eye(4, rc::float64);
  for (const Tensor& a : {rc::zeros({4, 4}, rc::float64), matmul(u, mT(u) + 1), b * 2})
    for (unsigned bits = 0; bits < 16; ++bits) {
      Function g = [&](Tensor t) { return rc::det(a + b * t); };
      for (int i = 0; i < 4; ++i) g = modes[bits >> i & 1U].second(g);
      expect_close(g(number(0)), 24 * rc::det(b), 1e-12);
    }
}

TEST(DeterminantDerivatives, OfAFifthOrderAreExactForIntegers) {
  const Function f = [](Tensor t) {
    const Tensor line = rc::eye(5, rc::float64) * t + doubles({1, 1, 1, 1, 1});  // det is t⁵ + 5 t⁴
    return rc::det(line);
  };
  Function g = f;
  for (int i = 0; i < 5; ++i) {
    const Function before = g;
    g = [before](Tensor t) { return rc::grad(before)(t); };
  }
  expect_values(g(number(0)), {120});
  expect_values(g(number(2)), {120}, 1e-11);
}

TEST(DeterminantDerivatives, OfTwoByTwoMatricesAreExact) {
  const Tensor expected = doubles({0, 0, 0, 1, 0, 0, -1, 0, 0, -1, 0, 0, 1, 0, 0, 0}, {2, 2, 2, 2});
  for (const Tensor& a : {doubles({1, 2, 2, 4}, {2, 2}), rc::zeros({2, 2}, rc::float64), doubles({3, 1, 4, 1}, {2, 2})})
    for (const auto& [outer_name, outer] : modes)
      for (const auto& [inner_name, inner] : modes) expect_equal(outer(inner(det))(a), expected);
}

/// 0 at 0, and 2 (adj ⊗ adj) where the matrix has rank n - 1.
TEST(DeterminantDerivatives, OfItsSquare) {
  const Function f = [](Tensor a) { return square(rc::det(a)); };
  const Tensor counted = doubles({1, 2, 3, 4, 5, 6, 7, 8, 9}, {3, 3}), cofactors = exact(counted, 1);
  const Tensor products = cofactors.reshape({3, 3, 1, 1}) * cofactors * 2;
  for (const auto& [outer_name, outer] : modes)
    for (const auto& [inner_name, inner] : modes) {
      for (const std::int64_t n : {1, 2, 3, 4}) {
        const Tensor zero = rc::zeros({n, n}, rc::float64);
        expect_equal(outer(inner(f))(zero), n == 1 ? doubles({2}, {1, 1, 1, 1}) : rc::zeros({n, n, n, n}, rc::float64));
      }
      expect_close(outer(inner(f))(counted), products, 1e-12);
    }
}

TEST(DeterminantDerivatives, OfComplexMatrices) {
  const Tensor i(std::complex<double>(0, 1)), u = ramp({3, 1}) + sin(ramp({3, 1}) * 3) * i;
  const Tensor singular = matmul(u, mT(u) + 1), near = singular + rc::eye(3, rc::float64) * 1e-9;
  for (const Tensor& a : {singular, near, rc::zeros({3, 3}, rc::complex128)}) {
    // The derivative of det along e and f is the sum of two products of a minor: linear in what is left of a.
    const Tensor x = rc::stack({real(a), imag(a)});
    const Function re = [&](Tensor p) { return real(rc::det(p[0] + p[1] * i)); };
    const Tensor found = rc::hessian(re)(x), reverse = rc::jacrev(rc::jacrev(re))(x);
    const Tensor z = a;
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) {
        const auto minor = numbers(z[(r + 2) % 3][(c + 2) % 3])[0];  // ∂² / ∂a_rc ∂a_(r+1)(c+1), a cyclic minor
        for (const Tensor& h : {found, reverse}) {
          const Tensor block = h.select(1, r).select(1, c).select(2, (r + 1) % 3).select(2, (c + 1) % 3);
          expect_values(block, {minor.real(), -minor.imag(), -minor.imag(), -minor.real()}, 1e-12);
        }
      }
  }
}

TEST(DeterminantDerivatives, OfFloat32KeepItsDigits) {
  const Tensor a = rc::tensor({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}, {7.f, 8.f, 9.f}});
  const Tensor h = rc::hessian([](Tensor x) { return rc::det(x); })(a);
  EXPECT_EQ(h.dtype(), rc::float32);
  expect_values(h, values(exact(a.to(rc::float64), 2)), 2e-5);
}

/// The determinant is a product of pivots here, whatever their order.
TEST(DeterminantDerivatives, OfGradedMatricesKeepRelativeDigits) {
  const Tensor d = doubles({1, 1e-20, 1e5, 1e-9}), a = rc::eye(4, rc::float64) * d;
  const Tensor h = rc::hessian([](Tensor x) { return rc::det(x); })(a);
  expect_close(h[0][0][1][1] / 1e-4, number(1));
  expect_close(h[0][0][2][2] / 1e-29, number(1));
  expect_close(h[1][3][3][1] / -1e5, number(1));
}

TEST(DeterminantDerivatives, FirstOnesOfLowRankAreZero) {
  for (const std::int64_t n : {2, 3, 5}) {
    const Tensor zero = rc::zeros({n, n}, rc::float64), one = rc::ones({n, n}, rc::float64);
    expect_equal(rc::grad(det)(zero), zero);
    expect_equal(rc::grad(det)(rc::stack({zero, one})[1]), n == 2 ? doubles({1, -1, -1, 1}, {2, 2}) : zero);
  }
}

TEST(DeterminantDerivatives, OfAMatrixThatIsNotANumber) {
  const Tensor a = doubles({1, NAN, 2, 3, 4, 5, 6, 7, 8}, {3, 3});
  const Tensor h = rc::hessian([](Tensor x) { return rc::det(x); })(a);
  EXPECT_TRUE(std::isnan(values(h[1][0][2][2])[0]));
}

TEST(DeterminantDerivatives, BeyondTheEighthAreAnError) {
  Function g = [](Tensor t) { return rc::det(rc::eye(2, rc::float64) * t); };
  for (int i = 0; i < 9; ++i) {
    const Function before = g;
    g = [before](Tensor t) { return std::get<1>(rc::jvp(before, t, rc::ones_like(t))); };
  }
  try {
    g(number(1));
    ADD_FAILURE() << "no error";
  } catch (const rc::ValueError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("det: has derivatives up to order 8 only\n")) << error.what();
  }
}

}  // namespace
