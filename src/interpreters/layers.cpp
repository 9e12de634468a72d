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

/// A derivative of a level further in holds none of those: what a level differentiates has been read when it entered.
ValueRef without_derivatives(const ValueRef& value, Level last) {
  const ValueRef* inner = inner_of(*value);
  if (value->kind == ValueKind::batched) {
    ValueRef left = without_derivatives(*inner, last);
    if (left.get() == inner->get()) return value;
    return new_node<Batched>(value->level, std::move(left), static_cast<const Batched&>(*value).lanes);
  }
  if (value->level > last || value->kind == ValueKind::array) return value;
  if (inner) return without_derivatives(*inner, last);
  return static_cast<RecordInterpreter*>(find_interpreter(value->level))->undifferentiated(value);
}

}  // namespace ricci
