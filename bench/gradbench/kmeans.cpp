// kmeans: Newton's step of the centroids that lower the squared distances of points to the nearest one. The Hessian is
// diagonal, so its product with ones is its diagonal.
#include "evals.h"

namespace gradbench {
namespace {

Tensor cost(const Tensor& centroids, const Tensor& points) {
  const auto nearest = [](const Tensor& centroids, const Tensor& point) {
    return square(centroids - point).sum(1).min();
  };
  return rc::vmap(nearest, {.in_dims = {rc::none, 0}})(centroids, points).sum();
}

Tensor direction(const Tensor& centroids, const Tensor& points) {
  const auto slope = [&](const Tensor& c) { return rc::grad(cost)(c, points); };
  const auto [gradient, diagonal] = rc::jvp(slope, centroids, ones_like(centroids));
  return gradient / diagonal;
}

}  // namespace

Eval kmeans() {
  const auto evaluated = [](auto f) {
    return [f](const json& input) {
      return answer(input, f, read_numbers(input.at("centroids")), read_numbers(input.at("points")));
    };
  };
  return {{"cost", evaluated(&cost)}, {"dir", evaluated(&direction)}};
}

}  // namespace gradbench
