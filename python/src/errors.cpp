// Errors between the two languages.
#include "errors.h"

#include <exception>
#include <mutex>
#include <new>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "object.h"
#include "ricci/caller.h"
#include "threads.h"

namespace ricci::python {
namespace {

PyObject *error_type, *value_error, *index_error, *type_error, *transform_error, *not_implemented_error,
    *attribute_error;
PyObject* passing;    // a C++ exception on its way through Python
std::string package;  // the folder of this package, whose frames are nobody's program
thread_local PyObject* interrupt = nullptr;

/// What errors of C++ say about options, and how it is written in Python.
constexpr std::pair<std::string_view, std::string_view> spellings[] = {
    {".randomness = rc::Randomness::different", "randomness=\"different\""},
    {"static auto backward(rc::Context& ctx, cotangents…)", "backward(ctx, *cotangents), a static method"},
    {"static auto jvp(rc::Context& ctx, tangents…)", "jvp(ctx, *tangents), a static method"},
    {"static constexpr bool generate_vmap_rule = true", "generate_vmap_rule = True"},
    {"static auto vmap(const rc::VmapInfo& info, in_dims, arguments…)", "vmap(info, in_dims, *args), a static method"},
    {"rc::Randomness::same", "\"same\""},
    {".lanes = rc::Lanes::split", "lanes=\"split\""},
    {"rc::Lanes::split", "lanes=\"split\""},
    {".out_dims = rc::ragged", "out_dims=rc.ragged"},
    {"{.in_dims = {rc::none, 0}}", "in_dims=(None, 0)"},
    {"{.size = n}", "size=n"},
    {"nonzero with .size", "nonzero with size"},
    {"a pair {loss, aux} with rc::has_aux", "a tuple (loss, aux) with has_aux=True"},
    {"return it through rc::has_aux", "return it with has_aux=True"},
    {"drop rc::strict", "drop strict=True"},
    {"rc::Inside", "rc.Inside"},
    {"rc::current_nest()", "rc.current_nest()"},
    {"out_dim none", "out_dim None"},
    {"rc::none", "None"},
    {"C++ type", "type"},
    {"rc::", "rc."},
};

std::string in_python(std::string text) {
  for (const auto& [cpp, python] : spellings)
    for (std::size_t at = text.find(cpp); at != std::string::npos; at = text.find(cpp, at + python.size()))
      text.replace(at, cpp.size(), python);
  return text;
}

/// An error that was raised in Python and passes through C++ as one of its own kind.
struct FromPython {
  Held raised;
};
template <class E>
struct Returning final : E, FromPython {
  Returning(const std::string& text, Held raised) : E(text), FromPython{std::move(raised)} {}
};

PyObject* type_of_error(const Error& e) {
  if (dynamic_cast<const ValueError*>(&e)) return value_error;
  if (dynamic_cast<const IndexError*>(&e)) return index_error;
  if (dynamic_cast<const TypeError*>(&e)) return type_error;
  if (dynamic_cast<const TransformError*>(&e)) return transform_error;
  if (dynamic_cast<const NotImplementedError*>(&e)) return not_implemented_error;
  return error_type;
}

void restore(PyObject* raised) { PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised)), raised); }

void delete_exception(PyObject* capsule) {
  delete static_cast<std::exception_ptr*>(PyCapsule_GetPointer(capsule, nullptr));
}

void pass(std::exception_ptr exception) {
  PyObject* capsule = PyCapsule_New(new std::exception_ptr(std::move(exception)), nullptr, delete_exception);
  PyErr_SetObject(passing, capsule);
  Py_XDECREF(capsule);
}

/// Takes Python's error away.
nb::object fetch() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return nb::steal(value);
}

template <class E>
[[noreturn]] void throw_as(nb::object raised) {
  const std::string text = nb::cast<std::string>(nb::str(raised));
  throw Returning<E>(text, Held(std::move(raised)));
}

std::string place_of_caller() {
  if (!Py_IsInitialized()) return {};
  const PyGILState_STATE state = PyGILState_Ensure();
  const PythonPlace place = python_place();
  PyGILState_Release(state);
  const std::string_view file = place.file;
  return file.empty() ? std::string()
                      : std::string(file.substr(file.find_last_of('/') + 1)) + ":" + std::to_string(place.line);
}

}  // namespace

PythonPlace python_place() {
  static std::unordered_set<std::string> files;  // of programs; the interpreter's lock guards it
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const char* const file = PyUnicode_AsUTF8(code->co_filename);
    const bool is_ours = file && !package.empty() && std::string_view(file).starts_with(package);
    Py_DECREF(code);
    if (file && !is_ours) {
      const PythonPlace place{files.insert(file).first->c_str(), static_cast<unsigned>(PyFrame_GetLineNumber(frame))};
      Py_DECREF(frame);
      return place;
    }
    if (!file) PyErr_Clear();
    PyFrameObject* const back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  return {};
}

