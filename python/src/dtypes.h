// Element types as Python objects, `ricci.float32`: one object each.
#pragma once

#include <nanobind/nanobind.h>

#include "ricci/dtype.h"

namespace ricci::python {

void make_dtypes(nanobind::module_& m);
/// A new reference.
PyObject* wrap_dtype(DType dtype);
/// Ours, NumPy's of the same name, a name, or Python's bool, int, float and complex. False for anything else.
bool dtype_from(PyObject* o, DType& into);

}  // namespace ricci::python
