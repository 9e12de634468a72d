// The function, the arguments and the options of one call of a transformed Python function.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "errors.h"
#include "ricci/transforms/runs.h"
#include "tree.h"

namespace ricci::python {

/// The Python function's place in errors.
runs::Place place_here();

/// argnums: an int, or a tuple of them.
struct Argnums {
  std::vector<int> numbers;
  bool is_single = true;

  bool is_first() const { return is_single && numbers[0] == 0; }  ///< as where none are given
};
Argnums argnums_from(nb::handle o, const char* transform);
/// As they were given.
nb::object object_of(const Argnums& argnums);
/// As positions among `count` arguments. IndexError for one out of range, ValueError for one named twice.
std::vector<int> positions(const Argnums& argnums, std::size_t count, const char* transform);

/// Trees of arguments, one each, and their walks.
struct Arguments {
  std::vector<Tree> trees;
  explicit Arguments(nb::handle tuple);
  std::vector<tree::Walk> walks();
  nb::object rebuild() const;  ///< the tuple again
};
tree::Walk walk_of(Tree& tree);

/// What a function returned, taken apart; with has_aux the second part beside.
struct Result {
  Tree output, aux;
};
Result result_of(nb::handle function, nb::handle arguments, nb::handle named, bool has_aux, const char* transform);

/// How errors call a result without Tensors.
std::string described(nb::handle o);

JacobianOptions jacobian_options(nb::handle chunk_size, nb::handle randomness, const char* transform);
std::optional<std::int64_t> chunk_from(nb::handle o, const char* transform);

/// Lets Python's collector see the objects that a class of ours holds in these members, so that cycles go:
/// `nb::type_slots(holds<&Vmapped::f>())`.
template <class C, class T>
C class_of_member(T C::*);
template <auto first, auto... more>
PyType_Slot* holds() {
  using C = decltype(class_of_member(first));
  static constexpr auto traverse = [](PyObject* self, visitproc visit, void* arg) -> int {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    const C* const c = nb::inst_ptr<C>(self);
    for (PyObject* held : {(c->*first).ptr(), (c->*more).ptr()...}) Py_VISIT(held);
    return 0;
  };
  static constexpr auto clear = [](PyObject* self) -> int {
    C* const c = nb::inst_ptr<C>(self);
    (c->*first).reset();
    ((c->*more).reset(), ...);
    return 0;
  };
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(+traverse)},
                                {Py_tp_clear, reinterpret_cast<void*>(+clear)},
                                {0, nullptr}};
  return slots;
}

/// How a transformed function was made, for its text and its pickle: what the module calls the transform, the function,
/// and those options that are not the usual ones.
struct Recipe {
  const char* transform;
  nb::object f;
  nb::dict options = {};

  template <class T, class U>
  void tell(const char* option, const T& value, const U& usual) {
    if (!(value == usual)) options[option] = value;
  }
  /// Calls a function of python/ricci/_functions.py.
  nb::object told_to(const char* function, auto&&... before) const {
    return nb::module_::import_("ricci._functions").attr(function)(before..., transform, f, options);
  }
};

/// Adds what every transformed function has: its function as `__wrapped__`, its name, and from `recipe()` its text and
/// its pickle.
template <class C>
void show_function(nb::class_<C>& c) {
  c.def_prop_ro("__wrapped__", [](const C& t) { return t.f; });
  c.def("__repr__", [](const C& t) { return t.recipe().told_to("shown"); });
  c.def("__reduce__", [](nb::handle t) { return nb::cast<const C&>(t).recipe().told_to("reduced", t); });
  c.def("__getattr__", [](const C& t, nb::handle name) {
    const auto text = nb::cast<std::string>(name);
    if (text == "__name__" || text == "__qualname__" || text == "__doc__") return nb::object(t.f.attr(name));
    throw nb::attribute_error(("a transformed function has no attribute " + text).c_str());
  });
}

}  // namespace ricci::python
