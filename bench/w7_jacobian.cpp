// W7: full Jacobians of tanh(W x + b) in three shapes, and of a net 64-256-256-32 at each of 32 inputs.
#include "cases.h"
#include "inputs.h"

namespace rc = ricci;
using bench::Layer;
using bench::Net;
using rc::Tensor;

namespace {

Tensor apply(const Tensor& x, const Layer& layer) { return tanh(matmul(layer.weight, x) + layer.bias); }

Tensor forward(const Tensor& x, const Net& net) {
  return matmul(net[2].weight, apply(apply(x, net[0]), net[1])) + net[2].bias;  // [32]
}

Tensor input(std::int64_t size) { return bench::uniform({size}, 80); }
Layer layer(std::int64_t in, std::int64_t out) { return bench::dense({in, out}, 81)[0]; }

}  // namespace

std::vector<bench::Case> bench::jacobians() {
  return {
      make_case("W7/16x16_jacrev", [] { return call(rc::jacrev(apply), input(16), layer(16, 16)); }),
      make_case("W7/16x16_jacfwd", [] { return call(rc::jacfwd(apply), input(16), layer(16, 16)); }),
      make_case("W7/32to2048_jacfwd", [] { return call(rc::jacfwd(apply), input(32), layer(32, 2048)); }),
      make_case("W7/2048to32_jacrev", [] { return call(rc::jacrev(apply), input(2048), layer(2048, 32)); }),
      make_case("W7/mlp_batch32_jacrev",
                [] {
                  const auto jacobians = rc::vmap(rc::jacrev(forward), {.in_dims = {0, rc::none}});  // [32, 32, 64]
                  return call(jacobians, uniform({32, 64}, 83), dense({64, 256, 256, 32}, 84));
                }),
  };
}
