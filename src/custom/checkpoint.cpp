// Functions that are computed again for their derivative: what they draw, which of them simply run, and what they are
// in a recorded function, an operation whose parameter is the program.
#include "custom/checkpoint.h"

#include <algorithm>
#include <optional>

#include "custom/call.h"
#include "custom/captures.h"
#include "custom/closure.h"
#include "interpreters/replay.h"
#include "interpreters/tape.h"
#include "primitive/custom.h"
#include "program/program.h"
#include "program/programs_run.h"
#include "ricci/custom_derivatives.h"

namespace ricci::function {
namespace {

struct RecordedCheckpoint {
  using kind = Custom;
  static constexpr const char* name = "checkpoint";
  static constexpr bool transparent = true;
  Program f;

  Types type(const Types& inputs) const { return type_of_call(f, inputs); }
  bool draws() const { return ricci::draws(f); }
  ProgramsRun programs_run() const { return CalledProgram{&f, true}; }
  Tensors call(std::span<const Tensor> inputs) const {
    const auto run = [f = f](const std::vector<Tensor>& x) { return f(x); };
    const std::vector<Tensor> outputs = checkpoint(run)(std::vector<Tensor>(inputs.begin(), inputs.end()));
    return {outputs.begin(), outputs.end()};
  }
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const {
    return push_call(apply, f, inputs, tangents);
  }
  BatchedOutputs batch(const Batch& batch) const { return batch_call(apply, f, batch); }
  Kept keep(std::span<const Tensor> inputs, const Mask& wanted) const {
    const auto watched = [&] {
      const Flags flags = flags_of(wanted, inputs.size());
      return WatchedInside{{{flags, inputs.size()}}, outputs_reached(f, flags)};
    };
    return keep_to_compute_again({&rules_of<RecordedCheckpoint>, this}, inputs, watched);
  }
  Tensors vjp(const Reverse& rule) const {
    return computed_again(rule.residual->rest.get(), [&] { return pull_call_again(apply, f, rule); });
  }

  static Tensors apply(const Program& f, std::span<const Tensor> inputs) {
    return ricci::apply(RecordedCheckpoint{f}, inputs);
  }
};

}  // namespace

/// A checkpoint where a derivative that it ran under is set aside: below the reverse mode that keeps it, or because
/// none of its inputs depends on that derivative. A tape that is dropped runs in its place, so that the function may
/// write to nothing that it captures. Where other derivatives go through the inputs, the tape watches those that the
/// reverse mode watched: what the function calls sees reverse mode inside those derivatives, as it would without a
/// checkpoint. Then it also tells which outputs depend on what reverse mode watched.
class Recomputed::Beneath final : public Recomputed {
 public:
  Beneath(std::shared_ptr<const Recomputed> f, Flags watched)
      : Recomputed(*f), f_(std::move(f)), watched_(std::move(watched)) {}

  Tensors call(std::span<const Tensor> inputs) const override {
    const auto f = [this](std::span<const Tensor> x) { return f_->call(x); };
    TapedCall taped(f, inputs, differentiable_in(watched_, inputs), name().c_str());
    if (!watched_.empty()) slots_ = std::move(taped.output_slots);
    return std::move(taped.outputs);
  }
  /// The outputs that have no derivative. Requires: it has been applied.
  Mask constant() const {
    Mask constant = 0;
    for (const int slot : slots_) constant.push_back(slot < 0);
    return constant;
  }

 private:
  std::vector<std::size_t> tensors_by_argument() const override { return f_->tensors_by_argument(); }
  std::shared_ptr<const Recomputed> f_;
  Flags watched_;
  mutable std::vector<int> slots_;  // of the outputs, -1 or not in each run; empty where nothing was watched
};

namespace {

/// A function that is computed again for its derivative.
class Checkpointed final : public Recomputed {
 public:
  Checkpointed(Arguments arguments, Tensors& inputs, const AnyFunction& f)
      : Recomputed("checkpoint", std::move(arguments), inputs), f_(f.kept()) {}
  Tensors call(std::span<const Tensor> inputs) const override { return tensors_of(f_(arguments(inputs))); }

