// What `ricci.Tensor` can do besides its operations: Python's operators, indexing, numbers, attributes, and sharing
// its memory. Called once, when the type is made.
#pragma once

#include <Python.h>

#include <vector>

namespace ricci::python {

/// `arguments`: those behind self, as inspect.signature shows them.
struct Method {
  const char* name;
  PyCFunction function;
  int flags;
  const char* arguments;
  const char* doc;
};

std::vector<PyType_Slot> tensor_slots();
PyMethodDef* tensor_methods();
PyGetSetDef* tensor_properties();

// sharing.cpp
void sharing_slots(std::vector<PyType_Slot>& slots);
std::vector<Method> sharing_methods();

}  // namespace ricci::python
