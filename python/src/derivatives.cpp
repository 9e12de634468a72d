// grad, vjp, jvp, jet and linearize of a Python function.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <array>
#include <numeric>

#include "arguments.h"
#include "ricci/transforms/jet.h"
#include "transforms.h"

namespace ricci::python {
namespace {

nb::handle none_if_empty(nb::handle named) { return PyDict_GET_SIZE(named.ptr()) ? named : nb::handle(); }

enum class Gives : std::uint8_t { gradient, gradient_and_value, value_and_gradient };

/// What grad and its kin return.
struct Differentiated {
  nb::object f;
  Argnums argnums;
  bool has_aux;
  Gives gives;
  runs::Place where;

  const char* name() const {
    constexpr const char* names[] = {"grad", "grad_and_value", "value_and_grad"};
    return names[static_cast<int>(gives)];
  }
  Recipe recipe() const {
    Recipe r{name(), f};
    if (!argnums.is_first()) r.options["argnums"] = object_of(argnums);
    r.tell("has_aux", has_aux, false);
    return r;
  }

  nb::object operator()(nb::args given, nb::kwargs named) const {
    Arguments arguments(given);
    const std::vector<int> at = positions(argnums, arguments.trees.size(), name());
    std::vector<Tree> gradients;
    for (const int position : at) gradients.push_back(arguments.trees[static_cast<std::size_t>(position)]);
    runs::ReverseRun run(name(), where);
    const std::vector<tree::Walk> walks = arguments.walks();
    run.enter(walks, at);
    Result result = result_of(f, arguments.rebuild(), none_if_empty(named), has_aux, name());
    const bool is_tensor = result.output.structure->nodes[0].kind == TreeNode::Kind::tensor;
    if (result.output.leaves.empty()) run.refuse_loss(described(rebuild(result.output)));
    const tree::Walk output = walk_of(result.output), aux = walk_of(result.aux);
    run.check_loss(output, is_tensor);
    const runs::Recording recording = run.leave(output, has_aux ? &aux : nullptr);
    std::vector<tree::Walk> gradient_walks;
    for (Tree& gradient : gradients) gradient_walks.push_back(walk_of(gradient));
    runs::write_gradients(recording, gradient_walks);
    raise_dropped_interrupt();
    return give(gradients, result);
  }

 private:
  nb::object give(const std::vector<Tree>& gradients, const Result& result) const {
    nb::object gradient;
    if (argnums.is_single) {
      gradient = rebuild(gradients[0]);
    } else {
      nb::list list;
      for (const Tree& one : gradients) list.append(rebuild(one));
      gradient = nb::tuple(list);
    }
    if (gives == Gives::gradient) return has_aux ? nb::object(nb::make_tuple(gradient, rebuild(result.aux))) : gradient;
    nb::object value = rebuild(result.output);
    if (has_aux) value = nb::make_tuple(value, rebuild(result.aux));
    return gives == Gives::gradient_and_value ? nb::make_tuple(gradient, value) : nb::make_tuple(value, gradient);
  }
};

template <Gives gives>
Differentiated differentiated(nb::object f, nb::handle argnums, bool has_aux) {
  Differentiated result{.f = std::move(f), .has_aux = has_aux, .gives = gives, .where = place_here()};
  require_function(result.f, result.name());
  result.argnums = argnums_from(argnums, result.name());
  return result;
}

/// The reverse derivative at a point.
struct Pullback {
  runs::Recording recording;
  Tree output;
  std::vector<Tree> primals;

