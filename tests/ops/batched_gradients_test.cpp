// First and second derivatives of functions of an operation, mapped over cotangents and over examples, against a plain
// loop: what a batched backward pass gives.
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

struct Named {
  std::string name;
  std::function<Tensor(Tensor)> f;  // of float64 [3, 3], positive, no two elements equal
};
std::ostream& operator<<(std::ostream& out, const Named& named) { return out << named.name; }

const Tensor other = ramp({3, 3}) * 0.7 + 0.1, third = cos(ramp({3, 3}));

std::vector<Named> all_functions() {
  return {
      {"add", [](Tensor x) { return (x + other) * x; }},
      {"sub", [](Tensor x) { return (x - other) * x; }},
      {"mul", [](Tensor x) { return x * other * x; }},
      {"div", [](Tensor x) { return other / x; }},
      {"binary_cross_entropy", [](Tensor x) { return rc::binary_cross_entropy(x / 4, sigmoid(other)); }},
      {"log_softmax", [](Tensor x) { return log_softmax(x, 1); }},
      {"expand", [](Tensor x) { return x.unsqueeze(0).expand({2, 3, 3}).square(); }},
      {"index", [](Tensor x) { return square(Tensor(x.index({rc::tensor({0, 2, 0}), 1}))); }},
      {"lgamma", [](Tensor x) { return lgamma(x); }},
      {"log", [](Tensor x) { return log(x); }},
      {"logsumexp", [](Tensor x) { return logsumexp(x, 0); }},
      {"log1p", [](Tensor x) { return log1p(x); }},
      {"max", [](Tensor x) { return square(rc::max(x, 1).first) + rc::max(x); }},
      {"median", [](Tensor x) { return square(rc::median(x, 0).first); }},
      {"min", [](Tensor x) { return square(rc::min(x, 1).first) + rc::min(x); }},
      {"permute", [](Tensor x) { return x.permute({1, 0}) * x; }},
      {"reshape", [](Tensor x) { return x.reshape({9}).square(); }},
      {"sigmoid", [](Tensor x) { return sigmoid(x); }},
      {"stack", [](Tensor x) { return rc::stack({x, x * x}) * x; }},
      {"select", [](Tensor x) { return x.select(1, 2).square(); }},
      {"slice", [](Tensor x) { return x.slice(0, 1, 3, 1).square(); }},
      {"trace", [](Tensor x) { return trace(x * x); }},
      {"threshold", [](Tensor x) { return rc::threshold(x * x, 1, 0.5) * x; }},
      {"where", [](Tensor x) { return rc::where(x > other, x * x, sin(x)); }},
      {"diagonal", [](Tensor x) { return x.diagonal().square(); }},
      {"scaled_dot_product_attention",
       [](Tensor x) { return rc::scaled_dot_product_attention(x, x * 2, sin(x), {.is_causal = true}); }},
  };
}

class BatchedGradients : public testing::TestWithParam<Named> {
 protected:
  static Tensor apply(const Tensor& x) { return GetParam().f(x); }
  /// A number whose gradient reads all of f's.
  static Tensor loss(const Tensor& x) { return (GetParam().f(x).square() + GetParam().f(x)).sum(); }
};

Tensor pulled(const std::function<Tensor(Tensor)>& f, const Tensor& x, const Tensor& ct) {
  const auto [y, pullback] = rc::vjp(f, x);
  return pullback(ct);
}

/// For each cotangent at one point, and for each pair of a point and a cotangent.
void expect_loops(const std::function<Tensor(Tensor)>& f, const Tensor& xs) {
  std::vector<Tensor> cts, of_cotangents, of_examples;
  for (std::int64_t k = 0; k < xs.size(0); ++k) {
    cts.push_back(cos(ramp(sizes(f(xs[0]))) + static_cast<double>(k)));
    of_cotangents.push_back(pulled(f, xs[0], cts.back()));
    of_examples.push_back(pulled(f, xs[k], cts.back()));
  }
  const auto [y, pullback] = rc::vjp(f, xs[0]);
  expect_close(rc::vmap(pullback)(rc::stack(cts)), rc::stack(of_cotangents), 1e-10);
  const auto both = [&](Tensor x, Tensor ct) { return pulled(f, x, ct); };
  expect_close(rc::vmap(both)(xs, rc::stack(cts)), rc::stack(of_examples), 1e-10);
}

