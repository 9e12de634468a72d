// The values of a tree that are no Tensors, kept, compared and restored.
#include "ricci/tree/values.h"

#include <cassert>

namespace ricci::tree {

CopiedValues copy_values(const Values& values) {
  CopiedValues copies;
  copies.reserve(values.size());
  for (const Value& value : values) copies.push_back(value.type->copy(value.object));
  return copies;
}

namespace {

/// Of `values` and as many others, of which others(i) is number i.
template <class Others>
std::size_t first_difference_from(const Values& values, const Others& others) {
  std::size_t i = 0;
  const auto equals = [&] {
    const auto equal = values[i].type->equal;
    return !equal || equal(values[i].object, others(i));
  };
  while (i < values.size() && equals()) ++i;
  return i;
}

}  // namespace

std::size_t first_difference(const Values& values, const CopiedValues& other) {
  assert(values.size() == other.size());
  return first_difference_from(values, [&](std::size_t i) { return other[i].get(); });
}
std::size_t first_difference(const Values& values, const Values& other) {
  assert(values.size() == other.size());
  return first_difference_from(values, [&](std::size_t i) -> const void* { return other[i].object; });
}

void assign_values(const Values& into, const CopiedValues& from) {
  assert(into.size() == from.size());
  for (std::size_t i = 0; i < into.size(); ++i) into[i].type->assign(into[i].object, from[i].get());
}

}  // namespace ricci::tree
