// loops: what scan and while_loop are used for, each with a derivative inside the loop or around it. An epidemic's
// gradient (f32), Kepler's equation with implicit derivatives, Robertson's stiff reaction, an iteration of iLQR for a
// cart-pole (f64), particles that attract and repel, chains of Hamiltonian Monte Carlo, and a recurrent network (f32).
#include "loops.h"

#include "by_hand.h"
#include "cases.h"
#include "inputs.h"
#include "loops_by_hand.h"

namespace rc = ricci;
using rc::Tensor;
using namespace bench::loops;

namespace {

Tensor as_double(const Tensor& x) { return x.to(rc::float64); }

// ── an epidemic: 200 days of susceptible, infected, recovered, and the gradient by both rates ──

struct People {
  Tensor susceptible, infected, recovered;
};

Tensor mean_square_infected(const Tensor& rates) {  // [2]: of infection, of recovery
  const auto day = [&](const People& p, const Tensor&) {
    const Tensor caught = rates[0] * p.susceptible * p.infected, healed = rates[1] * p.infected;
    const People next{p.susceptible - caught, p.infected + caught - healed, p.recovered + healed};
    return std::pair{next, next.infected};
  };
  const auto number = [](double x) { return rc::tensor(static_cast<float>(x)); };
  const People first{number(susceptible), number(infected), number(0)};
  return rc::scan(day, first, rc::zeros({days})).second.square().mean();
}

Tensor rates(std::int64_t examples) {
  return rc::stack({bench::uniform({examples}, 220, 0.2, 0.5), bench::uniform({examples}, 221, 0.05, 0.15)}, 1);
}

// ── Kepler's equation x - e sin x = M, and dx/dM, dx/de ──

template <class F>
Tensor newton(const F& f, const Tensor& start) {
  using State = std::pair<Tensor, Tensor>;  // x, its last step
  const auto next = [&](const State& s) {
    const auto [y, slope] = rc::jvp(f, std::tuple{s.first}, std::tuple{ones_like(s.first)});
    const Tensor step = y / slope;
    return State{s.first - step, step};
  };
  return rc::while_loop([](const State& s) { return abs(s.second) > 1e-12; }, next, State{start, ones_like(start)})
      .first;
}

Tensor eccentric_anomaly(const Tensor& mean_anomaly, const Tensor& eccentricity) {
  const auto equation = [&](const Tensor& x) { return x - eccentricity * sin(x) - mean_anomaly; };
  return rc::custom_root(
      equation, mean_anomaly, [](const auto& f, const Tensor& x) { return newton(f, x); },
      [](const auto& g, const Tensor& y) { return y / g(ones_like(y)); });
}

using V = bench::by_hand::Pack<double>;
namespace inlined = bench::by_hand::inlined;

double size(double x) { return std::abs(x); }
V size(V x) { return rc::scalar::abs(x); }
bool any_above(double x, double limit) { return x > limit; }
bool any_above(V x, double limit) { return any(greater(x, V(limit))); }
double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }
V sine(V x) { return inlined::sin(x); }
V cosine(V x) { return inlined::cos(x); }

/// x, dx/dM, dx/de of a number or of a vector of them.
template <class T>
std::array<T, 3> kepler_by_hand(T mean_anomaly, T eccentricity) {
  T x = mean_anomaly, step(1), s = sine(x), slope = T(1) - eccentricity * cosine(x);
  while (any_above(size(step), 1e-12)) {
    step = (x - eccentricity * s - mean_anomaly) / slope;
    x = x - step;
    s = sine(x), slope = T(1) - eccentricity * cosine(x);
  }
  const T by_mean = T(1) / slope;
  return {x, by_mean, s * by_mean};
}

/// Requires: lanes divide the number of elements, unless it is 1.
std::tuple<Tensor, Tensor, Tensor> kepler_by_hand(const Tensor& mean_anomaly, const Tensor& eccentricity) {
  const std::int64_t n = mean_anomaly.numel();
  Tensor out[3];
  double* to[3];
  for (int k = 0; k < 3; ++k)
    out[k] = rc::empty(mean_anomaly.shape(), rc::float64), to[k] = bench::by_hand::elements<double>(out[k]);
  const double *m = mean_anomaly.data<double>(), *e = eccentricity.data<double>();
  const auto put = [&](std::int64_t i, const auto& found) {
    for (std::size_t k = 0; k < 3; ++k) {
      if constexpr (requires { found[k].v; }) store(to[k] + i, found[k]);
      else to[k][i] = found[k];
    }
  };
  const auto at = [](const double* from) { return load(from, std::type_identity<V>{}); };
  if (n == 1) put(0, kepler_by_hand(m[0], e[0]));
  else
    for (std::int64_t i = 0; i < n; i += V::lanes) put(i, kepler_by_hand(at(m + i), at(e + i)));
  return {out[0], out[1], out[2]};
}

// ── Robertson's reaction by implicit Euler, and the gradient by its three rates ──

