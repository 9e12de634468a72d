// Three ways to a small product, chosen once for a whole batch of them. With n the axis along which out is contiguous:
//   by columns: lanes along n, when b is contiguous along n: out[i, lanes] += a[i, p] b[p, lanes]
//   by row:     the same with a single row, where summing over p in several registers hides the latency
//   by dots:    lanes along k, when a and b are contiguous along k: several dot products at a time
// Operands with other strides are packed. Start with `multiply_tiny`.
#include "kernels/matmul_tiny.h"

#include "kernels/alone.h"
#include "kernels/matmul_blocks.h"
#include "kernels/matmul_copy.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

template <class T, int N>
inline void by_columns_of(const Product<T>& p, T* c, const T* a, const T* b) {
  std::int64_t j = 0;
  for (; j + 2 * N <= p.c.cols; j += 2 * N) strip_by_columns<T, N, 2, false>(p, c + j, a, b + j, N);
  const int left = static_cast<int>(p.c.cols - j);
  if (left > N) return strip_by_columns<T, N, 2, true>(p, c + j, a, b + j, left - N);
  if (left == N) return strip_by_columns<T, N, 1, false>(p, c + j, a, b + j, N);
  if (left > 0) return strip_by_columns<T, N, 1, true>(p, c + j, a, b + j, left);
}

/// Calls `f` with the narrowest register that holds `count` elements, or the widest: a whole register is stored faster
/// than a part of one, and read back sooner.
template <class T, class F>
inline void with_lanes_for(std::int64_t count, F&& f) {
  if constexpr (sizeof(T) == 8 && max_lanes<T> > 2) {
    if (count <= 2) return f.template operator()<2>();
  }
  if constexpr (max_lanes<T> > 4) {
    if (count <= 4) return f.template operator()<4>();
  }
  if constexpr (max_lanes<T> > 8) {
    if (count <= 8) return f.template operator()<8>();
  }
  f.template operator()<max_lanes<T>>();
}

template <class T>
void by_columns(const Product<T>& p, T* c, const T* a, const T* b) {
  with_lanes_for<T>(p.c.cols, [&]<int N>() { by_columns_of<T, N>(p, c, a, b); });
}

/// One register of the only row of out.
template <class T, int N, bool Partial>
inline void block_of_row(const Product<T>& p, T* c, const T* a, const T* b, int count) {
  Lanes<T, N> sum[4] = {};
  if (p.accumulate == Accumulate::yes) sum[0] = load_columns<N, Partial>(c, count);
  std::int64_t k = 0;
  for (; k + 4 <= p.a.cols; k += 4) {
    unrolled<4>([&](auto u) {
      const Lanes<T, N> x = splat<N>(a[(k + u) * p.a.col_stride]);
      sum[u] = fused<T, N>(x, load_columns<N, Partial>(b + (k + u) * p.b.row_stride, count), sum[u]);
    });
  }
  for (; k < p.a.cols; ++k) {
    const Lanes<T, N> x = splat<N>(a[k * p.a.col_stride]);
    sum[0] = fused<T, N>(x, load_columns<N, Partial>(b + k * p.b.row_stride, count), sum[0]);
  }
  store_columns<N, Partial, T>(c, (sum[0] + sum[1]) + (sum[2] + sum[3]), count);
}

/// As `by_columns` sums it, in strips as wide as the sums need to hide each other's latency.
template <class T>
void by_row_in_order(const Product<T>& p, T* c, const T* a, const T* b) {
  with_lanes_for<T>(p.c.cols, [&]<int N>() {
    std::int64_t j = 0;
    for (; j + 4 * N <= p.c.cols; j += 4 * N) block_by_columns<T, N, 1, 4, false>(p, c + j, a, b + j, N);
    for (; j + 2 * N <= p.c.cols; j += 2 * N) block_by_columns<T, N, 1, 2, false>(p, c + j, a, b + j, N);
    for (; j + N <= p.c.cols; j += N) block_by_columns<T, N, 1, 1, false>(p, c + j, a, b + j, N);
    if (j < p.c.cols) block_by_columns<T, N, 1, 1, true>(p, c + j, a, b + j, static_cast<int>(p.c.cols - j));
  });
}

template <class T>
void by_row(const Product<T>& p, T* c, const T* a, const T* b) {
  with_lanes_for<T>(p.c.cols, [&]<int N>() {
    std::int64_t j = 0;
    for (; j + 4 * N <= p.c.cols; j += 4 * N) block_by_columns<T, N, 1, 4, false>(p, c + j, a, b + j, N);
    for (; j + N <= p.c.cols; j += N) block_of_row<T, N, false>(p, c + j, a, b + j, N);
    if (j < p.c.cols) block_of_row<T, N, true>(p, c + j, a, b + j, static_cast<int>(p.c.cols - j));
  });
}

