// Greatest and smallest elements.
#include "kernels/reduce_kinds.h"
#include "kernels/reduce_loop.h"

namespace ricci::kernels {
namespace {

template <class A>
constexpr A lowest() {
  if constexpr (std::is_floating_point_v<A>) return -std::numeric_limits<A>::infinity();
  else return std::numeric_limits<A>::min();
}
template <class A>
constexpr A highest() {
  if constexpr (std::is_floating_point_v<A>) return std::numeric_limits<A>::infinity();
  else return std::numeric_limits<A>::max();
}

template <class T>
struct Max : OneInput<T, comparable<T>> {
  using A = comparable<T>;
  using W = Wide<A>;
  using Out = T;
  W identity() const { return W(lowest<A>()); }
  W first(W x) const { return x; }
  W add(W best, W x) const { return max(best, x); }
  W join(W a, W b) const { return max(a, b); }
  W finish(W total) const { return total; }
  W nothing() const { return identity(); }
};

template <class T>
struct Min : OneInput<T, comparable<T>> {
  using A = comparable<T>;
  using W = Wide<A>;
  using Out = T;
  W identity() const { return W(highest<A>()); }
  W first(W x) const { return x; }
  W add(W best, W x) const { return min(best, x); }
  W join(W a, W b) const { return min(a, b); }
  W finish(W total) const { return total; }
  W nothing() const { return identity(); }
};

}  // namespace

void reduce_max(Strided out, Strided in, const bool* reduced) {
  visit_real(in.dtype, [&]<class T>(std::type_identity<T>) { reduce_with(Max<T>(), out, in, nullptr, reduced); });
}
void reduce_min(Strided out, Strided in, const bool* reduced) {
  visit_real(in.dtype, [&]<class T>(std::type_identity<T>) { reduce_with(Min<T>(), out, in, nullptr, reduced); });
}

}  // namespace ricci::kernels
