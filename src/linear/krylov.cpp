// Krylov methods as loops over a state, inside custom_linear_solve.
#include "linear/krylov.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "custom/closure.h"
#include "ops/factorizations.h"
#include "primitive/interpreter.h"
#include "ricci/control.h"
#include "ricci/implicit.h"
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

/// A Tensor: as a number it would fix the size of b in a program, and compiled loops have lanes along open sizes alone.
Tensor most_steps(const Tensor& b, const SolverOptions& options) {
  constexpr std::int64_t steps_an_element = 10;
  if (options.max_steps > 0) return options.max_steps;
  return steps_an_element * maximum(Tensor(b.shape().numel()), 1);
}

/// What a loop ended with, whose state has an x, its residual and the steps so far.
template <class State>
Counted counted(const State& s, const Tensor& square) {
  return {s.x, to(s.steps, float64), to(dot_of(s.residual, s.residual) <= square, float64)};
}

Tensor preconditioned(const LinearOperator& a, const Tensor& x) { return a.preconditioner ? a.preconditioner(x) : x; }

}  // namespace

Counted by_cg(const LinearOperator& a, const Tensor& b, const SolverOptions& options) {
  struct State {
    Tensor x, residual, direction, slope, steps;
  };
  const Tensor square = largest_square(b, options), most = most_steps(b, options);
  const Tensor direction = preconditioned(a, b);
  const State found =
      while_loop([&](const State& s) { return logical_and(dot_of(s.residual, s.residual) > square, s.steps < most); },
                 [&](const State& s) {
                   const Tensor product = a.apply(s.direction), step = s.slope / dot_of(s.direction, product);
                   State next;
                   next.x = s.x + step * s.direction;
                   next.residual = s.residual - step * product;
                   const Tensor z = preconditioned(a, next.residual);
                   next.slope = dot_of(next.residual, z);
                   next.direction = z + next.slope / s.slope * s.direction;
                   next.steps = s.steps + 1;
                   return next;
                 },
                 State{zeros_like(b), b, direction, dot_of(b, direction), zeros({}, int64)});
  return counted(found, square);
}

/// Givens rotations of the Lanczos recurrence. The residual follows the recurrence too: without it only its norm in the
/// preconditioner's metric would be known.
Counted by_minres(const LinearOperator& a, const Tensor& b, const SolverOptions& options) {
  struct State {
    Tensor x, residual;
    Tensor before, last, near;          // Lanczos vectors, not normalised: the last but one, the last, preconditioned
    Tensor along, along_before;         // directions of x
    Tensor beta, beta_before;           // norms of the vectors
    Tensor cosine, sine, rest, beyond;  // of the last rotation; what the next ones find in their rows
    Tensor size;                        // of the residual, in the preconditioner's metric
    Tensor steps;
  };
  const Tensor square = largest_square(b, options), most = most_steps(b, options);
  const Tensor one = ones({}, b.dtype()), zero = zeros({}, b.dtype()), nothing = zeros_like(b);
  const Tensor near = preconditioned(a, b), beta = sqrt(dot_of(b, near));
  const auto step = [&](const State& s) {
    State next;
    const Tensor vector = s.near / s.beta, product = a.apply(vector) - s.beta / s.beta_before * s.before;
    const Tensor alpha = dot_of(vector, product);
    next.before = s.last, next.last = product - alpha / s.beta * s.last;
    next.near = preconditioned(a, next.last);
    next.beta_before = s.beta, next.beta = sqrt(maximum(dot_of(next.last, next.near), 0));
    const Tensor above = s.cosine * s.rest + s.sine * alpha, pivot = s.sine * s.rest - s.cosine * alpha;
    const Tensor length = hypot(pivot, next.beta);
    next.beyond = s.sine * next.beta, next.rest = -s.cosine * next.beta;
    next.cosine = pivot / length, next.sine = next.beta / length;
    next.along_before = s.along;
    next.along = (vector - s.beyond * s.along_before - above * s.along) / length;
    next.x = s.x + next.cosine * s.size * next.along;
    next.size = next.sine * s.size;
    // The last vector is 0 where x is exact.
    const Tensor normalised = next.last / where(next.beta > 0, next.beta, 1);
    next.residual = next.sine * next.sine * s.residual - next.size * next.cosine * normalised;
    next.steps = s.steps + 1;
    return next;
  };
  const State found = while_loop(
      [&](const State& s) { return logical_and(dot_of(s.residual, s.residual) > square, s.steps < most); }, step,
      State{nothing, b, nothing, b, near, nothing, nothing, beta, one, -one, zero, zero, zero, beta, zeros({}, int64)});
  return counted(found, square);
}

