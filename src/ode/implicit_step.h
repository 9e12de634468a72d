// One step of an implicit Runge–Kutta method: each stage is a system of equations, solved by Newton's iterations.
#pragma once

#include "ode/step.h"
#include "ode/step_size.h"

namespace ricci::ode {

/// Where the iterations do not converge, the state is NaN. Derivatives are those of the systems' solutions.
Step implicit_step(const Tableau& method, const Field& field, const Tolerance& tolerance, const Span& span);

}  // namespace ricci::ode
