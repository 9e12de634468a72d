// Which elements a reduction takes, and its words as the loops run them. Knows nothing of tensors and rules. Start with
// `Words`; ricci/primitive/reduction.h says what a reduction is.
#pragma once

#include <limits>
#include <utility>

#include "ricci/primitive/accumulators.h"
#include "ricci/primitive/loop_table.h"
#include "ricci/primitive/reduction_loop.h"

namespace ricci {

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
struct Magnitudes {
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

/// What the loops load elements of P into.
template <class P>
using SampleWide = Wide<typename P::elements::template of<float>::Lane>;
template <class P>
concept HasTwoOperands = requires(const P& op, SampleWide<P> x) { op.term(x, x); };
template <class P>
inline constexpr bool is_symmetric = requires { P::symmetric; };

/// The words of a reduction, with those filled in that P leaves out. Its loops and its written form both use these.
template <class P>
struct Words {
  static_assert(requires { P::start; }, "ricci: a reduction needs `static constexpr double start`");
  const P& op;

  template <class X, class... Y>
  RICCI_ALWAYS_INLINE auto term(const X& x, const Y&... y) const {
    if constexpr (requires { op.term(x, y...); }) return op.term(x, y...);
    else return x;
  }
  template <class A>
  RICCI_ALWAYS_INLINE A join(const A& a, const A& b) const {
    static_assert(
        requires { op.join(a, b); }, "ricci: a reduction needs `template <class T> auto join(T a, T b) const`");
    return op.join(a, b);
  }
  template <class A, class... X>
  RICCI_ALWAYS_INLINE A add(const A& total, const X&... x) const {
    if constexpr (requires { op.add(total, x...); }) return op.add(total, x...);
    else return join(total, A(term(x...)));
  }
  template <class A>
  RICCI_ALWAYS_INLINE A finish(const A& total, const A& count) const {
    if constexpr (requires { op.finish(total, count); }) return op.finish(total, count);
    else if constexpr (requires { op.finish(total); }) return op.finish(total);
    else return total;
  }
  static constexpr double nothing() {
    if constexpr (requires { P::nothing; }) return P::nothing;
    else return P::start;
  }
};

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

  RICCI_ALWAYS_INLINE Words<P> words() const { return {*op}; }
  RICCI_ALWAYS_INLINE W identity() const { return W(as_element<A>(P::start)); }
  template <class... Elements>
  RICCI_ALWAYS_INLINE W first(Elements... x) const {
    return W(words().term(x...));
  }
  template <class... Elements>
  RICCI_ALWAYS_INLINE W add(W total, Elements... x) const {
    return words().add(total, x...);
  }
  RICCI_ALWAYS_INLINE W join(W a, W b) const { return words().join(a, b); }
  RICCI_ALWAYS_INLINE W finish(W total) const { return words().finish(total, W(A(static_cast<real_of<A>>(count)))); }
  W nothing() const { return W(as_element<A>(Words<P>::nothing())); }
};
template <class P, class T>
inline constexpr bool is_heavy<Reducing<P, T>> = requires { P::heavy; };

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

}  // namespace ricci
