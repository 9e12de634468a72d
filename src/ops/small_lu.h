// Gaussian elimination with partial pivoting of one small matrix over a scalar type, as the kernels of small batches do
// it: rows are exchanged by selection. Knows no operation.
#pragma once

#include <cstdint>

#include "ricci/primitive/scalar.h"

namespace ricci {

/// `a(i, k)`: an element of [n, n], which becomes its factors. What stands beside the matrix takes part:
/// `exchange(here, j, i)` exchanges rows j and i where `here` holds, `subtract(factor, j, i)` takes factor times row j
/// from row i. `divisor(pivot)`: what a row below is divided by. Gives -1 for each exchange, multiplied.
template <class T, class Matrix, class Exchange, class Subtract, class Divisor>
T eliminate(std::int64_t n, const Matrix& a, const Exchange& exchange, const Subtract& subtract,
            const Divisor& divisor) {
  T sign(1);
  for (std::int64_t j = 0; j < n; ++j) {
    T row(j), largest = scalar::abs(a(j, j));
    for (std::int64_t i = j + 1; i < n; ++i) {
      const T size = scalar::abs(a(i, j));
      const auto is_larger = scalar::greater(size, largest);
      row = scalar::select(is_larger, T(i), row);
      largest = scalar::select(is_larger, size, largest);
    }
    for (std::int64_t i = j + 1; i < n; ++i) {
      const auto here = scalar::equal(row, T(i));
      for (std::int64_t k = 0; k < n; ++k) {
        const T upper = a(j, k), lower = a(i, k);
        a(j, k) = scalar::select(here, lower, upper);
        a(i, k) = scalar::select(here, upper, lower);
      }
      exchange(here, j, i);
    }
    if (j + 1 < n) sign = scalar::select(scalar::equal(row, T(j)), sign, -sign);
    const T pivot = divisor(a(j, j));
    for (std::int64_t i = j + 1; i < n; ++i) {
      const T factor = a(i, j) / pivot;
      for (std::int64_t k = j + 1; k < n; ++k) a(i, k) = scalar::fma(-factor, a(j, k), a(i, k));
      subtract(factor, j, i);
    }
  }
  return sign;
}

}  // namespace ricci
