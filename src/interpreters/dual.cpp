// One operation on dual values: the primal result, and the tangent that the operation's rule gives.
#include "interpreters/dual.h"

#include "interpreters/node_memory.h"
#include "primitive/derive.h"

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
  Values results = dispatch(op, {primals.data(), primals.size()});
  if (op.rules->locally_constant) return results;

  Tensors primal_tensors, outputs;
  for (ValueRef& p : primals) primal_tensors.push_back(wrap(std::move(p)));
  for (const ValueRef& r : results) outputs.push_back(wrap(r));
  const Tensors out_tangents = tangents_of(op, {.inputs = {primal_tensors.data(), primal_tensors.size()},
                                                .tangents = {tangents.data(), tangents.size()},
                                                .outputs = {outputs.data(), outputs.size()}});
  for (std::size_t i = 0; i < results.size(); ++i)
    if (out_tangents[i].defined() && is_differentiable(results[i]->type.dtype))
      results[i] = new_node<Dual>(level, results[i], read(out_tangents[i], op.rules->name));
  return results;
}

}  // namespace ricci
