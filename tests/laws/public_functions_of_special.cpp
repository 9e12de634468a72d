// Bessel functions, exponential integrals, the zeta function, Kaiser's window and L D L* factors, as the cases of
// tools/torch_values_of_special.py call them.
#include <ricci/ops/bessel.h>
#include <ricci/ops/decompositions.h>
#include <ricci/ops/incomplete.h>
#include <ricci/ops/sequences.h>
#include <ricci/ops/special.h>

#include "public_functions.h"

namespace laws {
namespace {

namespace rc = ricci;

Function solved(rc::LdlOptions options) {
  return [options](X x) {
    const auto [ld, pivots] = ldl_factor(x[0], options);
    return List{ldl_solve(ld, pivots, x[1], options)};
  };
}
Function kaiser(std::int64_t n, double beta, bool periodic) {
  return [=](X) { return List{rc::kaiser_window(n, beta, {.periodic = periodic, .dtype = rc::float64})}; };
}

}  // namespace

const Table& special() {
  static const Table table = [] {
    Table cases = {
        {"exp1", of(rc::exp1)},
        {"expi", of(rc::expi)},
        {"zeta", of(rc::zeta)},
        {"zeta values", of(rc::zeta)},
        {"zeta edges kink", [](X x) { return List{rc::detach(zeta(x[0], x[1]))}; }},
        {"kaiser_window", [](X x) { return List{rc::kaiser_window(7, x[0], {.dtype = rc::float64})}; }},
        {"kaiser_window 12", kaiser(8, 12, true)},
        {"kaiser_window symmetric", kaiser(6, 3, false)},
        {"kaiser_window one", kaiser(1, 3, true)},
        {"ldl_factor kink", [](X x) { return both(ldl_factor(detach(x[0]))); }},
        {"ldl_factor pairs kink", [](X x) { return both(ldl_factor(detach(x[0]))); }},
        {"ldl_factor complex kink", [](X x) { return both(ldl_factor(detach(x[0]))); }},
        {"ldl_factor hermitian kink", [](X x) { return both(ldl_factor(detach(x[0]), {.hermitian = true})); }},
        {"ldl_factor_ex kink", [](X x) { return all(ldl_factor_ex(detach(x[0]))); }},
        {"ldl_factor_ex hermitian kink", [](X x) { return all(ldl_factor_ex(detach(x[0]), {.hermitian = true})); }},
        {"ldl_solve",
         [](X x) {
           const auto [ld, pivots] = ldl_factor(x[0]);
           return List{ldl_solve(ld, pivots, x[1])};
         }},
        {"ldl_solve many", solved({})},
        {"ldl_solve complex", solved({})},
        {"ldl_solve hermitian", solved({.hermitian = true})},
        {"ldl_solve longer", solved({})},
    };
    using OfOne = Tensor (*)(const Tensor&);
    const std::map<std::string, OfOne> bessel = {
        {"airy_ai", rc::airy_ai},
        {"bessel_j0", rc::bessel_j0},
        {"bessel_j1", rc::bessel_j1},
        {"bessel_y0", rc::bessel_y0},
        {"bessel_y1", rc::bessel_y1},
        {"spherical_bessel_j0", rc::spherical_bessel_j0},
        {"modified_bessel_i0", rc::modified_bessel_i0},
        {"modified_bessel_i1", rc::modified_bessel_i1},
        {"modified_bessel_k0", rc::modified_bessel_k0},
        {"modified_bessel_k1", rc::modified_bessel_k1},
        {"scaled_modified_bessel_k0", rc::scaled_modified_bessel_k0},
        {"scaled_modified_bessel_k1", rc::scaled_modified_bessel_k1},
    };
    for (const auto& [name, f] : bessel) {
      cases[name] = of(f);
      const bool is_finite_at_0 = name.find("_y") == std::string::npos && name.find("_k") == std::string::npos;
      if (is_finite_at_0) cases[name + " at 0"] = of(f);
    }
    return cases;
  }();
  return table;
}

}  // namespace laws
