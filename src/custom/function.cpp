// The steps of an rc::Function under each transform: forward, setup_context, then backward, jvp or vmap, and what is
// wrong with what they return. Knows no C++ type of a user's.
#include "custom/function.h"

#include <algorithm>

#include "primitive/interpreter.h"
#include "primitive/writing.h"
#include "ricci/primitive/raise.h"
#include "ricci/tape.h"
#include "ricci/tree/match_dims.h"

namespace ricci::function {
namespace {

/// Some gradients, tied to what they were computed from by a derivative that does not exist.
struct DifferentiatedOnce {
  using kind = Custom;
  static constexpr const char* name = "differentiated_once";
  std::string function;
  std::int64_t gradients = 0;  // the first inputs; the others are what they depend on

  Tensors call(std::span<const Tensor> inputs) const { return {inputs.begin(), inputs.begin() + gradients}; }
  Kept keep(std::span<const Tensor> inputs, const Mask&) const {
    return {.outputs = ricci::apply(*this, inputs), .residual = {}};
  }
  Tensors vjp(const Reverse&) const { refuse(); }
  Pushed jvp(std::span<const Tensor>, std::span<const Tensor>) const { refuse(); }
  BatchedOutputs batch(const Batch& b) const { return {.outputs = ricci::apply(*this, b.inputs), .mapped = b.mapped}; }

  [[noreturn]] void refuse() const {
    raise<TransformError>(function +
                          ": a second derivative was asked for, but it is once_differentiable; remove that "
                          "if its backward is made of differentiable operations");
  }
};

bool among(const Tensor& tensor, std::span<const Tensor> tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.is_same(tensor); });
}

/// Other tensors with the same values.
Tensors values_of(std::span<const Tensor> tensors) {
  Tensors copies;
  for (const Tensor& t : tensors) copies.push_back(wrap(value_of(t)));
  return copies;
}

/// in_dims for a written rule: one entry for each leaf of the arguments, none where not mapped.
std::vector<Dim> dims_of_leaves(std::size_t leaves, const Mask& taken, const Mask& mapped) {
  std::vector<Dim> dims;
  std::size_t input = 0;
  for (std::size_t i = 0; i < leaves; ++i) {
    const bool is_mapped = taken[i] && mapped[input];
    input += taken[i];
    dims.push_back(is_mapped ? Dim(0) : none);
  }
  return dims;
}

/// What a written rule returned, with the batch as axis 0. Throws what does not fit.
BatchedOutputs batch_in_front(const std::string& name, const tree::Walk& output, const Dims& out_dims,
                              Size batch_size) {
  const tree::DimsWords words{name, "out_dims", "the output", "is", false};
  const tree::MatchedDims matched = tree::try_match_dims(out_dims, output, words);
  if (!matched.problem.empty()) raise<ValueError>(matched.problem + "; vmap returns std::pair{output, out_dims}");
  BatchedOutputs result{.outputs = {}, .mapped = Mask()};
  for (std::size_t i = 0; i < output.leaves.size(); ++i) {
    const Tensor& leaf = *output.leaves[i];
    if (!leaf.defined()) continue;
    result.mapped.push_back(matched.dims[i].has_value());
    if (!matched.dims[i]) {
      result.outputs.push_back(leaf);
      continue;
    }
    const std::int64_t rank = leaf.dim(), axis = *matched.dims[i] < 0 ? *matched.dims[i] + rank : *matched.dims[i];
    const bool exists = axis >= 0 && axis < rank;
    if (!exists || !(type_of(leaf).shape[static_cast<std::size_t>(axis)] == batch_size))
      raise<IndexError>(name + ": vmap returned out_dim " + std::to_string(*matched.dims[i]) + " for an output " +
                        to_string(type_of(leaf)) + ", which has no axis of the batch's size " +
                        std::to_string(batch_size.hint()) + " there; return where the batch is, or none");
    result.outputs.push_back(axis == 0 ? leaf : movedim(leaf, axis, 0));
  }
  return result;
}

}  // namespace

