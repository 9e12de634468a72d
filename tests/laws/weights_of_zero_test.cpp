// What has the weight 0 takes no part in a loss, an entropy or a divergence, even where it is infinite: values are
// those of the rest, and no derivative is NaN, in any mode.
#include <ricci/distributions.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// A function of two vectors, one of which is infinite somewhere, and its value.
struct Weighing {
  std::string name;
  std::function<Tensor(Tensor, Tensor)> f;
  std::vector<double> x, weights;
  double value;
};

std::vector<Weighing> weighings() {
  using rc::Reduction;
  std::vector<Weighing> all;
  const double l = std::log(0.5);
  const auto add = [&](const std::string& name, const std::function<Tensor(Tensor, Tensor)>& f,
                       const std::vector<double>& x, const std::vector<double>& weights,
                       double value) { all.push_back({name, f, x, weights, value}); };
  for (const double far : {-inf, inf}) {
    const auto kl = [](Tensor x, Tensor w) { return kl_div(x, w, rc::KlDivOptions{.reduction = Reduction::sum}); };
    add("kl_div", kl, {far, -1}, {0, 1}, 1);
    const auto kl_of_logs = [](Tensor x, Tensor w) {
      return kl_div(x, w, rc::KlDivOptions{.reduction = Reduction::sum, .log_target = true});
    };
    add("kl_div of logarithms", kl_of_logs, {far, -1}, {-inf, 0}, 1);
    add("kl_div of a logarithm that underflows", kl_of_logs, {far, -1}, {-1000, 0}, 1);
    if (far < 0) {
      add(
          "nll_loss",
          [](Tensor x, Tensor w) {
            return nll_loss(rc::stack({x, x}), rc::tensor({0, 1}), {.weight = w, .reduction = Reduction::sum});
          },
          {0, far}, {1, 0}, 0);
      add("cross_entropy", [](Tensor x, Tensor w) { return cross_entropy(x, w); }, {0, far}, {1, 0}, 0);
      add(
          "cross_entropy of weighted classes",
          [](Tensor x, Tensor w) { return cross_entropy(x, rc::tensor({0.5, 0.5}).to(x.dtype()), {.weight = w}); },
          {0, far}, {1, 0}, 0);
      add(
          "cross_entropy of a class of weight 0",
          [](Tensor x, Tensor w) {
            return cross_entropy(rc::stack({x, x}), rc::tensor({0, 1}), {.weight = w, .reduction = Reduction::sum});
          },
          {0, far}, {1, 0}, 0);
      add(
          "cross_entropy that is smoothed",
          [](Tensor x, Tensor w) {
            return cross_entropy(x, rc::tensor(0), {.weight = w, .reduction = Reduction::sum, .label_smoothing = 0.1});
          },
          {0, far}, {1, 0}, 0);
      add(
          "poisson_nll_loss of a logarithm",
          [](Tensor x, Tensor w) { return poisson_nll_loss(x, w, {.reduction = Reduction::sum}); }, {far, 0}, {0, 1},
          1);
    }
    const auto logits = [](Tensor x, Tensor w) { return binary_cross_entropy_with_logits(x, w, Reduction::sum); };
    add("binary_cross_entropy_with_logits", logits, {far, 0}, {far < 0 ? 0. : 1., 1}, -l);
    const auto logits_and_positives = [](double positive) {
      return [positive](Tensor x, Tensor w) {
        return binary_cross_entropy_with_logits(
            x, w,
            rc::LogitsLossOptions{.reduction = Reduction::sum,
                                  .pos_weight = rc::tensor({positive, positive}).to(x.dtype())});
      };
    };
    add("binary_cross_entropy_with_logits and more positives", logits_and_positives(3), {far, 0},
        {far < 0 ? 0. : 1., 1}, -3 * l);
    if (far < 0)
      add("binary_cross_entropy_with_logits without positives", logits_and_positives(0), {far, 0}, {1, 1}, 0);
    add(
        "weighted binary_cross_entropy_with_logits",
        [](Tensor x, Tensor w) {
          return binary_cross_entropy_with_logits(x, ones_like(x) * 0.5, {.weight = w, .reduction = Reduction::sum});
        },
        {far, 0}, {0, 2}, -2 * l);
    add(
        "weighted huber_loss",
        [](Tensor x, Tensor w) { return huber_loss(x, zeros_like(x), {.reduction = Reduction::sum, .weight = w}); },
        {far, 2}, {0, 2}, 3);

    namespace d = rc::distributions;
    const auto bernoulli = [](const Tensor& x) { return d::Bernoulli{.logits = x}; };
    add(
        "Bernoulli.log_prob of logits", [=](Tensor x, Tensor w) { return sum(bernoulli(x).log_prob(w)); }, {far, 0},
        {far < 0 ? 0. : 1., 1}, l);
    add(
        "Bernoulli.entropy of logits", [=](Tensor x, Tensor w) { return sum(bernoulli(x).entropy()) + 0 * sum(w); },
        {far, 0}, {1, 1}, -l);
    add(
        "Bernoulli's divergence of logits",
        [=](Tensor x, Tensor w) { return sum(kl_divergence(bernoulli(x), bernoulli(w))); }, {far, 0}, {far, 0}, 0);
    add(
        "Binomial.log_prob of logits",
        [=](Tensor x, Tensor w) { return sum(d::Binomial{.total_count = 1, .logits = x}.log_prob(w)); }, {far, 0},
        {far < 0 ? 0. : 1., 1}, l);
  }
  namespace d = rc::distributions;
  add(
      "Categorical.entropy", [](Tensor x, Tensor w) { return d::Categorical{.probs = x}.entropy() + 0 * sum(w); },
      {0, 1, 1}, {1}, -l);
  add(
      "Categorical.entropy of logits",
      [](Tensor x, Tensor w) { return d::Categorical{.logits = x}.entropy() + 0 * sum(w); }, {-inf, 1, 1}, {1}, -l);
  add(
      "Categorical's divergence",
      [](Tensor x, Tensor w) { return kl_divergence(d::Categorical{.probs = x}, d::Categorical{.probs = w}); },
      {0, 1, 1}, {0, 2, 2}, 0);
  add(
      "Categorical's divergence of logits",
      [](Tensor x, Tensor w) { return kl_divergence(d::Categorical{.logits = x}, d::Categorical{.logits = w}); },
      {-inf, 1, 1}, {-inf, 2, 2}, 0);
  for (const double p : {0., 1.})
    add(
        "Binomial.entropy",
        [](Tensor x, Tensor w) {
          return sum(d::Binomial{.total_count = rc::tensor({3, 1}), .probs = x}.entropy()) + 0 * sum(w);
        },
        {p, 0.5}, {1}, -l);
  for (const double far : {-inf, inf})
    add(
        "Binomial.entropy of logits",
        [](Tensor x, Tensor w) {
          return sum(d::Binomial{.total_count = rc::tensor({3, 1}), .logits = x}.entropy()) + 0 * sum(w);
        },
        {far, 0}, {1}, -l);
  add(
      "Multinomial.entropy",
      [](Tensor x, Tensor w) { return d::Multinomial{.total_count = 1, .probs = x}.entropy() + 0 * sum(w); }, {0, 1, 1},
      {1}, -l);
  add(
      "Multinomial.log_prob",
      [](Tensor x, Tensor w) { return d::Multinomial{.total_count = 2, .probs = x}.log_prob(w); }, {0, 1, 1}, {0, 2, 0},
      2 * l);
  add("Poisson.log_prob", [](Tensor x, Tensor w) { return sum(d::Poisson{x}.log_prob(w)); }, {0, 1}, {0, 1}, -1);
  add(
      "Poisson's divergence", [](Tensor x, Tensor w) { return sum(kl_divergence(d::Poisson{x}, d::Poisson{w})); },
      {0, 1}, {0, 1}, 0);
  add(
      "poisson_nll_loss",
      [](Tensor x, Tensor w) {
        return poisson_nll_loss(x, w, {.log_input = false, .eps = 0, .reduction = Reduction::sum});
      },
      {0, 1}, {0, 1}, 1);
  add("entr", [](Tensor x, Tensor w) { return sum(entr(x)) + 0 * sum(w); }, {0, 0.5}, {1}, -0.5 * l);
  add("xlogy", [](Tensor x, Tensor w) { return sum(xlogy(w, x)); }, {0, 0.5}, {0, 1}, l);
  add("xlog1py", [](Tensor x, Tensor w) { return sum(xlog1py(w, x)); }, {-1, -0.5}, {0, 1}, l);
  return all;
}

