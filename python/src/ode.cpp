// Differential equations in Python, under ricci.ode: the C++ solver over Python's trees.
#include "ricci/ode.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "callback.h"
#include "dtypes.h"
#include "ricci/default_dtype.h"
#include "sizes.h"
#include "transforms.h"
#include "tree.h"
#include "words.h"

namespace ricci::python {
namespace {

using namespace ode;

constexpr std::pair<const char*, Solver> solvers[] = {{"Euler", Euler},
                                                      {"Heun", Heun},
                                                      {"Midpoint", Midpoint},
                                                      {"RK4", RK4},
                                                      {"Tsit5", Tsit5},
                                                      {"Dopri5", Dopri5},
                                                      {"Dopri8", Dopri8},
                                                      {"LeapfrogMidpoint", LeapfrogMidpoint},
                                                      {"ImplicitEuler", ImplicitEuler},
                                                      {"Kvaerno3", Kvaerno3},
                                                      {"Kvaerno5", Kvaerno5}};
constexpr std::pair<const char*, SdeSolver> sde_solvers[] = {
    {"EulerMaruyama", SdeSolver::EulerMaruyama}, {"Heun", SdeSolver::Heun}, {"Milstein", SdeSolver::Milstein}};
constexpr std::pair<const char*, Crossing> crossings[] = {
    {"any", Crossing::any}, {"rising", Crossing::rising}, {"falling", Crossing::falling}};

/// A condition, or a tuple of it and which crossing counts.
Event<Tree> event_from(nb::handle given) {
  const auto condition_of = [](nb::handle f) {
    return TensorCallback(f, "ode_solve", "a condition of an event must return a Tensor or a number");
  };
  if (!PyTuple_Check(given.ptr())) return {condition_of(given)};
  if (PyTuple_GET_SIZE(given.ptr()) != 2)
    throw ValueError("ode_solve: an event is a function, or a tuple of it and \"any\", \"rising\" or \"falling\"");
  const auto word = nb::cast<std::string>(nb::handle(PyTuple_GET_ITEM(given.ptr(), 1)));
  return {condition_of(PyTuple_GET_ITEM(given.ptr(), 0)), word_of(word, crossings, "ode_solve", "crossing")};
}

/// A number of Python stays one; None is no time.
Number number_of(nb::handle given) {
  if (given.is_none()) return {};
  if (PyFloat_Check(given.ptr()) || PyLong_Check(given.ptr())) return nb::cast<double>(given);
  return nb::cast<Tensor>(given);
}

nb::object solution_to(const Solution<Tree>& found) {
  return nb::module_::import_("ricci.ode")
      .attr("Solution")(found.t, given_back(found.y), found.ts, rebuild(found.ys), found.event, found.status,
                        found.steps, found.rejected);
}

/// f of an equation: numbers in what it gives stand for Tensors.
class FieldCallback {
 public:
  FieldCallback(nb::handle f, const char* user) : f_(f, user) {}
  template <class... A>
  Tree operator()(const A&... a) const {
    const nb::gil_scoped_acquire lock;
    return with_numbers_as_tensors(f_(a...));
  }

