// The loop over steps, from one time to the next that is asked for.
#include "ricci/ode/solve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "custom/closure.h"
#include "ode/events.h"
#include "ode/implicit_step.h"
#include "ode/noise_step.h"
#include "ode/state.h"
#include "ode/step.h"
#include "ode/step_size.h"
#include "primitive/interpreter.h"
#include "ricci/control.h"
#include "ricci/debug.h"
#include "ricci/implicit.h"
#include "ricci/no_grad.h"
#include "ricci/ops.h"
#include "ricci/primitive/raise.h"
#include "ricci/ravel.h"
#include "ricci/transforms.h"
#include "ricci/tree/unknowns.h"

namespace ricci::ode {
namespace {

/// A number that is written anew where it is used, since loops take their steps faster where a number is a literal.
struct Value {
  Number given;
  bool defined() const { return given.tensor.defined(); }
  operator Tensor() const { return given.number ? Tensor(*given.number) : given.tensor; }
};

/// Throws ValueError if it is a number and not positive.
void require_positive(const char* call, const char* name, const Number& size) {
  if (size.number && !(*size.number > 0))
    raise<ValueError>(std::string(call) + ": " + name + " is " + std::to_string(*size.number) +
                      "; it must be positive, also back in time");
}

/// A time: in float64, if it is no number. Throws ValueError unless it is 0-dim.
Value time_of(const char* call, const char* name, const Number& time) {
  if (!time.tensor.defined() || time.tensor.dim() != 0)
    raise<ValueError>(std::string(call) + ": " + name + " is " + tree::type_of(time.tensor) + "; a time is one number");
  return {time.number ? time : Number(to(time.tensor, float64))};
}

/// The same without derivatives.
Value constant_of(const Value& value) {
  return value.given.number ? value : Value{Number(value.given.tensor.detach())};
}

/// What does not change between steps.
struct Problem {
  const char* call;  // for errors
  const Tableau* method;
  Field field;
  Value t0, t1, direction;  // 1, or -1 where t1 is before t0
  Value longest;            // step; undefined: any
  Value rtol, atol;
  Options options;
  Events events;
  bool keeps_pieces;
  std::optional<Noise> noise;
  Value dt;                                 // of constant steps; undefined: steps follow from errors
  Tensor count;                             // of constant steps, int64; -1: there are none from t0 to t1
  std::optional<std::int64_t> known_count;  // the same, where it is known while a program is recorded

