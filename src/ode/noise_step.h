// One step of a stochastic differential equation dy = f dt + g dW, W of independent elements, as many as y has.
#pragma once

#include "ode/step.h"
#include "ricci/ode/brownian.h"
#include "ricci/ode/sde.h"

namespace ricci::ode {

struct Noise {
  SdeSolver solver;
  Field diffusion;
  BrownianPath path;
};

/// `change`: that of W over the span.
Step noise_step(const Noise& noise, const Field& drift, const Span& span, const Tensor& change);

/// Straight lines between the ends of steps.
const Tableau& tableau_of(SdeSolver solver);

}  // namespace ricci::ode
