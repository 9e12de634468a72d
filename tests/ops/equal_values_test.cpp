// Derivatives through eigh and svd where values are equal: what is right there, in which modes, and what is NaN rather
// than a finite number that would be wrong.
#include <cmath>
#include <functional>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Function = std::function<Tensor(Tensor)>;

const Tensor weight = sin(ramp({3, 3}) * 7.3);

Tensor diagonal(const std::vector<double>& values) { return rc::diag(doubles(values)); }

/// diag(values) in another orthonormal basis, where equal values come out equal but for rounding.
Tensor turned(const std::vector<double>& values) {
  const Tensor q = rc::eigh(weight + weight.mT()).second;
  return matmul(q * doubles(values), q.mT());
}

Tensor projector(const Tensor& vectors) { return matmul(vectors, vectors.mT()); }

/// By forward mode, a direction at a time.
Tensor forward_gradient(const Function& f, const Tensor& x) { return rc::jacfwd(f)(x); }

void expect_gradient(const Function& f, const Tensor& x, const Tensor& expected, double tolerance = 1e-12) {
  expect_close(rc::grad(f)(x), expected, tolerance);
  const Tensor each = rc::vmap(rc::grad(f))(rc::stack({x, x}));
  expect_close(each[0], expected, tolerance);
  expect_close(each[1], expected, tolerance);
}

bool all_finite(const Tensor& x) { return bool(rc::all(rc::isfinite(x))); }

/// For symmetric a = diag(top, rest, rest) the projector p onto the first vector changes by
/// (p da (1 - p) + (1 - p) da p) / (top - rest): Kato, "Perturbation Theory", II.2.
Tensor gradient_of_projector(const Tensor& p, double gap) {
  const Tensor others = rc::eye(3, rc::float64) - p, symmetric = (weight + weight.mT()) / 2;
  return (matmul(matmul(p, symmetric), others) + matmul(matmul(others, symmetric), p)) / gap;
}

const Function top_projector = [](Tensor a) {
  const Tensor v = rc::eigh(a).second.narrow(-1, 2, 1);
  return (projector(v) * weight).sum();
};

TEST(EqualEigenvalues, AProjectorOntoAnotherVectorIsRightInBothModes) {
  for (const Tensor& a : {diagonal({4, 1, 1}), turned({1, 1, 4})}) {
    const Tensor p = (a - rc::eye(3, rc::float64)) / 3, expected = gradient_of_projector(p, 3);
    expect_gradient(top_projector, a, expected);
    expect_close(forward_gradient(top_projector, a), expected);
  }
}

TEST(EqualEigenvalues, AVectorApartFromThemIsRightInBothModes) {
  const Tensor a = diagonal({4, 1, 1}), w = doubles({0.3, 0.7, -0.2});
  const Function f = [&](Tensor x) {
    const Tensor v = rc::eigh(x).second.select(-1, 2);
    return dot(v, w) * dot(v, doubles({1, 0, 0}));  // whatever its sign
  };
  const Tensor expected = doubles({0, 0.7 / 6, -0.2 / 6, 0.7 / 6, 0, 0, -0.2 / 6, 0, 0}, {3, 3});
  expect_gradient(f, a, expected);
  expect_close(forward_gradient(f, a), expected);
}

TEST(EqualEigenvalues, ValuesAndVectorsApartFromThemAreRightInBothModes) {
  const Function f = [](Tensor a) {  // the best approximation of rank one
    const auto [w, v] = rc::eigh(a);
    return (projector(v.narrow(-1, 2, 1)) * w[2] * weight).sum();
  };
  for (const Tensor& a : {diagonal({4, 1, 1}), turned({1, 1, 4})}) {
    const Tensor p = (a - rc::eye(3, rc::float64)) / 3;
    const Tensor expected = gradient_of_projector(p, 3) * 4 + p * (p * weight).sum();
    expect_gradient(f, a, expected);
    expect_close(forward_gradient(f, a), expected);
  }
}

