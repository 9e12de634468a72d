// Element types as Python objects.
#include "dtypes.h"

#include <array>
#include <string>
#include <string_view>

#include "ricci/default_dtype.h"

namespace ricci::python {
namespace nb = nanobind;
namespace {

struct DTypeObject {
  DType dtype;
};
PyTypeObject* dtype_type = nullptr;
std::array<PyObject*, dtype_count> objects;

/// PyTorch's and NumPy's name: `bool`, `float32`.
std::string name_of(DType dtype) { return dtype == DType::boolean ? "bool" : to_string(dtype); }

bool from_name(std::string_view name, DType& into) {
  if (name == "bool_" || name == "boolean") name = "bool";
  for (int i = 0; i < dtype_count; ++i)
    if (name == name_of(static_cast<DType>(i))) return into = static_cast<DType>(i), true;
  return false;
}

bool from_text(PyObject* text, DType& into) {
  const char* const name = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : nullptr;
  return name && from_name(name, into);
}

}  // namespace

PyObject* wrap_dtype(DType dtype) { return Py_NewRef(objects[static_cast<std::size_t>(dtype)]); }

bool dtype_from(PyObject* o, DType& into) {
  if (Py_TYPE(o) == dtype_type) return into = nb::inst_ptr<DTypeObject>(o)->dtype, true;
  if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) return into = DType::boolean, true;
  if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return into = DType::int64, true;
  if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return into = default_dtype(), true;
  if (o == reinterpret_cast<PyObject*>(&PyComplex_Type)) return into = complex_dtype(default_dtype()), true;
  if (PyUnicode_Check(o)) return from_text(o, into);
  const std::string_view type = Py_TYPE(o)->tp_name;
  const bool is_numpy_type =
      PyType_Check(o) && std::string_view(reinterpret_cast<PyTypeObject*>(o)->tp_name).starts_with("numpy.");
  if (!type.starts_with("numpy.dtype") && !is_numpy_type) return false;
  const nb::object name = nb::steal(PyObject_GetAttrString(o, is_numpy_type ? "__name__" : "name"));
  if (!name.is_valid()) PyErr_Clear();
  return from_text(name.ptr(), into);
}

void make_dtypes(nb::module_& m) {
  nb::class_<DTypeObject> c(m, "DType", "What one element of a Tensor is.");
  dtype_type = reinterpret_cast<PyTypeObject*>(c.ptr());
  c.def_prop_ro(
       "name", [](const DTypeObject& d) { return nb::str(name_of(d.dtype).c_str()); }, "As NumPy's.")
      .def_prop_ro(
          "itemsize", [](const DTypeObject& d) { return element_size(d.dtype); }, "Bytes of one element.")
      .def_prop_ro("is_floating_point", [](const DTypeObject& d) { return is_floating(d.dtype); })
      .def_prop_ro("is_complex", [](const DTypeObject& d) { return is_complex(d.dtype); })
      .def("__repr__", [](const DTypeObject& d) { return nb::str(("ricci." + name_of(d.dtype)).c_str()); })
      .def("__reduce__", [](const DTypeObject& d) { return nb::str(name_of(d.dtype).c_str()); });
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    nb::object object = nb::cast(DTypeObject{dtype});
    m.attr(name_of(dtype).c_str()) = object;
    objects[static_cast<std::size_t>(i)] = object.release().ptr();
  }
  const auto given = [](nb::handle o) {
    DType dtype{};
    if (!dtype_from(o.ptr(), dtype)) throw nb::type_error("a dtype is needed, such as ricci.float32");
    return dtype;
  };
  m.def("default_dtype", [] { return nb::steal(wrap_dtype(default_dtype())); }, "The dtype of what is given none.");
  m.def(
      "set_default_dtype", [given](nb::handle dtype) { set_default_dtype(given(dtype)); }, nb::arg("dtype"),
      "Sets the dtype of what is given none, for every thread. TypeError unless it is floating.");
  m.def(
      "promote_types",
      [given](nb::handle a, nb::handle b) { return nb::steal(wrap_dtype(promote(given(a), given(b)))); },
      "The dtype of what has both.");
}

}  // namespace ricci::python
