// The solvers and what a solution says of how it went.
#pragma once

#include <cstdint>
#include <string>

namespace ricci::ode {

/// The order is that of the error of y at t1 in the step's size.
enum class Solver : std::uint8_t {
  Euler,     ///< order 1; constant steps alone
  Heun,      ///< order 2, with an estimate of its error by Euler's method
  Midpoint,  ///< order 2, the same
  RK4,       ///< order 4, the classical method; constant steps alone
  Tsit5,     ///< order 5, estimate of order 4: 6 slopes a step
  Dopri5,    ///< order 5, estimate of order 4: 6 slopes a step
  Dopri8,    ///< order 8, estimate of order 7: 13 slopes a step, for tolerances below about 1e-8 in float64
  /// Order 2, y(t + h) = y(t - h) + 2 h f(t, y(t)); constant steps alone. Symplectic and reversible: energies neither
  /// grow nor shrink. It is stable where f's Jacobian has imaginary eigenvalues of at most 1/h, and no others.
  LeapfrogMidpoint,
  // Implicit, for stiff equations: steps as long as y allows, whatever f's eigenvalues are. A step takes the Jacobian
  // of f, by forward mode, dense, and Newton's iterations.
  ImplicitEuler,  ///< order 1, estimate by the trapezoidal rule
  Kvaerno3,       ///< order 3, estimate of order 2: 3 systems a step
  Kvaerno5,       ///< order 5, estimate of order 4: 6 systems a step
};
using enum Solver;

// What a status says: `solution.status == ode::success`.
inline constexpr std::int64_t success = 0;            ///< t1 was reached
inline constexpr std::int64_t max_steps_reached = 1;  ///< `max_steps` steps, rejected ones counted, did not lead to t1
inline constexpr std::int64_t not_finite = 2;         ///< f or the state became NaN or infinite
inline constexpr std::int64_t step_too_small = 3;     ///< steps shrank until they no longer changed the time

/// A status as a text: "success", "max_steps_reached", …
///   ode::text_of(solution.status.item<std::int64_t>())
std::string text_of(std::int64_t status);

}  // namespace ricci::ode