void set_python_error() noexcept {
  try {
    throw;
  } catch (nb::python_error& e) { e.restore(); } catch (const Error& e) {
    if (const auto* from = dynamic_cast<const FromPython*>(&e)) restore(from->raised.get());
    else PyErr_SetString(type_of_error(e), in_python(e.what()).c_str());
  } catch (const nb::cast_error&) {
    PyErr_SetString(type_error, "an argument is of another type than it must be; the function's doc says which");
  } catch (const std::bad_alloc&) { PyErr_NoMemory(); } catch (const std::exception& e) {
    PyErr_SetString(error_type, e.what());
  } catch (...) { pass(std::current_exception()); }
}

void set_attribute_error() noexcept {
  set_python_error();
  if (!PyErr_ExceptionMatches(error_type)) return;
  for (PyObject* const kind : {index_error, value_error, type_error})
    if (PyErr_ExceptionMatches(kind)) {
      const nb::object raised = fetch();
      PyErr_SetObject(attribute_error, nb::str(raised).ptr());
      return;
    }
}

void throw_raised() {
  if (PyErr_ExceptionMatches(passing)) {
    const nb::object raised = fetch();
    const nb::object capsule = raised.attr("args")[0];
    std::rethrow_exception(*static_cast<std::exception_ptr*>(PyCapsule_GetPointer(capsule.ptr(), nullptr)));
  }
  if (PyErr_ExceptionMatches(error_type)) {
    nb::object raised = fetch();
    const auto is = [&](PyObject* type) { return PyObject_IsInstance(raised.ptr(), type) == 1; };
    if (is(value_error)) throw_as<ValueError>(std::move(raised));
    if (is(index_error)) throw_as<IndexError>(std::move(raised));
    if (is(type_error)) throw_as<TypeError>(std::move(raised));
    if (is(transform_error)) throw_as<TransformError>(std::move(raised));
    if (is(not_implemented_error)) throw_as<NotImplementedError>(std::move(raised));
    throw_as<Error>(std::move(raised));
  }
  if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
    nb::object raised = fetch();
    Py_XDECREF(std::exchange(interrupt, raised.inc_ref().ptr()));
    restore(raised.ptr());
  }
  throw nb::python_error();
}

nb::object call(nb::handle f, nb::handle arguments, nb::handle named) {
  let_python_in();  // a function of C++, rc.sin for one, does not
  PyObject* const result = PyObject_Call(f.ptr(), arguments.ptr(), named.ptr());
  if (!result) throw_raised();
  if (interrupt) Py_CLEAR(interrupt);  // an earlier one, which has reached the program
  return nb::steal(result);
}

void raise_dropped_interrupt() {
  if (!interrupt) return;
  const nb::object raised = nb::steal(std::exchange(interrupt, nullptr));
  restore(raised.ptr());
  throw nb::python_error();
}

void make_errors(nb::module_& m) {
  const auto make = [&](const char* name, PyObject* base, PyObject* builtin, const char* doc) {
    const nb::object bases =
        builtin ? nb::object(nb::make_tuple(nb::handle(base), nb::handle(builtin))) : nb::borrow(base);
    PyObject* const type = PyErr_NewExceptionWithDoc((std::string("ricci.") + name).c_str(), doc, bases.ptr(), nullptr);
    if (!type) throw nb::python_error();
    m.attr(name) = nb::handle(type);
    return type;
  };
  error_type = make("Error", PyExc_RuntimeError, nullptr, "What this package raises.");
  value_error = make("ValueError", error_type, PyExc_ValueError, "A value, shape or option that cannot be used.");
  index_error = make("IndexError", error_type, PyExc_IndexError, "An index or axis outside its range.");
  type_error = make("TypeError", error_type, PyExc_TypeError, "An element type or argument that cannot be used.");
  transform_error = make("TransformError", error_type, nullptr, "A rule of a transform broken.");
  not_implemented_error =
      make("NotImplementedError", error_type, PyExc_NotImplementedError, "Asked for something that is not there.");
  attribute_error = make("AttributeError", error_type, PyExc_AttributeError, "An attribute that this Tensor has not.");
  passing = PyErr_NewException("ricci._core.Passing", PyExc_BaseException, nullptr);
  m.attr("Passing") = nb::handle(passing);
  m.def("set_package", [](const std::string& folder) { package = folder + "/"; });
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const nb::builtin_exception&) { throw; } catch (...) {
      set_python_error();
    }
  });
  set_caller_place(place_of_caller);
  watch_signals();
}

}  // namespace ricci::python
