// Halves the system until its matrix is small: solve one half, subtract its product from the other half, solve that.
// Small ones go unknown by unknown, in the order and with the operations of lapack_lanes.h, so that a batch of systems
// that fill the lanes there and one that does not have the same bits.
#include "kernels/lapack_substitution.h"

#include <complex>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "kernels/machine.h"
#include "kernels/matmul.h"
#include "kernels/matmul_copy.h"
#include "kernels/matmul_lanes.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

constexpr std::int64_t small = 32;  // rows, up to which batches go through the lanes

/// op(a), but for the conjugation.
template <class T>
struct Triangle {
  Matrix<const T> matrix;
  bool is_lower, is_unit, is_conjugate;

  Triangle diagonal(std::int64_t begin, std::int64_t rows) const {
    return {matrix.part(begin, rows, begin, rows), is_lower, is_unit, is_conjugate};
  }
  T operator()(std::int64_t i, std::int64_t j) const {
    if constexpr (std::is_floating_point_v<T>) return matrix(i, j);
    else return is_conjugate ? std::conj(matrix(i, j)) : matrix(i, j);
  }
};

template <class T>
class View {
 public:
  explicit View(const Matrix<T>& x)
      : shape_{x.rows, x.cols},
        strides_{x.row_stride, x.col_stride},
        strided_{const_cast<std::remove_const_t<T>*>(x.data), dtype_of<std::remove_const_t<T>>, 2, shape_, strides_} {}
  View(const View&) = delete;
  const Strided& strided() const { return strided_; }

 private:
  std::int64_t shape_[2], strides_[2];
  Strided strided_;
};

/// The matrix times -1, in `memory`.
template <class T, class Element>
Matrix<T> negative(std::int64_t rows, std::int64_t cols, T* memory, const Element& element) {
  const Matrix<T> minus = row_major(memory, rows, cols);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j) minus(i, j) = -element(i, j);
  return minus;
}

/// to -= a x, where a is the part of op(a) from (row, col) on. Either factor may carry the sign.
template <class T>
void subtract_product(const Matrix<T>& to, const Triangle<T>& a, std::int64_t row, std::int64_t col,
                      const Matrix<T>& x) {
  const std::int64_t rows = to.rows, inner = x.rows;
  const bool copies_a = a.is_conjugate || x.cols > rows;
  const Scratch<T> memory(copies_a ? rows * inner : inner * x.cols);
  if (copies_a) {
    const auto minus = negative(rows, inner, memory.data(), [&](auto i, auto j) { return a(row + i, col + j); });
    return matmul(View(to).strided(), View(minus).strided(), View(x).strided(), Accumulate::yes);
  }
  const auto minus = negative(inner, x.cols, memory.data(), [&](auto i, auto j) { return x(i, j); });
  matmul(View(to).strided(), View(a.matrix.part(row, rows, col, inner)).strided(), View(minus).strided(),
         Accumulate::yes);
}

/// to[j] -= factor * from[j]
template <class T>
void subtract_row(T* to, T factor, const T* from, std::int64_t count) {
  constexpr int N = max_lanes<T>;
  const Lanes<T, N> minus = splat<N>(-factor);
  if (count == 1) {  // without the masks, whose stores are slow to be read back
    *to = fused<T, N>(minus, splat<N>(*from), splat<N>(*to))[0];
    return;
  }
  std::int64_t j = 0;
  for (; j + N <= count; j += N) store<N, T>(to + j, fused<T, N>(minus, load<N>(from + j), load<N>(to + j)));
  if (const int left = static_cast<int>(count - j); left > 0)
    store_first<N, T>(to + j, fused<T, N>(minus, load_first<N>(from + j, left), load_first<N>(to + j, left)), left);
}

template <class T, int N>
Lanes<T, N> swap_neighbours(Lanes<T, N> x) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return __builtin_shufflevector(x, x, static_cast<int>(I ^ 1)...);
  }(std::make_index_sequence<N>{});
}

