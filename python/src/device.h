// PyTorch's words for where a Tensor lies. Here that is the processor's memory, and nowhere else: the words are
// accepted so that programs keep them. Start with `require_here`.
#pragma once

#include <nanobind/nanobind.h>

namespace ricci::python {

void make_device(nanobind::module_& m);
/// Whether it is a `ricci.device`, or a text that names one.
bool is_device(PyObject* o);
/// Throws ValueError, in the name of `user`, for another device than the processor; TypeError for what is none.
void require_here(PyObject* o, const char* user);
/// `device("cpu")`.
nanobind::object device_here();

/// `requires_grad=True` of a factory, or set on a Tensor. Throws ValueError in the name of `user`.
[[noreturn]] void refuse_requires_grad(const char* user);

}  // namespace ricci::python
