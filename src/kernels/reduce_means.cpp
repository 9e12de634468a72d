// Means of floating and complex types.
#include "kernels/reduce.h"
#include "ricci/primitive/reduction_elements.h"

namespace ricci::kernels {
namespace {

template <class Elements>
struct Mean {
  using elements = Elements;
  static constexpr double start = -0.0, nothing = 0;
  template <class T>
  auto join(T a, T b) const {
    return a + b;
  }
  template <class T>
  auto finish(T total, T count) const {
    return total / count;
  }
};

/// 16-bit numbers whose mean keeps the type that it is added in.
struct HalfPrecision : reduction::Fields {
  template <class T>
  struct of : reduction::Fields::of<T> {
    using Out = accumulator<T>;
  };
  template <class F>
  static void visit(DType in, const F& f) {
    if (in == DType::float16) return f(std::type_identity<Half>{});
    f(std::type_identity<BFloat16>{});
  }
};

}  // namespace

void mean(Strided out, Strided in, const bool* reduced) {
  if (out.dtype == in.dtype) return reduce(Mean<reduction::Fields>(), out, in, nullptr, reduced);
  reduce(Mean<HalfPrecision>(), out, in, nullptr, reduced);
}

}  // namespace ricci::kernels
