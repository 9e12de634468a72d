// Python's operators, indexing, numbers and attributes of a Tensor.
#include "slots.h"

#include <complex>
#include <cstring>
#include <deque>

#include "call.h"
#include "device.h"
#include "dtypes.h"
#include "errors.h"
#include "forms.h"
#include "ricci/transforms/runs.h"
#include "sharing.h"
#include "sizes.h"
#include "threads.h"

namespace ricci::python {
namespace {

using Binary = Tensor(const Tensor&, const Tensor&);
using Unary = Tensor(const Tensor&);

/// A Tensor, a number, or an array, which is copied. Anything else is asked what it can do with a Tensor.
bool operand_from(PyObject* o, Tensor& into) {
  if (is_tensor(o)) return into = tensor_of(o), true;
  if (number_from(o, into)) return true;
  if (!is_array(o)) return false;
  if (nb::hasattr(o, "mask"))
    throw TypeError("a masked array is no operand: its mask would be lost; fill it first, with array.filled(0)");
  return into = tensor_of_values(o, std::nullopt), true;
}

/// `f()`, while other Python threads run if one of the operands is large.
template <class F>
Tensor computed(const F& f, const Tensor& a, const Tensor& b) {
  if (!takes_long(a) && !takes_long(b)) return f();
  const nb::gil_scoped_release others_may_run;
  return f();
}

template <Binary* op>
PyObject* binary(PyObject* a, PyObject* b) noexcept {
  return guarded([&] {
    const auto of = [](const Tensor& l, const Tensor& r) { return wrap(computed([&] { return op(l, r); }, l, r)); };
    if (is_tensor(a) && is_tensor(b)) return of(tensor_of(a), tensor_of(b));
    Tensor left, right;
    if (!operand_from(a, left) || !operand_from(b, right)) return Py_NewRef(Py_NotImplemented);
    return of(left, right);
  });
}
template <Binary* op>
PyObject* ternary(PyObject* a, PyObject* b, PyObject*) noexcept {
  return binary<op>(a, b);
}
template <Unary* op>
PyObject* unary(PyObject* x) noexcept {
  return guarded([&] {
    const Tensor& of = tensor_of(x);
    return wrap(computed([&] { return op(of); }, of, of));
  });
}

using Write = const Tensor& (Tensor::*)(const Tensor&) const;
template <Write op>
PyObject* in_place(PyObject* self, PyObject* b) noexcept {
  return guarded([&] {
    Tensor right;
    if (!operand_from(b, right)) return Py_NewRef(Py_NotImplemented);
    const Tensor& left = tensor_of(self);
    computed([&] { return (left.*op)(right); }, left, right);
    return Py_NewRef(self);
  });
}
PyObject* in_place_power(PyObject* self, PyObject* b, PyObject*) noexcept { return in_place<&Tensor::pow_>(self, b); }

PyObject* compare(PyObject* a, PyObject* b, int how) noexcept {
  switch (how) {
    case Py_LT: return binary<ops::lt>(a, b);
    case Py_LE: return binary<ops::le>(a, b);
    case Py_EQ: return binary<ops::eq>(a, b);
    case Py_NE: return binary<ops::ne>(a, b);
    case Py_GT: return binary<ops::gt>(a, b);
    default: return binary<ops::ge>(a, b);
  }
}

PyObject* positive(PyObject* x) noexcept { return Py_NewRef(x); }
int truth(PyObject* x) noexcept {
  bool is_true = false;
  return guarded_int([&] { is_true = static_cast<bool>(tensor_of(x)); }) == 0 ? static_cast<int>(is_true) : -1;
}

/// The one element, as Python's bool, int, float or complex.
PyObject* item(const Tensor& x) {
  switch (category(x.dtype())) {
    case 0: return PyBool_FromLong(x.item<bool>() ? 1 : 0);
    case 1: return PyLong_FromLongLong(x.item<std::int64_t>());
    case 2: return PyFloat_FromDouble(x.item<double>());
    default: {
      const auto z = x.item<std::complex<double>>();
      return PyComplex_FromDoubles(z.real(), z.imag());
    }
  }
}
PyObject* as_float(PyObject* x) noexcept {
  return guarded([&] { return PyFloat_FromDouble(tensor_of(x).item<double>()); });
}
PyObject* as_int(PyObject* x) noexcept {
  return guarded([&] {
    const nb::object number = nb::steal(item(tensor_of(x)));
    return PyNumber_Long(number.ptr());
  });
}
PyObject* as_index(PyObject* x) noexcept {
  return guarded([&] {
    if (!is_integral(tensor_of(x).dtype()))
      throw TypeError("only a Tensor of integers can be an index; convert it with x.to(rc.int64)");
    return PyLong_FromLongLong(tensor_of(x).item<std::int64_t>());
  });
}

Py_ssize_t length(PyObject* x) noexcept {
  Py_ssize_t n = -1;
  guarded_int([&] {
    const Shape shape = tensor_of(x).shape();
    if (shape.empty()) throw TypeError("len: a Tensor without axes has no length");
    n = static_cast<Py_ssize_t>(shape[0].host());
  });
  return n;
}
PyObject* row(PyObject* x, Py_ssize_t i) noexcept {
  return guarded([&] { return wrap(tensor_of(x)[static_cast<std::int64_t>(i)]); });
}
PyObject* rows(PyObject* x) noexcept {
  return guarded([&] {
    if (tensor_of(x).shape().empty()) throw TypeError("iter: a Tensor without axes has no rows");
    return PySeqIter_New(x);
  });
}
int contains(PyObject* x, PyObject* value) noexcept {
  int found = 0;
  return guarded_int([&] {
           Tensor wanted;
           if (operand_from(value, wanted)) found = static_cast<bool>(ops::any(ops::eq(tensor_of(x), wanted))) ? 1 : 0;
         }) == 0
             ? found
             : -1;
}

std::vector<Index> indices(PyObject* given) {
  std::vector<Index> all;
  if (!index_from(given, all))
    throw TypeError(
        "index: an index is an int, slice, None, ..., a Tensor, array or list of ints or bools, or a tuple "
        "of those, not " +
        name_of_type(given));
  return all;
}
PyObject* get_item(PyObject* x, PyObject* index) noexcept {
  return guarded([&] { return wrap(tensor_of(x).index(indices(index))); });
}
int set_item(PyObject* x, PyObject* index, PyObject* value) noexcept {
  return guarded_int([&] {
    if (!value) throw TypeError("index: elements of a Tensor cannot be deleted");
    Tensor v;
    if (!operand_from(value, v))
      throw TypeError("index: the value must be a Tensor or a number, not " + name_of_type(value) +
                      "; rc.tensor(value) makes one of lists");
    tensor_of(x).index(indices(index)) = v;
  });
}

PyObject* show(PyObject* x) noexcept {
  return guarded([&] {
    const std::string text = to_string(tensor_of(x));
    return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  });
}
Py_hash_t hash(PyObject* x) noexcept { return static_cast<Py_hash_t>(reinterpret_cast<std::uintptr_t>(x) >> 4U); }

// ── methods ──

int set_requires_grad(PyObject* x, PyObject* value, void*) noexcept;

/// x.double(): x in this dtype.
template <DType dtype>
PyObject* in_dtype(PyObject* x, PyObject* args, PyObject* named) noexcept {
  static const char* names[] = {"memory_format", nullptr};
  PyObject* format = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, named, "|$O", const_cast<char**>(names), &format)) return nullptr;
  return guarded([&] {
    memory_format_from(format, "to");
    if (tensor_of(x).dtype() == dtype) return Py_NewRef(x);
    return wrap(tensor_of(x).to(dtype));
  });
}
PyObject* to_processor(PyObject* x, PyObject* args, PyObject* named) noexcept {
  static const char* names[] = {"memory_format", nullptr};
  PyObject* format = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, named, "|$O", const_cast<char**>(names), &format)) return nullptr;
  return guarded([&] { return memory_format_from(format, "cpu"), Py_NewRef(x); });
}
PyObject* requires_grad_(PyObject* x, PyObject* args, PyObject* named) noexcept {
  static const char* names[] = {"requires_grad", nullptr};
  PyObject* value = Py_True;
  if (!PyArg_ParseTupleAndKeywords(args, named, "|O", const_cast<char**>(names), &value)) return nullptr;
  return set_requires_grad(x, value, nullptr) == 0 ? Py_NewRef(x) : nullptr;
}

