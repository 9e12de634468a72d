// How the arguments of a call are bound to an overload and read.
#include "call.h"

#include <structmember.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "device.h"
#include "dtypes.h"
#include "errors.h"
#include "forms.h"
#include "sharing.h"
#include "sizes.h"
#include "threads.h"

namespace ricci::python {
namespace {

struct OperationObject {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  const OperationTable* table;
};
const OperationTable& table_of(PyObject* o) { return *reinterpret_cast<OperationObject*>(o)->table; }

bool is_list(PyObject* o) { return PyTuple_Check(o) || PyList_Check(o); }
std::span<PyObject* const> items(PyObject* list) {
  return {PySequence_Fast_ITEMS(list), static_cast<std::size_t>(PySequence_Fast_GET_SIZE(list))};
}

bool is_size_like(PyObject* o) { return is_int(o) || is_size(o); }
bool is_operand(PyObject* o) { return is_tensor(o) || is_number(o); }

/// `a, [0, 1], b, [1, 2]`, and at the end perhaps `[0, 2]`: operands and the numbers of their axes.
bool is_terms(std::span<PyObject* const> all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_axes = is_list(all[i]) && std::ranges::all_of(items(all[i]), [](PyObject* axis) {
                           return is_int(axis) || axis == Py_Ellipsis;
                         });
    const bool is_last = i + 1 == all.size();
    if (i % 2 == 1 || (is_last && i > 0) ? !is_axes : !is_operand(all[i]) || is_last) return false;
  }
  return true;
}

/// Whether an argument is of this kind. The first overload whose kinds all fit is called.
bool fits(Kind kind, PyObject* o) {
  const auto all = [o](auto is) { return is_list(o) && std::ranges::all_of(items(o), is); };
  switch (kind) {
    case Kind::tensor: return o == Py_None || is_operand(o);
    case Kind::tensors: return all(is_operand);
    case Kind::axes: return o == Py_None || is_int(o) || all(is_int);
    case Kind::axes_pair: {
      const auto are_axes = [](PyObject* axes) { return fits(Kind::axes, axes); };
      return is_list(o) && items(o).size() == 2 && !all(is_int) && all(are_axes);
    }
    case Kind::shape:
    case Kind::sizes: return is_size_like(o) || all(is_size_like);
    case Kind::integer: return is_int(o);
    case Kind::size:
    case Kind::bound: return is_size_like(o);
    case Kind::optional_size: return o == Py_None || is_size_like(o);
    case Kind::numbers: {
      const auto is_one = [](PyObject* number) { return fits(Kind::number, number); };
      return is_one(o) || all(is_one);
    }
    case Kind::number: return !is_tensor(o) && is_number(o) && !PyBool_Check(o) && !PyComplex_Check(o);
    case Kind::boolean: return PyBool_Check(o) || std::string_view(Py_TYPE(o)->tp_name).starts_with("numpy.bool");
    case Kind::text:
    case Kind::reduction: return PyUnicode_Check(o);
    case Kind::dtype: {
      DType dtype{};
      return dtype_from(o, dtype);
    }
    case Kind::generator: return generator_from(o) != nullptr;
    case Kind::indices: return true;
    case Kind::terms: return is_list(o) && !items(o).empty() && is_terms(items(o));
    case Kind::device: return is_device(o);
    case Kind::key: return key_data_from(o).defined();
  }
  return false;
}

/// Whether None means the same as leaving the argument out.
bool none_is_left_out(const Parameter& p) {
  const bool may_be_none = p.kind == Kind::tensor || p.kind == Kind::axes || p.kind == Kind::optional_size;
  return (p.flags & keyword_only) != 0 || !may_be_none;
}

/// Names of arguments that PyTorch accepts too, some of them NumPy's, each with the name that it has here.
constexpr std::pair<const char*, const char*> other_names[] = {
    {"axis", "dim"},
    {"keepdims", "keepdim"},
    {"x", "input"},
    {"a", "input"},
    {"x1", "input"},
    {"A", "input"},
    {"B", "input"},
    {"L", "input2"},
    {"var", "variance"},
    {"tensor", "input"},
    {"x2", "other"},
    {"split_size", "split_size_or_sections"},
    {"sections", "indices_or_sections"},
    {"indices", "indices_or_sections"},
    {"from", "low"},
    {"to", "high"},
    {"lambd", "rate"},
};

/// What is wrong with a call, for its error.
struct Refusal {
  std::string text;
};

/// The arguments of a call in the order of the parameters; null where one is left out.
struct Binding {
  std::array<PyObject*, most_parameters> given = {};
  nb::object collected;  // the list, where its items were given one by one: reshape(x, 2, 3)

