// Every random operation as a function of one example, so that each can be tried under every mode and nesting.
// Knows nothing of modes.
#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "support/expect_tensor.h"

namespace testing_support {

namespace rc = ricci;

/// What of an example an operation reads: nothing but its shape, or its values as parameters.
enum class Reads { shape, parameters };

struct Category {
  std::string name;
  Reads reads;
  std::function<Tensor(Tensor x)> draw;  // x: float64 [n, m], values in (0, 1)
  bool differentiable = false;           // by x
};
inline std::ostream& operator<<(std::ostream& out, const Category& c) { return out << c.name; }

inline std::vector<Category> all_categories() {
  using rc::float64;
  const Reads shape = Reads::shape, parameters = Reads::parameters;
  return {
      {"rand", shape, [](Tensor x) { return rc::rand(x.shape(), float64); }},
      {"randn", shape, [](Tensor x) { return rc::randn(x.shape(), float64); }},
      {"randn_complex", shape, [](Tensor x) { return rc::view_as_real(rc::randn(x.shape(), rc::complex128)); }},
      {"randint", shape, [](Tensor x) { return rc::randint(0, 1000000, x.shape()); }},
      {"randperm", shape, [](Tensor x) { return rc::randperm(20 * x.size(0)); }},
      {"normal_of_numbers", shape, [](Tensor x) { return rc::normal(1., 2., x.shape(), {.dtype = float64}); }},
      {"rand_like", shape, [](Tensor x) { return rc::rand_like(x); }},
      {"randn_like", shape, [](Tensor x) { return rc::randn_like(x); }},
      {"randint_like", shape, [](Tensor x) { return rc::randint_like(x, 1000000); }},
      {"normal_", shape, [](Tensor x) { return x.clone().normal_(); }},
      {"uniform_", shape, [](Tensor x) { return x.clone().uniform_(-1, 1); }},
      {"bernoulli_", shape, [](Tensor) { return rc::zeros({60}).bernoulli_(); }},
      {"exponential_", shape, [](Tensor x) { return x.clone().exponential_(); }},
      {"cauchy_", shape, [](Tensor x) { return x.clone().cauchy_(); }},
      {"geometric_", shape, [](Tensor) { return rc::zeros({60}).geometric_(0.3); }},
      {"log_normal_", shape, [](Tensor x) { return x.clone().log_normal_(0, 1); }},
      {"random_", shape, [](Tensor x) { return x.clone().random_(0, 1000000); }},
      {"normal", parameters, [](Tensor x) { return rc::normal(x, x); }, true},
      {"uniform", parameters, [](Tensor x) { return rc::uniform(x, x + 1); }, true},
      {"log_normal", parameters, [](Tensor x) { return rc::log_normal(x, x); }, true},
      {"exponential", parameters, [](Tensor x) { return rc::exponential(x); }, true},
      {"cauchy", parameters, [](Tensor x) { return rc::cauchy(x, x); }, true},
      {"laplace", parameters, [](Tensor x) { return rc::laplace(x, x); }, true},
      {"gumbel", parameters, [](Tensor x) { return rc::gumbel(x, x); }, true},
      {"truncated_normal", parameters, [](Tensor x) { return rc::truncated_normal(x, x, 0, 1); }, true},
      {"gamma", parameters, [](Tensor x) { return rc::gamma(x, x); }, true},
      {"beta", parameters, [](Tensor x) { return rc::beta(x, x + 1); }, true},
      {"dirichlet", parameters, [](Tensor x) { return rc::dirichlet(x); }, true},
      {"bernoulli", parameters, [](Tensor x) { return rc::bernoulli(x.expand({20, x.size(0), x.size(1)})); }},
      {"geometric", parameters, [](Tensor x) { return rc::geometric(x / 4); }},
      {"poisson", parameters, [](Tensor x) { return rc::poisson(30 * x); }},
      {"binomial", parameters, [](Tensor x) { return rc::binomial(200, x); }},
      {"multinomial", parameters, [](Tensor x) { return rc::multinomial(x, 40, true); }},
      {"multinomial_without_replacement", parameters,
       [](Tensor x) { return rc::multinomial(x.flatten().expand({12, x.numel()}), 3); }},
      {"dropout", shape, [](Tensor) { return rc::dropout(rc::ones({60}), 0.4); }},
      {"alpha_dropout", shape, [](Tensor) { return rc::alpha_dropout(rc::ones({60}), 0.4, true); }},
      {"feature_dropout", shape, [](Tensor) { return rc::feature_dropout(rc::ones({10, 6, 2}), 0.4, true); }},
      {"gumbel_softmax", parameters, [](Tensor x) { return rc::gumbel_softmax(x); }, true},
      {"feature_alpha_dropout", shape,
       [](Tensor) { return rc::feature_alpha_dropout(rc::ones({10, 6, 2}), 0.4, true); }},
  };
}

/// `examples` of [2, 3] in (0, 1), none equal.
inline Tensor unequal_examples(const std::vector<std::int64_t>& leading) {
  Sizes sizes = leading;
  sizes.push_back(2);
  sizes.push_back(3);
  const Tensor x = ramp(sizes);
  return x / (x.max() + 0.1);
}
/// The same example everywhere.
inline Tensor equal_examples(const std::vector<std::int64_t>& leading) {
  Sizes sizes = leading;
  sizes.push_back(2);
  sizes.push_back(3);
  return unequal_examples({}).expand(rc::Shape(sizes)).clone();
}

}  // namespace testing_support
