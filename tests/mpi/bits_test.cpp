// Every result has the same bits for any number of ranks and any chunk_size, though a product, a solution or a
// convolution of fewer rows could be computed in a faster way: mpi::vmap is vmap, and vmap in chunks is vmap.
#include <ricci/mpi.h>
#include <ricci/ricci.h>

#include <string>
#include <vector>

#include "support/expect_tensor.h"

namespace {

using namespace testing_support;
namespace rc = ricci;
using rc::mpi::my_rows;

/// Of w, [n, n], which all examples share, and x, [n], which is an example's own.
struct Function {
  const char* name;
  Tensor (*f)(Tensor w, Tensor x);
  std::int64_t most = 200, least = 1;  // of n
  bool takes_complex = true;
};

Tensor own_matrix(const Tensor& w, const Tensor& x) { return rc::outer(x, x) + w; }
/// Far from singular.
Tensor shared_regular(const Tensor& w) { return rc::matmul(w, rc::conj(w).mT()) + rc::eye(w.size(0), w.dtype()); }
Tensor own_regular(const Tensor& w, const Tensor& x) { return shared_regular(w) + rc::outer(x, rc::conj(x)); }
/// The sum of the squares of what complex numbers are made of.
Tensor squares(const Tensor& y) { return y.is_complex() ? rc::real(y * rc::conj(y)).sum() : y.square().sum(); }
/// Two images of 6 x 5. Requires: n >= 33, so that there are numbers enough.
Tensor images(const Tensor& w, std::int64_t channels) {
  return rc::cat({w, w, w}, 0).reshape({-1}).slice(0, 0, 2 * channels * 6 * 5).reshape({2, channels, 6, 5});
}
Tensor kernels_of(const Tensor& w, std::int64_t out, std::int64_t in) {
  return rc::cat({w, w, w, w}, 0).reshape({-1}).slice(0, 0, out * in * 2 * 2).reshape({out, in, 2, 2});
}

const Function functions[] = {
    {"row_by_column", [](Tensor w, Tensor x) { return rc::matmul(w[0].unsqueeze(0), x.unsqueeze(1)); }},
    {"own_row_by_column", [](Tensor w, Tensor x) { return rc::matmul(x.unsqueeze(0), w[0].unsqueeze(1)); }},
    {"column_by_row", [](Tensor w, Tensor x) { return rc::matmul(x.unsqueeze(1), w[0].unsqueeze(0)); }},
    {"dot", [](Tensor w, Tensor x) { return rc::dot(w[0], x); }},
    {"dot_of_own", [](Tensor w, Tensor x) { return rc::dot(x, x * w[0]); }},
    {"shared_by_vector", [](Tensor w, Tensor x) { return rc::matmul(w, x); }},
    {"shared_transposed_by_vector", [](Tensor w, Tensor x) { return rc::matmul(w.mT(), x); }},
    {"vector_by_shared", [](Tensor w, Tensor x) { return rc::matmul(x, w); }},
    {"own_by_shared_vector", [](Tensor w, Tensor x) { return rc::matmul(own_matrix(w, x), w[0]); }},
    {"own_transposed_by_shared_vector", [](Tensor w, Tensor x) { return rc::matmul(own_matrix(w, x).mT(), w[0]); }},
    {"own_by_vector", [](Tensor w, Tensor x) { return rc::matmul(own_matrix(w, x), x); }},
    {"own_by_shared", [](Tensor w, Tensor x) { return rc::matmul(own_matrix(w, x), w); }},
    {"shared_by_own", [](Tensor w, Tensor x) { return rc::matmul(w, own_matrix(w, x)); }},
    {"own_by_own", [](Tensor w, Tensor x) { return rc::matmul(own_matrix(w, x), own_matrix(w, x) + 1); }},
    {"few_rows_by_shared", [](Tensor w, Tensor x) { return rc::matmul(own_matrix(w, x).slice(0, 0, 3), w); }},
    {"shared_by_few_columns", [](Tensor w, Tensor x) { return rc::matmul(w, own_matrix(w, x).slice(1, 0, 2)); }},
    {"linear", [](Tensor w, Tensor x) { return rc::linear(x, w); }},
    {"linear_with_bias", [](Tensor w, Tensor x) { return rc::linear(own_matrix(w, x), w, w[0]); }},
    {"einsum", [](Tensor w, Tensor x) { return rc::einsum("ij,j->i", w, x); }},
    {"quadratic_form", [](Tensor w, Tensor x) { return rc::dot(x, rc::matmul(w, x)); }},
    {"tanh", [](Tensor, Tensor x) { return rc::tanh(x); }},
    {"sum", [](Tensor, Tensor x) { return x.sum(); }},
    {"sum_of_products", [](Tensor w, Tensor x) { return (x * w).sum(1); }},
    {"mul_add", [](Tensor w, Tensor x) { return x * w[0] + rc::exp(w[0] * 0.1); }},
    {"norm", [](Tensor, Tensor x) { return rc::norm(x); }},
    {"softmax", [](Tensor w, Tensor x) { return rc::softmax(x * w, 1); }},
    {"logsumexp", [](Tensor w, Tensor x) { return rc::logsumexp(x * w, 0); }},
    {"cumsum", [](Tensor, Tensor x) { return rc::cumsum(x, 0); }},
    {"var", [](Tensor w, Tensor x) { return rc::var(x * w, 0); }},
    {"solve", [](Tensor w, Tensor x) { return rc::solve(own_regular(w, x), x); }},
    {"solve_shared", [](Tensor w, Tensor x) { return rc::solve(shared_regular(w), x); }},
    {"solve_shared_transposed", [](Tensor w, Tensor x) { return rc::solve(shared_regular(w).mT(), x); }},
    {"solve_shared_of_a_matrix", [](Tensor w, Tensor x) { return rc::solve(shared_regular(w), own_matrix(w, x)); }},
    {"cholesky", [](Tensor w, Tensor x) { return rc::cholesky(own_regular(w, x)); }},
    {"cholesky_solve",
     [](Tensor w, Tensor x) { return rc::cholesky_solve(x.unsqueeze(1), rc::cholesky(shared_regular(w))); }},
    {"inverse", [](Tensor w, Tensor x) { return rc::inverse(own_regular(w, x)); }},
    {"slogdet", [](Tensor w, Tensor x) { return rc::slogdet(own_regular(w, x)).second; }},
    {"eigvalsh", [](Tensor w, Tensor x) { return rc::eigvalsh(own_matrix(w, x) + w.mT()); }, 33, 1, false},
    {"conv1d", [](Tensor w, Tensor x) { return rc::conv1d(x.view({1, 1, -1}), w.slice(1, 0, 3).unsqueeze(1)); }},
    {"conv2d", [](Tensor w, Tensor x) { return rc::conv2d(images(w, 4) * x[0], kernels_of(w, 16, 4)); }, 200, 33},
    {"conv2d_with_own_weight", [](Tensor w, Tensor x) { return rc::conv2d(images(w, 4), kernels_of(w, 8, 4) * x[0]); },
     200, 33},
    {"gradient_of_conv2d",
     [](Tensor w, Tensor x) {
       const auto loss = [&](Tensor v) { return squares(rc::conv2d(images(w, 4) * x[0], v)); };
       return rc::grad(loss)(kernels_of(w, 16, 4));
     },
     200, 33},
    {"gradient_of_layer",
     [](Tensor w, Tensor x) { return rc::grad([&](Tensor v) { return squares(rc::tanh(rc::matmul(v, x))); })(w); }},
    {"gradient_of_net",
     [](Tensor w, Tensor x) {
       const auto net = [&](Tensor v) { return squares(rc::linear(rc::tanh(rc::linear(x, v)), v.mT())); };
       return rc::grad(net)(w);
     }},
    {"gradient_by_input",
     [](Tensor w, Tensor x) {
       return rc::grad([&](Tensor x) { return squares(rc::linear(rc::tanh(rc::linear(x, w)), w)); })(x);
     }},
    {"hessian_by_input",
     [](Tensor w, Tensor x) { return rc::hessian([&](Tensor x) { return squares(rc::tanh(rc::matmul(w, x))); })(x); },
     33, 1, false},
    {"gradient_of_solution",
     [](Tensor w, Tensor x) {
       return rc::grad([&](Tensor x) { return squares(rc::solve(shared_regular(w), x)); })(x);
     }},
    {"jvp_of_matmul",
     [](Tensor w, Tensor x) { return rc::jvp([&](Tensor x) { return rc::tanh(rc::matmul(w, x)); }, x, w[0]).second; }},
};

/// Those that take w.
std::vector<const Function*> functions_for(const Tensor& w) {
  const std::int64_t n = w.size(0);
  std::vector<const Function*> some;
  for (const Function& function : functions)
    if (n <= function.most && n >= function.least && (function.takes_complex || !w.is_complex()))
      some.push_back(&function);
  return some;
}

/// The results of all functions, in one call, so that ranks meet seldom.
std::vector<Tensor> results(Tensor w, Tensor x) {
  std::vector<Tensor> all;
  for (const Function* function : functions_for(w)) all.push_back(function->f(w, x));
  return all;
}

/// `check(w, examples)`, the examples along axis 0, for sizes on both sides of what kernels choose by.
template <class Check>
void for_sizes(std::int64_t most, const Check& check) {
  for (const rc::DType dtype : {rc::float32, rc::float64, rc::complex64, rc::complex128})
    for (const std::int64_t n : {3, 8, 33, 200})
      for (const std::int64_t examples : {3, 7, 40}) {
        if (n > most || (n == 200 && examples != 7)) continue;
        rc::manual_seed(1);
        const Tensor w = rc::randn({n, n}, dtype), x = rc::randn({examples, n}, dtype);
        SCOPED_TRACE(rc::to_string(dtype) + std::string(", n ") + std::to_string(n) + ", " + std::to_string(examples) +
                     " examples");
        check(w, x);
      }
}

void expect_same(const std::vector<Tensor>& found, const std::vector<Tensor>& expected, const Tensor& w) {
  const auto names = functions_for(w);
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_TRUE(rc::equal(found[i], expected[i])) << names[i]->name;
}

std::vector<Tensor> own(const std::vector<Tensor>& all) {
  std::vector<Tensor> mine;
  for (const Tensor& x : all) {
    const auto [first, count] = rc::mpi::block_of(x.size(0));
    mine.push_back(x.slice(0, first, first + count));
  }
  return mine;
}

const rc::VmapOptions here{.in_dims = {rc::none, 0}};

TEST(MpiBits, AreThoseOfVmap) {
  for_sizes(200, [](const Tensor& w, const Tensor& x) {
    const std::vector<Tensor> expected = own(rc::vmap(results, here)(w, x));
    expect_same(rc::mpi::vmap(results, {.in_dims = {rc::none, 0}, .results = my_rows})(w, x), expected, w);
    expect_same(rc::mpi::vmap(results, {.in_dims = {rc::none, 0}, .chunk_size = 2, .results = my_rows})(w, x), expected,
                w);
    const Tensor columns = x.mT().contiguous();
    expect_same(rc::mpi::vmap(results, {.in_dims = {rc::none, 1}, .results = my_rows})(w, columns), expected, w);
  });
}

TEST(MpiBits, OfVmapAreThoseOfVmapInChunks) {
  const rc::mpi::World world;
  if (world.size() > 1) return;  // each rank would compute the same
  for_sizes(200, [](const Tensor& w, const Tensor& x) {
    const std::vector<Tensor> expected = rc::vmap(results, here)(w, x);
    const Tensor columns = x.mT().contiguous();
    for (const std::int64_t chunk : {1, 3, 5}) {
      if (w.size(0) == 200 && chunk != 3) continue;  // of 7 examples: two chunks of 3, and one of 1
      SCOPED_TRACE("chunks of " + std::to_string(chunk));
      expect_same(rc::vmap(results, {.in_dims = {rc::none, 0}, .chunk_size = chunk})(w, x), expected, w);
      expect_same(rc::vmap(results, {.in_dims = {rc::none, 1}, .chunk_size = chunk})(w, columns), expected, w);
    }
  });
}

TEST(MpiBits, OfProductsAreThoseOfEachExampleAlone) {
  const rc::mpi::World world;
  if (world.size() > 1) return;
  for_sizes(200, [](const Tensor& w, const Tensor& x) {
    const std::vector<Tensor> mapped = rc::vmap(results, here)(w, x);
    for (std::int64_t i = 0; i < x.size(0); ++i) {
      std::vector<Tensor> example;
      for (const Tensor& result : mapped) example.push_back(result[i]);
      expect_same(results(w, x[i]), example, w);
    }
  });
}

TEST(MpiBits, OfComplexProductsBelongToTheRightNumbers) {
  const rc::mpi::World world;
  if (world.size() > 1) return;
  rc::manual_seed(2);
  for (const std::int64_t m : {1, 2, 5, 40})
    for (const std::int64_t n : {1, 3, 33})
      for (const std::int64_t k : {1, 4, 70})
        for (const bool a_by_columns : {false, true})
          for (const bool b_by_columns : {false, true}) {
            const Tensor a = a_by_columns ? rc::randn({k, m}, rc::complex128).mT() : rc::randn({m, k}, rc::complex128),
                         b = b_by_columns ? rc::randn({n, k}, rc::complex128).mT() : rc::randn({k, n}, rc::complex128);
            const Tensor ar = rc::real(a), ai = rc::imag(a), br = rc::real(b), bi = rc::imag(b);
            expect_close(rc::matmul(a, b),
                         rc::complex(rc::matmul(ar, br) - rc::matmul(ai, bi), rc::matmul(ar, bi) + rc::matmul(ai, br)));
          }
}

TEST(MpiBits, OfComplexSolutionsBelongToTheRightNumbers) {
  const rc::mpi::World world;
  if (world.size() > 1) return;
  rc::manual_seed(3);
  for (const std::int64_t n : {1, 5, 40, 70})
    for (const std::int64_t columns : {1, 2, 9}) {
      const Tensor a = rc::randn({n, n}, rc::complex128) + 2 * n * rc::eye(n, rc::complex128);
      const Tensor b = rc::randn({n, columns}, rc::complex128);
      expect_close(rc::matmul(a, rc::solve(a, b)), b);
      expect_close(rc::matmul(a.mT(), rc::solve(a.mT(), b)), b);
      expect_close(rc::matmul(rc::triu(a), rc::solve_triangular(a, b, true)), b);
      // The first columns alone have the bits that they have beside others.
      EXPECT_TRUE(rc::equal(rc::solve(a, b.slice(1, 0, 1)), rc::solve(a, b).slice(1, 0, 1)));
    }
}

TEST(MpiBits, OfDerivativesByOwnRowsAreThoseOfVmap) {
  const auto all_squares = [](Tensor w, Tensor x) {
    std::vector<Tensor> sums;
    for (const Tensor& y : results(w, x)) sums.push_back(squares(y));
    return rc::stack(sums);
  };
  for_sizes(33, [&](const Tensor& w, const Tensor& x) {
    const auto one = [&](Tensor x) { return rc::vmap(all_squares, here)(w, x).sum(); };
    const auto many = [&](Tensor x) { return rc::mpi::vmap(all_squares, {.in_dims = {rc::none, 0}})(w, x).sum(); };
    EXPECT_TRUE(rc::equal(rc::grad(many)(x), rc::grad(one)(x)));
    EXPECT_TRUE(rc::equal(rc::jvp(many, x, x).second, rc::jvp(one, x, x).second));
  });
}

}  // namespace