/// Real and imaginary parts side by side in the lanes: first the products by the factor's real part are subtracted,
/// then those by its imaginary part. A compiler's own choice would depend on how many there are.
template <class T>
void subtract_row(std::complex<T>* to, std::complex<T> factor, const std::complex<T>* from, std::int64_t count) {
  const auto subtract = [&]<int N>(Lanes<T, N> y, Lanes<T, N> x) {
    Lanes<T, N> imag;
    for (int i = 0; i < N; ++i) imag[i] = i % 2 == 0 ? factor.imag() : -factor.imag();
    return fused<T, N>(imag, swap_neighbours<T, N>(x), fused<T, N>(splat<N>(-factor.real()), x, y));
  };
  if (count == 1) {
    constexpr int N = 16 / sizeof(T);
    const Lanes<T, N> y = {to->real(), to->imag()}, x = {from->real(), from->imag()};
    const Lanes<T, N> result = subtract.template operator()<N>(y, x);
    *to = {result[0], result[1]};
    return;
  }
  constexpr int N = max_lanes<T>;
  T* const y = reinterpret_cast<T*>(to);
  const T* const x = reinterpret_cast<const T*>(from);
  std::int64_t j = 0;
  for (; j + N <= 2 * count; j += N)
    store<N, T>(y + j, subtract.template operator()<N>(load<N>(y + j), load<N>(x + j)));
  if (const int left = static_cast<int>(2 * count - j); left > 0)
    store_first<N, T>(y + j, subtract.template operator()<N>(load_first<N>(y + j, left), load_first<N>(x + j, left)),
                      left);
}

/// Requires: x has contiguous rows.
template <class T>
void solve_small(const Matrix<T>& x, const Triangle<T>& a) {
  const std::int64_t n = x.rows;
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t k = a.is_lower ? step : n - 1 - step;
    T* const row = x.data + k * x.row_stride;
    if (!a.is_unit) {
      const T pivot = a(k, k);
      for (std::int64_t j = 0; j < x.cols; ++j) row[j] /= pivot;
    }
    for (std::int64_t i = a.is_lower ? k + 1 : 0, last = a.is_lower ? n : k; i < last; ++i)
      subtract_row(x.data + i * x.row_stride, a(i, k), row, x.cols);
  }
}

template <class T>
void solve(const Matrix<T>& x, const Triangle<T>& a) {
  if (x.rows <= small) return solve_small(x, a);
  const std::int64_t top = (x.rows / 2 + small - 1) / small * small, bottom = x.rows - top;
  const Matrix<T> above = x.part(0, top, 0, x.cols), below = x.part(top, bottom, 0, x.cols);
  if (a.is_lower) {
    solve(above, a.diagonal(0, top));
    subtract_product(below, a, top, 0, above);
    solve(below, a.diagonal(top, bottom));
  } else {
    solve(below, a.diagonal(top, bottom));
    subtract_product(above, a, 0, top, below);
    solve(above, a.diagonal(0, top));
  }
}

}  // namespace

template <class T>
void substitute(const Matrix<T>& x, const Matrix<const T>& a, TriangularKind kind) {
  const bool is_transposed = kind.op != 'N';
  const Triangle<T> triangle = {is_transposed ? a.transposed() : a, kind.upper == is_transposed, kind.unit,
                                kind.op == 'C'};
  constexpr std::int64_t most_columns = 512;  // that stay in the second level cache
  const double multiply_adds = 0.5 * static_cast<double>(a.rows * a.rows);
  parallel_for({x.cols, 0.02 * multiply_adds, 16}, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = begin; j < end; j += most_columns)
      solve(x.part(0, x.rows, j, std::min(most_columns, end - j)), triangle);
  });
}

template void substitute(const Matrix<float>&, const Matrix<const float>&, TriangularKind);
template void substitute(const Matrix<double>&, const Matrix<const double>&, TriangularKind);
template void substitute(const Matrix<std::complex<float>>&, const Matrix<const std::complex<float>>&, TriangularKind);
template void substitute(const Matrix<std::complex<double>>&, const Matrix<const std::complex<double>>&,
                         TriangularKind);

}  // namespace ricci::kernels
