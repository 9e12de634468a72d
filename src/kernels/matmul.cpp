// Reads the views as a loop around products of two matrices, turns as much of that loop as possible into larger
// matrices, and hands the products to the kernel that is fastest for their size. Start with `matmul`.
#include "kernels/matmul.h"

#include <algorithm>
#include <cassert>
#include <complex>
#include <type_traits>

#include "kernels/alone.h"
#include "kernels/blas.h"
#include "kernels/matmul_blocked.h"
#include "kernels/matmul_copy.h"
#include "kernels/matmul_lanes.h"
#include "kernels/matmul_library.h"
#include "kernels/matmul_loops.h"
#include "kernels/matmul_outer.h"
#include "kernels/matmul_product.h"
#include "kernels/matmul_tiny.h"
#include "ricci/primitive/accumulators.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

template <class T>
Matrix<T> last_axes(const Strided& x) {
  const int r = x.rank;
  return {static_cast<T*>(x.data), x.shape[r - 2], x.shape[r - 1], x.strides[r - 2], x.strides[r - 1]};
}

/// Two nested loops are one if the outer step is where the inner loop ends.
bool continues(const BatchAxis& outer, const BatchAxis& inner) {
  return outer.c == inner.c * inner.size && outer.a == inner.a * inner.size && outer.b == inner.b * inner.size;
}

template <class T>
BatchedProduct<T> read_views(const Strided& out, const Strided& a, const Strided& b, Accumulate accumulate) {
  BatchedProduct<T> batch(last_axes<T>(out), last_axes<const T>(a), last_axes<const T>(b), accumulate);
  for (int i = 0; i + 2 < out.rank; ++i) {
    const BatchAxis axis = {out.shape[i], out.strides[i], a.strides[i], b.strides[i]};
    if (axis.size == 1) continue;
    if (batch.rank > 0 && continues(batch.axes[batch.rank - 1], axis)) {
      const std::int64_t size = batch.axes[batch.rank - 1].size * axis.size;
      batch.axes[batch.rank - 1] = {size, axis.c, axis.a, axis.b};
    } else {
      batch.axes[batch.rank++] = axis;
    }
  }
  return batch;
}

/// Makes a batch axis along which b does not change into more rows, where the layouts of c and a allow it.
template <class T>
bool fold_into_rows(Product<T>& p, const BatchAxis& axis) {
  if (axis.b != 0 || axis.a == 0) return false;
  if (p.m() == 1) {
    p.c.row_stride = axis.c;
    p.a.row_stride = axis.a;
  } else if (axis.c != p.m() * p.c.row_stride || axis.a != p.m() * p.a.row_stride) {
    return false;
  }
  p.c.rows *= axis.size;
  p.a.rows *= axis.size;
  return true;
}

template <class T>
bool fold_into_columns(Product<T>& p, const BatchAxis& axis) {
  Product<T> transposed = p.transposed();
  if (!fold_into_rows(transposed, {axis.size, axis.c, axis.b, axis.a})) return false;
  p = transposed.transposed();
  return true;
}

template <class T>
void fold_batch(BatchedProduct<T>& batch) {
  for (int i = batch.rank - 1; i >= 0; --i) {
    Product<T>& p = batch.product;
    if (fold_into_rows(p, batch.axes[i]) || fold_into_columns(p, batch.axes[i])) batch.remove_axis(i);
  }
}

template <class T>
void clear(const BatchedProduct<T>& batch) {
  const Matrix<T>& matrix = batch.product.c;
  for_each_product(batch, [&](T* c, const T*, const T*) {
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
      for (std::int64_t j = 0; j < matrix.cols; ++j) matrix.with(c)(i, j) = T{};
    }
  });
}

template <class T, class Kernel>
void multiply_each(const BatchedProduct<T>& batch, Kernel&& kernel) {
  cut_batch(batch, nanoseconds_of_tiny<real_of<T>>, [&](const BatchedProduct<T>& part) {
    const Product<T>& p = part.product;
    for_each_product(part, [&](T* c, const T* a, const T* b) {
      kernel(Product<T>{p.c.with(c), p.a.with(a), p.b.with(b), p.accumulate});
    });
  });
}

constexpr double nanoseconds_of_loops = 0.2;