 private:
  AnyFunction f_;
};

/// Whether a checkpoint of these values only calls its function, because an operation cannot do what the function does
/// there: draw for the examples of a vmap that lets functions draw and knows none of the values, or for a program that
/// is being recorded; part the examples of a vmap. Requires: none of the values is recorded.
bool simply_runs(const tree::Walk& arguments) {
  const Tensors leaves = defined_leaves(arguments);
  for (const Interpreter* i = this_thread.innermost; i; i = i->parent) {
    if (i->sees_everything()) return true;
    if (i->kind == ValueKind::batched && static_cast<const BatchInterpreter*>(i)->parts != Parts::nowhere) return true;
    const BatchInterpreter* vmap = drawing_vmap_that_knows_none(i, leaves);
    if (vmap && vmap->examples.randomness != Randomness::error) return true;
  }
  return false;
}

/// In a recorded function, what is computed again is a program: its draws are the same both times.
AnyTree record_checkpoint(const AnyFunction& f, const Arguments& arguments) {
  AnyTree result;
  const Closure closure = write_down("checkpoint", f, arguments, result);
  Tensors inputs = defined_leaves(tree::walk_of(arguments));
  inputs.append(closure.captured.begin(), closure.captured.end());
  const Tensors outputs = RecordedCheckpoint::apply(closure.program, inputs);
  std::span<const Tensor> rest = outputs;
  write_leaves(rest, call::walk(result));
  return result;
}

}  // namespace

AnyTree checkpointed(const AnyFunction& f, Arguments arguments, Captures captures) {
  if (is_recorded("checkpoint", tree::walk_of(arguments))) return record_checkpoint(f, arguments);
  if (simply_runs(tree::walk_of(arguments))) return on_copies("checkpoint", f, std::move(arguments));
  const auto run = [&] { return function::run<Checkpointed>(arguments, f); };
  return captures == Captures::caller ? run() : with_captures(run, [&] { return record_checkpoint(f, arguments); });
}

AnyTree call_checkpoint(const AnyFunction& f, Arguments arguments) {
  return checkpointed(f, std::move(arguments), Captures::here);
}

std::shared_ptr<const Recomputed> Recomputed::beneath() const {
  return std::make_shared<const Beneath>(std::static_pointer_cast<const Recomputed>(shared_from_this()), Flags());
}

Tensors Recomputed::apply(std::span<const Tensor> inputs) const {
  const Level level = innermost_derivative();
  const bool is_set_aside = level > 0 && std::none_of(inputs.begin(), inputs.end(), [&](const Tensor& t) {
                              return part_at(*read(t, name().c_str()), level);
                            });
  return is_set_aside ? beneath()->Operation::apply(inputs) : Operation::apply(inputs);
}

Kept Recomputed::keep(std::span<const Tensor> inputs, const Mask& wanted) const {
  auto draws = std::make_shared<Draws>();
  const auto f = std::static_pointer_cast<const Recomputed>(shared_from_this());
  const Flags watched = are_differentiated(inputs) ? flags_of(wanted, inputs.size()) : Flags();
  const auto beneath = std::make_shared<const Beneath>(f, watched);
  Kept kept = drawing_from(DrawSource::noting(*draws), [&] { return beneath->keep_inputs(inputs); });
  kept.residual.rest = std::move(draws);
  kept.constant = beneath->constant();
  return kept;
}

Tensors Recomputed::vjp(const Reverse& rule) const {
  const auto& draws = *static_cast<const Draws*>(rule.residual->rest.get());
  return drawing_from(DrawSource::repeating(draws), [&] { return vjp_by_calling(rule); });
}

Pushed Recomputed::jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const {
  return jvp_by_calling(inputs, tangents);
}

void raise_in_what_captures(const TransformError& error) {
  throw TransformError(
      error.what() +
      std::string("\n  in a function that captures tensors of a transform around it, and is written down "
                  "for that; one that looks at values takes them as arguments or state"));
}

}  // namespace ricci::function