/// It is 1 minus the projector onto the first vector.
TEST(EqualEigenvalues, TheProjectorOntoTheirOwnSpaceIsRightInReverse) {
  const Function f = [](Tensor a) { return (projector(rc::eigh(a).second.narrow(-1, 0, 2)) * weight).sum(); };
  for (const Tensor& a : {diagonal({4, 1, 1}), turned({1, 1, 4})}) {
    const Tensor p = (a - rc::eye(3, rc::float64)) / 3;
    expect_gradient(f, a, -gradient_of_projector(p, 3));
  }
}

/// A gap of rounding error's size is none: divided by it, a tangent would be a finite number that is wrong.
TEST(EqualEigenvalues, TheProjectorOntoTheirOwnSpaceIsNotANumberRatherThanWrongInForwardMode) {
  const Function f = [](Tensor a) { return (projector(rc::eigh(a).second.narrow(-1, 0, 2)) * weight).sum(); };
  for (const Tensor& a : {diagonal({4, 1, 1}), turned({1, 1, 4}), turned({1, 1 + 1e-15, 4})}) {
    EXPECT_FALSE(all_finite(forward_gradient(f, a)));
    EXPECT_FALSE(all_finite(rc::jacfwd(rc::grad(f))(a)));
    EXPECT_FALSE(all_finite(rc::jacrev(rc::grad(f))(a)));
  }
}

TEST(EqualEigenvalues, DirectionsThatDoNotMixThemAreRightInForwardMode) {
  const Function f = [](Tensor a) {
    const auto [w, v] = rc::eigh(a);
    return (matmul(v * w, v.mT()) * weight).sum();
  };
  const Tensor along = std::get<1>(rc::jvp(f, rc::eye(3, rc::float64), diagonal({1, 2, 3})));
  expect_close(along, (weight * diagonal({1, 2, 3})).sum());
}

/// Each is smooth, and hands back to eigh what a function hands back that is flat there: a finite gradient would be a
/// guess. A weight of ones at the identity is where a guess of 0 would be wrong and look right.
TEST(EqualEigenvalues, FunctionsOfTheMatrixAreNotANumberRatherThanWrong) {
  const auto of_matrix = [](const Function& g) -> Function {
    return [g](Tensor a) {
      const auto [w, v] = rc::eigh(a);
      return matmul(v * g(w), v.mT()).sum();
    };
  };
  const Tensor one = rc::eye(3, rc::float64);
  EXPECT_FALSE(all_finite(rc::grad(of_matrix([](Tensor w) { return w; }))(one)));
  EXPECT_FALSE(all_finite(rc::grad(of_matrix([](Tensor w) { return w; }))(one * 0)));
  EXPECT_FALSE(all_finite(rc::grad(of_matrix([](Tensor w) { return sqrt(w); }))(one)));
  EXPECT_FALSE(all_finite(rc::grad(of_matrix([](Tensor w) { return log(w); }))(one)));
  EXPECT_FALSE(all_finite(forward_gradient(of_matrix([](Tensor w) { return log(w); }), one)));
}

TEST(EqualEigenvalues, SecondDerivativesAreNotANumberRatherThanWrong) {
  const Function squares = [](Tensor a) { return rc::eigvalsh(a).square().sum(); };
  const Tensor one = rc::eye(3, rc::float64), a = diagonal({4, 1, 1});
  EXPECT_FALSE(all_finite(rc::jacfwd(rc::grad(squares))(one)));
  EXPECT_FALSE(all_finite(rc::jacrev(rc::grad(squares))(one)));
  EXPECT_FALSE(all_finite(rc::jacfwd(rc::jacfwd(squares))(one)));
  EXPECT_FALSE(all_finite(rc::jacfwd(rc::grad(top_projector))(a)));
  EXPECT_FALSE(all_finite(rc::jacrev(rc::grad(top_projector))(a)));
}

TEST(EqualEigenvalues, FirstDerivativesOfValuesAloneAreFinite) {
  const Function f = [](Tensor a) { return rc::eigvalsh(a).square().sum(); };
  expect_gradient(f, rc::eye(3, rc::float64) * 2, rc::eye(3, rc::float64) * 4);
  expect_close(forward_gradient(f, rc::eye(3, rc::float64) * 2), rc::eye(3, rc::float64) * 4);
}

// ── singular values ──

