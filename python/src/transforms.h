// What the module is made of, one function a file.
#pragma once

#include <nanobind/nanobind.h>

namespace ricci::python {

void make_vmap(nanobind::module_& m);         // vmap.cpp
void make_derivatives(nanobind::module_& m);  // derivatives.cpp
void make_jacobians(nanobind::module_& m);    // jacobians.cpp
void make_control(nanobind::module_& m);      // control.cpp
void make_programs(nanobind::module_& m);     // programs.cpp
void make_functions(nanobind::module_& m);    // functions.cpp
void make_tape(nanobind::module_& m);         // tape.cpp
void make_library(nanobind::module_& m);      // library.cpp
void make_optim(nanobind::module_& m);        // optim.cpp
void make_ode(nanobind::module_& m);          // ode.cpp
void make_sparse(nanobind::module_& m);       // sparse.cpp
void make_solvers(nanobind::module_& m);      // solvers.cpp
void make_linear(nanobind::module_& m);       // linear.cpp
void make_sample(nanobind::module_& m);       // sample.cpp
void make_debug(nanobind::module_& m);        // debug.cpp
void make_distributions(nanobind::module_& m);  // distributions.cpp

}  // namespace ricci::python
