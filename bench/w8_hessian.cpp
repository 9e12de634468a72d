// W8: Hessians of a net 64-128-1 by its input, one and at 64 inputs, and of Rosenbrock's function: dense, and its
// three diagonals by three products.
#include "cases.h"
#include "inputs.h"
#include "rosenbrock.h"

namespace rc = ricci;
using bench::Net;
using rc::Tensor;

namespace {

Tensor net_value(const Tensor& x, const Net& net) {
  const Tensor hidden = tanh(matmul(net[0].weight, x) + net[0].bias);
  return (matmul(net[1].weight, hidden) + net[1].bias).sum();
}

Tensor inputs() { return bench::uniform({64, 64}, 90); }
Net net() { return bench::dense({64, 128, 1}, 91); }
Tensor start(std::int64_t n) { return bench::uniform({n}, 92, -1.5, 1.5); }

/// The Hessian's products with each row of seeds. [3, n]
Tensor products(const Tensor& x, const Tensor& seeds) {
  const auto product = [&x](const Tensor& seed) {
    const auto [gradient, product] = rc::jvp(rc::grad(bench::rosenbrock), x, seed);
    return product;
  };
  return rc::vmap(product)(seeds);
}

/// Row c is 1 where i mod 3 = c. [3, n]
Tensor every_third(std::int64_t n) {
  return ((rc::arange(n) % 3).unsqueeze(0) == rc::arange(3).unsqueeze(1)).to(rc::float32);
}

}  // namespace

std::vector<bench::Case> bench::hessians() {
  return {
      make_case("W8/mlp_one", [] { return call(rc::hessian(net_value), inputs()[0].clone(), net()); }),
      make_case("W8/mlp_vmap64",
                [] { return call(rc::vmap(rc::hessian(net_value), {.in_dims = {0, rc::none}}), inputs(), net()); }),
      make_case("W8/rosenbrock_100", [] { return call(rc::hessian(rosenbrock), start(100)); }),
      make_case("W8/rosenbrock_1000", [] { return call(rc::hessian(rosenbrock), start(1000)); }),
      make_case("W8/rosenbrock_1000_sparse", [] { return call(products, start(1000), every_third(1000)); }),
  };
}