PyObject* method_item(PyObject* x, PyObject*) noexcept {
  return guarded([&] { return item(tensor_of(x)); });
}
nb::object nested(const nb::list& flat, const Shape& shape, std::size_t axis, std::size_t& at) {
  if (axis == shape.size()) return nb::borrow(flat[at++]);
  nb::list list;
  for (std::int64_t i = 0; i < shape[axis].host(); ++i) list.append(nested(flat, shape, axis + 1, at));
  return list;
}
PyObject* to_list(PyObject* self, PyObject*) noexcept {
  return guarded([&] {
    const Tensor& x = tensor_of(self);
    nb::list flat;
    switch (category(x.dtype())) {
      case 0:
        for (const bool v : x.to_vector<bool>()) flat.append(nb::bool_(v));
        break;
      case 1:
        for (const std::int64_t v : x.to_vector<std::int64_t>()) flat.append(v);
        break;
      case 2:
        for (const double v : x.to_vector<double>()) flat.append(v);
        break;
      default:
        for (const auto& v : x.to_vector<std::complex<double>>())
          flat.append(nb::steal(PyComplex_FromDoubles(v.real(), v.imag())));
    }
    std::size_t at = 0;
    return nested(flat, x.shape(), 0, at).release().ptr();
  });
}
PyObject* dim(PyObject* x, PyObject*) noexcept {
  return guarded([&] { return PyLong_FromLongLong(tensor_of(x).dim()); });
}
PyObject* numel(PyObject* x, PyObject*) noexcept {
  return guarded([&] { return wrap_size(tensor_of(x).shape().numel()); });
}
/// The axis that `size` or `stride` is asked for, counted from the front; none if it is asked for all.
std::optional<std::size_t> axis_from(const std::string& method, const Tensor& x, PyObject* const* args,
                                     Py_ssize_t count, PyObject* names) {
  if (names && PyTuple_GET_SIZE(names) > 0) {
    if (++count > 1 || PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "dim") != 0)
      throw TypeError(method + " takes one axis, dim, or nothing");
  }
  if (count == 0) return std::nullopt;
  std::int64_t axis = 0;
  if (count > 1 || !int_from(args[0], axis)) throw TypeError(method + " takes one axis, an int, or nothing");
  const std::int64_t rank = x.dim();
  if (axis < -rank || axis >= rank)
    throw IndexError(method + ": axis " + std::to_string(axis) + " is out of range for a Tensor of " +
                     std::to_string(rank) + " axes");
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}
/// size(), all of them; size(dim), one.
PyObject* size(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) noexcept {
  return guarded([&] {
    const Tensor& x = tensor_of(self);
    const auto axis = axis_from("size", x, args, count, names);
    const Shape shape = x.shape();
    return axis ? wrap_size(shape[*axis]) : wrap_shape(shape);
  });
}
PyObject* stride(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) noexcept {
  return guarded([&] {
    const Tensor& x = tensor_of(self);
    const auto axis = axis_from("stride", x, args, count, names);
    const Strides strides = x.strides();
    if (axis) return PyLong_FromLongLong(strides[*axis]);
    nb::list all;
    for (const std::int64_t s : strides) all.append(s);
    return nb::tuple(all).release().ptr();
  });
}
/// With channels last: whether the elements lie in row-major order once axis 1 is the last.
PyObject* is_contiguous(PyObject* self, PyObject* args, PyObject* named) noexcept {
  static const char* names[] = {"memory_format", nullptr};
  PyObject* format = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, named, "|$O", const_cast<char**>(names), &format)) return nullptr;
  return guarded([&] {
    const Tensor& x = tensor_of(self);
    const MemoryFormat wanted = memory_format_from(format, "is_contiguous");
    const bool is_3d = wanted == MemoryFormat::channels_last_3d;
    const bool has_channels_last = is_3d || wanted == MemoryFormat::channels_last;
    if (has_channels_last && x.dim() != (is_3d ? 5 : 4)) return Py_NewRef(Py_False);
    const bool is_so = has_channels_last ? ops::movedim(x, 1, -1).is_contiguous() : x.is_contiguous();
    return PyBool_FromLong(is_so ? 1 : 0);
  });
}
PyObject* is_same(PyObject* x, PyObject* other) noexcept {
  return PyBool_FromLong(is_tensor(other) && tensor_of(x).is_same(tensor_of(other)) ? 1 : 0);
}
PyObject* is_floating_point(PyObject* x, PyObject*) noexcept {
  return guarded([&] { return PyBool_FromLong(tensor_of(x).is_floating_point() ? 1 : 0); });
}
PyObject* is_complex_(PyObject* x, PyObject*) noexcept {
  return guarded([&] { return PyBool_FromLong(tensor_of(x).is_complex() ? 1 : 0); });
}
PyObject* copy(PyObject* x, PyObject*) noexcept {
  return guarded([&] { return wrap(tensor_of(x).clone()); });
}
PyObject* format(PyObject* x, PyObject* spec) noexcept {
  return guarded([&] {
    if (!PyUnicode_Check(spec)) throw TypeError("format: the form must be a str, not " + name_of_type(spec));
    if (PyUnicode_GetLength(spec) == 0 || !tensor_of(x).shape().empty()) return show(x);
    const nb::object number = nb::steal(item(tensor_of(x)));
    return PyObject_Format(number.ptr(), spec);
  });
}
PyObject* rounded(PyObject* x, PyObject* const* args, Py_ssize_t count) noexcept {
  return guarded([&] {
    std::int64_t digits = 0;
    if (count > 1 || (count == 1 && args[0] != Py_None && !int_from(args[0], digits)))
      throw TypeError("round: the number of digits must be an int, or be left out");
    return wrap(tensor_of(x).round(digits));
  });
}
PyObject* show_html(PyObject* x, PyObject*) noexcept {
  return guarded([&] {
    const nb::object table = nb::module_::import_("ricci._html").attr("of_tensor");
    return table(nb::handle(x)).release().ptr();
  });
}
PyObject* as_complex(PyObject* x, PyObject*) noexcept {
  return guarded([&] {
    const auto z = tensor_of(x).item<std::complex<double>>();
    return PyComplex_FromDoubles(z.real(), z.imag());
  });
}

