// vmap of a Python function.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "arguments.h"
#include "call.h"
#include "ricci/transforms/vmap_with_index.h"
#include "sizes.h"
#include "transforms.h"

namespace ricci::python {
namespace {

/// `out_dims=ricci.ragged`.
struct RaggedMark {};

/// What vmap returns.
struct Vmapped {
  nb::object f;
  VmapOptions options;
  bool is_ragged = false;
  bool with_index = false;
  runs::Place where;
  nb::object in_keys = {}, out_keys = {};  // the dims, where they hold dicts

  Recipe recipe() const {
    Recipe r{with_index ? "vmap_with_index" : "vmap", f};
    const VmapOptions usual;
    const auto tell_dims = [&](const char* name, const nb::object& keys, const Dims& dims) {
      const nb::object given = keys.is_valid() ? keys : dims_to(dims);
      if (!given.equal(nb::int_(0))) r.options[name] = given;
    };
    tell_dims("in_dims", in_keys, options.in_dims);
    if (is_ragged) r.options["out_dims"] = nb::cast(RaggedMark());
    else tell_dims("out_dims", out_keys, options.out_dims);
    r.tell("randomness", std::string(word_of(options.randomness)), word_of(usual.randomness));
    if (options.chunk_size) r.options["chunk_size"] = *options.chunk_size;
    if (options.lanes == Lanes::split) r.options["lanes"] = "split";
    r.tell("max_groups", options.max_groups, usual.max_groups);
    return r;
  }
  nb::object operator()(nb::args arguments, nb::kwargs named) const {
    std::vector<PyObject*> known;
    const Tree given = tree_of(arguments, nullptr, &known);
    if (in_keys.is_valid()) require_keys(in_keys, *given.structure, "in_dims");
    Tree shown = given;
    runs::BatchRun run(walk_of(shown), options, where, is_ragged);
    run.enter(walk_of(shown));
    Tree result = one_run(run, shown, named);
    for (Tree next = given; run.enter(walk_of(next)); next = given) one_run(run, next, named);
    raise_dropped_interrupt();
    if (is_ragged) return ragged(run, result);
    run.finish(walk_of(result));
    return rebuild(result, known);
  }

 private:
  Tree one_run(runs::BatchRun& run, const Tree& shown, nb::handle named) const {
    nb::object arguments = rebuild(shown);
    if (with_index) arguments = nb::make_tuple(wrapped(runs::example_number())) + arguments;
    const nb::object returned = call(f, arguments, PyDict_GET_SIZE(named.ptr()) ? named : nb::handle());
    Tree result = tree_of(returned);
    if (result.leaves.empty() && returned.is_none()) run.refuse("None");
    if (out_keys.is_valid()) require_keys(out_keys, *result.structure, "out_dims");
    run.leave(walk_of(result));
    return result;
  }
  static nb::object ragged(runs::BatchRun& run, const Tree& result) {
    const std::vector<Tensor> parts = run.finish_ragged();
    const nb::object ragged = nb::module_::import_("ricci").attr("Ragged");
    return rebuild_with(
        result, [&](std::size_t i) { return nb::object(ragged(wrapped(parts[2 * i]), wrapped(parts[2 * i + 1]))); });
  }
};

template <bool with_index>
Vmapped vmap(nb::object f, nb::handle in_dims, nb::handle out_dims, nb::handle randomness, nb::handle chunk_size,
             const std::string& lanes, std::int64_t max_groups) {
  require_function(f, with_index ? "vmap_with_index" : "vmap");
  Vmapped result{.f = std::move(f), .with_index = with_index, .where = place_here()};
  result.is_ragged = nb::isinstance<RaggedMark>(out_dims);
  result.options.in_dims = dims_from(in_dims, "in_dims");
  if (!result.is_ragged) result.options.out_dims = dims_from(out_dims, "out_dims");
  if (has_dict(in_dims)) result.in_keys = nb::borrow(in_dims);
  if (!result.is_ragged && has_dict(out_dims)) result.out_keys = nb::borrow(out_dims);
  result.options.randomness = randomness_from(randomness);
  result.options.chunk_size = chunk_from(chunk_size, "vmap");
  if (lanes != "together" && lanes != "split")
    throw ValueError("vmap: lanes must be \"together\" or \"split\", not \"" + lanes + "\"");
  result.options.lanes = lanes == "split" ? Lanes::split : Lanes::together;
  result.options.max_groups = max_groups;
  return result;
}

}  // namespace

void make_vmap(nb::module_& m) {
  nb::class_<RaggedMark>(m, "RaggedMark")
      .def("__repr__", [](const RaggedMark&) { return "ricci.ragged"; })
      .def("__reduce__", [](const RaggedMark&) {
        return nb::make_tuple(nb::module_::import_("ricci._functions").attr("named"),
                              nb::make_tuple("ricci", "ragged"));
      });
  m.attr("ragged") = nb::cast(RaggedMark());
  nb::class_<Vmapped> c(m, "Vmapped", nb::type_slots(holds<&Vmapped::f>()));
  c.def("__call__", &Vmapped::operator());
  show_function(c);
  const auto define = [&m](const char* name, auto* function, const char* text) {
    m.def(name, function, nb::arg("func"), nb::arg("in_dims").none() = 0, nb::arg("out_dims").none() = 0, nb::kw_only(),
          nb::arg("randomness") = "error", nb::arg("chunk_size") = nb::none(), nb::arg("lanes") = "together",
          nb::arg("max_groups") = 65536, text);
  };
  define(
      "vmap", vmap<false>,
      "Maps a function over one axis of its Tensors: vmap(f)(x) is stack([f(x[0]), f(x[1]), ...]), with one run of "
      "f.\n\n"
      "in_dims, out_dims: an axis, None, or a tree of those over the arguments and the result. randomness: \"error\", "
      "\"different\" or \"same\" for draws in f. chunk_size: examples at a time. lanes=\"split\": examples may part "
      "at an `if`. out_dims=ricci.ragged: results whose first size differs. Arguments by name are not mapped.");
  define("vmap_with_index", vmap<true>,
         "vmap of a function whose first argument is the number of the example, an int64 Tensor: vmap_with_index(f)(x) "
         "is stack([f(0, x[0]), f(1, x[1]), ...]).\n\n"
         "Arguments are those of vmap; in_dims are of what follows the number.");
}

}  // namespace ricci::python
