// Tensors and numbers as Python objects.
#include "object.h"

#include <structmember.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "errors.h"
#include "sizes.h"
#include "slots.h"

namespace ricci::python {

PyTypeObject* tensor_type = nullptr;

namespace {

/// Handles whose memory waits for the next tensors. The interpreter's lock guards it.
struct Spare {
  std::array<PyObject*, 256> objects;
  std::size_t count = 0;
} spare;

void deallocate(PyObject* self) {
  auto* object = reinterpret_cast<TensorObject*>(self);
  if (object->weak_references) PyObject_ClearWeakRefs(self);
  object->tensor.~Tensor();
  if (spare.count < spare.objects.size()) spare.objects[spare.count++] = self;
  else PyObject_Free(self);
  Py_DECREF(tensor_type);
}

}  // namespace

PyObject* wrap(Tensor tensor) {
  if (!tensor.defined()) Py_RETURN_NONE;
  PyObject* self =
      spare.count ? spare.objects[--spare.count] : static_cast<PyObject*>(PyObject_Malloc(sizeof(TensorObject)));
  if (!self) throw std::bad_alloc();
  PyObject_Init(self, tensor_type);
  auto* object = reinterpret_cast<TensorObject*>(self);
  object->weak_references = nullptr;
  new (&object->tensor) Tensor(std::move(tensor));
  return self;
}

void make_tensor_type(nb::module_& m) {
  static PyMemberDef members[] = {
      {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weak_references), READONLY, nullptr}, {}};
  std::vector<PyType_Slot> slots = tensor_slots();
  slots.push_back({Py_tp_dealloc, reinterpret_cast<void*>(deallocate)});
  slots.push_back({Py_tp_members, members});
  slots.push_back({Py_tp_methods, tensor_methods()});
  slots.push_back({Py_tp_getset, tensor_properties()});
  slots.push_back({0, nullptr});
  PyType_Spec spec{"ricci.Tensor", sizeof(TensorObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                   slots.data()};
  tensor_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!tensor_type) throw nb::python_error();
  nb::setattr(nb::handle(reinterpret_cast<PyObject*>(tensor_type)), "__array_priority__",
              nb::int_(1000));  // NumPy leaves operators to us
  m.attr("Tensor") = nb::handle(reinterpret_cast<PyObject*>(tensor_type));
}

namespace {

/// NumPy's scalars that are numbers: their types are `numpy.float32` and so on.
bool is_numpy_scalar(PyObject* o) {
  std::string_view name = Py_TYPE(o)->tp_name;
  if (!name.starts_with("numpy.")) return false;
  name.remove_prefix(6);
  constexpr std::string_view numbers[] = {"int", "uint", "float", "complex", "bool", "long", "ulong", "clong"};
  return std::ranges::any_of(numbers, [&](std::string_view start) { return name.starts_with(start); });
}

Tensor integer(PyObject* o) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (overflow != 0) throw ValueError("an integer beyond 64 bits is no element of a tensor; convert it to a float");
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  return Tensor(static_cast<std::int64_t>(value));
}

}  // namespace

nb::object numpy_item(PyObject* o) { return is_numpy_scalar(o) ? nb::handle(o).attr("item")() : nb::object(); }

bool is_number(PyObject* o) {
  return PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) || is_size(o) || is_numpy_scalar(o);
}

bool number_from(PyObject* o, Tensor& into) {
  if (PyFloat_Check(o)) into = Tensor(PyFloat_AS_DOUBLE(o));
  else if (PyBool_Check(o)) into = Tensor(o == Py_True);
  else if (PyLong_Check(o)) into = integer(o);
  else if (PyComplex_Check(o))
    into = Tensor(std::complex<double>(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)));
  else if (is_size(o)) into = Tensor(size_of(o));
  else if (const nb::object item = numpy_item(o); item.is_valid()) {
    if (is_numpy_scalar(item.ptr()))
      throw TypeError(name_of_type(o) + " has no dtype here; convert it with float() or complex()");
    return number_from(item.ptr(), into);
  } else return false;
  return true;
}

bool is_array(PyObject* o) {
  for (const PyTypeObject* type = Py_TYPE(o); type; type = type->tp_base)
    if (std::string_view(type->tp_name) == "numpy.ndarray") return true;
  return false;
}

bool In::is(double number) const {
  return number_.defined() && !number_.is_complex() && number_.item<double>() == number;
}

void require_function(nb::handle f, const char* user) {
  if (!PyCallable_Check(f.ptr()))
    throw TypeError(std::string(user) + ": a function is needed, not " + name_of_type(f.ptr()));
}

bool truth_of(PyObject* o) {
  const int truth = PyObject_IsTrue(o);
  if (truth < 0) throw nb::python_error();
  return truth == 1;
}

std::string name_of_type(PyObject* o) {
  if (o == Py_None) return "None";
  if (!is_tensor(o)) return Py_TYPE(o)->tp_name;
  return "Tensor";
}

void Held::count(int change) noexcept {
  if (!object_ || !Py_IsInitialized()) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  if (change > 0) Py_INCREF(object_);
  else Py_DECREF(object_);
  PyGILState_Release(state);
}

}  // namespace ricci::python
