// Running the rules of custom operations: fresh cells in, so that a rule cannot write to its caller's tensors, values
// out.
#include "primitive/custom.h"

#include <algorithm>

#include "ricci/primitive/raise.h"

namespace ricci {
namespace {

thread_local constinit const UserFunctionInRule* running = nullptr;

}  // namespace

UserFunctionInRule::UserFunctionInRule()
    : caller_(of_the_user ? of_the_user : innermost), saved_user_(of_the_user), outer_(running) {
  of_the_user = nullptr;
  running = this;
}
UserFunctionInRule::~UserFunctionInRule() {
  of_the_user = saved_user_;
  running = outer_;
}

const Interpreter* find_set_aside(Level level) {
  if (find_interpreter(level)) return nullptr;
  for (const UserFunctionInRule* f = running; f; f = f->outer_)
    for (const Interpreter* i = f->caller_; i && i->level >= level; i = i->parent)
      if (i->level == level && !i->is_given_up()) return i;
  return nullptr;
}

bool is_around_rule(const Interpreter& interpreter) {
  for (const UserFunctionInRule* f = running; f; f = f->outer_)
    for (const Interpreter* i = f->caller_; i; i = i->parent)
      if (i == &interpreter) return true;
  return false;
}

std::vector<const Interpreter*> whole_nest() {
  std::vector<const Interpreter*> nest;
  const auto add = [&nest](const Interpreter* i) {
    for (; i; i = i->parent)
      if (!i->is_given_up()) nest.push_back(i);
  };
  add(of_the_user ? of_the_user : innermost);
  for (const UserFunctionInRule* f = running; f; f = f->outer_) add(f->caller_);
  std::sort(nest.begin(), nest.end(), [](const auto* a, const auto* b) { return a->level > b->level; });
  nest.erase(std::unique(nest.begin(), nest.end()), nest.end());
  return nest;
}

namespace {

thread_local constinit const std::string* rule_of = nullptr;
thread_local constinit CatchesCaptures* catching = nullptr;

}  // namespace

RuleOf::RuleOf(const std::string& name) : outer_(rule_of) { rule_of = &name; }
RuleOf::~RuleOf() { rule_of = outer_; }

CatchesCaptures::CatchesCaptures() : outer_(catching) { catching = this; }
CatchesCaptures::~CatchesCaptures() { catching = outer_; }

void require_not_set_aside(const Value& value, const char* op) {
  const Interpreter* aside = find_set_aside(value.level);
  if (!aside || switched_off(*aside)) return;
  if (catching) {
    catching->has_thrown_ = true;
    throw Captured();
  }
  const std::string name = rule_of ? *rule_of : "a custom function";
  raise<TransformError>(std::string(op) + ": an operand " + to_string(value.type) + " was captured: it belongs to " +
                        transform_text(aside) + ", which does not reach into " + name + "; pass it as an argument");
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
  for (const Tensor& t : tensors) fresh.push_back(t.defined() ? wrap(read(t, op.rules->name)) : Tensor());
  return fresh;
}

Residual snapshot(Op op, const Residual& residual) {
  return {.tensors = fresh_cells(op, residual.tensors), .rest = residual.rest};
}

}  // namespace

Values call(Op op, std::span<const ValueRef> inputs) {
  const UserFunctionInRule in_rule;
  const AtLevel eager(nullptr);
  return read_all(op, op.rules->call(op.parameters, wrap_all(inputs)));
}

KeptValues keep(Op op, std::span<const ValueRef> inputs, const Mask& wanted) {
  const UserFunctionInRule in_rule;
  const Kept kept = op.rules->keep(op.parameters, wrap_all(inputs), wanted);
  return {read_all(op, kept.outputs), std::make_shared<Residual>(snapshot(op, kept.residual)), kept.constant};
}

PushedValues push(Op op, std::span<const ValueRef> inputs, std::span<const Tensor> tangents) {
  const UserFunctionInRule in_rule;
  Pushed pushed = op.rules->push(op.parameters, wrap_all(inputs), tangents);
  return {read_all(op, pushed.outputs), std::move(pushed.tangents)};
}

Tensors vjp(Op op, const Reverse& rule) {
  const UserFunctionInRule in_rule;
  const InLanesOf lanes_of_values(rule.residual->tensors);
  const InLanesOf lanes_of_cotangents(rule.cotangents);
  // In cells of their own, made inside these lanes: the rule may write to them.
  const Residual residual = snapshot(op, *rule.residual);
  const std::vector<Tensor> cotangents = fresh_cells(op, rule.cotangents);
  Reverse fresh = rule;
  fresh.residual = &residual;
  fresh.kept = rule.kept ? rule.kept : rule.residual;
  fresh.cotangents = {cotangents.data(), cotangents.size()};
  return op.rules->vjp(op.parameters, fresh);
}

BatchedOutputs batch(Op op, const Batch& batch) {
  const UserFunctionInRule in_rule;
  return op.rules->batch(op.parameters, batch);
}

}  // namespace custom
}  // namespace ricci
