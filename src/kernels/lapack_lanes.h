// Factorisation and solution of as many small systems as a register has lanes, all at once. A matrix of n rows is an
// array of n * n registers, row-major. Knows nothing of where the matrices come from.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/matmul_lanes.h"

namespace ricci::kernels {

/// The most rows or columns that a matrix has here.
inline constexpr int most_of_small = 32;

/// Integers as wide as T, one per lane; also what comparing registers of T gives: all bits set or none.
template <class T>
using LaneIndex = Lanes<std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>, max_lanes<T>>;
template <class T>
using Register = Lanes<T, max_lanes<T>>;

/// from - x * y
template <class T>
Register<T> subtract(Register<T> from, Register<T> x, Register<T> y) {
  return fused<T, max_lanes<T>>(-x, y, from);
}

template <class Mask>
bool any_lane(const Mask& mask) {
  std::int64_t words[sizeof(Mask) / 8];
  std::memcpy(words, &mask, sizeof(Mask));
  std::int64_t any = 0;
  for (std::int64_t word : words) any |= word;
  return any != 0;
}

/// Replaces the lower triangle by the factor. info: 0, or the first bad minor counted from 1.
template <class T>
void cholesky_lanes(Register<T>* a, int n, LaneIndex<T>& info) {
  info = LaneIndex<T>{};
  for (int j = 0; j < n; ++j) {
    const Register<T> pivot = a[j * n + j];
    const LaneIndex<T> bad = ~(pivot > T(0)) & (info == 0);  // not greater: nan is bad too
    info = bad ? LaneIndex<T>{} + (j + 1) : info;
    const Register<T> root = square_root<T>(pivot), inverse = T(1) / root;
    a[j * n + j] = root;
    for (int i = j + 1; i < n; ++i) a[i * n + j] *= inverse;
    for (int i = j + 1; i < n; ++i) {
      const Register<T> factor = a[i * n + j];
      for (int k = j + 1; k <= i; ++k) a[i * n + k] = subtract<T>(a[i * n + k], factor, a[k * n + j]);
    }
  }
}

template <class T>
void exchange_where(LaneIndex<T> mask, Register<T>* x, Register<T>* y, int count) {
  for (int i = 0; i < count; ++i) {
    const Register<T> old = x[i];
    x[i] = mask ? y[i] : old;
    y[i] = mask ? old : y[i];
  }
}

template <class T>
LaneIndex<T> largest_below(const Register<T>* a, int n, int j) {
  LaneIndex<T> row = LaneIndex<T>{} + j;
  Register<T> largest = a[j * n + j] < T(0) ? -a[j * n + j] : a[j * n + j];
  for (int i = j + 1; i < n; ++i) {
    const Register<T> x = a[i * n + j], size = x < T(0) ? -x : x;
    row = size > largest ? LaneIndex<T>{} + i : row;
    largest = size > largest ? size : largest;
  }
  return row;
}

/// Replaces a by its factors; pivots are counted from 0. info: 0, or the first zero pivot counted from 1.
template <class T>
void lu_lanes(Register<T>* a, LaneIndex<T>* pivots, int n, LaneIndex<T>& info) {
  info = LaneIndex<T>{};
  for (int j = 0; j < n; ++j) {
    pivots[j] = largest_below<T>(a, n, j);
    for (int i = j + 1; i < n; ++i) {
      const LaneIndex<T> here = pivots[j] == i;
      if (any_lane(here)) exchange_where<T>(here, a + j * n, a + i * n, n);
    }
    const LaneIndex<T> zero = a[j * n + j] == T(0);
    info = (zero & (info == 0)) ? LaneIndex<T>{} + (j + 1) : info;
    const Register<T> pivot = zero ? Register<T>{} + T(1) : a[j * n + j];
    for (int i = j + 1; i < n; ++i) {
      const Register<T> factor = a[i * n + j] / pivot;
      a[i * n + j] = factor;
      for (int k = j + 1; k < n; ++k) a[i * n + k] = subtract<T>(a[i * n + k], factor, a[j * n + k]);
    }
  }
}

/// Exchanges the rows of b [n, r] as the pivots say, from the first to the last or back.
template <class T>
void exchange_lanes(Register<T>* b, const LaneIndex<T>* pivots, int n, int r, bool back) {
  for (int step = 0; step < n; ++step) {
    const int j = back ? n - 1 - step : step;
    for (int i = j + 1; i < n; ++i) {
      const LaneIndex<T> here = pivots[j] == i;
      if (any_lane(here)) exchange_where<T>(here, b + j * r, b + i * r, r);
    }
  }
}

/// Replaces b [n, r] by the solution of a x = b, or aᵀ x = b if transposed; a is the given triangle.
template <class T>
void triangular_lanes(const Register<T>* a, Register<T>* b, int n, int r, bool upper, bool transposed, bool unit) {
  const int row_step = transposed ? 1 : n, col_step = transposed ? n : 1;
  const bool forward = upper == transposed;
  for (int step = 0; step < n; ++step) {
    const int k = forward ? step : n - 1 - step;
    if (!unit) {
      for (int c = 0; c < r; ++c) b[k * r + c] /= a[k * n + k];
    }
    const int first = forward ? k + 1 : 0, last = forward ? n : k;
    for (int i = first; i < last; ++i) {
      const Register<T> factor = a[i * row_step + k * col_step];
      for (int c = 0; c < r; ++c) b[i * r + c] = subtract<T>(b[i * r + c], factor, b[k * r + c]);
    }
  }
}

/// Replaces a [m, n] by R and, below it, the reflections, as LAPACK's geqrf leaves them: I - scale v vᵀ, where v begins
/// with a 1 that is not stored. Gives the lanes where a norm may over- or underflow or an element is not finite, which
/// then hold anything.
template <class T>
LaneIndex<T> qr_lanes(Register<T>* a, Register<T>* scales, int m, int n) {
  constexpr T least = sizeof(T) == 4 ? T(1e-26) : T(1e-280), most = sizeof(T) == 4 ? T(1e34) : T(1e300);
  LaneIndex<T> unsafe{};
  Register<T> products[most_of_small];
  for (int k = 0; k < std::min(m, n); ++k) {
    Register<T> square{};
    LaneIndex<T> is_zero = ~LaneIndex<T>{};  // below the diagonal
    for (int i = k + 1; i < m; ++i) {
      const Register<T> x = a[i * n + k];
      square = fused<T, max_lanes<T>>(x, x, square);
      is_zero &= x == T(0);
    }
    const Register<T> diagonal = a[k * n + k], all = fused<T, max_lanes<T>>(diagonal, diagonal, square);
    unsafe |= ~is_zero & ~((all >= least) & (all <= most));  // nan is unsafe too
    const Register<T> norm = square_root<T>(all);
    LaneIndex<T> bits;
    std::memcpy(&bits, &diagonal, sizeof bits);
    const Register<T> image = is_zero ? diagonal : bits < 0 ? norm : -norm;
    scales[k] = is_zero ? Register<T>{} : (image - diagonal) / image;
    const Register<T> inverse = is_zero ? Register<T>{} : T(1) / (diagonal - image);
    a[k * n + k] = image;
    for (int j = k + 1; j < n; ++j) products[j] = a[k * n + j];
    for (int i = k + 1; i < m; ++i) {
      const Register<T> v = a[i * n + k] *= inverse;
      for (int j = k + 1; j < n; ++j) products[j] = fused<T, max_lanes<T>>(v, a[i * n + j], products[j]);
    }
    for (int j = k + 1; j < n; ++j) a[k * n + j] -= products[j] *= scales[k];
    for (int i = k + 1; i < m; ++i) {
      const Register<T> v = a[i * n + k];
      for (int j = k + 1; j < n; ++j) a[i * n + j] = subtract<T>(a[i * n + j], v, products[j]);
    }
  }
  for (int i = 0; i < m * n; ++i) unsafe |= ~(a[i] - a[i] == T(0));  // what is not finite takes LAPACK's way
  return unsafe;
}

/// The first columns of Q, q [m, columns], by the reflections that `qr_lanes` leaves in a [m, n].
template <class T>
void reflections_lanes(const Register<T>* a, const Register<T>* scales, Register<T>* q, int m, int n, int columns) {
  Register<T> products[most_of_small];
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < columns; ++j) q[i * columns + j] = Register<T>{} + T(i == j ? 1 : 0);
  for (int k = std::min({m, n, columns}) - 1; k >= 0; --k) {
    for (int j = k + 1; j < columns; ++j) products[j] = Register<T>{};
    for (int i = k + 1; i < m; ++i) {
      const Register<T> v = a[i * n + k];
      for (int j = k + 1; j < columns; ++j) products[j] = fused<T, max_lanes<T>>(v, q[i * columns + j], products[j]);
    }
    for (int j = k + 1; j < columns; ++j) q[k * columns + j] = -(products[j] *= scales[k]);
    q[k * columns + k] = T(1) - scales[k];
    for (int i = k + 1; i < m; ++i) {
      const Register<T> v = a[i * n + k];
      q[i * columns + k] = -scales[k] * v;
      for (int j = k + 1; j < columns; ++j) q[i * columns + j] = subtract<T>(q[i * columns + j], v, products[j]);
    }
  }
}

}  // namespace ricci::kernels