  /// False where the arguments do not match the overload; `refusal`, if there is one, then says why.
  bool bind(const Overload& o, std::span<PyObject* const> positional, PyObject* names, PyObject* const* named,
            Refusal* refusal) {
    const auto refuse = [refusal](auto... parts) {
      if (refusal) refusal->text = (std::string() + ... + parts);
      return false;
    };
    given.fill(nullptr);
    std::size_t at = 0, parameter = 0;
    while (at < positional.size()) {
      while (parameter < o.count && (o.parameters[parameter].flags & keyword_only) != 0) ++parameter;
      if (parameter == o.count)
        return refuse("takes at most ", std::to_string(at), " arguments by position, not ",
                      std::to_string(positional.size()));
      const Parameter& p = o.parameters[parameter];
      if ((p.flags & several) != 0 && !is_list(positional[at]) && collects(p, positional.subspan(at))) {
        const std::size_t count = positional.size() - at;
        collected = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
        for (std::size_t i = 0; i < count; ++i)
          PyTuple_SET_ITEM(collected.ptr(), static_cast<Py_ssize_t>(i), Py_NewRef(positional[at + i]));
        given[parameter++] = collected.ptr();
        at += count;
      } else {
        given[parameter++] = positional[at++];
      }
    }
    const Py_ssize_t count = names ? PyTuple_GET_SIZE(names) : 0;
    for (Py_ssize_t k = 0; k < count; ++k) {
      PyObject* const name = PyTuple_GET_ITEM(names, k);
      const std::size_t i = find(o, name);
      if (i == o.count) return refuse("has no argument ", PyUnicode_AsUTF8(name));
      if (given[i]) return refuse("got ", PyUnicode_AsUTF8(name), " twice, by position and by name");
      given[i] = named[k];
    }
    for (std::size_t i = 0; i < o.count; ++i) {
      if (given[i] == Py_None && none_is_left_out(o.parameters[i])) given[i] = nullptr;
      if (!given[i] && (o.parameters[i].flags & has_default) == 0)
        return refuse("lacks its argument ", o.parameters[i].name);
    }
    return true;
  }

  static bool collects(const Parameter& p, std::span<PyObject* const> rest) {
    if (p.kind == Kind::terms) return is_terms(rest);
    if (p.kind == Kind::tensors) return std::ranges::all_of(rest, is_operand);
    return rest.size() > 1 && std::ranges::all_of(rest, is_size_like);
  }

  static std::size_t find(const Overload& o, PyObject* name) {
    for (std::size_t i = 0; i < o.count; ++i)
      if (o.parameters[i].interned == name) return i;
    for (std::size_t i = 0; i < o.count; ++i)
      if (PyUnicode_CompareWithASCIIString(name, o.parameters[i].name) == 0) return i;
    for (const auto& [other, own] : other_names)
      if (PyUnicode_CompareWithASCIIString(name, other) == 0)
        for (std::size_t i = 0; i < o.count; ++i)
          if (std::string_view(own) == o.parameters[i].name) return i;
    return o.count;
  }

  /// The name of the first argument whose kind does not fit; null where all fit.
  const char* misfit(const Overload& o) const {
    for (std::size_t i = 0; i < o.count; ++i)
      if (given[i] && !fits(o.parameters[i].kind, given[i])) return o.parameters[i].name;
    return nullptr;
  }
};

/// `sum: no form takes (Tensor, str); there is sum(input, dim=None, keepdim=False)`
[[noreturn]] void refuse_call(const OperationTable& table, std::span<PyObject* const> positional, PyObject* names,
                              PyObject* const* named) {
  std::string text = std::string(table.name) + ": no form takes (";
  const char* comma = "";
  for (PyObject* o : positional) text += std::exchange(comma, ", ") + name_of_type(o);
  for (Py_ssize_t k = 0; k < (names ? PyTuple_GET_SIZE(names) : 0); ++k)
    text += std::string(std::exchange(comma, ", ")) + PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, k)) + "=" +
            name_of_type(named[k]);
  const std::string_view doc = table.doc;
  std::string forms(doc.substr(0, doc.find("\n\n")));
  for (std::size_t at = 0; (at = forms.find('\n', at)) != std::string::npos;) forms.replace(at, 1, " or ");
  const char* const hint =
      std::ranges::any_of(positional, is_array)
          ? "; make a Tensor of an array first: rc.tensor(array) copies, rc.from_numpy(array) shares its memory"
          : "";
  throw TypeError(text + "); there is " + forms + hint);
}

