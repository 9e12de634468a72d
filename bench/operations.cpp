// Single operations that the workloads hardly use and threads should make faster: large sums, softmax, draws,
// rearrangements, writes at places, batches of factorisations and of solutions.
#include "cases.h"
#include "inputs.h"

namespace rc = ricci;
using rc::Tensor;

namespace {

/// Symmetric positive definite matrices [count, n, n].
Tensor positive_definite(std::int64_t count, std::int64_t n) {
  const Tensor a = bench::uniform({count, n, n}, 90, -1.0, 1.0);
  return matmul(a, a.transpose(1, 2)) + static_cast<double>(n) * rc::eye(n);
}

}  // namespace

std::vector<bench::Case> bench::operations() {
  const auto table = [](std::int64_t rows, std::int64_t columns) { return uniform({rows, columns}, 91, -1.0, 1.0); };
  return {
      make_case("op/sum_1048576", [=] { return call([](const Tensor& x) { return x.sum(); }, table(1024, 1024)); }),
      make_case("op/sum_16777216", [=] { return call([](const Tensor& x) { return x.sum(); }, table(4096, 4096)); }),
      make_case("op/sum_of_rows", [=] { return call([](const Tensor& x) { return x.sum(1); }, table(4096, 4096)); }),
      make_case("op/sum_of_columns", [=] { return call([](const Tensor& x) { return x.sum(0); }, table(4096, 4096)); }),
      make_case("op/sum_of_48_columns",
                [=] { return call([](const Tensor& x) { return x.sum(0); }, table(262144, 48)); }),
      make_case("op/softmax", [=] { return call([](const Tensor& x) { return softmax(x, 1); }, table(4096, 1024)); }),
      make_case("op/normal_1048576", [] { return call([] { return rc::normal(rc::Key(0), {1048576}); }); }),
      make_case("op/cholesky_4096x16",
                [] { return call([](const Tensor& a) { return cholesky(a); }, positive_definite(4096, 16)); }),
      make_case("op/cholesky_256x64",
                [] { return call([](const Tensor& a) { return cholesky(a); }, positive_definite(256, 64)); }),
      make_case("op/solve_4096x16",
                [] { return call([](const Tensor& a) { return solve(a, a); }, positive_definite(4096, 16)); }),
      make_case("op/flip", [=] { return call([](const Tensor& x) { return flip(x, {0, 1}); }, table(1024, 1024)); }),
      make_case("op/zeros", [] { return call([] { return rc::zeros({1024, 1024}); }); }),
      make_case("op/tril", [=] { return call([](const Tensor& x) { return tril(x); }, table(1024, 1024)); }),
      make_case("op/cumsum_1048576",
                [=] { return call([](const Tensor& x) { return cumsum(x, 0); }, table(1048576, 1)); }),
      make_case("op/nonzero",
                [=] { return call([](const Tensor& x) { return nonzero(x > 0.5); }, table(1024, 1024)); }),
      make_case("op/index_add_rows",
                [=] {
                  const Tensor places = rc::randint(rc::Key(5), 0, 1000, {8192});
                  return call([places](const Tensor& x, const Tensor& rows) { return index_add(x, 0, places, rows); },
                              table(1000, 256), table(8192, 256));
                }),
      make_case("op/scatter_add",
                [=] {
                  const Tensor places = rc::randint(rc::Key(5), 0, 1000, {1024, 1024});
                  return call([places](const Tensor& x, const Tensor& y) { return scatter_add(x, 0, places, y); },
                              table(1000, 1024), table(1024, 1024));
                }),
      make_case("op/matmul_1024",
                [=] { return call([](const Tensor& x) { return matmul(x, x); }, table(1024, 1024)); }),
  };
}
