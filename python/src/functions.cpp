// Functions with rules of their own, given in Python: classes made from ricci.Function, custom_vjp, custom_jvp,
// checkpoint, custom_root and custom_linear_solve.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "arguments.h"
#include "call.h"
#include "callback.h"
#include "ricci/custom_derivatives.h"
#include "ricci/function.h"
#include "ricci/implicit.h"
#include "transforms.h"

namespace ricci::python {
namespace {

// ── classes made from ricci.Function ──

/// The `ctx` of a class's rules: what C++ keeps, and the attributes that the rules set.
struct PythonContext {
  Context* context = nullptr;  // null once the rule has returned
  nb::object attributes;
  std::size_t saved = 0;
  std::vector<bool> taken = {};  // which of the arguments' leaves are Tensors, by argument

  Context& get() const {
    if (!context) throw TransformError("Function: ctx is used after its rule has returned");
    return *context;
  }
};

/// The attributes, and how many tensors were saved, kept by C++ from setup_context to the rules.
struct Kept {
  Held attributes;
  std::size_t saved;
};

bool has_rule(nb::handle cls, const char* name) {
  // ricci.Function itself has the names, for its docs.
  const nb::object base = nb::module_::import_("ricci").attr("Function");
  return !nb::object(cls.attr(name)).is(nb::object(base.attr(name)));
}

/// The rules of a class, for one application to arguments of these structures.
class Rules final : public function::Rules {
 public:
  Rules(nb::handle cls, const function::Facts& facts, std::vector<std::shared_ptr<const Structure>> arguments,
        bool has_setup)
      : function::Rules(facts), cls_(nb::borrow(cls)), arguments_(std::move(arguments)), has_setup_(has_setup) {}

 private:
  nb::handle cls() const { return cls_.get(); }
  /// The arguments, or their tangents, as Python's; an argument without Tensors is None among tangents.
  static nb::object tuple_of(const tree::Arguments& arguments, bool are_tangents = false) {
    nb::list list;
    for (const tree::AnyTree& argument : arguments) {
      const auto& tree = argument.as<Tree>();
      list.append(are_tangents && tree.leaves.empty() ? nb::none() : rebuild(tree));
    }
    return nb::tuple(list);
  }
  nb::object context_of(Context& ctx) const {
    PythonContext context{&ctx, nb::dict()};
    if (has_setup_) {
      const auto& kept = ctx.value<Kept>(0);
      context.attributes = nb::borrow(kept.attributes.get());
      context.saved = kept.saved;
    }
    return nb::cast(std::move(context));
  }
  /// Calls a rule with a context that lives as long as the call.
  nb::object call_rule(const char* rule, Context& ctx, const nb::object& rest) const {
    const nb::object context = context_of(ctx);
    const nb::object all = nb::steal(PySequence_Concat(nb::make_tuple(context).ptr(), rest.ptr()));
    struct Ends {
      nb::handle context;
      ~Ends() { nb::inst_ptr<PythonContext>(context)->context = nullptr; }
    } ends{context};
    return python::call(cls().attr(rule), all);
  }
  static nb::object as_tuple(const nb::object& o) { return PyTuple_Check(o.ptr()) ? o : nb::object(nb::make_tuple(o)); }

