// jacrev, jacfwd and hessian of a Python function.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string_view>

#include "arguments.h"
#include "call.h"
#include "transforms.h"

namespace ricci::python {
namespace {

/// What jacrev and jacfwd return.
struct Jacobian {
  nb::object f;
  bool is_reverse;
  Argnums argnums;
  bool has_aux;
  JacobianOptions options;
  const char* name;
  runs::Place where;
  bool shown = true;

  Recipe recipe() const {
    const bool is_hessian = std::string_view(name) == "hessian";
    if (is_hessian && shown) return nb::cast<const Jacobian&>(f).told_as("hessian");
    return told_as(is_hessian ? "jacrev" : name);
  }
  Recipe told_as(const char* transform) const {
    Recipe r{transform, f};
    if (!argnums.is_first()) r.options["argnums"] = object_of(argnums);
    r.tell("has_aux", has_aux, false);
    if (options.chunk_size) r.options["chunk_size"] = *options.chunk_size;
    r.tell("randomness", std::string(word_of(options.randomness)), word_of(JacobianOptions().randomness));
    return r;
  }

  nb::object operator()(nb::args given, nb::kwargs keywords) const {
    const Arguments original(given);
    Arguments arguments = original;
    const nb::handle named = PyDict_GET_SIZE(keywords.ptr()) ? nb::handle(keywords) : nb::handle();
    const std::vector<int> at = positions(argnums, original.trees.size(), name);
    std::vector<Tensor> rows;
    const Result result =
        is_reverse ? reverse(arguments, original, at, named, rows) : forward(arguments, original, at, named, rows);
    raise_dropped_interrupt();
    std::size_t next = 0;
    const auto of_inputs = [&](std::size_t) -> nb::object {
      nb::list parts;
      for (const int position : at)
        parts.append(rebuild_with(original.trees[static_cast<std::size_t>(position)],
                                  [&](std::size_t) { return wrapped(rows[next++]); }));
      return argnums.is_single ? nb::object(parts[0]) : nb::object(nb::tuple(parts));
    };
    const nb::object jacobian = rebuild_with(result.output, of_inputs);
    return has_aux ? nb::object(nb::make_tuple(jacobian, rebuild(result.aux))) : jacobian;
  }

 private:
  Result reverse(Arguments& arguments, const Arguments& original, const std::vector<int>& at, nb::handle named,
                 std::vector<Tensor>& rows) const {
    runs::ReverseRun run(name, where, {.shown = shown});
    const std::vector<tree::Walk> walks = arguments.walks();
    run.enter(walks, at);
    Result result = result_of(f, arguments.rebuild(), named, has_aux, name);
    if (result.output.leaves.empty()) run.refuse(described(rebuild(result.output)).c_str());
    const tree::Walk output = walk_of(result.output), aux = walk_of(result.aux);
    run.check_jacobian_outputs(output);
    const runs::Recording recording = run.leave(output, has_aux ? &aux : nullptr);
    std::vector<Tree> chosen;
    for (const int position : at) chosen.push_back(original.trees[static_cast<std::size_t>(position)]);
    std::vector<tree::Walk> inputs;
    for (Tree& tree : chosen) inputs.push_back(walk_of(tree));
    rows = runs::reverse_jacobian(recording, output, inputs, at, options, name, where);
    return result;
  }
  Result forward(Arguments& arguments, const Arguments& original, const std::vector<int>& at, nb::handle named,
                 std::vector<Tensor>& rows) const {
    runs::ForwardJacobian run(name, options, where);
    const auto one_run = [&](Arguments& shown_arguments) {
      Result result = result_of(f, shown_arguments.rebuild(), named, has_aux, name);
      if (result.output.leaves.empty()) run.refuse(described(rebuild(result.output)).c_str());
      const tree::Walk aux = walk_of(result.aux);
      run.leave(walk_of(result.output), has_aux ? &aux : nullptr);
      return result;
    };
    const std::vector<tree::Walk> walks = arguments.walks();
    run.enter(walks, at);
    Result result = one_run(arguments);
    for (;;) {
      Arguments next = original;
      const std::vector<tree::Walk> next_walks = next.walks();
      if (!run.enter(next_walks, at)) break;
      one_run(next);
    }
    rows = run.finish();
    return result;
  }
};

Jacobian jacobian(nb::object f, bool is_reverse, nb::handle argnums, bool has_aux, nb::handle chunk_size,
                  nb::handle randomness, const char* name) {
  require_function(f, name);
  return {.f = std::move(f),
          .is_reverse = is_reverse,
          .argnums = argnums_from(argnums, name),
          .has_aux = has_aux,
          .options = jacobian_options(chunk_size, randomness, name),
          .name = name,
          .where = place_here()};
}

}  // namespace

void make_jacobians(nb::module_& m) {
  nb::class_<Jacobian> c(m, "Jacobian", nb::type_slots(holds<&Jacobian::f>()));
  c.def("__call__", &Jacobian::operator());
  show_function(c);
  const auto argnums = nb::arg("argnums") = 0;
  const auto has_aux = nb::arg("has_aux") = false;
  const auto chunk_size = nb::arg("chunk_size") = nb::none();
  const auto randomness = nb::arg("randomness") = "error";
  m.def(
      "jacrev",
      [](nb::object f, nb::handle a, bool aux, nb::handle chunk, nb::handle random) {
        return jacobian(std::move(f), true, a, aux, chunk, random, "jacrev");
      },
      nb::arg("func"), argnums, has_aux, nb::kw_only(), chunk_size, randomness,
      "The Jacobian by reverse mode, one row for each element of the output: out.shape + in.shape, the tree of the "
      "output outside, that of the argument inside. chunk_size: rows at a time.");
  m.def(
      "jacfwd",
      [](nb::object f, nb::handle a, bool aux, nb::handle chunk, nb::handle random) {
        return jacobian(std::move(f), false, a, aux, chunk, random, "jacfwd");
      },
      nb::arg("func"), argnums, has_aux, nb::kw_only(), chunk_size, randomness,
      "The Jacobian by forward mode, one column for each element of the argument; the function runs once a chunk.");
  m.def(
      "hessian",
      [](nb::object f, nb::handle a, bool aux, nb::handle chunk, nb::handle random) {
        Jacobian inner = jacobian(std::move(f), true, a, aux, chunk, random, "hessian");
        inner.shown = false;
        return jacobian(nb::cast(std::move(inner)), false, a, aux, chunk, random, "hessian");
      },
      nb::arg("func"), argnums, has_aux, nb::kw_only(), chunk_size, randomness,
      "Second derivatives, forward over reverse: jacfwd(jacrev(func)).");
}

}  // namespace ricci::python
