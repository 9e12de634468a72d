// How many elements are not 0.
#include <complex>
#include <cstdint>

#include "kernels/reduce_bits.h"

namespace ricci::kernels {
namespace {

/// Of 8 bytes.
struct Count : OfBits<std::int64_t, std::int64_t> {
  using OfBits<std::int64_t, std::int64_t>::OfBits;
  W first(W x) const { return add(identity(), x); }
  W add(W total, W x) const {
    // A comparison that holds is -1.
    return total - by_vector(x, bits, [](auto a, auto b) { return (a & b) != 0; });
  }
  W join(W a, W b) const { return a + b; }
};

/// Of other sizes: smaller elements are compared before they become lanes of 8 bytes.
struct CountWord {
  struct elements : reduction::Counted {
    template <class F>
    static void visit(DType in, const F& f) {
      switch (in) {
        case DType::float16:
        case DType::bfloat16: return f(std::type_identity<BFloat16>{});  // both have the same zeros
        case DType::int16: return f(std::type_identity<std::int16_t>{});
        case DType::int32: return f(std::type_identity<std::int32_t>{});
        case DType::float32: return f(std::type_identity<float>{});
        case DType::complex128: return f(std::type_identity<std::complex<double>>{});
        default: return f(std::type_identity<std::uint8_t>{});
      }
    }
  };
  static constexpr double start = 0;
  template <class T>
  auto join(T a, T b) const {
    return a + b;
  }
};

}  // namespace

void count_nonzero(Strided out, Strided in, const bool* reduced) {
  if (element_size(in.dtype) == 8) return reduce_with(Count(in.dtype), out, in, nullptr, reduced);
  reduce(CountWord(), out, in, nullptr, reduced);
}

}  // namespace ricci::kernels