// ── properties ──

PyObject* get_shape(PyObject* x, void*) noexcept {
  return guarded_attribute([&] { return wrap_shape(tensor_of(x).shape()); });
}
PyObject* get_dtype(PyObject* x, void*) noexcept {
  return guarded_attribute([&] { return wrap_dtype(tensor_of(x).dtype()); });
}
PyObject* get_device(PyObject*, void*) noexcept {
  return guarded_attribute([&] { return device_here().release().ptr(); });
}
PyObject* get_data(PyObject* x, void*) noexcept {
  return guarded_attribute([&] { return wrap(forms::without_derivative(tensor_of(x))); });
}
PyObject* get_requires_grad(PyObject* x, void*) noexcept {
  return guarded_attribute([&] { return PyBool_FromLong(runs::is_on_tape(tensor_of(x)) ? 1 : 0); });
}
int set_requires_grad(PyObject* x, PyObject* value, void*) noexcept {
  return guarded_int([&] {
    if (!value) throw TypeError("requires_grad: it cannot be deleted");
    if (truth_of(value)) refuse_requires_grad("requires_grad");
    if (runs::is_on_tape(tensor_of(x)))
      throw ValueError(
          "requires_grad: it cannot become False while a derivative or a rc.Tape records what is computed from the "
          "Tensor; x.detach() is a constant");
  });
}
PyObject* get_ndim(PyObject* x, void*) noexcept { return dim(x, nullptr); }
PyObject* get_transposed(PyObject* x, void*) noexcept {
  return guarded_attribute([&] { return wrap(tensor_of(x).T()); });
}
PyObject* get_matrices_transposed(PyObject* x, void*) noexcept {
  return guarded_attribute([&] { return wrap(tensor_of(x).mT()); });
}
PyObject* get_adjoints(PyObject* x, void*) noexcept {
  return guarded_attribute([&] { return wrap(tensor_of(x).mH()); });
}
PyObject* get_adjoint(PyObject* x, void*) noexcept {
  return guarded_attribute([&] { return wrap(tensor_of(x).H()); });
}
PyObject* get_real(PyObject* x, void*) noexcept {
  return guarded_attribute([&] { return wrap(ops::real(tensor_of(x))); });
}
PyObject* get_imag(PyObject* x, void*) noexcept {
  return guarded_attribute([&] { return wrap(ops::imag(tensor_of(x))); });
}