  tree::AnyTree forward(tree::Arguments& arguments) const override {
    const nb::gil_scoped_acquire lock;
    Tree result = tree_of(python::call(cls().attr("forward"), tuple_of(arguments)));
    if (!output_) output_ = result.structure;
    return tree::any(std::move(result));
  }
  void setup_context(Context& ctx, tree::Arguments& arguments, tree::AnyTree& output) const override {
    if (!has_setup_) return;
    const nb::gil_scoped_acquire lock;
    const nb::object context = nb::cast(PythonContext{&ctx, nb::dict()});
    auto& inside = *nb::inst_ptr<PythonContext>(context);
    python::call(cls().attr("setup_context"), nb::make_tuple(context, tuple_of(arguments), rebuild(output.as<Tree>())));
    inside.context = nullptr;
    ctx.save_value(Kept{Held(inside.attributes), inside.saved});
  }
  tree::AnyTree backward(Context& ctx, tree::AnyTree& cotangent) const override {
    const nb::gil_scoped_acquire lock;
    const nb::object given = as_tuple(rebuild(cotangent.as<Tree>()));
    const nb::object returned = as_tuple(call_rule("backward", ctx, given));
    const auto count = static_cast<std::size_t>(PyTuple_GET_SIZE(returned.ptr()));
    if (count != arguments_.size())
      throw ValueError(facts.type + ": backward returned " + std::to_string(count) + " gradients for " +
                       std::to_string(arguments_.size()) + " arguments; return one for each, None for none");
    std::vector<Tree> parts;
    for (std::size_t i = 0; i < count; ++i)
      parts.push_back(
          tree_of(nb::handle(PyTuple_GET_ITEM(returned.ptr(), static_cast<Py_ssize_t>(i))), arguments_[i].get()));
    if (count == 1) return tree::any(std::move(parts[0]));
    return tree::any(std::move(parts));
  }
  tree::AnyTree jvp(Context& ctx, tree::Arguments& tangents) const override {
    const nb::gil_scoped_acquire lock;
    return tree::any(tree_of(call_rule("jvp", ctx, tuple_of(tangents, true)), output_.get()));
  }
  std::pair<tree::AnyTree, Dims> vmap(const VmapInfo& info, const std::vector<Dim>& dims,
                                      tree::Arguments& arguments) const override {
    const nb::gil_scoped_acquire lock;
    std::size_t at = 0;
    nb::list in_dims;
    for (const tree::AnyTree& argument : arguments) {
      const auto dim_of_leaf = [&](std::size_t) -> nb::object {
        const Dim dim = dims[at++];
        return dim ? nb::object(nb::int_(*dim)) : nb::none();
      };
      const auto& tree = argument.as<Tree>();
      in_dims.append(tree.leaves.empty() ? nb::none() : rebuild_with(tree, dim_of_leaf));
    }
    const nb::object told = nb::module_::import_("ricci").attr("VmapInfo")(static_cast<std::int64_t>(info.batch_size),
                                                                           word_of(info.randomness));
    const nb::object all =
        nb::steal(PySequence_Concat(nb::make_tuple(told, nb::tuple(in_dims)).ptr(), tuple_of(arguments).ptr()));
    const nb::object returned = python::call(cls().attr("vmap"), all);
    if (!PyTuple_Check(returned.ptr()) || PyTuple_GET_SIZE(returned.ptr()) != 2)
      throw TypeError(facts.type + ": vmap must return a tuple (output, out_dims)");
    Tree result = tree_of(nb::object(returned[0]));
    const nb::object out_dims(returned[1]);
    if (has_dict(out_dims)) require_keys(out_dims, *result.structure, "out_dims");
    if (!output_) output_ = result.structure;
    return {tree::any(std::move(result)), dims_from(out_dims, "out_dims")};
  }