std::string class_name(std::string_view type) {
  std::size_t start = 0, depth = 0;
  for (std::size_t i = 0; i + 1 < type.size(); ++i) {
    if (type[i] == '<' || type[i] == '(') ++depth;
    if (type[i] == '>' || type[i] == ')') --depth;
    if (depth == 0 && type.substr(i, 2) == "::") start = i + 2;
  }
  return tree::readable_type(type.substr(start));
}

// ── the value ──

Tensors FunctionOperation::call(std::span<const Tensor> inputs) const {
  const Tensors before = values_of(inputs);
  Tensors outputs = forward(inputs);
  note_returned(before, inputs, outputs);
  const bool any_written =
      std::any_of(returned().begin(), returned().end(), [](const Returned& r) { return r.is_written; });
  if (any_written) context_of_call(inputs, outputs, Mask());  // throws unless they are marked
  return outputs;
}

Tensors FunctionOperation::apply_and_write(std::span<const Tensor> inputs) const {
  Tensors outputs = apply(inputs);
  for (const Returned& r : returned()) {
    if (!r.is_written) continue;
    assign_into(inputs[r.input], outputs[r.output], name().c_str());
    outputs[r.output] = inputs[r.input];
  }
  return outputs;
}

void FunctionOperation::note_returned(std::span<const Tensor> before, std::span<const Tensor> inputs,
                                      std::span<const Tensor> outputs) const {
  std::vector<Returned> found;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool is_written = value_of(inputs[i]).get() != value_of(before[i]).get();
    const auto output =
        std::find_if(outputs.begin(), outputs.end(), [&](const Tensor& t) { return t.is_same(inputs[i]); });
    if (output != outputs.end()) found.push_back({i, static_cast<std::size_t>(output - outputs.begin()), is_written});
    else if (is_written)
      raise<TransformError>(name() + ": forward wrote to argument " + std::to_string(argument_of(i)) +
                            " without returning it; return it, and mark it with ctx.mark_dirty in setup_context");
  }
  if (!returned_) {
    returned_ = std::move(found);
    return;
  }
  const auto is_kept = [](const Returned& r) { return !r.is_written; };
  std::vector<Returned> first(returned_->begin(), returned_->end());
  std::erase_if(first, is_kept);
  std::erase_if(found, is_kept);
  if (!(found == first))
    raise<TransformError>(name() +
                          ": forward writes to other arguments than in its first run, or returns them at other "
                          "places; let it do the same each time, or write to copies");
}

// ── the context ──

Context FunctionOperation::context_of_call(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                                           const Mask& wanted) const {
  Context ctx(name());
  std::size_t input = 0;
  for (const std::size_t count : tensors_by_argument()) {
    bool needed = false;
    for (std::size_t i = 0; i < count; ++i) needed |= wanted[input++];
    ctx.notes_.needs_gradient.push_back(needed);
    ++ctx.notes_.arguments;
  }
  Tensors shown(inputs.begin(), inputs.end());
  for (const Returned& r : returned())
    if (r.is_written) shown[r.input] = outputs[r.output];
  setup(ctx, shown, outputs);
  check_marks(ctx, shown, outputs);
  return ctx;
}

