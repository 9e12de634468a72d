// Solvers of nonlinear problems in Python, under ricci.solvers: the C++ ones over Python's trees. A result is a tuple
// here; python/ricci/solvers.py makes an object of it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <limits>
#include <utility>

#include "callback.h"
#include "ricci/ops.h"
#include "ricci/ravel.h"
#include "ricci/solve.h"
#include "transforms.h"

namespace ricci::python {
namespace {

using namespace solvers;

nb::object given_back(const Result<Tree>& found) {
  return nb::make_tuple(python::given_back(found.value), found.residual, found.steps, found.status);
}

/// What a solver starts from. A number takes the dtype that f gives for it.
Tree start_of(const char* name, const Callback& f, nb::handle initial) {
  const bool is_integer = PyLong_Check(initial.ptr()) && !PyBool_Check(initial.ptr());
  const nb::object start = is_integer ? nb::object(nb::float_(initial)) : nb::borrow(initial);
  return unknowns_of(name, unknown_of(name, f, start));
}

/// Bounds of the unknowns: one Tensor or number, or a tree like the start, whose parts are spread over its leaves. None
/// is no bound; `none` is what stands for it in a tree.
Tensor bound_of(const char* which, nb::handle given, const Tree& start, double none) {
  Tensor number;
  if (given.is_none()) return {};
  if (is_tensor(given.ptr())) return tensor_of(given.ptr());
  if (number_from(given.ptr(), number)) return number;
  Tree bounds = with_numbers_as_tensors(tree_of(given, start.structure.get()));
  const tree::Walk like = call::walk(start), walk = call::walk(bounds);
  if (!tree::same_structure(like, walk))
    throw ValueError("least_squares: " + std::string(which) + " is " + tree::to_string(walk) + ", and the start is " +
                     tree::to_string(like) + "; give a number, or a tree like the start");
  for (std::size_t i = 0; i < like.leaves.size(); ++i) {
    const Tensor &of = *like.leaves[i], bound = walk.leaves[i]->defined() ? *walk.leaves[i] : Tensor(none);
    if (!of.defined() || !is_differentiable(of.dtype())) continue;
    *walk.leaves[i] = expand(to(bound, of.dtype()), of.shape());
  }
  return ravel(bounds).vector;
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
        return given_back(root_find(function, start_of("root_find", function, initial),
                                    {solver, rtol, atol, max_steps, throw_on_failure}));
      },
      nb::arg("f"), nb::arg("initial"), nb::arg("solver"), nb::arg("rtol").none(), nb::arg("atol").none(),
      nb::arg("max_steps"), nb::arg("throw_on_failure"));
}

void make_fixed_points(nb::module_& m) {
  nb::class_<FixedPointSolver>(m, "FixedPointSolver",
                               "A way to find fixed points: fixed_point_iteration() or anderson().");
  m.def("fixed_point_iteration", &fixed_point_iteration, "x = f(x), again and again.");
  m.def(
      "anderson", [](std::int64_t history, double mixing) { return anderson({history, mixing}); },
      nb::arg("history") = 5, nb::arg("mixing") = 1.0,
      "Anderson's acceleration: the mean of the last points whose f(x) - x is least.");
  m.def(
      "fixed_point",
      [](nb::handle f, nb::handle initial, const FixedPointSolver& solver, const Tensor& rtol, const Tensor& atol,
         std::int64_t max_steps, bool throw_on_failure) {
        const Callback function(f, "fixed_point");
        return given_back(fixed_point(function, start_of("fixed_point", function, initial),
                                      {solver, rtol, atol, max_steps, throw_on_failure}));
      },
      nb::arg("f"), nb::arg("initial"), nb::arg("solver"), nb::arg("rtol").none(), nb::arg("atol").none(),
      nb::arg("max_steps"), nb::arg("throw_on_failure"));
}

void make_least_squares(nb::module_& m) {
  nb::class_<LeastSquaresSolver>(m, "LeastSquaresSolver",
                                 "A way to find least squares: gauss_newton(), levenberg_marquardt() or dogleg().");
  m.def("gauss_newton", &gauss_newton, "Whole steps, without bounds.");
  m.def("levenberg_marquardt", &levenberg_marquardt, nb::arg("damping") = 1e-3,
        "Damped steps; the damping falls after good steps and grows after bad ones, which are not taken.");
  m.def("dogleg", &dogleg, nb::arg("radius") = 1.0,
        "Powell's steps in a ball whose radius grows after good steps and shrinks after bad ones.");
  nb::class_<Loss>(m, "Loss", "What a residual costs: scale^2 rho((r / scale)^2) / 2.")
      .def(
          "__init__",
          [](Loss* self, nb::handle rho, const Tensor& scale) {
            new (self) Loss{TensorCallback(rho, "Loss", "rho must return a Tensor or a number"), scale};
          },
          nb::arg("rho"), nb::arg("scale") = 1.0);
  const auto scale = nb::arg("scale") = 1.0;
  m.def("huber", &huber, scale, "rho(z) = z up to 1, then 2 sqrt(z) - 1.");
  m.def("soft_l1", &soft_l1, scale, "rho(z) = 2 (sqrt(1 + z) - 1).");
  m.def("cauchy", &ricci::solvers::cauchy, scale, "rho(z) = ln(1 + z).");
  m.def("arctan", &ricci::solvers::arctan, scale, "rho(z) = arctan(z).");
  m.def(
      "least_squares",
      [](nb::handle f, nb::handle initial, const LeastSquaresSolver& solver, const Loss* loss, nb::handle lower,
         nb::handle upper, const Tensor& rtol, const Tensor& atol, std::int64_t max_steps, bool throw_on_failure) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const Callback function(f, "least_squares");
        const Tree start = start_of("least_squares", function, initial);
        const Tensor from = bound_of("lower", lower, start, -infinity), to = bound_of("upper", upper, start, infinity);
        return given_back(
            least_squares(function, start,
                          {solver, loss ? *loss : Loss(), from, to, rtol, atol, max_steps, throw_on_failure}));
      },
      nb::arg("f"), nb::arg("initial"), nb::arg("solver"), nb::arg("loss").none(), nb::arg("lower").none(),
      nb::arg("upper").none(), nb::arg("rtol").none(), nb::arg("atol").none(), nb::arg("max_steps"),
      nb::arg("throw_on_failure"));
}

