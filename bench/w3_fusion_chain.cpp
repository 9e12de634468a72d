// W3: tanh(1.3 x + 0.2) exp(-x^2) + sin(x)^2, element by element: vector mathematics, fusion and bandwidth.
#include "cases.h"
#include "inputs.h"

namespace rc = ricci;
using rc::Tensor;

namespace {

Tensor chain(const Tensor& x) {
  const Tensor s = sin(x);
  return tanh(1.3 * x + 0.2) * exp(-x * x) + s * s;
}

Tensor total(const Tensor& x) { return chain(x).sum(); }

}  // namespace

std::vector<bench::Case> bench::fusion_chain() {
  std::vector<Case> cases;
  for (const std::int64_t n : {4096, 65536, 16777216}) {
    const auto x = [n] { return uniform({n}, 3, -2.0, 2.0); };
    cases.push_back(make_case("W3/fwd_" + std::to_string(n), [x] { return call(chain, x()); }));
    cases.push_back(
        make_case("W3/value_grad_" + std::to_string(n), [x] { return call(rc::value_and_grad(total), x()); }));
  }
  return cases;
}