void FunctionOperation::check_marks(const Context& ctx, std::span<const Tensor> inputs,
                                    std::span<const Tensor> outputs) const {
  for (const Tensor& marked : ctx.dirty_) {
    const auto input = std::find_if(inputs.begin(), inputs.end(), [&](const Tensor& t) { return t.is_same(marked); });
    if (input == inputs.end())
      raise<ValueError>(name() + ": ctx.mark_dirty was given a tensor that is not an argument of forward; mark the " +
                        "arguments that forward writes to");
    const auto i = static_cast<std::size_t>(input - inputs.begin());
    if (std::none_of(returned().begin(), returned().end(), [i](const Returned& r) { return r.input == i; }))
      raise<ValueError>(name() + ": ctx.mark_dirty was given an argument that forward does not return; return it");
  }
  for (const Returned& r : returned())
    if (r.is_written && !among(outputs[r.output], ctx.dirty_))
      raise<TransformError>(name() + ": forward wrote to argument " + std::to_string(argument_of(r.input)) +
                            ", which is not marked; mark it with ctx.mark_dirty in setup_context");
  for (const Tensor& marked : ctx.constant_)
    if (!among(marked, outputs))
      raise<ValueError>(
          name() +
          ": ctx.mark_non_differentiable was given a tensor that is not an output of forward; mark what it "
          "returns");
}

Context FunctionOperation::context_of(const Residual& residual) const {
  Context ctx(name());
  ctx.notes_ = *static_cast<const ContextNotes*>(residual.rest.get());
  const auto middle = residual.tensors.begin() + static_cast<std::ptrdiff_t>(ctx.notes_.saved_for_backward);
  ctx.for_backward_.assign(residual.tensors.begin(), middle);
  ctx.for_forward_.assign(middle, residual.tensors.end());
  return ctx;
}

Mask FunctionOperation::constant_outputs(const Context& ctx, std::span<const Tensor> outputs) {
  Mask constant;
  for (const Tensor& output : outputs) constant.push_back(among(output, ctx.constant_));
  return constant;
}

// ── the derivatives ──

Kept FunctionOperation::keep(std::span<const Tensor> inputs, const Mask& wanted) const {
  Tensors outputs = apply(inputs);
  Context ctx = context_of_call(inputs, outputs, wanted);
  Residual residual{.tensors = std::move(ctx.for_backward_), .rest = nullptr};
  ctx.notes_.saved_for_backward = residual.tensors.size();
  residual.tensors.insert(residual.tensors.end(), ctx.for_forward_.begin(), ctx.for_forward_.end());
  const Mask constant = constant_outputs(ctx, outputs);
  residual.rest = std::make_shared<const ContextNotes>(std::move(ctx.notes_));
  return {.outputs = std::move(outputs), .residual = std::move(residual), .constant = constant};
}

Tensors FunctionOperation::vjp(const Reverse& rule) const {
  if (!rules_->facts.has_backward)
    raise<NotImplementedError>(name() +
                               ": a derivative by reverse mode was asked for, but it has no backward; add "
                               "`static auto backward(rc::Context& ctx, cotangents…)`");
  Context ctx = context_of(*rule.residual);
  const Tensors cotangents = ctx.notes_.materialize ? filled_with_zeros(rule.cotangents, rule.output_types)
                                                    : Tensors(rule.cotangents.begin(), rule.cotangents.end());
  Tensors gradients = rules_->facts.once_differentiable ? backward_once(ctx, cotangents) : backward(ctx, cotangents);
  return fit_gradients("backward", std::move(gradients), rule.input_types);
}

Tensors FunctionOperation::backward_once(Context& ctx, std::span<const Tensor> cotangents) const {
  Tensors gradients;
  {
    const no_grad guard;
    gradients = backward(ctx, cotangents);
  }
  Tensors tied;
  for (const Tensor& g : gradients)
    if (g.defined()) tied.push_back(g);
  const DifferentiatedOnce once{name(), static_cast<std::int64_t>(tied.size())};
  for (const std::span<const Tensor> source : {cotangents, std::span<const Tensor>(ctx.saved_list())})
    for (const Tensor& t : source)
      if (t.defined()) tied.push_back(t);
  const Tensors found = ricci::apply(once, std::span<const Tensor>(tied));
  std::size_t next = 0;
  for (Tensor& g : gradients)
    if (g.defined()) g = found[next++];
  return gradients;
}