  bool is_constant() const { return dt.defined(); }
  Tensor steps() const { return known_count ? Tensor(*known_count) : count; }
};

/// Where a solution is: the state of the loop.
struct Progress {
  Tensor t, y, f;  // f: the slope there
  Tensor size;     // of the next step, positive; 0 where steps became too small, NaN where errors became NaN
  Tensor steps, rejected;
  std::optional<Errors> errors;
  std::optional<Piece> piece;  // the last step
  std::optional<Watch> watch;
  std::optional<Before> before;  // of a method that takes two steps
  std::optional<Tensor> path;    // of noise, its value at t
};

/// The conditions of events after a step from s to (t, y); none of them changed sign if it was not accepted.
std::optional<Watch> watched(const Problem& p, const Progress& s, const Tensor& t, const Tensor& y,
                             const Tensor& accepted) {
  if (!s.watch) return std::nullopt;
  const no_grad guard;
  const Tensor values = values_of(p.events, t, y);
  const Tensor crossed = logical_and(accepted, crossed_between(p.events, s.watch->values, values));
  return Watch{where(accepted, values, s.watch->values), crossed};
}

Tolerance tolerance_of(const Problem& p) { return {p.rtol, p.atol}; }

/// What is kept of a step from s.
std::optional<Piece> piece_of(const Problem& p, const Progress& s, const Tensor& h, const std::vector<Tensor>& slopes) {
  if (!p.keeps_pieces) return std::nullopt;
  return Piece{s.t, h, s.y, slopes_between(*p.method, slopes)};
}

Step step_over(const Problem& p, const Progress& s, const Tensor& end, const Tensor& h) {
  const Span span{s.t, s.y, s.f, end, h};
  if (s.before) return leapfrog_step(p.field, *s.before, span);
  if (p.method->gamma != 0) return implicit_step(*p.method, p.field, tolerance_of(p), span);
  return explicit_step(*p.method, p.field, span);
}

/// The value of the noise's path at a time.
Tensor path_at(const Noise& noise, const Tensor& t, const Tensor& y) {
  return noise.path(t, y.shape(), real_dtype(y.dtype()));
}

Progress constant_step(const Problem& p, const Progress& s) {
  Progress next = s;
  next.steps = s.steps + 1;
  next.t = where(ge(next.steps, p.steps()), p.t1, p.t0 + p.direction * (to(next.steps, float64) * p.dt));
  const Tensor h = next.t - s.t;
  if (s.path) next.path = path_at(*p.noise, next.t, s.y);
  const Step step = s.path ? noise_step(*p.noise, p.field, {s.t, s.y, s.f, next.t, h}, *next.path - *s.path)
                           : step_over(p, s, next.t, h);
  next.y = step.y, next.f = step.f;
  next.piece = piece_of(p, s, h, step.slopes);
  next.watch = watched(p, s, next.t, step.y, true);
  if (s.before) next.before = Before{s.t, s.y};
  return next;
}

/// The one piece, or the other.
std::optional<Piece> chosen(const Tensor& condition, const std::optional<Piece>& yes, const std::optional<Piece>& no) {
  if (!yes) return std::nullopt;
  Piece piece{where(condition, yes->t, no->t), where(condition, yes->h, no->h), where(condition, yes->y, no->y), {}};
  for (std::size_t j = 0; j < yes->slopes.size(); ++j)
    piece.slopes.push_back(where(condition, yes->slopes[j], no->slopes[j]));
  return piece;
}

/// The slopes, the state and its slope of a step: all of it that may have derivatives.
std::vector<Tensor> parts_of(const Step& step) {
  std::vector<Tensor> parts = step.slopes;
  parts.push_back(step.y), parts.push_back(step.f);
  return parts;
}
Step step_of(std::vector<Tensor> parts, const Tensor& error) {
  Step step{.y = parts[parts.size() - 2], .f = parts.back(), .error = error, .slopes = {}};
  parts.resize(parts.size() - 2);
  step.slopes = std::move(parts);
  return step;
}

/// `values`, computed without derivatives, with those of f(), which gives the same. f runs for derivatives alone, where
/// that is known.
std::vector<Tensor> with_derivatives_of(const Problem& p, const std::function<std::vector<Tensor>()>& f,
                                        const std::vector<Tensor>& values) {
  if (!function::is_recorded("ode_solve", call::walk(values))) return innermost_derivative() > 0 ? f() : values;
  // Where examples have directions of their own, a compiled loop with a rule runs step by step, not in lanes: 13 times
  // as long.
  if (!p.direction.given.number) return f();
  // A program that is recorded may be differentiated later: only a derivative rule knows when it is.
  const auto difference = [&](const std::vector<Tensor>& x) {
    std::vector<Tensor> result = f();
    for (std::size_t i = 0; i < x.size(); ++i) result[i] = x[i] - result[i];
    return result;
  };
  const auto as_it_is = [](const auto&, const std::vector<Tensor>& x) { return x; };
  return custom_root(difference, values, as_it_is, as_it_is);
}

Progress adaptive_step(const Problem& p, const Progress& s) {
  const Tensor left = abs(p.t1 - s.t), is_last = ge(s.size, left), size = where(is_last, left, s.size);
  const Tensor h = p.direction * size, end = where(is_last, p.t1, s.t + h);
  const Step tried = [&] {
    const no_grad guard;
    return step_over(p, s, end, h);
  }();
  const Tensor error = scaled_norm(tolerance_of(p), tried.error, greater_size(s.y, tried.y)), accepted = lt(error, 1);
  // Reverse mode multiplies all slopes by the cotangents of a step that is not taken, zeros. Where f gives NaN behind
  // such a step, these products are NaN: the step that has derivatives does not go there, but stays where it begins.
  // Implicit steps divide by h.
  constexpr double no_length = 1e-30;
  const auto again = [&] {
    return parts_of(step_over(p, s, where(accepted, end, s.t), where(accepted, h, no_length)));
  };
  const Step step = step_of(with_derivatives_of(p, again, parts_of(tried)), tried.error);
  Progress next = s;
  next.t = where(accepted, end, s.t);
  next.y = where(accepted, step.y, s.y), next.f = where(accepted, step.f, s.f);
  next.size = size.detach() * size_factor(p.options.step_sizes, p.method->error_order, error, accepted, *next.errors);
  if (p.longest.defined()) next.size = minimum(next.size, p.longest);
  const Tensor smallest = 16 * std::numeric_limits<double>::epsilon() * abs(s.t.detach());
  const Tensor stuck = logical_and(logical_not(accepted), le(next.size, smallest));
  next.size = where(stuck, 0 * error, next.size);
  next.steps = s.steps + to(accepted, int64);
  next.rejected = s.rejected + to(logical_not(accepted), int64);
  next.piece = chosen(accepted, piece_of(p, s, h, step.slopes), s.piece);
  next.watch = watched(p, s, end, tried.y, accepted);
  return next;
}

/// Whether an event ended it.
Tensor is_over(const Progress& s) { return any(s.watch->crossed); }

Tensor goes_on(const Problem& p, const Progress& s) {
  const Tensor is_before = p.is_constant() ? lt(s.steps, p.steps()) : gt(p.direction * (p.t1 - s.t), 0);
  const Tensor may_step = logical_and(gt(s.size, 0), lt(s.steps + s.rejected, p.options.max_steps));
  const Tensor goes = logical_and(is_before, may_step);
  return s.watch ? logical_and(goes, logical_not(is_over(s))) : goes;
}

Progress stepped(const Problem& p, const Progress& s) {
  return p.is_constant() ? constant_step(p, s) : adaptive_step(p, s);
}

using Shared = std::shared_ptr<const Problem>;

/// Steps until `end` is within the last one, or there are no more.
Progress advanced(const Shared& p, const Progress& s, const Tensor& end) {
  const auto is_before = [p, end](const Progress& s) {
    return logical_and(goes_on(*p, s), gt(p->direction * (end - s.t), 0));
  };
  return while_loop(is_before, [p](const Progress& s) { return stepped(*p, s); }, s,
                    {.checkpoint = p->options.checkpoint});
}
/// All steps that are left.
Progress advanced(const Shared& p, const Progress& s) {
  const LoopOptions options{.checkpoint = p->options.checkpoint};
  const auto step = [p](const Progress& s) { return stepped(*p, s); };
  if (p->known_count && !p->keeps_pieces)
    return fori_loop(
        0, std::min(*p->known_count, p->options.max_steps),
        [step](const Tensor&, const Progress& s) { return step(s); }, s, options);
  return while_loop([p](const Progress& s) { return goes_on(*p, s); }, step, s, options);
}

Progress begun(const Problem& p, const Tensor& y0) {
  const Tensor zero = zeros({}, int64);
  const Tensor t0 = to(Tensor(p.t0), float64);
  Progress s{t0, y0, p.field(t0, y0), {}, zero, zero, {}, {}, {}, {}, {}};
  if (p.options.solver == LeapfrogMidpoint) s.before = Before{s.t, y0};
  if (p.noise) s.path = zeros_like(real(y0));
  if (p.is_constant()) s.size = ones({}, float64);
  else {
    const Number& given = p.options.first_step;
    s.size = given.tensor.defined()
                 ? Tensor(constant_of(time_of(p.call, "first_step", given)))
                 : first_step_size(tolerance_of(p), p.field, p.method->error_order, s.t, y0, s.f, p.direction);
    if (p.longest.defined()) s.size = minimum(s.size, p.longest);
    s.errors = Errors{ones({}, float64), ones({}, float64)};
  }
  s.piece = piece_of(p, s, zeros({}, float64), std::vector<Tensor>(p.method->dense.size(), s.f));
  if (!p.events.empty()) {
    const Tensor values = values_of(p.events, s.t, y0);
    s.watch = Watch{values, zeros_like(values, boolean)};
  }
  return s;
}

/// y at the end of all steps. Where t1 is t0 there are none, and y changes with both times all the same, by f.
Tensor with_slope_at_start(const Problem& p, const Progress& s) {
  const Tensor length = Tensor(p.t1) - Tensor(p.t0), zero = where(eq(length, 0), length, 0);
  return s.y + zero * where(isfinite(s.f), s.f, 0);
}

/// Where a solution that takes no more steps ends: at an event within the last step, or at that step's end.
Occurrence end_of(const Shared& p, const Progress& s) {
  const auto at_end = [p](const Progress& s) {
    return Occurrence{s.t, with_slope_at_start(*p, s), full({}, -1, int64)};
  };
  if (!s.watch) return at_end(s);
  const auto at_event = [p](const Progress& s) { return first_event(p->events, *s.watch, *p->method, *s.piece); };
  return cond(is_over(s), at_event, at_end, s);
}

Tensor status_of(const Problem& p, const Progress& s) {
  Tensor reached = p.is_constant() ? ge(s.steps, p.steps()) : le(p.direction * (p.t1 - s.t), 0);
  if (s.watch) reached = logical_or(reached, is_over(s));
  const Tensor has_way = p.is_constant() ? ge(p.steps(), 0) : logical_not(isnan(Tensor(p.t1) - Tensor(p.t0)));
  const Tensor unfinished = where(eq(s.size, 0), step_too_small, where(isnan(s.size), not_finite, max_steps_reached));
  return to(where(logical_and(has_way, all(isfinite(s.y))), where(reached, success, unfinished), not_finite), int64);
}

/// `y`, and an error that says why where the status is not success.
Tensor checked(const std::string& call, const Tensor& y, const Tensor& status) {
  const auto refused = [&](const Tensor& x, std::int64_t why, const char* what) {
    return debug::check_finite(where(eq(status, why), std::nan(""), x), call + what);
  };
  Tensor result = refused(y, not_finite, ": the state, or what f gave for it,");
  result = refused(result, max_steps_reached, " took max_steps steps and did not reach t1; y, which");
  return refused(result, step_too_small, ": steps became too small to meet the tolerance; y, which");
}

/// Steps of a constant size.
void set_count(Problem& p, const Number& t0, const Number& t1) {
  const Number& dt = p.options.dt;
  require_positive(p.call, "dt", dt);
  p.dt = time_of(p.call, "dt", dt);
  // A step that is longer by a part of 1e-9 is better than one more that is as short.
  constexpr double slack = 1e-9, most = 1e18;
  if (t0.number && t1.number && dt.number && !std::isnan(*t1.number - *t0.number)) {
    const double length = std::abs(*t1.number - *t0.number), count = std::ceil(length / *dt.number - slack);
    p.known_count = length > 0 ? static_cast<std::int64_t>(std::clamp(count, 1., most)) : 0;
    return;
  }
  const Tensor size = Tensor(p.dt).detach(), length = abs(Tensor(p.t1) - Tensor(p.t0)).detach();
  const Tensor count = where(gt(length, 0), clamp(ceil(length / size - slack), 1, most), 0);
  const Tensor leads_there = logical_and(gt(size, 0), logical_not(isnan(length)));
  p.count = to(where(leads_there, count, -1), int64);
}

Problem problem_of(const char* call, const Tableau& method, const Field& field, const Number& t0, const Number& t1,
                   const Options& options) {
  Problem p{.call = call, .method = &method, .field = field, .options = options};
  p.t0 = time_of(call, "t0", t0), p.t1 = time_of(call, "t1", t1);
  if (t0.number && t1.number) p.direction = {*t1.number < *t0.number ? -1 : 1};
  else p.direction = {to(where(ge(Tensor(p.t1), Tensor(p.t0)), 1, -1), float64)};
  require_positive(call, "max_step", options.max_step);
  require_positive(call, "first_step", options.first_step);
  if (options.max_step.tensor.defined()) p.longest = constant_of(time_of(call, "max_step", options.max_step));
  p.rtol = {options.rtol}, p.atol = {options.atol};
  p.options.save_at = times_of(call, options.save_at);
  p.keeps_pieces = options.save_at.defined();
  if (options.dt.tensor.defined()) set_count(p, t0, t1);
  else if (method.error.empty())
    raise<ValueError>(std::string(call) + ": " + method.name +
                      " has no estimate of its error; give the size of its steps, .dt = 0.01");
  return p;
}

/// f over the vectors of states like `like`.
Field field_of(const char* call, const tree::AnyFunction& f, const tree::AnyTree& like, DType dtype) {
  return [call, f = f.kept(), unravel = Unravel<tree::AnyTree>{like}, dtype](const Tensor& t, const Tensor& y) {
    const tree::AnyTree slope = f(ricci::call::any_list(to(t, real_dtype(dtype)), unravel(y)));
    return slope_vector(call, slope, unravel.like, dtype);
  };
}

Events over_vectors(const std::vector<Event<tree::AnyTree>>& events, const tree::AnyTree& like, DType dtype) {
  Events result;
  for (const auto& [condition, crossing] : events)
    result.push_back({[condition, unravel = Unravel<tree::AnyTree>{like}, dtype](const Tensor& t, const Tensor& y) {
                        return condition(to(t, real_dtype(dtype)), unravel(y));
                      },
                      crossing});
  return result;
}

/// Which of the times are behind `end`, as `times` can hold it: 0.1 in float32 is behind 0.1.
Tensor are_behind(const Problem& p, const Tensor& times, const Tensor& end) {
  return gt(p.direction * (times - to(end, times.dtype())), 0);
}

/// The values at times from t0 on, in order: as many rows. NaN where a time is not within the solution or not in
/// order.
Tensor values_at(const Shared& p, Progress& s, const Tensor& times) {
  const Tensor starts = ge(p->direction * (times - to(p->t0, times.dtype())), 0), exact = to(times, float64);
  const Tensor is_before = gt(p->direction * (p->t0 - exact), 0);
  const Tensor at = where(are_behind(*p, times, p->t1), std::nan(""), where(is_before, p->t0, exact));
  const auto step = [p](const Progress& before, const Tensor& time) {
    const Tensor end = where(gt(p->direction * (time - p->t1), 0), p->t1, time);
    Progress after = advanced(p, before, end);
    const Tensor is_within =
        logical_and(ge(p->direction * (after.t - end), 0), ge(p->direction * (end - after.piece->t), 0));
    // A NaN in place of the time would make derivatives of all that the step depends on NaN.
    const Tensor inside = where(is_within, end, after.piece->t);
    Tensor value = where(is_within, value_within(*p->method, *after.piece, inside), std::nan(""));
    return std::pair{std::move(after), std::move(value)};
  };
  auto [last, values] = scan(step, s, where(starts, at, std::nan("")));
  s = std::move(last);
  return values;
}

/// From y0 on, a vector. `like`: the tree that it stands for.
Solution<tree::AnyTree> solved(const Shared& p, const Tensor& y0, const tree::AnyTree& like) {
  const Options& options = p->options;
  const DType dtype = y0.dtype();
  Progress s = begun(*p, y0);
  Tensor times = zeros({0}, real_dtype(dtype)), values = zeros({0, y0.shape()[0]}, dtype);
  if (options.save_at.defined()) {
    times = options.save_at;
    values = values_at(p, s, times);
  }
  s = advanced(p, s);
  Occurrence end = end_of(p, s);
  if (s.watch && options.save_at.defined())
    values = where(unsqueeze(are_behind(*p, times, end.t), -1), std::nan(""), values);
  Solution<tree::AnyTree> solution;
  solution.status = status_of(*p, s);
  if (options.throw_on_failure) end.y = checked(p->call, end.y, solution.status);
  solution.t = to(end.t, real_dtype(dtype));
  solution.y = Unravel<tree::AnyTree>{like}(end.y);
  solution.ts = times;
  solution.ys = rows_as_trees(values, like);
  solution.event = end.event;
  solution.steps = s.steps;
  solution.rejected = s.rejected;
  return solution;
}

}  // namespace

std::string text_of(std::int64_t status) {
  constexpr std::array<const char*, 4> texts = {"success", "max_steps_reached", "not_finite", "step_too_small"};
  if (status < 0 || status >= std::ssize(texts))
    raise<ValueError>("text_of: " + std::to_string(status) + " is no status; pass the status of a solution");
  return texts[static_cast<std::size_t>(status)];
}

namespace runs {

Solution<tree::AnyTree> ode_solve(const tree::AnyFunction& f, const tree::AnyTree& y0, const Number& t0,
                                  const Number& t1, const Options& options,
                                  const std::vector<Event<tree::AnyTree>>& events) {
  tree::require_unknowns("ode_solve", call::walk(y0));
  const Tensor start = tree::ravel(call::walk(y0));
  const DType dtype = start.dtype();
  const Tableau& method = tableau_of(options.solver);
  if (is_complex(dtype) && method.gamma != 0)
    raise<TypeError>("ode_solve: the state is " + tree::type_of(start) +
                     "; an implicit solver takes real ones: make it one, for example with view_as_real");
  Problem p = problem_of("ode_solve", method, field_of("ode_solve", f, y0, dtype), t0, t1, options);
  p.events = over_vectors(events, y0, dtype);
  p.keeps_pieces = p.keeps_pieces || !events.empty();
  return solved(std::make_shared<Problem>(std::move(p)), start, y0);
}

Solution<tree::AnyTree> sde_solve(const tree::AnyFunction& drift, const tree::AnyFunction& diffusion,
                                  const tree::AnyTree& y0, const Number& t0, const Number& t1, const Key& key,
                                  const SdeOptions& o) {
  tree::require_unknowns("sde_solve", call::walk(y0));
  const Tensor start = tree::ravel(call::walk(y0));
  const DType dtype = start.dtype();
  Problem p = problem_of("sde_solve", tableau_of(o.solver), field_of("sde_solve", drift, y0, dtype), t0, t1,
                         {.dt = o.dt,
                          .save_at = o.save_at,
                          .max_steps = o.max_steps,
                          .checkpoint = o.checkpoint,
                          .throw_on_failure = o.throw_on_failure});
  p.noise = Noise{o.solver,
                  field_of("sde_solve", diffusion, y0, dtype),
                  {key, to(Tensor(p.t0), float64), to(Tensor(p.t1), float64), o.levels}};
  return solved(std::make_shared<Problem>(std::move(p)), start, y0);
}

}  // namespace runs
}  // namespace ricci::ode
