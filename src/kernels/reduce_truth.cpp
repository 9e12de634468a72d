// Whether any or all elements are not 0, and how many are not.
#include "kernels/reduce_kinds.h"
#include "kernels/reduce_loop.h"

namespace ricci::kernels {
namespace {

/// Whether any element is not 0; or, inverted before and after, whether all are not.
template <class T>
struct Any : OneInput<T, bool> {
  using A = bool;
  using W = Wide<bool>;
  using Out = bool;

  bool inverted;

  explicit Any(bool inverted) : inverted(inverted) {}
  W identity() const { return W(false); }
  W first(W x) const { return x - W(inverted); }  // on booleans, + is or and - is exclusive or
  W add(W sum, W x) const { return sum + first(x); }
  W join(W a, W b) const { return a + b; }
  W finish(W total) const { return total - W(inverted); }
  W nothing() const { return identity(); }
};

/// An element that counts as 1 unless it is 0.
template <class T>
struct Truth {
  T value;
  explicit operator std::int64_t() const { return static_cast<bool>(value != T(0)); }
};

template <class T>
struct CountNonzero : OneInput<Truth<T>, std::int64_t> {
  using A = std::int64_t;
  using W = Wide<A>;
  using Out = A;
  W identity() const { return W(A(0)); }
  W first(W x) const { return x; }
  W add(W sum, W x) const { return sum + x; }
  W join(W a, W b) const { return a + b; }
  W finish(W total) const { return total; }
  W nothing() const { return identity(); }
};

/// Calls f(std::type_identity<T>{}) with a type that shares its size and its zeros with `dtype`.
template <class F>
void visit_by_zero(DType dtype, F&& f) {
  switch (dtype) {
    case DType::boolean:
    case DType::uint8:
    case DType::int8: return f(std::type_identity<std::uint8_t>{});
    case DType::float16:
    case DType::bfloat16: return f(std::type_identity<BFloat16>{});
    default: return visit_dtype(dtype, f);
  }
}

}  // namespace

void reduce_any(Strided out, Strided in, const bool* reduced) {
  visit_by_zero(in.dtype,
                [&]<class T>(std::type_identity<T>) { reduce_with(Any<T>(false), out, in, nullptr, reduced); });
}
void reduce_all(Strided out, Strided in, const bool* reduced) {
  visit_by_zero(in.dtype,
                [&]<class T>(std::type_identity<T>) { reduce_with(Any<T>(true), out, in, nullptr, reduced); });
}
void reduce_count_nonzero(Strided out, Strided in, const bool* reduced) {
  visit_by_zero(in.dtype,
                [&]<class T>(std::type_identity<T>) { reduce_with(CountNonzero<T>(), out, in, nullptr, reduced); });
}

}  // namespace ricci::kernels
