// The erasure boundary of operations that users define: one application, its C++ types gone, tensors in and tensors
// out. Start with `Operation`.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ricci/primitive/rule_arguments.h"
#include "ricci/program.h"
#include "ricci/transforms.h"
#include "ricci/tree/any.h"

namespace ricci::function {

/// Takes the defined tensors out of a tree, leaving undefined ones; says which there were.
Mask take_tensors(const tree::Walk& walk, Tensors& into);
/// Puts tensors back where `taken` says.
void put_tensors(const tree::Walk& walk, const Mask& taken, std::span<const Tensor> tensors);

using tree::AnyTree, tree::AnyPair, tree::AnyFunction, tree::Arguments;

/// Trees without their tensors: what of the arguments or the result passes by the transforms.
class Emptied {
 public:
  Emptied() = default;
  /// Appends the defined tensors of the trees to `into`.
  Emptied(Arguments trees, Tensors& into);
  Emptied(AnyTree tree, Tensors& into) : Emptied(call::any_list(std::move(tree)), into) {}
  /// The trees with these tensors in their places; of a cotangent, some may be undefined.
  Arguments filled(std::span<const Tensor> tensors) const;
  AnyTree filled_tree(std::span<const Tensor> tensors) const { return std::move(filled(tensors)[0]); }
  tree::Walks walks() const { return tree::walks_of(trees_); }
  const Mask& taken() const { return taken_; }

 private:
  Arguments trees_;
  Mask taken_;
};

/// One application of a function with rules of its own. Its methods are the rules of a custom primitive
/// (ricci/primitive.h); they run one level below the transform that asks.
class Operation : public std::enable_shared_from_this<Operation> {
 public:
  explicit Operation(std::string name) : name_(std::move(name)) {}  ///< of tensors alone
  /// Appends the tensors of `arguments` to `inputs`.
  Operation(std::string name, Arguments arguments, Tensors& inputs);
  virtual ~Operation() = default;

  const std::string& name() const { return name_; }
  /// The result tree of `outputs`. Requires: the operation has been applied.
  AnyTree result(std::span<const Tensor> outputs) const { return output_->filled_tree(outputs); }
  virtual Tensors call(std::span<const Tensor> inputs) const = 0;
  virtual Kept keep(std::span<const Tensor> inputs, const Mask& wanted) const = 0;
  virtual Tensors vjp(const Reverse& rule) const = 0;
  virtual Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const = 0;
  /// The rules, each under a batch level of its own, unless the function brings a rule.
  virtual BatchedOutputs batch(const Batch& batch) const;
  /// The program that it holds; null: it holds none.
  virtual const Program* program() const { return nullptr; }
  /// The same operation, holding another program. Requires: it holds one.
  virtual std::shared_ptr<const Operation> with_program(Program) const { return nullptr; }

  /// Applies it at the current level, as an ordinary operation. It may draw where its caller may: TransformError if it
  /// does under a vmap of which it knows nothing, unless one draw is to serve all.
  Tensors apply(std::span<const Tensor> inputs) const;

 protected:
  Operation(const Operation&) = default;
  Arguments arguments(std::span<const Tensor> inputs) const { return arguments_.filled(inputs); }
  /// The tensors of a result. Its other leaves are kept from the first one, which an application sees before anyone
  /// else can see it.
  Tensors tensors_of(AnyTree output) const;
  /// The cotangents that a reverse rule returned: one for each argument in a tuple or a list, or the only one's alone.
  Tensors gradients_of(const char* rule, const AnyTree& returned) const;
  /// The tangents of the outputs in a tree like the result.
  Tensors tangents_of(const char* rule, const AnyTree& tangent) const;
  /// Of the arguments without their tensors.
  tree::Walks argument_walks() const { return arguments_.walks(); }
  /// Which leaves of the arguments are inputs.
  const Mask& taken() const { return arguments_.taken(); }
  /// How many tensors each argument holds.
  virtual std::vector<std::size_t> tensors_by_argument() const;
  /// The argument that input i belongs to.
  std::size_t argument_of(std::size_t input) const;

