// How long steps are: from errors, and, of the first step, from f and its change. No derivative goes through.
#pragma once

#include "ode/step.h"
#include "ricci/ode/options.h"

namespace ricci::ode {

struct Tolerance {
  Tensor rtol, atol;
};

/// The root mean square of x / (atol + rtol |y|): real, 0-dim, float64; 0 of no elements.
Tensor scaled_norm(const Tolerance& tolerance, const Tensor& x, const Tensor& y);

/// |y| where it is greater than |other|, else that, element by element.
Tensor greater_size(const Tensor& y, const Tensor& other);

/// The size of the first step, positive. `direction`: 1 or -1, of time. Hairer, Nørsett and Wanner, Solving Ordinary
/// Differential Equations I, II.4.
Tensor first_step_size(const Tolerance& tolerance, const Field& field, int error_order, const Tensor& t,
                       const Tensor& y, const Tensor& f, const Tensor& direction);

/// What is remembered of the steps before: 1/e₂ and 1/e₃ of StepSizes.
struct Errors {
  Tensor last, before;
};

/// The factor from this step's size to the next one's; `errors` becomes that of the next step. `error`: e₁, may be NaN.
Tensor size_factor(const StepSizes& sizes, int error_order, const Tensor& error, const Tensor& accepted,
                   Errors& errors);

}  // namespace ricci::ode
