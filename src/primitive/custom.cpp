// Running the rules of custom operations: fresh cells in, so that a rule cannot write to its caller's tensors, values
// out.
#include "primitive/custom.h"

#include <algorithm>

#include "primitive/running.h"
#include "primitive/writing.h"
#include "ricci/primitive/raise.h"
#include "tensor/stand_ins.h"

namespace ricci {
const Interpreter* find_set_aside(Level level) {
  if (find_interpreter(level)) return nullptr;
  for (const UserFunctionInRule* f = this_thread.function_in_rule; f; f = f->outer)
    for (const Interpreter* i = f->caller; i && i->level >= level; i = i->parent)
      if (i->level == level && !i->is_given_up()) return i;
  return nullptr;
}

bool is_around_rule(const Interpreter& interpreter) {
  for (const UserFunctionInRule* f = this_thread.function_in_rule; f; f = f->outer)
    for (const Interpreter* i = f->caller; i; i = i->parent)
      if (i == &interpreter) return true;
  return false;
}

std::vector<const Interpreter*> whole_nest() {
  std::vector<const Interpreter*> nest;
  const auto add = [&nest](const Interpreter* i) {
    for (; i; i = i->parent)
      if (!i->is_given_up()) nest.push_back(i);
  };
  add(this_thread.of_the_user ? this_thread.of_the_user : this_thread.innermost);
  for (const UserFunctionInRule* f = this_thread.function_in_rule; f; f = f->outer) add(f->caller);
  std::sort(nest.begin(), nest.end(), [](const auto* a, const auto* b) { return a->level > b->level; });
  nest.erase(std::unique(nest.begin(), nest.end()), nest.end());
  return nest;
}

SetAside set_aside_here() {
  SetAside here;
  if (this_thread.set_aside_elsewhere) here = *this_thread.set_aside_elsewhere;
  if (this_thread.rule) here.rule = *this_thread.rule;
  if (!this_thread.function_in_rule) return here;
  for (const Interpreter* i : whole_nest())
    if (!find_interpreter(i->level)) here.transforms.push_back({i->level, i->differentiates(), transform_text(i)});
  return here;
}

namespace {

/// Null: it runs here, has ended, or was not set aside.
const SetAside::Transform* find_set_aside_elsewhere(Level level) {
  if (!this_thread.set_aside_elsewhere || find_interpreter(level) || !is_running(level)) return nullptr;
  for (const SetAside::Transform& transform : this_thread.set_aside_elsewhere->transforms)
    if (transform.level == level) return &transform;
  return nullptr;
}

}  // namespace

bool is_set_aside(Level level) { return find_set_aside(level) || find_set_aside_elsewhere(level); }

void require_not_set_aside(const Value& value, const char* op) {
  std::string transform;
  if (const Interpreter* here = find_set_aside(value.level)) {
    if (switched_off(*here)) return;
    if (this_thread.captures) {
      *this_thread.captures = true;
      throw Captured();
    }
    transform = transform_text(here);
  } else if (const SetAside::Transform* there = find_set_aside_elsewhere(value.level)) {
    if (switched_off(there->level, there->differentiates)) return;
    transform = there->text;
  } else {
    return;
  }
  const std::string rule = this_thread.rule ? *this_thread.rule : "a custom function";
  const bool has_remedy = rule.find("; ") != std::string::npos;
  raise<TransformError>(std::string(op) + ": an operand " + to_string(value.type) + " was captured: it belongs to " +
                        transform + ", which does not reach into " + rule +
                        (has_remedy ? "" : "; pass it as an argument"));
}

namespace custom {
namespace {

Tensors wrap_all(std::span<const ValueRef> values) {
  Tensors tensors;
  for (const ValueRef& v : values) tensors.push_back(wrap(v));
  return tensors;
}

Values read_all(Op op, const Tensors& tensors) {
  Values values;
  for (const Tensor& t : tensors) values.push_back(read(t, op.rules->name));
  return values;
}

/// The values in cells that nobody else can write to.
std::vector<Tensor> fresh_cells(Op op, std::span<const Tensor> tensors) {
  std::vector<Tensor> fresh;
  for (const Tensor& t : tensors)
    fresh.push_back(t.defined() ? wrap(with_own_elements(read(t, op.rules->name))) : Tensor());
  return fresh;
}

/// The level of the innermost recording that any of these values is a variable of; 0: none.
Level recording_of(std::span<const Tensor> tensors) {
  Level innermost_one = 0;
  for (const Tensor& t : tensors) {
    const Value* recorded = t.defined() ? innermost_part(*value_of(t), ValueKind::recorded) : nullptr;
    if (recorded) innermost_one = std::max(innermost_one, recorded->level);
  }
  return innermost_one;
}

Residual snapshot(Op op, const Residual& residual) {
  return {.tensors = fresh_cells(op, residual.tensors), .rest = residual.rest};
}

/// The stand-ins of captured tensors while the rule `keep` ran, kept with the residual's `rest`. `vjp` uses the same.
struct KeptInRule {
  std::shared_ptr<const void> rest;
  std::shared_ptr<const StandIns> stand_ins;
  void operator()(const void*) const {}  // as a deleter: `rest` goes with it
};

}  // namespace

Values call(Op op, std::span<const ValueRef> inputs) {
  return in_rule([&] {
    const AtLevel eager(nullptr);
    return read_all(op, op.rules->call(op.parameters, wrap_all(inputs)));
  });
}

KeptValues keep(Op op, std::span<const ValueRef> inputs, const Mask& wanted) {
  return in_rule([&]() -> KeptValues {
    const Kept kept = op.rules->keep(op.parameters, wrap_all(inputs), wanted);
    const auto residual = std::make_shared<Residual>(snapshot(op, kept.residual));
    if (this_thread.stand_ins) {
      const KeptInRule and_stand_ins{residual->rest, *this_thread.stand_ins};
      residual->rest = std::shared_ptr<const void>(and_stand_ins.rest.get(), and_stand_ins);
    }
    return {read_all(op, kept.outputs), residual, kept.constant};
  });
}

PushedValues push(Op op, std::span<const ValueRef> inputs, std::span<const Tensor> tangents) {
  return in_rule([&]() -> PushedValues {
    const Tensors primals = wrap_all(inputs);
    Pushed pushed = op.rules->push(op.parameters, primals, tangents);
    // Under linearize, a rule that runs one program for outputs and tangents records both. Tangents alone belong there,
    // so the outputs are computed again outside. A rule of the user's computes its outputs apart.
    if (!op.rules->function_name && recording_of(pushed.outputs) > recording_of(primals))
      pushed.outputs = apply_all(op, primals);
    return {read_all(op, pushed.outputs), std::move(pushed.tangents)};
  });
}

Tensors vjp(Op op, const Reverse& rule) {
  return in_rule([&] {
    const auto* kept_in_rule = std::get_deleter<KeptInRule>(rule.residual->rest);
    const With<&ThreadContext::stand_ins> as_it_was_kept(kept_in_rule ? &kept_in_rule->stand_ins : nullptr);
    const auto lanes_of_values = in_lanes_of(rule.residual->tensors);
    const auto lanes_of_cotangents = in_lanes_of(rule.cotangents);
    // In cells of their own, made inside these lanes: the rule may write to them.
    const Residual residual = snapshot(op, *rule.residual);
    const std::vector<Tensor> cotangents = fresh_cells(op, rule.cotangents);
    Reverse fresh = rule;
    fresh.residual = &residual;
    fresh.kept = rule.kept ? rule.kept : rule.residual;
    fresh.cotangents = {cotangents.data(), cotangents.size()};
    return op.rules->vjp(op.parameters, fresh);
  });
}

BatchedOutputs batch(Op op, const Batch& batch) {
  return in_rule([&] { return op.rules->batch(op.parameters, batch); });
}

}  // namespace custom
}  // namespace ricci
