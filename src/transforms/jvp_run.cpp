// jvp and jet, compiled side: dual arguments in, primals and tangents out.
#include <memory>

#include "interpreters/dual.h"
#include "transforms/tangents.h"

namespace ricci::runs {

struct ForwardRun::State {
  const char* name;
  Place where;
  int order;
  std::unique_ptr<DualInterpreter> interpreter;
};

ForwardRun::ForwardRun(const char* name, Place where, int order)
    : state_(new State{.name = name, .where = where, .order = order}) {}

void ForwardRun::enter(std::span<const tree::Walk> primals, std::span<const tree::Walk> tangents) {
  State& s = *state_;
  require_primals(s.name, primals, s.where, tangents);
  const std::vector<Tensor> fitted = checked_tangents(s.name, Expected(primals), tangents, s.where);
  const Entry entry = entry_of(s.name, s.where);
  if (s.order == 1) s.interpreter = std::make_unique<DualInterpreter>(entry);
  else s.interpreter = std::make_unique<JetInterpreter>(entry);
  std::size_t at = 0;
  for (const tree::Walk& walk : primals)
    for (Tensor* leaf : walk.leaves) {
      const Tensor& t = fitted[at++];
      if (!leaf->defined()) continue;
      const bool tracked = t.defined() && is_differentiable(type_of(*leaf).dtype);
      show_dual(s.name, *leaf, tracked ? with_own_elements(read(t, s.name)) : ValueRef(), s.interpreter->level);
    }
}

void ForwardRun::leave(const tree::Walk& output, const tree::Walk& tangent, const tree::Walk* aux, bool is_strict) {
  State& s = *state_;
  s.interpreter->end_inside();
  refresh(output);
  {
    const AtLevel outside(s.interpreter->parent);
    require_differentiable(s.name, output, s.where);
  }
  for (std::size_t i = 0; i < output.leaves.size(); ++i) {
    const Type type = type_of(*output.leaves[i]);
    const Outcome outcome = split(*output.leaves[i], *s.interpreter);
    const AtLevel outside(s.interpreter->parent);
    if (is_strict && !outcome.tangent.defined())
      raise_own<TransformError>(std::string(s.name) + ": " + path_of("output", output, i) + " is " + to_string(type) +
                                    ", which does not depend on the primals; drop rc::strict to get a zero tangent",
                                s.where);
    *tangent.leaves[i] = outcome.tangent.defined() ? outcome.tangent : zeros_of(type);
    *output.leaves[i] = outcome.primal;
  }
  if (aux)
    for (Tensor* leaf : aux->leaves) *leaf = split(*leaf, *s.interpreter).primal;
  s.interpreter.reset();
}

void ForwardRun::refuse(const char* found) {
  state_->interpreter.reset();
  raise_no_tensor(state_->name, found, state_->where);
}

void require_equal_orders(std::span<const std::size_t> orders, Place where) {
  for (std::size_t i = 1; i < orders.size(); ++i)
    if (orders[i] != orders[0])
      raise_own<ValueError>("jet: argument 0 has " + std::to_string(orders[0]) + " coefficients, argument " +
                                std::to_string(i) + " has " + std::to_string(orders[i]) +
                                "; give each argument as many, zeros where it does not move",
                            where);
}

void require_coefficients(std::size_t order, std::span<const tree::Walk> arguments,
                          std::span<const tree::Walk> coefficients, Place where) {
  require_primals("jet", arguments, where, coefficients);
  checked_tangents("jet", Expected(arguments), coefficients, where,
                   {.what = "the coefficients do not fit the arguments",
                    .remedy = "pass coefficients like the arguments",
                    .given = "coefficient " + std::to_string(order) + " of argument",
                    .like = "argument"});
}

}  // namespace ricci::runs
