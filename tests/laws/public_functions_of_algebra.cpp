// Linear algebra, as the cases of tools/torch_values.py call it.
#include <ricci/ops/decompositions.h>

#include <limits>

#include "public_functions.h"

namespace laws {
namespace {

namespace rc = ricci;
using Two = std::pair<Tensor, Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;

constexpr double infinity = std::numeric_limits<double>::infinity();

Tensor adjoint(const Tensor& x) { return x.is_complex() ? conj(mT(x)) : mT(x); }
Tensor positive_definite(const Tensor& a) { return matmul(a, adjoint(a)) + rc::eye(a.size(-1)); }

/// Beside the functions that LAPACK's factors are for.
List solved(const Tensor& a, const Tensor& b, rc::LuSolveOptions options) {
  const auto [lu, pivots] = lu_factor(a);
  return {lu_solve(lu, pivots, b, options)};
}
/// v w² v⁻¹, which reads neither order nor length nor phase.
List powers(const Two& x) { return {matmul(x.second, unsqueeze(square(x.first), -1) * inverse(x.second))}; }
List hermitian_powers(const Two& x) {
  return {x.first, matmul(x.second, unsqueeze(square(x.first), -1) * adjoint(x.second))};
}
/// The projector onto what the columns of q behind the first k span.
Tensor span_of_others(const Tensor& q, std::int64_t k) {
  const Tensor others = narrow(q, -1, k, q.size(-1) - k);
  return matmul(others, adjoint(others));
}
/// u s² uᴴ, v s² vᴴ and the polar factor.
List singular_parts(const Three& x) {
  const auto& [u, s, vh] = x;
  const Tensor squares = square(s);
  return {s, matmul(u * unsqueeze(squares, -2), adjoint(u)), matmul(adjoint(vh), unsqueeze(squares, -1) * vh),
          matmul(u, vh)};
}
List low_rank(const Three& x) {
  const auto& [u, s, v] = x;
  return {s, matmul(u * unsqueeze(s, -2), adjoint(v))};
}

}  // namespace

const Table& algebra() {
  static const Table table = {
      {"lu", [](X x) { return all(lu(x[0])); }},
      {"lu tall", [](X x) { return all(lu(x[0])); }},
      {"lu wide", [](X x) { return all(lu(x[0])); }},
      {"lu complex", [](X x) { return all(lu(x[0])); }},
      {"lu_factor", [](X x) { return both(lu_factor(x[0])); }},
      {"lu_factor_ex", [](X x) { return all(lu_factor_ex(x[0])); }},
      {"lu_unpack",
       [](X x) {
         const auto [factors, pivots] = lu_factor(x[0]);
         return all(lu_unpack(factors, pivots));
       }},
      {"lu_solve",
       [](X x) {
         const auto [factors, pivots] = lu_factor(x[0]);
         return List{lu_solve(factors, pivots, x[1])};
       }},
      {"lu_solve many", [](X x) { return solved(x[0], x[1], {}); }},
      {"lu_solve adjoint", [](X x) { return solved(x[0], x[1], {.adjoint = true}); }},
      {"lu_solve right", [](X x) { return solved(x[0], x[1], {.left = false}); }},
      {"lu_solve right adjoint", [](X x) { return solved(x[0], x[1], {.left = false, .adjoint = true}); }},
      {"inv_ex", [](X x) { return both(inv_ex(x[0])); }},
      {"solve_ex", [](X x) { return both(solve_ex(x[0], x[1])); }},
      {"solve_ex of vectors", [](X x) { return both(solve_ex(x[0], x[1])); }},
      {"cholesky_ex", [](X x) { return both(cholesky_ex(positive_definite(x[0]))); }},
      {"cholesky_ex upper", [](X x) { return both(cholesky_ex(positive_definite(x[0]), true)); }},
      {"cholesky upper", [](X x) { return List{cholesky(positive_definite(x[0]), true)}; }},
      {"cholesky_solve upper", [](X x) { return List{cholesky_solve(x[0], triu(x[1]), true)}; }},
      {"cholesky_inverse", [](X x) { return List{cholesky_inverse(tril(x[0]))}; }},
      {"cholesky_inverse upper", [](X x) { return List{cholesky_inverse(triu(x[0]), true)}; }},
      {"vander of none", [](X x) { return List{vander(x[0], 0)}; }},
      {"solve right", [](X x) { return List{solve(x[0], x[1], false)}; }},
      {"solve left", [](X x) { return List{solve(x[0], x[1], true)}; }},
      {"solve_triangular right",
       [](X x) { return List{solve_triangular(x[0], x[1], {.upper = true, .left = false})}; }},
      {"solve_triangular right lower",
       [](X x) { return List{solve_triangular(x[0], x[1], {.upper = false, .left = false})}; }},
      {"solve_triangular unit",
       [](X x) { return List{solve_triangular(x[0], x[1], {.upper = false, .unitriangular = true})}; }},

      {"qr", [](X x) { return both(qr(x[0])); }},
      {"qr square", [](X x) { return both(qr(x[0])); }},
      {"qr wide", [](X x) { return both(qr(x[0])); }},
      {"qr complex", [](X x) { return both(qr(x[0])); }},
      {"qr complete of square", [](X x) { return both(qr(x[0], "complete")); }},
      {"qr complete", [](X x) { return List{span_of_others(qr(x[0], "complete").first, 2)}; }},
      {"qr complete complex", [](X x) { return List{span_of_others(qr(x[0], "complete").first, 1)}; }},
      {"qr r", [](X x) { return List{qr(x[0], "r").second}; }},
      {"geqrf tall", [](X x) { return both(geqrf(x[0])); }},
      {"geqrf wide", [](X x) { return both(geqrf(x[0])); }},
      {"geqrf complex", [](X x) { return both(geqrf(x[0])); }},
      {"householder_product", [](X x) { return List{householder_product(x[0], x[1])}; }},
      {"householder_product few", [](X x) { return List{householder_product(x[0], x[1])}; }},
      {"householder_product complex", [](X x) { return List{householder_product(x[0], x[1])}; }},
      {"ormqr", [](X x) { return List{ormqr(x[0], x[1], x[2])}; }},
      {"ormqr transpose", [](X x) { return List{ormqr(x[0], x[1], x[2], {.transpose = true})}; }},
      {"ormqr right", [](X x) { return List{ormqr(x[0], x[1], x[2], {.left = false})}; }},
      {"ormqr right transpose", [](X x) { return List{ormqr(x[0], x[1], x[2], {.left = false, .transpose = true})}; }},
      {"polar_decomposition", [](X x) { return both(polar_decomposition(x[0])); }},
      {"polar_decomposition tall", [](X x) { return both(polar_decomposition(x[0])); }},
      {"polar_decomposition complex", [](X x) { return both(polar_decomposition(x[0])); }},

      {"eigvals", [](X x) { return List{sort(real(eigvals(x[0]))).first}; }},
      {"eig powers", [](X x) { return powers(eig(x[0])); }},
      {"eig turns", [](X x) { return powers(eig(x[0])); }},
      {"eig complex", [](X x) { return powers(eig(x[0])); }},
      {"schur", [](X x) { return both(schur(x[0])); }},
      {"schur pair", [](X x) { return both(schur(x[0])); }},
      {"schur pairs", [](X x) { return both(schur(x[0], "real")); }},
      {"schur complex", [](X x) { return both(schur(x[0])); }},
      {"schur to complex", [](X x) { return both(schur(x[0], "complex")); }},
      {"eigh complex", [](X x) { return hermitian_powers(eigh(x[0])); }},
      {"eigvalsh complex", [](X x) { return List{eigvalsh(x[0])}; }},
      {"eigh L", [](X x) { return hermitian_powers(eigh(x[0], "L")); }},
      {"eigh U", [](X x) { return hermitian_powers(eigh(x[0], "U")); }},
      {"eigvalsh L", [](X x) { return List{eigvalsh(x[0], "L")}; }},
      {"eigvalsh U", [](X x) { return List{eigvalsh(x[0], "U")}; }},
      {"svd complex", [](X x) { return singular_parts(svd(x[0])); }},
      {"svd complex wide", [](X x) { return singular_parts(svd(x[0])); }},
      {"svd full of square", [](X x) { return singular_parts(svd(x[0], true)); }},
      {"svd full",
       [](X x) {
         const auto [u, s, vh] = svd(x[0], true);
         return List{s, span_of_others(u, 2)};
       }},
      {"svd full wide",
       [](X x) {
         const auto [u, s, vh] = svd(x[0], true);
         return List{s, span_of_others(adjoint(vh), 2)};
       }},
      {"svdvals complex", [](X x) { return List{svdvals(x[0])}; }},
      {"svd_lowrank draws", [](X x) { return low_rank(svd_lowrank(matmul(x[0], x[1]), 2)); }},
      {"svd_lowrank draws wide", [](X x) { return low_rank(svd_lowrank(x[0], 2, 1)); }},
      {"svd_lowrank draws complex", [](X x) { return low_rank(svd_lowrank(x[0], 2)); }},
      {"pca_lowrank draws", [](X x) { return low_rank(pca_lowrank(x[0])); }},
      {"pca_lowrank draws as it is", [](X x) { return low_rank(pca_lowrank(x[0], 2, false, 1)); }},

      {"matrix_exp", [](X x) { return List{matrix_exp(x[0])}; }},
      {"matrix_exp great", [](X x) { return List{matrix_exp(x[0])}; }},
      {"matrix_exp small", [](X x) { return List{matrix_exp(x[0])}; }},
      {"matrix_exp complex", [](X x) { return List{matrix_exp(x[0])}; }},
      {"matrix_sqrth", [](X x) { return List{matrix_sqrth(positive_definite(x[0]))}; }},
      {"matrix_sqrth complex", [](X x) { return List{matrix_sqrth(positive_definite(x[0]))}; }},

      {"pinv", [](X x) { return List{pinv(x[0])}; }},
      {"pinv wide", [](X x) { return List{pinv(x[0])}; }},
      {"pinv complex", [](X x) { return List{pinv(x[0])}; }},
      {"pinv rtol", [](X x) { return List{pinv(x[0], 1e-3)}; }},
      {"pinv kink", [](X x) { return List{pinv(x[0])}; }},
      {"lstsq", [](X x) { return List{lstsq(x[0], x[1])}; }},
      {"lstsq wide", [](X x) { return List{lstsq(x[0], x[1])}; }},
      {"lstsq complex", [](X x) { return List{lstsq(x[0], x[1])}; }},
      {"lstsq complex wide", [](X x) { return List{lstsq(x[0], x[1])}; }},
      {"matrix_rank", [](X x) { return List{matrix_rank(x[0])}; }},
      {"matrix_rank rtol", [](X x) { return List{matrix_rank(x[0], 0.5)}; }},
      {"matrix_norm", [](X x) { return List{matrix_norm(x[0])}; }},
      {"matrix_norm nuc", [](X x) { return List{matrix_norm(x[0], "nuc")}; }},
      {"matrix_norm nuc complex", [](X x) { return List{matrix_norm(x[0], "nuc")}; }},
      {"matrix_norm nuc of equal", [](X x) { return List{matrix_norm(x[0], "nuc")}; }},
      {"matrix_norm nuc kink", [](X x) { return List{matrix_norm(x[0], "nuc")}; }},
      {"matrix_norm nuc dims", [](X x) { return List{matrix_norm(x[0], "nuc", {2, 0}, true)}; }},
      {"matrix_norm fro dims", [](X x) { return List{matrix_norm(x[0], "fro", {0, 2})}; }},
      {"matrix_norm 2", [](X x) { return List{matrix_norm(x[0], 2)}; }},
      {"matrix_norm -2", [](X x) { return List{matrix_norm(x[0], -2)}; }},
      {"matrix_norm 1", [](X x) { return List{matrix_norm(x[0], 1)}; }},
      {"matrix_norm -1", [](X x) { return List{matrix_norm(x[0], -1)}; }},
      {"matrix_norm inf", [](X x) { return List{matrix_norm(x[0], infinity)}; }},
      {"matrix_norm 1 dims", [](X x) { return List{matrix_norm(x[0], 1, {1, 0}, true)}; }},
      {"norm fro", [](X x) { return List{norm(x[0], "fro")}; }},
      {"norm fro dims", [](X x) { return List{norm(x[0], "fro", {0, 1}, true)}; }},
      {"norm nuc", [](X x) { return List{norm(x[0], "nuc")}; }},
      {"norm nuc dims", [](X x) { return List{norm(x[0], "nuc", {0, 2})}; }},
      {"condition_number", [](X x) { return List{condition_number(x[0])}; }},
      {"condition_number fro", [](X x) { return List{condition_number(x[0], "fro")}; }},
      {"condition_number 1", [](X x) { return List{condition_number(x[0], 1)}; }},
      {"condition_number -2", [](X x) { return List{condition_number(x[0], -2)}; }},

      {"tensorinv", [](X x) { return List{tensorinv(x[0])}; }},
      {"tensorinv ind", [](X x) { return List{tensorinv(x[0], 1)}; }},
      {"tensorsolve", [](X x) { return List{tensorsolve(x[0], x[1])}; }},
      {"tensorsolve dims", [](X x) { return List{tensorsolve(x[0], x[1], {0, 2})}; }},
      {"vecdot", [](X x) { return List{vecdot(x[0], x[1])}; }},
      {"vecdot dim", [](X x) { return List{vecdot(x[0], x[1], 0)}; }},
      {"vander", [](X x) { return List{vander(x[0])}; }},
      {"vander of more", [](X x) { return List{vander(x[0], 4)}; }},
  };
  return table;
}

}  // namespace laws
