// The loops of loops.cpp written out: no tensors inside, derivatives by hand, as many examples at once as fill two of
// the widest registers. This file alone lets the compiler contract a * b + c.
#include "loops_by_hand.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <vector>

#include "by_hand.h"
#include "loops.h"

namespace bench::by_hand {
namespace {

using namespace loops;
using V = Pack<float>;

/// As many numbers as fill two registers: the chain of one hides behind the other's.
struct Floats {
  V a, b;

  Floats() = default;
  Floats(V first, V second) : a(first), b(second) {}
  explicit Floats(float x) : a(x), b(x) {}

  static Floats from(const float* x) {
    return {load(x, std::type_identity<V>{}), load(x + V::lanes, std::type_identity<V>{})};
  }
  void to(float* x) const { store(x, a), store(x + V::lanes, b); }

  friend Floats operator+(Floats x, Floats y) { return {x.a + y.a, x.b + y.b}; }
  friend Floats operator-(Floats x, Floats y) { return {x.a - y.a, x.b - y.b}; }
  friend Floats operator*(Floats x, Floats y) { return {x.a * y.a, x.b * y.b}; }
  friend Floats operator/(Floats x, Floats y) { return {x.a / y.a, x.b / y.b}; }
};
constexpr int wide = 2 * V::lanes;

Floats where_greater(Floats x, Floats y, Floats yes, Floats no) {
  return {select(greater(x.a, y.a), yes.a, no.a), select(greater(x.b, y.b), yes.b, no.b)};
}

/// Forward: of two parameters this needs no memory. T: float or Floats.
template <class T>
std::pair<T, T> epidemic(T infection, T recovery) {
  T s(static_cast<float>(susceptible)), i(static_cast<float>(infected)), by_infection(0), by_recovery(0);
  T s_by_infection(0), s_by_recovery(0), i_by_infection(0), i_by_recovery(0);
  for (int day = 0; day < days; ++day) {
    const T rs = infection * s, ri = infection * i;
    const T caught = rs * i, of_infection = s * i + ri * s_by_infection + rs * i_by_infection;
    const T of_recovery = ri * s_by_recovery + rs * i_by_recovery;
    s_by_infection = s_by_infection - of_infection, s_by_recovery = s_by_recovery - of_recovery;
    i_by_infection = i_by_infection + of_infection - recovery * i_by_infection;
    i_by_recovery = i_by_recovery + of_recovery - recovery * i_by_recovery - i;
    s = s - caught, i = i + caught - recovery * i;
    by_infection = by_infection + i * i_by_infection, by_recovery = by_recovery + i * i_by_recovery;
  }
  const T scale(2.0F / days);
  return {scale * by_infection, scale * by_recovery};
}

/// The step d with (1 - h J(y)) d = r, J the Jacobian of Robertson's reaction.
struct Linearised {
  double m00, m01, m02, m10, m11, m12, m21, per_determinant;

  Linearised(const double (&k)[3], const double (&y)[3], double h)
      : m00(1 + h * k[0]), m02(-h * k[2] * y[1]), m10(-h * k[0]), m12(h * k[2] * y[1]), m21(-2 * h * k[1] * y[1]) {
    m01 = -h * k[2] * y[2] - m02 * m21;
    m11 = 1 - m21 + h * k[2] * y[2] - m12 * m21;
    per_determinant = 1 / (m00 * m11 - m01 * m10);
  }
  void solve(const double (&r)[3], double (&d)[3]) const {
    const double r0 = r[0] - m02 * r[2], r1 = r[1] - m12 * r[2];
    d[0] = (r0 * m11 - m01 * r1) * per_determinant;
    d[1] = (m00 * r1 - m10 * r0) * per_determinant;
    d[2] = r[2] - m21 * d[1];
  }
};

/// cart_pole of loops.cpp.
void cart_pole(const double* x, double force, double* next) {
  const double s = std::sin(x[2]), c = std::cos(x[2]);
  const double push = (force + pole_mass * length * x[3] * x[3] * s) * (1 / total_mass);
  const double turn = (gravity * s - c * push) / (length * (4. / 3 - pole_mass / total_mass * c * c));
  next[0] = x[0] + dt * x[1], next[2] = x[2] + dt * x[3], next[3] = x[3] + dt * turn;
  next[1] = x[1] + dt * (push - pole_mass * length / total_mass * turn * c);
}

/// The nontrivial derivatives of speed (row 1) and angular speed (row 3).
struct CartPoleSlopes {
  double speed_by_angle, speed_by_spin, spin_by_angle, spin_by_spin, speed_by_force, spin_by_force;

