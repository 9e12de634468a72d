// Products of any element type by plain loops: integers, booleans, and small complex matrices.
// Knows nothing of registers or caches; the compiler vectorises the inner loop when it is contiguous.
#pragma once

#include <complex>
#include <type_traits>

#include "kernels/matmul_copy.h"
#include "kernels/matmul_product.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {

/// sum + x * y; integers wrap around, booleans are or and and.
template <class T>
T multiply_add(T sum, T x, T y) {
  if constexpr (std::is_same_v<T, bool>) {
    return sum | (x & y);
  } else if constexpr (std::is_integral_v<T>) {
    using Wide = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;
    return static_cast<T>(static_cast<Wide>(sum) + static_cast<Wide>(x) * static_cast<Wide>(y));
  } else if constexpr (std::is_floating_point_v<T>) {
    return sum + x * y;
  } else {  // complex, without std::complex's check for infinities
    return {sum.real() + (x.real() * y.real() - x.imag() * y.imag()),
            sum.imag() + (x.real() * y.imag() + x.imag() * y.real())};
  }
}

/// Requires: b is contiguous along n.
template <class T>
void multiply_row(T* __restrict c, std::int64_t c_step, const T* a, const Product<T>& p, const T* __restrict b) {
  if (p.accumulate == Accumulate::no) {
    for (std::int64_t j = 0; j < p.n(); ++j) c[j * c_step] = T{};
  }
  for (std::int64_t k = 0; k < p.k(); ++k) {
    const T x = a[k * p.a.col_stride];
    const T* __restrict row = b + k * p.b.row_stride;
    if (c_step == 1) {
      for (std::int64_t j = 0; j < p.n(); ++j) c[j] = multiply_add(c[j], x, row[j]);
    } else {
      for (std::int64_t j = 0; j < p.n(); ++j) c[j * c_step] = multiply_add(c[j * c_step], x, row[j]);
    }
  }
}

/// Computes every product of the batch. Any strides, any sizes.
template <class T>
void multiply_by_loops(const BatchedProduct<T>& batch) {
  const Product<T>& p = batch.product;
  if (p.c.row_stride == 1 && p.c.col_stride != 1 && p.m() > 1) return multiply_by_loops(batch.transposed());
  const bool pack = p.b.col_stride != 1 && p.n() > 1;
  const Scratch<T> memory(pack ? p.k() * p.n() : 0);
  Product<T> inner = p;
  if (pack) inner.b = {memory.data(), p.k(), p.n(), p.n(), 1};
  for_each_product(batch, [&](T* c, const T* a, const T* b) {
    if (pack) {
      copy_matrix(row_major(memory.data(), p.k(), p.n()), p.b.with(b));
      b = memory.data();
    }
    for (std::int64_t i = 0; i < p.m(); ++i) {
      multiply_row(c + i * p.c.row_stride, p.c.col_stride, a + i * p.a.row_stride, inner, b);
    }
  });
}

}  // namespace ricci::kernels
