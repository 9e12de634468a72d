// Memory shared with Python's other arrays. What Python lends (from_numpy, from_dlpack) is seen and written by both. A
// tensor of Ricci's is shown to others as it is at that moment, read-only and without a copy: its elements belong to a
// value that never changes. Which memory was lent is noted here, so that a lent tensor and its views go out writable.
#include "sharing.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "device.h"
#include "dtypes.h"
#include "errors.h"
#include "object.h"
#include "ricci/ops.h"
#include "ricci/transforms/differentiated.h"
#include "sizes.h"
#include "slots.h"

namespace ricci::python {
namespace {

// ── lent memory ──

/// First address behind each piece of lent memory → its first. Pieces may lie within others.
std::multimap<const char*, const char*> lent;
std::mutex lent_mutex;

bool is_lent(const char* address) {
  const std::lock_guard lock(lent_mutex);
  return std::any_of(lent.upper_bound(address), lent.end(), [&](const auto& piece) { return piece.second <= address; });
}
void note_lent(const char* first, const char* last) {
  const std::lock_guard lock(lent_mutex);
  lent.emplace(last, first);
}
void forget_lent(const char* first, const char* last) {
  const std::lock_guard lock(lent_mutex);
  const auto [begin, end] = lent.equal_range(last);
  const auto at = std::find_if(begin, end, [&](const auto& piece) { return piece.second == first; });
  if (at != end) lent.erase(at);
}

/// A tensor over memory that `owner` keeps. Strides are in elements, none negative.
Tensor lend(char* data, const Shape& shape, const std::vector<std::int64_t>& strides, DType dtype, Held owner) {
  if (shape.numel() == 0) return ops::empty(shape, dtype);
  std::int64_t count = 1;
  for (std::size_t i = 0; i < strides.size(); ++i) count += (shape[i].host() - 1) * strides[i];
  const char* const last = data + count * static_cast<std::int64_t>(element_size(dtype));
  note_lent(data, last);
  const auto end = [owner = std::move(owner), first = static_cast<const char*>(data), last](void*) mutable {
    forget_lent(first, last);
    owner = Held();
  };
  std::int64_t row_major = 1;
  bool is_row_major = true;
  for (std::size_t i = strides.size(); i-- > 0;) {
    is_row_major &= shape[i] == 1 || strides[i] == row_major;
    row_major *= shape[i].host();
  }
  if (is_row_major) return ops::from_blob(data, shape, dtype, end);
  return ops::as_strided(ops::from_blob(data, Shape(count), dtype, end), shape, Sizes(strides));
}

// ── Python's buffers ──

/// NumPy's and struct's letters.
bool dtype_of_format(const char* format, std::size_t size, DType& into) {
  if (!format) return into = DType::uint8, size == 1;
  std::string_view text = format;
  constexpr char other_order = std::endian::native == std::endian::little ? '>' : '<';
  if (!text.empty() && (text[0] == '!' || (text[0] == other_order && size > 1))) return false;
  if (!text.empty() && std::string_view("@=<>").find(text[0]) != std::string_view::npos) text.remove_prefix(1);
  if (text == "?") into = DType::boolean;
  else if (text == "e") into = DType::float16;
  else if (text == "f") into = DType::float32;
  else if (text == "d") into = DType::float64;
  else if (text == "Zf") into = DType::complex64;
  else if (text == "Zd") into = DType::complex128;
  else if (text == "B") into = DType::uint8;
  else if (text == "b" || text == "h" || text == "i" || text == "l" || text == "q")
    into = size == 1 ? DType::int8 : size == 2 ? DType::int16 : size == 4 ? DType::int32 : DType::int64;
  else return false;
  return element_size(into) == size;
}

const char* format_of(DType dtype) {
  constexpr const char* formats[dtype_count] = {"?", "B", "b", "h", "i", "l", "e", nullptr, "f", "d", "Zf", "Zd"};
  return formats[static_cast<int>(dtype)];
}

/// A view of an array's memory, kept until the last copy is gone.
class Buffer {
 public:
  Buffer(nb::handle array, int flags) {
    if (PyObject_GetBuffer(array.ptr(), &view, flags) != 0) throw nb::python_error();
  }
  Buffer(const Buffer&) = delete;
  ~Buffer() { PyBuffer_Release(&view); }
  Py_buffer view = {};
};

constexpr const char* known_types = "bool, uint8, int8 to int64, float16 to float64, complex64 and complex128";

/// As an owner of the memory that outlives this function.
Held capsule_of(std::unique_ptr<Buffer> buffer) {
  return Held(nb::capsule(buffer.release(), [](void* p) noexcept { delete static_cast<Buffer*>(p); }));
}

Tensor from_numpy(nb::handle array) {
  if (!PyObject_CheckBuffer(array.ptr()))
    throw TypeError("from_numpy: an array is needed, not " + name_of_type(array.ptr()) +
                    "; rc.tensor makes tensors of lists");
  auto buffer = std::make_unique<Buffer>(array, PyBUF_STRIDED_RO | PyBUF_FORMAT);
  const Py_buffer& view = buffer->view;
  DType dtype{};
  if (!dtype_of_format(view.format, static_cast<std::size_t>(view.itemsize), dtype))
    throw TypeError(std::string("from_numpy: there is no element type for the array's (") + view.format +
                    "); there are " + known_types +
                    "; convert the array first, for example with array.astype(\"float32\")");
  if (view.readonly)
    throw ValueError("from_numpy: the array is read-only, and a Tensor can be written; rc.tensor(array) copies it");
  Shape shape;
  std::vector<std::int64_t> strides;
  for (int i = 0; i < view.ndim; ++i) {
    const Py_ssize_t stride = view.strides[i];
    if ((stride < 0 || stride % view.itemsize != 0) && view.shape[i] > 1)
      throw ValueError("from_numpy: axis " + std::to_string(i) + " of the array has a stride of " +
                       std::to_string(stride) + " bytes; it must be a multiple of the element's " +
                       std::to_string(view.itemsize) + " and not negative; rc.tensor(array) copies it");
    shape.push_back(static_cast<std::int64_t>(view.shape[i]));
    strides.push_back(view.shape[i] > 1 ? static_cast<std::int64_t>(stride / view.itemsize) : 0);
  }
  auto* const data = static_cast<char*>(view.buf);
  return lend(data, shape, strides, dtype, capsule_of(std::move(buffer)));
}

/// A copy of an array, whatever its strides.
Tensor copy_of_array(nb::handle array, std::optional<DType> wanted) {
  const Buffer buffer(array, PyBUF_FULL_RO);
  const Py_buffer& view = buffer.view;
  DType dtype{};
  if (!dtype_of_format(view.format, static_cast<std::size_t>(view.itemsize), dtype))
    throw TypeError(std::string("tensor: there is no element type for the array's (") + view.format + "); there are " +
                    known_types + "; convert the array first, for example with array.astype(\"float32\")");
  Shape shape;
  for (int i = 0; i < view.ndim; ++i) shape.push_back(static_cast<std::int64_t>(view.shape[i]));
  std::vector<char> elements(static_cast<std::size_t>(view.len));
  if (PyBuffer_ToContiguous(elements.data(), &view, view.len, 'C') != 0) throw nb::python_error();
  return ops::copy_of_elements(elements.data(), dtype, shape, wanted.value_or(dtype));
}

// ── Python's values ──

/// Numbers in nested lists, laid out row by row.
struct Flat {
  Shape shape;
  std::vector<std::complex<double>> complex;
  std::vector<double> reals;
  std::vector<std::int64_t> integers;
  int category = 0;  // of dtype.h: the greatest among the numbers

