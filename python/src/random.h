// Generators and keys in Python.
#pragma once

#include <nanobind/nanobind.h>

#include "call.h"

namespace ricci::python {

void make_random(nanobind::module_& m);
extern PyTypeObject* key_type;
inline bool is_key(PyObject* o) { return Py_TYPE(o) == key_type; }
nanobind::object wrap_key(Tensor data);

}  // namespace ricci::python
