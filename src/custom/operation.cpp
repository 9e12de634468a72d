// Operations that users define, as one primitive whose parameter is the function, and what all of their rules share:
// taking trees apart, holding gradients against their arguments. Knows no C++ type of a user's.
#include "custom/operation.h"

#include <cmath>
#include <complex>

#include "interpreters/batch.h"
#include "interpreters/replay.h"
#include "primitive/custom.h"
#include "primitive/interpreter.h"
#include "primitive/promotion.h"
#include "primitive/wording.h"
#include "ricci/ops.h"
#include "ricci/primitive/raise.h"

namespace ricci::function {
namespace {

/// An Operation as a parameter: told apart by identity, printed by name.
struct Reference {
  std::shared_ptr<const Operation> operation;
  void print_parameter(std::string& out) const { out += operation->name(); }
  void walk_parameter(ParameterVisitor& visitor) {
    if (!operation->program()) return;
    Program program = *operation->program();
    visitor.program(program);
    if (visitor.mode != ParameterVisitor::Mode::reads) operation = operation->with_program(std::move(program));
  }
  bool operator==(const Reference&) const = default;
};

struct Applied {
  using kind = Custom;
  static constexpr const char* name = "function";
  Reference of;

  std::string function_name() const { return of.operation->name(); }
  Tensors call(std::span<const Tensor> inputs) const { return named()->call(inputs); }
  Kept keep(std::span<const Tensor> inputs, const Mask& wanted) const { return named()->keep(inputs, wanted); }
  Tensors vjp(const Reverse& rule) const { return named()->vjp(rule); }
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const {
    return named()->jvp(inputs, tangents);
  }
  BatchedOutputs batch(const Batch& batch) const { return named()->batch(batch); }

 private:
  struct Named {
    const Operation& operation;
    const With<&ThreadContext::rule> rule{&operation.name()};
    const Operation* operator->() const { return &operation; }
  };
  Named named() const { return {*of.operation}; }
};

Op op_of(const Applied& applied) { return {&rules_of<Applied>, &applied}; }

std::string argument(std::size_t i) { return "argument " + std::to_string(i); }

/// An operation on values that the examples of a vmap have in common does not run under it: it would draw for all of
/// them. A recorded program draws when it runs: a vmap around the recording refuses nothing.
const BatchInterpreter* vmap_that_refuses_draws(std::span<const Tensor> inputs) {
  for (const Interpreter* i = this_thread.innermost; i && !i->sees_everything(); i = i->parent) {
    const BatchInterpreter* vmap = drawing_vmap_that_knows_none(i, inputs);
    if (vmap && vmap->examples.randomness != Randomness::same) return vmap;
  }
  return nullptr;
}

bool fits(const Type& found, const Type& wanted) {
  const bool is_number = found.weak && category(found.dtype) <= category(wanted.dtype);
  return found.shape == wanted.shape && (found.dtype == wanted.dtype || is_number || wanted.weak);
}

bool is_nothing(const tree::Walk& part) {
  if (part.nodes.size() != 1) return false;
  return part.nodes[0].kind == tree::NodeKind::tensor ? !part.leaves[0]->defined() : part.leaves.empty();
}

/// Cosines at steps that differ from axis to axis.
Tensor any_tangent(const Type& type) {
  if (!is_differentiable(type.dtype)) return zeros_of(type);
  Tensor angle = zeros({}, DType::float64);  // float16 overflows along a long axis
  for (int axis = type.rank() - 1; axis >= 0; --axis) {
    Type along{DType::float64, Shape::filled(static_cast<std::size_t>(type.rank() - axis), 1)};
    along.shape[0] = type.shape[static_cast<std::size_t>(axis)];
    angle = angle + cumsum(zeros_of(along) + std::sqrt(axis + 2.0), 0);
  }
  const Tensor real = cos(angle);
  return to(is_complex(type.dtype) ? real * std::complex<double>(1, 0.7) : real, type.dtype);
}

bool any_defined(const tree::Walk& walk) {
  for (const Tensor* leaf : walk.leaves)
    if (leaf->defined()) return true;
  return false;
}

/// The gradients of the inputs among `parts`, what the rule `rule` returned for each of `arguments`, which are emptied;
/// `taken` says which of their leaves are inputs. Throws what does not fit.
Tensors gather_gradients(const std::string& name, const char* rule, std::span<const tree::Walk> parts,
                         std::span<const tree::Walk> arguments, const Mask& taken) {
  if (parts.size() != arguments.size())
    raise<ValueError>(name + ": " + rule + " returned " + count_of(parts.size(), "gradient", "gradients") + " for " +
                      count_of(arguments.size(), "argument", "arguments") +
                      "; return one for each, an undefined Tensor for none");
  Tensors gradients;
  std::size_t leaf = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const tree::Walk &part = parts[k], &wanted = arguments[k];
    if (wanted.leaves.empty()) {
      if (any_defined(part))
        raise<TypeError>(name + ": " + rule + " returned a gradient for " + argument(k) +
                         ", which holds no Tensor; return an undefined Tensor for it");
      continue;
    }
    const bool none = is_nothing(part);
    if (!none) require_like(name, rule, part, wanted, argument(k).c_str());
    for (std::size_t i = 0; i < wanted.leaves.size(); ++i, ++leaf)
      if (taken[leaf]) gradients.push_back(none ? Tensor() : *part.leaves[i]);
  }
  return gradients;
}

}  // namespace

