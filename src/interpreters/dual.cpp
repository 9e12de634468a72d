// One operation on dual values: the primal result, and the tangent that the operation's rule gives.
#include "interpreters/dual.h"

#include "interpreters/node_memory.h"
#include "primitive/custom.h"

namespace ricci {

void Dual::destroy() noexcept { destroy_node(this); }

Values DualInterpreter::process(Op op, std::span<const ValueRef> inputs) {
  Values primals;
  Tensors tangents;
  for (const ValueRef& v : inputs) {
    const Dual* dual = v->level == level ? static_cast<const Dual*>(v.get()) : nullptr;
    primals.push_back(dual ? dual->primal : v);
    tangents.push_back(dual && dual->tangent ? wrap(dual->tangent) : Tensor());
  }
  if (op.rules->kind == Kind::custom) return process_custom(op, {primals.data(), primals.size()}, tangents);
  Values results;
  std::shared_ptr<const Residual> residual;
  if (op.rules->keep) {  // the tangents read what the value leaves beside its outputs
    custom::KeptValues kept = custom::keep(op, {primals.data(), primals.size()}, ~0U);
    results = std::move(kept.outputs);
    residual = std::move(kept.residual);
  } else {
    results = dispatch(op, {primals.data(), primals.size()});
  }
  if (op.rules->is_locally_constant()) return results;

  Tensors primal_tensors, outputs;
  for (ValueRef& p : primals) primal_tensors.push_back(wrap(std::move(p)));
  for (const ValueRef& r : results) outputs.push_back(wrap(r));
  if (residual) outputs.append(residual->tensors.begin(), residual->tensors.end());
  const Tensors out_tangents = this->tangents(op, {.inputs = {primal_tensors.data(), primal_tensors.size()},
                                                   .tangents = {tangents.data(), tangents.size()},
                                                   .outputs = {outputs.data(), outputs.size()}});
  join(results, out_tangents, op);
  return results;
}

Values DualInterpreter::process_custom(Op op, std::span<const ValueRef> primals, const Tensors& tangents) {
  custom::PushedValues pushed = custom::push(op, primals, tangents);
  join(pushed.outputs, pushed.tangents, op);
  return std::move(pushed.outputs);
}

void DualInterpreter::join(Values& results, const Tensors& tangents, Op op) {
  for (std::size_t i = 0; i < results.size(); ++i)
    if (tangents[i].defined() && is_differentiable(results[i]->type.dtype))
      results[i] = new_node<Dual>(level, results[i], read(tangents[i], op.rules->name));
}

Values JetInterpreter::process(Op op, std::span<const ValueRef> inputs) {
  // What a function of the user's runs is many operations, and each is forgotten by itself.
  if (op.rules->kind == Kind::custom || op.rules->effect == Effect::acts) return DualInterpreter::process(op, inputs);
  struct Inside {
    JetInterpreter* innermost;
    Inside(JetInterpreter* jet) : innermost(jet) { ++this_thread.operations_of_jets; }
    ~Inside() {
      if (--this_thread.operations_of_jets > 0) return;
      for (Interpreter* i = innermost; i; i = i->parent)
        if (auto* jet = dynamic_cast<JetInterpreter*>(i)) jet->met_.clear();
    }
  } const inside(this);
  return met_.get(op, inputs, [&] { return DualInterpreter::process(op, inputs); });
}

}  // namespace ricci
