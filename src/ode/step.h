// One step of a method whose stages are explicit, and the polynomial between its ends. Knows nothing of step sizes.
#pragma once

#include <functional>
#include <vector>

#include "ode/tableau.h"
#include "ricci/tensor.h"

namespace ricci::ode {

/// f over vectors: the derivative of y at a time, which is 0-dim and in float64.
using Field = std::function<Tensor(const Tensor& t, const Tensor& y)>;

/// A step that was taken: y(t + θ h) = y + h Σ_j p_j(θ) k_j.
struct Piece {
  Tensor t, h, y;              ///< where it began, how long it is, negative of a step back in time; the state there
  std::vector<Tensor> slopes;  ///< those whose row of Tableau::dense is not empty
};

/// What a step goes over.
struct Span {
  Tensor t, y, f;  ///< where it begins; the state and its slope there
  Tensor end, h;   ///< h: end - t
};

struct Step {
  Tensor y, f;                 ///< the state at the end, and its slope
  Tensor error;                ///< of y, estimated; undefined of a method without estimate
  std::vector<Tensor> slopes;  ///< all k_j
};

/// Σ_j weights_j slopes_j; undefined if all weights are 0.
Tensor weighted(const std::vector<double>& weights, const std::vector<Tensor>& slopes);

Step explicit_step(const Tableau& method, const Field& field, const Span& span);

/// The step before, of a method that takes two.
struct Before {
  Tensor t, y;  ///< where it began
};
/// From `before` over two steps, by the slope between them. Of the first step, before which there is none, that begins
/// where this one does.
Step leapfrog_step(const Field& field, const Before& before, const Span& span);

/// Those of all slopes that a piece keeps.
std::vector<Tensor> slopes_between(const Tableau& method, const std::vector<Tensor>& slopes);

/// y at a time within the piece; of a piece of no length, y where it begins.
Tensor value_within(const Tableau& method, const Piece& piece, const Tensor& t);

}  // namespace ricci::ode
