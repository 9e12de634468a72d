// Single operations that the workloads hardly use and threads should make faster: large sums, softmax, draws, batches
// of factorisations and of solutions.
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
      make_case("op/matmul_1024",
                [=] { return call([](const Tensor& x) { return matmul(x, x); }, table(1024, 1024)); }),
  };
}
