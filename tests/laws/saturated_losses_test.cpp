// Derivatives of losses where a prediction is all but certain: the probability is 1 in every type, but the slope is
// 4.2e-18 at a logit of 40, and has its digits in every order of modes.
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

double share(double x) { return 1 / (1 + std::exp(-x)); }
double bell(double x) { return share(x) * share(-x); }

/// A loss of one logit with its first two derivatives, neither of which takes 1 from a number near 1.
struct Loss {
  const char* name;
  std::function<Tensor(Tensor)> f;
  std::function<double(double)> first, second;
};

Tensor with_0(Tensor x) { return rc::stack({x, zeros_like(x)}); }
auto against(double target) {
  return [target](Tensor x) { return binary_cross_entropy_with_logits(x, full_like(x, target)); };
}
auto against_class(int right) {
  return [right](Tensor x) { return cross_entropy(with_0(x), rc::tensor(right)); };
}

const std::vector<Loss> losses{
    {"binary, the target 1", against(1), [](double x) { return -share(-x); }, bell},
    {"binary, the target 0", against(0), share, bell},
    {"binary, the target 1/4", against(0.25), [](double x) { return 0.75 * share(x) - 0.25 * share(-x); }, bell},
    {"of classes, the first is right", against_class(0), [](double x) { return -share(-x); }, bell},
    {"against probabilities",
     [](Tensor x) { return cross_entropy(with_0(x), rc::tensor({1.0, 0.0}).to(x.dtype())); },
     [](double x) { return -share(-x); },
     bell},
    {"of a logarithm of probabilities",
     [](Tensor x) { return nll_loss(log_softmax(with_0(x), 0), rc::tensor(0)); },
     [](double x) { return -share(-x); },
     bell},
    {"a greatest probability", [](Tensor x) { return softmax(with_0(x), 0)[0]; }, bell,
     [](double x) { return -bell(x) * std::tanh(x / 2); }},
    {"a least probability", [](Tensor x) { return softmax(with_0(x), 0)[1]; }, [](double x) { return -bell(x); },
     [](double x) { return bell(x) * std::tanh(x / 2); }},
    {"a logarithm of a sigmoid", [](Tensor x) { return logsigmoid(x); }, [](double x) { return share(-x); },
     [](double x) { return -bell(x); }},
    {"softplus", [](Tensor x) { return softplus(x, 1, 1000); }, share, bell},
    {"logaddexp", [](Tensor x) { return logaddexp(x, zeros_like(x)); }, share, bell},
};

template <class T>
void expect_derivatives(const Loss& loss, double number) {
  const Tensor x = rc::tensor(std::vector<T>{static_cast<T>(number)}).sum();
  SCOPED_TRACE(std::string(loss.name) + " at " + std::to_string(number));
  // A handful of roundings, each relative to a factor of the result.
  const auto expect = [](const Tensor& found, double wanted, const char* what) {
    const double epsilon = std::numeric_limits<T>::epsilon(), smallest = std::numeric_limits<T>::min();
    const double error = 16 * epsilon * std::fabs(wanted) + smallest;
    EXPECT_NEAR(found.to(rc::float64).item<double>(), wanted, error) << what;
  };
  const auto forward = [](auto g) { return [g](Tensor v) { return rc::jvp(g, v, ones_like(v)).second; }; };
  const auto& f = loss.f;
  expect(rc::grad(f)(x), loss.first(number), "the slope in reverse");
  expect(forward(f)(x), loss.first(number), "the slope forward");
  expect(rc::grad(rc::grad(f))(x), loss.second(number), "the second derivative in reverse");
  expect(forward(rc::grad(f))(x), loss.second(number), "the second derivative forward over reverse");
  expect(rc::grad(forward(f))(x), loss.second(number), "the second derivative in reverse over forward");
  expect(forward(forward(f))(x), loss.second(number), "the second derivative forward");
}

TEST(SaturatedLosses, HaveDerivativesWithAllTheirDigits) {
  for (const Loss& loss : losses)
    for (double number : {-80., -40., -10., -1., 1., 10., 40., 80.}) {
      expect_derivatives<float>(loss, number);
      expect_derivatives<double>(loss, number);
    }
}

}  // namespace
