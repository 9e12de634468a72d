// Sums of exponentials: logsumexp, softmax and its logarithm. Each subtracts the greatest element first. Where that is
// infinite, logsumexp subtracts 0, and all of a softmax is NaN.
#include <algorithm>
#include <cassert>
#include <cmath>

#include "kernels/elementwise.h"
#include "kernels/reduce.h"
#include "kernels/reduce_pieces.h"
#include "ricci/primitive/loop.h"
#include "ricci/primitive/reduction_elements.h"

namespace ricci::kernels {
namespace {

/// The sum of exp(x - y).
template <class T>
struct SumOfExp {
  static constexpr int inputs = 2;
  static constexpr bool symmetric = false;
  static constexpr bool heavy = true;
  using X = T;
  using Y = T;
  using A = accumulator<T>;
  using XLane = A;
  using YLane = A;
  using W = Wide<A>;
  using Out = A;
  W identity() const { return W(A(0)); }
  W first(W x, W shift) const { return exp(x - shift); }
  W add(W sum, W x, W shift) const { return sum + exp(x - shift); }
  W join(W a, W b) const { return a + b; }
  W finish(W total) const { return total; }
  W nothing() const { return identity(); }
};

// The elementwise passes between the sums.

struct FiniteOrZero {
  template <class T>
  auto formula(T x) const {
    return scalar::select(scalar::isfinite(x), x, T(0));
  }
};
struct LogPlus {
  template <class T>
  auto formula(T x, T y) const {
    return scalar::log(x) + y;
  }
};
struct Minus {
  template <class T>
  auto formula(T x, T y) const {
    return x - y;
  }
};
struct ExpOfDifference {
  template <class T>
  auto formula(T x, T y) const {
    return scalar::exp(x - y);
  }
};
struct Quotient {
  template <class T>
  auto formula(T x, T y) const {
    return x / y;
  }
};
struct MinusLog {
  template <class T>
  auto formula(T x, T y) const {
    return x - scalar::log(y);
  }
};

template <class Op, class... In>
void apply(Op op, const Strided& out, const In&... in) {
  static constexpr LoopTable table = loops_of<Op>();
  const Strided inputs[] = {in...};
  elementwise(table[out.dtype], &op, out, inputs, sizeof...(In));
}

/// The greatest element of each lane of `in`, or 0 where that is not finite.
template <class T>
void find_shifts(const Temporary<T>& shifts, const Strided& in, const bool* reduced) {
  greatest(shifts.view(), in, reduced);
  apply(FiniteOrZero(), shifts.view(), shifts.view());
}

template <class T>
void logsumexp_of(const Strided& out, const Strided& in, const bool* reduced) {
  const Temporary<T> shifts(in, reduced);
  find_shifts(shifts, in, reduced);
  const Strided shift = shifts.repeated();
  if constexpr (std::is_same_v<T, accumulator<T>>) {
    reduce_with(SumOfExp<T>(), out, in, &shift, reduced);
    apply(LogPlus(), out, out, shifts.view());
  } else {
    const Temporary<float> sums(in, reduced), wide_shifts(in, reduced);
    reduce_with(SumOfExp<T>(), sums.view(), in, &shift, reduced);
    copy(wide_shifts.view(), shifts.view());
    apply(LogPlus(), sums.view(), sums.view(), wide_shifts.view());
    copy(out, sums.view());
  }
}

/// f(slice of out, slice of in) for pieces of a kept axis.
template <class F>
void by_pieces(const Strided& out, const Strided& in, const bool* reduced, bool reduces, F f) {
  const Pieces pieces(in, reduced);
  pieces.for_each([&](std::int64_t i, std::int64_t size) {
    const Slice to(out, reduces ? pieces.kept_axis : pieces.axis, i, size), from(in, pieces.axis, i, size);
    f(to.view(), from.view());
  });
}

/// Requires: T is float or double; `terms` is in's shape.
template <class T, bool logarithm>
void softmax_of(const Strided& out, const Strided& terms, const Strided& in, const bool* reduced) {
  const Temporary<T> shifts(in, reduced), sums(in, reduced);
  greatest(shifts.view(), in, reduced);
  if constexpr (logarithm) {
    const Strided shift = shifts.repeated();
    reduce_with(SumOfExp<T>(), sums.view(), in, &shift, reduced);
    apply(Minus(), terms, in, shift);
    apply(MinusLog(), out, terms, sums.repeated());
  } else {
    apply(ExpOfDifference(), terms, in, shifts.repeated());
    sum(sums.view(), terms, reduced);
    apply(Quotient(), out, terms, sums.repeated());
  }
}

template <bool logarithm>
void softmax_along(const Strided& out, const Strided& in, int axis) {
  assert(out.dtype == in.dtype && is_floating(in.dtype));
  if (in.rank == 0) return fill(out, logarithm ? 0.0 : 1.0, 0.0);
  bool reduced[max_axes] = {};
  reduced[axis] = true;
  by_pieces(out, in, reduced, false, [&](const Strided& to, const Strided& from) {
    visit_floating(in.dtype, [&]<class T>(std::type_identity<T>) {
      const Temporary<accumulator<T>> terms(from, nullptr);
      if (terms.elements() == 0) return;
      if constexpr (std::is_same_v<T, accumulator<T>>)
        return softmax_of<T, logarithm>(to, terms.repeated(), from, reduced);
      copy(terms.repeated(), from);
      softmax_of<float, logarithm>(terms.repeated(), terms.repeated(), terms.repeated(), reduced);
      copy(to, terms.repeated());
    });
  });
}

}  // namespace

void logsumexp(Strided out, Strided in, const bool* reduced) {
  by_pieces(out, in, reduced, true, [&](const Strided& to, const Strided& from) {
    visit_floating(in.dtype, [&]<class T>(std::type_identity<T>) { logsumexp_of<T>(to, from, reduced); });
  });
}

void softmax(Strided out, Strided in, int axis) { softmax_along<false>(out, in, axis); }
void log_softmax(Strided out, Strided in, int axis) { softmax_along<true>(out, in, axis); }

}  // namespace ricci::kernels