  void add(nb::handle o, std::size_t axis) {
    if (PyList_Check(o.ptr()) || PyTuple_Check(o.ptr())) {
      if (Py_EnterRecursiveCall(" in a list of numbers, which holds itself or is too deep") != 0)
        throw nb::python_error();
      const std::unique_ptr<void, void (*)(void*)> level(this, [](void*) { Py_LeaveRecursiveCall(); });
      const Py_ssize_t count = PySequence_Fast_GET_SIZE(o.ptr());  // a class made from list may say another
      if (axis == shape.size()) {
        if (!integers.empty()) throw ValueError("tensor: a list stands beside a number; all must be as deep");
        shape.push_back(static_cast<std::int64_t>(count));
      }
      if (shape[axis] != count)
        throw ValueError("tensor: lists side by side must be as long: one of " + std::to_string(count) +
                         " stands beside one of " + std::to_string(shape[axis].host()));
      for (Py_ssize_t i = 0; i < count; ++i) {
        if (PySequence_Fast_GET_SIZE(o.ptr()) != count) throw ValueError("tensor: a list was changed while being read");
        add(nb::borrow(PySequence_Fast_GET_ITEM(o.ptr(), i)), axis + 1);
      }
      return;
    }
    if (axis != shape.size()) throw ValueError("tensor: a number stands beside a list; all must be as deep");
    nb::object scalar = numpy_item(o.ptr());
    if (is_tensor(o.ptr()) && tensor_of(o.ptr()).dim() == 0) {
      runs::require_undifferentiated(tensor_of(o.ptr()), "rc.tensor",
                                     "rc.stack makes a Tensor with one, x.item() is a constant");
      scalar = nb::handle(o).attr("item")();
    }
    if (scalar.is_valid()) o = scalar;
    add_number(o.ptr());
  }