/// Rows are independent: of a batch or of one product, threads take them apart.
template <class T>
void multiply_plainly(const BatchedProduct<T>& batch) {
  if (batch.rank > 0) return cut_batch(batch, nanoseconds_of_loops, multiply_by_loops<T>);
  cut_rows(batch.product, nanoseconds_of_loops, 1,
           [](const Product<T>& part) { multiply_by_loops(BatchedProduct<T>(part)); });
}

template <class T>
bool sizes_fit_blas(const Matrix<T>& x) {
  return fits_blas(x.rows) && fits_blas(x.cols) && fits_blas(x.row_stride) && fits_blas(x.col_stride);
}

template <class T>
bool sizes_fit_blas(const Product<T>& p) {
  return sizes_fit_blas(p.c) && sizes_fit_blas(p.a) && sizes_fit_blas(p.b);
}

/// A result that is mostly writing: see `multiply_outer`.
template <class T>
bool is_outer(const Product<T>& p) {
  if (p.k() != 1 || p.m() * p.n() < 4096) return false;
  return (p.n() >= 32 && p.c.col_stride == 1) || (p.m() >= 32 && p.c.row_stride == 1);
}

/// Many narrow right sides for one large matrix, which a kernel would read once for each of them.
template <class T>
bool has_narrow_columns(const BatchedProduct<T>& batch) {
  const Product<T>& p = batch.product;
  return batch.rank == 1 && batch.axes[0].a == 0 && batch.axes[0].b != 0 && p.n() <= 8 && p.m() * p.k() >= 4096;
}

template <class T>
bool has_narrow_rows(const BatchedProduct<T>& batch) {
  return batch.rank == 1 && has_narrow_columns(batch.transposed());
}

/// How many right sides to put next to each other: 512 columns, or 32 MiB of doubles.
template <class T>
std::int64_t gathered_right_sides(const Product<T>& p) {
  const std::int64_t columns = std::min<std::int64_t>(512, (std::int64_t{4} << 20) / (p.m() + p.k()));
  return std::max<std::int64_t>(1, columns / p.n());
}

/// Puts the right sides next to each other, many at a time, and multiplies once.
template <class T, class Multiply>
void multiply_gathered(const BatchedProduct<T>& batch, Multiply&& multiply) {
  const Product<T>& p = batch.product;
  const BatchAxis& axis = batch.axes[0];
  const std::int64_t n = p.n(), most = std::min(axis.size, gathered_right_sides(p));
  const double nanoseconds = nanoseconds_of_tiny<T> * static_cast<double>(p.m() * n * p.k());
  parallel_for({axis.size, nanoseconds, most}, [&](std::int64_t begin, std::int64_t end) {
    const Scratch<T> b_memory(p.k() * most * n), c_memory(p.m() * most * n);
    for (std::int64_t first = begin; first < end; first += most) {
      const std::int64_t count = std::min(most, end - first);
      const Matrix<T> b = row_major(b_memory.data(), p.k(), count * n);
      const Matrix<T> c = row_major(c_memory.data(), p.m(), count * n);
      for (std::int64_t i = 0; i < count; ++i) {
        copy_matrix(b.part(0, p.k(), i * n, n), p.b.with(p.b.data + (first + i) * axis.b));
      }
      multiply(Product<T>{c, p.a, {b.data, b.rows, b.cols, b.row_stride, 1}, Accumulate::no});
      for (std::int64_t i = 0; i < count; ++i) {
        add_or_copy(p.c.with(p.c.data + (first + i) * axis.c), c.part(0, p.m(), i * n, n), p.accumulate);
      }
    }
  });
}

/// Whether `multiply_blocked` beats the libraries: with AVX-512, for doubles.
template <class T>
bool is_blocked(const Product<T>& p) {
  return std::is_same_v<T, double> && register_bytes >= 64 && p.m() >= 8 && p.n() >= 8;
}

template <class T>
void multiply_floats(const BatchedProduct<T>& batch) {
  const Product<T>& p = batch.product;
  const bool alone = rows_stand_alone();
  if (!alone || p.accumulate == Accumulate::no) {  // else what is there would be the last to be added, not the first
    if (is_outer(p)) return multiply_outer(batch);
    if (has_narrow_columns(batch)) return multiply_gathered(batch, multiply_floats<T>);
    if (has_narrow_rows(batch)) return multiply_gathered(batch.transposed(), multiply_floats<T>);
  }
  if (is_tiny(p)) return cut_batch(batch, nanoseconds_of_tiny<T>, multiply_tiny<T>);
  if (alone || is_blocked(p) || !sizes_fit_blas(p)) return multiply_each(batch, multiply_blocked<T>);
  multiply_each(batch, multiply_by_library<T>);
}

