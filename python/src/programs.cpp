// trace and compile of a Python function, and Program.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "arguments.h"
#include "ricci/compile.h"
#include "ricci/compile_cache.h"
#include "ricci/pictures.h"
#include "ricci/program.h"
#include "ricci/transforms/eval_shape.h"
#include "threads.h"
#include "transforms.h"

namespace ricci::python {
namespace {

template <class T>
std::string text_of(const T& shown) {
  std::ostringstream out;
  out << shown;
  return out.str();
}

nb::handle named_or_null(const nb::kwargs& named) {
  return PyDict_GET_SIZE(named.ptr()) ? nb::handle(named) : nb::handle();
}

// ── trace ──

struct Traced {
  nb::object f;
  runs::Place where;

  Recipe recipe() const { return {"trace", f}; }
  Program operator()(nb::args arguments, nb::kwargs named) const {
    Tree shown = tree_of(arguments);
    runs::TraceRun run(where);
    run.enter(walk_of(shown));
    const nb::object returned = call(f, rebuild(shown), named_or_null(named));
    Tree result = tree_of(returned);
    if (result.leaves.empty()) run.refuse(described(returned).c_str());
    Program program = run.leave(walk_of(result));
    raise_dropped_interrupt();
    return program;
  }
};

nb::object eval_shape(const nb::object& f, const nb::args& arguments, const nb::kwargs& named) {
  require_function(f, "eval_shape");
  Tree shown = tree_of(arguments);
  runs::TypesRun run(place_here());
  run.enter(walk_of(shown));
  const nb::object returned = call(f, rebuild(shown), named_or_null(named));
  Tree result = tree_of(returned);
  if (result.leaves.empty()) run.refuse(described(returned).c_str());
  run.leave(walk_of(result));
  raise_dropped_interrupt();
  return rebuild(result);
}

std::vector<Tensor> tensors_of(nb::handle list) {
  std::vector<Tensor> all;
  for (nb::handle item : list) {
    if (!is_tensor(item.ptr())) throw TypeError("Program: the inputs are Tensors, not " + name_of_type(item.ptr()));
    all.push_back(tensor_of(item.ptr()));
  }
  return all;
}
nb::object list_of(const std::vector<Tensor>& tensors) {
  nb::list list;
  for (const Tensor& t : tensors) list.append(wrapped(t));
  return nb::object(list);
}

// ── compile ──

/// The containers of a call's arguments, which its plan must fit, as a value to compare.
using Containers = std::shared_ptr<const Structure>;
constexpr tree::ValueType containers_type = {
    .copy = [](const void* value) -> std::shared_ptr<const void> {
      return std::make_shared<const Containers>(*static_cast<const Containers*>(value));
    },
    .equal =
        [](const void* left, const void* right) {
          const nb::gil_scoped_acquire lock;
          const Containers &l = *static_cast<const Containers*>(left), &r = *static_cast<const Containers*>(right);
          return l == r || *l == *r;
        },
    .assign = [](void*, const void*) {},
};

constexpr std::string_view type_of_arguments = "Python arguments";

struct PythonCompiled {
  nb::object f;
  runs::Place where;
  std::shared_ptr<compiled::Function> function;
  bool check = false;

  Recipe recipe() const {
    Recipe r{"compile", f};
    r.tell("check", check, false);
    return r;
  }
  nb::object operator()(nb::args arguments, nb::kwargs named) const {
    std::vector<PyObject*> known;
    return with_plan(arguments, named, &known, [&](compiled::CallRun& run, Tree& given) {
      Tree result = *static_cast<const Tree*>(run.result());
      if (is_large(given)) {
        const nb::gil_scoped_release others_may_run;
        run.run(walk_of(given), walk_of(result));
      } else {
        run.run(walk_of(given), walk_of(result));
      }
      return rebuild(result, known);
    });
  }
  nb::object plan(nb::args arguments, nb::kwargs named) const {
    return with_plan(arguments, named, nullptr,
                     [](compiled::CallRun& run, Tree&) { return nb::object(nb::str(text_of(run.plan()).c_str())); });
  }
  nb::object explain(nb::args arguments, nb::kwargs named) const {
    return with_plan(arguments, named, nullptr,
                     [](compiled::CallRun& run, Tree& given) { return nb::cast(run.explain(walk_of(given))); });
  }
  /// `open`: of the arguments that have no names.
  void export_to(const std::string& path, nb::args arguments, nb::handle open, const std::string& target,
                 nb::kwargs named) const {
    ExportOptions options{.open = dims_from(open, "open"), .target = target};
    if (!open.is_none() && PyDict_GET_SIZE(named.ptr())) options.open = {options.open, none};
    const auto write = [&](compiled::CallRun& run, Tree& given) {
      Tree result = *static_cast<const Tree*>(run.result());
      const nb::gil_scoped_release others_may_run;
      run.export_to(path, walk_of(given), walk_of(result));
      return nb::object();
    };
    with_plan(arguments, named, nullptr, write, options);
  }