constexpr forms::Target out_target = {"out", "make out with the result's shape and dtype"};
constexpr forms::Target inplace_target = {"the input", "leave inplace=True out"};

/// Writes a result, a Tensor or a tuple of Tensors, to what `out` or `inplace` names. Writes nothing where one of them
/// does not fit. Returns a new reference to what was written.
PyObject* written_to(const OperationTable& table, const forms::Target& target, PyObject* out, PyObject* result) {
  const std::string name = table.name;
  const bool is_tuple = PyTuple_Check(result);
  if (is_tuple && (!is_list(out) || items(out).size() != items(result).size()))
    throw TypeError(name + ": out must be a tuple of " + std::to_string(items(result).size()) + " Tensors, not " +
                    name_of_type(out));
  const auto targets = is_tuple ? items(out) : std::span<PyObject* const>(&out, 1);
  const auto parts = is_tuple ? items(result) : std::span<PyObject* const>(&result, 1);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!is_tensor(targets[i]))
      throw TypeError(name + ": " + target.text + " must be a Tensor, not " + name_of_type(targets[i]) + "; " +
                      target.remedy);
    forms::require_room(name, target, tensor_of(targets[i]), tensor_of(parts[i]));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) tensor_of(targets[i]).copy_(tensor_of(parts[i]));
  return Py_NewRef(out);
}

/// Whether an argument has the same kind in all overloads.
bool has_one_kind(const OperationTable& table, std::string_view name) {
  std::optional<Kind> kind;
  for (const Overload& overload : std::span(table.overloads, table.count))
    for (const Parameter& p : std::span(overload.parameters, overload.count))
      if (name == p.name && kind.value_or(p.kind) != p.kind) return false;
      else if (name == p.name) kind = p.kind;
  return true;
}

/// Whether an argument equals the default that the doc shows.
bool is_default(PyObject* o, Shown& shown) {
  if (!shown.text) return false;
  if (!shown.value) shown.value = nb::module_::import_("ast").attr("literal_eval")(shown.text).release().ptr();
  PyObject* const value = shown.value;
  if (o == value) return true;
  if (PyBool_Check(o) || PyBool_Check(value)) return false;
  const bool are_numbers = (PyLong_CheckExact(o) || PyFloat_CheckExact(o)) && is_number(value);
  const bool are_texts = PyUnicode_CheckExact(o) && PyUnicode_CheckExact(value);
  return (are_numbers || are_texts) && PyObject_RichCompareBool(o, value, Py_EQ) == 1;
}

/// A call without the arguments that equal their defaults: `prod(x, dim=None, keepdim=False)` becomes `prod(x)`. Some
/// defaults of the one signature that the doc shows are a shorter overload in C++; no overload takes them as values.
struct WithoutDefaults {
  std::vector<PyObject*> given;  // first those by position, then those by name
  std::size_t by_position = 0;
  nb::object names;

  /// False where no argument equals its default.
  bool bind(const OperationTable& table, std::span<PyObject* const> positional, PyObject* all_names,
            PyObject* const* named) {
    const std::span shown(table.shown, table.shown_count);
    if (positional.size() > shown.size()) return false;
    nb::list kept_names;
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < positional.size(); ++i) {
      if (shown[i].keyword_only) return false;
      if (is_default(positional[i], shown[i])) {
        ++left_out;
        continue;
      }
      given.push_back(positional[i]);
      if (left_out == 0) ++by_position;
      else kept_names.append(nb::str(shown[i].name));
    }
    for (Py_ssize_t k = 0; k < (all_names ? PyTuple_GET_SIZE(all_names) : 0); ++k) {
      PyObject* const name = PyTuple_GET_ITEM(all_names, k);
      const auto one = std::ranges::find_if(
          shown, [name](const Shown& s) { return PyUnicode_CompareWithASCIIString(name, s.name) == 0; });
      if (one != shown.end() && is_default(named[k], *one)) {
        ++left_out;
        continue;
      }
      given.push_back(named[k]);
      kept_names.append(nb::handle(name));
    }
    if (nb::len(kept_names) > 0) names = nb::tuple(kept_names);
    return left_out > 0;
  }
};

PyObject* call_operation(PyObject* self, PyObject* const* args, std::size_t flags, PyObject* names);