  Held cls_;
  std::vector<std::shared_ptr<const Structure>> arguments_;
  bool has_setup_;
  mutable std::shared_ptr<const Structure> output_;  // of the first run, which ends before anyone else sees the rules
};

nb::object apply(nb::handle cls, nb::args given) {
  std::vector<PyObject*> known;
  Arguments arguments(given);
  tree_of(given, nullptr, &known);
  tree::Arguments trees;
  std::vector<std::shared_ptr<const Structure>> structures;
  for (const Tree& tree : arguments.trees) {
    structures.push_back(tree.structure);
    trees.push_back(tree::any(tree));
  }
  const bool has_vmap = has_rule(cls, "vmap"), generates = nb::cast<bool>(cls.attr("generate_vmap_rule"));
  const auto name = nb::cast<std::string>(cls.attr("__name__"));
  if (has_vmap && generates)
    throw TypeError(name + ": a Function has either vmap or generate_vmap_rule = True; remove one of them");
  if (!has_rule(cls, "forward")) throw TypeError(name + ": a Function needs a static method forward(*args)");
  const function::Facts facts{.type = name,
                              .has_backward = has_rule(cls, "backward"),
                              .has_jvp = has_rule(cls, "jvp"),
                              .has_vmap = has_vmap,
                              .generates_vmap = generates,
                              .once_differentiable = nb::cast<bool>(cls.attr("once_differentiable")) ||
                                                     nb::hasattr(cls.attr("backward"), "once_differentiable")};
  auto rules = std::make_shared<const Rules>(cls, facts, std::move(structures), has_rule(cls, "setup_context"));
  return rebuild(function::apply(std::move(rules), std::move(trees)).as<Tree>(), known);
}

std::vector<Tensor> tensors_or_none(const nb::args& given, const char* method) {
  std::vector<Tensor> tensors;
  for (nb::handle o : given) {
    if (!o.is_none() && !is_tensor(o.ptr()))
      throw TypeError(std::string(method) + " keeps Tensors, not " + name_of_type(o.ptr()) +
                      "; keep other values as attributes of ctx");
    tensors.push_back(o.is_none() ? Tensor() : tensor_of(o.ptr()));
  }
  return tensors;
}

void make_context(nb::module_& m) {
  nb::class_<PythonContext>(m, "Context", nb::type_slots(holds<&PythonContext::attributes>()),
                            "The ctx of a Function: filled by setup_context, read by backward and jvp.")
      .def("save_for_backward",
           [](PythonContext& c, nb::args given) {
             std::vector<Tensor> tensors = tensors_or_none(given, "save_for_backward");
             c.saved = tensors.size();
             c.get().save_for_backward(std::move(tensors));
           })
      .def("save_for_forward",
           [](PythonContext& c, nb::args given) {
             std::vector<Tensor> tensors = tensors_or_none(given, "save_for_forward");
             if (c.saved == 0) c.saved = tensors.size();
             c.get().save_for_forward(std::move(tensors));
           })
      .def_prop_ro("saved_tensors",
                   [](PythonContext& c) {
                     nb::list list;
                     for (std::size_t i = 0; i < c.saved; ++i) list.append(wrapped(c.get().saved(i)));
                     return nb::tuple(list);
                   })
      .def("mark_dirty",
           [](PythonContext& c, nb::args given) {
             for (const Tensor& t : tensors_or_none(given, "mark_dirty")) c.get().mark_dirty(t);
           })
      .def("mark_non_differentiable",
           [](PythonContext& c, nb::args given) {
             for (const Tensor& t : tensors_or_none(given, "mark_non_differentiable"))
               c.get().mark_non_differentiable(t);
           })
      .def("set_materialize_grads", [](PythonContext& c, bool value) { c.get().set_materialize_grads(value); })
      .def_prop_ro("needs_input_grad",
                   [](PythonContext& c) {
                     nb::list list;
                     try {
                       for (std::size_t i = 0;; ++i) list.append(nb::bool_(c.get().needs_input_grad(i)));
                     } catch (const IndexError&) {}
                     return nb::tuple(list);
                   })
      .def("__getattr__",
           [](PythonContext& c, nb::handle name) {
             PyObject* const value = PyDict_GetItemWithError(c.attributes.ptr(), name.ptr());
             if (!value) throw nb::attribute_error(("ctx has no attribute " + nb::cast<std::string>(name)).c_str());
             return nb::borrow(value);
           })
      .def(
          "__setattr__",
          [](PythonContext& c, nb::handle name, nb::handle value) {
            if (PyDict_SetItem(c.attributes.ptr(), name.ptr(), value.ptr()) != 0) throw nb::python_error();
          },
          nb::arg("name"), nb::arg("value").none());
}

// ── derivatives given as functions ──

/// A cotangent for each argument, in the tree of the arguments; None for none.
class Backward {
 public:
  Backward(nb::handle f, std::shared_ptr<const Structure> arguments)
      : f_(nb::borrow(f)), arguments_(std::move(arguments)) {}
  Tree operator()(const Tree& residuals, const Tree& cotangents) const {
    const nb::gil_scoped_acquire lock;
    nb::object returned = call(nb::handle(f_.get()), nb::make_tuple(rebuild(residuals), rebuild(cotangents)));
    const auto count = static_cast<Py_ssize_t>(arguments_->nodes[0].children);
    const bool is_lone = count == 1 && !(PyTuple_Check(returned.ptr()) && PyTuple_GET_SIZE(returned.ptr()) == 1);
    if (is_lone) returned = nb::make_tuple(returned);
    if (!PyTuple_Check(returned.ptr()) || PyTuple_GET_SIZE(returned.ptr()) != count)
      throw ValueError("custom_vjp: bwd must return one cotangent for each of the " + std::to_string(count) +
                       " arguments, as a tuple; None for none");
    return tree_of(returned, arguments_.get());
  }

 private:
  Held f_;
  std::shared_ptr<const Structure> arguments_;
};

struct PythonCustomVjp {
  nb::object f, forward, backward;
  Recipe recipe() const {
    Recipe r{"custom_vjp", f};
    r.options["fwd"] = forward, r.options["bwd"] = backward;
    return r;
  }
  nb::object operator()(nb::args given) const {
    const Tree arguments = tree_of(given);
    const auto custom =
        ricci::custom_vjp(Callback(f, "custom_vjp", true),
                          PairCallback(forward, "custom_vjp", "fwd must return a tuple (output, residuals)", true),
                          Backward(backward, arguments.structure));
    return given_back(custom(arguments));
  }
};

/// rule(primals, tangents), both tuples.
class JvpRule {
 public:
  explicit JvpRule(nb::handle f) : f_(f, "custom_jvp", "the rule must return a tuple (output, tangent)") {}
  std::pair<Tree, Tree> operator()(const std::tuple<Tree>& primals, const std::tuple<Tree>& tangents) const {
    return f_(std::get<0>(primals), std::get<0>(tangents));
  }