/// Of (weight · the best approximation of rank one) at diag(top, rest, rest): with w the weight and s and s' the
/// values, w_00, and for j > 0 (s² w_0j + s s' w_j0) / (s² - s'²), by Townsend's formulas for u_0, s_0 and v_0.
Tensor gradient_of_rank_one(double top, double rest) {
  const Values w = values(weight);
  Values g(9, 0);
  g[0] = w[0];
  for (std::size_t j = 1; j < 3; ++j) {
    const double scale = top / (top * top - rest * rest);
    g[j] = scale * (top * w[j] + rest * w[3 * j]);
    g[3 * j] = scale * (top * w[3 * j] + rest * w[j]);
  }
  return doubles(g, {3, 3});
}

const Function rank_one = [](Tensor a) {
  const auto [u, s, vh] = rc::svd(a);
  return (matmul(u.narrow(-1, 0, 1) * s[0], vh.narrow(-2, 0, 1)) * weight).sum();
};

/// Gaps of a large matrix are small beside the sum of its values, and still gaps.
TEST(EqualEigenvalues, ValuesOfALargeMatrixAreNotTakenForEqual) {
  rc::manual_seed(7);
  const Tensor a = rc::randn({300, 300}, rc::float32);
  const Function f = [](Tensor x) { return (rc::eigh(x + x.mT()).second.narrow(-1, 5, 1) * 2).sum(); };
  EXPECT_TRUE(all_finite(rc::grad(f)(a)));
}

TEST(EqualSingularValues, AnApproximationOfRankOneIsRightInBothModes) {
  for (const double rest : {1.0, 0.0}) {
    const Tensor a = diagonal({4, rest, rest}), expected = gradient_of_rank_one(4, rest);
    expect_gradient(rank_one, a, expected);
    expect_close(forward_gradient(rank_one, a), expected);
  }
}

TEST(EqualSingularValues, TheTopVectorsAreRightInBothModes) {
  // d(u v') = (rank one - its change of value) / s.
  const Function f = [](Tensor a) {
    const auto [u, s, vh] = rc::svd(a);
    return (matmul(u.narrow(-1, 0, 1), vh.narrow(-2, 0, 1)) * weight).sum();
  };
  for (const double rest : {1.0, 0.0}) {
    Tensor expected = gradient_of_rank_one(4, rest) / 4;
    expected[0][0] = number(0);
    expect_gradient(f, diagonal({4, rest, rest}), expected);
    expect_close(forward_gradient(f, diagonal({4, rest, rest})), expected);
  }
}

/// Not square, and of rank one: the other values are 0, twice.
TEST(EqualSingularValues, OfATallMatrixOfRankOne) {
  const Tensor a = rc::cat({diagonal({4, 0, 0}), rc::zeros({1, 3}, rc::float64)});
  const Tensor w = sin(ramp({4, 3}) * 5.1);
  const Function f = [&](Tensor x) {
    const auto [u, s, vh] = rc::svd(x);
    return (matmul(u.narrow(-1, 0, 1) * s[0], vh.narrow(-2, 0, 1)) * w).sum();
  };
  Tensor expected = rc::zeros({4, 3}, rc::float64);
  expected.narrow(0, 0, 1).copy_(w.narrow(0, 0, 1));
  expected.narrow(1, 0, 1).copy_(w.narrow(1, 0, 1));
  expect_gradient(f, a, expected);
  const Function g = [&f](Tensor x) { return f(x.mT()); };
  expect_gradient(g, a.mT().clone(), expected.mT());
}

TEST(EqualSingularValues, ThePolarFactorIsNotANumberRatherThanWrongInForwardMode) {
  const Function f = [](Tensor a) {
    const auto [u, s, vh] = rc::svd(a);
    return (matmul(u, vh) * weight).sum();
  };
  const Tensor q = rc::eigh(weight + weight.mT()).second;
  for (const double gap : {0., 1e-15}) EXPECT_FALSE(all_finite(forward_gradient(f, q * doubles({2, 2, 2 + gap}))));
}

/// For a = s q with q orthogonal, the polar factor changes by (da - q daᵀ q) / (2 s).
TEST(EqualSingularValues, ThePolarFactorIsRightInReverse) {
  const Function f = [](Tensor a) {
    const auto [u, s, vh] = rc::svd(a);
    return (matmul(u, vh) * weight).sum();
  };
  const Tensor q = rc::eigh(weight + weight.mT()).second;
  for (const Tensor& orthogonal : {rc::eye(3, rc::float64), q, matmul(q, diagonal({1, -1, 1}))})
    for (const double size : {1.0, 3.0}) {
      const Tensor expected = (weight - matmul(matmul(orthogonal, weight.mT()), orthogonal)) / (2 * size);
      expect_gradient(f, orthogonal * size, expected);
    }
}

