// The Python objects that everything here speaks of: Tensor, and numbers where a Tensor is wanted. Knows nothing of
// operations. Start with `wrap` and `In`.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <utility>

#include "ricci/tensor.h"

namespace ricci::python {

namespace nb = nanobind;

/// A Python Tensor: a handle, as in C++.
struct TensorObject {
  PyObject ob_base;
  PyObject* weak_references;
  Tensor tensor;
};

extern PyTypeObject* tensor_type;  ///< Python cannot derive a class from it

inline bool is_tensor(PyObject* o) { return Py_TYPE(o) == tensor_type; }
/// Requires: is_tensor(o).
inline Tensor& tensor_of(PyObject* o) { return reinterpret_cast<TensorObject*>(o)->tensor; }

/// A new reference; None for an undefined tensor.
PyObject* wrap(Tensor tensor);
inline nb::object wrapped(Tensor tensor) { return nb::steal(wrap(std::move(tensor))); }

/// Makes the type `ricci.Tensor`; its slots come from slots.cpp and sharing.cpp.
void make_tensor_type(nb::module_& m);

/// Makes a weak 0-dim tensor of a Python number, a NumPy scalar or a Size. False for anything else. ValueError for an
/// integer beyond 64 bits.
bool number_from(PyObject* o, Tensor& into);
/// Whether `number_from` takes it; makes no tensor.
bool is_number(PyObject* o);
/// What `item()` of a NumPy scalar gives: a `bool`, `int`, `float` or `complex`. Null for anything else.
nb::object numpy_item(PyObject* o);

/// Whether it is a `numpy.ndarray` or of a class derived from that.
bool is_array(PyObject* o);

/// Throws TypeError, in the name of `user`, unless `f` can be called.
void require_function(nb::handle f, const char* user);

/// An operand: a Tensor, or a number.
class In {
 public:
  In() = default;
  template <class T>
    requires std::is_arithmetic_v<T>
  In(T number) : number_(number) {}  // NOLINT(google-explicit-constructor)
  explicit In(const Tensor* tensor) : tensor_(tensor) {}
  explicit In(Tensor number) : number_(std::move(number)) {}
  operator const Tensor&() const { return tensor_ ? *tensor_ : number_; }  // NOLINT(google-explicit-constructor)
  /// Whether this number was given. A Tensor is no number: it may hold another one in another call.
  bool is(double number) const;

 private:
  Tensor number_;
  const Tensor* tensor_ = nullptr;
};

/// Whether `if o:` runs; throws what Python raises where it raises something.
bool truth_of(PyObject* o);

/// What errors call an argument: `float`, `Tensor`, `None`.
std::string name_of_type(PyObject* o);

/// A reference to a Python object that C++ may copy and drop on any thread, with or without the interpreter's lock.
class Held {
 public:
  Held() = default;
  explicit Held(nb::object object) : object_(object.release().ptr()) {}
  Held(const Held& other) : object_(other.object_) { count(1); }
  Held(Held&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Held& operator=(Held other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Held() { count(-1); }
  PyObject* get() const { return object_; }

 private:
  void count(int change) noexcept;
  PyObject* object_ = nullptr;
};

}  // namespace ricci::python

NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)
/// Lets functions bound by nanobind take and return Tensors. They take numbers too, and None as an undefined Tensor
/// where the argument may be None.
template <>
struct type_caster<ricci::Tensor> {
  NB_TYPE_CASTER(ricci::Tensor, const_name("Tensor"))
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (ricci::python::is_tensor(source.ptr())) {
      value = ricci::python::tensor_of(source.ptr());
      return true;
    }
    if (source.is_none()) return value = ricci::Tensor(), true;
    try {
      return ricci::python::number_from(source.ptr(), value);
    } catch (...) { return false; }
  }
  static handle from_cpp(const ricci::Tensor& tensor, rv_policy, cleanup_list*) noexcept {
    return ricci::python::wrap(tensor);
  }
};
NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)