 private:
  void add_number(PyObject* o) {
    double real = 0, imaginary = 0;
    std::int64_t integer = 0;
    int kind = 0;
    if (PyBool_Check(o)) {
      integer = o == Py_True ? 1 : 0;
    } else if (PyLong_Check(o)) {
      int overflow = 0;
      kind = 1;
      integer = PyLong_AsLongLongAndOverflow(o, &overflow);
      if (overflow != 0) throw ValueError("tensor: an integer beyond 64 bits is no element; convert it to a float");
    } else if (PyFloat_Check(o)) {
      kind = 2;
      real = PyFloat_AS_DOUBLE(o);
    } else if (PyComplex_Check(o)) {
      kind = 3;
      real = PyComplex_RealAsDouble(o);
      imaginary = PyComplex_ImagAsDouble(o);
    } else {
      throw TypeError("tensor: an element must be a number, not " + name_of_type(o) +
                      (is_tensor(o) ? "; rc.stack joins Tensors" : ""));
    }
    if (kind < 2) real = static_cast<double>(integer);
    category = std::max(category, kind);
    integers.push_back(integer);
    reals.push_back(real);
    complex.emplace_back(real, imaginary);
  }
};

}  // namespace

Tensor tensor_of_values(nb::handle values, std::optional<DType> dtype) {
  if (is_tensor(values.ptr())) {
    const Tensor& x = tensor_of(values.ptr());
    runs::require_undifferentiated(x, "rc.tensor", "x.clone() is a copy with one, x.detach() a constant");
    const Tensor copy = x.detach().clone();
    return dtype ? copy.to(*dtype) : copy;
  }
  if (PyObject_CheckBuffer(values.ptr()) && !PyBytes_Check(values.ptr()) && !numpy_item(values.ptr()).is_valid())
    return copy_of_array(values, dtype);
  Flat flat;
  flat.add(values, 0);
  const auto result = [&](const void* elements, DType have, DType natural) {
    return ops::copy_of_elements(elements, have, flat.shape, dtype.value_or(natural));
  };
  const bool is_empty = flat.integers.empty();
  if (flat.category == 3) return result(flat.complex.data(), DType::complex128, complex_dtype(default_dtype()));
  if (flat.category == 2 || is_empty) return result(flat.reals.data(), DType::float64, default_dtype());
  return result(flat.integers.data(), DType::int64, flat.category == 1 ? DType::int64 : DType::boolean);
}

namespace {

// ── out: Python's buffers ──

/// The elements of a tensor where they lie, and what keeps them there.
struct Shown {
  Tensor kept;
  char* data = nullptr;
  bool is_writable = false;
  std::vector<Py_ssize_t> shape, strides;  // strides in bytes
};

const char* address_of(const Tensor& row_major) {
  return visit_dtype(row_major.dtype(), [&]<class T>(std::type_identity<T>) {
    return reinterpret_cast<const char*>(row_major.data<T>());
  });
}

std::unique_ptr<Shown> shown(const Tensor& x) {
  auto result = std::make_unique<Shown>();
  const Shape shape = x.shape();
  const auto bytes = static_cast<std::int64_t>(element_size(x.dtype()));
  const Strides strides = x.strides();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    result->shape.push_back(static_cast<Py_ssize_t>(shape[i].host()));
    result->strides.push_back(static_cast<Py_ssize_t>(strides[i] * bytes));
  }
  static char nothing[16] = {};
  result->data = nothing;
  result->kept = x;
  if (x.numel() == 0) return result;
  Tensor first = x;  // the element that lies first
  for (std::size_t i = 0; i < shape.size(); ++i) first = first.select(0, 0);
  const char* address = address_of(x.is_contiguous() ? x : first);
  // After the address: where a vmap maps x, its error comes first, as detach would not mend it.
  runs::require_undifferentiated(x, "an array", "use operations of Ricci, or x.detach() for a constant");
  result->is_writable = is_lent(address);
  if (!result->is_writable) {
    // A value of its own, which writes to x leave alone.
    result->kept = x.detach();
    const Tensor& kept = result->kept;
    Tensor first_kept = kept;
    for (std::size_t i = 0; i < shape.size(); ++i) first_kept = first_kept.select(0, 0);
    address = address_of(kept.is_contiguous() ? kept : first_kept);
    const Strides of_kept = kept.strides();
    for (std::size_t i = 0; i < shape.size(); ++i) result->strides[i] = static_cast<Py_ssize_t>(of_kept[i] * bytes);
  }
  result->data = const_cast<char*>(address);
  return result;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  view->obj = nullptr;
  return guarded_int([&] {
    const auto refuse = [](const char* text) {
      PyErr_SetString(PyExc_BufferError, text);
      throw nb::python_error();
    };
    const Tensor& x = tensor_of(self);
    const char* const format = format_of(x.dtype());
    if (!format) refuse("NumPy has no bfloat16; convert the Tensor first, with x.to(rc.float32)");
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !x.is_contiguous())
      refuse("the elements are not in row-major order; make them so with x.contiguous()");
    std::unique_ptr<Shown> s = shown(x);
    if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE && !s->is_writable)
      refuse(
          "the Tensor's memory is its own and read-only for others; rc.from_numpy(array) makes a Tensor of shared "
          "memory");
    view->buf = s->data;
    view->itemsize = static_cast<Py_ssize_t>(element_size(x.dtype()));
    view->len = static_cast<Py_ssize_t>(x.numel()) * view->itemsize;
    view->readonly = s->is_writable ? 0 : 1;
    view->ndim = static_cast<int>(s->shape.size());
    view->format = (flags & PyBUF_FORMAT) == PyBUF_FORMAT ? const_cast<char*>(format) : nullptr;
    view->shape = (flags & PyBUF_ND) == PyBUF_ND ? s->shape.data() : nullptr;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? s->strides.data() : nullptr;
    view->suboffsets = nullptr;
    view->internal = s.release();
    view->obj = Py_NewRef(self);
  });
}
void release_buffer(PyObject*, Py_buffer* view) noexcept { delete static_cast<Shown*>(view->internal); }

