// The coefficients of explicit Runge–Kutta methods, as Butcher wrote them down: all that one of them has of its own.
#pragma once

#include <vector>

#include "ricci/ode/solver.h"

namespace ricci::ode {

/// A method of s stages k₁ … k_s with k_i = f(t + c_i h, y + h Σ_j a_ij k_j), which gives y + h Σ_j b_j k_j. The slope
/// there is k_{s+1}, and k₁ of the next step.
struct Tableau {
  const char* name;
  int order;
  std::vector<double> c;
  std::vector<std::vector<double>> a;  ///< row i: the i weights of stage i + 1
  std::vector<double> b;
  /// The estimate of the error is h Σ_j error_j k_j, over all s + 1 slopes. Empty: there is none.
  std::vector<double> error;
  /// Between: y(t + θ h) = y + h Σ_j p_j(θ) k_j. Row j has the factors of θ, θ², … in p_j; an empty row is 0.
  std::vector<std::vector<double>> dense;
};

/// Requires: the solver is an explicit Runge–Kutta method.
const Tableau& tableau_of(Solver solver);

}  // namespace ricci::ode
