// Printing and checking inside functions, and traces of what a program does, in Python.
#include "ricci/debug.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <vector>

#include "errors.h"
#include "object.h"
#include "ricci/profile.h"
#include "ricci/progress.h"
#include "transforms.h"

namespace ricci::python {
namespace {

/// Calls `sink(line)`; Python's own `print`, of the moment, where it is None.
debug::Sink sink_of(nb::object sink) {
  return [held = Held(std::move(sink))](const std::string& line) {
    const nb::gil_scoped_acquire lock;
    const nb::handle given = held.get();
    const nb::object f = given.is_none() ? nb::module_::import_("builtins").attr("print") : nb::borrow(given);
    call(f, nb::make_tuple(line));
  };
}

/// `with rc.profile.span("epoch 3"):`
struct PythonSpan {
  std::string name;
  std::optional<profile::Span> open = {};
};

void make_profile(nb::module_& m) {
  nb::module_ space = m.def_submodule("_profile");
  space.def("start", &profile::start, nb::arg("path"),
            "From now on spans of time are noted: of operations, calls of compiled functions, making their plans, the "
            "pieces of long operations on each thread, and `span`. ValueError if a profile runs, or if the file cannot "
            "be written.");
  space.def("stop", &profile::stop,
            "Writes the file, for chrome://tracing or ui.perfetto.dev. ValueError if no profile runs.");
  nb::class_<PythonSpan>(space, "span", "`with rc.profile.span(\"epoch 3\"):` is noted as a span of this name.")
      .def(
          "__init__", [](PythonSpan* self, const std::string& name) { new (self) PythonSpan{name}; }, nb::arg("name"))
      .def("__enter__",
           [](nb::object self) {
             auto& span = nb::cast<PythonSpan&>(self);
             span.open.emplace(span.name);
             return self;
           })
      .def("__exit__", [](PythonSpan& self, nb::args) { self.open.reset(); });
}

}  // namespace

void make_debug(nb::module_& m) {
  nb::module_ space = m.def_submodule("_debug");
  space.def("print", [](const std::string& format, nb::handle values) {
    std::vector<debug::Field> fields;
    for (const nb::handle value : values)
      if (is_tensor(value.ptr())) fields.emplace_back(tensor_of(value.ptr()));
      else fields.emplace_back(nb::cast<std::string>(nb::str(value)));
    debug::print_fields(format, fields);
  });
  space.def(
      "check_finite", [](const Tensor& x, const std::string& name) { return debug::check_finite(x, name); },
      nb::arg("x"), nb::arg("name"));
  space.def("set_sink", [](nb::object sink) { debug::set_sink(sink_of(std::move(sink))); }, nb::arg("sink").none());
  debug::set_sink(sink_of(nb::none()));
  make_profile(m);

  nb::class_<Progress>(m, "Progress", "A bar for a loop; progress(steps) makes one.")
      .def("__call__", &Progress::operator(), nb::arg("i"),
           "Says that step i, counted from 0, has come: an int, or a Tensor of an integer.");
  m.def("progress", &progress, nb::arg("steps"),
        "A bar for a loop of so many steps: show = rc.progress(1000), and show(i) in step i. Like rc.debug.print it\n"
        "acts where the function runs, also in loops and compiled functions. It draws on the standard error output,\n"
        "and nothing if that is no terminal.");
}

}  // namespace ricci::python
