// Sizes as Python sees them.
#include "sizes.h"

#include <nanobind/operators.h>

#include "object.h"

namespace ricci::python {
namespace {

/// A symbol: a number is an int.
struct Symbol {
  Size size;
};
PyTypeObject* symbol_type = nullptr;

/// What stands beside a size in an expression.
std::optional<Size> operand(nb::handle o) {
  Size size;
  return size_from(o.ptr(), size) ? std::optional(size) : std::nullopt;
}

nb::object not_implemented() { return nb::borrow(Py_NotImplemented); }

template <class F>
auto binary(const F& f) {
  return [f](const Symbol& a, nb::handle b) {
    const auto other = operand(b);
    return other ? f(a.size, *other) : not_implemented();
  };
}
nb::object give(Size size) { return nb::steal(wrap_size(size)); }

}  // namespace

bool is_size(PyObject* o) { return Py_TYPE(o) == symbol_type; }
Size size_of(PyObject* o) { return nb::inst_ptr<Symbol>(o)->size; }

PyObject* wrap_size(Size size) {
  if (!size.is_symbol()) return PyLong_FromLongLong(size.raw());
  return nb::cast(Symbol{size}).release().ptr();
}

PyObject* wrap_shape(const Shape& shape) {
  PyObject* const tuple = PyTuple_New(static_cast<Py_ssize_t>(shape.size()));
  if (!tuple) throw nb::python_error();
  for (std::size_t i = 0; i < shape.size(); ++i)
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), wrap_size(shape[i]));
  return tuple;
}

bool is_int(PyObject* o) {
  return PyLong_Check(o) ? !PyBool_Check(o) : !is_tensor(o) && !PyFloat_Check(o) && PyIndex_Check(o) != 0;
}

bool int_from(PyObject* o, std::int64_t& into) {
  if (!is_int(o)) return false;
  const nb::object number = nb::steal(PyNumber_Index(o));
  if (!number.is_valid()) {  // an array of several elements, for one
    PyErr_Clear();
    return false;
  }
  int overflow = 0;
  into = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) into = overflow > 0 ? INT64_MAX : INT64_MIN;
  return true;
}

bool size_from(PyObject* o, Size& into) {
  std::int64_t number = 0;
  if (is_size(o)) return into = size_of(o), true;
  if (!int_from(o, number)) return false;
  into = Size(number);
  return true;
}

void make_size(nb::module_& m) {
  nb::class_<Symbol> c(m, "Size",
                       "A size in a function that is being recorded. Arithmetic with it stays open; Python's int of it "
                       "fixes the recorded program to the number it has.");
  symbol_type = reinterpret_cast<PyTypeObject*>(c.ptr());
  c.def("__add__", binary([](Size a, Size b) { return give(a + b); }))
      .def("__radd__", binary([](Size a, Size b) { return give(b + a); }))
      .def("__sub__", binary([](Size a, Size b) { return give(a - b); }))
      .def("__rsub__", binary([](Size a, Size b) { return give(b - a); }))
      .def("__mul__", binary([](Size a, Size b) { return give(a * b); }))
      .def("__rmul__", binary([](Size a, Size b) { return give(b * a); }))
      .def("__floordiv__", binary([](Size a, Size b) { return give(a / b); }))
      .def("__rfloordiv__", binary([](Size a, Size b) { return give(b / a); }))
      .def("__mod__", binary([](Size a, Size b) { return give(a - a / b * b); }))
      .def("__eq__", binary([](Size a, Size b) { return nb::object(nb::bool_(a == b)); }))
      .def("__ne__", binary([](Size a, Size b) { return nb::object(nb::bool_(!(a == b))); }))
      .def("__lt__", binary([](Size a, Size b) { return nb::object(nb::bool_(a < b)); }))
      .def("__le__", binary([](Size a, Size b) { return nb::object(nb::bool_(a <= b)); }))
      .def("__gt__", binary([](Size a, Size b) { return nb::object(nb::bool_(a > b)); }))
      .def("__ge__", binary([](Size a, Size b) { return nb::object(nb::bool_(a >= b)); }))
      .def("__truediv__", [](const Symbol& a, double b) { return static_cast<double>(a.size.host()) / b; })
      .def("__rtruediv__", [](const Symbol& a, double b) { return b / static_cast<double>(a.size.host()); })
      .def("__index__", [](const Symbol& a) { return a.size.host(); })
      .def("__int__", [](const Symbol& a) { return a.size.host(); })
      .def("__float__", [](const Symbol& a) { return static_cast<double>(a.size.host()); })
      .def("__bool__", [](const Symbol& a) { return !(a.size == 0); })
      .def("__hash__", [](const Symbol& a) { return a.size.host(); })
      .def("__repr__",
           [](const Symbol& a) { return nb::str(("Size(" + std::to_string(a.size.hint()) + ")").c_str()); });
}

}  // namespace ricci::python
