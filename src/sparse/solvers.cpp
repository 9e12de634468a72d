// Krylov methods as loops over a state, inside custom_linear_solve.
#include "ricci/sparse/solvers.h"

#include <algorithm>

#include "primitive/interpreter.h"
#include "ricci/control.h"
#include "ricci/ops.h"
#include "ricci/ops/decompositions.h"
#include "ricci/primitive/raise.h"
#include "ricci/transforms.h"

namespace ricci::sparse {
namespace {

Tensor dot_of(const Tensor& x, const Tensor& y) { return (x * y).sum(); }

/// The square that the residual's may not pass.
Tensor largest_square(const Tensor& b, const SolverOptions& options) {
  return maximum(options.tol * options.tol * dot_of(b, b), options.atol * options.atol);
}

std::int64_t most_steps(const Tensor& b, const SolverOptions& options) {
  constexpr std::int64_t steps_an_element = 10;
  return options.max_steps > 0 ? options.max_steps : steps_an_element * std::max<std::int64_t>(1, b.numel());
}

Tensor preconditioned(const SolverOptions& options, const Tensor& x) {
  return options.preconditioner ? options.preconditioner(x) : x;
}

using Method = Tensor (*)(const LinearFunction& a, const Tensor& b, const SolverOptions& options);

Tensor by_cg(const LinearFunction& a, const Tensor& b, const SolverOptions& options) {
  struct State {
    Tensor x, residual, direction, slope, steps;
  };
  const Tensor square = largest_square(b, options), most = most_steps(b, options);
  const Tensor direction = preconditioned(options, b);
  const State found =
      while_loop([&](const State& s) { return logical_and(dot_of(s.residual, s.residual) > square, s.steps < most); },
                 [&](const State& s) {
                   const Tensor product = a(s.direction), step = s.slope / dot_of(s.direction, product);
                   State next;
                   next.x = s.x + step * s.direction;
                   next.residual = s.residual - step * product;
                   const Tensor z = preconditioned(options, next.residual);
                   next.slope = dot_of(next.residual, z);
                   next.direction = z + next.slope / s.slope * s.direction;
                   next.steps = s.steps + 1;
                   return next;
                 },
                 State{zeros_like(b), b, direction, dot_of(b, direction), zeros({}, int64)});
  return found.x;
}

Tensor by_bicgstab(const LinearFunction& a, const Tensor& b, const SolverOptions& options) {
  struct State {
    Tensor x, residual, direction, product, rho, alpha, omega, steps;
  };
  const Tensor square = largest_square(b, options), most = most_steps(b, options), one = ones({}, b.dtype());
  const State found =
      while_loop([&](const State& s) { return logical_and(dot_of(s.residual, s.residual) > square, s.steps < most); },
                 [&](const State& s) {
                   State next;
                   next.rho = dot_of(b, s.residual);
                   const Tensor beta = next.rho / s.rho * (s.alpha / s.omega);
                   next.direction = s.residual + beta * (s.direction - s.omega * s.product);
                   const Tensor along = preconditioned(options, next.direction);
                   next.product = a(along);
                   next.alpha = next.rho / dot_of(b, next.product);
                   const Tensor half = s.residual - next.alpha * next.product;
                   const Tensor second = preconditioned(options, half), image = a(second), size = dot_of(image, image);
                   // Where the first half step has solved it, the second is none.
                   next.omega = where(size > 0, dot_of(image, half) / where(size > 0, size, 1), 0);
                   next.x = s.x + next.alpha * along + next.omega * second;
                   next.residual = half - next.omega * image;
                   next.steps = s.steps + 1;
                   return next;
                 },
                 State{zeros_like(b), b, zeros_like(b), zeros_like(b), one, one, one, zeros({}, int64)});
  return found.x;
}

/// Adds a row to a matrix at a place that is counted.
Tensor with_row(const Tensor& matrix, const Tensor& place, const Tensor& row) {
  return index_add(matrix, 0, reshape(place, {1}), unsqueeze(row, 0));
}

/// One round: directions that are orthogonal to each other, and what of them makes the residual least.
Tensor round_of_gmres(const LinearFunction& a, const Tensor& residual, const SolverOptions& options) {
  struct State {
    Tensor directions, products;  // [restart + 1, n]; [restart, restart + 1]: of each direction in all of them
  };
  const std::int64_t kept = std::min(options.restart, residual.numel());
  const DType dtype = residual.dtype();
  const Tensor size = sqrt(dot_of(residual, residual));
  const Tensor nothing = zeros({kept + 1, residual.numel()}, dtype);
  const State found = fori_loop(
      0, kept,
      [&](const Tensor& i, const State& s) {
        const Tensor direction = reshape(index_select(s.directions, 0, reshape(i, {1})), residual.shape());
        Tensor rest = flatten(a(preconditioned(options, direction)), 0, -1);
        const Tensor before = sqrt(dot_of(rest, rest));
        Tensor parts = zeros({kept + 1}, dtype);
        for (int twice = 0; twice < 2; ++twice) {  // once leaves rounding errors as large as what is left
          const Tensor part = matmul(s.directions, rest);
          rest = rest - matmul(part, s.directions);
          parts = parts + part;
        }
        const Tensor left = sqrt(dot_of(rest, rest));
        const double rounding = dtype == float64 ? 1e-14 : 1e-6;
        const Tensor is_new = left > rounding * before;
        parts = index_add(parts, 0, reshape(i + 1, {1}), reshape(where(is_new, left, 0), {1}));
        return State{with_row(s.directions, i + 1, where(is_new, rest / where(is_new, left, 1), 0)),
                     with_row(s.products, i, parts)};
      },
      State{with_row(nothing, zeros({1}, int64), flatten(residual / size, 0, -1)), zeros({kept, kept + 1}, dtype)});
  const Tensor first = cat({reshape(size, {1}), zeros({kept}, dtype)}, 0);
  const Tensor of_each = matmul(pinv(mT(found.products)), first);  // [restart]
  return preconditioned(options, reshape(matmul(of_each, found.directions.slice(0, 0, kept)), residual.shape()));
}

Tensor by_gmres(const LinearFunction& a, const Tensor& b, const SolverOptions& options) {
  struct State {
    Tensor x, residual, steps;
  };
  const Tensor square = largest_square(b, options), most = most_steps(b, options);
  const State found =
      while_loop([&](const State& s) { return logical_and(dot_of(s.residual, s.residual) > square, s.steps < most); },
                 [&](const State& s) {
                   const Tensor x = s.x + round_of_gmres(a, s.residual, options);
                   return State{x, b - a(x), s.steps + 1};
                 },
                 State{zeros_like(b), b, zeros({}, int64)});
  return found.x;
}

/// The transposed preconditioner, at vectors like b.
SolverOptions transposed(const SolverOptions& options, const Tensor& b) {
  SolverOptions other = options;
  if (options.preconditioner)
    other.preconditioner = [of = options.preconditioner, b](const Tensor& x) {
      const auto [value, pullback] = vjp(of, zeros_like(b));
      return pullback(x);
    };
  return other;
}

Tensor solved(const char* name, Method by, const LinearFunction& a, const Tensor& b, const SolverOptions& options) {
  if (!b.is_floating_point())
    raise<TypeError>(std::string(name) + ": b is " + to_string(type_of(b)) + "; pass floating numbers");
  if (!a) raise<ValueError>(std::string(name) + ": the function is empty; pass one that multiplies by the matrix");
  if (options.restart < 1)
    raise<ValueError>(std::string(name) + ": restart is " + std::to_string(options.restart) + "; it must be positive");
  if (options.max_steps < 0)
    raise<ValueError>(std::string(name) + ": max_steps is " + std::to_string(options.max_steps) +
                      "; pass the most steps, or 0 for ten for each element of b");
  const auto solve = [=](const LinearFunction& matvec, const Tensor& y) { return by(matvec, y, options); };
  const auto solve_transposed = [=](const LinearFunction& vecmat, const Tensor& y) {
    return by(vecmat, y, transposed(options, y));
  };
  return custom_linear_solve(a, b, solve, solve_transposed);
}

LinearFunction product_with(const Sparse& a) {
  return [a](const Tensor& x) { return matmul(a, x); };
}

}  // namespace

Tensor cg(const LinearFunction& a, const Tensor& b, const SolverOptions& options) {
  return solved("cg", by_cg, a, b, options);
}
Tensor bicgstab(const LinearFunction& a, const Tensor& b, const SolverOptions& options) {
  return solved("bicgstab", by_bicgstab, a, b, options);
}
Tensor gmres(const LinearFunction& a, const Tensor& b, const SolverOptions& options) {
  return solved("gmres", by_gmres, a, b, options);
}
Tensor cg(const Sparse& a, const Tensor& b, const SolverOptions& options) { return cg(product_with(a), b, options); }
Tensor bicgstab(const Sparse& a, const Tensor& b, const SolverOptions& options) {
  return bicgstab(product_with(a), b, options);
}
Tensor gmres(const Sparse& a, const Tensor& b, const SolverOptions& options) {
  return gmres(product_with(a), b, options);
}

}  // namespace ricci::sparse
