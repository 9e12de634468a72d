// The bridge from an elementwise primitive to its loops. Included by files that define elementwise primitives; brings
// in the scalar words and the instruction set of the including file.
#pragma once

#include <tuple>

#include "ricci/primitive.h"
#include "ricci/primitive/exact.h"
#include "ricci/primitive/formula.h"
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

template <class Kind>
auto exact_operand(const Exact& x) {
  if constexpr (std::is_same_v<Kind, Boolean>) return scalar::is_true(x);
  else return x;
}

template <class P, class... Kinds, std::size_t... I>
void exact_value(const P& op, const Exact* x, ExactValue& y, OperandKinds<Kinds...>, std::index_sequence<I...>) {
  if constexpr (requires { op.exact(exact_operand<Kinds>(x[I])...); })
    y.value = op.exact(exact_operand<Kinds>(x[I])...);
  else y.value = op.formula(exact_operand<Kinds>(x[I])...);
  if constexpr (requires { op.unit(exact_operand<Kinds>(x[I])...); }) y.unit = op.unit(exact_operand<Kinds>(x[I])...);
  else y.unit = Exact(0);
}

/// What the operation should give for x: `exact` of the struct, or its formula.
template <class P>
void exact_of(const void* op, const Exact* x, ExactValue& y) {
  using Kinds = decltype(loop_detail::operand_kinds<P>());
  exact_value(as<P>(op), x, y, Kinds(), std::make_index_sequence<count_of(Kinds())>());
}

template <class Kind>
auto written_operand(std::size_t i) {
  if constexpr (std::is_same_v<Kind, Boolean>) return Written::Mask::input(static_cast<int>(i));
  else return Written::input(static_cast<int>(i));
}

template <class P, class... Kinds, std::size_t... I>
void write_formula(const P& op, Formula& formula, OperandKinds<Kinds...>, std::index_sequence<I...>) {
  Written::into(formula, [&] {
    const std::tuple operands{written_operand<Kinds>(I)...};  // in order
    formula.result = op.formula(std::get<I>(operands)...).step();
  });
}

/// The operation's formula, its parameters being numbers.
template <class P>
Formula formula_of(const void* op) {
  using Kinds = decltype(loop_detail::operand_kinds<P>());
  Formula formula;
  write_formula(as<P>(op), formula, Kinds(), std::make_index_sequence<count_of(Kinds())>());
  return formula;
}

template <class P, std::size_t count>
void check_operand_count() {
  constexpr std::size_t wanted = count_of(loop_detail::operand_kinds<P>());
  static_assert(wanted == count, "ricci: an elementwise operation takes as many tensors as its formula has arguments");
  static_assert(wanted <= max_loop_inputs, "ricci: a formula has at most ricci::max_loop_inputs arguments");
}

}  // namespace ricci::erase
