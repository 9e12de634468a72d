// The bridge from an elementwise primitive to its loops. Included by files that define elementwise primitives; brings
// in the scalar words and the instruction set of the including file.
#pragma once

#include "ricci/primitive.h"
#include "ricci/primitive/loop.h"
#include "ricci/primitive/scalar.h"

namespace ricci::erase {

template <class P>
const LoopTable* loops_for() {
  static constexpr LoopTable table = loops_of<P>();
  return &table;
}

template <class... Kinds>
constexpr std::size_t count_of(OperandKinds<Kinds...>) {
  return sizeof...(Kinds);
}

template <class P, std::size_t count>
void check_operand_count() {
  constexpr std::size_t wanted = count_of(loop_detail::operand_kinds<P>());
  static_assert(wanted == count, "ricci: an elementwise operation takes as many tensors as its formula has arguments");
  static_assert(wanted <= max_loop_inputs, "ricci: a formula has at most ricci::max_loop_inputs arguments");
}

}  // namespace ricci::erase