template <class F>
PyType_Slot slot(int id, F* function) {
  return {id, reinterpret_cast<void*>(function)};
}

}  // namespace

std::vector<PyType_Slot> tensor_slots() {
  std::vector<PyType_Slot> slots = {
      slot(Py_nb_add, binary<ops::add>),
      slot(Py_nb_subtract, binary<ops::sub>),
      slot(Py_nb_multiply, binary<ops::mul>),
      slot(Py_nb_true_divide, binary<ops::div>),
      slot(Py_nb_floor_divide, binary<ops::floor_divide>),
      slot(Py_nb_remainder, binary<ops::remainder>),
      slot(Py_nb_power, ternary<ops::pow>),
      slot(Py_nb_matrix_multiply, binary<ops::matmul>),
      slot(Py_nb_and, binary<ops::bitwise_and>),
      slot(Py_nb_or, binary<ops::bitwise_or>),
      slot(Py_nb_xor, binary<ops::bitwise_xor>),
      slot(Py_nb_lshift, binary<ops::bitwise_left_shift>),
      slot(Py_nb_rshift, binary<ops::bitwise_right_shift>),
      slot(Py_nb_inplace_add, in_place<&Tensor::add_>),
      slot(Py_nb_inplace_subtract, in_place<&Tensor::sub_>),
      slot(Py_nb_inplace_multiply, in_place<&Tensor::mul_>),
      slot(Py_nb_inplace_true_divide, in_place<&Tensor::div_>),
      slot(Py_nb_inplace_floor_divide, in_place<&Tensor::floor_divide_>),
      slot(Py_nb_inplace_remainder, in_place<&Tensor::remainder_>),
      slot(Py_nb_inplace_power, in_place_power),
      slot(Py_nb_inplace_and, in_place<&Tensor::bitwise_and_>),
      slot(Py_nb_inplace_or, in_place<&Tensor::bitwise_or_>),
      slot(Py_nb_inplace_xor, in_place<&Tensor::bitwise_xor_>),
      slot(Py_nb_inplace_lshift, in_place<&Tensor::bitwise_left_shift_>),
      slot(Py_nb_inplace_rshift, in_place<&Tensor::bitwise_right_shift_>),
      slot(Py_nb_negative, unary<ops::neg>),
      slot(Py_nb_positive, positive),
      slot(Py_nb_absolute, unary<ops::abs>),
      slot(Py_nb_invert, unary<ops::bitwise_not>),
      slot(Py_nb_bool, truth),
      slot(Py_nb_float, as_float),
      slot(Py_nb_int, as_int),
      slot(Py_nb_index, as_index),
      slot(Py_sq_length, length),
      slot(Py_sq_item, row),
      slot(Py_sq_contains, contains),
      slot(Py_mp_length, length),
      slot(Py_mp_subscript, get_item),
      slot(Py_mp_ass_subscript, set_item),
      slot(Py_tp_iter, rows),
      slot(Py_tp_richcompare, compare),
      slot(Py_tp_hash, hash),
      slot(Py_tp_repr, show),
      slot(Py_tp_str, show),
  };
  sharing_slots(slots);
  return slots;
}