/// out[j] for `count` <= R columns j of b, each contiguous along k.
template <class T, int N, int R>
inline void block_of_dots(const Product<T>& p, T* c, const T* a, const T* b, int count) {
  const T* column[R];
  unrolled<R>([&](auto r) { column[r] = b + (r < count ? r : count - 1) * p.b.col_stride; });
  Lanes<T, N> sum[R] = {};
  std::int64_t k = 0;
  for (; k + N <= p.a.cols; k += N) {
    const Lanes<T, N> x = load<N>(a + k);
    unrolled<R>([&](auto r) { sum[r] = fused<T, N>(x, load<N>(column[r] + k), sum[r]); });
  }
  if (const int left = static_cast<int>(p.a.cols - k); left > 0) {
    const Lanes<T, N> x = load_first<N>(a + k, left);
    unrolled<R>([&](auto r) { sum[r] = fused<T, N>(x, load_first<N>(column[r] + k, left), sum[r]); });
  }
  Lanes<T, R> result = sum_lanes_of_each<T, N, R>(sum);
  if (p.c.col_stride != 1) {
    for (int r = 0; r < count; ++r) {
      T& to = c[r * p.c.col_stride];
      to = p.accumulate == Accumulate::yes ? to + result[r] : result[r];
    }
    return;
  }
  if (count < R) {
    if (p.accumulate == Accumulate::yes) result += load_first<R>(c, count);
    return store_first<R, T>(c, result, count);
  }
  if (p.accumulate == Accumulate::yes) result += load<R>(c);
  store<R, T>(c, result);
}

template <class T>
void by_dots(const Product<T>& p, T* c, const T* a, const T* b) {
  with_lanes_for<T>(p.a.cols, [&]<int N>() {
    constexpr int R = N < 8 ? N : 8;
    for (std::int64_t i = 0; i < p.c.rows; ++i) {
      for (std::int64_t j = 0; j < p.c.cols; j += R) {
        const int count = static_cast<int>(std::min<std::int64_t>(R, p.c.cols - j));
        block_of_dots<T, N, R>(p, c + i * p.c.row_stride + j * p.c.col_stride, a + i * p.a.row_stride,
                               b + j * p.b.col_stride, count);
      }
    }
  });
}

template <class T>
using Kernel = void (*)(const Product<T>&, T*, const T*, const T*);

/// The dot product of two vectors is one column for `by_dots`, which would waste all registers but one.
template <class T>
void single_dot(const Product<T>& p, T* c, const T* a, const T* b) {
  constexpr int N = max_lanes<T>;
  Lanes<T, N> sum[4] = {};
  std::int64_t k = 0;
  for (; k + 4 * N <= p.a.cols; k += 4 * N) {
    unrolled<4>([&](auto u) { sum[u] = fused<T, N>(load<N>(a + k + u * N), load<N>(b + k + u * N), sum[u]); });
  }
  for (; k + N <= p.a.cols; k += N) sum[0] = fused<T, N>(load<N>(a + k), load<N>(b + k), sum[0]);
  if (const int left = static_cast<int>(p.a.cols - k); left > 0) {
    sum[1] = fused<T, N>(load_first<N>(a + k, left), load_first<N>(b + k, left), sum[1]);
  }
  sum[0] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  const T total = sum_lanes_of_each<T, N, 1>(sum)[0];
  *c = p.accumulate == Accumulate::yes ? *c + total : total;
}

/// How a batch is computed: with which kernel, and which matrices go through a packed copy.
template <class T>
struct Plan {
  Kernel<T> kernel;
  bool pack_a = false, pack_b = false, pack_c = false;
  bool b_by_columns = false;  // pack b contiguous along k, else along n
};

template <class T>
bool unit_along_rows(const Matrix<T>& x) {
  return x.col_stride == 1 || x.cols == 1;
}

template <class T>
bool unit_along_columns(const Matrix<T>& x) {
  return x.row_stride == 1 || x.rows == 1;
}

template <class T>
Plan<T> plan_for_dots(const Product<T>& p, Kernel<T> kernel) {
  return {kernel, !unit_along_rows(p.a), !unit_along_columns(p.b), false, true};
}

/// Every sum from its first product to its last, whatever the sizes.
template <class T>
Plan<T> plan_in_order(const Product<T>& p) {
  return {p.m() == 1 ? by_row_in_order<T> : by_columns<T>, false, !unit_along_rows(p.b), !unit_along_rows(p.c), false};
}

template <class T>
Plan<T> plan_for(const Product<T>& p) {
  if (rows_stand_alone()) return plan_in_order(p);
  if (p.m() == 1 && p.n() == 1) return plan_for_dots(p, single_dot<T>);
  if (p.m() == 1 && !unit_along_rows(p.b) && unit_along_columns(p.b)) return plan_for_dots(p, by_dots<T>);
  const bool few_rows = p.m() <= 3 || (p.m() <= 8 && p.k() >= 32);
  const bool dots = few_rows && !unit_along_rows(p.b) && unit_along_columns(p.b) && unit_along_rows(p.a);
  if (dots) return plan_for_dots(p, by_dots<T>);
  return {p.m() == 1 ? by_row<T> : by_columns<T>, false, !unit_along_rows(p.b), !unit_along_rows(p.c), false};
}

/// Copies an operand into `packed`, once for consecutive products that share it; or hands it through.
template <class T>
class Packer {
 public:
  Packer(bool wanted, const Matrix<const T>& source, const Matrix<T>& packed)
      : wanted_(wanted), source_(source), packed_(packed) {}

