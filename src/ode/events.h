// Events: whether one is within a step, and when.
#pragma once

#include <vector>

#include "ode/step.h"
#include "ricci/ode/options.h"

namespace ricci::ode {

using Events = std::vector<Event<Tensor>>;  ///< over vectors

/// What is remembered of the last step.
struct Watch {
  Tensor values;   ///< the conditions at its end: [n], float64
  Tensor crossed;  ///< which of them changed sign within it: [n], booleans
};

/// What the conditions are at a time: [n], float64.
Tensor values_of(const Events& events, const Tensor& t, const Tensor& y);

/// Which of the conditions changed sign, as their events ask for.
Tensor crossed_between(const Events& events, const Tensor& before, const Tensor& after);

/// The first event within a piece.
struct Occurrence {
  Tensor t, y;
  Tensor event;  ///< int64
};
/// Requires: an element of watch.crossed is true.
Occurrence first_event(const Events& events, const Watch& watch, const Tableau& method, const Piece& piece);

}  // namespace ricci::ode