/// The real parts of a matrix; each imaginary part lies behind its real part.
template <class T>
Matrix<const T> real_parts(const Matrix<const std::complex<T>>& x) {
  return {reinterpret_cast<const T*>(x.data), x.rows, x.cols, 2 * x.row_stride, 2 * x.col_stride};
}

/// Real and imaginary parts side by side, in rows twice as long. Requires: x is contiguous along its rows.
template <class T>
Matrix<const T> parts_side_by_side(const Matrix<const std::complex<T>>& x) {
  return {reinterpret_cast<const T*>(x.data), x.rows, 2 * x.cols, 2 * x.row_stride, 1};
}

/// c, of four sums of real products: those of a's real parts by b's real and imaginary ones, and those of a's imaginary
/// parts. Each runs from its first term to its last, and two at a time are added at the end, so that the transposed
/// product has the same bits.
template <class T>
std::complex<T> complex_of(const std::complex<T>& c, Accumulate accumulate, const T* by_real, const T* by_imag) {
  const T real = by_real[0] - by_imag[1], imag = by_real[1] + by_imag[0];
  if (accumulate == Accumulate::no) return {real, imag};
  return {c.real() + real, c.imag() + imag};
}

template <class T>
void multiply_few_complex(const Product<std::complex<T>>& p) {
  constexpr int N = 16 / sizeof(T);
  for (std::int64_t i = 0; i < p.m(); ++i)
    for (std::int64_t j = 0; j < p.n(); ++j) {
      Lanes<T, N> by_real{}, by_imag{};
      for (std::int64_t k = 0; k < p.k(); ++k) {
        const std::complex<T> x = p.a(i, k), y = p.b(k, j);
        const Lanes<T, N> parts = {y.real(), y.imag()};
        by_real = fused<T, N>(splat<N>(x.real()), parts, by_real);
        by_imag = fused<T, N>(splat<N>(x.imag()), parts, by_imag);
      }
      const T of_real[] = {by_real[0], by_real[1]}, of_imag[] = {by_imag[0], by_imag[1]};
      p.c(i, j) = complex_of(p.c(i, j), p.accumulate, of_real, of_imag);
    }
}

/// By two products of real matrices. Requires: b is contiguous along its rows.
template <class T>
void multiply_as_reals(const Product<std::complex<T>>& p) {
  const std::int64_t size = p.m() * 2 * p.n();
  const Scratch<T> memory(2 * size);
  const Matrix<T> by_real = row_major(memory.data(), p.m(), 2 * p.n()), by_imag = by_real.with(by_real.data + size);
  BatchedProduct<T> both(by_real, real_parts(p.a), parts_side_by_side(p.b), Accumulate::no);
  both.axes[both.rank++] = {.size = 2, .c = size, .a = 1, .b = 0};
  multiply_floats(both);
  for (std::int64_t i = 0; i < p.m(); ++i)
    for (std::int64_t j = 0; j < p.n(); ++j)
      p.c(i, j) = complex_of(p.c(i, j), p.accumulate, &by_real(i, 2 * j), &by_imag(i, 2 * j));
}

template <class T>
void multiply_complex_in_order(const Product<std::complex<T>>& p) {
  constexpr std::int64_t few = 128;
  if (p.m() * p.n() * p.k() <= few) return multiply_few_complex(p);
  if (p.n() > 1 && p.b.col_stride == 1) return multiply_as_reals(p);
  if (p.m() > 1 && p.a.row_stride == 1) return multiply_as_reals(p.transposed());
  if (p.n() == 1) return multiply_as_reals(p);
  if (p.m() == 1) return multiply_as_reals(p.transposed());
  const Scratch<std::complex<T>> memory(p.k() * p.n());
  const Matrix<std::complex<T>> b = row_major(memory.data(), p.k(), p.n());
  copy_matrix(b, p.b);
  multiply_as_reals<T>({p.c, p.a, {b.data, b.rows, b.cols, b.row_stride, 1}, p.accumulate});
}

