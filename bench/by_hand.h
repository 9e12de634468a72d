// What loops written by hand share: vectors of the library's elements, rows of vectors to rows of memory, threads. Such
// loops are what a compiler of programs is measured by. They know the formulas of one workload each, derivatives
// included, and use the library's words for its mathematics, so that they compute with equal precision.
#pragma once

#include <ricci/ricci.h>

#include <utility>

#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scalar.h"

namespace bench::by_hand {

namespace scalar = ricci::scalar;
using scalar::Pack;

/// The library's formulas in line. Requires: |x| <= 1e5, of which sine and cosine see to it that the library's words
/// take another way beyond.
#if RICCI_PACK_FMA
namespace inlined = scalar::elementary;
#else
namespace inlined = scalar;
#endif

/// A new tensor's elements, to be written.
template <class E>
E* elements(ricci::Tensor& fresh) {
  return const_cast<E*>(fresh.data<E>());
}

/// a's and b's lanes in turn, from their lower or their upper halves.
template <bool Upper, class E>
Pack<E> interleave(Pack<E> a, Pack<E> b) {
  constexpr int lanes = Pack<E>::lanes;
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return Pack<E>(__builtin_shufflevector(a.v, b.v, ((Upper ? lanes / 2 : 0) + I / 2 + I % 2 * lanes)...));
  }(std::make_integer_sequence<int, lanes>{});
}

/// Lane l of vector k becomes lane k of vector l.
template <class E>
void transpose(Pack<E> (&x)[Pack<E>::lanes]) {
  constexpr int lanes = Pack<E>::lanes;
  for (int stage = 1; stage < lanes; stage *= 2) {
    Pack<E> y[lanes];
    for (int i = 0; i < lanes / 2; ++i) {
      y[2 * i] = interleave<false>(x[i], x[i + lanes / 2]);
      y[2 * i + 1] = interleave<true>(x[i], x[i + lanes / 2]);
    }
    for (int i = 0; i < lanes; ++i) x[i] = y[i];
  }
}

}  // namespace bench::by_hand