Pushed FunctionOperation::jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const {
  if (!rules_->facts.has_jvp)
    raise<NotImplementedError>(name() +
                               ": a derivative by forward mode was asked for, but it has no jvp; add `static "
                               "auto jvp(rc::Context& ctx, tangents…)`");
  Tensors outputs = apply(inputs);
  Mask wanted;
  Types types;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    wanted.push_back(tangents[i].defined());
    types.push_back(type_of(inputs[i]));
  }
  Context ctx = context_of_call(inputs, outputs, wanted);
  ctx.reader_ = Context::Reader::forward;
  const Tensors given =
      ctx.notes_.materialize ? filled_with_zeros(tangents, types) : Tensors(tangents.begin(), tangents.end());
  Tensors found = fit_tangents("jvp", push(ctx, given), outputs);
  const Mask constant = constant_outputs(ctx, outputs);
  for (std::size_t i = 0; i < found.size(); ++i)
    if (constant[i]) found[i] = Tensor();
  return {std::move(outputs), std::move(found)};
}

// ── vmap ──

BatchedOutputs FunctionOperation::batch(const Batch& batch) const {
  if (rules_->facts.generates_vmap) return Operation::batch(batch);
  if (!rules_->facts.has_vmap)
    raise<NotImplementedError>(name() +
                               ": used under vmap, but it has no rule for it; add `static constexpr bool "
                               "generate_vmap_rule = true`, or `static auto vmap(const rc::VmapInfo& info, in_dims, "
                               "arguments…)`");
  const Tensors before = values_of(batch.inputs);
  BatchedOutputs outputs = map({batch.size, batch.randomness}, batch);
  note_returned(before, batch.inputs, outputs.outputs);
  return outputs;
}

// ── the class's rules, between tensors and trees ──

Tensors FunctionOperation::forward(std::span<const Tensor> inputs) const {
  Arguments given = arguments(inputs);
  return tensors_of(rules_->forward(given));
}

void FunctionOperation::setup(Context& ctx, std::span<const Tensor> inputs, std::span<const Tensor> outputs) const {
  Arguments given = arguments(inputs);
  AnyTree output = result(outputs);
  rules_->setup_context(ctx, given, output);
}

Tensors FunctionOperation::backward(Context& ctx, std::span<const Tensor> cotangents) const {
  AnyTree cotangent = result(cotangents);
  return gradients_of("backward", rules_->backward(ctx, cotangent));
}

Tensors FunctionOperation::push(Context& ctx, std::span<const Tensor> tangents) const {
  Arguments given = arguments(tangents);
  return tangents_of("jvp", rules_->jvp(ctx, given));
}

BatchedOutputs FunctionOperation::map(const VmapInfo& info, const Batch& batch) const {
  Arguments given = arguments(batch.inputs);
  const std::vector<Dim> in_dims = dims_of_leaves(tree::walk_of(given).leaves.size(), taken(), batch.mapped);
  auto [output, out_dims] = rules_->vmap(info, in_dims, given);
  BatchedOutputs batched = batch_in_front(name(), call::walk(output), out_dims, info.batch_size);
  tensors_of(std::move(output));
  return batched;
}

std::vector<Dims> dims_by_argument(const Arguments& arguments, const std::vector<Dim>& dims) {
  std::vector<Dims> by_argument;
  auto next = dims.begin();
  for (const tree::Walk& walk : tree::walks_of(arguments)) {
    const auto first = next;
    next += static_cast<std::ptrdiff_t>(walk.leaves.size());
    by_argument.push_back(tree::dims_like(walk, {first, next}));
  }
  return by_argument;
}

AnyTree apply(std::shared_ptr<const Rules> rules, Arguments arguments) {
  Tensors inputs;
  const auto application = std::make_shared<const FunctionOperation>(std::move(arguments), inputs, std::move(rules));
  return application->result(application->apply_and_write(inputs));
}

}  // namespace ricci::function
