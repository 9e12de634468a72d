// What norms are made of: sums of squares and of sizes, and the greatest size.
#include "kernels/reduce_kinds.h"
#include "kernels/reduce_loop.h"

namespace ricci::kernels {
namespace {

template <class E>
RICCI_ALWAYS_INLINE Wide<E> size_of(Wide<E> x) {
  return abs(x);
}
template <class E>
RICCI_ALWAYS_INLINE Wide<E> size_of(Wide<std::complex<E>> x) {
  return modulus(x);
}

template <class T>
struct SumOfSquares : OneInput<T, accumulator<T>> {
  using A = real_of<accumulator<T>>;
  using W = Wide<A>;
  using Terms = Wide<accumulator<T>>;
  using Out = real_of<T>;
  W identity() const { return W(A(0)); }
  W first(Terms x) const { return square_of(x); }
  W add(W sum, Terms x) const { return add_square(sum, x); }
  W join(W a, W b) const { return a + b; }
  W finish(W total) const { return total; }
  W nothing() const { return identity(); }
};

template <class T>
struct SumOfAbs : OneInput<T, accumulator<T>> {
  using A = real_of<accumulator<T>>;
  using W = Wide<A>;
  using Terms = Wide<accumulator<T>>;
  using Out = real_of<T>;
  W identity() const { return W(A(0)); }
  W first(Terms x) const { return size_of(x); }
  W add(W sum, Terms x) const { return sum + size_of(x); }
  W join(W a, W b) const { return a + b; }
  W finish(W total) const { return total; }
  W nothing() const { return identity(); }
};

template <class T>
struct MaxAbs : SumOfAbs<T> {
  using typename SumOfAbs<T>::W;
  using typename SumOfAbs<T>::Terms;
  W add(W best, Terms x) const { return max(best, size_of(x)); }
  W join(W a, W b) const { return max(a, b); }
};

}  // namespace

void reduce_sum_of_squares(Strided out, Strided in, const bool* reduced) {
  visit_inexact(in.dtype,
                [&]<class T>(std::type_identity<T>) { reduce_with(SumOfSquares<T>(), out, in, nullptr, reduced); });
}
void reduce_sum_of_abs(Strided out, Strided in, const bool* reduced) {
  visit_inexact(in.dtype,
                [&]<class T>(std::type_identity<T>) { reduce_with(SumOfAbs<T>(), out, in, nullptr, reduced); });
}
void reduce_max_abs(Strided out, Strided in, const bool* reduced) {
  visit_inexact(in.dtype, [&]<class T>(std::type_identity<T>) { reduce_with(MaxAbs<T>(), out, in, nullptr, reduced); });
}

}  // namespace ricci::kernels
