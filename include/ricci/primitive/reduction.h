// The bridge from a reduction to its loops. What a reduction makes of many elements is said once, in the words of
// formulas: the loops run it on vectors, and it can be written down for a compiler to read (`Accumulation`).
//
//   struct SumOfCubes {
//     using kind = ricci::Explicit;
//     using elements = ricci::reduction::Fields; // which it takes, and what they are added in
//     static constexpr const char* name = "sum_of_cubes";
//     static constexpr double start = 0;         // join(start, x) is x
//     ricci::Axes axes;
//
//     template <class T> auto term(T x) const { return x * x * x; }
//     template <class T> auto join(T a, T b) const { return a + b; }
//
//     ricci::Type type(const ricci::Type& x) const { return ricci::reduced_type(*this, axes, x); }
//     void eval(ricci::Outputs out, ricci::Inputs in) const { ricci::reduce(*this, axes, out, in); }
//     …                                          // its derivatives, as of any operation (ricci/primitive.h)
//   };
//
// The words are those of ricci/primitive/wide.h; comparisons and `select` are not among them. What may be left out:
//   term(x…)            what an element adds; else x. With two arguments, the reduction takes two operands of one shape
//   add(total, x…)      else join(total, term(x…)). A fused multiply-add is more exact and faster
//   finish(total)       the result, or finish(total, count) with the number of elements; else the total
//   nothing             the total of no elements; else start
//   symmetric           says that term(x, y) is term(y, x), so that loops may exchange the operands
//   heavy               says that a term takes many instructions (exp, log), so that threads share it sooner
//
// Order of additions. A sum's bits depend on the sizes of the reduced axes and on which of them can be walked as one
// loop, not on the kept axes, on whether memory is contiguous along kept or reduced ones, or on the machine's vectors:
// a lane of a batch is summed as it would be alone. Only where several axes are reduced, and lie in another order in
// the lane's memory than in the batch's or merge differently, can the last bits differ. Partial sums are at most 16
// long and are joined four by four, so errors grow with the logarithm of the size.
#pragma once

#include <string>

#include "ricci/error.h"
#include "ricci/primitive.h"
#include "ricci/primitive/formula.h"
#include "ricci/primitive/reduction_elements.h"

namespace ricci {

/// The shape and type that are left when `axes` (non-negative) have been reduced. IndexError if an axis is out of range
/// or repeated.
Type without_axes(const Type& x, const Axes& axes, DType dtype);
/// The same axes of a tensor with one more axis in front, for `lifted()`.
Axes behind_batch(const Axes& axes);
/// Of each axis of a tensor of `rank` axes, whether it is reduced.
SmallVector<bool, 8> is_reduced(const Axes& axes, int rank);

/// Runs a reduction over `axes` of its operands.
template <class P>
void reduce(const P& op, const Axes& axes, Outputs out, Inputs in) {
  kernels::reduce(op, out[0], in[0], kernels::HasTwoOperands<P> ? &in[1] : nullptr,
                  is_reduced(axes, in[0].rank).data());
}

/// The type of what is left of x. Throws what `without_axes` throws; TypeError for elements that P does not take.
template <class P>
Type reduced_type(const P&, const Axes& axes, const Type& x) {
  if (!P::elements::dtypes.has(x.dtype)) throw TypeError(std::string(P::name) + ": takes no " + to_string(x));
  return without_axes(x, axes, P::elements::result(x.dtype));
}

namespace erase {

template <class P>
struct WrittenElement {
  using type = Written;
};
template <class P>
  requires(std::is_same_v<typename P::elements::template of<float>::A, bool>)
struct WrittenElement<P> {
  using type = Written::Mask;
};

template <class F>
Formula write_down(const F& f) {
  Formula formula;
  Written::into(formula, [&] { formula.result = f().step(); });
  return formula;
}

/// What a reduction does, written down.
template <class P>
Accumulation accumulation_of(const void* parameters) {
  using T = typename WrittenElement<P>::type;
  const P& op = as<P>(parameters);
  constexpr int operands = kernels::HasTwoOperands<P> ? 2 : 1;
  const kernels::Words<P> words{op};
  const auto with_elements = [&](int from, const auto& f) {
    const T x = T::input(from);
    if constexpr (operands == 2) return f(x, T::input(from + 1));
    else return f(x);
  };
  Accumulation all{};
  all.start = P::start;
  all.nothing = words.nothing();
  all.operands = operands;
  all.term = write_down([&] { return with_elements(0, [&](const auto&... x) { return words.term(x...); }); });
  all.add = write_down([&] {
    const T total = T::input(0);
    return with_elements(1, [&](const auto&... x) { return words.add(total, x...); });
  });
  all.join = write_down([&] {
    const T a = T::input(0);
    return words.join(a, T::input(1));
  });
  all.finish = write_down([&] {
    const T total = T::input(0);
    return words.finish(total, T::input(1));
  });
  return all;
}

}  // namespace erase
}  // namespace ricci
