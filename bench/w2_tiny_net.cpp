// W2: a tanh net 4-8-8-1, one example: the price of small tensors under every transform.
#include "cases.h"
#include "inputs.h"

namespace rc = ricci;
using bench::Net;
using rc::Tensor;

namespace {

Tensor hidden(const Net& net, const Tensor& x) {
  const Tensor first = tanh(matmul(net[0].weight, x) + net[0].bias);
  return tanh(matmul(net[1].weight, first) + net[1].bias);  // [8]
}

Tensor output(const Net& net, const Tensor& x) { return (matmul(net[2].weight, hidden(net, x)) + net[2].bias).sum(); }

/// theta: the 121 weights in one vector, each layer's matrix before its bias.
Net unflatten(const Tensor& theta) {
  constexpr std::int64_t sizes[] = {4, 8, 8, 1};
  Net net;
  std::int64_t at = 0;
  for (int l = 0; l < 3; ++l) {
    const std::int64_t in = sizes[l], out = sizes[l + 1], bias = at + in * out;
    net.push_back({theta.slice(0, at, bias).view({out, in}), theta.slice(0, bias, bias + out)});
    at = bias + out;
  }
  return net;
}

Tensor hidden_of_vector(const Tensor& theta, const Tensor& x) { return hidden(unflatten(theta), x); }
Tensor output_of_vector(const Tensor& theta, const Tensor& x) { return output(unflatten(theta), x); }

Net small_net() { return bench::dense({4, 8, 8, 1}, 21); }
Tensor example() { return bench::uniform({4}, 20); }

Tensor flat_weights() {
  std::vector<Tensor> pieces;
  for (const Tensor& leaf : rc::leaves(small_net())) pieces.push_back(leaf.flatten());
  return rc::cat(pieces);
}

}  // namespace

std::vector<bench::Case> bench::tiny_net() {
  return {
      make_case("W2/grad_input", [] { return call(rc::grad<1>(output), small_net(), example()); }),
      make_case("W2/grad_weights", [] { return call(rc::grad(output), small_net(), example()); }),
      make_case("W2/jacobian_input", [] { return call(rc::jacfwd<1>(hidden), small_net(), example()); }),
      make_case("W2/jacobian_weights", [] { return call(rc::jacrev(hidden_of_vector), flat_weights(), example()); }),
      make_case("W2/hessian_input", [] { return call(rc::hessian<1>(output), small_net(), example()); }),
      make_case("W2/hessian_weights", [] { return call(rc::hessian(output_of_vector), flat_weights(), example()); }),
  };
}
