// Whether any or all elements are not 0.
#include <complex>
#include <cstdint>

#include "kernels/reduce_bits.h"

namespace ricci::kernels {
namespace {

/// Bits of any element.
template <class E>
struct Any : OfBits<E, bool> {
  using W = Wide<E>;
  using OfBits<E, bool>::OfBits;
  W first(W x) const {
    return by_vector(x, this->bits, [](auto a, auto b) { return a & b; });
  }
  W add(W total, W x) const { return join(total, first(x)); }
  W join(W a, W b) const {
    return by_vector(a, b, [](auto x, auto y) { return x | y; });
  }
};

/// All bits, if any element is 0.
template <class E>
struct NotAll : Any<E> {
  using W = Wide<E>;
  using Any<E>::Any;
  W first(W x) const {
    return by_vector(x, this->bits, [](auto a, auto b) { return (a & b) == 0; });
  }
  W add(W total, W x) const { return this->join(total, first(x)); }
  W finish(W total) const {
    return by_vector(total, total, [](auto a, auto) { return a == 0; });
  }
};

struct AnyWord {
  using elements = reduction::Truths;
  static constexpr double start = 0;
  template <class T>
  auto join(T a, T b) const {
    return a || b;
  }
};
struct AllWord {
  using elements = reduction::Truths;
  static constexpr double start = 1;
  template <class T>
  auto join(T a, T b) const {
    return a && b;
  }
};
/// By Op<E>, where E has the size of an element; by Word where elements are larger than a lane.
template <template <class> class Op, class Word>
void reduce_bits(const Strided& out, const Strided& in, const bool* reduced) {
  switch (element_size(in.dtype)) {
    case 1: return reduce_with(Op<std::uint8_t>(in.dtype), out, in, nullptr, reduced);
    case 2: return reduce_with(Op<std::int16_t>(in.dtype), out, in, nullptr, reduced);
    case 4: return reduce_with(Op<std::int32_t>(in.dtype), out, in, nullptr, reduced);
    case 8: return reduce_with(Op<std::int64_t>(in.dtype), out, in, nullptr, reduced);
    default: break;
  }
  const Word word;
  reduce_with(Reducing<Word, std::complex<double>>{&word, 0}, out, in, nullptr, reduced);
}

}  // namespace

void any(Strided out, Strided in, const bool* reduced) { reduce_bits<Any, AnyWord>(out, in, reduced); }
void all(Strided out, Strided in, const bool* reduced) { reduce_bits<NotAll, AllWord>(out, in, reduced); }

}  // namespace ricci::kernels
