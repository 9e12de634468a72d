// What asks only whether elements are not 0. An element counts as its bits, of which the sign of a floating number is
// left out: so there is one loop for all types of one size.
#pragma once

#include <cstdint>

#include "kernels/reduce.h"
#include "ricci/primitive/reduction_elements.h"

namespace ricci::kernels {
namespace {

/// The bits of an element of a type that make it differ from 0; of complex64, in both parts.
std::int64_t bits_of_size(DType dtype) {
  switch (dtype) {
    case DType::float16:
    case DType::bfloat16: return 0x7fff;
    case DType::float32: return 0x7fff'ffff;
    case DType::float64: return 0x7fff'ffff'ffff'ffff;
    case DType::complex64: return 0x7fff'ffff'7fff'ffff;
    default: return -1;
  }
}

template <class E, class F>
RICCI_ALWAYS_INLINE Wide<E> by_vector(Wide<E> a, Wide<E> b, F f) {
  using Vector = typename scalar::Pack<E>::vector;
  for (int i = 0; i < Wide<E>::parts; ++i) a.part[i].v = (Vector)f(a.part[i].v, b.part[i].v);
  return a;
}

/// What these reductions have in common: elements with the bits of E, which are lanes, too.
template <class E, class Result>
struct OfBits {
  static constexpr int inputs = 1;
  static constexpr bool symmetric = false;
  using X = E;
  using Y = E;
  using XLane = E;
  using YLane = E;
  using A = E;
  using Out = Result;
  using W = Wide<A>;

  W bits;  // those that count

  explicit OfBits(DType dtype) : bits(static_cast<A>(bits_of_size(dtype))) {}
  W identity() const { return W(A(0)); }
  W nothing() const { return identity(); }
  W finish(W total) const { return total; }
};

}  // namespace
}  // namespace ricci::kernels