namespace {

/// As Python wants it: a doc whose first line is the signature.
PyMethodDef defined(const Method& m) {
  static std::deque<std::string> docs;
  const bool has_arguments = *m.arguments != 0;
  docs.push_back(std::string(m.name) + "($self, " + (has_arguments ? m.arguments : "/") + ")\n--\n\n" + m.doc);
  return {m.name, m.function, m.flags, docs.back().c_str()};
}

}  // namespace

PyMethodDef* tensor_methods() {
  const auto named = [](auto* f) { return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f)); };
  constexpr int by_name = METH_VARARGS | METH_KEYWORDS;
  static const Method own[] = {
      {"bool", named(in_dtype<DType::boolean>), by_name, "*, memory_format=None", "x.to(rc.bool)."},
      {"byte", named(in_dtype<DType::uint8>), by_name, "*, memory_format=None", "x.to(rc.uint8)."},
      {"char", named(in_dtype<DType::int8>), by_name, "*, memory_format=None", "x.to(rc.int8)."},
      {"short", named(in_dtype<DType::int16>), by_name, "*, memory_format=None", "x.to(rc.int16)."},
      {"int", named(in_dtype<DType::int32>), by_name, "*, memory_format=None", "x.to(rc.int32)."},
      {"long", named(in_dtype<DType::int64>), by_name, "*, memory_format=None", "x.to(rc.int64)."},
      {"half", named(in_dtype<DType::float16>), by_name, "*, memory_format=None", "x.to(rc.float16)."},
      {"bfloat16", named(in_dtype<DType::bfloat16>), by_name, "*, memory_format=None", "x.to(rc.bfloat16)."},
      {"float", named(in_dtype<DType::float32>), by_name, "*, memory_format=None", "x.to(rc.float32)."},
      {"double", named(in_dtype<DType::float64>), by_name, "*, memory_format=None", "x.to(rc.float64)."},
      {"cfloat", named(in_dtype<DType::complex64>), by_name, "*, memory_format=None", "x.to(rc.complex64)."},
      {"cdouble", named(in_dtype<DType::complex128>), by_name, "*, memory_format=None", "x.to(rc.complex128)."},
      {"cpu", named(to_processor), by_name, "*, memory_format=None", "The Tensor itself, which lies there."},
      {"requires_grad_", named(requires_grad_), by_name, "requires_grad=True",
       "An error that names rc.grad and rc.Tape, unless False is given."},
      {"item", method_item, METH_NOARGS, "",
       "The one element, as a Python number. ValueError if there is not exactly one."},
      {"tolist", to_list, METH_NOARGS, "", "The elements as Python numbers in nested lists."},
      {"dim", dim, METH_NOARGS, "", "The number of axes."},
      {"numel", numel, METH_NOARGS, "", "The number of elements."},
      {"size", named(size), METH_FASTCALL | METH_KEYWORDS, "dim=None",
       "size(): the shape; size(dim): the size along an axis."},
      {"stride", named(stride), METH_FASTCALL | METH_KEYWORDS, "dim=None",
       "The strides, in elements, or the one of an axis."},
      {"is_contiguous", named(is_contiguous), by_name, "*, memory_format=None",
       "Whether the elements lie in row-major order; with memory_format=rc.channels_last, with axis 1 as the last."},
      {"is_same", is_same, METH_O, "other, /", "Whether this is the same tensor, not an equal one."},
      {"is_floating_point", is_floating_point, METH_NOARGS, "", "Whether the elements are floating numbers."},
      {"is_complex", is_complex_, METH_NOARGS, "", "Whether the elements are complex numbers."},
      {"__round__", named(rounded), METH_FASTCALL, "digits=0, /", "round(x): rc.round(x, decimals=digits)."},
      {"_repr_html_", show_html, METH_NOARGS, "", "What notebooks show."},
      {"__copy__", copy, METH_NOARGS, "", "A copy."},
      {"__deepcopy__", copy, METH_O, "memo, /", "A copy."},
      {"__format__", format, METH_O, "spec, /", "The text of the one element in this form."},
      {"__complex__", as_complex, METH_NOARGS, "", "The one element."},
  };
  static std::vector<PyMethodDef> methods = [] {
    std::vector<PyMethodDef> all;
    for (const Method& m : own) all.push_back(defined(m));
    for (const Method& m : sharing_methods()) all.push_back(defined(m));
    all.push_back({});
    return all;
  }();
  return methods.data();
}