/// Checks a word of PyTorch that changes nothing here. False for any other argument.
bool is_idle(const OperationTable& table, PyObject* name, PyObject* value) {
  const auto is = [name](const char* text) { return PyUnicode_CompareWithASCIIString(name, text) == 0; };
  if ((table.takes & takes_device) != 0 && is("device")) return require_here(value, table.name), true;
  if ((table.takes & takes_device) != 0 && is("layout")) return require_strided(value, table.name), true;
  if ((table.takes & takes_device) != 0 && is("pin_memory")) return true;
  if ((table.takes & takes_memory_format) != 0 && is("memory_format"))
    return memory_format_from(value, table.name), true;
  if ((table.takes & takes_requires_grad) == 0 || !is("requires_grad")) return false;
  if (truth_of(value)) refuse_requires_grad(table.name);
  return true;
}

/// Calls without `out`, `inplace` and what changes nothing, and writes the result to what the former name. Null where
/// none of them was given.
PyObject* call_with_target(PyObject* self, std::span<PyObject* const> positional, PyObject* names,
                           PyObject* const* named) {
  const OperationTable& table = table_of(self);
  std::vector<PyObject*> given(positional.begin(), positional.end());
  nb::list others;
  PyObject *out = nullptr, *first = positional.empty() ? nullptr : positional[0];
  bool is_found = false, is_inplace = false;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(names); ++k) {
    PyObject* const name = PyTuple_GET_ITEM(names, k);
    const auto is = [name](const char* text) { return PyUnicode_CompareWithASCIIString(name, text) == 0; };
    if (is_idle(table, name, named[k])) {
      is_found = true;
    } else if ((table.takes & takes_out) != 0 && is("out")) {
      is_found = true;
      if (named[k] != Py_None) out = named[k];
    } else if ((table.takes & takes_inplace) != 0 && is("inplace")) {
      is_found = true;
      if (!fits(Kind::boolean, named[k])) throw TypeError(std::string(table.name) + ": inplace must be True or False");
      is_inplace = truth_of(named[k]);
    } else {
      if (Binding::find(*table.overloads, name) == 0) first = named[k];
      given.push_back(named[k]);
      others.append(nb::handle(name));
    }
  }
  if (!is_found) return nullptr;
  if (out && is_inplace) throw TypeError(std::string(table.name) + ": give out or inplace=True, not both");
  const nb::object other_names_given = nb::tuple(others);
  nb::object result = nb::steal(
      call_operation(self, given.data(), positional.size(), nb::len(others) > 0 ? other_names_given.ptr() : nullptr));
  if (!result.is_valid()) throw nb::python_error();
  if (out) return written_to(table, out_target, out, result.ptr());
  if (is_inplace) return written_to(table, inplace_target, first, result.ptr());
  return result.release().ptr();
}

PyObject* call_operation(PyObject* self, PyObject* const* args, std::size_t flags, PyObject* names) {
  const OperationTable& table = table_of(self);
  const std::span<PyObject* const> positional(args, static_cast<std::size_t>(PyVectorcall_NARGS(flags)));
  PyObject* const* const named = args + positional.size();
  const auto run = [&](const Overload& overload, PyObject* const* given) {
    Call c(table, overload, given);
    try {
      return overload.call(c);
    } catch (...) {
      c.back();
      set_python_error();
      return static_cast<PyObject*>(nullptr);
    }
  };
  const bool is_one = table.count == 1;
  // Most calls: every argument by position, none left out.
  if (is_one && !names && positional.size() == table.overloads->count &&
      (table.overloads->parameters[positional.size() - 1].flags & (several | keyword_only)) == 0)
    return run(*table.overloads, args);
  return guarded([&] {
    Binding bound;
    Refusal refusal;
    // If every overload with so many arguments refuses the same argument, the first overload says what it needs there.
    const Overload* first_to_refuse = nullptr;
    std::string_view refused;
    bool is_same = true;
    for (std::size_t i = 0; i < table.count; ++i) {
      const Overload& overload = table.overloads[i];
      if (!bound.bind(overload, positional, names, named, is_one ? &refusal : nullptr)) continue;
      const char* const misfit = is_one ? nullptr : bound.misfit(overload);
      if (!misfit) return run(overload, bound.given.data());
      if (!first_to_refuse) {
        first_to_refuse = &overload;
        refused = misfit;
      }
      is_same &= refused == misfit;
    }
    if (WithoutDefaults rest; rest.bind(table, positional, names, named)) {
      const std::span<PyObject* const> given(rest.given);
      PyObject* const* const rest_named = given.data() + rest.by_position;
      for (const Overload& overload : std::span(table.overloads, table.count))
        if (bound.bind(overload, given.first(rest.by_position), rest.names.ptr(), rest_named, nullptr) &&
            !bound.misfit(overload))
          return run(overload, bound.given.data());
    }
    if (first_to_refuse && is_same && has_one_kind(table, refused)) {
      bound.bind(*first_to_refuse, positional, names, named, nullptr);
      return run(*first_to_refuse, bound.given.data());
    }
    if (names && table.takes != 0)
      if (PyObject* const result = call_with_target(self, positional, names, named)) return result;
    if (is_one) {
      const std::string_view doc = table.doc;
      throw TypeError(std::string(table.name) + " " + refusal.text + "; it is " +
                      std::string(doc.substr(0, doc.find('\n'))));
    }
    refuse_call(table, positional, names, named);
  });
}