TEST_P(BatchedGradients, OfBothOrdersAreThoseOfEachExample) {
  const Tensor xs = ramp({3, 3, 3}) * 0.5 + 0.05 * third;
  expect_loops(apply, xs);
  expect_loops([](Tensor x) { return rc::grad(loss)(x); }, xs);
}

INSTANTIATE_TEST_SUITE_P(, BatchedGradients, testing::ValuesIn(all_functions()),
                         [](const auto& info) { return info.param.name; });

// ── extreme values ──

constexpr double extreme[] = {-1000, 0, 1000};

Tensor extremes() { return doubles({extreme[0], extreme[1], extreme[2]}); }

TEST(ExtremeLosses, HaveTheJacobiansOfTheirFormulas) {
  const Tensor target = doubles({0, 1, 1000});
  const auto none = rc::Reduction::none;
  const auto l1 = [&](Tensor x) { return rc::l1_loss(x, target, none); };
  const auto mse = [&](Tensor x) { return rc::mse_loss(x, target, none); };
  const auto nll = [](Tensor x) { return rc::nll_loss(x.unsqueeze(0), rc::tensor({2}), none); };
  expect_values(rc::jacrev(l1)(extremes()).diagonal(), {-1, -1, 0});
  expect_values(rc::jacrev(mse)(extremes()).diagonal(), {-2000, -2, 0});
  expect_values(rc::jacrev(nll)(extremes()), {0, 0, -1});
  for (const std::function<Tensor(Tensor)>& f : {std::function<Tensor(Tensor)>(l1), {mse}, {nll}}) {
    expect_close(rc::jacfwd(f)(extremes()), rc::jacrev(f)(extremes()));
    EXPECT_TRUE(bool(isfinite(rc::hessian(f)(extremes())).all()));
  }
}

TEST(ExtremeLosses, OfSoftmaxStayFinite) {
  const auto soft = [](Tensor x) { return softmax(x, 0); };
  const auto log_soft = [](Tensor x) { return log_softmax(x, 0); };
  expect_values(rc::jacrev(soft)(extremes()), Values(9, 0));
  expect_values(rc::jacrev(log_soft)(extremes()), {1, 0, -1, 0, 1, -1, 0, 0, 0});
  for (const std::function<Tensor(Tensor)>& f : {std::function<Tensor(Tensor)>(soft), {log_soft}}) {
    expect_close(rc::jacfwd(f)(extremes()), rc::jacrev(f)(extremes()));
    EXPECT_TRUE(bool(isfinite(rc::hessian(f)(extremes())).all()));
  }
}

TEST(ExtremeLosses, OfLayerNormStayFinite) {
  const auto f = [](Tensor x) { return rc::layer_norm(x, {3}); };
  expect_values(f(extremes()), {-std::sqrt(1.5), 0, std::sqrt(1.5)}, 1e-9);
  // The Jacobian (1 - 1/n - y yᵀ / n) / σ, with σ² = 2e6 / 3.
  const double sigma = std::sqrt(2e6 / 3);
  Values expected;
  for (double a : {-1, 0, 1})
    for (double b : {-1, 0, 1}) expected.push_back(((a == b) - 1.0 / 3 - a * b * 1.5 / 3) / sigma);
  expect_values(rc::jacrev(f)(extremes()), expected, 1e-9);
  expect_values(rc::jacfwd(f)(extremes()), expected, 1e-9);
}

}  // namespace