PyGetSetDef* tensor_properties() {
  static PyGetSetDef properties[] = {
      {"shape", get_shape, nullptr, "The sizes, a tuple; in a vmapped function those of one example.", nullptr},
      {"dtype", get_dtype, nullptr, "The element type.", nullptr},
      {"ndim", get_ndim, nullptr, "The number of axes.", nullptr},
      {"device", get_device, nullptr, "Where the elements lie: `cpu`.", nullptr},
      {"data", get_data, nullptr,
       "A view of the same elements without derivatives: what is written to it is written here.", nullptr},
      {"requires_grad", get_requires_grad, set_requires_grad,
       "Whether a function under grad, vjp or jacrev, or a Tape, records what is computed from it. It is not set: "
       "rc.grad "
       "and Tape.watch ask for derivatives.",
       nullptr},
      {"T", get_transposed, nullptr, "All axes in reverse order.", nullptr},
      {"mT", get_matrices_transposed, nullptr, "The last two axes swapped.", nullptr},
      {"mH", get_adjoints, nullptr, "The conjugate, its last two axes swapped.", nullptr},
      {"H", get_adjoint, nullptr, "The conjugate of a matrix, its axes swapped.", nullptr},
      {"real", get_real, nullptr, "The real part.", nullptr},
      {"imag", get_imag, nullptr, "The imaginary part.", nullptr},
      {}};
  return properties;
}

}  // namespace ricci::python