void deallocate(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}
PyObject* bind_to(PyObject* self, PyObject* object, PyObject*) {
  return object && object != Py_None ? PyMethod_New(self, object) : Py_NewRef(self);
}
PyObject* get_name(PyObject* self, void*) { return PyUnicode_FromString(table_of(self).name); }
PyObject* get_doc(PyObject* self, void*) { return PyUnicode_FromString(table_of(self).doc); }
PyObject* show(PyObject* self) { return PyUnicode_FromFormat("<operation ricci.%s>", table_of(self).name); }
PyObject* reduce(PyObject* self, PyObject*) { return PyUnicode_FromString(table_of(self).name); }

}  // namespace

PyTypeObject* make_operation_type() {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(OperationObject, vectorcall), READONLY, nullptr}, {}};
  static PyGetSetDef properties[] = {{"__name__", get_name, nullptr, nullptr, nullptr},
                                     {"__qualname__", get_name, nullptr, nullptr, nullptr},
                                     {"__doc__", get_doc, nullptr, nullptr, nullptr},
                                     {}};
  static PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, "__reduce__($self, /)\n--\n\nFor pickle."},
                                  {}};
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                                {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                {Py_tp_descr_get, reinterpret_cast<void*>(bind_to)},
                                {Py_tp_repr, reinterpret_cast<void*>(show)},
                                {Py_tp_members, members},
                                {Py_tp_getset, properties},
                                {Py_tp_methods, methods},
                                {0, nullptr}};
  static PyType_Spec spec{"ricci.Operation", sizeof(OperationObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR |
                              Py_TPFLAGS_DISALLOW_INSTANTIATION,
                          slots};
  auto* const type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!type) throw nb::python_error();
  return type;
}

nb::object make_operation(const OperationTable& table, PyTypeObject* type) {
  for (const Overload& overload : std::span(table.overloads, table.count))
    for (Parameter& p : std::span(overload.parameters, overload.count)) p.interned = PyUnicode_InternFromString(p.name);
  auto* const self = PyObject_New(OperationObject, type);
  if (!self) throw nb::python_error();
  self->vectorcall = call_operation;
  self->table = &table;
  return nb::steal(reinterpret_cast<PyObject*>(self));
}

nb::object make_result_type(ResultType& result) {
  const nb::object namedtuple = nb::module_::import_("collections").attr("namedtuple");
  nb::object cls = namedtuple(result.name, result.fields, nb::arg("module") = "ricci");
  result.type = reinterpret_cast<PyTypeObject*>(nb::object(cls).release().ptr());
  return cls;
}

void Call::refuse(std::size_t i, const char* wanted) const {
  const std::string name = std::string(table_.name) + ": " + overload_.parameters[i].name;
  PyObject* const found = given_[i];
  if (!found) throw TypeError(name + " is missing; it must be " + wanted);
  if (is_array(found) && overload_.parameters[i].kind == Kind::tensor)
    throw TypeError(name +
                    " is a numpy.ndarray; make a Tensor of it first: rc.tensor(array) copies, "
                    "rc.from_numpy(array) shares its memory");
  throw TypeError(name + " must be " + wanted + ", not " + name_of_type(found));
}

