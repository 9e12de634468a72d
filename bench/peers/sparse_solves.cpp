// Sparse systems solved by Ricci, CHOLMOD and KLU, turn by turn: processor time of analysis, factor and solve, for one
// and for 32 right-hand sides; the least and, in brackets, the median. `sparse_solves grid 100 5` is one case, its size
// and rounds; without arguments, all cases. `--write FOLDER` writes the matrices for sparse_solves.py, which measures
// SuperLU. ../sparse.md has the figures. CMake does not build it, since nothing in the library needs SuiteSparse
// (Debian: libsuitesparse-dev):
//   g++ -std=c++20 -O2 -Iinclude bench/peers/sparse_solves.cpp -o sparse_solves -Lbuild/release -lricci -lcholmod -lklu
//   OPENBLAS_NUM_THREADS=1 OPENBLAS_CORETYPE=SKYLAKEX LD_LIBRARY_PATH=build/release ./sparse_solves
#include <ricci/ricci.h>
#include <ricci/sparse.h>
#include <suitesparse/cholmod.h>
#include <suitesparse/klu.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace rc = ricci;
using rc::Tensor;

namespace {

using Integer = SuiteSparse_long;
using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

using Element = std::function<double(std::int64_t, std::int64_t)>;

rc::Sparse with_values(std::int64_t n, const Pairs& pairs, const Element& of) {
  const rc::Sparsity sparsity = rc::Sparsity::of_pairs(n, n, pairs);
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i)
    for (const std::int64_t j : sparsity.row(i)) values.push_back(of(i, j));
  return {sparsity, rc::tensor(values)};
}

/// The Laplacian of side^axes points, each next to two along each axis.
rc::Sparse laplacian(std::int64_t side, int axes) {
  std::int64_t n = 1;
  for (int axis = 0; axis < axes; ++axis) n *= side;
  Pairs pairs;
  for (std::int64_t i = 0; i < n; ++i) {
    pairs.emplace_back(i, i);
    for (std::int64_t step = 1; step < n; step *= side)
      if (i / step % side > 0) pairs.insert(pairs.end(), {{i, i - step}, {i - step, i}});
  }
  return with_values(n, pairs, [&](std::int64_t i, std::int64_t j) { return i == j ? 2 * axes + 0.01 : -1.; });
}

/// jᵀ j of bundle adjustment: six unknowns a camera, three a point, each picture a block between the two.
rc::Sparse bundle(std::int64_t cameras) {
  const std::int64_t points = cameras == 49 ? 3000 : 30000, pictures = cameras == 49 ? 12000 : 110000;
  const std::int64_t n = 6 * cameras + 3 * points;
  std::mt19937 draws(3);
  Pairs pairs;
  for (std::int64_t i = 0; i < n; ++i) pairs.emplace_back(i, i);
  for (std::int64_t picture = 0; picture < pictures; ++picture) {
    const std::int64_t camera = draws() % static_cast<std::uint64_t>(cameras), point = picture % points;
    std::vector<std::int64_t> unknowns;
    for (std::int64_t k = 0; k < 6; ++k) unknowns.push_back(6 * camera + k);
    for (std::int64_t k = 0; k < 3; ++k) unknowns.push_back(6 * cameras + 3 * point + k);
    for (const std::int64_t a : unknowns)
      for (const std::int64_t b : unknowns) pairs.emplace_back(a, b);
  }
  std::vector<double> in_row(static_cast<std::size_t>(n));
  const rc::Sparsity sparsity = rc::Sparsity::of_pairs(n, n, pairs);
  for (std::int64_t i = 0; i < n; ++i)
    in_row[static_cast<std::size_t>(i)] = static_cast<double>(sparsity.row(i).size());
  return with_values(n, pairs, [&](std::int64_t i, std::int64_t j) {
    return i == j ? in_row[static_cast<std::size_t>(i)] + 1 : -0.9 + 0.01 * static_cast<double>((i * j) % 7);
  });
}