Counted by_bicgstab(const LinearOperator& a, const Tensor& b, const SolverOptions& options) {
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
                   const Tensor along = preconditioned(a, next.direction);
                   next.product = a.apply(along);
                   next.alpha = next.rho / dot_of(b, next.product);
                   const Tensor half = s.residual - next.alpha * next.product;
                   const Tensor second = preconditioned(a, half), image = a.apply(second), size = dot_of(image, image);
                   // Where the first half step has solved it, the second is none.
                   next.omega = where(size > 0, dot_of(image, half) / where(size > 0, size, 1), 0);
                   next.x = s.x + next.alpha * along + next.omega * second;
                   next.residual = half - next.omega * image;
                   next.steps = s.steps + 1;
                   return next;
                 },
                 State{zeros_like(b), b, zeros_like(b), zeros_like(b), one, one, one, zeros({}, int64)});
  return counted(found, square);
}

double rounding_of(DType dtype) { return 8 * epsilon_of(dtype); }

Tensor with_row(const Tensor& matrix, const Tensor& place, const Tensor& row) {
  return index_add(matrix, 0, reshape(place, {1}), unsqueeze(row, 0));
}

namespace {

/// One round: directions that are orthogonal to each other, and what of them makes the residual least.
Tensor round_of_gmres(const LinearOperator& a, const Tensor& residual, const SolverOptions& options) {
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
        Tensor rest = flatten(a.apply(preconditioned(a, direction)), 0, -1);
        const Tensor before = sqrt(dot_of(rest, rest));
        Tensor parts = zeros({kept + 1}, dtype);
        for (int twice = 0; twice < 2; ++twice) {  // once leaves rounding errors as large as what is left
          const Tensor part = matmul(s.directions, rest);
          // As a matrix of one row: as a vector, its product would be the elements' products [n, kept + 1], and a sum.
          rest = rest - squeeze(matmul(unsqueeze(part, 0), s.directions), 0);
          parts = parts + part;
        }
        const Tensor left = sqrt(dot_of(rest, rest));
        const Tensor is_new = left > rounding_of(dtype) * before;
        parts = index_add(parts, 0, reshape(i + 1, {1}), reshape(where(is_new, left, 0), {1}));
        return State{with_row(s.directions, i + 1, where(is_new, rest / where(is_new, left, 1), 0)),
                     with_row(s.products, i, parts)};
      },
      State{with_row(nothing, zeros({1}, int64), flatten(residual / size, 0, -1)), zeros({kept, kept + 1}, dtype)});
  const Tensor first = cat({reshape(size, {1}), zeros({kept}, dtype)}, 0);
  const Tensor of_each = lstsq(mT(found.products), first);  // [restart]
  return preconditioned(a, reshape(matmul(of_each, found.directions.slice(0, 0, kept)), residual.shape()));
}

}  // namespace

Counted by_gmres(const LinearOperator& a, const Tensor& b, const SolverOptions& options) {
  struct State {
    Tensor x, residual, steps;
  };
  const Tensor square = largest_square(b, options), most = most_steps(b, options);
  const State found =
      while_loop([&](const State& s) { return logical_and(dot_of(s.residual, s.residual) > square, s.steps < most); },
                 [&](const State& s) {
                   const Tensor x = s.x + round_of_gmres(a, s.residual, options);
                   return State{x, b - a.apply(x), s.steps + 1};
                 },
                 State{zeros_like(b), b, zeros({}, int64)});
  return counted(found, square);
}

