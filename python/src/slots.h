// What `ricci.Tensor` can do besides its operations: Python's operators, indexing, numbers, attributes, and sharing
// its memory. Called once, when the type is made.
#pragma once

#include <Python.h>

#include <vector>

namespace ricci::python {

std::vector<PyType_Slot> tensor_slots();
PyMethodDef* tensor_methods();
PyGetSetDef* tensor_properties();

// sharing.cpp
void sharing_slots(std::vector<PyType_Slot>& slots);
void sharing_methods(std::vector<PyMethodDef>& methods);

}  // namespace ricci::python