/// numpy.asarray(x), which asks for this where the buffer is refused, and says why.
PyObject* to_array(PyObject* self, PyObject* args, PyObject* named) noexcept {
  static const char* names[] = {"dtype", "copy", nullptr};
  PyObject *dtype = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, named, "|OO", const_cast<char**>(names), &dtype, &copy)) return nullptr;
  return guarded([&] {
    if (!format_of(tensor_of(self).dtype()))
      throw TypeError("numpy.asarray: NumPy has no bfloat16; convert the Tensor first, with x.to(rc.float32)");
    const nb::object view = nb::steal(PyMemoryView_FromObject(self));
    if (!view.is_valid()) throw_raised();
    const nb::object numpy = nb::module_::import_("numpy");
    nb::object array = numpy.attr("asarray")(view);
    if (dtype != Py_None) array = array.attr("astype")(nb::handle(dtype), nb::arg("copy") = false);
    if (copy == Py_True) array = array.attr("copy")();
    return array.release().ptr();
  });
}
PyObject* to_numpy(PyObject* self, PyObject*) noexcept {
  return guarded([&] {
    const nb::object none = nb::tuple();
    return to_array(self, none.ptr(), nullptr);
  });
}

// ── DLPack, https://dmlc.github.io/dlpack: the layout of its C structs ──

