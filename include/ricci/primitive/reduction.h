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
// What may be left out:
//   term(x…)            what an element adds: x. With two arguments, the reduction takes two operands of one shape
//   add(total, x…)      join(total, term(x…)); a fused multiply-add is more exact and faster
//   finish(total)       total; finish(total, count) gets the number of elements too
//   nothing             the total of no elements: start
//   symmetric           term(x, y) is not term(y, x)
//
// Order of additions. A sum's bits depend on the sizes of the reduced axes and on which of them can be walked as one
// loop, not on the kept axes, on whether memory is contiguous along kept or reduced ones, or on the machine's vectors:
// a lane of a batch is summed as it would be alone. Only where several axes are reduced, and lie in another order in
// the lane's memory than in the batch's or merge differently, can the last bits differ. Partial sums are at most 16
// long and are joined four by four, so errors grow with the logarithm of the size.
#pragma once

#include <limits>
#include <string>
#include <utility>

#include "ricci/error.h"
#include "ricci/primitive.h"
#include "ricci/primitive/accumulators.h"
#include "ricci/primitive/formula.h"
#include "ricci/primitive/loop_table.h"
#include "ricci/primitive/reduction_loop.h"

namespace ricci {

/// The shape and type that are left when `axes` (non-negative, distinct) have been reduced. Throws like the checks of
/// axes.
Type without_axes(const Type& x, const Axes& axes, DType dtype);
/// The same axes of a tensor with one more axis in front.
Axes behind_batch(const Axes& axes);
/// Of each axis of a tensor of `rank` axes, whether it is reduced.
SmallVector<bool, 8> flags_of(const Axes& axes, int rank);

/// Which elements a reduction takes.
namespace reduction {

/// Numbers that are added: integers and booleans in int64, half precision in float and rounded once.
struct Summed {
  static constexpr DTypes dtypes = DTypes::floating | DTypes::complex | DTypes::integral | DTypes::boolean;
  static constexpr DType result(DType in) { return is_integral(in) ? DType::int64 : in; }
  template <class T>
  struct of {
    using X = T;
    using Lane = kernels::accumulator<T>;
    using A = Lane;
    using Out = kernels::sum_element<T>;
  };
  template <class F>
  static void visit(DType in, const F& f) {
    kernels::visit_numbers(in, f);
  }
};

/// Floating and complex numbers: the same without integers.
struct Fields : Summed {
  static constexpr DTypes dtypes = DTypes::floating | DTypes::complex;
  template <class F>
  static void visit(DType in, const F& f) {
    kernels::visit_inexact(in, f);
  }
};

/// Floating numbers.
struct Floating : Summed {
  static constexpr DTypes dtypes = DTypes::floating;
  template <class F>
  static void visit(DType in, const F& f) {
    kernels::visit_floating(in, f);
  }
};

/// Floating and complex numbers whose terms are real.
struct Sizes {
  static constexpr DTypes dtypes = Fields::dtypes;
  static constexpr DType result(DType in) { return real_dtype(in); }
  template <class T>
  struct of {
    using X = T;
    using Lane = kernels::accumulator<T>;
    using A = kernels::real_of<Lane>;
    using Out = kernels::real_of<T>;
  };
  template <class F>
  static void visit(DType in, const F& f) {
    kernels::visit_inexact(in, f);
  }
};

/// Real numbers that are compared: each in its own type.
struct Ordered {
  static constexpr DTypes dtypes = DTypes::floating | DTypes::integral | DTypes::boolean;
  static constexpr DType result(DType in) { return in; }
  template <class T>
  struct of {
    using X = T;
    using Lane = kernels::comparable<T>;
    using A = Lane;
    using Out = T;
  };
  template <class F>
  static void visit(DType in, const F& f) {
    kernels::visit_real(in, f);
  }
};

/// Elements of any type, as whether they are not 0. Totals are truth values; formulas have && and || for them.
struct Truths {
  static constexpr DTypes dtypes = Summed::dtypes;
  static constexpr DType result(DType) { return DType::boolean; }
  template <class T>
  struct of {
    using X = T;
    using Lane = bool;
    using A = bool;
    using Out = bool;
  };
  /// By a type that has the size and the zeros of `in`.
  template <class F>
  static void visit(DType in, const F& f) {
    switch (in) {
      case DType::boolean:
      case DType::uint8:
      case DType::int8: return f(std::type_identity<std::uint8_t>{});
      case DType::float16:
      case DType::bfloat16: return f(std::type_identity<BFloat16>{});
      default: return visit_dtype(in, f);
    }
  }
};

/// The same, as int64 1 and 0.
struct Counted : Truths {
  static constexpr DType result(DType) { return DType::int64; }
  template <class T>
  struct Truth {
    T value;
    explicit operator std::int64_t() const { return static_cast<bool>(value != T(0)); }
  };
  template <class T>
  struct of {
    using X = Truth<T>;
    using Lane = std::int64_t;
    using A = Lane;
    using Out = Lane;
  };
};

}  // namespace reduction

namespace kernels {
inline namespace RICCI_ISA {

/// A formula's number as an element: infinities are the limits of integers.
template <class A>
constexpr A as_element(double number) {
  if constexpr (std::is_integral_v<A> && !std::is_same_v<A, bool>) {
    if (number == std::numeric_limits<double>::infinity()) return std::numeric_limits<A>::max();
    if (number == -std::numeric_limits<double>::infinity()) return std::numeric_limits<A>::min();
    return static_cast<A>(number);
  } else if constexpr (is_complex_element<A>) {
    const auto part = static_cast<real_of<A>>(number);
    return {part, part == 0 ? part : 0};  // -0 in both parts: a sum must not lose the sign of one
  } else {
    return static_cast<A>(number);
  }
}

template <class P>
concept HasTwoOperands = requires(const P& op, scalar::Wide<float> x) { op.term(x, x); };
template <class P>
inline constexpr bool is_symmetric = requires { P::symmetric; };

/// A reduction P of elements of type T, as the loops want it.
template <class P, class T>
struct Reducing {
  using types = typename P::elements::template of<T>;
  static constexpr int inputs = HasTwoOperands<P> ? 2 : 1;
  static constexpr bool symmetric = is_symmetric<P>;
  using X = typename types::X;
  using Y = X;
  using XLane = typename types::Lane;
  using YLane = XLane;
  using A = typename types::A;
  using Out = typename types::Out;
  using W = Wide<A>;

  const P* op;
  std::int64_t count;  // of the elements of one result

  RICCI_ALWAYS_INLINE W identity() const { return W(as_element<A>(P::start)); }
  template <class... Elements>
  RICCI_ALWAYS_INLINE W first(Elements... x) const {
    if constexpr (requires { op->term(x...); }) return op->term(x...);
    else return W(x...);
  }
  template <class... Elements>
  RICCI_ALWAYS_INLINE W add(W total, Elements... x) const {
    if constexpr (requires { op->add(total, x...); }) return op->add(total, x...);
    else return op->join(total, first(x...));
  }
  RICCI_ALWAYS_INLINE W join(W a, W b) const { return op->join(a, b); }
  RICCI_ALWAYS_INLINE W finish(W total) const {
    if constexpr (requires { op->finish(total, total); })
      return op->finish(total, W(A(static_cast<real_of<A>>(count))));
    else if constexpr (requires { op->finish(total); }) return op->finish(total);
    else return total;
  }
  W nothing() const {
    if constexpr (requires { P::nothing; }) return W(as_element<A>(P::nothing));
    else return identity();
  }
};

/// Whether `x` repeats elements along a reduced axis.
inline bool repeats(const Strided& x, const bool* reduced) {
  for (int i = 0; i < x.rank; ++i)
    if (reduced[i] && x.shape[i] > 1 && x.strides[i] == 0) return true;
  return false;
}

/// out[kept axes] = the reduction of x, or of x and y, over the axes i with reduced[i].
/// Requires: `out` has the axes of x that are not reduced, in order, and the type that P::elements says; it overlaps no
/// operand. y has the shape and type of x. Any strides and sizes.
template <class P>
void reduce(const P& op, const Strided& out, Strided x, const Strided* y, const bool* reduced) {
  std::int64_t count = 1;
  for (int i = 0; i < x.rank; ++i) count *= reduced[i] ? x.shape[i] : 1;
  Strided second = y ? *y : x;
  if (is_symmetric<P> && y && repeats(x, reduced) && !repeats(second, reduced)) std::swap(x, second);
  P::elements::visit(x.dtype, [&]<class T>(std::type_identity<T>) {
    reduce_with(Reducing<P, T>{&op, count}, out, x, y ? &second : nullptr, reduced);
  });
}

}  // namespace RICCI_ISA
}  // namespace kernels

/// Runs a reduction over `axes` of its operands.
template <class P>
void reduce(const P& op, const Axes& axes, Outputs out, Inputs in) {
  kernels::reduce(op, out[0], in[0], kernels::HasTwoOperands<P> ? &in[1] : nullptr, flags_of(axes, in[0].rank).data());
}

/// The type of what is left of x. Throws like the checks of axes; TypeError for elements that P does not take.
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
  requires(std::is_same_v<typename P::elements, reduction::Truths>)
struct WrittenElement<P> {
  using type = Written::Mask;
};

template <class F>
Formula write_down(const F& f) {
  Formula formula;
  const Written::Writing writing(formula);
  formula.result = f().step();
  return formula;
}

/// What a reduction does, written down.
template <class P>
Accumulation accumulation_of(const void* parameters) {
  using T = typename WrittenElement<P>::type;
  const P& op = as<P>(parameters);
  constexpr int operands = kernels::HasTwoOperands<P> ? 2 : 1;
  const auto term = [&](const T& x, const auto&... y) {
    if constexpr (requires { op.term(x, y...); }) return op.term(x, y...);
    else return x;
  };
  const auto with_elements = [&](int from, const auto& f) {
    const T x = T::input(from);
    if constexpr (operands == 2) return f(x, T::input(from + 1));
    else return f(x);
  };
  Accumulation all{};
  all.start = all.nothing = P::start;
  all.operands = operands;
  if constexpr (requires { P::nothing; }) all.nothing = P::nothing;
  all.term = write_down([&] { return with_elements(0, term); });
  all.add = write_down([&] {
    const T total = T::input(0);
    return with_elements(1, [&](const auto&... x) {
      if constexpr (requires { op.add(total, x...); }) return op.add(total, x...);
      else return op.join(total, term(x...));
    });
  });
  all.join = write_down([&] {
    const T a = T::input(0);
    return op.join(a, T::input(1));
  });
  all.finish = write_down([&] {
    const T total = T::input(0);
    if constexpr (requires { op.finish(total, total); }) return op.finish(total, T::input(1));
    else if constexpr (requires { op.finish(total); }) return op.finish(total);
    else return total;
  });
  return all;
}

}  // namespace erase
}  // namespace ricci