 private:
  static bool is_large(const Tree& given) { return std::ranges::any_of(given.leaves, takes_long); }

  template <class Use>
  nb::object with_plan(const nb::args& arguments, const nb::kwargs& named, std::vector<PyObject*>* known,
                       const Use& use, const ExportOptions& to_export = {}) const {
    Tree given = PyDict_GET_SIZE(named.ptr()) ? tree_of(nb::make_tuple(arguments, named), nullptr, known)
                                              : tree_of(arguments, nullptr, known);
    for (const Held& value : given.values)
      if (is_array(value.get()))
        throw TypeError(
            "compile: a NumPy array among the arguments would be fixed in the plan; pass "
            "ricci.from_numpy(a) or ricci.tensor(a)");
    tree::Values values = tree::values(given);
    values.push_back({&given.structure, &containers_type});
    std::optional<compiled::CallRun> run;
    {
      // It waits for other threads that compare values, which may be Python's.
      const nb::gil_scoped_release others_may_run;
      run.emplace(function, walk_of(given), values, &type_of_arguments, to_export);
    }
    if (run->records()) record(*run, given, PyDict_GET_SIZE(named.ptr()) != 0);
    return use(*run, given);
  }
  void record(compiled::CallRun& run, const Tree& given, bool has_named) const {
    Tree copies = given;
    run.enter(walk_of(copies));
    const nb::object all = rebuild(copies);
    const nb::object returned = has_named ? call(f, nb::object(all[0]), nb::object(all[1])) : call(f, all);
    raise_dropped_interrupt();
    Tree result = tree_of(returned);
    if (result.leaves.empty()) run.refuse(described(returned).c_str());
    const auto kept = std::make_shared<Tree>(result);
    const nb::gil_scoped_release others_may_run;
    run.leave(walk_of(result), kept, walk_of(*kept));
  }
};

}  // namespace

void make_programs(nb::module_& m) {
  nb::class_<Program>(m, "Program", "A function written down as equations; str(program) prints one a line.")
      .def(
          "__call__", [](const Program& p, nb::args inputs) { return list_of(p(tensors_of(inputs))); },
          "The outputs for these inputs, a list.")
      .def("simplified", &Program::simplified, "A program that gives the same, bit for bit, with fewer equations.")
      .def_prop_ro(
          "captured", [](const Program& p) { return list_of(p.captured()); }, "The Tensors that it captured.")
      .def_prop_ro("inputs", &Program::inputs, "How many inputs it has.")
      .def_prop_ro("equations", &Program::equations, "How many equations it has.")
      .def(
          "to_dot", [](const Program& p) { return to_dot(p); }, "The program as a graph in the language of Graphviz.")
      .def(
          "to_html", [](const Program& p) { return to_html(p); }, "The program as a table in HTML, to put into a page.")
      .def("_repr_html_", [](const Program& p) { return to_html(p); })
      .def("__repr__", [](const Program& p) { return text_of(p); })
      .def("__reduce__", [](const Program& p) {
        const std::string text = text_of(p);
        const std::vector<Tensor> captured = p.captured();
        parse_program(text, captured);  // so that what cannot be read back is an error now
        return nb::make_tuple(nb::module_::import_("ricci._functions").attr("program_of"),
                              nb::make_tuple(text, nb::tuple(list_of(captured))));
      });
  m.def(
      "parse_program",
      [](const std::string& text, nb::handle captured) { return parse_program(text, tensors_of(captured)); },
      nb::arg("text"), nb::arg("captured") = nb::tuple(), "What str(program) gave, read back and checked.");

  nb::class_<Explanation>(m, "Explanation", "Where the time of a call went; print(explanation) prints a table.")
      .def("to_svg", &Explanation::to_svg, "A picture: the steps along time, and their speed beside the machine's.")
      .def("save", &Explanation::save, nb::arg("path"),
           "Writes the picture. ValueError unless the path ends in .svg and the file can be written.")
      .def("_repr_html_", &Explanation::to_svg)
      .def("__repr__", [](const Explanation& e) { return text_of(e); });

  nb::class_<Traced> traced(m, "Traced", nb::type_slots(holds<&Traced::f>()));
  traced.def("__call__", &Traced::operator());
  show_function(traced);
  m.def(
      "trace_function",
      [](nb::object f) {
        require_function(f, "trace");
        return Traced{std::move(f), place_here()};
      },
      nb::arg("func"), "trace(f)(*args): the Program of f at arguments like these.");

  m.def("eval_shape", &eval_shape, nb::arg("func"), nb::arg("args"), nb::arg("kwargs"),
        "A tree like func(*args, **kwargs), whose Tensors have the shapes and dtypes of its results, and zeros for\n"
        "elements: each holds one number, however large it is. func is written down, as by trace, and nothing is\n"
        "computed; rc.zeros(()).expand(1_000_000) is argument enough for a million elements.");

  nb::class_<PythonCompiled> compiled(m, "Compiled", nb::type_slots(holds<&PythonCompiled::f>()));
  compiled.def("__call__", &PythonCompiled::operator())
      .def_prop_ro(
          "plans", [](const PythonCompiled& c) { return compiled::count_plans(*c.function); },
          "How many plans it holds.")
      .def("plan", &PythonCompiled::plan, "The text of the plan for arguments like these; made if there is none yet.")
      .def("explain", &PythonCompiled::explain,
           "Runs the plan under timers: its steps with their times, to print or to draw.");
  show_function(compiled);
  m.def(
      "export_object",
      [](const PythonCompiled& f, const std::string& path, nb::args arguments, nb::object open,
         const std::string& target, nb::kwargs named) { f.export_to(path, arguments, open, target, named); },
      nb::arg("f"), nb::arg("path"), nb::arg("args"), nb::arg("open") = nb::none(), nb::arg("target") = "",
      nb::arg("kwargs"),
      "Writes `path`.o, `path`.h and `path`.hpp (for C++20): the compiled function, for arguments like these, as a\n"
      "function in C that needs nothing of this library. NotImplementedError for operations that have no code but the "
      "library's; ValueError\n"
      "where the path's last part is no name in C or a file cannot be written. `open`, as in_dims of vmap: 0 for each\n"
      "argument that has examples along axis 0. Then the function takes any number of them, its first parameter s0;\n"
      "ValueError where f decides by their number, NotImplementedError where they may know of each other.\n"
      "`target`: another processor than this one, \"x86-64-v2\", \"x86-64-v3\", \"x86-64-v4\" or \"aarch64\"; or\n"
      "\"c\", which writes `path`.c, text in C99, or \"ptx\", which writes `path`.ptx, for NVIDIA's processors, in\n"
      "place of the object. An argument of f that is itself called `open` or `target` is passed by position.");
  m.def("set_compile_cache", &set_compile_cache, nb::arg("folder"), nb::kw_only(),
        nb::arg("most_bytes") = default_compile_cache_bytes,
        "Keeps the machine code of compiled functions in the folder, for later processes; an empty path: nowhere. Docs "
        "page 12 says whom to trust with the folder.");
  m.def(
      "compile_cache_stats",
      [] {
        const CompileCacheStats found = compile_cache_stats();
        nb::dict stats;
        stats["hits"] = found.hits, stats["misses"] = found.misses, stats["refused"] = found.refused;
        stats["problem"] = found.problem;
        return stats;
      },
      "A dict: hits, misses and refused pieces of code in this process, and the first problem.");
  m.def(
      "compile",
      [](nb::object f, bool check) {
        require_function(f, "compile");
        const runs::Place where = place_here();
        const CompileOptions options{.check = check};
        return PythonCompiled{std::move(f), where, compiled::make_function(where.file, where.line, options), check};
      },
      nb::arg("func"), nb::kw_only(), nb::arg("check") = false,
      "The function, transforms included, made into a plan at its first call for a signature: the containers of the "
      "arguments, dtypes and ranks, values that are no Tensors, small sizes. Later calls run the plan, and no Python. "
      "What the function captures besides Tensors stays what it was: pass it as an argument. A value that equals no "
      "earlier one makes a plan; NumPy arrays are refused, for they may change: pass ricci.from_numpy(a). check=True "
      "holds "
      "each call against the function, recorded again: TransformError where it has become another, or where a result "
      "differs by more than rounding explains.");
}

}  // namespace ricci::python