/// Nodes with a few neighbours nearby, a few far away, and ten that many are next to; most connections go both ways.
rc::Sparse circuit(std::int64_t n) {
  std::mt19937 draws(5);
  const auto below = [&](std::int64_t count) { return static_cast<std::int64_t>(draws()) % count; };
  Pairs pairs;
  for (std::int64_t i = 0; i < n; ++i) {
    pairs.emplace_back(i, i);
    for (std::int64_t more = 1 + below(3); more > 0; --more) {
      const bool is_far = below(1000) == 0;
      const std::int64_t j = is_far ? below(n) : std::clamp<std::int64_t>(i - 10 + below(21), 0, n - 1);
      pairs.emplace_back(i, j);
      if (below(4) > 0) pairs.emplace_back(j, i);
    }
    if (below(20) > 0) continue;
    const std::int64_t j = below(10);
    pairs.insert(pairs.end(), {{i, j}, {j, i}});
  }
  return with_values(n, pairs, [&](std::int64_t i, std::int64_t j) {
    return i == j ? 80 + static_cast<double>(i % 7) : -1 + 0.05 * static_cast<double>((i * 31 + j * 17) % 11);
  });
}

/// A step of the Brusselator: two substances on a torus.
rc::Sparse brusselator(std::int64_t side) {
  const std::int64_t n = 2 * side * side;
  const auto place = [&](std::int64_t substance, std::int64_t i, std::int64_t j) {
    return (substance * side + (i + side) % side) * side + (j + side) % side;
  };
  Pairs pairs;
  for (std::int64_t s = 0; s < 2; ++s)
    for (std::int64_t i = 0; i < side; ++i)
      for (std::int64_t j = 0; j < side; ++j)
        for (const std::int64_t to : {place(s, i, j), place(s, i + 1, j), place(s, i - 1, j), place(s, i, j + 1),
                                      place(s, i, j - 1), place(1 - s, i, j)})
          pairs.emplace_back(place(s, i, j), to);
  return with_values(n, pairs, [](std::int64_t i, std::int64_t j) { return i == j ? 1.4 : i < j ? -0.05 : -0.07; });
}

/// Milliseconds of this thread.
struct Times {
  std::vector<double> all;

  static double now() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
  }
  void of(const std::function<void()>& work) {
    const double begin = now();
    work();
    all.push_back(now() - begin);
  }
  std::string text() {
    if (all.empty()) return "-";
    std::ranges::sort(all);
    char both[64];
    std::snprintf(both, sizeof both, "%.3g (%.3g)", all.front(), all[all.size() / 2]);
    return both;
  }
};
struct Steps {
  Times analysis, factor, solve, many;
  void print(const char* name) {
    std::printf("  %-8s analysis %s, factor %s, solve %s, of 32 %s\n", name, analysis.text().c_str(),
                factor.text().c_str(), solve.text().c_str(), many.text().c_str());
  }
};