TEST(EqualSingularValues, TheMatrixItselfIsNotANumberRatherThanWrong) {
  const Function f = [](Tensor a) {
    const auto [u, s, vh] = rc::svd(a);
    return matmul(u * s, vh).sum();
  };
  EXPECT_FALSE(all_finite(rc::grad(f)(rc::eye(3, rc::float64))));
  EXPECT_FALSE(all_finite(rc::grad(f)(rc::zeros({3, 3}, rc::float64))));
  const Function element = [](Tensor a) {  // hands back nothing to the values, but to the vectors
    const auto [u, s, vh] = rc::svd(a);
    return matmul(u * s, vh)[0][1];
  };
  EXPECT_FALSE(all_finite(rc::grad(element)(rc::eye(3, rc::float64))));
}

/// The squares of these values leave the range of float32.
TEST(GreatSingularValues, AreNotSquaredForDerivatives) {
  const Tensor a = rc::tensor({{3e25f, 1e24f}, {-2e24f, 1e25f}});
  const auto f = [](Tensor x) {
    const auto [u, s, vh] = rc::svd(x);
    return matmul(u, vh).sum();
  };
  const Tensor g = rc::grad(f)(a), small = rc::grad(f)(a.to(rc::float64) / 1e25);
  expect_values(g * 1e25, values(small), 1e-5);
}

// ── gaps that are small and no rounding errors ──

/// What does not depend on how the vectors of two close values turn, and the same by vectors apart from these.
struct Invariant {
  const char* name;
  Function f, by_others;
};

const Tensor second_weight = cos(ramp({3, 3}) * 3.1);

std::vector<Invariant> invariants() {
  const auto read = [](const Tensor& p) {
    const rc::DType dtype = p.dtype();
    return (matmul(matmul(p, second_weight.to(dtype)), p) * weight.to(dtype)).sum();
  };
  const auto of_eigh = [](std::int64_t first, std::int64_t count) {
    return [=](const Tensor& a) { return projector(rc::eigh(a + a.mT()).second.narrow(-1, first, count)); };
  };
  const auto of_u = [](std::int64_t first, std::int64_t count) {
    return [=](const Tensor& a) { return projector(std::get<0>(rc::svd(a)).narrow(-1, first, count)); };
  };
  const auto of_vh = [](std::int64_t first, std::int64_t count) {
    return [=](const Tensor& a) { return projector(std::get<2>(rc::svd(a)).narrow(-2, first, count).mT()); };
  };
  const Tensor one = rc::eye(3, rc::float64);
  return {
      {"eigh", [=](Tensor a) { return read(of_eigh(0, 2)(a)); },
       [=](Tensor a) { return read(one - of_eigh(2, 1)(a)); }},
      {"u of svd", [=](Tensor a) { return read(of_u(1, 2)(a)); }, [=](Tensor a) { return read(one - of_u(0, 1)(a)); }},
      {"vh of svd", [=](Tensor a) { return read(of_vh(1, 2)(a)); },
       [=](Tensor a) { return read(one - of_vh(0, 1)(a)); }},
  };
}

struct SecondOrder {
  const char* name;
  std::function<Tensor(Function, Tensor)> hessian;
};
const SecondOrder over_reverse[] = {
    {"forward over reverse", [](Function f, Tensor a) { return rc::jacfwd(rc::grad(f))(a); }},
    {"reverse over reverse", [](Function f, Tensor a) { return rc::jacrev(rc::grad(f))(a); }},
};
const SecondOrder over_forward[] = {
    {"forward over forward", [](Function f, Tensor a) { return rc::jacfwd(rc::jacfwd(f))(a); }},
    {"reverse over forward", [](Function f, Tensor a) { return rc::jacrev(rc::jacfwd(f))(a); }},
};