Emptied::Emptied(Arguments trees, Tensors& into)
    : trees_(std::move(trees)), taken_(take_tensors(tree::walk_of(trees_), into)) {}

Arguments Emptied::filled(std::span<const Tensor> tensors) const {
  Arguments trees = trees_;
  put_tensors(tree::walk_of(trees), taken_, tensors);
  return trees;
}

Operation::Operation(std::string name, Arguments arguments, Tensors& inputs)
    : name_(std::move(name)), arguments_(std::move(arguments), inputs) {}

Tensors Operation::tensors_of(AnyTree output) const {
  if (output_) require_like(name_, "forward", call::walk(output), output_->walks()[0], "its first result");
  Tensors tensors;
  Emptied emptied(std::move(output), tensors);
  if (!output_) output_ = std::make_shared<const Emptied>(std::move(emptied));
  return tensors;
}

Tensors Operation::gradients_of(const char* rule, const AnyTree& returned) const {
  const tree::Walks arguments = argument_walks();
  const tree::Walk found = call::walk(returned);
  const tree::Walks parts = arguments.size() == 1 ? tree::Walks{found} : tree::parts(found);
  return gather_gradients(name_, rule, parts, arguments, arguments_.taken());
}

Tensors Operation::tangents_of(const char* rule, const AnyTree& tangent) const {
  require_like(name_, rule, call::walk(tangent), output_->walks()[0], "the output");
  return leaves_at(call::walk(tangent), output_->taken());
}

std::vector<std::size_t> Operation::tensors_by_argument() const {
  std::vector<std::size_t> counts;
  std::size_t leaf = 0;
  for (const tree::Walk& walk : argument_walks()) {
    counts.push_back(0);
    for (std::size_t i = 0; i < walk.leaves.size(); ++i) counts.back() += taken()[leaf++];
  }
  return counts;
}

BatchedOutputs Operation::batch(const Batch& batch) const {
  const Applied applied{{shared_from_this()}};
  return batch_by_lifting(op_of(applied), batch);
}

Tensors Operation::apply(std::span<const Tensor> inputs) const {
  for (const Tensor& t : inputs) read(t, name_.c_str());  // errors name the function
  return drawing_from(DrawSource::refusing(vmap_that_refuses_draws(inputs)),
                      [&] { return ricci::apply(Applied{{shared_from_this()}}, inputs); });
}

std::size_t Operation::argument_of(std::size_t input) const {
  std::size_t i = 0;
  for (const std::size_t count : tensors_by_argument()) {
    if (input < count) return i;
    input -= count;
    ++i;
  }
  return i;
}

Kept Operation::keep_inputs(std::span<const Tensor> inputs) const {
  const Applied applied{{shared_from_this()}};
  return keep_by_calling(op_of(applied), inputs);
}

Tensors Operation::vjp_by_calling(const Reverse& rule) const {
  const Applied applied{{shared_from_this()}};
  return ricci::vjp_by_calling(op_of(applied), rule);
}

Pushed Operation::jvp_by_calling(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const {
  const Applied applied{{shared_from_this()}};
  return ricci::jvp_by_calling(op_of(applied), inputs, tangents);
}

Tensors Operation::fit_gradients(const char* rule, Tensors gradients, std::span<const Type> types) const {
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined()) continue;
    const Type have = type_of(gradients[i]);
    if (!broadcasts_to(types[i].shape, have.shape))
      raise<ValueError>(name_ + ": " + rule + " returned a gradient " + to_string(have) + " for " +
                        argument(argument_of(i)) + ", which is " + to_string(types[i]) +
                        "; return one of that shape, or one that it broadcasts to");
    if (!(have == types[i])) gradients[i] = fit(gradients[i], types[i]);
  }
  return gradients;
}