struct DLTensor {
  void* data;
  std::int32_t device_type, device_id;
  std::int32_t ndim;
  std::uint8_t code, bits;
  std::uint16_t lanes;
  std::int64_t *shape, *strides;
  std::uint64_t byte_offset;
};
struct DLManaged {
  DLTensor tensor;
  void* context;
  void (*deleter)(DLManaged*);
};
struct DLVersioned {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(DLVersioned*);
  std::uint64_t flags;  // 1: read-only
  DLTensor tensor;
};
constexpr std::int32_t dl_cpu = 1;
enum DLCode : std::uint8_t { dl_int, dl_uint, dl_float, dl_bfloat = 4, dl_complex = 5, dl_bool = 6 };

DLCode code_of(DType dtype) {
  switch (dtype) {
    case DType::boolean: return dl_bool;
    case DType::uint8: return dl_uint;
    case DType::bfloat16: return dl_bfloat;
    default: return is_integral(dtype) ? dl_int : is_floating(dtype) ? dl_float : dl_complex;
  }
}

/// A tensor on its way out.
struct Exported {
  std::unique_ptr<Shown> shown;
  std::vector<std::int64_t> shape, strides;
  DLTensor tensor = {};

  explicit Exported(const Tensor& x) : shown(python::shown(x)) {
    const auto bytes = static_cast<std::int64_t>(element_size(x.dtype()));
    shape.assign(shown->shape.begin(), shown->shape.end());
    for (const Py_ssize_t s : shown->strides) strides.push_back(static_cast<std::int64_t>(s) / bytes);
    tensor = {.data = shown->data,
              .device_type = dl_cpu,
              .device_id = 0,
              .ndim = static_cast<std::int32_t>(shape.size()),
              .code = code_of(x.dtype()),
              .bits = static_cast<std::uint8_t>(bytes * 8),
              .lanes = 1,
              .shape = shape.data(),
              .strides = strides.data(),
              .byte_offset = 0};
  }
};
template <class Managed>
struct ExportedAs : Exported {
  Managed managed = {};
  explicit ExportedAs(const Tensor& x) : Exported(x) {
    managed.tensor = tensor;
    managed.context = this;
    managed.deleter = [](Managed* m) { delete static_cast<ExportedAs*>(m->context); };
  }
};
constexpr const char *plain_name = "dltensor", *versioned_name = "dltensor_versioned";

template <class Managed>
PyObject* capsule_of(ExportedAs<Managed>* exported, const char* name) {
  return PyCapsule_New(&exported->managed, name, [](PyObject* capsule) {
    const char* const name_now = PyCapsule_GetName(capsule);  // another one where it was taken
    if (name_now && (std::strcmp(name_now, plain_name) == 0 || std::strcmp(name_now, versioned_name) == 0)) {
      auto* const m = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name_now));
      m->deleter(m);
    }
  });
}

PyObject* to_dlpack(PyObject* self, PyObject* args, PyObject* named) noexcept {
  static const char* names[] = {"stream", "max_version", "dl_device", "copy", nullptr};
  PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, named, "|$OOOO", const_cast<char**>(names), &stream, &version, &device, &copy))
    return nullptr;
  return guarded([&] {
    Tensor x = tensor_of(self);
    if (device != Py_None && nb::cast<int>(nb::handle(device)[0]) != dl_cpu)
      throw ValueError("__dlpack__: a Tensor lies in the memory of the processor; copy it to another device there");
    const bool is_versioned = version != Py_None && nb::cast<int>(nb::handle(version)[0]) >= 1;
    if (copy == Py_True) x = x.clone();
    if (is_versioned) {
      auto* const exported = new ExportedAs<DLVersioned>(x);
      exported->managed.major = 1;
      exported->managed.flags = exported->shown->is_writable ? 0 : 1;
      return capsule_of(exported, versioned_name);
    }
    // A consumer that knows of no flag might write to the memory: a Tensor of Ricci's own goes out as a copy.
    auto exported = std::make_unique<ExportedAs<DLManaged>>(x);
    if (!exported->shown->is_writable) exported = std::make_unique<ExportedAs<DLManaged>>(x.clone());
    return capsule_of(exported.release(), plain_name);
  });
}
PyObject* dlpack_device(PyObject*, PyObject*) noexcept { return Py_BuildValue("(ii)", dl_cpu, 0); }

bool dtype_of_dl(const DLTensor& t, DType& into) {
  for (int i = 0; i < dtype_count; ++i) {
    into = static_cast<DType>(i);
    if (code_of(into) == t.code && element_size(into) * 8 == t.bits && t.lanes == 1) return true;
  }
  return false;
}