In Call::tensor(std::size_t i) const {
  PyObject* const o = given_[i];
  if (o && is_tensor(o)) return In(&tensor_of(o));
  Tensor number;
  if (o && o != Py_None && !number_from(o, number)) refuse(i, "a Tensor or a number");
  return In(std::move(number));
}
std::vector<Tensor> Call::tensors(std::size_t i) const {
  if (!given_[i] || !is_list(given_[i])) refuse(i, "a list or tuple of Tensors");
  std::vector<Tensor> all;
  for (PyObject* o : items(given_[i])) {
    Tensor one;
    if (is_tensor(o)) one = tensor_of(o);
    else if (!number_from(o, one)) refuse(i, "a list of Tensors alone");
    all.push_back(std::move(one));
  }
  return all;
}
namespace {
template <class List>
bool list_from(PyObject* o, List& into) {
  Size size;
  std::int64_t number = 0;
  const auto add = [&](PyObject* item) {
    if constexpr (std::is_same_v<List, Axes>) {
      if (!int_from(item, number)) return false;
      into.push_back(number);
    } else {
      if (!size_from(item, size)) return false;
      into.push_back(size);
    }
    return true;
  };
  if (is_list(o)) return std::ranges::all_of(items(o), add);
  return add(o);
}
}  // namespace
Axes Call::axes(std::size_t i) const {
  Axes axes;
  if (given_[i] && given_[i] != Py_None && !list_from(given_[i], axes)) refuse(i, "an int or a list of ints");
  return axes;
}
std::optional<Axes> Call::optional_axes(std::size_t i) const {
  if (!given_[i] || given_[i] == Py_None) return std::nullopt;
  return axes(i);
}
std::pair<Axes, Axes> Call::axes_pair(std::size_t i) const {
  std::pair<Axes, Axes> both;
  if (!given_[i] || !fits(Kind::axes_pair, given_[i]) || !list_from(items(given_[i])[0], both.first) ||
      !list_from(items(given_[i])[1], both.second))
    refuse(i, "a pair of lists of ints");
  return both;
}
Shape Call::shape(std::size_t i) const {
  Shape shape;
  if (given_[i] && !list_from(given_[i], shape)) refuse(i, "an int or a list of ints");
  return shape;
}
Sizes Call::sizes(std::size_t i) const {
  Sizes sizes;
  if (given_[i] && given_[i] != Py_None && !list_from(given_[i], sizes)) refuse(i, "an int or a list of ints");
  return sizes;
}
std::int64_t Call::integer(std::size_t i) const {
  std::int64_t value = 0;
  if (!given_[i] || !int_from(given_[i], value)) refuse(i, "an int");
  return value;
}
Size Call::size(std::size_t i) const {
  Size value;
  if (!given_[i] || !size_from(given_[i], value)) refuse(i, "an int");
  return value;
}
ricci::Bound Call::bound(std::size_t i) const {
  if (given_[i] && is_size(given_[i])) return size_of(given_[i]);
  return integer(i);
}
std::optional<Size> Call::optional_size(std::size_t i) const {
  if (!given_[i] || given_[i] == Py_None) return std::nullopt;
  return size(i);
}
double Call::number(std::size_t i) const {
  if (!given_[i] || !fits(Kind::number, given_[i])) refuse(i, "a number");
  const double value = PyFloat_AsDouble(given_[i]);
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  return value;
}
std::optional<double> Call::optional_number(std::size_t i) const {
  return given_[i] && given_[i] != Py_None ? std::optional(number(i)) : std::nullopt;
}
std::vector<double> Call::numbers(std::size_t i) const {
  if (!given_[i] || given_[i] == Py_None) return {};
  if (!fits(Kind::numbers, given_[i])) refuse(i, "a number or a list of numbers");
  std::vector<double> all;
  for (PyObject* o : is_list(given_[i]) ? items(given_[i]) : std::span<PyObject* const>(&given_[i], 1)) {
    all.push_back(PyFloat_AsDouble(o));
    if (all.back() == -1 && PyErr_Occurred()) throw nb::python_error();
  }
  return all;
}
std::optional<bool> Call::optional_boolean(std::size_t i) const {
  return given_[i] && given_[i] != Py_None ? std::optional(boolean(i)) : std::nullopt;
}
bool Call::boolean(std::size_t i) const {
  if (!given_[i] || !fits(Kind::boolean, given_[i])) refuse(i, "True or False");
  return truth_of(given_[i]);
}
std::string Call::text(std::size_t i) const {
  if (!given_[i] || !PyUnicode_Check(given_[i])) refuse(i, "a str");
  Py_ssize_t length = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(given_[i], &length);
  if (!text) throw nb::python_error();
  return {text, static_cast<std::size_t>(length)};
}
std::optional<std::string> Call::optional_text(std::size_t i) const {
  return given_[i] && given_[i] != Py_None ? std::optional(text(i)) : std::nullopt;
}
std::optional<DType> Call::optional_dtype(std::size_t i) const {
  return given_[i] && given_[i] != Py_None ? std::optional(dtype(i)) : std::nullopt;
}
DType Call::dtype(std::size_t i) const {
  DType dtype{};
  if (!given_[i] || !dtype_from(given_[i], dtype)) refuse(i, "a dtype, such as rc.float32");
  return dtype;
}
Reduction Call::reduction(std::size_t i) const { return forms::reduction_named(table_.name, text(i)); }
std::vector<Index> Call::indices(std::size_t i) const {
  std::vector<Index> all;
  if (!given_[i] || !index_from(given_[i], all)) refuse(i, "an index or a tuple of indices");
  return all;
}
Terms Call::terms(std::size_t i) const {
  if (!given_[i] || !fits(Kind::terms, given_[i])) refuse(i, "Tensors, each with the list of its axes");
  const auto all = items(given_[i]);
  Terms terms;
  const auto axes_of = [](PyObject* list) {
    Axes axes;
    std::int64_t number = 0;
    for (PyObject* o : items(list)) axes.push_back(int_from(o, number) ? number : Terms::others);
    return axes;
  };
  for (std::size_t k = 0; k + 1 < all.size(); k += 2) {
    Tensor operand;
    if (is_tensor(all[k])) operand = tensor_of(all[k]);
    else number_from(all[k], operand);
    terms.operands.push_back(std::move(operand));
    terms.axes.push_back(axes_of(all[k + 1]));
  }
  if (all.size() % 2 == 1) terms.result = axes_of(all.back());
  return terms;
}
OnlyDevice Call::device(std::size_t i) const {
  require_here(given_[i], table_.name);
  return {};
}
Key Call::key(std::size_t i) const {
  Tensor data = given_[i] ? key_data_from(given_[i]) : Tensor();
  if (!data.defined()) refuse(i, "a Key");
  return Key(std::move(data));
}
GeneratorOption Call::generator(std::size_t i) const {
  if (!given_[i]) return {};
  Generator* const generator = generator_from(given_[i]);
  if (!generator) refuse(i, "a Generator");
  return *generator;
}
template <class Options>
Options Call::dtype_and_generator(std::size_t first) const {
  Options options;
  if (given_[first]) options.dtype = dtype(first);
  options.generator = generator(first + 1);
  return options;
}
TensorOptions Call::tensor_options(std::size_t first) const { return dtype_and_generator<TensorOptions>(first); }
LikeOptions Call::like_options(std::size_t first) const { return dtype_and_generator<LikeOptions>(first); }
WindowOptions Call::window_options(std::size_t first) const {
  WindowOptions options;
  if (given_[first]) options.periodic = boolean(first);
  if (given_[first + 1]) options.dtype = dtype(first + 1);
  return options;
}
IntegerOptions Call::integer_options(std::size_t first) const { return dtype_and_generator<IntegerOptions>(first); }
RandomOptions Call::random_options(std::size_t first) const {
  const GeneratorOption option = generator(first);
  return {option.generator ? *option.generator : default_generator()};
}
SizeOptions Call::size_options(std::size_t first) const {
  SizeOptions options{size(first)};
  if (given_[first + 1]) options.fill = tensor(first + 1);
  return options;
}
TriangularOptions Call::triangular_options(std::size_t first) const {
  return {boolean(first, true), boolean(first + 1, false), boolean(first + 2, false)};
}