 private:
  Callback f_;
};

nb::object ode_solve(nb::handle f, nb::handle y0, nb::handle t0, nb::handle t1, nb::handle events,
                     const Options& options) {
  std::vector<Event<Tree>> all_events;
  for (nb::handle event : events) all_events.push_back(event_from(event));
  return solution_to(ode::ode_solve(FieldCallback(f, "ode_solve"), unknowns_of("ode_solve", tree_of(y0)), number_of(t0),
                                    number_of(t1), options, all_events));
}

nb::object backsolve(nb::handle f, nb::handle y0, nb::handle t0, nb::handle t1, nb::handle params,
                     const Options& options) {
  return solution_to(ode::backsolve(FieldCallback(f, "backsolve"), unknowns_of("backsolve", tree_of(y0)), number_of(t0),
                                    number_of(t1), tree_of(params), options));
}

/// Defines `solve(f, y0, t0, t1, last, options)` for Python, with options as keywords. `own`: the name of `last`, and
/// where keywords begin.
template <class Solve, class... Own>
void define_solver(nb::module_& m, const char* name, const Solve& solve, const char* doc, const Own&... own) {
  m.def(
      name,
      [=](nb::handle f, nb::handle y0, nb::handle t0, nb::handle t1, nb::handle last, const std::string& solver,
          nb::handle rtol, nb::handle atol, nb::handle dt, nb::handle first_step, nb::handle max_step, double pcoeff,
          double icoeff, double dcoeff, const Tensor& save_at, std::int64_t max_steps, const std::string& checkpoint,
          bool throw_on_failure) {
        return solve(f, y0, t0, t1, last,
                     Options{.solver = word_of(solver, solvers, name, "solver"),
                             .rtol = number_of(rtol),
                             .atol = number_of(atol),
                             .dt = number_of(dt),
                             .first_step = number_of(first_step),
                             .max_step = number_of(max_step),
                             .step_sizes = {.p = pcoeff, .i = icoeff, .d = dcoeff},
                             .save_at = save_at,
                             .max_steps = max_steps,
                             .checkpoint = word_of(checkpoint, checkpoints, name, "checkpoint"),
                             .throw_on_failure = throw_on_failure});
      },
      nb::arg("f"), nb::arg("y0"), nb::arg("t0"), nb::arg("t1"), own..., nb::arg("solver") = "Tsit5",
      nb::arg("rtol") = 1e-3, nb::arg("atol") = 1e-6, nb::arg("dt").none() = nb::none(),
      nb::arg("first_step").none() = nb::none(), nb::arg("max_step").none() = nb::none(), nb::arg("pcoeff") = 0.0,
      nb::arg("icoeff") = 1.0, nb::arg("dcoeff") = 0.0, nb::arg("save_at").none() = nb::none(),
      nb::arg("max_steps") = 100'000, nb::arg("checkpoint") = "every_step", nb::arg("throw_on_failure") = false, doc);
}

Tensor brownian_path(const Key& key, const Tensor& t0, const Tensor& t1, const Tensor& t, nb::handle shape,
                     std::int64_t levels, nb::handle dtype) {
  Shape sizes;
  for (nb::handle given : shape) {
    Size size;
    if (!size_from(given.ptr(), size)) throw TypeError("brownian_path: a shape is a tuple of ints");
    sizes.push_back(size);
  }
  DType wanted = default_dtype();
  if (!dtype.is_none() && !dtype_from(dtype.ptr(), wanted))
    throw TypeError("brownian_path: dtype must be a dtype, such as rc.float32, not " + name_of_type(dtype.ptr()));
  return BrownianPath{key, t0, t1, levels}(t, sizes, wanted);
}

nb::object sde_solve(nb::handle drift, nb::handle diffusion, nb::handle y0, nb::handle t0, nb::handle t1,
                     const Key& key, nb::handle dt, const std::string& solver, const Tensor& save_at,
                     std::int64_t levels, std::int64_t max_steps, const std::string& checkpoint,
                     bool throw_on_failure) {
  return solution_to(ode::sde_solve(FieldCallback(drift, "sde_solve"), FieldCallback(diffusion, "sde_solve"),
                                    unknowns_of("sde_solve", tree_of(y0)), number_of(t0), number_of(t1), key,
                                    {.solver = word_of(solver, sde_solvers, "sde_solve", "solver"),
                                     .dt = number_of(dt),
                                     .save_at = save_at,
                                     .levels = levels,
                                     .max_steps = max_steps,
                                     .checkpoint = word_of(checkpoint, checkpoints, "sde_solve", "checkpoint"),
                                     .throw_on_failure = throw_on_failure}));
}

}  // namespace

void make_ode(nb::module_& module) {
  nb::module_ m = module.def_submodule("_ode");
  define_solver(
      m, "ode_solve", ode_solve,
      "The solution of y' = f(t, y), y(t0) = y0 up to t1: a Solution. y is any tree. Steps follow from rtol and atol, "
      "or are of the size dt. Events are conditions (t, y) -> Tensor, or tuples of one and a crossing, \"rising\" or "
      "\"falling\": the solution ends where one becomes 0. Under vmap each example takes its own steps.",
      nb::kw_only(), nb::arg("events") = nb::make_tuple());
  define_solver(
      m, "backsolve", backsolve,
      "The solution of y' = f(t, y, params), with the options of ode_solve. Reverse mode solves the adjoint equation "
      "back in time, in memory that does not grow with the steps, and gives derivatives by y0, params, t0 and t1. What "
      "f captures has none.",
      nb::arg("params").none(), nb::kw_only());
  m.def("sde_solve", sde_solve, nb::arg("drift"), nb::arg("diffusion"), nb::arg("y0"), nb::arg("t0"), nb::arg("t1"),
        nb::arg("key"), nb::kw_only(), nb::arg("dt"), nb::arg("solver") = "EulerMaruyama",
        nb::arg("save_at").none() = nb::none(), nb::arg("levels") = 15, nb::arg("max_steps") = 1'000'000'000,
        nb::arg("checkpoint") = "every_step", nb::arg("throw_on_failure") = false,
        "The solution of dy = drift(t, y) dt + diffusion(t, y) dW, in steps of size dt, along the path that the key "
        "says, the same for any dt: a Solution. Each element of y has its own element of W.");
  m.def(
      "brownian_path", brownian_path, nb::arg("key"), nb::arg("t0"), nb::arg("t1"), nb::arg("t"),
      nb::arg("shape") = nb::make_tuple(), nb::arg("levels") = 15, nb::arg("dtype").none() = nb::none(),
      "The value at time t of a Brownian path from 0 at t0: the same numbers at the same time, independent ones in all "
      "elements of the shape.");
  m.def("text_of", &text_of, nb::arg("status"), "A status as a text: \"success\", \"max_steps_reached\", ...");
}

}  // namespace ricci::python
