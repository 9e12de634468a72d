// fields: values of several axes, whose time is that of the memory. A regulariser of a volume reads the volume and
// writes its gradient, as a copy of the volume does. Products of a million 3 x 3 matrices move three values of a
// million matrices: so does a copy of a million and a half.
#include "cases.h"
#include "inputs.h"

namespace rc = ricci;
using rc::Tensor;

namespace {

Tensor difference(const Tensor& x, std::int64_t axis) { return x.slice(axis, 1, {}) - x.slice(axis, {}, -1); }

/// Squares of all differences of neighbours.
Tensor dirichlet(const Tensor& x) {
  return 0.5 * (difference(x, 0).square().sum() + difference(x, 1).square().sum() + difference(x, 2).square().sum());
}

/// Lengths of differences, where all three are known, rounded off at 0.
Tensor smooth_variation(const Tensor& x) {
  const Tensor a = difference(x, 0).slice(1, {}, -1).slice(2, {}, -1);
  const Tensor b = difference(x, 1).slice(0, {}, -1).slice(2, {}, -1);
  const Tensor c = difference(x, 2).slice(0, {}, -1).slice(1, {}, -1);
  return sqrt(a * a + b * b + c * c + 1e-3).sum();
}

/// One step of diffusion on a torus.
Tensor diffused(const Tensor& x) {
  const Tensor neighbours = rc::roll(x, 1, 0) + rc::roll(x, -1, 0) + rc::roll(x, 1, 1) + rc::roll(x, -1, 1);
  return x + 0.1 * (neighbours - 4 * x);
}

Tensor product(const Tensor& a, const Tensor& b) { return matmul(a, b); }
Tensor copy(const Tensor& x) { return clone(x); }

}  // namespace

std::vector<bench::Case> bench::fields() {
  std::vector<Case> cases;
  const auto add = [&](const std::string& name, auto build) { cases.push_back(make_case("fields/" + name, build)); };
  const auto volume = [] { return uniform({256, 256, 256}, 700); };
  add("copy_of_volume", [=] { return call(copy, volume()); });
  add("dirichlet_value_grad", [=] { return call(rc::value_and_grad(dirichlet), volume()); });
  add("variation_value_grad", [=] { return call(rc::value_and_grad(smooth_variation), volume()); });
  add("diffused_4096", [] { return call(diffused, uniform({4096, 4096}, 701)); });
  add("copy_of_matrices", [] { return call(copy, uniform({1'500'000, 3, 3}, 702)); });
  add("products_3x3", [] { return call(product, uniform({1'000'000, 3, 3}, 703), uniform({1'000'000, 3, 3}, 704)); });
  return cases;
}