  const T* operator()(const T* data) {
    if (!wanted_) return data;
    if (data != source_.data || !done_) {
      source_.data = data;
      copy_matrix(packed_, source_);
      done_ = true;
    }
    return packed_.data;
  }

 private:
  bool wanted_, done_ = false;
  Matrix<const T> source_;
  Matrix<T> packed_;
};

template <class T>
Matrix<const T> read_only(const Matrix<T>& x) {
  return {x.data, x.rows, x.cols, x.row_stride, x.col_stride};
}

template <class T>
void multiply_packed(const BatchedProduct<T>& batch, const Plan<T>& plan) {
  const Product<T>& p = batch.product;
  const Scratch<T> memory(p.m() * p.k() + p.k() * p.n() + p.m() * p.n());
  const Matrix<T> a_copy = row_major(memory.data(), p.m(), p.k());
  const Matrix<T> c_copy = row_major(a_copy.data + p.m() * p.k(), p.m(), p.n());
  T* b_data = c_copy.data + p.m() * p.n();
  const Matrix<T> b_copy =
      plan.b_by_columns ? row_major(b_data, p.n(), p.k()).transposed() : row_major(b_data, p.k(), p.n());

  Packer<T> pack_a(plan.pack_a, p.a, a_copy), pack_b(plan.pack_b, p.b, b_copy);
  const Product<T> inner = {plan.pack_c ? c_copy : p.c, plan.pack_a ? read_only(a_copy) : p.a,
                            plan.pack_b ? read_only(b_copy) : p.b, plan.pack_c ? Accumulate::no : p.accumulate};
  for_each_product(batch, [&](T* c, const T* a, const T* b) {
    plan.kernel(inner, plan.pack_c ? c_copy.data : c, pack_a(a), pack_b(b));
    if (plan.pack_c) add_or_copy(p.c.with(c), c_copy, p.accumulate);
  });
}

template <class T>
void multiply_as_planned(const BatchedProduct<T>& batch, const Plan<T>& plan) {
  if (plan.pack_a || plan.pack_b || plan.pack_c) return multiply_packed(batch, plan);
  for_each_product(batch, [&](T* c, const T* a, const T* b) { plan.kernel(batch.product, c, a, b); });
}

/// Whether the transposed product has the better layout: out contiguous along n, or at least more than one column. In
/// order, a column is computed row by row where its transpose would have to be copied first.
template <class T>
bool better_transposed(const Product<T>& p) {
  if (rows_stand_alone()) {
    if (p.n() == 1) return p.m() > 1 && unit_along_columns(p.a);
    if (p.m() == 1) return !unit_along_rows(p.b);
  }
  if (p.n() == 1) return p.m() > 1;
  return p.m() > 1 && p.c.col_stride != 1 && p.c.row_stride == 1;
}

}  // namespace

// Measured against OpenBLAS's AVX-512 kernels: f64 192 x 192 x 192 in 116 us where it takes 157, f32 16 x 16 x 16 in 50
// ns where it takes 66. What ends it is b falling out of the second level cache, or the time to pack it.
template <class T>
bool is_tiny(const Product<T>& p) {
  if (better_transposed(p)) return is_tiny(p.transposed());
  const std::int64_t volume = p.m() * p.n() * p.k();
  if (volume <= 32768 || (p.m() == 1 && p.n() == 1)) return true;
  if (p.m() == 1 || (register_bytes < 64 && volume > 100'000)) return false;
  const std::int64_t bytes_of_b = p.k() * p.n() * static_cast<std::int64_t>(sizeof(T));
  if (unit_along_rows(p.b)) return bytes_of_b <= 512 * 1024;
  return p.m() >= 16 && volume <= 1'000'000;
}

template <class T>
void multiply_tiny(const BatchedProduct<T>& batch) {
  if (better_transposed(batch.product)) return multiply_tiny(batch.transposed());
  const Plan<T> plan = plan_for(batch.product);
  constexpr std::int64_t fewest_rows = 16;
  const Product<T>& p = batch.product;
  if (batch.rank > 0 || p.m() < 2 * fewest_rows) return multiply_as_planned(batch, plan);
  cut_rows(p, nanoseconds_of_tiny<T>, fewest_rows,
           [&](const Product<T>& part) { multiply_as_planned(BatchedProduct<T>(part), plan); });
}

template <class T>
void multiply_dots(const BatchedProduct<T>& batch) {
  const Plan<T> plan = plan_for_dots(batch.product, single_dot<T>);
  cut_batch(batch, nanoseconds_of_tiny<T>, [&](const BatchedProduct<T>& part) { multiply_as_planned(part, plan); });
}

template bool is_tiny(const Product<float>&);
template bool is_tiny(const Product<double>&);
template void multiply_tiny(const BatchedProduct<float>&);
template void multiply_tiny(const BatchedProduct<double>&);
template void multiply_dots(const BatchedProduct<float>&);
template void multiply_dots(const BatchedProduct<double>&);

}  // namespace ricci::kernels
