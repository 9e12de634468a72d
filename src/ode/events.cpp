// Roots of conditions along the polynomial of a step, with implicit derivatives.
#include "ode/events.h"

#include <limits>

#include "ricci/control.h"
#include "ricci/implicit.h"
#include "ricci/ops.h"
#include "ricci/primitive/raise.h"
#include "ricci/tree/walk.h"

namespace ricci::ode {

Tensor values_of(const Events& events, const Tensor& t, const Tensor& y) {
  std::vector<Tensor> values;
  for (const Event<Tensor>& event : events) {
    const Tensor value = event.condition(t, y);
    if (!value.defined() || !is_floating(value.dtype()) || value.dim() != 0)
      raise<ValueError>("ode_solve: a condition of an event gives " + tree::type_of(value) +
                        "; it must give one real number, which changes its sign at the event");
    values.push_back(to(value, float64));
  }
  return stack(values);
}

Tensor crossed_between(const Events& events, const Tensor& before, const Tensor& after) {
  const Tensor rises = logical_and(lt(before, 0), ge(after, 0)), falls = logical_and(gt(before, 0), le(after, 0));
  std::vector<Tensor> crossed;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto n = static_cast<std::int64_t>(i);
    switch (events[i].crossing) {
      case Crossing::any: crossed.push_back(logical_or(rises[n], falls[n])); break;
      case Crossing::rising: crossed.push_back(rises[n]); break;
      case Crossing::falling: crossed.push_back(falls[n]); break;
    }
  }
  return stack(crossed);
}

namespace {

/// Where within the piece, from 0 to 1, f is 0: halved until float64 has no number in between. f at 0 is not 0.
Tensor root_within(const std::function<Tensor(const Tensor&)>& f) {
  struct Bracket {
    Tensor low, high;
  };
  const auto solve = [](const auto& g, const Tensor& start) {
    const auto halved = [g, begin = g(zeros_like(start))](const Tensor&, const Bracket& b) {
      const Tensor middle = 0.5 * (b.low + b.high), is_before = gt(g(middle) * begin, 0);
      return Bracket{where(is_before, middle, b.low), where(is_before, b.high, middle)};
    };
    constexpr int halvings = std::numeric_limits<double>::digits;
    return fori_loop(0, halvings, halved, Bracket{zeros_like(start), ones_like(start)}).high;
  };
  const auto tangent_solve = [](const auto& slope, const Tensor& y) { return y / slope(ones_like(y)); };
  return custom_root(f, ones({}, float64), solve, tangent_solve);
}

}  // namespace

Occurrence first_event(const Events& events, const Watch& watch, const Tableau& method, const Piece& piece) {
  Tensor first = full({}, std::numeric_limits<double>::infinity(), float64), which = zeros({}, int64);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto n = static_cast<std::int64_t>(i);
    const Tensor is_within = watch.crossed[n];
    // One that is not within the step has a root all the same, at its end, so that no derivative is infinite.
    const auto along = [event = events[i], method = &method, piece, is_within](const Tensor& part) {
      const Tensor t = piece.t + part * piece.h;
      return where(is_within, to(event.condition(t, value_within(*method, piece, t)), float64), part - 1);
    };
    const Tensor part = root_within(along);
    const Tensor is_first = logical_and(is_within, lt(part, first));
    first = where(is_first, part, first);
    which = where(is_first, n, which);
  }
  const Tensor t = piece.t + first * piece.h;
  return {t, value_within(method, piece, t), which};
}

}  // namespace ricci::ode
