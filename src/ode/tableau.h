// The coefficients of Runge–Kutta methods, as Butcher wrote them down: all that one of them has of its own.
#pragma once

#include <vector>

#include "ricci/ode/solver.h"

namespace ricci::ode {

/// A method of s slopes k₁ … k_s with k_i = f(t + c_i h, y + h (Σ_j a_ij k_j + γ k_i)), without γ for i = 1, and with
/// y + h (Σ_j b_j k_j + γ k_{s+1}) at the end, where the slope is k_{s+1}, and k₁ of the next step.
struct Tableau {
  const char* name;
  int error_order = 1;  ///< that of the estimate, by which step sizes follow from errors
  std::vector<double> c = {};
  std::vector<std::vector<double>> a = {};  ///< row i: the i weights of stage i + 1
  std::vector<double> b = {};
  double gamma = 0;  ///< 0: the method is explicit
  /// The estimate of the error is h Σ_j error_j k_j, over all s + 1 slopes. Empty: there is none.
  std::vector<double> error = {};
  /// Between: y(t + θ h) = y + h Σ_j p_j(θ) k_j. Row j has the factors of θ, θ², … in p_j; an empty row is 0.
  std::vector<std::vector<double>> dense = {};
};

const Tableau& tableau_of(Solver solver);

}  // namespace ricci::ode
