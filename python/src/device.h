// PyTorch's words for where a Tensor lies and in which order its elements stand. Here that is the processor's memory,
// and row-major order: the words are accepted so that programs keep them. Start with `require_here`.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace ricci::python {

void make_device(nanobind::module_& m);
/// Whether it is a `ricci.device`, or a text that names one.
bool is_device(PyObject* o);
/// Throws ValueError, in the name of `user`, for another device than the processor; TypeError for what is none.
void require_here(PyObject* o, const char* user);
/// `device("cpu")`.
nanobind::object device_here();

/// PyTorch's words for an order of elements; _words.py has them for Python.
enum class MemoryFormat : std::uint8_t { contiguous, preserved, channels_last, channels_last_3d };
/// `preserved` for None. Throws TypeError, in the name of `user`, for what is no format.
MemoryFormat memory_format_from(PyObject* o, const char* user);
/// Throws TypeError, in the name of `user`, for another layout than None or `ricci.strided`.
void require_strided(PyObject* o, const char* user);

/// `requires_grad=True` of a factory, or set on a Tensor. Throws ValueError in the name of `user`.
[[noreturn]] void refuse_requires_grad(const char* user);

}  // namespace ricci::python