Tensor reaction(const Tensor& y, const Tensor& rates) {
  const Tensor a = rates[0] * y[0], b = rates[1] * y[1] * y[1], c = rates[2] * y[1] * y[2];
  return rc::stack({c - a, a - b - c, b});
}

Tensor sum_of_first(const Tensor& rates) {
  using State = std::pair<Tensor, Tensor>;  // concentrations [3], the step's length
  const auto step = [&](const State& s, const Tensor&) {
    const auto& [y, h] = s;
    const auto residual = [&](const Tensor& next) { return next - y - h * reaction(next, rates); };
    Tensor next = y;
    for (int i = 0; i < newton_steps; ++i) next = next - solve(rc::jacfwd(residual)(next), residual(next));
    return std::pair{State{next, growth * h}, next[0]};
  };
  const State first{rc::tensor({1., 0., 0.}, rc::float64), rc::tensor(first_step, rc::float64)};
  return rc::scan(step, first, rc::zeros({implicit_steps})).second.sum();
}

Tensor reaction_rates() { return rc::tensor({0.04, 3e7, 1e4}, rc::float64); }

// ── iLQR: gains along a trajectory by a backward scan, a new trajectory by a forward one ──

/// The state [4] (place, speed, angle, angular speed) after a step of Euler's under a force.
Tensor cart_pole(const Tensor& x, const Tensor& force) {
  const Tensor s = sin(x[2]), c = cos(x[2]);
  const Tensor push = (force + pole_mass * length * x[3] * x[3] * s) / total_mass;
  const Tensor turn = (gravity * s - c * push) / (length * (4. / 3 - pole_mass / total_mass * c * c));
  const Tensor speed_up = push - pole_mass * length / total_mass * turn * c;
  return x + dt * rc::stack({x[1], speed_up, x[3], turn});
}

struct Value {
  Tensor slope, curvature;  // [4], [4, 4] of the cost to come
};
struct Knot {
  Tensor state, control;  // [4], []
};
struct Gain {
  Tensor shift, feedback;  // [], [4]
};

std::pair<Tensor, Tensor> ilqr_iteration(const Tensor& states, const Tensor& controls) {
  const Tensor cost = rc::tensor({state_cost[0], state_cost[1], state_cost[2], state_cost[3]}, rc::float64);
  const auto gain = [&](const Value& after, const Knot& at) {
    const Tensor a = rc::jacfwd(cart_pole)(at.state, at.control);     // [4, 4]
    const Tensor b = rc::jacfwd<1>(cart_pole)(at.state, at.control);  // [4]
    const Tensor by_state = cost * at.state + matmul(a.t(), after.slope);
    const Tensor by_control = control_cost * at.control + (b * after.slope).sum();
    const Tensor of_both = matmul(matmul(b, after.curvature), a);  // [4]
    const Tensor of_control = control_cost + (b * matmul(after.curvature, b)).sum();
    const Tensor of_state = diag(cost) + matmul(matmul(a.t(), after.curvature), a);
    const Gain found{-by_control / of_control, -of_both / of_control};
    const Value before{by_state + by_control * found.feedback,
                       of_state + of_both.unsqueeze(1) * found.feedback.unsqueeze(0)};
    return std::pair{before, found};
  };
  const Tensor before_last = states.slice(0, 0, horizon);
  const Value last{last_cost * cost * states[horizon], last_cost * diag(cost)};
  const Gain gains = rc::scan(gain, last, Knot{before_last, controls}, {.reverse = true}).second;

  const auto forward = [](const Tensor& x, const std::pair<Knot, Gain>& s) {
    const auto& [old, gain] = s;
    const Tensor control = old.control + gain.shift + (gain.feedback * (x - old.state)).sum();
    return std::pair{cart_pole(x, control), std::pair{x, control}};
  };
  return rc::scan(forward, states[0], std::pair{Knot{before_last, controls}, gains}).second;
}

Tensor controls() { return as_double(bench::uniform({horizon}, 230, -1, 1)); }
/// The states [41, 4] under these controls.
Tensor states() {
  std::vector<Tensor> all{rc::tensor({0., 0., 0.2, 0.}, rc::float64)};
  for (int i = 0; i < horizon; ++i) all.push_back(cart_pole(all.back(), controls()[i]));
  return rc::stack(all);
}

// ── 27 particles under Lennard-Jones forces, by Verlet's steps ──

Tensor energy(const Tensor& x) {  // [27, 3]
  const Tensor apart = x.unsqueeze(1) - x.unsqueeze(0);
  const Tensor sixth = pow(apart.square().sum({2}) + rc::eye(particles), -3);  // 1 of a particle with itself
  return 2 * (sixth * sixth - sixth).sum();
}