  nb::object operator()(nb::handle cotangents) const {
    Tree given = tree_of(cotangents, output.structure.get());
    std::vector<Tree> gradients = primals;
    std::vector<tree::Walk> walks;
    for (Tree& gradient : gradients) walks.push_back(walk_of(gradient));
    runs::write_pullback(recording, walk_of(given), walks);
    nb::list list;
    for (const Tree& gradient : gradients) list.append(rebuild(gradient));
    return nb::tuple(list);
  }
};

nb::object vjp(nb::object f, nb::args primals, bool has_aux) {
  require_function(f, "vjp");
  Arguments arguments(primals);
  std::vector<Tree> structure = arguments.trees;
  runs::ReverseRun run("vjp", place_here(), {.cotangents_are_given = true});
  std::vector<int> all(arguments.trees.size());
  std::iota(all.begin(), all.end(), 0);
  const std::vector<tree::Walk> walks = arguments.walks();
  run.enter(walks, all);
  Result result = result_of(f, arguments.rebuild(), {}, has_aux, "vjp");
  if (result.output.leaves.empty()) run.refuse(described(rebuild(result.output)).c_str());
  std::vector<tree::Walk> structure_walks;
  for (Tree& tree : structure) structure_walks.push_back(walk_of(tree));
  runs::forget_floating(structure_walks);
  const tree::Walk output = walk_of(result.output), aux = walk_of(result.aux);
  run.check_outputs(output);
  runs::Recording recording = run.leave(output, has_aux ? &aux : nullptr);
  raise_dropped_interrupt();
  nb::object value = rebuild(result.output);
  for (Tensor& leaf : result.output.leaves) leaf = Tensor();  // the pullback needs their places alone
  nb::object pullback = nb::cast(Pullback{std::move(recording), result.output, std::move(structure)});
  return has_aux ? nb::make_tuple(value, pullback, rebuild(result.aux)) : nb::make_tuple(value, pullback);
}

nb::object as_tuple(nb::handle o, const char* name, const char* what) {
  if (PyTuple_Check(o.ptr())) return nb::borrow(o);
  if (PyList_Check(o.ptr())) return nb::steal(PySequence_Tuple(o.ptr()));
  if (is_tensor(o.ptr())) return nb::make_tuple(o);
  throw TypeError(std::string(name) + ": " + what + " must be a tuple, one for each argument, not " +
                  name_of_type(o.ptr()));
}

/// Tangents where None stands for that of a tensor of integers.
std::vector<Tree> tangents_like(nb::handle given, const std::vector<Tree>& primals) {
  std::vector<Tree> trees;
  const auto count = static_cast<std::size_t>(PyTuple_GET_SIZE(given.ptr()));
  for (std::size_t i = 0; i < count; ++i)
    trees.push_back(tree_of(nb::handle(PyTuple_GET_ITEM(given.ptr(), static_cast<Py_ssize_t>(i))),
                            i < primals.size() ? primals[i].structure.get() : nullptr));
  return trees;
}

nb::object jvp(nb::object f, nb::handle given_primals, nb::handle given_tangents, bool strict, bool has_aux) {
  require_function(f, "jvp");
  Arguments primals(as_tuple(given_primals, "jvp", "primals"));
  std::vector<Tree> tangents = tangents_like(as_tuple(given_tangents, "jvp", "tangents"), primals.trees);
  if (tangents.size() != primals.trees.size())
    throw ValueError("jvp: there are " + std::to_string(primals.trees.size()) + " primals and " +
                     std::to_string(tangents.size()) + " tangents; there must be one tangent for each primal");
  runs::ForwardRun run("jvp", place_here());
  const std::vector<tree::Walk> primal_walks = primals.walks();
  std::vector<tree::Walk> tangent_walks;
  for (Tree& tangent : tangents) tangent_walks.push_back(walk_of(tangent));
  run.enter(primal_walks, tangent_walks);
  Result result = result_of(f, primals.rebuild(), {}, has_aux, "jvp");
  if (result.output.leaves.empty()) run.refuse(described(rebuild(result.output)).c_str());
  Tree tangent = result.output;
  const tree::Walk aux = walk_of(result.aux);
  run.leave(walk_of(result.output), walk_of(tangent), has_aux ? &aux : nullptr, strict);
  raise_dropped_interrupt();
  const nb::object value = rebuild(result.output), along = rebuild(tangent);
  return has_aux ? nb::make_tuple(value, along, rebuild(result.aux)) : nb::make_tuple(value, along);
}

/// The coefficients of one argument.
std::vector<nb::object> coefficients_from(nb::handle o) {
  if (!PyTuple_Check(o.ptr()) && !PyList_Check(o.ptr()))
    throw TypeError("jet: the coefficients of an argument must be a list, not " + name_of_type(o.ptr()));
  std::vector<nb::object> coefficients;
  for (const nb::handle coefficient : nb::iter(o)) coefficients.push_back(nb::borrow(coefficient));
  return coefficients;
}

nb::object jet(nb::object f, nb::handle given_primals, nb::handle given_series) {
  require_function(f, "jet");
  using Trees = std::vector<Tree>;  // one for each argument
  const runs::Place where = place_here();
  Arguments primals(as_tuple(given_primals, "jet", "primals"));
  std::vector<std::vector<nb::object>> coefficients;
  std::vector<std::size_t> orders;
  const nb::object given = as_tuple(given_series, "jet", "series");
  for (const nb::handle of_argument : nb::borrow<nb::tuple>(given)) {
    coefficients.push_back(coefficients_from(of_argument));
    orders.push_back(coefficients.back().size());
  }
  if (orders.empty() || orders.size() != primals.trees.size())
    throw ValueError("jet: there are " + std::to_string(primals.trees.size()) + " primals and " +
                     std::to_string(orders.size()) + " lists of coefficients; there must be one for each primal");
  runs::require_equal_orders(orders, where);
  std::vector<Trees> series;
  const std::vector<tree::Walk> primal_walks = primals.walks();
  for (std::size_t k = 0; k < orders[0]; ++k) {
    series.emplace_back();
    std::vector<tree::Walk> walks;
    for (std::size_t a = 0; a < orders.size(); ++a)
      series[k].push_back(tree_of(coefficients[a][k], primals.trees[a].structure.get()));
    for (Tree& coefficient : series[k]) walks.push_back(walk_of(coefficient));
    runs::require_coefficients(k + 1, primal_walks, walks, where);
  }
  const auto value_of = [&f](const Trees& arguments) {
    nb::list list;
    for (const Tree& argument : arguments) list.append(rebuild(argument));
    return result_of(f, nb::tuple(list), {}, false, "jet").output;
  };
  const auto [value, derivatives] = call::jet(value_of, std::tuple<Trees>(primals.trees), std::tuple(series), where);
  raise_dropped_interrupt();
  nb::list rebuilt;
  for (const Tree& derivative : derivatives) rebuilt.append(rebuild(derivative));
  return nb::make_tuple(rebuild(value), rebuilt);
}

/// A function's derivative at one point.
struct LinearMap {
  runs::Linearized linearized;
  Tree output;
  std::vector<Tree> primals;