  // Rules that run `call` once more under the transform.
  Kept keep_inputs(std::span<const Tensor> inputs) const;
  Tensors vjp_by_calling(const Reverse& rule) const;
  Pushed jvp_by_calling(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const;

  /// Gradients summed down and converted to their inputs' types. ValueError where an input does not broadcast to its
  /// gradient; `rule` is what returned them.
  Tensors fit_gradients(const char* rule, Tensors gradients, std::span<const Type> types) const;
  [[noreturn]] Pushed refuse_forward_mode(const char* remedy) const;
  /// Tangents converted to their outputs' types. ValueError where the shapes differ.
  Tensors fit_tangents(const char* rule, Tensors tangents, std::span<const Tensor> outputs) const;

 private:
  const std::string name_;
  Emptied arguments_;
  mutable std::shared_ptr<const Emptied> output_;
};

/// Throws ValueError unless `found`, which `rule` returned, has the structure of `wanted`; `what` that is.
void require_like(const std::string& name, const char* rule, const tree::Walk& found, const tree::Walk& wanted,
                  const char* what);
/// Throws ValueError unless `found` has the structure, shapes and dtypes of `wanted`. A number fits where no part of it
/// would be lost; where a number is wanted, any dtype fits.
void require_same_types(const std::string& name, const char* rule, const tree::Walk& found, const tree::Walk& wanted,
                        const char* what);
/// A number in the dtype of `wanted`, unless that is a number too; any other tensor as it is. Requires: it fits.
Tensor number_like(const Tensor& found, const Tensor& wanted);
/// The leaves at the places in `taken`, undefined ones among them.
Tensors leaves_at(const tree::Walk& walk, const Mask& taken);
Types types_of_all(std::span<const Tensor> tensors);
/// The tensors at whose place the type has derivatives.
std::vector<Tensor> differentiable_among(std::span<const Tensor> tensors, std::span<const Type> types);
/// Every undefined tensor replaced by zeros of the type at its place.
Tensors filled_with_zeros(std::span<const Tensor> tensors, std::span<const Type> types);
/// Tangents of no particular direction, zeros for integers. Where the derivative of a map is the same everywhere, it is
/// taken here: one that iterates until it is precise enough would stop at once at zero, and early at what is special.
std::vector<Tensor> any_tangents(std::span<const Type> types);
/// Undefined where the rule does not want a cotangent, or the input's type has none.
Tensors wanted_among(std::span<const Tensor> cotangents, const Reverse& rule);

/// An operation whose derivatives compute it again from its inputs. What it draws from generators is drawn again.
class Recomputed : public Operation {
 public:
  using Operation::Operation;
  /// As `Operation::apply`; where none of these depends on the innermost derivative, as what runs under that.
  Tensors apply(std::span<const Tensor> inputs) const;
  Kept keep(std::span<const Tensor> inputs, const Mask& wanted) const final;
  Tensors vjp(const Reverse& rule) const final;
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const final;

 private:
  class Beneath;
  std::shared_ptr<const Recomputed> beneath() const;
};

/// The cotangents of an operation whose tangents `f` gives, a linear map from the inputs' tangents to those of the
/// outputs that have a derivative: its transpose, applied to the rule's cotangents.
template <class F>
Tensors transposed(const F& f, const Reverse& rule) {
  const auto [tangents, pullback] = vjp(f, any_tangents(rule.input_types));
  const Tensors all = filled_with_zeros(rule.cotangents, rule.output_types);
  return wanted_among(pullback(differentiable_among(all, rule.output_types)), rule);
}

/// Makes and runs an application of class O.
template <class O, class... Given>
AnyTree run(Arguments arguments, const Given&... given) {
  Tensors inputs;
  const auto application = std::make_shared<const O>(std::move(arguments), inputs, given...);
  return application->result(application->apply(inputs));
}

}  // namespace ricci::function
