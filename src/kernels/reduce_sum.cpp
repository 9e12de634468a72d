// Sums, means and products.
#include "kernels/reduce_kinds.h"
#include "kernels/reduce_loop.h"

namespace ricci::kernels {
namespace {

/// The sum, or with a count the mean.
template <class T, class Result = sum_element<T>>
struct Sum : OneInput<T, accumulator<T>> {
  using A = accumulator<T>;
  using W = Wide<A>;
  using Out = Result;

  A count = A(0);

  W identity() const { return W(negative_zero<A>); }
  W first(W x) const { return x; }
  W add(W sum, W x) const { return sum + x; }
  W join(W a, W b) const { return a + b; }
  W finish(W total) const {
    if constexpr (!std::is_integral_v<A>) {
      if (count != A(0)) return total / W(count);
    }
    return total;
  }
  W nothing() const { return W(A(0)); }
};

template <class T>
struct Product : OneInput<T, accumulator<T>> {
  using A = accumulator<T>;
  using W = Wide<A>;
  using Out = sum_element<T>;
  W identity() const { return W(A(1)); }
  W first(W x) const { return x; }
  W add(W product, W x) const { return product * x; }
  W join(W a, W b) const { return a * b; }
  W finish(W total) const { return total; }
  W nothing() const { return identity(); }
};

template <class Result, class T>
void mean_of(Strided out, Strided in, const bool* reduced) {
  using R = real_of<accumulator<T>>;
  std::int64_t count = 1;
  for (int i = 0; i < in.rank; ++i) count *= reduced[i] ? in.shape[i] : 1;
  Sum<T, Result> mean;
  mean.count = count > 0 ? static_cast<R>(count) : std::numeric_limits<R>::quiet_NaN();
  reduce_with(mean, out, in, nullptr, reduced);
}

}  // namespace

void reduce_sum(Strided out, Strided in, const bool* reduced) {
  visit_numbers(in.dtype, [&]<class T>(std::type_identity<T>) { reduce_with(Sum<T>(), out, in, nullptr, reduced); });
}

void reduce_mean(Strided out, Strided in, const bool* reduced) {
  visit_inexact(in.dtype, [&]<class T>(std::type_identity<T>) { mean_of<T, T>(out, in, reduced); });
}

void reduce_unrounded_mean(Strided out, Strided in, const bool* reduced) {
  visit_inexact(in.dtype, [&]<class T>(std::type_identity<T>) { mean_of<accumulator<T>, T>(out, in, reduced); });
}

void reduce_prod(Strided out, Strided in, const bool* reduced) {
  visit_numbers(in.dtype,
                [&]<class T>(std::type_identity<T>) { reduce_with(Product<T>(), out, in, nullptr, reduced); });
}

}  // namespace ricci::kernels