  explicit CartPoleSlopes(const double* x, double force) {
    constexpr double per_mass = 1 / total_mass, ml = pole_mass * length, share = ml * per_mass;
    const double s = std::sin(x[2]), c = std::cos(x[2]), w = x[3];
    const double push = (force + ml * w * w * s) * per_mass;
    const double push_by_angle = share * w * w * c, push_by_spin = 2 * share * w * s;
    const double per_inertia = 1 / (length * (4. / 3 - pole_mass * per_mass * c * c));
    const double turn = (gravity * s - c * push) * per_inertia;
    const double turn_by_angle =
        (gravity * c + s * push - c * push_by_angle - turn * 2 * length * pole_mass * per_mass * c * s) * per_inertia;
    const double turn_by_spin = -c * push_by_spin * per_inertia, turn_by_force = -c * per_mass * per_inertia;
    speed_by_angle = dt * (push_by_angle - share * (turn_by_angle * c - turn * s));
    speed_by_spin = dt * (push_by_spin - share * turn_by_spin * c);
    speed_by_force = dt * (per_mass - share * turn_by_force * c);
    spin_by_angle = dt * turn_by_angle, spin_by_spin = 1 + dt * turn_by_spin, spin_by_force = dt * turn_by_force;
  }
};

}  // namespace

Tensor epidemic_gradients(const Tensor& rates) {
  Tensor gradients = ricci::empty(rates.shape(), ricci::float32);
  const float* from = rates.data<float>();
  float* to = elements<float>(gradients);
  const std::int64_t examples = rates.numel() / 2;
  std::int64_t at = 0;
  for (; at + wide <= examples; at += wide) {
    float infection[wide], recovery[wide];
    for (int l = 0; l < wide; ++l) infection[l] = from[2 * (at + l)], recovery[l] = from[2 * (at + l) + 1];
    const auto [by_infection, by_recovery] = epidemic(Floats::from(infection), Floats::from(recovery));
    by_infection.to(infection), by_recovery.to(recovery);
    for (int l = 0; l < wide; ++l) to[2 * (at + l)] = infection[l], to[2 * (at + l) + 1] = recovery[l];
  }
  for (; at < examples; ++at) std::tie(to[2 * at], to[2 * at + 1]) = epidemic(from[2 * at], from[2 * at + 1]);
  return gradients;
}

/// Lanes of near counts stand together: they are put in order first. Requires: two registers' lanes divide
/// their number; counts are
/// below 4,096.
Tensor roots_by_counts(const Tensor& a, const Tensor& steps) {
  constexpr int most = 4096;
  const std::int64_t n = a.numel();
  Tensor roots = ricci::empty({n}, ricci::float32);
  const float* from = a.data<float>();
  float* to = elements<float>(roots);
  const std::int64_t* counts = steps.data<std::int64_t>();
  std::vector<std::int32_t> first(most + 1), order(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) ++first[static_cast<std::size_t>(counts[i] + 1)];
  std::partial_sum(first.begin(), first.end(), first.begin());
  for (std::int64_t i = 0; i < n; ++i)
    order[static_cast<std::size_t>(first[static_cast<std::size_t>(counts[i])]++)] = static_cast<std::int32_t>(i);
  for (std::int64_t at = 0; at < n; at += wide) {
    const std::int32_t* lanes = order.data() + at;
    float start[wide], left[wide];
    for (int l = 0; l < wide; ++l) start[l] = from[lanes[l]], left[l] = static_cast<float>(counts[lanes[l]]);
    const Floats a = Floats::from(start), all = Floats::from(left), half(0.5F), one(1);
    Floats x = a, done(0);
    for (float step = 0; step < left[wide - 1]; ++step) {
      x = where_greater(all, done, half * (x + a / x), x);
      done = done + one;
    }
    x.to(start);
    for (int l = 0; l < wide; ++l) to[lanes[l]] = start[l];
  }
  return roots;
}

/// The sensitivities s[j] to rate j follow from each step's equation: (1 - h J) s' = s + h df/dk.
Tensor robertson_gradient(const Tensor& rates) {
  const double k[3] = {rates.data<double>()[0], rates.data<double>()[1], rates.data<double>()[2]};
  double y[3] = {1, 0, 0}, s[3][3] = {}, gradient[3] = {}, h = first_step;
  for (int step = 0; step < implicit_steps; ++step, h *= growth) {
    double z[3] = {y[0], y[1], y[2]}, d[3];
    for (int i = 0; i < newton_steps; ++i) {
      const double a = k[0] * z[0], b = k[1] * z[1] * z[1], c = k[2] * z[1] * z[2];
      Linearised(k, z, h).solve({z[0] - y[0] - h * (c - a), z[1] - y[1] - h * (a - b - c), z[2] - y[2] - h * b}, d);
      for (int j = 0; j < 3; ++j) z[j] -= d[j];
    }
    const Linearised last(k, z, h);
    const double hz0 = h * z[0], hz11 = h * z[1] * z[1], hz12 = h * z[1] * z[2];
    last.solve({s[0][0] - hz0, s[0][1] + hz0, s[0][2]}, s[0]);
    last.solve({s[1][0], s[1][1] - hz11, s[1][2] + hz11}, s[1]);
    last.solve({s[2][0] + hz12, s[2][1] - hz12, s[2][2]}, s[2]);
    for (int j = 0; j < 3; ++j) y[j] = z[j], gradient[j] += s[j][0];
  }
  return ricci::tensor({gradient[0], gradient[1], gradient[2]}, ricci::float64);
}

std::pair<Tensor, Tensor> ilqr_iteration(const Tensor& states, const Tensor& controls) {
  const double *x = states.data<double>(), *u = controls.data<double>();
  double shift[horizon], feedback[horizon][4], slope[4], v[4][4] = {};
  for (int i = 0; i < 4; ++i)
    slope[i] = last_cost * state_cost[i] * x[4 * horizon + i], v[i][i] = last_cost * state_cost[i];
  for (int t = horizon - 1; t >= 0; --t) {
    const CartPoleSlopes f(x + 4 * t, u[t]);
    // The next state by the last one's parts: (1, 0, 0, 0), (dt, 1, 0, 0), (0, speed, 1, spin), (0, speed, dt, spin).
    const auto times_a = [&](const double* row, double* out) {  // row A
      out[0] = row[0], out[1] = dt * row[0] + row[1];
      out[2] = row[1] * f.speed_by_angle + row[2] + row[3] * f.spin_by_angle;
      out[3] = row[1] * f.speed_by_spin + dt * row[2] + row[3] * f.spin_by_spin;
    };
    double va[4][4], by_state[4], of_both[4], bv[4];
    for (int i = 0; i < 4; ++i) times_a(v[i], va[i]);
    for (int j = 0; j < 4; ++j) bv[j] = f.speed_by_force * v[1][j] + f.spin_by_force * v[3][j];
    times_a(bv, of_both);
    times_a(slope, by_state);
    const double of_control = control_cost + bv[1] * f.speed_by_force + bv[3] * f.spin_by_force, per = -1 / of_control;
    const double by_control = control_cost * u[t] + f.speed_by_force * slope[1] + f.spin_by_force * slope[3];
    shift[t] = by_control * per;
    for (int j = 0; j < 4; ++j) feedback[t][j] = of_both[j] * per;
    for (int j = 0; j < 4; ++j) {
      const double column[4] = {va[0][j], va[1][j], va[2][j], va[3][j]};
      double ava[4];
      times_a(column, ava);
      for (int i = 0; i < 4; ++i) v[i][j] = ava[i] + of_both[i] * feedback[t][j];
      v[j][j] += state_cost[j];
      slope[j] = by_state[j] + state_cost[j] * x[4 * t + j] + by_control * feedback[t][j];
    }
  }
  Tensor new_states = ricci::empty({horizon, 4}, ricci::float64),
         new_controls = ricci::empty({horizon}, ricci::float64);
  double *to = elements<double>(new_states), *control = elements<double>(new_controls), now[4];
  std::copy(x, x + 4, now);
  for (int t = 0; t < horizon; ++t) {
    double c = u[t] + shift[t], next[4];
    for (int j = 0; j < 4; ++j) c += feedback[t][j] * (now[j] - x[4 * t + j]);
    control[t] = c;
    std::copy(now, now + 4, to + 4 * t);
    cart_pole(now, c, next);
    std::copy(next, next + 4, now);
  }
  return {new_states, new_controls};
}

/// Lanes are particles, of which 27 are there; one after the other pulls at all.
std::pair<Tensor, Tensor> verlet(const Tensor& start) {
  constexpr int padded = (particles + V::lanes - 1) / V::lanes * V::lanes, parts = padded / V::lanes;
  constexpr float h = static_cast<float>(verlet_dt);
  const float* from = start.data<float>();
  alignas(V) float x[3][padded], lane[padded];
  V place[3][parts], speed[3][parts], force[3][parts];
  for (int l = 0; l < padded; ++l) {
    lane[l] = static_cast<float>(l);
    for (int k = 0; k < 3; ++k) x[k][l] = l < particles ? from[3 * l + k] : 100.0F + lane[l];
  }
  const auto at = [](const float* from, int part) { return load(from + part * V::lanes, std::type_identity<V>{}); };
  for (int k = 0; k < 3; ++k)
    for (int part = 0; part < parts; ++part) place[k][part] = at(x[k], part), speed[k][part] = V(0);
  const auto find_forces = [&] {
    for (int part = 0; part < parts; ++part) {
      V sum[3] = {V(0), V(0), V(0)};
      const V numbers = at(lane, part), here[3] = {place[0][part], place[1][part], place[2][part]};
      for (int j = 0; j < particles; ++j) {
        const V dx = here[0] - V(x[0][j]), dy = here[1] - V(x[1][j]), dz = here[2] - V(x[2][j]);
        const V square = dx * dx + dy * dy + dz * dz;
        const V inverse = V(1) / select(equal(numbers, V(static_cast<float>(j))), V(1), square);
        const V sixth = inverse * inverse * inverse, pull = inverse * sixth * (V(48) * sixth - V(24));
        sum[0] = sum[0] + pull * dx, sum[1] = sum[1] + pull * dy, sum[2] = sum[2] + pull * dz;
      }
      for (int k = 0; k < 3; ++k) force[k][part] = sum[k];
    }
  };
  Tensor places = ricci::empty({particles, 3}, ricci::float32), squares = ricci::empty({verlet_steps}, ricci::float32);
  float *to = elements<float>(places), *sums = elements<float>(squares);
  find_forces();
  for (int step = 0; step < verlet_steps; ++step) {
    for (int k = 0; k < 3; ++k)
      for (int part = 0; part < parts; ++part) {
        speed[k][part] = speed[k][part] + V(h / 2) * force[k][part];
        place[k][part] = place[k][part] + V(h) * speed[k][part];
        store(x[k] + part * V::lanes, place[k][part]);
      }
    find_forces();
    alignas(V) float square[padded];
    for (int part = 0; part < parts; ++part) {
      for (int k = 0; k < 3; ++k) speed[k][part] = speed[k][part] + V(h / 2) * force[k][part];
      const V squared =
          speed[0][part] * speed[0][part] + speed[1][part] * speed[1][part] + speed[2][part] * speed[2][part];
      store(square + part * V::lanes, squared);
    }
    sums[step] = std::accumulate(square, square + particles, 0.0F);
  }
  for (int l = 0; l < particles; ++l)
    for (int k = 0; k < 3; ++k) to[3 * l + k] = x[k][l];
  return {places, squares};
}

/// Lanes are chains, a register of them at a time, so that places and momenta stay in registers.
std::pair<Tensor, Tensor> leapfrog(const Tensor& precision, const Tensor& x, const Tensor& p) {
  constexpr float h = static_cast<float>(leapfrog_dt);
  const ricci::Shape shape{chains, dimensions};
  Tensor last_x = ricci::empty(shape, ricci::float32), last_p = ricci::empty(shape, ricci::float32);
  const float *from_x = x.data<float>(), *from_p = p.data<float>();
  float *to_x = elements<float>(last_x), *to_p = elements<float>(last_p), matrix[dimensions][dimensions];
  std::copy_n(precision.data<float>(), dimensions * dimensions, matrix[0]);
  for (int first = 0; first < chains; first += V::lanes) {
    V place[dimensions], momentum[dimensions], slope[dimensions];
    const auto columns = [&](const float* rows, V* to) {
      for (int k = 0; k < dimensions; ++k) {
        float column[V::lanes];
        for (int l = 0; l < V::lanes; ++l) column[l] = rows[(first + l) * dimensions + k];
        to[k] = load(column, std::type_identity<V>{});
      }
    };
    const auto to_rows = [&](const V* from, float* rows) {
      for (int k = 0; k < dimensions; ++k)
        for (int l = 0; l < V::lanes; ++l) rows[(first + l) * dimensions + k] = from[k][l];
    };
    const auto find_slope = [&] {
#pragma GCC unroll 10
      for (int i = 0; i < dimensions; ++i) slope[i] = V(matrix[i][0]) * place[0];
#pragma GCC unroll 10
      for (int j = 1; j < dimensions; ++j)
#pragma GCC unroll 10
        for (int i = 0; i < dimensions; ++i) slope[i] = slope[i] + V(matrix[i][j]) * place[j];
    };
    columns(from_x, place), columns(from_p, momentum);
    find_slope();
    for (int step = 0; step < leapfrog_steps; ++step) {
#pragma GCC unroll 10
      for (int k = 0; k < dimensions; ++k) {
        momentum[k] = momentum[k] - V(h / 2) * slope[k];
        place[k] = place[k] + V(h) * momentum[k];
      }
      find_slope();
#pragma GCC unroll 10
      for (int k = 0; k < dimensions; ++k) momentum[k] = momentum[k] - V(h / 2) * slope[k];
    }
    to_rows(place, to_x), to_rows(momentum, to_p);
  }
  return {last_x, last_p};
}

/// Each product goes along rows of the matrix: forward a sum of rows, backward a dot product with each.
std::pair<Tensor, Tensor> rnn_gradients(const Tensor& w, const Tensor& inputs) {
  constexpr int n = hidden, packs = n / V::lanes;
  static_assert(n % V::lanes == 0);
  Tensor by_w = ricci::zeros({n, n}, ricci::float32), by_inputs = ricci::empty({words, n}, ricci::float32);
  const float *matrix = w.data<float>(), *in = inputs.data<float>();
  float *of_matrix = elements<float>(by_w), *of_in = elements<float>(by_inputs);
  const auto at = [](const float* row, int k) { return load(row + k * V::lanes, std::type_identity<V>{}); };
  const auto put = [](float* row, int k, V x) { store(row + k * V::lanes, x); };
  std::vector<float> states((words + 1) * n, 0.F);  // row t: before word t
  for (int t = 0; t < words; ++t) {
    V sums[packs];
    for (int k = 0; k < packs; ++k) sums[k] = at(in + t * n, k);
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < packs; ++k) sums[k] = sums[k] + V(states[t * n + i]) * at(matrix + i * n, k);
    for (int k = 0; k < packs; ++k) put(&states[(t + 1) * n], k, inlined::tanh(sums[k]));
  }
  std::vector<float> from_later(n, 0.F);
  for (int t = words; t-- > 0;) {
    float* const slope = of_in + t * n;
    for (int k = 0; k < packs; ++k) {
      const V h = at(&states[(t + 1) * n], k);
      put(slope, k, (V(2.F / (words * n)) * h + at(from_later.data(), k)) * (V(1.F) - h * h));
    }
    for (int i = 0; i < n; ++i) {
      V sum(0.F);
      for (int k = 0; k < packs; ++k) {
        const V g = at(slope, k);
        sum = sum + at(matrix + i * n, k) * g;
        put(of_matrix + i * n, k, at(of_matrix + i * n, k) + V(states[t * n + i]) * g);
      }
      from_later[i] = 0;
      for (int lane = 0; lane < V::lanes; ++lane) from_later[i] += sum[lane];
    }
  }
  return {by_w, by_inputs};
}

}  // namespace bench::by_hand