void compare(const rc::Sparse& a, bool symmetric, int rounds) {
  const std::int64_t n = a.sparsity.rows();
  const Tensor b = cos(rc::arange(n).to(rc::float64)), many = cos(rc::arange(32 * n).to(rc::float64)).view({n, 32});
  std::vector<Integer> crow(a.sparsity.crow().begin(), a.sparsity.crow().end());
  std::vector<Integer> col(a.sparsity.col().begin(), a.sparsity.col().end());
  std::vector<double> values = a.values.to_vector<double>();
  const std::vector<double> right = b.to_vector<double>(), right_many = mT(many).to_vector<double>();
  Steps ricci, cholmod, klu;

  cholmod_common c;
  cholmod_l_start(&c);
  c.nmethods = 1, c.method[0].ordering = CHOLMOD_AMD, c.print = 0;
  cholmod_sparse matrix{};
  matrix.nrow = matrix.ncol = static_cast<std::size_t>(n), matrix.nzmax = values.size();
  matrix.p = crow.data(), matrix.i = col.data(), matrix.x = values.data();
  matrix.stype = 1, matrix.itype = CHOLMOD_LONG, matrix.xtype = CHOLMOD_REAL, matrix.dtype = CHOLMOD_DOUBLE;
  matrix.sorted = matrix.packed = 1;
  const auto dense = [&](const std::vector<double>& numbers) {
    const std::size_t columns = numbers.size() / static_cast<std::size_t>(n);
    cholmod_dense* made = cholmod_l_zeros(static_cast<std::size_t>(n), columns, CHOLMOD_REAL, &c);
    std::ranges::copy(numbers, static_cast<double*>(made->x));
    return made;
  };
  cholmod_dense *one = dense(right), *all = dense(right_many);
  klu_l_common k;
  klu_l_defaults(&k);

  for (int round = 0; round < rounds; ++round) {
    rc::sparse::Analysis analysis;
    rc::sparse::Factor factor;
    ricci.analysis.of([&] { analysis = rc::sparse::Analysis(a.sparsity, {.symmetric = symmetric}); });
    ricci.factor.of([&] { factor = rc::sparse::factor(a, analysis); });
    for (int i = 0; i < 3; ++i) ricci.solve.of([&] { rc::sparse::solve(factor, b); });
    ricci.many.of([&] { rc::sparse::solve(factor, many); });
    if (symmetric) {
      cholmod_factor* f = nullptr;
      cholmod_dense* x = nullptr;
      cholmod.analysis.of([&] { f = cholmod_l_analyze(&matrix, &c); });
      cholmod.factor.of([&] { cholmod_l_factorize(&matrix, f, &c); });
      for (int i = 0; i < 4; ++i) {
        (i < 3 ? cholmod.solve : cholmod.many).of([&] { x = cholmod_l_solve(CHOLMOD_A, f, i < 3 ? one : all, &c); });
        cholmod_l_free_dense(&x, &c);
      }
      cholmod_l_free_factor(&f, &c);
    }
    if (symmetric && n > 20000) continue;  // KLU, which is for circuits, takes minutes
    klu_l_symbolic* symbolic = nullptr;
    klu_l_numeric* numeric = nullptr;
    klu.analysis.of([&] { symbolic = klu_l_analyze(n, crow.data(), col.data(), &k); });
    klu.factor.of([&] { numeric = klu_l_factor(crow.data(), col.data(), values.data(), symbolic, &k); });
    for (int i = 0; i < 4; ++i) {
      std::vector<double> x = i < 3 ? right : right_many;  // KLU reads rows as columns: it solves the transposed system
      (i < 3 ? klu.solve : klu.many).of([&] { klu_l_tsolve(symbolic, numeric, n, i < 3 ? 1 : 32, x.data(), &k); });
    }
    klu_l_free_numeric(&numeric, &k);
    klu_l_free_symbolic(&symbolic, &k);
  }
  cholmod_l_free_dense(&one, &c), cholmod_l_free_dense(&all, &c);
  cholmod_l_finish(&c);
  ricci.print("Ricci");
  if (symmetric) cholmod.print("CHOLMOD");
  if (!klu.factor.all.empty()) klu.print("KLU");
}

struct Case {
  const char* name;
  bool symmetric;
  std::vector<std::int64_t> sizes;
  std::function<rc::Sparse(std::int64_t)> of;
};

}  // namespace

int main(int argc, char** argv) {
  rc::set_num_threads(1);
  const std::vector<Case> cases = {
      {"grid", true, {100, 316}, [](std::int64_t side) { return laplacian(side, 2); }},
      {"cube", true, {20, 30, 50}, [](std::int64_t side) { return laplacian(side, 3); }},
      {"bundle", true, {49, 257}, bundle},
      {"circuit", false, {10000, 100000}, circuit},
      {"brusselator", false, {64}, brusselator},
  };
  const std::string wanted = argc > 1 ? argv[1] : "";
  const std::int64_t size = argc > 2 ? std::atoll(argv[2]) : 0;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
  for (const Case& each : cases)
    for (const std::int64_t own : each.sizes) {
      if (wanted != "--write" && !wanted.empty() && (wanted != each.name || (size != 0 && size != own))) continue;
      const rc::Sparse a = each.of(own);
      const std::string name = each.name + std::string("_") + std::to_string(own);
      std::printf("%s: %lld rows, %lld nonzeros\n", name.c_str(), static_cast<long long>(a.sparsity.rows()),
                  static_cast<long long>(a.sparsity.nnz()));
      if (wanted == "--write") {
        const std::string path = (argc > 2 ? argv[2] : ".") + ("/" + name);
        rc::save_npz(path + ".npz", {{"crow", a.sparsity.crow_indices()},
                                     {"col", a.sparsity.col_indices()},
                                     {"values", a.values}});
      } else {
        compare(a, each.symmetric, rounds);
      }
      std::fflush(stdout);
    }
}
