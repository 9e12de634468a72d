// Looking one level into a value, which takes the value kinds of all interpreters.
#include "interpreters/batch.h"
#include "interpreters/dual.h"
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

const Value* part_at(const Value& value, Level level) {
  const Value* v = &value;
  while (v->level > level) {
    const ValueRef* inner = inner_of(*v);
    if (!inner) return nullptr;
    v = inner->get();
  }
  return v->level == level ? v : nullptr;
}

}  // namespace ricci
