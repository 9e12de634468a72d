// A physics-informed network: a network of place and time is trained until it satisfies the heat equation u_t = a u_xx.
// No solution is shown to it. The start, u = sin(pi x), and the ends, u = 0, hold by its form. It trains with AdamW
// under a schedule that warms up and then falls as a cosine. The program prints the greatest error against the known
// solution, and fails unless that is small. `--quick` takes fewer steps.
#include <ricci/optim.h>
#include <ricci/ricci.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <numbers>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace rc = ricci;
namespace optim = rc::optim;
using rc::Tensor;

namespace {

constexpr double a = 0.1, pi = std::numbers::pi;

struct Network {
  Tensor w1, b1, w2, b2, w3;  // 2 → 16 → 16 → 1
};

Network random_network(const rc::Key& key) {
  const auto [k1, k2, k3] = rc::split<3>(key);
  const auto weights = [](const rc::Key& k, std::int64_t in, std::int64_t out) {
    return rc::normal(k, {in, out}, rc::float64) / std::sqrt(static_cast<double>(in));
  };
  const Tensor zero = rc::zeros({16}, rc::float64);
  return {weights(k1, 2, 16), zero, weights(k2, 16, 16), zero, weights(k3, 16, 1)};
}

Tensor u(const Network& n, const Tensor& t, const Tensor& x) {
  const Tensor hidden = tanh(matmul(tanh(matmul(rc::stack({t, x}), n.w1) + n.b1), n.w2) + n.b2);
  return sin(pi * x) * (1 + t * matmul(hidden, n.w3).sum());
}

/// u_t - a u_xx at one point; u_xx is the second coefficient of a Taylor series in x.
Tensor residual(const Network& n, const Tensor& t, const Tensor& x) {
  const Tensor one = rc::ones_like(x), zero = rc::zeros_like(x);
  const auto u_t = rc::jvp([&](const Tensor& s) { return u(n, s, x); }, t, one).second;
  const auto series = rc::jet([&](const Tensor& s) { return u(n, t, s); }, x, std::vector{one, zero}).second;
  return u_t - a * series[1];
}

Tensor loss(const Network& n, const Tensor& t, const Tensor& x) {
  return square(rc::vmap(residual, {.in_dims = {rc::none, 0, 0}})(n, t, x)).mean();
}

}  // namespace

int main(int count, char** arguments) try {
  const bool is_quick = count > 1 && std::string_view(arguments[1]) == "--quick";
  const std::int64_t steps = is_quick ? 300 : 2000, points = 64;
  const rc::Key key(0);
  Network network = random_network(rc::fold_in(key, 0));
  const auto adamw = optim::adamw(optim::warmup_cosine(0., 1e-2, steps / 10, steps), {.weight_decay = 1e-5});
  auto state = adamw.init(network);
  const auto step = rc::compile([&](const Network& n, const decltype(state)& s, const rc::Key& k) {
    const auto [of_t, of_x] = rc::split(k);
    const Tensor t = rc::uniform(of_t, {points}, rc::float64), x = rc::uniform(of_x, {points}, rc::float64);
    const auto [gradient, value] = rc::grad_and_value(loss)(n, t, x);
    const auto [updates, next] = adamw.update(gradient, s, n);
    return std::tuple{optim::apply_updates(n, updates), next, value};
  });
  const auto show = rc::progress(steps);
  const rc::Key keys = rc::split(rc::fold_in(key, 1), steps);
  Tensor value;
  for (std::int64_t i = 0; i < steps; ++i) {
    std::tie(network, state, value) = step(network, state, keys[i]);
    show(i);
  }

  const Tensor line = rc::linspace(0, 1, 21).to(rc::float64);
  const Tensor t = line.unsqueeze(1).expand({21, 21}).reshape({441}), x = line.expand({21, 21}).reshape({441});
  const Tensor found = rc::vmap(u, {.in_dims = {rc::none, 0, 0}})(network, t, x);
  const double error = abs(found - exp(-a * pi * pi * t) * sin(pi * x)).amax().item<double>();
  std::printf("loss after %lld steps: %.1e, greatest error: %.1e\n", static_cast<long long>(steps),
              value.item<double>(), error);
  // With keys 0 to 4 the error is 0.4e-3 to 1.9e-3, 2e-3 to 10e-3 if quick; without training it is 0.4.
  return error < (is_quick ? 3e-2 : 5e-3) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "heat_network: %s\n", error.what());
  return 1;
}
