// The adjoint equation, as one ode_solve back in time from each time that was saved to the one before it.
#include "ricci/ode/backsolve.h"

#include <tuple>
#include <utility>

#include "ricci/control.h"
#include "ricci/custom_derivatives.h"
#include "ricci/ops.h"
#include "ricci/primitive/raise.h"
#include "ricci/ravel.h"
#include "ricci/transforms.h"

namespace ricci::ode {
namespace {

tree::AnyTree as_tree(const Tensor& vector, tree::AnyTree like) {
  tree::unravel(vector, call::walk(like));
  return like;
}

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

/// Back from one time to another.
Adjoint went_back(const ParametricField& f, const Adjoint& at, const Tensor& from, const Tensor& to_time,
                  const Tensor& params, const Options& options) {
  const auto slope = [=](const Tensor& t, const Adjoint& s) { return adjoint_slope(f, t, s, params); };
  return ode_solve(slope, at, from, to_time, options).y;
}

/// What a solution gives, and what its reverse mode needs.
struct Ends {
  Tensor y, ys, t, status, steps, rejected;
};
struct Residuals {
  Tensor y0, t0, t1, params, y, ys;
};

}  // namespace

namespace runs {

Solution<tree::AnyTree> backsolve(const tree::AnyFunction& f, const tree::AnyTree& y0, const Number& t0,
                                  const Number& t1, const tree::AnyTree& params, const Options& options) {
  const Tensor start = tree::ravel(call::walk(y0)), all_params = tree::ravel(call::walk(params));
  if (start.is_complex() || all_params.is_complex())
    raise<TypeError>("backsolve: the state is " + tree::type_of(start) + ", the parameters are " +
                     tree::type_of(all_params) + "; they must be real: make them so, for example with view_as_real");
  const ParametricField field = [f = f.kept(), y0, params](const Tensor& t, const Tensor& y, const Tensor& p) {
    const tree::AnyTree slope = f(call::any_list(t, as_tree(y, y0), as_tree(p, params)));
    return tree::ravel(call::walk(slope));
  };
  const Options back = [&] {
    Options o = options;
    o.save_at = {};
    return o;
  }();

  const auto solve = [=](const Tensor& begin, const Tensor& from, const Tensor& until, const Tensor& p) {
    Number first = t0, last = t1;  // numbers stay known
    first.tensor = from, last.tensor = until;
    const auto slope = [=](const Tensor& t, const Tensor& y) { return field(t, y, p); };
    const auto found = ode_solve(slope, begin, first, last, options);
    return Ends{found.y, found.ys, found.t, found.status, found.steps, found.rejected};
  };
  const auto forward = [=](const Tensor& begin, const Tensor& from, const Tensor& until, const Tensor& p) {
    const Ends ends = solve(begin, from, until, p);
    return std::pair{ends, Residuals{begin, from, until, p, ends.y, ends.ys}};
  };
  const auto backward = [=](const Residuals& r, const Ends& cotangent) {
    const auto or_zeros = [](const Tensor& ct, const Tensor& like) { return ct.defined() ? ct : zeros_like(like); };
    const Tensor of_end = or_zeros(cotangent.y, r.y);
    Adjoint at{r.y, of_end, zeros_like(r.params)};
    Tensor from = r.t1;
    if (options.save_at.defined()) {
      const auto step = [=](const std::pair<Adjoint, Tensor>& s, const std::tuple<Tensor, Tensor, Tensor>& saved) {
        const auto& [time, y, of_y] = saved;
        Adjoint there = went_back(field, s.first, s.second, time, r.params, back);
        there.y = y;
        there.of_y = there.of_y + of_y;
        return std::pair{std::pair{there, to(time, float64)}, Tensor(0)};
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
  const Ends ends = custom_vjp(solve, forward, backward)(start, as_dtype(t0), as_dtype(t1), all_params);
  const Tensor times = options.save_at.defined() ? options.save_at : zeros({0}, start.dtype());
  const auto rows = [&](const Tensor& row) { return as_tree(row, y0); };
  return {ends.t,
          as_tree(ends.y, y0),
          times,
          call::walk(y0).leaves.empty() ? y0 : vmap(rows)(ends.ys),
          full({}, -1, int64),
          ends.status,
          ends.steps,
          ends.rejected};
}

}  // namespace runs
}  // namespace ricci::ode