void expect_no_nan(const Tensor& x, const char* what) {
  for (double v : values(x)) EXPECT_FALSE(std::isnan(v)) << what;
}

void expect_rest_alone(const Weighing& one, rc::DType dtype) {
  const Tensor x = rc::tensor(one.x).to(dtype), w = rc::tensor(one.weights).to(dtype);
  const auto expect_value = [&](const Tensor& found) {
    EXPECT_NEAR(values(found.reshape({1}))[0], one.value, tolerance_of(dtype));
  };
  SCOPED_TRACE(one.name + " of " + std::to_string(one.x[0]) + " in " + rc::to_string(dtype));
  expect_value(one.f(x, w));
  expect_value(rc::vmap(one.f)(unsqueeze(x, 0), unsqueeze(w, 0)));
  expect_value(rc::compile(one.f)(x, w));
  const auto [by_x, by_w] = rc::grad<0, 1>(one.f)(x, w);
  expect_no_nan(by_x, "the gradient");
  expect_no_nan(by_w, "the gradient by the weights");
  for (std::size_t i = 0; i < one.x.size(); ++i)
    EXPECT_TRUE(std::isfinite(one.x[i]) || values(by_x)[i] == 0) << "the slope at infinity";
  expect_no_nan(rc::jvp(one.f, std::tuple{x, w}, std::tuple{ones_like(x), ones_like(w)}).second, "the tangent");
  const auto slope = [&](Tensor v) { return sum(rc::grad(one.f)(v, w)); };
  expect_no_nan(rc::grad(slope)(x), "the second derivative");
}

TEST(WeightsOfZero, LeaveWhatIsInfiniteOut) {
  for (const Weighing& one : weighings())
    for (const rc::DType dtype : {rc::float32, rc::float64}) expect_rest_alone(one, dtype);
}

TEST(WeightsOfZero, KeepNan) {
  const Tensor x = rc::tensor({std::nan(""), -1.}), w = rc::tensor({0., 1.});
  EXPECT_TRUE(std::isnan(values(kl_div(x, w))[0]));
  EXPECT_TRUE(std::isnan(values(cross_entropy(x, w))[0]));
}

}  // namespace
