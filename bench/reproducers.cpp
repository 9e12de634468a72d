// asked: what users of JAX and PyTorch asked about because it was slow, each case with the number of the public thread:
// jax_810 is github.com/jax-ml/jax/issues/810. The programs are our own wording of what the thread is about; sizes are
// the thread's, or smaller where it says so here.
#include <cmath>

#include "cases.h"
#include "inputs.h"

namespace rc = ricci;
using rc::Tensor;

namespace {

const std::tuple<> nothing;

// ── loops ──

/// jax_810, discounted sums of rewards [steps, 16], from the last one back: lax.scan is slower than a loop by hand.
Tensor rewards_to_go(const Tensor& rewards) {
  const auto step = [](const Tensor& later, const Tensor& reward) {
    const Tensor now = reward + 0.99 * later;
    return std::pair{now, now};
  };
  return rc::scan(step, rc::zeros({rewards.size(1)}), rewards.flip({0})).second.flip({0});
}

/// jax_772, a forecast that divides by its state, 80 steps: the gradient takes a minute to compile.
Tensor forecast(const Tensor& start) {
  using State = std::pair<Tensor, Tensor>;  // a level [], a season [2]
  const auto step = [](const State& state, const Tensor& y) {
    const auto& [level, season] = state;
    const Tensor expected = clamp_min((level + 2 * sqrt(level)) * season[0], 0.0);
    const Tensor next = y / season[0] + 0.5 * level;
    return std::pair{State{next, y / next + 0.5 * season}, expected};
  };
  return rc::scan(step, State{rc::ones({}), start}, rc::ones({80})).second.sum();
}

/// jax_40150, a loop over 614 inputs whose state is 60 scalars: the gradient runs 60 times slower since jaxlib 0.4.32.
Tensor network_of_scalars(const Tensor& weights, const Tensor& inputs) {
  using State = std::vector<Tensor>;
  const auto step = [&](const State& state, const Tensor& input) {
    State next;
    for (std::size_t k = 0; k < state.size(); ++k) {
      const Tensor& neighbour = k == 0 ? input : state[k - 1];
      next.push_back(0.9 * state[k] + 0.1 * tanh(neighbour + weights[static_cast<std::int64_t>(k)] * input));
    }
    const Tensor last = next.back();
    return std::pair{next, last};
  };
  const State zeros(static_cast<std::size_t>(weights.size(0)), rc::zeros({}));
  return rc::scan(step, zeros, inputs).second.square().sum();
}

/// jax_25190, a while_loop that keeps the greatest of 16,384 numbers, of its four million: 20 times slower in jaxlib
/// 0.4.33.
Tensor greatest(const Tensor& numbers) {
  using State = std::pair<Tensor, Tensor>;
  const Tensor stop = numbers.max();
  return rc::while_loop(
             [&](const State& s) { return s.first < stop; },
             [&](const State& s) { return State{maximum(s.first, numbers.index({s.second})), s.second + 1}; },
             State{rc::zeros({}, rc::int64), rc::zeros({}, rc::int64)})
      .second;
}

/// jax_40101, a loop that writes element after element of 16,384, of its 200,000: each turn rewrites all of them in
/// jaxlib 0.11.1.
Tensor logistic_map(const Tensor& rate) {
  const auto step = [&](const Tensor& t, const Tensor& x) {
    const Tensor now = x.index({t});
    return rc::index_put(x, {t + 1}, rate * now * (1 - now));
  };
  return rc::fori_loop(0, 16'383, step, rc::full({16'384}, 0.3F));
}

/// jax_10197, a scan over 1,000 that copies a matrix from slot to slot of its carry: the gradient's time is quadratic.
Tensor slot_to_slot(const Tensor& first) {
  constexpr std::int64_t slots = 1000;
  const auto step = [](const Tensor& all, const Tensor& i) {
    return std::pair{rc::index_put(all, {i}, all.index({i - 1})), nothing};
  };
  const Tensor start = rc::cat({first.unsqueeze(0), rc::zeros({slots - 1, 10, 10})});
  return rc::scan(step, start, rc::arange(1, slots)).first[-1].sum();
}