 private:
  PairCallback f_;
};

struct PythonCustomJvp {
  nb::object f, rule;
  Recipe recipe() const {
    Recipe r{"custom_jvp", f};
    r.options["rule"] = rule;
    return r;
  }
  nb::object operator()(nb::args given) const {
    return given_back(ricci::custom_jvp(Callback(f, "custom_jvp", true), JvpRule(rule))(tree_of(given)));
  }
};

struct PythonCheckpoint {
  nb::object f;
  Recipe recipe() const { return {"checkpoint", f}; }
  nb::object operator()(nb::args given) const {
    return given_back(ricci::checkpoint(Callback(f, "checkpoint", true))(tree_of(given)));
  }
};

// ── implicit differentiation ──

/// solve(f, x): f is a function of C++ that Python calls.
class Solver {
 public:
  Solver(nb::handle solve, const char* user) : solve_(nb::borrow(solve)), user_(user) {}
  template <class G>
  Tree operator()(const G& g, const Tree& at) const {
    const nb::gil_scoped_acquire lock;
    const nb::object function = nb::cpp_function([g](nb::handle x) { return rebuild(Tree(g(tree_of(x)))); });
    return tree_of(call(nb::handle(solve_.get()), nb::make_tuple(function, rebuild(at))));
  }

 private:
  Held solve_;
  const char* user_;
};

}  // namespace

Tree unknown_of(const char* name, const Callback& f, nb::handle x) {
  Tensor number;
  if (!is_tensor(x.ptr()) && number_from(x.ptr(), number)) {
    const auto of_tensor = [&](const Tensor& t) { return f(tree_of(wrapped(t))).leaves.at(0); };
    const tree::AnyFunction any = call::any_function<Tensor, Tensor>(of_tensor);
    return tree_of(wrapped(function::unknown_of(name, any, tree::AnyTree(number)).as<Tensor>()));
  }
  return tree_of(x);
}

namespace {

nb::object custom_root(nb::handle f, nb::handle initial, nb::handle solve, nb::handle tangent_solve) {
  const Callback function(f, "custom_root");
  return given_back(ricci::custom_root(function, unknown_of("custom_root", function, initial),
                                       Solver(solve, "custom_root"), Solver(tangent_solve, "custom_root")));
}
nb::object custom_linear_solve(nb::handle matvec, nb::handle b, nb::handle solve, nb::handle transpose_solve) {
  const Callback function(matvec, "custom_linear_solve");
  return given_back(ricci::custom_linear_solve(function, unknown_of("custom_linear_solve", function, b),
                                               Solver(solve, "custom_linear_solve"),
                                               Solver(transpose_solve, "custom_linear_solve")));
}

}  // namespace

void make_functions(nb::module_& m) {
  make_context(m);
  m.def("apply_function", apply);
  nb::class_<PythonCustomVjp> custom_vjp(
      m, "CustomVjp",
      nb::type_slots(holds<&PythonCustomVjp::f, &PythonCustomVjp::forward, &PythonCustomVjp::backward>()));
  custom_vjp.def("__call__", &PythonCustomVjp::operator());
  show_function(custom_vjp);
  m.def(
      "custom_vjp",
      [](nb::object f, nb::object fwd, nb::object bwd) {
        return PythonCustomVjp{std::move(f), std::move(fwd), std::move(bwd)};
      },
      nb::arg("f"), nb::arg("fwd"), nb::arg("bwd"),
      "f with a reverse rule of its own: fwd(*args) returns (output, residuals), bwd(residuals, cotangents) one "
      "cotangent for each argument, the only one alone.");
  nb::class_<PythonCustomJvp> custom_jvp(m, "CustomJvp",
                                         nb::type_slots(holds<&PythonCustomJvp::f, &PythonCustomJvp::rule>()));
  custom_jvp.def("__call__", &PythonCustomJvp::operator());
  show_function(custom_jvp);
  m.def(
      "custom_jvp", [](nb::object f, nb::object rule) { return PythonCustomJvp{std::move(f), std::move(rule)}; },
      nb::arg("f"), nb::arg("rule"),
      "f with a forward rule of its own: rule(primals, tangents) of two tuples returns (output, tangent), and is "
      "linear in the tangents.");
  nb::class_<PythonCheckpoint> checkpoint(m, "Checkpointed", nb::type_slots(holds<&PythonCheckpoint::f>()));
  checkpoint.def("__call__", &PythonCheckpoint::operator());
  show_function(checkpoint);
  m.def(
      "checkpoint",
      [](nb::object f) {
        require_function(f, "checkpoint");
        return PythonCheckpoint{std::move(f)};
      },
      nb::arg("f"), "f, of which reverse mode keeps the arguments alone and computes the rest again.");
  m.def("custom_root", custom_root, nb::arg("f"), nb::arg("initial"), nb::arg("solve"), nb::arg("tangent_solve"),
        "The root of f that solve(f, initial) returns, differentiated by the implicit function theorem; "
        "tangent_solve(g, y) returns the x with g(x) = y of a linear g.");
  m.def("custom_linear_solve", custom_linear_solve, nb::arg("matvec"), nb::arg("b"), nb::arg("solve"),
        nb::arg("transpose_solve"), "The x with matvec(x) = b that solve(matvec, b) returns.");
}

}  // namespace ricci::python
