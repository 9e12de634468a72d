// Looking into a value level by level, which takes the value kinds of all interpreters.
#include "interpreters/batch.h"
#include "interpreters/dual.h"
#include "interpreters/node_memory.h"
#include "interpreters/record.h"
#include "interpreters/tape.h"

namespace ricci {

const ValueRef* inner_of(const Value& value) {
  switch (value.kind) {
    case ValueKind::batched: return &static_cast<const Batched&>(value).value;
    case ValueKind::dual: return &static_cast<const Dual&>(value).primal;
    case ValueKind::taped: return &static_cast<const Taped&>(value).value;
    case ValueKind::array:
    case ValueKind::recorded: return nullptr;
  }
  __builtin_unreachable();
}

const ValueRef* tangent_of(const Value& value) {
  return value.kind == ValueKind::dual ? &static_cast<const Dual&>(value).tangent : nullptr;
}

ValueRef without_derivatives(const ValueRef& value, Level first, Level last) {
  const auto left = [=](const ValueRef& inner) { return without_derivatives(inner, first, last); };
  if (value->kind == ValueKind::array) return value;
  const bool goes = first <= value->level && value->level <= last;
  if (goes && value->kind == ValueKind::recorded)
    return static_cast<RecordInterpreter*>(find_interpreter(value->level))->undifferentiated(value);
  const ValueRef* inner = inner_of(*value);
  if (!inner) return value;
  const ValueRef rest = left(*inner);
  if (goes && value->kind != ValueKind::batched) return rest;
  if (value->kind == ValueKind::dual) {
    const auto& dual = static_cast<const Dual&>(*value);
    const ValueRef tangent = dual.tangent ? left(dual.tangent) : ValueRef();
    if (rest.get() == inner->get() && tangent.get() == dual.tangent.get()) return value;
    return new_node<Dual>(value->level, rest, tangent);
  }
  if (rest.get() == inner->get()) return value;
  if (value->kind == ValueKind::taped) return new_node<Taped>(static_cast<const Taped&>(*value), rest);
  const auto& batched = static_cast<const Batched&>(*value);
  return new_node<Batched>(value->level, rest, batched.lanes, batched.is_computed);
}

}  // namespace ricci