/// jax_3850, a walk of 1,000 steps through a table: linear interpolation in a scan.
Tensor walk(const Tensor& table) {
  const std::int64_t last = table.size(0) - 1;
  const auto step = [&](const Tensor& x, const Tensor& push) {
    const Tensor at = clamp(x * static_cast<double>(last), 0.0, static_cast<double>(last) - 1e-3);
    const Tensor left = floor(at), i = left.to(rc::int64);
    const Tensor value = table.index({i}) + (at - left) * (table.index({i + 1}) - table.index({i}));
    const Tensor next = x + 0.01 * (value + push);
    return std::pair{next, next};
  };
  return rc::scan(step, rc::full({}, 0.5F), bench::uniform({1000}, 601)).second.square().mean();
}

// ── small matrices, many of them ──

/// jax_33004, a million vectors [3] times a matrix [3, 3]: slower than the same with the matrix repeated.
Tensor turned(const Tensor& vectors, const Tensor& matrix) { return matmul(vectors, matrix); }

/// jax_1139, systems of three equations, 100,000 of its million: 40 times slower than numpy.
Tensor solved(const Tensor& a, const Tensor& b) { return rc::vmap(rc::solve)(a, b); }

/// jax_26021, the mass matrix of a chain of 35 joints by its frames, and its Jacobian: slower since jaxlib 0.4.32.
Tensor mass_of_chain(const Tensor& q) {
  const std::int64_t n = q.size(0);
  const Tensor up = rc::tensor(std::vector<double>{0, 0, 1}), step = rc::tensor(std::vector<double>{1, 0, 0});
  const Tensor zero = rc::zeros({}, rc::float64), one = rc::ones({}, rc::float64);
  Tensor turn = rc::eye(3, rc::float64), place = rc::zeros({3}, rc::float64);
  std::vector<Tensor> axes, places, centres;
  for (std::int64_t i = 0; i < n; ++i) {
    const Tensor c = cos(q[i]), s = sin(q[i]);
    const Tensor own = rc::stack({c, -s, zero, s, c, zero, zero, zero, one}).reshape({3, 3});
    turn = matmul(turn, own);
    axes.push_back(matmul(turn, up)), places.push_back(place);
    centres.push_back(place + 0.5 * matmul(turn, step));
    place = place + matmul(turn, step);
  }
  const Tensor axis = rc::stack(axes), from = rc::stack(places), centre = rc::stack(centres);  // [n, 3]
  const Tensor arms = centre.unsqueeze(1) - from.unsqueeze(0);                                 // [body, joint, 3]
  const Tensor carried = rc::tril(rc::ones({n, n}, rc::float64)).unsqueeze(2);                 // of joints before
  const Tensor moved = carried * cross(axis.unsqueeze(0).expand({n, n, 3}), arms, 2), turned = carried * axis;
  const Tensor both = rc::cat({moved, std::sqrt(0.1) * turned}, 2).permute({1, 0, 2}).reshape({n, -1});
  return matmul(both, both.t());
}

// ── derivatives ──

/// jax_2690, total variation of a volume, 256 x 256 x 256.
Tensor total_variation(const Tensor& volume) {
  Tensor sum = rc::zeros({});
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    const std::int64_t n = volume.size(axis);
    sum = sum + abs(volume.slice(axis, 1, n) - volume.slice(axis, 0, n - 1)).sum();
  }
  return sum;
}

/// jax_1563, the diagonal of a Jacobian of 1,000 numbers by as many: the others are computed, too.
Tensor diagonal_of_jacobian(const Tensor& x) {
  return rc::jacfwd([](const Tensor& x) { return x * sin(x); })(x).diagonal();
}

/// sparsejac_10 (github.com/mfschubert/sparsejac), a dense Jacobian that is diagonal, 2,000 of its 10,000.
Tensor diagonal_jacobian(const Tensor& x) {
  return rc::jacrev([](const Tensor& x) { return square(square(x)); })(x);
}

struct Attention {
  Tensor query, key, value, out;  // [64, 64]
};

/// pytorch_187266, a gradient for each of 32 examples of attention, 4 heads, 64 words of 64 numbers.
Tensor attention_loss(const Attention& a, const Tensor& x) {
  const auto heads = [&](const Tensor& w) { return matmul(x, w).reshape({64, 4, 16}).permute({1, 0, 2}); };
  const Tensor scores = matmul(heads(a.query), heads(a.key).transpose(1, 2)) / 4.0;  // [heads, words, words]
  const Tensor mixed = matmul(softmax(scores, -1), heads(a.value));
  return matmul(mixed.permute({1, 0, 2}).reshape({64, 64}), a.out).square().mean();
}
Attention gradients_of_attention(const Attention& a, const Tensor& x) {
  return rc::vmap(rc::grad(attention_loss), {.in_dims = {rc::none, 0}})(a, x);
}

