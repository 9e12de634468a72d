// Errors between the two languages: ricci.Error and its kinds, Python exceptions that pass through C++, and C++
// exceptions that pass through Python. Start with `set_python_error` and `call`.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "ricci/error.h"

namespace ricci::python {

namespace nb = nanobind;

void make_errors(nb::module_& m);

/// In a catch block: makes the C++ exception Python's. A Python exception that came through C++ is itself again; what
/// the library throws through functions for its own ends passes through Python as one that no `except Exception` stops.
void set_python_error() noexcept;

/// Calls `f(*arguments, **named)`. What it raises goes through C++ as the error of that kind, or as nb::python_error.
nb::object call(nb::handle f, nb::handle arguments, nb::handle named = {});
/// Throws what Python has raised.
[[noreturn]] void throw_raised();
/// Raises again a KeyboardInterrupt that a function raised and C++ has dropped.
void raise_dropped_interrupt();

/// Runs `f`, which gives a PyObject*; null, with Python's error set, if it throws.
template <class F>
PyObject* guarded(const F& f) noexcept {
  try {
    return f();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}
/// The same for an attribute: a Tensor that an attribute does not fit lacks it, so an IndexError, ValueError or
/// TypeError of C++ is Python's AttributeError, which `hasattr` takes for an answer.
void set_attribute_error() noexcept;
template <class F>
PyObject* guarded_attribute(const F& f) noexcept {
  try {
    return f();
  } catch (...) {
    set_attribute_error();
    return nullptr;
  }
}
template <class F>
int guarded_int(const F& f) noexcept {
  try {
    f();
    return 0;
  } catch (...) {
    set_python_error();
    return -1;
  }
}

/// Where the Python program is: its file and line, outside this package. The file's name stays for ever.
struct PythonPlace {
  const char* file = "";
  unsigned line = 0;
};
PythonPlace python_place();

}  // namespace ricci::python
