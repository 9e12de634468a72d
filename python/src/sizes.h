// Sizes as Python sees them: ints, and, in a function that is being recorded, `ricci.Size`, an expression over the
// sizes of the inputs that is read as a number only where Python asks for one.
#pragma once

#include <nanobind/nanobind.h>

#include "ricci/shape.h"

namespace ricci::python {

void make_size(nanobind::module_& m);
bool is_size(PyObject* o);
/// Requires: is_size(o).
Size size_of(PyObject* o);
/// An int, or a `ricci.Size` for a symbol. A new reference.
PyObject* wrap_size(Size size);
/// A tuple of those. A new reference.
PyObject* wrap_shape(const Shape& shape);

/// An int, whatever spells it (`__index__`), but no bool and no Tensor. False for anything else. A number beyond 64
/// bits becomes the nearest one.
bool int_from(PyObject* o, std::int64_t& into);
bool is_int(PyObject* o);
/// The same, or a `ricci.Size`.
bool size_from(PyObject* o, Size& into);

}  // namespace ricci::python