  nb::object operator()(nb::args given) const {
    std::vector<Tree> tangents = tangents_like(given, primals);
    std::vector<tree::Walk> walks;
    for (Tree& tangent : tangents) walks.push_back(walk_of(tangent));
    if (tangents.size() != primals.size())
      throw ValueError("linearize: there are " + std::to_string(primals.size()) + " primals and " +
                       std::to_string(tangents.size()) + " tangents; there must be one tangent for each primal");
    Tree result = output;
    linearized.apply(walks, walk_of(result));
    return rebuild(result);
  }
};

nb::object linearize(nb::object f, nb::args given) {
  require_function(f, "linearize");
  Arguments primals(given);
  std::vector<Tree> structure = primals.trees;
  runs::LinearizeRun run(place_here());
  const std::vector<tree::Walk> walks = primals.walks();
  run.enter(walks);
  Result result = result_of(f, primals.rebuild(), {}, false, "linearize");
  if (result.output.leaves.empty()) run.refuse(described(rebuild(result.output)).c_str());
  runs::Linearized linearized = run.leave(walk_of(result.output));
  raise_dropped_interrupt();
  const nb::object value = rebuild(result.output);
  return nb::make_tuple(value,
                        nb::cast(LinearMap{std::move(linearized), std::move(result.output), std::move(structure)}));
}

}  // namespace

void make_derivatives(nb::module_& m) {
  nb::class_<Differentiated> c(m, "Differentiated", nb::type_slots(holds<&Differentiated::f>()));
  c.def("__call__", &Differentiated::operator());
  show_function(c);
  const auto argnums = nb::arg("argnums") = 0;
  const auto has_aux = nb::arg("has_aux") = false;
  m.def("grad", differentiated<Gives::gradient>, nb::arg("func"), argnums, has_aux,
        "The gradient of a function that returns one real floating 0-dim Tensor, in the tree of its argument.\n\n"
        "argnums: the argument, or a tuple of several, which gives a tuple. With has_aux the function returns (loss, "
        "aux), and the gradient comes as (gradient, aux).");
  m.def("grad_and_value", differentiated<Gives::gradient_and_value>, nb::arg("func"), argnums, has_aux,
        "As grad, and gives (gradient, value); with has_aux (gradient, (value, aux)).");
  m.def("value_and_grad", differentiated<Gives::value_and_gradient>, nb::arg("func"), argnums, has_aux,
        "As grad, and gives (value, gradient); with has_aux ((value, aux), gradient).");
  nb::class_<Pullback>(m, "Pullback").def("__call__", &Pullback::operator(), nb::arg("cotangents").none());
  m.def("vjp", vjp, nb::arg("func"), nb::arg("primals"), nb::arg("has_aux") = false,
        "(value, pullback): pullback(cotangents) is a tuple of cotangents, one for each primal. With has_aux (value, "
        "pullback, aux).");
  m.def("jvp", jvp, nb::arg("func"), nb::arg("primals"), nb::arg("tangents"), nb::kw_only(), nb::arg("strict") = false,
        nb::arg("has_aux") = false,
        "(value, tangent): the derivative along tangents, a tuple like that of the primals. With has_aux (value, "
        "tangent, aux).");
  m.def("jet", jet, nb::arg("func"), nb::arg("primals"), nb::arg("series"),
        "(value, derivatives): the derivatives by t at 0, first, second, …, of func along x + x1 t + x2 t²/2! + …, as "
        "JAX's jet. series: for each primal the list [x1, x2, …].");
  nb::class_<LinearMap>(m, "LinearMap").def("__call__", &LinearMap::operator());
  m.def("linearize", linearize, nb::arg("func"), nb::arg("primals"),
        "(value, map): map(*tangents) is the derivative along them, computed without running the function again.");
}

}  // namespace ricci::python
