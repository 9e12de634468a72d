// Which solver fits which operator, and what each does.
#include "ricci/linear/solve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "linear/krylov.h"
#include "ricci/control.h"
#include "ricci/function.h"
#include "ricci/ops.h"
#include "ricci/ops/decompositions.h"
#include "ricci/primitive/raise.h"
#include "ricci/sparse/direct.h"
#include "solve/problem.h"

namespace ricci::solvers {
namespace {

using Method = LinearSolver::Method;
using operators::Diagonal, operators::Matrix, operators::Triangular, operators::Tridiagonal;

struct Way {
  Method method;
  const char* name;
  ricci::sparse::Method by_products = nullptr;  // null: the method wants the matrix
};
constexpr Way ways[] = {{Method::automatic, "automatic"},
                        {Method::lu, "lu"},
                        {Method::cholesky, "cholesky"},
                        {Method::qr, "qr"},
                        {Method::svd, "svd"},
                        {Method::diagonal, "diagonal"},
                        {Method::triangular, "triangular"},
                        {Method::tridiagonal, "tridiagonal"},
                        {Method::sparse, "sparse"},
                        {Method::cg, "cg", ricci::sparse::by_cg},
                        {Method::minres, "minres", ricci::sparse::by_minres},
                        {Method::bicgstab, "bicgstab", ricci::sparse::by_bicgstab},
                        {Method::gmres, "gmres", ricci::sparse::by_gmres}};
const Way& way_of(Method method) { return *std::ranges::find(ways, method, &Way::method); }
std::string name_of(Method method) { return way_of(method).name; }

/// A solution by a matrix that is factored, and whether it divided by 0.
struct Direct {
  Tensor x;
  Tensor is_singular = zeros({}, boolean);
};

// ── derivatives of solutions: dx = a⁻¹ (db - da x), by the factors of the value ──

/// What is known of a matrix: that it is a diagonal or a triangle, or a factor of it, and whether a or its transpose is
/// solved with.
enum class By : std::uint8_t { diagonal, lower, upper, cholesky, lu, lu_of_transpose };

/// x with a x = b, or aᵀ x = b; a is [n] for a diagonal. The derivative is by a and b; the factor follows from a.
/// `pivots` are those of lu. A diagonal and a triangle have no factor.
struct SolvedByFactor : Function<SolvedByFactor> {
  static Tensor forward(const Tensor& a, const Tensor& factor, const Tensor& pivots, const Tensor& b, By by) {
    if (by == By::diagonal) return b / a;
    if (by == By::lower || by == By::upper) return solve_triangular(a, b, by == By::upper);
    if (by == By::cholesky) return cholesky_solve(b, factor);
    return squeeze(lu_solve(factor, pivots, unsqueeze(b, 1), {.adjoint = by == By::lu_of_transpose}), 1);
  }
  static void setup_context(Context& ctx, const std::tuple<Tensor, Tensor, Tensor, Tensor, By>& inputs,
                            const Tensor& x) {
    const auto& [a, factor, pivots, b, by] = inputs;
    ctx.save_for_backward(a, factor, pivots, x);
    ctx.save_value(by);
  }
  static std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> backward(Context& ctx, const Tensor& ct) {
    const auto [x, adjoint] = zero_where_idle(ct, ctx.saved(3), again(ctx, ct, true));
    return {-of_matrix(adjoint, x, ctx.value<By>(0)), {}, {}, adjoint, {}};
  }
  static Tensor jvp(Context& ctx, const Tensor& change, const Tensor&, const Tensor&, const Tensor& change_of_b, By) {
    const By by = ctx.value<By>(0);
    const Tensor x = ctx.saved(3);
    return again(ctx, change_of_b - product(change, x, by), false);
  }
  static constexpr bool generate_vmap_rule = true;