double epsilon_of(rc::DType dtype) { return dtype == rc::float32 ? 0x1p-23 : 0x1p-52; }
double greatest(const Tensor& x) { return rc::amax(abs(x)).item<double>(); }

/// The values are 1, 1 + gap and 4; gaps in units of the greatest.
TEST(CloseValues, HaveSecondDerivativesThatAreRightOrNotANumber) {
  std::vector<SecondOrder> modes(std::begin(over_reverse), std::end(over_reverse));
  modes.insert(modes.end(), std::begin(over_forward), std::end(over_forward));
  for (const rc::DType dtype : {rc::float64, rc::float32}) {
    const double bound = 4 * std::sqrt(epsilon_of(dtype));
    std::vector<double> gaps = {0.9 * bound, 1.1 * bound};
    for (int e = -17; e <= -1; ++e)
      for (const double digits : {1., 4.}) gaps.push_back(digits / 4 * std::pow(10., e));
    for (const Invariant& invariant : invariants())
      for (const double gap : gaps) {
        // The right values hardly depend on the gap.
        const Tensor a = turned({1, 1 + 4 * gap, 4}), other = turned({1, 1 + 4 * std::fmax(gap, 2.5e-4), 4});
        const Tensor hessian = rc::jacfwd(rc::grad(invariant.by_others))(other);
        const Values right = values(hessian);
        // The rounding errors that stay are ε / gap², which is 1 / 16 at the bound.
        const double tolerance = greatest(hessian) / 16;
        for (const SecondOrder& mode : modes) {
          SCOPED_TRACE(std::string(invariant.name) + ", " + mode.name + ", gap " + std::to_string(std::log10(gap)) +
                       " in " + rc::to_string(dtype));
          const Values found = values(mode.hessian(invariant.f, a.to(dtype)));
          for (std::size_t i = 0; i < found.size(); ++i)
            EXPECT_NEAR(gap > bound || std::isfinite(found[i]) ? found[i] : right[i], right[i], tolerance);
        }
      }
  }
}

/// A projector onto one vector of the pair depends on how the two turn: its second derivatives are of size 1 / gap²,
/// and lose as many digits as the values share.
TEST(CloseValues, HaveSecondDerivativesOfWhatDependsOnTheirTurn) {
  const auto read = [](const Tensor& p) { return (p * second_weight.to(p.dtype())).sum(); };
  const Function functions[] = {
      [&](Tensor a) { return read(projector(rc::eigh(a + a.mT()).second.narrow(-1, 0, 1))); },
      [&](Tensor a) {
        const auto [w, v] = rc::eigh(a + a.mT());
        return read(projector(v.narrow(-1, 0, 1)) * w[0]);
      },
      [&](Tensor a) { return read(projector(std::get<0>(rc::svd(a)).narrow(-1, 2, 1))); },
  };
  for (const Function& f : functions)
    for (const SecondOrder& mode : over_reverse)
      for (const double gap : {5e-3, 2e-3, 5e-4}) {
        SCOPED_TRACE(std::string(mode.name) + ", gap " + std::to_string(gap));
        const Tensor a = turned({1, 1 + gap, 4}).to(rc::float32);
        const Tensor right = mode.hessian(f, a.to(rc::float64)), found = mode.hessian(f, a).to(rc::float64);
        // Rounding changes the vectors by ε over the gap, in units of the greatest value.
        EXPECT_LE(greatest(found - right), 8 * epsilon_of(rc::float32) * 4 / gap * greatest(right));
      }
}

TEST(CloseValues, AreNothingToWhatReadsNeitherVector) {
  const Function f = [](Tensor a) {
    return (projector(rc::eigh(a + a.mT()).second.narrow(-1, 2, 1)) * weight.to(a.dtype())).sum();
  };
  for (const SecondOrder& mode : over_reverse)
    for (const double gap : {5e-3, 1e-4}) {
      SCOPED_TRACE(std::string(mode.name) + ", gap " + std::to_string(gap));
      const Tensor a = turned({1, 1 + gap, 4}).to(rc::float32);
      const Tensor right = mode.hessian(f, a.to(rc::float64)), found = mode.hessian(f, a).to(rc::float64);
      EXPECT_LE(greatest(found - right), 1e-2 * greatest(right));  // terms of size 1 / gap cancel
    }
}

}  // namespace