/// The capsule is renamed, as the protocol asks, and the memory kept until the tensor is gone.
template <class Managed>
Held taken(const nb::object& capsule, Managed* managed, const char* used) {
  Held owner(nb::capsule(managed, [](void* p) noexcept {
    auto* const m = static_cast<Managed*>(p);
    if (m->deleter) m->deleter(m);
  }));
  PyCapsule_SetName(capsule.ptr(), used);
  return owner;
}

Tensor from_dlpack(nb::object given) {
  if (!nb::hasattr(given, "__dlpack__"))
    throw TypeError("from_dlpack: an array with __dlpack__ is needed, not " + name_of_type(given.ptr()));
  nb::object capsule;
  const nb::object method = given.attr("__dlpack__");
  nb::dict named;
  named["max_version"] = nb::make_tuple(1, 0);
  PyObject* versioned = PyObject_Call(method.ptr(), nb::tuple().ptr(), named.ptr());
  if (!versioned && PyErr_ExceptionMatches(PyExc_TypeError)) {  // one that knows no versions
    PyErr_Clear();
    versioned = PyObject_Call(method.ptr(), nb::tuple().ptr(), nullptr);
  }
  if (!versioned) throw_raised();
  capsule = nb::steal(versioned);
  const bool is_versioned = PyCapsule_IsValid(capsule.ptr(), versioned_name) != 0;
  if (!is_versioned && PyCapsule_IsValid(capsule.ptr(), plain_name) == 0)
    throw TypeError("from_dlpack: __dlpack__ gave no capsule of a tensor");
  void* const pointer = PyCapsule_GetPointer(capsule.ptr(), is_versioned ? versioned_name : plain_name);
  const DLTensor& t =
      is_versioned ? static_cast<DLVersioned*>(pointer)->tensor : static_cast<DLManaged*>(pointer)->tensor;
  DType dtype{};
  if (t.device_type != dl_cpu)
    throw ValueError("from_dlpack: the array lies on another device; copy it to the processor's memory first");
  if (!dtype_of_dl(t, dtype))
    throw TypeError(std::string("from_dlpack: there is no element type for the array's; there are ") + known_types +
                    " and bfloat16; convert the array first");
  if (is_versioned && (static_cast<DLVersioned*>(pointer)->flags & 1U) != 0)
    throw ValueError("from_dlpack: the array is read-only, and a Tensor can be written; pass a copy of it");
  Shape shape;
  std::vector<std::int64_t> strides(static_cast<std::size_t>(t.ndim));
  std::int64_t row_major = 1;
  for (std::int32_t i = t.ndim; i-- > 0;) {
    strides[static_cast<std::size_t>(i)] = t.strides ? t.strides[i] : row_major;
    row_major *= t.shape[i];
    if (strides[static_cast<std::size_t>(i)] < 0 && t.shape[i] > 1)
      throw ValueError("from_dlpack: axis " + std::to_string(i) +
                       " of the array has a negative stride; pass a copy of it");
    if (t.shape[i] <= 1) strides[static_cast<std::size_t>(i)] = 0;
  }
  for (std::int32_t i = 0; i < t.ndim; ++i) shape.push_back(t.shape[i]);
  char* const data = static_cast<char*>(t.data) + t.byte_offset;
  Held owner = is_versioned ? taken(capsule, static_cast<DLVersioned*>(pointer), "used_dltensor_versioned")
                            : taken(capsule, static_cast<DLManaged*>(pointer), "used_dltensor");
  return lend(data, shape, strides, dtype, std::move(owner));
}

// ── pickling ──

/// (rebuild, (bytes, shape, dtype))
PyObject* reduce(PyObject* self, PyObject*) noexcept {
  return guarded([&] {
    const Tensor x = tensor_of(self).detach().contiguous();
    const auto count = static_cast<Py_ssize_t>(x.numel()) * static_cast<Py_ssize_t>(element_size(x.dtype()));
    const nb::object bytes = nb::steal(PyBytes_FromStringAndSize(count > 0 ? address_of(x) : "", count));
    const nb::object rebuild = nb::module_::import_("ricci").attr("rebuild_tensor");
    return nb::make_tuple(rebuild,
                          nb::make_tuple(bytes, nb::steal(wrap_shape(x.shape())), nb::steal(wrap_dtype(x.dtype()))))
        .release()
        .ptr();
  });
}

