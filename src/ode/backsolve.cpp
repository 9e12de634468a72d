// The adjoint equation, as one ode_solve back in time from each time that was saved to the one before it.
#include "ricci/ode/backsolve.h"

#include <cmath>
#include <tuple>
#include <utility>

#include "ode/state.h"
#include "ricci/control.h"
#include "ricci/custom_derivatives.h"
#include "ricci/ops.h"
#include "ricci/primitive/raise.h"
#include "ricci/ravel.h"
#include "ricci/transforms.h"
#include "ricci/tree/unknowns.h"

namespace ricci::ode {
namespace {

/// f over vectors: the derivative of y, given time, y and parameters.
using ParametricField = std::function<Tensor(const Tensor& t, const Tensor& y, const Tensor& params)>;

/// What the adjoint equation goes on from: y, its cotangent, and the parameters' so far.
struct Adjoint {
  Tensor y, of_y, of_params;
};

Adjoint adjoint_slope(const ParametricField& f, const Tensor& t, const Adjoint& at, const Tensor& params) {
  const auto [slope, pull] = vjp([&](const Tensor& y, const Tensor& p) { return f(t, y, p); }, at.y, params);
  const auto [of_y, of_params] = pull(at.of_y);
  return {slope, -of_y, -of_params};
}

/// NaN everywhere unless the condition holds.
Adjoint valid_where(const Tensor& condition, const Adjoint& at) {
  const auto checked = [&](const Tensor& x) { return where(condition, x, std::nan("")); };
  return {checked(at.y), checked(at.of_y), checked(at.of_params)};
}

/// Back from one time to another; NaN if that failed.
Adjoint went_back(const ParametricField& f, const Adjoint& at, const Tensor& from, const Tensor& to_time,
                  const Tensor& params, const Options& options) {
  const auto slope = [=](const Tensor& t, const Adjoint& s) { return adjoint_slope(f, t, s, params); };
  const auto found = ode_solve(slope, at, from, to_time, options);
  return valid_where(eq(found.status, success), found.y);
}

/// A tolerance of y's elements, for the elements of an Adjoint: cotangents have that of their element, parameters the
/// smallest.
Number for_adjoint(const Number& tolerance, const Tensor& y, const Tensor& params) {
  const Tensor& given = tolerance.tensor;
  if (given.dim() == 0 || y.numel() == 0) return tolerance;
  const Tensor each = expand(given, y.shape());
  return cat(std::vector<Tensor>{each, each, expand(each.amin(), params.shape())});
}

/// The options of the way back, which saves nothing.
Options options_back(Options options, const Tensor& y, const Tensor& params) {
  options.save_at = {};
  options.rtol = for_adjoint(options.rtol, y, params), options.atol = for_adjoint(options.atol, y, params);
  return options;
}

/// What a solution gives, and what its reverse mode needs.
struct Ends {
  Tensor y, ys, t, status, steps, rejected;
};
struct Residuals {
  Tensor y0, t0, t1, params, y, ys, status;
};

}  // namespace

namespace runs {

Solution<tree::AnyTree> backsolve(const tree::AnyFunction& f, const tree::AnyTree& y0, const Number& t0,
                                  const Number& t1, const tree::AnyTree& params, const Options& options) {
  tree::require_unknowns("backsolve", call::walk(y0));
  const Tensor start = tree::ravel(call::walk(y0)), all_params = tree::ravel(call::walk(params));
  if (start.is_complex() || all_params.is_complex())
    raise<TypeError>("backsolve: the state is " + tree::type_of(start) + ", the parameters are " +
                     tree::type_of(all_params) + "; they must be real: make them so, for example with view_as_real");
  const Unravel<tree::AnyTree> state{y0}, parameters{params};
  const ParametricField field = [f = f.kept(), state, parameters](const Tensor& t, const Tensor& y, const Tensor& p) {
    return slope_vector("backsolve", f(call::any_list(t, state(y), parameters(p))), state.like, y.dtype());
  };
  const Options back = options_back(options, start, all_params);

  const auto solve = [=](const Tensor& begin, const Tensor& from, const Tensor& until, const Tensor& p) {
    Number first = t0, last = t1;  // numbers stay known
    first.tensor = from, last.tensor = until;
    const auto slope = [=](const Tensor& t, const Tensor& y) { return field(t, y, p); };
    const auto found = ode_solve(slope, begin, first, last, options);
    return Ends{found.y, found.ys, found.t, found.status, found.steps, found.rejected};
  };
  const auto forward = [=](const Tensor& begin, const Tensor& from, const Tensor& until, const Tensor& p) {
    const Ends ends = solve(begin, from, until, p);
    return std::pair{ends, Residuals{begin, from, until, p, ends.y, ends.ys, ends.status}};
  };
  const auto backward = [=](const Residuals& r, const Ends& cotangent) {
    const auto or_zeros = [](const Tensor& ct, const Tensor& like) { return ct.defined() ? ct : zeros_like(like); };
    const Tensor of_end = or_zeros(cotangent.y, r.y);
    Adjoint at = valid_where(eq(r.status, success), {r.y, of_end, zeros_like(r.params)});
    Tensor from = r.t1;
    if (options.save_at.defined()) {
      const auto step = [=](const std::pair<Adjoint, Tensor>& s, const std::tuple<Tensor, Tensor, Tensor>& saved) {
        const auto& [given, y, of_y] = saved;
        const Tensor is_kept = logical_not(isnan(y).any());  // else the time was not reached
        const Tensor time = where(is_kept, to(given, float64), s.second);
        Adjoint there = went_back(field, s.first, s.second, time, r.params, back);
        there.y = where(is_kept, y, there.y);
        there.of_y = there.of_y + where(is_kept, of_y, 0);
        return std::pair{std::pair{there, time}, Tensor(0)};
      };
      const std::tuple saved{options.save_at.detach(), r.ys, or_zeros(cotangent.ys, r.ys)};
      std::tie(at, from) = scan(step, std::pair{at, to(from, float64)}, saved, {.reverse = true}).first;
    }
    at = went_back(field, at, from, r.t0, r.params, back);
    const auto slope_at = [&](const Tensor& t, const Tensor& y) { return field(to(t, y.dtype()), y, r.params); };
    const Tensor of_t1 = sum(of_end * slope_at(r.t1, r.y)), of_t0 = -sum(at.of_y * slope_at(r.t0, r.y0));
    return std::tuple{at.of_y, to(of_t0, r.t0.dtype()), to(of_t1, r.t1.dtype()), at.of_params};
  };
  const auto as_dtype = [](const Number& time) { return to(time.tensor, float64); };
  const CustomVjp solution{solve, forward, backward, {"backsolve", "take ode_solve, whose steps have both modes"}};
  const Ends ends = solution(start, as_dtype(t0), as_dtype(t1), all_params);
  const Tensor times = options.save_at.defined() ? times_of("backsolve", options.save_at) : zeros({0}, start.dtype());
  return {ends.t,
          state(ends.y),
          times,
          rows_as_trees(ends.ys, y0),
          full({}, -1, int64),
          ends.status,
          ends.steps,
          ends.rejected};
}

}  // namespace runs
}  // namespace ricci::ode
