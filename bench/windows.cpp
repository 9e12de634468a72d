// Convolutions over windows that reach out of them (transposed ones), over three axes, and pooling: forward, and with
// gradients.
#include "cases.h"
#include "inputs.h"

namespace rc = ricci;
using rc::Tensor;

namespace {

/// The gradient by the first argument of the sum of f.
template <class F>
auto gradient_of(F f) {
  return [f](const Tensor& x, const auto&... more) {
    return rc::grad([&](const Tensor& y) { return f(y, more...).sum(); })(x);
  };
}

Tensor upsampled(const Tensor& x, const Tensor& w) { return conv_transpose2d(x, w, {.stride = 2, .padding = 1}); }

}  // namespace

std::vector<bench::Case> bench::windows() {
  const auto image = [](std::int64_t count, std::int64_t channels, std::int64_t size) {
    return uniform({count, channels, size, size}, 95);
  };
  return {
      make_case("windows/conv_transpose2d_4x4_stride_2",
                [=] { return call(upsampled, image(32, 64, 28), uniform({64, 32, 4, 4}, 96)); }),
      make_case("windows/conv_transpose2d_2x2_stride_2",
                [=] {
                  const auto f = [](const Tensor& x, const Tensor& w) {
                    return conv_transpose2d(x, w, {.stride = 2});
                  };
                  return call(f, image(32, 64, 28), uniform({64, 64, 2, 2}, 96));
                }),
      make_case("windows/conv_transpose2d_3x3",
                [=] {
                  const auto f = [](const Tensor& x, const Tensor& w) {
                    return conv_transpose2d(x, w, {.padding = 1});
                  };
                  return call(f, image(32, 64, 28), uniform({64, 64, 3, 3}, 96));
                }),
      make_case("windows/grad_of_conv_transpose2d",
                [=] { return call(gradient_of(upsampled), image(32, 64, 28), uniform({64, 32, 4, 4}, 96)); }),
      make_case("windows/conv3d",
                [] {
                  const auto f = [](const Tensor& x, const Tensor& w) { return conv3d(x, w, {.padding = 1}); };
                  return call(f, uniform({4, 32, 16, 28, 28}, 95), uniform({32, 32, 3, 3, 3}, 96));
                }),
      make_case("windows/max_pool1d_3_stride_2",
                [] { return call([](const Tensor& x) { return max_pool1d(x, 3, 2); }, uniform({32, 64, 1024}, 95)); }),
      make_case("windows/max_pool2d_2",
                [=] { return call([](const Tensor& x) { return max_pool2d(x, 2); }, image(32, 64, 56)); }),
      make_case("windows/max_pool2d_3_stride_2",
                [=] { return call([](const Tensor& x) { return max_pool2d(x, 3, 2, 1); }, image(16, 64, 112)); }),
      make_case("windows/grad_of_max_pool2d",
                [=] {
                  const auto f = [](const Tensor& x) { return max_pool2d(x, 3, 2, 1); };
                  return call(gradient_of(f), image(16, 64, 112));
                }),
      make_case("windows/avg_pool2d_2",
                [=] { return call([](const Tensor& x) { return avg_pool2d(x, 2); }, image(32, 64, 56)); }),
      make_case("windows/avg_pool2d_7",
                [=] { return call([](const Tensor& x) { return avg_pool2d(x, 7); }, image(32, 512, 7)); }),
      make_case("windows/adaptive_avg_pool2d_1",
                [=] { return call([](const Tensor& x) { return adaptive_avg_pool2d(x, 1); }, image(32, 64, 56)); }),
      make_case("windows/adaptive_avg_pool2d_7",
                [=] { return call([](const Tensor& x) { return adaptive_avg_pool2d(x, 7); }, image(32, 256, 15)); }),
      make_case("windows/adaptive_max_pool2d_7",
                [=] { return call([](const Tensor& x) { return adaptive_max_pool2d(x, 7); }, image(32, 64, 56)); }),
      make_case("windows/unfold_3",
                [=] { return call([](const Tensor& x) { return unfold(x, 3, {.padding = 1}); }, image(32, 64, 28)); }),
  };
}
