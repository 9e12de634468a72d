// `ricci.device`.
#include "device.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "errors.h"
#include "object.h"

namespace ricci::python {
namespace {

struct Device {};
PyTypeObject* device_type = nullptr;

bool is_here(std::string_view name) { return name == "cpu" || name == "cpu:0"; }

/// Whether a text begins as PyTorch's names of devices do: `cuda:1`, not `float32`.
bool names_device(std::string_view text) {
  constexpr std::string_view kinds[] = {"cpu", "cuda", "mps", "xpu", "meta", "mtia", "hpu"};
  return std::ranges::find(kinds, text.substr(0, text.find(':'))) != std::end(kinds);
}

/// Whether it is the word that _words.py has under this name.
bool is_word(PyObject* o, const char* name) {
  return o == nb::object(nb::module_::import_("ricci._words").attr(name)).ptr();
}

[[noreturn]] void refuse(const std::string& user, const std::string& name) {
  throw ValueError(user + ": there is no device " + name + "; Tensors lie in the processor's memory, \"cpu\"");
}

}  // namespace

bool is_device(PyObject* o) {
  if (Py_TYPE(o) == device_type) return true;
  const char* const text = PyUnicode_Check(o) ? PyUnicode_AsUTF8(o) : nullptr;
  return text && names_device(text);
}

void require_here(PyObject* o, const char* user) {
  if (o == Py_None || Py_TYPE(o) == device_type) return;
  if (!PyUnicode_Check(o))
    throw TypeError(std::string(user) + ": device must be \"cpu\" or rc.device(\"cpu\"), not " + name_of_type(o));
  const std::string name = nb::cast<std::string>(nb::handle(o));
  if (!is_here(name)) refuse(user, name);
}

nb::object device_here() { return nb::cast(Device{}); }

MemoryFormat memory_format_from(PyObject* o, const char* user) {
  if (o == Py_None) return MemoryFormat::preserved;
  constexpr std::pair<const char*, MemoryFormat> formats[] = {{"contiguous_format", MemoryFormat::contiguous},
                                                              {"preserve_format", MemoryFormat::preserved},
                                                              {"channels_last", MemoryFormat::channels_last},
                                                              {"channels_last_3d", MemoryFormat::channels_last_3d}};
  for (const auto& [name, format] : formats)
    if (is_word(o, name)) return format;
  throw TypeError(std::string(user) + ": memory_format must be a format, such as rc.channels_last, not " +
                  name_of_type(o));
}

void require_strided(PyObject* o, const char* user) {
  if (o != Py_None && !is_word(o, "strided"))
    throw TypeError(std::string(user) + ": layout must be rc.strided, not " + name_of_type(o));
}

void refuse_requires_grad(const char* user) {
  throw ValueError(std::string(user) +
                   ": requires_grad is True, but no Tensor asks for gradients by itself; ask the function for them, "
                   "with rc.grad or rc.vjp, or "
                   "watch the Tensor on a rc.Tape");
}

void make_device(nb::module_& m) {
  nb::class_<Device> c(m, "device", "Where a Tensor lies: `cpu`, the processor's memory.");
  device_type = reinterpret_cast<PyTypeObject*>(c.ptr());
  c.def(
       "__init__",
       [](Device* self, const std::string& type, std::optional<int> index) {
         if (!is_here(type) || index.value_or(0) != 0)
           refuse("device", type + (index ? ":" + std::to_string(*index) : ""));
         new (self) Device;
       },
       nb::arg("type"), nb::arg("index") = nb::none())
      .def_prop_ro("type", [](const Device&) { return "cpu"; })
      .def_prop_ro("index", [](const Device&) { return nb::none(); })
      .def("__str__", [](const Device&) { return "cpu"; })
      .def("__repr__", [](const Device&) { return "device(type='cpu')"; })
      .def("__eq__", [](const Device&, nb::handle other) { return Py_TYPE(other.ptr()) == device_type; })
      .def("__hash__", [](const Device&) { return 0; })
      .def("__reduce__", [](const Device&) {
        return nb::make_tuple(nb::handle(reinterpret_cast<PyObject*>(device_type)), nb::make_tuple("cpu"));
      });
}

}  // namespace ricci::python