template <class T>
void multiply_complex(const BatchedProduct<T>& batch) {
  const Product<T>& p = batch.product;
  if (rows_stand_alone()) return multiply_each(batch, multiply_complex_in_order<typename T::value_type>);
  if (p.m() * p.n() * p.k() <= 512 || !sizes_fit_blas(p)) return multiply_plainly(batch);
  multiply_each(batch, multiply_by_library<T>);
}

/// Remembers the last matrix it converted: operands shared along the batch are converted once.
template <class T>
class ToFloat {
 public:
  explicit ToFloat(const Matrix<const T>& source) : source_(source), memory_(source.rows * source.cols) {}

  Matrix<const float> operator()(const T* data) {
    const Matrix<float> converted = row_major(memory_.data(), source_.rows, source_.cols);
    if (data != last_) copy_matrix(converted, source_.with(data));
    last_ = data;
    return {converted.data, converted.rows, converted.cols, converted.row_stride, 1};
  }

 private:
  Matrix<const T> source_;
  Scratch<float> memory_;
  const T* last_ = nullptr;
};

template <class T, class MultiplyFloats>
void multiply_part_of_halves(const BatchedProduct<T>& batch, const MultiplyFloats& multiply_in_floats) {
  const Product<T>& p = batch.product;
  ToFloat<T> a_to_float(p.a), b_to_float(p.b);
  const Scratch<float> memory(p.m() * p.n());
  const Matrix<float> sum = row_major(memory.data(), p.m(), p.n());
  for_each_product(batch, [&](T* c, const T* a, const T* b) {
    if (p.accumulate == Accumulate::yes) copy_matrix(sum, p.c.with(c));
    multiply_in_floats(BatchedProduct<float>(sum, a_to_float(a), b_to_float(b), p.accumulate));
    copy_matrix(p.c.with(c), sum);
  });
}

/// multiply_in_floats(batch) for float and double, and in float for shorter types.
template <class T, class MultiplyFloats>
void multiply(const BatchedProduct<T>& batch, const MultiplyFloats& multiply_in_floats) {
  const Product<T>& p = batch.product;
  if (p.m() == 0 || p.n() == 0 || batch.batch_size() == 0) return;
  if (p.k() == 0) return p.accumulate == Accumulate::yes ? void() : clear(batch);
  if constexpr (std::is_floating_point_v<T>) multiply_in_floats(batch);
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    cut_batch(batch, nanoseconds_of_tiny<float>,
              [&](const BatchedProduct<T>& part) { multiply_part_of_halves(part, multiply_in_floats); });
  else if constexpr (std::is_integral_v<T>) multiply_plainly(batch);
  else multiply_complex(batch);
}

[[maybe_unused]] bool agree(const Strided& out, const Strided& a, const Strided& b) {
  const int r = out.rank;
  if (r < 2 || r > max_batch_rank || a.rank != r || b.rank != r) return false;
  if (a.dtype != out.dtype || b.dtype != out.dtype) return false;
  if (a.shape[r - 2] != out.shape[r - 2] || b.shape[r - 1] != out.shape[r - 1]) return false;
  return a.shape[r - 1] == b.shape[r - 2];
}

}  // namespace

void matmul(Strided out, Strided a, Strided b, Accumulate accumulate) {
  assert(agree(out, a, b));
  visit_dtype(out.dtype, [&]<class T>(std::type_identity<T>) {
    BatchedProduct<T> batch = read_views<T>(out, a, b, accumulate);
    fold_batch(batch);
    multiply(batch, []<class U>(const BatchedProduct<U>& floats) { multiply_floats(floats); });
  });
}

void dot_products(Strided out, Strided a, Strided b) {
  assert(agree(out, a, b) && out.shape[out.rank - 2] == 1 && out.shape[out.rank - 1] == 1);
  if (!rows_stand_alone()) return matmul(out, a, b);
  visit_dtype(out.dtype, [&]<class T>(std::type_identity<T>) {
    multiply(read_views<T>(out, a, b, Accumulate::no),
             []<class U>(const BatchedProduct<U>& floats) { multiply_dots(floats); });
  });
}

}  // namespace ricci::kernels