std::optional<DType> given_dtype(nb::handle o) {
  DType dtype{};
  if (o.is_none()) return std::nullopt;
  if (!dtype_from(o.ptr(), dtype))
    throw TypeError("tensor: dtype must be a dtype, such as rc.float32, not " + name_of_type(o.ptr()));
  return dtype;
}

/// x.new_tensor(data): a copy of the data, in x's dtype unless given another one.
PyObject* new_tensor(PyObject* self, PyObject* args, PyObject* named) noexcept {
  static const char* names[] = {"data", "dtype", "device", "requires_grad", "layout", "pin_memory", nullptr};
  PyObject *data = nullptr, *dtype = Py_None, *device = Py_None, *requires_grad = Py_False, *layout = Py_None,
           *pin = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, named, "O|$OOOOO", const_cast<char**>(names), &data, &dtype, &device,
                                   &requires_grad, &layout, &pin))
    return nullptr;
  return guarded([&] {
    require_here(device, "new_tensor");
    require_strided(layout, "new_tensor");
    if (truth_of(requires_grad)) refuse_requires_grad("new_tensor");
    return wrap(tensor_of_values(data, given_dtype(dtype).value_or(tensor_of(self).dtype())));
  });
}

}  // namespace

void sharing_slots(std::vector<PyType_Slot>& slots) {
  slots.push_back({Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)});
  slots.push_back({Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)});
}

std::vector<Method> sharing_methods() {
  const auto named = [](auto* f) { return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f)); };
  constexpr int by_name = METH_VARARGS | METH_KEYWORDS;
  return {
      {"__array__", named(to_array), by_name, "dtype=None, copy=None", "As numpy, for NumPy's functions."},
      {"numpy", to_numpy, METH_NOARGS, "",
       "A NumPy array of the elements, without a copy; it can be written where the memory was lent by from_numpy or "
       "from_dlpack, and else shows the elements as they are now."},
      {"new_tensor", named(new_tensor), by_name,
       "data, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=None",
       "A copy of numbers or lists of them, in this Tensor's dtype unless another one is given."},
      {"__dlpack__", named(to_dlpack), by_name, "*, stream=None, max_version=None, dl_device=None, copy=None",
       "The memory for other libraries."},
      {"__dlpack_device__", dlpack_device, METH_NOARGS, "", "Where the memory is."},
      {"__reduce__", reduce, METH_NOARGS, "", "For pickle."},
  };
}

void make_sharing(nb::module_& m) {
  m.def(
      "tensor",
      [](nb::handle data, nb::handle dtype, nb::handle device, bool requires_grad, bool) {
        require_here(device.ptr(), "tensor");
        if (requires_grad) refuse_requires_grad("tensor");
        return tensor_of_values(data, given_dtype(dtype));
      },
      nb::arg("data").none(), nb::arg("dtype") = nb::none(), nb::kw_only(), nb::arg("device") = nb::none(),
      nb::arg("requires_grad") = false, nb::arg("pin_memory") = false,
      "A copy of a number, of lists within lists of numbers, or of an array. Floats get the default dtype.");
  m.def("from_numpy", from_numpy, nb::arg("array"),
        "A Tensor over the memory of an array: writes to either are seen by both. ValueError for a read-only array and "
        "for strides that are negative or no multiple of an element; TypeError for element types that are not here.");
  m.def("from_dlpack", from_dlpack, nb::arg("array"),
        "The same over the memory of anything with __dlpack__, such as a tensor of PyTorch.");
  m.def("rebuild_tensor", [](nb::bytes bytes, nb::handle shape, nb::handle dtype) {
    Shape sizes;
    for (nb::handle s : shape) sizes.push_back(nb::cast<std::int64_t>(s));
    const DType of = given_dtype(dtype).value_or(DType::float32);
    const auto wanted = static_cast<std::size_t>(sizes.numel().host()) * element_size(of);
    if (bytes.size() != wanted) throw ValueError("rebuild_tensor: the bytes are not as many as the shape says");
    return ops::copy_of_elements(bytes.c_str(), of, sizes, of);
  });
}

}  // namespace ricci::python
