// Solvers of nonlinear problems in Python, under ricci.solvers: the C++ ones over Python's trees. A result is a tuple
// here; python/ricci/solvers.py makes an object of it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>

#include "callback.h"
#include "ricci/solve.h"
#include "transforms.h"

namespace ricci::python {
namespace {

using namespace solvers;

nb::object given_back(const Result<Tree>& found) {
  return nb::make_tuple(python::given_back(found.value), found.residual, found.steps, found.status);
}

void make_roots(nb::module_& m) {
  nb::class_<RootFinder>(m, "RootFinder",
                         "A way to find roots: newton(), chord(), broyden() or bisection(lower, upper).");
  m.def(
      "newton", [](bool line_search) { return newton({.line_search = line_search}); }, nb::kw_only(),
      nb::arg("line_search") = false,
      "Newton's method. With line_search, a step that does not make |f| smaller is shortened until it does.");
  m.def("chord", &chord, "Newton's method with the Jacobian of the start throughout.");
  m.def("broyden", &broyden, "Broyden's first method, from the Jacobian of the start.");
  m.def("bisection", &bisection, nb::arg("lower"), nb::arg("upper"),
        "Halves an interval at whose ends f has different signs, of one unknown.");
  m.def(
      "root_find",
      [](nb::handle f, nb::handle initial, const RootFinder& solver, const Tensor& rtol, const Tensor& atol,
         std::int64_t max_steps, bool throw_on_failure) {
        const Callback function(f, "root_find");
        return given_back(root_find(function, unknown_of("root_find", function, initial),
                                    {solver, rtol, atol, max_steps, throw_on_failure}));
      },
      nb::arg("f"), nb::arg("initial"), nb::arg("solver"), nb::arg("rtol").none(), nb::arg("atol").none(),
      nb::arg("max_steps"), nb::arg("throw_on_failure"));
}

}  // namespace

void make_solvers(nb::module_& module) {
  nb::module_ m = module.def_submodule("_solvers");
  m.def("text_of", &text_of, nb::arg("status"), "The name of a status.");
  make_roots(m);
}

}  // namespace ricci::python