namespace {
/// Whether an argument has or asks for so many elements that other threads should run meanwhile.
bool is_large(Kind kind, PyObject* o) {
  if (is_tensor(o)) return takes_long(tensor_of(o));
  std::int64_t count = 1, one = 0;
  const auto multiply = [&](PyObject* size) {
    if (!int_from(size, one)) return true;
    if (one >= many_elements) return count == 0;  // the product could overflow; with a size 0 it is 0
    return (count *= std::max<std::int64_t>(one, 0)) < many_elements;
  };
  switch (kind) {
    case Kind::tensors: return std::ranges::any_of(items(o), [](PyObject* t) { return is_large(Kind::tensor, t); });
    case Kind::shape: return is_list(o) ? !std::ranges::all_of(items(o), multiply) : !multiply(o);
    case Kind::tensor:  // arange(end)
    case Kind::integer:
    case Kind::size: return PyLong_CheckExact(o) && !multiply(o);
    default: return false;
  }
}
}  // namespace

void Call::begin() {
  if (inside_transform()) return;
  for (std::size_t i = 0; i < overload_.count; ++i)
    if (given_[i] && is_large(overload_.parameters[i].kind, given_[i])) return void(released_ = PyEval_SaveThread());
}
void Call::back() {
  if (released_) PyEval_RestoreThread(std::exchange(released_, nullptr));
}
PyObject* Call::end(Tensor result) {
  back();
  PyObject* const first = given_[0];
  if (first && is_tensor(first) && tensor_of(first).is_same(result)) return Py_NewRef(first);
  return wrap(std::move(result));
}
PyObject* Call::end(bool result) {
  back();
  return PyBool_FromLong(result ? 1 : 0);
}
PyObject* Call::end(const std::pair<Tensor, Tensor>& result) {
  back();
  return named_tuple({&result.first, &result.second});
}
PyObject* Call::end(const std::tuple<Tensor, Tensor, Tensor>& result) {
  back();
  return named_tuple({&std::get<0>(result), &std::get<1>(result), &std::get<2>(result)});
}
PyObject* Call::named_tuple(std::initializer_list<const Tensor*> parts) const {
  PyTypeObject* const type = table_.result->type;
  const nb::object tuple = nb::steal(type->tp_alloc(type, static_cast<Py_ssize_t>(parts.size())));
  if (!tuple.is_valid()) throw nb::python_error();
  Py_ssize_t place = 0;
  for (const Tensor* part : parts) PyTuple_SET_ITEM(tuple.ptr(), place++, wrapped(*part).release().ptr());
  return Py_NewRef(tuple.ptr());
}
PyObject* Call::end(const std::vector<Tensor>& result) {
  back();
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(result.size())));
  if (!tuple.is_valid()) throw nb::python_error();
  Py_ssize_t place = 0;
  for (const Tensor& t : result) PyTuple_SET_ITEM(tuple.ptr(), place++, wrapped(t).release().ptr());
  return tuple.release().ptr();
}
PyObject* Call::end(const OneOrSeveral& result) {
  return std::visit([this](const auto& r) { return end(r); }, result);
}
PyObject* Call::end(Rebound result) {
  back();
  if (!is_tensor(given_[0])) refuse(0, "a Tensor");
  tensor_of(given_[0]) = std::move(result.tensor);
  return Py_NewRef(given_[0]);
}
PyObject* Call::end_same(std::size_t i) {
  back();
  PyObject* const o = given_[i];
  return o && is_tensor(o) ? Py_NewRef(o) : wrap(tensor(i));
}

