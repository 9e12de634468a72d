// Blocks of b that fit the second level cache are copied together, and each is multiplied with all of a by the kernel
// for small products. Doubles on one core with AVX-512: 115 GF/s from n = 384 to 2048, where OpenBLAS reaches 105 with
// its AVX-512 kernels and 62 with its AVX2 ones.
#include "kernels/matmul_blocked.h"

#include "kernels/matmul_copy.h"
#include "kernels/matmul_tiny.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

constexpr std::int64_t depth = 256;   // of k
constexpr std::int64_t height = 256;  // of rows of a, where they must be copied
constexpr std::int64_t row_bytes = 1024;
constexpr std::int64_t fewest_rows = 32;              // for which a thread packs b
constexpr std::int64_t few_rows = 4, few_steps = 32;  // of k, whose rows of b are read side by side
constexpr std::int64_t padding = 16;  // elements: rows a power of two apart would share a few cache sets

template <class T>
constexpr std::int64_t width = row_bytes / static_cast<std::int64_t>(sizeof(T));

template <class T>
Matrix<const T> packed(const Matrix<const T>& x, T* memory, std::int64_t most_cols) {
  const Matrix<T> copy = {memory, x.rows, x.cols, most_cols + padding, 1};
  copy_matrix(copy, x);
  return {memory, x.rows, x.cols, most_cols + padding, 1};
}

/// On this thread. Requires: c is contiguous along n.
template <class T>
void multiply_part(const Product<T>& p) {
  if (p.m() <= few_rows && p.b.col_stride == 1) {  // a copy of b would cost more than the product
    for (std::int64_t k = 0; k < p.k(); k += few_steps) {
      const std::int64_t ks = std::min(few_steps, p.k() - k);
      multiply_tiny(BatchedProduct<T>(p.c, p.a.part(0, p.m(), k, ks), p.b.part(k, ks, 0, p.n()),
                                      k > 0 ? Accumulate::yes : p.accumulate));
    }
    return;
  }
  const bool pack_a = p.a.col_stride != 1;
  const std::int64_t most_rows = pack_a ? height : p.m();
  const Scratch<T> a_memory(pack_a ? (height + fewest_rows) * (depth + padding) : 0),
      b_memory(depth * (width<T> + padding));
  for (std::int64_t k = 0; k < p.k(); k += depth) {
    const std::int64_t ks = std::min(depth, p.k() - k);
    const Accumulate accumulate = k > 0 ? Accumulate::yes : p.accumulate;
    for (std::int64_t i = 0, rows = 0; i < p.m(); i += rows) {
      const std::int64_t left = p.m() - i;
      rows = left < most_rows + fewest_rows ? left : most_rows;  // a row that is left alone would be summed otherwise
      Matrix<const T> a = p.a.part(i, rows, k, ks);
      if (pack_a) a = packed(a, a_memory.data(), depth);
      for (std::int64_t j = 0; j < p.n(); j += width<T>) {
        const std::int64_t cols = std::min(width<T>, p.n() - j);
        const Matrix<const T> b = packed(p.b.part(k, ks, j, cols), b_memory.data(), width<T>);
        multiply_tiny(BatchedProduct<T>(p.c.part(i, rows, j, cols), a, b, accumulate));
      }
    }
  }
}

/// Threads take rows, or columns where those are more: neither changes how an element is summed.
template <class T>
void multiply_into_rows(const Product<T>& p) {
  if (p.m() >= p.n()) return cut_rows(p, nanoseconds_of_tiny<T>, fewest_rows, multiply_part<T>);
  cut_rows(p.transposed(), nanoseconds_of_tiny<T>, width<T>,
           [](const Product<T>& part) { multiply_part(part.transposed()); });
}

}  // namespace

template <class T>
void multiply_blocked(const Product<T>& p) {
  if (p.c.col_stride == 1) return multiply_into_rows(p);
  if (p.c.row_stride == 1) return multiply_into_rows(p.transposed());
  const Scratch<T> memory(p.m() * p.n());
  const Matrix<T> c = row_major(memory.data(), p.m(), p.n());
  if (p.accumulate == Accumulate::yes) copy_matrix(c, p.c);
  multiply_into_rows<T>({c, p.a, p.b, p.accumulate});
  copy_matrix(p.c, c);
}

template void multiply_blocked(const Product<float>&);
template void multiply_blocked(const Product<double>&);

}  // namespace ricci::kernels