void make_minima(nb::module_& m) {
  nb::class_<Minimiser>(m, "Minimiser",
                        "A way to find minima: bfgs(), lbfgs(), nonlinear_cg(), trust_region() or nelder_mead().");
  m.def("bfgs", &bfgs, "Quasi-Newton steps by an approximate inverse of the Hessian; strong Wolfe line searches.");
  m.def("lbfgs", &lbfgs, nb::arg("history") = 10, "The same from the last steps alone: for many unknowns.");
  m.def("nonlinear_cg", &nonlinear_cg, "Conjugate gradients after Polak and Ribiere.");
  m.def("trust_region", &trust_region, "Newton's method in a ball, with Hessian-vector products.");
  m.def("nelder_mead", &nelder_mead, "A simplex of points that needs no derivatives.");
  m.def(
      "minimise",
      [](nb::handle f, nb::handle initial, const Minimiser& solver, const Tensor& rtol, const Tensor& atol,
         std::int64_t max_steps, bool throw_on_failure) {
        const Callback function(f, "minimise");
        return given_back(minimise(function, start_of("minimise", function, initial),
                                   {solver, rtol, atol, max_steps, throw_on_failure}));
      },
      nb::arg("f"), nb::arg("initial"), nb::arg("solver"), nb::arg("rtol").none(), nb::arg("atol").none(),
      nb::arg("max_steps"), nb::arg("throw_on_failure"));
}

using Motion = std::pair<Tensor, Tensor>;  // quaternion and translation
Motion motion_of(const SE3& x) { return {x.rotation.quaternion, x.translation}; }
SE3 se3_of(const Motion& m) { return {{m.first}, m.second}; }

/// Functions of quaternions and translations, for the classes in python/ricci/solvers.py.
void make_lie_groups(nb::module_& m) {
  const auto q = nb::arg("quaternion"), other = nb::arg("other"), x = nb::arg("x"), motion = nb::arg("motion");
  m.def("so3_exp", [](const Tensor& v) { return SO3::exp(v).quaternion; }, x);
  m.def("so3_of_matrix", [](const Tensor& v) { return SO3::of_matrix(v).quaternion; }, x);
  m.def("so3_log", [](const Tensor& q) { return SO3{q}.log(); }, q);
  m.def("so3_matrix", [](const Tensor& q) { return SO3{q}.matrix(); }, q);
  m.def("so3_inverse", [](const Tensor& q) { return SO3{q}.inverse().quaternion; }, q);
  m.def("so3_apply", [](const Tensor& q, const Tensor& x) { return SO3{q}.apply(x); }, q, x);
  m.def("so3_retract", [](const Tensor& q, const Tensor& x) { return SO3{q}.retract(x).quaternion; }, q, x);
  m.def("so3_product", [](const Tensor& q, const Tensor& p) { return (SO3{q} * SO3{p}).quaternion; }, q, other);
  m.def("se3_exp", [](const Tensor& v) { return motion_of(SE3::exp(v)); }, x);
  m.def("se3_of_matrix", [](const Tensor& v) { return motion_of(SE3::of_matrix(v)); }, x);
  m.def("se3_log", [](const Motion& m) { return se3_of(m).log(); }, motion);
  m.def("se3_matrix", [](const Motion& m) { return se3_of(m).matrix(); }, motion);
  m.def("se3_adjoint", [](const Motion& m) { return se3_of(m).adjoint(); }, motion);
  m.def("se3_inverse", [](const Motion& m) { return motion_of(se3_of(m).inverse()); }, motion);
  m.def("se3_apply", [](const Motion& m, const Tensor& x) { return se3_of(m).apply(x); }, motion, x);
  m.def("se3_retract", [](const Motion& m, const Tensor& x) { return motion_of(se3_of(m).retract(x)); }, motion, x);
  m.def(
      "se3_product", [](const Motion& m, const Motion& n) { return motion_of(se3_of(m) * se3_of(n)); }, motion, other);
}

}  // namespace

void make_solvers(nb::module_& module) {
  nb::module_ m = module.def_submodule("_solvers");
  m.def("text_of", &text_of, nb::arg("status"), "The name of a status.");
  make_roots(m);
  make_fixed_points(m);
  make_least_squares(m);
  make_minima(m);
  make_lie_groups(m);
}

}  // namespace ricci::python