Tensors Operation::fit_tangents(const char* rule, Tensors tangents, std::span<const Tensor> outputs) const {
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (!tangents[i].defined()) continue;
    const Type have = type_of(tangents[i]), want = type_of(outputs[i]);
    if (!(have.shape == want.shape))
      raise<ValueError>(name_ + ": " + rule + " returned a tangent " + to_string(have) + " for output " +
                        std::to_string(i) + ", which is " + to_string(want) + "; return one of that shape");
    if (have.dtype != want.dtype) tangents[i] = to(tangents[i], want.dtype);
  }
  return tangents;
}

Pushed Operation::refuse_forward_mode(const char* remedy) const {
  raise<NotImplementedError>(name_ + ": a derivative by forward mode was asked for, but it has a reverse rule alone; " +
                             remedy);
}

Mask take_tensors(const tree::Walk& walk, Tensors& into) {
  Mask taken;
  for (Tensor* leaf : walk.leaves) {
    taken.push_back(leaf->defined());
    if (leaf->defined()) into.push_back(std::move(*leaf));
    *leaf = Tensor();
  }
  return taken;
}

void put_tensors(const tree::Walk& walk, const Mask& taken, std::span<const Tensor> tensors) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < walk.leaves.size(); ++i)
    if (taken[i]) *walk.leaves[i] = tensors[next++];
}

Tensors leaves_at(const tree::Walk& walk, const Mask& taken) {
  Tensors tensors;
  for (std::size_t i = 0; i < walk.leaves.size(); ++i)
    if (taken[i]) tensors.push_back(*walk.leaves[i]);
  return tensors;
}

Tensors filled_with_zeros(std::span<const Tensor> tensors, std::span<const Type> types) {
  Tensors filled;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    filled.push_back(tensors[i].defined() ? tensors[i] : zeros_of(types[i]));
  return filled;
}

Types types_of_all(std::span<const Tensor> tensors) {
  Types types;
  for (const Tensor& t : tensors) types.push_back(type_of(t));
  return types;
}

std::vector<Tensor> differentiable_among(std::span<const Tensor> tensors, std::span<const Type> types) {
  std::vector<Tensor> found;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (is_differentiable(types[i].dtype)) found.push_back(tensors[i].defined() ? tensors[i] : zeros_of(types[i]));
  return found;
}

std::vector<Tensor> any_tangents(std::span<const Type> types) {
  std::vector<Tensor> tangents;
  for (const Type& type : types) tangents.push_back(any_tangent(type));
  return tangents;
}

Tensors wanted_among(std::span<const Tensor> cotangents, const Reverse& rule) {
  Tensors found;
  for (std::size_t i = 0; i < cotangents.size(); ++i) {
    const bool has_one = rule.wants(static_cast<int>(i)) && is_differentiable(rule.input_types[i].dtype);
    found.push_back(has_one ? cotangents[i] : Tensor());
  }
  return found;
}

void require_like(const std::string& name, const char* rule, const tree::Walk& found, const tree::Walk& wanted,
                  const char* what) {
  if (tree::same_structure(found, wanted)) return;
  raise<ValueError>(name + ": " + rule + " returned " + tree::Structure(found).to_string() + ", which does not fit " +
                    what + " " + tree::Structure(wanted).to_string() + "; return that structure");
}

void require_same_types(const std::string& name, const char* rule, const tree::Walk& found, const tree::Walk& wanted,
                        const char* what) {
  require_like(name, rule, found, wanted, what);
  for (std::size_t i = 0; i < found.leaves.size(); ++i) {
    const Tensor &have = *found.leaves[i], &want = *wanted.leaves[i];
    if (!have.defined() && !want.defined()) continue;
    const std::string text = have.defined() ? to_string(type_of(have)) : "undefined";
    if (have.defined() && want.defined() && fits(type_of(have), type_of(want))) continue;
    const std::string path = tree::leaf_path(found, i), at = path.empty() ? "" : " (" + path + ")";
    raise<ValueError>(name + ": " + rule + " returned " + text + ", but " + what + at + " is " +
                      (want.defined() ? to_string(type_of(want)) : "undefined") + "; return that shape and dtype");
  }
}

Tensor number_like(const Tensor& found, const Tensor& wanted) {
  if (!found.defined()) return found;
  const Type have = type_of(found), want = type_of(wanted);
  return have.weak && !want.weak ? to(found, want.dtype) : found;
}

}  // namespace ricci::function
