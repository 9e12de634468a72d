// The extension module ricci._core.
#include <nanobind/nanobind.h>

#include "call.h"
#include "device.h"
#include "dtypes.h"
#include "errors.h"
#include "operations.h"
#include "random.h"
#include "ricci/build_info.h"
#include "sharing.h"
#include "sizes.h"
#include "transforms.h"
#include "tree.h"

namespace ricci::python {
namespace {

void make_operations(nb::module_& m) {
  PyTypeObject* const type = make_operation_type();
  m.attr("Operation") = nb::handle(reinterpret_cast<PyObject*>(type));
  const nb::handle tensor(reinterpret_cast<PyObject*>(tensor_type)), key(reinterpret_cast<PyObject*>(key_type));
  nb::list names;
  for (ResultType& result : result_types) m.attr(result.name) = make_result_type(result);
  for (const OperationTable* table : all_operations)
    for (; table->name; ++table) {
      const nb::object operation = make_operation(*table, type);
      if (table->where == Where::function || table->where == Where::method) {
        m.attr(table->name) = operation;
        names.append(table->name);
      }
      if (table->where == Where::method || table->where == Where::own) nb::setattr(tensor, table->name, operation);
      if (table->where == Where::key) nb::setattr(key, table->name, operation);
    }
  m.attr("operations") = nb::tuple(names);
}

/// `function.__signature__`. The classes of functions have none of their own.
struct SignatureOf {};

/// Lets inspect.signature read functions, methods and operations: python/ricci/_functions.py.
void add_signatures(nb::module_& m) {
  nb::class_<SignatureOf>(m, "_SignatureOf")
      .def(
          "__get__",
          [](const SignatureOf&, nb::handle function, nb::handle) {
            if (function.is_none()) throw nb::attribute_error("__signature__");
            return nb::module_::import_("ricci._functions").attr("signature_of")(function);
          },
          nb::arg("function").none(), nb::arg("type").none() = nb::none());
  const nb::object reader = nb::cast(SignatureOf());
  const nb::handle generator = m.attr("Generator");
  for (const nb::object& one : {nb::object(m.attr("vmap")), nb::object(generator.attr("seed")),
                                nb::object(generator(0).attr("seed")), nb::object(m.attr("sin"))}) {
    PyTypeObject* const type = Py_TYPE(one.ptr());
    if (PyDict_SetItemString(type->tp_dict, "__signature__", reader.ptr()) != 0) throw nb::python_error();
    PyType_Modified(type);
  }
}

}  // namespace
}  // namespace ricci::python

NB_MODULE(_core, m) {
  using namespace ricci::python;
  nb::set_leak_warnings(false);
  make_errors(m);
  make_size(m);
  make_dtypes(m);
  make_device(m);
  make_tensor_type(m);
  make_random(m);
  make_operations(m);
  make_sharing(m);
  make_trees(m);
  make_vmap(m);
  make_derivatives(m);
  make_jacobians(m);
  make_control(m);
  make_tape(m);
  make_programs(m);
  make_functions(m);
  make_library(m);
  make_optim(m);
  make_ode(m);
  make_sparse(m);
  make_linear(m);
  make_sample(m);
  make_solvers(m);
  make_debug(m);
  make_distributions(m);
  add_signatures(m);
  m.attr("__version__") = ricci::version();
}