namespace {

/// The operator, its preconditioner and its transpose as one function of three vectors, each part of the result from
/// one of them. So the system captures what these functions capture, and captured values are there wherever the system
/// is solved. Their derivative is that of x alone: the other two vectors are 0. The adjoint system is the transpose of
/// each.
struct Beside {
  Tensor x, near, adjoint;
  Tensor steps, converged;  // as in Counted: the function leaves them alone
};

/// One of the three functions, for vectors of this type. The function is recorded, which leaves out what only the other
/// two need.
template <class F>
LinearFunction one_of(const char* name, const F& all, Tensor Beside::* which, const Type& type) {
  const auto one = [&](const Tensor& v) {
    const Tensor nothing = zeros_of(type), none_counted = zeros({}, float64);
    Beside given{nothing, nothing, nothing, none_counted, none_counted};
    given.*which = v;
    return all(given).*which;
  };
  std::optional<Tensor> result;
  function::Closure closure = function::write_down(name, one, std::tuple<Tensor>(zeros_of(type)), result);
  return [program = closure.program.simplified(), captured = std::move(closure.captured)](const Tensor& v) {
    std::vector<Tensor> inputs{v};
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    return program(inputs)[0];
  };
}

Tensor transposed(const LinearFunction& f, const Tensor& y) {
  const auto [value, pullback] = vjp(f, zeros_of(type_of(y)));
  return pullback(y);
}

}  // namespace

Counted solved(const char* name, Method by, const LinearOperator& a, const Tensor& b, const SolverOptions& options) {
  if (!b.is_floating_point())
    raise<TypeError>(std::string(name) + ": b is " + to_string(type_of(b)) + "; pass floating numbers");
  if (!a.apply)
    raise<ValueError>(std::string(name) + ": the function is empty; pass one that multiplies by the matrix");
  if (options.restart < 1)
    raise<ValueError>(std::string(name) + ": restart is " + std::to_string(options.restart) + "; it must be positive");
  if (options.max_steps < 0)
    raise<ValueError>(std::string(name) + ": max_steps is " + std::to_string(options.max_steps) +
                      "; pass the most steps, or 0 for ten for each element of b");
  const Tensor none_counted = zeros({}, float64);
  const auto without_derivatives = [](const Tensor& x, const Tensor& steps, const Tensor& converged) {
    return Counted{x, steps.detach(), converged.detach()};
  };
  if (!a.preconditioner && !a.transpose) {
    const auto product = [&](const Counted& v) { return Counted{a.apply(v.x), v.steps, v.converged}; };
    const auto solve = [=](const auto& matvec, const Counted& y) {
      const auto of_x = [&](const Tensor& x) { return matvec(Counted{x, y.steps, y.converged}).x; };
      return by(LinearOperator(of_x), y.x, options);
    };
    const auto [x, steps, converged] =
        custom_linear_solve(product, Counted{b, none_counted, none_counted}, solve, solve);
    return without_derivatives(x, steps, converged);
  }
  const auto all = [&](const Beside& v) {
    return Beside{a.apply(v.x), a.preconditioner ? a.preconditioner(v.near) : v.near,
                  a.transpose ? transposed(a.transpose, v.adjoint) : v.adjoint, v.steps, v.converged};
  };
  const auto solve_by = [=, type = type_of(b), is_near = bool(a.preconditioner)](Tensor Beside::* product) {
    return [=](const auto& all, const Beside& y) {
      LinearOperator of(one_of(name, all, product, type));
      if (is_near) of.preconditioner = one_of(name, all, &Beside::near, type);
      const auto [x, steps, converged] = by(of, y.x, options);
      return Beside{x, y.near, y.adjoint, steps, converged};
    };
  };
  const Tensor nothing = zeros_of(type_of(b));
  const Beside found = custom_linear_solve(all, Beside{b, nothing, nothing, none_counted, none_counted},
                                           solve_by(&Beside::x), solve_by(a.transpose ? &Beside::adjoint : &Beside::x));
  return without_derivatives(found.x, found.steps, found.converged);
}

Tensor cg(const LinearOperator& a, const Tensor& b, const SolverOptions& options) {
  return solved("cg", by_cg, a, b, options).x;
}
Tensor minres(const LinearOperator& a, const Tensor& b, const SolverOptions& options) {
  return solved("minres", by_minres, a, b, options).x;
}
Tensor bicgstab(const LinearOperator& a, const Tensor& b, const SolverOptions& options) {
  return solved("bicgstab", by_bicgstab, a, b, options).x;
}
Tensor gmres(const LinearOperator& a, const Tensor& b, const SolverOptions& options) {
  return solved("gmres", by_gmres, a, b, options).x;
}

}  // namespace ricci::sparse
