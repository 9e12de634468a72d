// Sparse derivatives: how long a pattern, its coloring, the first call and later calls take, and the dense Jacobian
// beside, where it is not too large. Prints a line for each case: `sparse_bench brusselator 32`, or all without
// arguments. `sparse_bench --small` compares the sparse with the dense one of small cases, and measures nothing.
// ../peers/sparse.py measures rivals of the same functions; ../sparse.md has the figures.
#include <ricci/ricci.h>
#include <ricci/sparse.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace rc = ricci;
using rc::Tensor;

namespace {

struct Case {
  const char* name;
  std::vector<std::int64_t> sizes;
  std::function<Tensor(std::int64_t)> start;
  std::function<std::function<Tensor(const Tensor&)>(std::int64_t)> of;
};

/// Numbers around 1 that all sides can make: 1 + sin(i) / 10.
Tensor numbers(std::int64_t count) { return 1 + 0.1 * sin(rc::arange(count).to(rc::float64)); }

Tensor brusselator(const Tensor& both, std::int64_t n) {  // two substances on a torus of n x n cells
  const Tensor w = both.view({2, n, n}), u = w[0], v = w[1], reaction = u * u * v;
  auto spread = [](const Tensor& x) { return x.roll(1, 0) + x.roll(-1, 0) + x.roll(1, 1) + x.roll(-1, 1) - 4 * x; };
  return rc::stack({1 + reaction - 4.4 * u + 0.1 * spread(u), 3.4 * u - reaction + 0.1 * spread(v)}, 0).flatten();
}

Tensor arrow(const Tensor& x) { return rc::cat({rc::square(x).sum().view({1}), x.slice(0, 1, x.size(0)) * x[0]}, 0); }

Tensor banded(const Tensor& x) {  // eleven diagonals, with corners
  Tensor sum = sin(x);
  for (std::int64_t k = 1; k <= 5; ++k) sum = sum + x * (x.roll(k, 0) - x.roll(-k, 0)) / static_cast<double>(k);
  return sum;
}

/// Four products a row, with elements at places that look random.
Tensor scattered(const Tensor& x) {
  const std::int64_t n = x.size(0);
  Tensor sum = x;
  for (const std::int64_t prime : {7919, 104729, 1299709, 15485863})
    sum = sum + sin(x.index_select(0, (rc::arange(n) * prime + prime / 3) % n)) * x;
  return sum;
}

/// How far a cart with a pole misses the midpoint rule between stages [n + 1, 5]: place, angle, speeds, force.
Tensor cart_pole(const Tensor& flat) {
  auto slope = [](const Tensor& state, const Tensor& force) {
    const Tensor angle = state[1], speed = state[2], turning = state[3], s = sin(angle), c = cos(angle);
    const Tensor below = 1 + 0.1 * s * s;
    const Tensor push = (force + 0.1 * s * (0.5 * turning * turning + 9.81 * c)) / below;
    const Tensor turn = (-force * c - 0.05 * turning * turning * c * s - 1.1 * 9.81 * s) / (0.5 * below);
    return rc::stack({speed, turning, push, turn}, 0);
  };
  auto miss = [=](const Tensor& now, const Tensor& next) {
    const Tensor before = now.slice(0, 0, 4), after = next.slice(0, 0, 4);
    return after - before - 0.05 * slope((before + after) / 2, now[4]);
  };
  const Tensor stages = flat.view({-1, 5});
  const std::int64_t n = stages.size(0) - 1;
  return rc::vmap(miss)(stages.slice(0, 0, n), stages.slice(0, 1, n + 1)).flatten();
}

/// Cameras, points and observations of ADBench's inputs ba1 to ba14, and of a small one.
struct Bundle {
  std::int64_t cameras, points, observations;
  explicit Bundle(std::int64_t size) {
    static constexpr std::int64_t sizes[][3] = {
        {2, 5, 10},           {49, 7776, 31843},     {21, 11315, 36455},     {161, 48126, 182072},
        {372, 47423, 204472}, {257, 65132, 225911},  {539, 65220, 277273},   {93, 61203, 287451},
        {88, 64298, 383937},  {810, 88814, 393775},  {1197, 126327, 563734}, {1723, 156502, 678718},
        {253, 163691, 899155}, {245, 198739, 1091386}, {356, 226730, 1255268}};
    constexpr std::int64_t most = std::size(sizes) - 1;
    if (size < 0 || size > most)
      throw std::invalid_argument("bundle has inputs 0 to " + std::to_string(most) + ", not " + std::to_string(size));
    const auto& of = sizes[static_cast<std::size_t>(size)];
    cameras = of[0], points = of[1], observations = of[2];
  }
  std::int64_t unknowns() const { return 11 * cameras + 3 * points + observations; }
};

/// Where each camera sees its point, times a weight: examples/bundle_adjustment.cpp without features.
Tensor bundle(const Tensor& x, const Bundle& of) {
  auto turned = [](const Tensor& by, const Tensor& point) {
    const Tensor angle = rc::norm(by), axis = by / angle;
    return point * cos(angle) + rc::cross(axis, point) * sin(angle) + axis * (rc::dot(axis, point) * (1 - cos(angle)));
  };
  auto miss = [=](const Tensor& camera, const Tensor& point, const Tensor& weight) {
    const Tensor seen = turned(camera.slice(0, 0, 3), 4 * point - camera.slice(0, 3, 6));
    const Tensor flat = seen.slice(0, 0, 2) / seen[2], square = rc::dot(flat, flat);
    const Tensor distorted = flat * (1 + square * (camera[9] + square * camera[10]));
    return weight * (camera[6] * distorted + camera.slice(0, 7, 9));
  };
  const std::int64_t points_begin = 11 * of.cameras, weights_begin = points_begin + 3 * of.points;
  const Tensor cameras = x.slice(0, 0, points_begin).view({-1, 11});
  const Tensor points = x.slice(0, points_begin, weights_begin).view({-1, 3});
  const Tensor weights = x.slice(0, weights_begin, x.size(0)), i = rc::arange(of.observations);
  return rc::vmap(miss)(cameras.index_select(0, i % of.cameras), points.index_select(0, i % of.points), weights)
      .flatten();
}

const std::vector<Case> cases = {
    {"brusselator",
     {32, 128, 512, 1024},
     [](std::int64_t n) { return numbers(2 * n * n); },
     [](std::int64_t n) { return [n](const Tensor& x) { return brusselator(x, n); }; }},
    {"cart_pole",
     {40, 400, 4000},
     [](std::int64_t n) { return numbers(5 * (n + 1)); },
     [](std::int64_t) { return cart_pole; }},
    {"bundle",
     {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14},
     [](std::int64_t size) { return numbers(Bundle(size).unknowns()); },
     [](std::int64_t size) { return [of = Bundle(size)](const Tensor& x) { return bundle(x, of); }; }},
    {"arrow", {1000, 100000}, numbers, [](std::int64_t) { return arrow; }},
    {"banded", {1000, 100000}, numbers, [](std::int64_t) { return banded; }},
    {"scattered", {1000, 100000}, numbers, [](std::int64_t) { return scattered; }},
};

/// Milliseconds of the processor, on which other programs do not count.
double processor_time() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

/// Milliseconds, the least of several samples. One sample of a short function is several calls.
template <class F>
double time_of(const F& f, int most = 200, double milliseconds = 500) {
  constexpr double shortest_sample = 0.1;
  double least = 1e300;
  const double begin = processor_time();
  int calls = 1;
  for (int i = 0; i < most && (i < 3 || processor_time() - begin < milliseconds); ++i) {
    const double before = processor_time();
    for (int k = 0; k < calls; ++k) f();
    const double sample = processor_time() - before;
    least = std::min(least, sample / calls);
    if (sample < shortest_sample) calls *= 2;
  }
  return least;
}

void measure(const Case& of, std::int64_t size) {
  const auto f = of.of(size);
  const Tensor x = of.start(size);
  rc::Sparsity pattern;
  const double to_pattern = time_of([&] { pattern = rc::jacobian_sparsity(f, x); }, 3);
  rc::Coloring coloring = rc::color(rc::Sparsity());
  const double to_coloring = time_of([&] { coloring = rc::color(pattern); }, 3);
  const auto jacobian = rc::compile(rc::jacobian(f, coloring));
  rc::Sparse j;
  const double first = time_of([&] { j = jacobian(x); }, 1), later = time_of([&] { j = jacobian(x); });
  const auto value = rc::compile(f);
  value(x);
  const double of_value = time_of([&] { value(x); });
  double dense = 0;
  if (constexpr std::int64_t most = 5000; pattern.columns() <= most) {
    const auto all = rc::compile(rc::jacfwd(f));
    all(x);
    dense = time_of([&] { all(x); }, 20);
  }
  std::printf("%-12s %6ld %9ld %9ld %3ld  %9.2f %9.2f %9.2f  %9.4f %9.4f %9.3f  %.10g\n", of.name, long(size),
              long(pattern.columns()), long(pattern.nnz()), long(coloring.colors()), to_pattern, to_coloring, first,
              later, of_value, dense, (j.values * cos(rc::arange(pattern.nnz()).to(rc::float64))).sum().item<double>());
  std::fflush(stdout);
}

/// Whether the sparse Jacobian is the dense one.
bool is_right(const Case& of, std::int64_t size) {
  const auto f = of.of(size);
  const Tensor x = of.start(size);
  const Tensor sparse = rc::jacobian(f, rc::color(rc::jacobian_sparsity(f, x)))(x).to_dense();
  const Tensor dense = rc::jacfwd(f)(x);
  const double error = (abs(sparse - dense).max() / abs(dense).max()).item<double>();
  std::printf("%-12s %6ld differs from the dense Jacobian by %g of its greatest element\n", of.name, long(size), error);
  return error < 1e-12;
}

}  // namespace

int main(int argc, char** argv) try {
  rc::set_num_threads(1);
  if (argc == 2 && std::string(argv[1]) == "--small") {
    bool right = true;
    for (const Case& of : cases) right = is_right(of, of.name == std::string("bundle") ? 0 : 10) && right;
    return right ? 0 : 1;
  }
  std::printf("%-12s %6s %9s %9s %3s  %9s %9s %9s  %9s %9s %9s  %s\n", "case", "size", "columns", "nonzeros", "col",
              "pattern", "coloring", "first", "later", "function", "dense", "sum of values times cos(i), times in ms");
  for (const Case& of : cases) {
    if (argc > 1 && std::string(argv[1]) != of.name) continue;
    const std::vector<std::int64_t> sizes = argc > 2 ? std::vector{std::int64_t{std::atoll(argv[2])}} : of.sizes;
    for (const std::int64_t size : sizes) measure(of, size);
  }
} catch (const std::exception& wrong) {
  std::fprintf(stderr, "%s\n", wrong.what());
  return 2;
}