/// functorch_977 (github.com/pytorch/functorch), the Hessian of a small net by its inputs, for 256 examples.
Tensor hessians_of_net(const bench::Net& net, const Tensor& x) {
  const auto value = [](const bench::Net& net, const Tensor& x) {
    return rc::linear(tanh(rc::linear(x, net[0].weight, net[0].bias)), net[1].weight, net[1].bias).sum();
  };
  const auto one = [&](const bench::Net& net, const Tensor& x) { return rc::hessian<1>(value)(net, x); };
  return rc::vmap(one, {.in_dims = {rc::none, 0}})(net, x);
}

/// jax_1399, a loop of 200 turns, written out in the program, over 10,000 numbers: the gradient's first call takes six
/// minutes.
Tensor written_out(const Tensor& arguments, const Tensor& x) {
  Tensor numerator = rc::zeros({}), denominator = rc::zeros({});
  for (std::int64_t i = 0; i < arguments.size(0); ++i) {
    const Tensor at = arguments[i] * x, both = sin(at) + cos(at);
    denominator = denominator + both.square().sum();
    numerator = numerator + both.sum().square();
  }
  return log(numerator / sqrt(denominator));
}

}  // namespace

std::vector<bench::Case> bench::reproducers() {
  const auto as_double = [](const Tensor& x) { return x.to(rc::float64); };
  std::vector<Case> cases;
  const auto add = [&](const std::string& name, auto build) { cases.push_back(make_case("asked/" + name, build)); };
  add("jax_810_rewards", [] { return call(rewards_to_go, uniform({10'000, 16}, 600)); });
  add("jax_772_forecast_grad", [] { return call(rc::grad(forecast), rc::ones({2})); });
  const auto of_scalars = [](auto f) { return call(f, uniform({60}, 602), uniform({614}, 603)); };
  add("jax_40150_scalars", [=] { return of_scalars(network_of_scalars); });
  add("jax_40150_scalars_grad", [=] { return of_scalars(rc::grad(network_of_scalars)); });
  add("jax_25190_while", [] { return call(greatest, rc::arange(1 << 14)); });
  add("jax_40101_writes", [] { return call(logistic_map, rc::full({}, 3.2F)); });
  add("jax_10197_slots_grad", [] { return call(rc::grad(slot_to_slot), uniform({10, 10}, 604)); });
  add("jax_3850_walk_grad", [] { return call(rc::grad(walk), uniform({256}, 605, 0, 0.01)); });
  add("jax_33004_turned", [] { return call(turned, uniform({1'000'000, 3}, 606), uniform({3, 3}, 607)); });
  add("jax_1139_solved", [] {
    return call(solved, uniform({100'000, 3, 3}, 608) + 3 * rc::eye(3, rc::float32), uniform({100'000, 3}, 609));
  });
  add("jax_26021_mass", [=] { return call(mass_of_chain, as_double(uniform({35}, 610))); });
  add("jax_26021_mass_jacobian", [=] { return call(rc::jacfwd(mass_of_chain), as_double(uniform({35}, 610))); });
  add("jax_2690_variation", [] { return call(total_variation, uniform({256, 256, 256}, 611)); });
  add("jax_2690_variation_grad", [] { return call(rc::grad(total_variation), uniform({256, 256, 256}, 611)); });
  add("jax_1563_diagonal", [] { return call(diagonal_of_jacobian, uniform({1000}, 612)); });
  add("sparsejac_10_diagonal", [] { return call(diagonal_jacobian, uniform({2000}, 613)); });
  add("pytorch_187266_attention", [] {
    const auto weight = [](std::uint32_t seed) { return uniform({64, 64}, seed, -0.2, 0.2); };
    return call(gradients_of_attention, Attention{weight(614), weight(615), weight(616), weight(617)},
                uniform({32, 64, 64}, 618));
  });
  add("functorch_977_hessians", [] { return call(hessians_of_net, dense({8, 32, 1}, 619), uniform({256, 8}, 623)); });
  add("jax_1399_written_out_grad",
      [] { return call(rc::grad(written_out), uniform({200}, 624), uniform({10'000}, 625)); });
  return cases;
}
