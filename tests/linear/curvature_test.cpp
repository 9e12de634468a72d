// Products and traces are those of the whole matrices, under every transform.
#include <gtest/gtest.h>
#include <ricci/linear.h>
#include <ricci/ricci.h>

#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;
namespace operators = ricci::operators;

namespace {

Tensor point() { return doubles({0.3, -0.7, 1.1}); }
Tensor direction() { return doubles({1, 0.5, -2}); }
Tensor model(const Tensor& x) { return rc::stack({sin(x[0] * x[1]), x[1] * x[2] * x[2], exp(x[0]) + x[2]}, 0); }
Tensor loss(const Tensor& y) { return (y * y * y).sum() + y[0] * y[1]; }
Tensor both(const Tensor& x) { return loss(model(x)); }
Tensor symmetric() {
  const Tensor part = sin(square(rc::arange(36).to(rc::float64))).view({6, 6});
  return part + part.mT();
}

/// A function of x and v that gives a Tensor: its values and derivatives are those of another one.
template <class F, class G>
void expect_same(const F& found, const G& wanted) {
  const Tensor x = point(), v = direction();
  expect_close(found(x, v), wanted(x, v));
  const Tensor xs = rc::stack({x, 2 * x}, 0), vs = rc::stack({v, x}, 0);
  expect_close(rc::vmap(found)(xs, vs), rc::vmap(wanted)(xs, vs));
  expect_close(rc::jacrev(found)(x, v), rc::jacfwd(wanted)(x, v));
  expect_close(rc::compile(rc::vmap(rc::jacfwd(found)))(xs, vs), rc::vmap(rc::jacfwd(wanted))(xs, vs));
}

TEST(Curvature, ProductsAreThoseOfTheMatrices) {
  expect_same([](const Tensor& x, const Tensor& v) { return rc::hvp(both, x, v); },
              [](const Tensor& x, const Tensor& v) { return matmul(rc::hessian(both)(x), v); });
  expect_same([](const Tensor& x, const Tensor& v) { return rc::ggn_vp(model, loss, x, v); },
              [](const Tensor& x, const Tensor& v) {
                const Tensor j = rc::jacfwd(model)(x), h = rc::hessian(loss)(model(x));
                return matmul(j.mT(), matmul(h, matmul(j, v)));
              });
  expect_same([](const Tensor& x, const Tensor& v) { return rc::fisher_vp(model, x, v); },
              [](const Tensor& x, const Tensor& v) {
                const Tensor j = rc::jacfwd(model)(x);
                return matmul(j.mT(), matmul(j, v)) / 3;
              });
}

TEST(Curvature, TheLaplacianIsTheTraceOfEachHessian) {
  expect_same([](const Tensor& x, const Tensor&) { return rc::laplacian(both, x); },
              [](const Tensor& x, const Tensor&) { return rc::hessian(both)(x).diagonal().sum(); });
  expect_same([](const Tensor& x, const Tensor&) { return rc::laplacian(model, x); },
              [](const Tensor& x, const Tensor&) { return rc::hessian(model)(x).diagonal(0, 1, 2).sum(1); });
}

struct Wave {
  Tensor place, time;
};
TEST(Curvature, OfTrees) {
  const auto f = [](const Wave& w) { return (w.place * w.place * w.time).sum() + w.time * w.time; };
  const Wave at{doubles({1, 2}), number(3)};
  expect_close(rc::laplacian(f, at), number(14));
  const Wave product = rc::hvp(f, at, at);
  expect_close(product.place, doubles({12, 24}));
  expect_close(product.time, number(16));
}

TEST(Hutchinson, IsExactForDiagonalsAndNearForOthers) {
  const rc::Key key(3);
  const rc::LinearOperator diagonal = operators::Diagonal{point()};
  expect_close(rc::hutchinson(diagonal, key).value, point().sum());
  expect_close(rc::hutchinson_diagonal(diagonal, key).value, point());
  const Tensor a = symmetric();
  const auto [trace, error] = rc::hutchinson(operators::Matrix{a}, key, {.samples = 4000});
  const double off = (trace - a.diagonal().sum()).item<double>(), spread = error.item<double>();
  EXPECT_LT(std::abs(off), 4 * spread);
  const Tensor beside = a - rc::diag(a.diagonal());  // the variance of a sample is twice its squares
  EXPECT_NEAR(spread, std::sqrt(2 * (beside * beside).sum().item<double>() / 4000), 0.1 * spread);
}

TEST(Hutchinson, OfKeysOfExamplesGivesEachItsOwn) {
  const auto trace = [](const rc::Key& key, const Tensor& a) {
    return rc::hutchinson(operators::Matrix{a}, key).value;
  };
  const rc::Key keys = rc::split(rc::Key(1), 3);
  const Tensor a = symmetric(), found = rc::vmap(trace, {.in_dims = {0, rc::none}})(keys, a);
  for (std::int64_t i = 0; i < 3; ++i) expect_close(found[i], trace(rc::Key(keys.data[i]), a));
  expect_close(rc::compile(trace)(rc::Key(1), a), trace(rc::Key(1), a));
  // The estimate is linear in a: its gradient is the mean of v vᵀ.
  const Tensor gradient = rc::grad([&](const Tensor& a) { return trace(rc::Key(1), a); })(a);
  expect_close((gradient * a).sum(), trace(rc::Key(1), a));
}

TEST(Lanczos, IsTheOperatorInAnOrthonormalBasis) {
  const Tensor a = symmetric(), start = rc::cos(rc::arange(6).to(rc::float64));
  const auto whole = rc::lanczos(operators::Matrix{a}, start, 6);
  const Tensor basis = whole.vectors;
  const Tensor small = operators::as_matrix(operators::Tridiagonal{whole.beside, whole.diagonal, whole.beside});
  expect_close(matmul(basis, basis.mT()), rc::eye(6, rc::float64), 1e-12);
  expect_close(matmul(basis, matmul(a, basis.mT())), small, 1e-12);
  expect_close(rc::eigvalsh(small), rc::eigvalsh(a), 1e-12);
  const auto greatest = [&](const Tensor& a) {
    const auto [diagonal, beside, vectors] = rc::lanczos(operators::Matrix{0.5 * (a + a.mT())}, start, 6);
    return rc::eigvalsh(operators::as_matrix(operators::Tridiagonal{beside, diagonal, beside}))[5];
  };
  const auto wanted = [](const Tensor& a) { return rc::eigvalsh(a)[5]; };
  expect_close(rc::grad(greatest)(a), rc::grad(wanted)(a), 1e-9);
  expect_close(rc::vmap(greatest)(rc::stack({a, -a}, 0)), rc::vmap(wanted)(rc::stack({a, -a}, 0)), 1e-12);
  expect_close(rc::compile(greatest)(a), wanted(a), 1e-12);
}

TEST(Lanczos, OfAHermitianOperatorIsReal) {
  const Tensor a = symmetric(), upper = rc::triu(a, 1);
  const Tensor hermitian = complex(a, upper - upper.mT()), start = complex(a[0], a[1]);
  const auto [diagonal, beside, vectors] = rc::lanczos(operators::Matrix{hermitian}, start, 6);
  const Tensor small = operators::as_matrix(operators::Tridiagonal{beside, diagonal, beside});
  EXPECT_EQ(diagonal.dtype(), rc::float64);
  expect_close(matmul(conj(vectors), vectors.mT()), complex(rc::eye(6, rc::float64), 0 * a), 1e-12);
  expect_close(rc::eigvalsh(small), rc::eigvalsh(hermitian), 1e-12);
}

TEST(Lanczos, PromotesTheStart) {
  const operators::Diagonal a{doubles({1, 2, 4})};
  const Tensor wanted = rc::lanczos(a, doubles({1, 2, 3}), 3).diagonal;
  expect_close(rc::lanczos(a, doubles({1, 2, 3}).to(rc::float32), 3).diagonal, wanted);
  expect_close(rc::lanczos(a, rc::arange(1, 4), 3).diagonal, wanted);
  const auto twice = [](const Tensor& x) { return 2 * x; };
  expect_close(rc::lanczos(twice, rc::arange(1, 4), 2).diagonal, rc::tensor({2.0F, 0.0F}));
  const auto found =
      rc::lanczos(operators::Diagonal{rc::tensor({2.0F, 2.0F, 5.0F}).to(rc::bfloat16)}, rc::ones({3}), 3);
  EXPECT_LT(abs(found.beside[1]).item<double>(), 1e-5);
  const Tensor half = rc::ones({8}).to(rc::bfloat16);  // two eigenvalues: two dimensions
  const auto two = rc::lanczos([](const Tensor& x) { return where(rc::arange(8) < 3, x, 2 * x); }, half, 4);
  expect_values(two.beside.slice(0, 1, 3), {0, 0});
}

TEST(Hutchinson, OfComplexOperatorsHasARealError) {
  const Tensor a = symmetric();
  const auto real_part = rc::hutchinson(operators::Matrix{a}, rc::Key(2));
  const auto whole = rc::hutchinson(operators::Matrix{complex(0.6 * a, 0.8 * a)}, rc::Key(2));
  expect_close(whole.standard_error, real_part.standard_error);
}

TEST(Hutchinson, FindsTheDiagonalOfADenseOperator) {
  const Tensor a = symmetric();
  const auto [diagonal, error] = rc::hutchinson_diagonal(operators::Matrix{a}, rc::Key(3), {.samples = 4000});
  EXPECT_LT((abs(diagonal - a.diagonal()) / error).max().item<double>(), 4);
  // Of each element, the variance of a sample is the sum of squares of the row beside the diagonal.
  const Tensor beside = a - rc::diag(a.diagonal());
  expect_close(error, sqrt(square(beside).sum(1) / 4000), 0.1);
}

TEST(Lanczos, EndsWhereTheProductsSpanNoMore) {
  const auto found = rc::lanczos(operators::Diagonal{doubles({2, 2, 5})}, doubles({1, 1, 1}), 3);
  expect_close(found.beside[1], number(0), 1e-12);
  expect_close(found.vectors[2], doubles({0, 0, 0}), 1e-12);
}

TEST(Curvature, ErrorsSayWhatToDo) {
  const auto f = [](const Tensor& x) { return x; };
  expect_error<rc::ValueError>(
      [&] { rc::hutchinson(f, rc::Key(0)); },
      "hutchinson: the function's argument is not known; set the operator's argument, a shape and dtype");
  expect_error<rc::ValueError>([&] { rc::lanczos(f, point(), 0); }, "lanczos: k is 0; it must be positive");
}

}  // namespace
