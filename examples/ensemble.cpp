// Sixteen small networks trained at once: their structs are stacked, and one vmap over the step that trains a single
// network trains them all, each on its own bootstrap weights of the same data. Where there are data they agree, far
// away they do not. The program fails unless that is so, and unless a network trained alone ends up the same.
#include <ricci/ricci.h>

#include <cstdio>
#include <exception>
#include <numbers>
#include <string_view>
#include <vector>

namespace rc = ricci;
using rc::Tensor;

namespace {

struct Linear {
  Tensor weight, bias;  // [out, in], [out]
};

struct Mlp {
  Linear hidden, output;
};

struct Data {
  Tensor points, labels;  // [n, 2], [n] of 0 and 1
};

/// Two interleaved half-moons.
Data make_moons(std::int64_t n, rc::Generator& random) {
  const Tensor angle = std::numbers::pi * rc::rand({n}, {.generator = random});
  const Tensor label = rc::arange(n) % 2;
  const Tensor upper = rc::stack({rc::cos(angle), rc::sin(angle)}, 1);
  const Tensor lower = rc::stack({1.0 - rc::cos(angle), 0.5 - rc::sin(angle)}, 1);
  const Tensor clean = rc::where(label.unsqueeze(1) == 0, upper, lower);
  return {clean + 0.1 * rc::randn({n, 2}, {.generator = random}), label.to(rc::float32)};
}

Mlp make_mlp(rc::Generator& random) {
  return {{2.0 * rc::randn({24, 2}, {.generator = random}), rc::randn({24}, {.generator = random})},
          {0.2 * rc::randn({1, 24}, {.generator = random}), rc::zeros({1})}};
}

/// Log-odds of label 1. x: [n, 2] gives [n].
Tensor predict(const Mlp& mlp, const Tensor& x) {
  const Tensor hidden = rc::tanh(rc::linear(x, mlp.hidden.weight, mlp.hidden.bias));
  return rc::linear(hidden, mlp.output.weight, mlp.output.bias).squeeze(-1);
}

Tensor loss(const Mlp& mlp, const Tensor& weights, const Data& data) {
  const Tensor odds = predict(mlp, data.points);
  return (weights * (rc::logaddexp(odds, 0.0) - data.labels * odds)).mean();
}

/// One step of gradient descent for one network.
Mlp step(const Mlp& mlp, const Tensor& weights, const Data& data) {
  const auto descend = [](const Tensor& p, const Tensor& g) { return p - 0.5 * g; };
  return rc::map_leaves(descend, mlp, rc::grad(loss)(mlp, weights, data));
}

/// The deviation of the members' probabilities at each point of x: [members, ...] networks, [n, 2] points give [n].
Tensor disagreement(const Mlp& ensemble, const Tensor& x) {
  const Tensor odds = rc::vmap(predict, {.in_dims = {0, rc::none}})(ensemble, x);  // [members, n]
  return rc::std(rc::sigmoid(odds), 0);
}

}  // namespace

int main(int argc, char** argv) try {
  const bool quick = argc > 1 && std::string_view(argv[1]) == "--quick";
  const std::int64_t members = 16, steps = quick ? 300 : 2000;
  rc::Generator random(0);
  const Data data = make_moons(256, random);
  const Tensor weights = -rc::log(1.0 - rc::rand({members, 256}, {.generator = random}));  // Bayesian bootstrap

  std::vector<Mlp> networks;
  for (std::int64_t i = 0; i < members; ++i) networks.push_back(make_mlp(random));
  Mlp ensemble = rc::stack_trees(networks);
  const auto step_all = rc::vmap(step, {.in_dims = {0, 0, rc::none}});
  for (std::int64_t i = 0; i < steps; ++i) ensemble = step_all(ensemble, weights, data);

  Mlp alone = networks[3];
  for (std::int64_t i = 0; i < steps; ++i) alone = step(alone, weights[3], data);
  const Tensor difference =
      rc::amax(rc::abs(predict(alone, data.points) - predict(rc::unstack_trees(ensemble)[3], data.points)));

  const Tensor odds = rc::vmap(predict, {.in_dims = {0, rc::none}})(ensemble, data.points);
  const Tensor correct = (odds.mean(0) > 0.0) == (data.labels > 0.5);
  const double accuracy = correct.to(rc::float64).mean().item<double>();
  const double near = disagreement(ensemble, data.points).mean().item<double>();
  const double far = disagreement(ensemble, 4.0 * rc::randn({256, 2}, {.generator = random})).mean().item<double>();
  std::printf("accuracy %.4f, disagreement %.3f at the data and %.3f away from them\n", accuracy, near, far);
  std::printf("a network trained alone differs from its place in the ensemble by %.1e\n", difference.item<double>());
  return accuracy > 0.95 && far > 1.5 * near && difference.item<double>() < 1e-2 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "ensemble: %s\n", error.what());
  return 1;
}
