// W9: one Hessian-vector product, forward over reverse, beside its own gradient: a net 784-512-512-10 on a batch of
// 128, and Rosenbrock's function of a million variables.
#include "cases.h"
#include "inputs.h"
#include "rosenbrock.h"

namespace rc = ricci;
using bench::Net;
using rc::Tensor;

namespace {

/// Mean softmax cross-entropy. x: [128, 784], y: [128, 10] one-hot.
Tensor cross_entropy_of_net(const Net& net, const Tensor& x, const Tensor& y) {
  const Tensor first = relu(matmul(x, net[0].weight.t()) + net[0].bias);
  const Tensor second = relu(matmul(first, net[1].weight.t()) + net[1].bias);
  const Tensor logits = matmul(second, net[2].weight.t()) + net[2].bias;
  return (logsumexp(logits, -1) - (logits * y).sum(-1)).mean();
}

Net net_product(const Net& net, const Net& direction, const Tensor& x, const Tensor& y) {
  const auto gradient_at = rc::grad([&](const Net& net) { return cross_entropy_of_net(net, x, y); });
  const auto [gradient, product] = rc::jvp(gradient_at, net, direction);
  return product;
}

Tensor rosenbrock_product(const Tensor& x, const Tensor& direction) {
  const auto [gradient, product] = rc::jvp(rc::grad(bench::rosenbrock), x, direction);
  return product;
}

Net large_net(std::uint32_t seed) { return bench::dense({784, 512, 512, 10}, seed); }
Tensor images() { return bench::uniform({128, 784}, 100, 0.0, 1.0); }
Tensor labels() { return bench::one_hot_labels(128, 10); }
Tensor start() { return bench::uniform({1000000}, 120, -1.5, 1.5); }

}  // namespace

std::vector<bench::Case> bench::hessian_vector() {
  return {
      make_case("W9/mlp_grad", [] { return call(rc::grad(cross_entropy_of_net), large_net(101), images(), labels()); }),
      make_case("W9/mlp_hvp", [] { return call(net_product, large_net(101), large_net(111), images(), labels()); }),
      make_case("W9/rosenbrock_1e6_grad", [] { return call(rc::grad(rosenbrock), start()); }),
      make_case("W9/rosenbrock_1e6_hvp", [] { return call(rosenbrock_product, start(), uniform({1000000}, 121)); }),
  };
}
