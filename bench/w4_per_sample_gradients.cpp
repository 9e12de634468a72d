// W4: per-sample gradients of a classifier 784-256-10, batch 256, and the clipped mean that DP-SGD makes of them,
// written as three users would write it.
#include "cases.h"
#include "inputs.h"
#include "w4_classifier.h"

namespace rc = ricci;
using bench::Net;
using rc::Tensor;
using namespace bench::classifier;

namespace {

Net per_sample(const Net& net, const Tensor& x, const Tensor& y) {
  return rc::vmap(rc::grad(loss), {.in_dims = {rc::none, 0, 0}})(net, x, y);
}

/// All gradients, their norms, a weighted sum.
Net dp_clip(const Net& net, const Tensor& x, const Tensor& y) {
  const Net gradients = per_sample(net, x, y);
  Tensor squares = 0.0;  // [256]
  for (const Tensor& g : rc::leaves(gradients)) {
    const Tensor rows = g.reshape({256, -1});
    squares = squares + (rows * rows).sum(1);
  }
  const Tensor scale = clip_scale(squares) / 256.0;
  return rc::map_leaves([&scale](const Tensor& g) { return tensordot(scale, g, 1); }, gradients);
}

/// Clips inside the per-sample function, then averages.
Net dp_clip_inside(const Net& net, const Tensor& x, const Tensor& y) {
  const Net clipped = rc::vmap(clipped_gradient, {.in_dims = {rc::none, 0, 0}})(net, x, y);
  return rc::map_leaves([](const Tensor& g) { return g.mean(0); }, clipped);
}

Tensor square_norm_of_gradient(const Net& net, const Tensor& x, const Tensor& y) {
  return square_norm(rc::grad(loss)(net, x, y));
}

/// Norms first, then the gradient of the weighted loss: no sample's gradient need be stored.
Net dp_clip_twopass(const Net& net, const Tensor& x, const Tensor& y) {
  const Tensor squares = rc::vmap(square_norm_of_gradient, {.in_dims = {rc::none, 0, 0}})(net, x, y);
  const Tensor scale = clip_scale(squares) / 256.0;
  const auto weighted_loss = [&](const Net& net) {
    return (scale * rc::vmap(loss, {.in_dims = {rc::none, 0, 0}})(net, x, y)).sum();
  };
  return rc::grad(weighted_loss)(net);
}

/// A step of `f` on the classifier and its batch.
template <class F>
auto on_batch(F f) {
  return bench::call(f, bench::dense({784, 256, 10}, 41), bench::uniform({256, 784}, 40, 0.0, 1.0),
                     bench::one_hot_labels(256, 10));
}

}  // namespace

std::vector<bench::Case> bench::per_sample_gradients() {
  return {
      make_case("W4/mean", [] { return on_batch(rc::grad(loss)); }),
      make_case("W4/per_sample", [] { return on_batch(per_sample); }),
      make_case("W4/dp_clip", [] { return on_batch(dp_clip); }),
      make_case("W4/dp_clip_inside", [] { return on_batch(dp_clip_inside); }),
      make_case("W4/dp_clip_twopass", [] { return on_batch(dp_clip_twopass); }),
  };
}