const char* word_of(Randomness randomness) {
  constexpr const char* words[] = {"error", "different", "same"};
  return words[static_cast<int>(randomness)];
}
Randomness randomness_from(nb::handle o) {
  const char* const name = PyUnicode_Check(o.ptr()) ? PyUnicode_AsUTF8(o.ptr()) : "";
  const std::string_view text = name ? name : "";
  for (const Randomness randomness : {Randomness::error, Randomness::different, Randomness::same})
    if (text == word_of(randomness)) return randomness;
  throw ValueError("randomness must be \"error\", \"different\" or \"same\", not " +
                   nb::cast<std::string>(nb::repr(o)));
}

namespace {
/// One bound of a slice; None leaves it open.
bool bound_from(PyObject* o, std::optional<Size>& into) {
  Size size;
  if (o == Py_None) return true;
  if (is_tensor(o)) return into = Size(tensor_of(o).item<std::int64_t>()), true;
  if (!size_from(o, size)) return false;
  into = size;
  return true;
}
bool one_index_from(PyObject* o, std::vector<Index>& into) {
  Size size;
  if (is_tensor(o)) return into.emplace_back(tensor_of(o)), true;
  if (o == Py_None) return into.emplace_back(std::nullopt), true;
  if (o == Py_Ellipsis) return into.emplace_back(ellipsis), true;
  if (PyBool_Check(o)) return into.emplace_back(ops::tensor(o == Py_True)), true;
  if (PySlice_Check(o)) {
    const auto* const s = reinterpret_cast<PySliceObject*>(o);
    Slice slice;
    std::optional<Size> step;
    if (!bound_from(s->start, slice.start) || !bound_from(s->stop, slice.stop) || !bound_from(s->step, step))
      return false;
    slice.step = step.value_or(Size(1));
    return into.emplace_back(slice), true;
  }
  if (size_from(o, size)) return into.emplace_back(size), true;
  return false;
}
}  // namespace

bool index_from(PyObject* o, std::vector<Index>& into) {
  const auto add = [&](PyObject* item) {
    if (one_index_from(item, into)) return true;
    if (!PyList_Check(item) && !is_array(item)) return false;
    Tensor places = tensor_of_values(item, std::nullopt);
    into.emplace_back(places.numel() == 0 ? places.to(DType::int64) : places);
    return true;
  };
  // As in PyTorch, a list that holds Tensors is a list of indices, and a list of numbers is one index.
  const bool is_several = PyTuple_Check(o) || (PyList_Check(o) && std::ranges::any_of(items(o), is_tensor));
  return is_several ? std::ranges::all_of(items(o), add) : add(o);
}

}  // namespace ricci::python