 private:
  static Tensor product(const Tensor& a, const Tensor& x, By by) {
    switch (by) {
      case By::diagonal: return a * x;
      case By::lower: return matmul(tril(a), x);
      case By::upper: return matmul(triu(a), x);
      case By::lu_of_transpose: return matmul(mT(a), x);
      default: return matmul(a, x);
    }
  }
  /// The cotangent of a by `product`.
  static Tensor of_matrix(const Tensor& ct, const Tensor& x, By by) {
    switch (by) {
      case By::diagonal: return ct * x;
      case By::lower: return tril(outer(ct, x));
      case By::upper: return triu(outer(ct, x));
      case By::lu_of_transpose: return outer(x, ct);
      default: return outer(ct, x);
    }
  }
  /// The solution of the same system, or of its transpose, for another right side.
  static Tensor again(Context& ctx, const Tensor& b, bool is_transposed) {
    const By by = ctx.value<By>(0);
    const Tensor a = ctx.saved(0);
    const auto of = [&](const Tensor& matrix, By how) { return apply(matrix, ctx.saved(1), ctx.saved(2), b, how); };
    if (!is_transposed || by == By::diagonal || by == By::cholesky) return of(a, by);
    if (by == By::lower || by == By::upper) return of(mT(a), by == By::lower ? By::upper : By::lower);
    return of(a, by == By::lu ? By::lu_of_transpose : By::lu);
  }
};

/// Thomas's algorithm: elimination from the first row to the last, substitution back.
Tensor by_elimination(const Tensor& lower, const Tensor& diagonal, const Tensor& upper, const Tensor& b) {
  struct Row {
    Tensor lower, diagonal, upper, b;
  };
  struct Eliminated {
    Tensor upper, b;
  };
  const Tensor zero = zeros({1}, b.dtype());
  const Row rows{cat({zero, lower}, 0), diagonal, cat({upper, zero}, 0), b};
  const Eliminated nothing{zeros({}, b.dtype()), zeros({}, b.dtype())};
  const auto [last, eliminated] = scan(
      [](const Eliminated& above, const Row& row) {
        const Tensor pivot = row.diagonal - row.lower * above.upper;
        const Eliminated next{row.upper / pivot, (row.b - row.lower * above.b) / pivot};
        return std::pair{next, next};
      },
      nothing, rows);
  const auto [first, x] = scan(
      [](const Tensor& below, const Eliminated& row) {
        const Tensor x = row.b - row.upper * below;
        return std::pair{x, x};
      },
      nothing.b, eliminated, {.reverse = true});
  return x;
}

struct SolvedByElimination : Function<SolvedByElimination> {
  static Tensor forward(const Tensor& lower, const Tensor& diagonal, const Tensor& upper, const Tensor& b) {
    return by_elimination(lower, diagonal, upper, b);
  }
  static void setup_context(Context& ctx, const std::tuple<Tensor, Tensor, Tensor, Tensor>& inputs, const Tensor& x) {
    const auto& [lower, diagonal, upper, b] = inputs;
    ctx.save_for_backward(lower, diagonal, upper, x);
  }
  static std::tuple<Tensor, Tensor, Tensor, Tensor> backward(Context& ctx, const Tensor& ct) {
    const auto [x, adjoint] =
        zero_where_idle(ct, ctx.saved(3), apply(ctx.saved(2), ctx.saved(1), ctx.saved(0), ct));
    const auto first = [](const Tensor& v) { return v.slice(0, 0, v.shape()[0] - 1); };
    const auto last = [](const Tensor& v) { return v.slice(0, 1, v.shape()[0]); };
    return {-last(adjoint) * first(x), -adjoint * x, -first(adjoint) * last(x), adjoint};
  }
  static Tensor jvp(Context& ctx, const Tensor& lower, const Tensor& diagonal, const Tensor& upper, const Tensor& b) {
    const Tensor x = ctx.saved(3);
    const LinearOperator change(Tridiagonal{lower, diagonal, upper});
    return apply(ctx.saved(0), ctx.saved(1), ctx.saved(2), b - change.apply(x));
  }
  static constexpr bool generate_vmap_rule = true;
};

// ── the solvers ──

Tensor any_zero(const Tensor& x) { return (x == 0).any(); }

/// By a diagonal or a triangle.
Tensor by_entries(const Tensor& a, const Tensor& b, By by) {
  if (b.is_complex()) return SolvedByFactor::forward(a, {}, {}, b, by);
  return SolvedByFactor::apply(to(a, b.dtype()), zeros({0}, b.dtype()), zeros({0}, int32), b, by);
}
Direct by_lu(const Tensor& a, const Tensor& b) {
  if (a.is_complex()) {
    const auto [x, info] = solve_ex(a, b);
    return {x, info > 0};
  }
  const auto [factor, pivots, info] = lu_factor_ex(a.detach());
  return {SolvedByFactor::apply(a, factor, pivots, b, By::lu), info > 0};
}
Direct by_cholesky(const Tensor& a, const Tensor& b) {
  const auto [factor, info] = cholesky_ex(a.is_complex() ? a : a.detach());
  if (a.is_complex()) return {cholesky_solve(b, factor), info > 0};
  return {SolvedByFactor::apply(a, factor, zeros({0}, int32), b, By::cholesky), info > 0};
}
Direct by_tridiagonal(const Tridiagonal& a, const Tensor& b) {
  const auto as_b = [&](const Tensor& x) { return to(x, b.dtype()); };
  const Tensor lower = as_b(a.lower), diagonal = as_b(a.diagonal), upper = as_b(a.upper);
  return {b.is_complex() ? by_elimination(lower, diagonal, upper, b)
                         : SolvedByElimination::apply(lower, diagonal, upper, b)};
}
/// NaN where the matrix is not finite: `pinv` throws for such a matrix.
Direct by_svd(const Tensor& a, const Tensor& b) {
  const Tensor is_finite = all_finite(a);
  return {where(is_finite, matmul(pinv(where(is_finite, a, 0)), b), std::numeric_limits<double>::quiet_NaN())};
}

/// The entries of this kind, where the operator is written down so.
template <class E>
const E& entries_of(const LinearOperator& a, Method method, const char* kind) {
  const E* entries = std::get_if<E>(&a.entries);
  if (!entries)
    raise<ValueError>("linear_solve: " + name_of(method) + " needs a " + kind +
                      "; take another solver, or make the operator of one");
  return *entries;
}

/// The greatest absolute value; of no elements 0.
Tensor greatest(const Tensor& x) { return x.shape().numel() == 0 ? abs(zeros({}, x.dtype())) : size_of(x); }

/// The number of rows, where entries say it.
std::optional<Size> rows_of(const LinearOperator& a) {
  if (std::holds_alternative<std::monostate>(a.entries) || !a.argument) return std::nullopt;
  if (const auto* matrix = std::get_if<Matrix>(&a.entries)) return matrix->values.shape()[0];
  if (const auto* matrix = std::get_if<Sparse>(&a.entries)) return matrix->sparsity.rows();
  return a.argument->shape[0];
}

/// The operator's matrix, for a b of this type.
Tensor matrix_of(LinearOperator a, const Tensor& b) {
  if (!a.argument) a = operators::with_argument(std::move(a), b);
  return operators::as_matrix(a);
}

bool is_square(const LinearOperator& a, const Tensor& b) {
  return !a.argument || a.argument->shape.numel() == b.shape().numel();
}

Method fitting(const LinearOperator& a, const Tensor& b) {
  if (std::holds_alternative<Diagonal>(a.entries)) return Method::diagonal;
  if (std::holds_alternative<Triangular>(a.entries)) return Method::triangular;
  if (std::holds_alternative<Tridiagonal>(a.entries)) return Method::tridiagonal;
  if (std::holds_alternative<Sparse>(a.entries) && is_square(a, b)) return Method::sparse;
  if (!is_square(a, b)) return Method::qr;
  return a.tags.positive ? Method::cholesky : Method::lu;
}

Direct directly(const LinearOperator& a, const Tensor& b, Method method) {
  if (method == Method::diagonal) {
    const Tensor d = entries_of<Diagonal>(a, method, "Diagonal").values;
    return {by_entries(d, b, By::diagonal), any_zero(d)};
  }
  if (method == Method::triangular) {
    const auto& [values, upper] = entries_of<Triangular>(a, method, "Triangular");
    return {by_entries(values, b, upper ? By::upper : By::lower), any_zero(ricci::diagonal(values))};
  }
  if (method == Method::tridiagonal) return by_tridiagonal(entries_of<Tridiagonal>(a, method, "Tridiagonal"), b);
  if (method == Method::sparse)
    return {ricci::sparse::solve(entries_of<Sparse>(a, method, "Sparse"), b,
                                 ricci::sparse::AnalysisOptions{.symmetric = a.tags.is_symmetric()})};
  Tensor matrix = matrix_of(a, b);
  const DType dtype = promote(matrix.dtype(), b.dtype());
  matrix = to(matrix, dtype);
  const Tensor side = to(flatten(b), dtype);
  const auto of_matrix = [&]() -> Direct {
    if (method == Method::lu) return by_lu(matrix, side);
    if (method == Method::cholesky) return by_cholesky(matrix, side);
    return method == Method::qr ? Direct{lstsq(matrix, side)} : by_svd(matrix, side);
  };
  Direct found = of_matrix();
  found.x = found.x.reshape(a.argument ? a.argument->shape : b.shape());
  return found;
}

Result<Tensor> by_products(const LinearOperator& a, const Tensor& b, const LinearSolver& solver) {
  const Way& way = way_of(solver.method);
  const auto [x, steps, has_converged] = ricci::sparse::solved(way.name, way.by_products, a, b, solver.options);
  return {x, {}, to(steps, int64), where(has_converged == 1, converged, max_steps_reached)};
}

/// Throws unless the solver can be used at all.
void require_fitting(const LinearOperator& a, const Tensor& b, Method method) {
  const std::string call = "linear_solve: ";
  if (!a.apply) raise<ValueError>(call + "the function is empty; pass one that multiplies by the matrix");
  if (!b.defined()) raise<ValueError>(call + "b is undefined; pass a Tensor");
  if (!is_differentiable(b.dtype()))
    raise<TypeError>(call + "b is " + tree::type_of(b) + "; convert it to a floating dtype");
  const auto rows = rows_of(a);
  if (rows && b.shape() != Shape{*rows})
    raise<ValueError>(call + "b is " + tree::type_of(b) + "; an operator " +
                      to_string(Shape{*rows, a.argument->shape[0]}) + " has right sides " + to_string(Shape{*rows}) +
                      ": map over many with vmap");
  if (is_square(a, b) || method == Method::automatic || method == Method::qr || method == Method::svd) return;
  raise<ValueError>(call + name_of(method) + " needs a square operator; this one takes " + to_string(*a.argument) +
                    ", and b is " + tree::type_of(b) + "; qr and svd find the least residual");
}

}  // namespace

LinearSolver automatic() { return {}; }
LinearSolver lu() { return {Method::lu}; }
LinearSolver cholesky() { return {Method::cholesky}; }
LinearSolver qr() { return {Method::qr}; }
LinearSolver svd() { return {Method::svd}; }
LinearSolver diagonal() { return {Method::diagonal}; }
LinearSolver triangular() { return {Method::triangular}; }
LinearSolver tridiagonal() { return {Method::tridiagonal}; }
LinearSolver sparse() { return {Method::sparse}; }
LinearSolver cg(const ricci::sparse::SolverOptions& options) { return {Method::cg, options}; }
LinearSolver minres(const ricci::sparse::SolverOptions& options) { return {Method::minres, options}; }
LinearSolver bicgstab(const ricci::sparse::SolverOptions& options) { return {Method::bicgstab, options}; }
LinearSolver gmres(const ricci::sparse::SolverOptions& options) { return {Method::gmres, options}; }

Result<Tensor> linear_solve(const LinearOperator& a, const Tensor& right_side, const LinearOptions& options) {
  LinearSolver solver = options.solver;
  require_fitting(a, right_side, solver.method);
  const Tensor b = a.argument ? to(right_side, promote(right_side.dtype(), a.argument->dtype)) : right_side;
  if (solver.method == Method::automatic) solver.method = fitting(a, b);
  Result<Tensor> found;
  if (way_of(solver.method).by_products) {
    found = by_products(a, b, solver);
  } else {
    const auto [x, is_singular] = directly(a, b, solver.method);
    found = {x, {}, zeros({}, int64), where(is_singular, singular, converged)};
  }
  const Tensor product = a.apply(found.value);
  if (product.shape() != b.shape())
    raise<ValueError>("linear_solve: b is " + tree::type_of(b) + ", and the operator gives " + tree::type_of(product) +
                      "; b must have the same shape");
  found.residual = greatest(b - product).detach();
  const Tensor is_finite = logical_and(all_finite(found.value), all_finite(found.residual));
  found.status = where(logical_or(is_finite, found.status == singular), found.status, not_finite);
  return checked("linear_solve", std::move(found), options.throw_on_failure);
}

}  // namespace ricci::solvers
