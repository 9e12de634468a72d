// Tape, no_grad and detect_anomaly in Python.
#include "ricci/tape.h"

#include <nanobind/nanobind.h>

#include <memory>

#include "arguments.h"
#include "ricci/detect_anomaly.h"
#include "scopes.h"
#include "transforms.h"

namespace ricci::python {
namespace {

template <class Guard>
thread_local Scopes<Guard> open_scopes;

/// `with rc.no_grad():`; entered again before it is left, it lasts until the last is left.
template <class Guard>
struct With {
  With() = default;
  With(const With&) = delete;
  ~With() {
    while (open_scopes<Guard>.leave(this)) {}
  }
};

template <class Guard>
nb::class_<With<Guard>> make_scope(nb::module_& m, const char* name, const char* text) {
  nb::class_<With<Guard>> scope(m, name, text);
  scope.def(nb::init<>())
      .def("__enter__",
           [](nb::object self) {
             open_scopes<Guard>.enter(nb::cast<With<Guard>*>(self), std::make_unique<Guard>());
             return self;
           })
      .def("__exit__", [name](With<Guard>& self, nb::args) {
        if (!open_scopes<Guard>.leave(&self))
          throw TransformError(std::string(name) +
                               ": it is left without having been entered on this thread; use `with`");
      });
  return scope;
}

/// What `@rc.no_grad()` makes of a function.
struct WithoutDerivatives {
  nb::object f;
  Recipe recipe() const { return {"no_grad", f}; }
  nb::object operator()(nb::args arguments, nb::kwargs named) const {
    const no_grad guard;
    return call(f, arguments, named);
  }
};

struct PythonTape {
  std::unique_ptr<Tape> tape;

  Tape& open() const {
    if (!tape) throw TransformError("Tape: the tape has ended; use it inside `with rc.Tape() as tape:`");
    return *tape;
  }
};

where_t nowhere() { return where_t(); }

}  // namespace

void make_tape(nb::module_& m) {
  nb::class_<WithoutDerivatives> without(m, "WithoutDerivatives", nb::type_slots(holds<&WithoutDerivatives::f>()));
  without.def("__call__", &WithoutDerivatives::operator());
  show_function(without);
  make_scope<no_grad>(m, "no_grad",
                      "While it is entered, what is computed or written has no derivative for any transform around it.")
      .def(
          "__call__",
          [](nb::object, nb::object f) {
            require_function(f, "no_grad");
            return WithoutDerivatives{std::move(f)};
          },
          nb::arg("f"), "As a decorator: the function runs with derivatives off.");
  make_scope<detect_anomaly>(m, "detect_anomaly",
                             "While it is entered, the first derivative of an operation that holds NaN is a ValueError "
                             "which names the operation.");
  nb::class_<PythonTape>(m, "Tape",
                         "Imperative differentiation: records what its thread computes from watched Tensors, from when "
                         "it is made until it ends.")
      .def("__init__", [](PythonTape* self) { new (self) PythonTape{std::make_unique<Tape>(nowhere())}; })
      .def("__enter__", [](nb::object self) { return self; })
      .def("__exit__", [](PythonTape& self, nb::args) { self.tape.reset(); })
      .def(
          "watch", [](PythonTape& self, nb::handle tree) { self.open().watch(tree_of(tree)); }, nb::arg("tree"),
          "From now on what is computed from the floating Tensors of the tree is recorded.")
      .def(
          "gradient",
          [](PythonTape& self, nb::handle outputs, nb::handle tree, nb::handle cotangents) {
            const Tree of = tree_of(tree);
            if (!cotangents.is_none()) {
              const Tree out = tree_of(outputs);
              return rebuild(self.open().gradient(out, of, tree_of(cotangents, out.structure.get())));
            }
            if (!is_tensor(outputs.ptr()))
              throw TypeError("Tape.gradient: the loss must be a Tensor, not " + name_of_type(outputs.ptr()) +
                              "; of several outputs pass their cotangents");
            return rebuild(self.open().gradient(tensor_of(outputs.ptr()), of));
          },
          nb::arg("outputs"), nb::arg("tree"), nb::arg("cotangents") = nb::none(),
          "The gradient of a loss in the form of the tree; of outputs of any shape, with their cotangents.");
}

}  // namespace ricci::python