/// The places at the end, and every step's sum of squared speeds.
std::pair<Tensor, Tensor> verlet(const Tensor& start) {
  struct Motion {
    Tensor x, v, force;
  };
  const auto force = [](const Tensor& x) { return -rc::grad(energy)(x); };
  const auto step = [&](const Motion& m, const Tensor&) {
    const Tensor half = m.v + verlet_dt / 2 * m.force, x = m.x + verlet_dt * half, f = force(x);
    const Tensor v = half + verlet_dt / 2 * f;
    return std::pair{Motion{x, v, f}, v.square().sum()};
  };
  const auto [last, squares] =
      rc::scan(step, Motion{start, zeros_like(start), force(start)}, rc::zeros({verlet_steps}));
  return {last.x, squares};
}

/// A cube of 3 x 3 x 3 places 1.1 apart, disturbed.
Tensor lattice() {
  std::vector<float> x;
  for (int i = 0; i < particles; ++i)
    for (const int k : {i / 9, i / 3 % 3, i % 3}) x.push_back(1.1F * static_cast<float>(k));
  return rc::tensor(x).reshape({particles, 3}) + bench::uniform({particles, 3}, 240, -0.05, 0.05);
}

// ── Hamiltonian Monte Carlo: 100 leapfrog steps towards a Gaussian, in 64 chains ──

std::pair<Tensor, Tensor> leapfrog(const Tensor& precision, const Tensor& x, const Tensor& p) {
  struct Motion {
    Tensor x, p, slope;
  };
  const auto potential = [&](const Tensor& x) { return 0.5 * (x * matmul(precision, x)).sum(); };
  const auto step = [&](const Motion& m, const Tensor&) {
    const Tensor half = m.p - leapfrog_dt / 2 * m.slope, x = m.x + leapfrog_dt * half;
    const Tensor slope = rc::grad(potential)(x);
    return std::pair{Motion{x, half - leapfrog_dt / 2 * slope, slope}, std::tuple<>{}};
  };
  const Motion last = rc::scan(step, Motion{x, p, rc::grad(potential)(x)}, rc::zeros({leapfrog_steps})).first;
  return {last.x, last.p};
}

Tensor precision() {
  const Tensor a = bench::uniform({dimensions, dimensions}, 250);
  return matmul(a, a.t()) / dimensions + rc::eye(dimensions);
}

// ── a recurrent network: 32 words of one sequence, and the gradient by its matrix and what comes in ──

Tensor mean_square_state(const Tensor& w, const Tensor& inputs) {
  const auto step = [&](const Tensor& h, const Tensor& x) {
    const Tensor next = tanh(matmul(h, w) + x);
    return std::pair{next, next};
  };
  return rc::scan(step, rc::zeros({hidden}), inputs).second.square().mean();
}

}  // namespace

std::vector<bench::Case> bench::common_loops() {
  std::vector<Case> cases;
  const auto add = [&](double tolerance, const std::string& name, auto tensors, auto by_hand, auto inputs) {
    cases.push_back(
        beside_loop(make_case("loops/" + name,
                              [=] { return std::apply([&](auto... x) { return call(tensors, x...); }, inputs()); }),
                    [=] { return [by_hand, x = inputs()] { return std::apply(by_hand, x); }; }));
    cases.back().tolerance = tolerance;
  };
  add(1e-4, "epidemic_4096", rc::vmap(rc::grad(mean_square_infected)), by_hand::epidemic_gradients,
      [] { return std::tuple{rates(4096)}; });
  add(1e-4, "epidemic_one", rc::grad(mean_square_infected), by_hand::epidemic_gradients,
      [] { return std::tuple{rates(1)[0].clone()}; });
  const auto kepler = rc::value_and_grad<0, 1>(eccentric_anomaly);
  const auto anomalies = [](std::int64_t n) { return as_double(uniform({n}, 222, 0.1, 6.2)); };
  const auto eccentricities = [](std::int64_t n) { return as_double(uniform({n}, 223, 0, 0.9)); };
  const auto loop = [](const Tensor& m, const Tensor& e) { return kepler_by_hand(m, e); };
  add(1e-9, "kepler_4096", rc::vmap(kepler), loop, [=] { return std::tuple{anomalies(4096), eccentricities(4096)}; });
  add(1e-9, "kepler_one", kepler, loop,
      [=] { return std::tuple{anomalies(1)[0].clone(), eccentricities(1)[0].clone()}; });
  add(1e-6, "robertson", rc::grad(sum_of_first), by_hand::robertson_gradient,
      [] { return std::tuple{reaction_rates()}; });
  add(1e-8, "ilqr", ilqr_iteration, by_hand::ilqr_iteration, [] { return std::tuple{states(), controls()}; });
  add(1e-3, "verlet", verlet, by_hand::verlet, [] { return std::tuple{lattice()}; });
  add(1e-3, "hmc", rc::vmap(leapfrog, {.in_dims = {rc::none, 0, 0}}), by_hand::leapfrog,
      [] { return std::tuple{precision(), uniform({chains, dimensions}, 251), uniform({chains, dimensions}, 252)}; });
  add(1e-4, "rnn", rc::grad<0, 1>(mean_square_state), by_hand::rnn_gradients,
      [] { return std::tuple{uniform({hidden, hidden}, 260, -0.15, 0.15), uniform({words, hidden}, 261)}; });
  return cases;
}
