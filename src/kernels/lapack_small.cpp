// Takes matrices of a batch in groups of one register's lanes, interleaves their elements, computes, and puts the
// results back. A last group that is not full computes with zeros in its idle lanes.
#include "kernels/lapack_small.h"

#include <algorithm>
#include <cstring>

#include "kernels/lapack_lanes.h"
#include "kernels/matmul_copy.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

/// Up to max_lanes consecutive members of a batch.
struct Group {
  std::int64_t first;
  int count;
};

/// Members [begin, end) of a batch.
struct Members {
  std::int64_t begin, end;
};

/// f(members) for whole groups of a batch, on several threads. `multiply_adds` are those of one matrix.
template <class T, class F>
void cut_members(std::int64_t size, double multiply_adds, const F& f) {
  constexpr double nanoseconds_per_step = 0.02 * sizeof(T) / 4;
  parallel_for({size, nanoseconds_per_step * multiply_adds, max_lanes<T>},
               [&](std::int64_t begin, std::int64_t end) { f(Members{begin, end}); });
}

template <class T, class F>
void for_each_group(Members members, F&& f) {
  for (std::int64_t i = members.begin; i < members.end; i += max_lanes<T>) {
    f(Group{i, static_cast<int>(std::min<std::int64_t>(max_lanes<T>, members.end - i))});
  }
}

double cube(int n) { return static_cast<double>(n) * n * n; }

/// Calls `f(user, interleaved)` with pairs of equal matrices: elements of the members down, members across.
template <int N, class User, class Element, class F>
void for_each_layout(const Matrix<User>& x, const BatchOffsets& offsets, Group group, Element* interleaved, F&& f) {
  if (!offsets.is_linear()) {
    for (int lane = 0; lane < group.count; ++lane) {
      const Matrix<Element> to = {interleaved + lane, x.rows, x.cols, x.cols * N, N};
      f(x.with(x.data + offsets(group.first + lane)), to);
    }
    return;
  }
  User* data = x.data + offsets(group.first);
  const std::int64_t member_step = offsets(1);
  const bool contiguous = x.row_stride == x.cols * x.col_stride;
  const std::int64_t pieces = contiguous ? 1 : x.rows, length = contiguous ? x.rows * x.cols : x.cols;
  for (std::int64_t i = 0; i < pieces; ++i) {
    const Matrix<Element> to = {interleaved + i * length * N, length, group.count, N, 1};
    f(Matrix<User>{data + i * x.row_stride, length, group.count, x.col_stride, member_step}, to);
  }
}

/// The elements of a group's matrices, interleaved.
template <class T, class Element = T>
class Interleaved {
 public:
  using Lane = Lanes<Element, max_lanes<T>>;

  Interleaved(std::int64_t rows, std::int64_t cols) : elements_(rows * cols), memory_(elements_) {}
  Lane* data() const { return memory_.data(); }

  template <class User>
  void load(const Matrix<User>& x, const BatchOffsets& offsets, Group group) const {
    if (group.count < max_lanes<T>) std::memset(memory_.data(), 0, static_cast<std::size_t>(elements_) * sizeof(Lane));
    for_each_layout<max_lanes<T>>(x, offsets, group, elements(),
                                  [](const auto& user, const auto& interleaved) { copy_matrix(interleaved, user); });
  }

  template <class User>
  void store(const Matrix<User>& x, const BatchOffsets& offsets, Group group) const {
    for_each_layout<max_lanes<T>>(x, offsets, group, elements(),
                                  [](const auto& user, const auto& interleaved) { copy_matrix(user, interleaved); });
  }

 private:
  Element* elements() const { return reinterpret_cast<Element*>(memory_.data()); }

  std::int64_t elements_;
  Scratch<Lane> memory_;
};

template <class T>
using Index = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

template <class T>
void store_info(std::int32_t* info, const LaneIndex<T>& lanes, Group group) {
  for (int lane = 0; lane < group.count; ++lane) info[group.first + lane] = static_cast<std::int32_t>(lanes[lane]);
}

template <class T>
void clear_above_diagonal(Register<T>* a, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) a[i * n + j] = Register<T>{};
  }
}

/// Replaces the lower triangle by that of (a + aᵀ) / 2.
template <class T>
void take_symmetric_part(Register<T>* a, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) a[i * n + j] = a[i * n + j] * T(0.5) + a[j * n + i] * T(0.5);
  }
}

/// Pivots are counted from 0 in lanes and from 1 outside.
template <class T>
void add_to_pivots(LaneIndex<T>* pivots, int n, int difference) {
  for (int i = 0; i < n; ++i) pivots[i] += difference;
}

template <class T>
void set_identity(Register<T>* x, int n) {
  for (int i = 0; i < n * n; ++i) x[i] = Register<T>{} + T(i % (n + 1) == 0 ? 1 : 0);
}

template <class T>
void lu_solve_lanes(const Register<T>* lu, const LaneIndex<T>* pivots, Register<T>* b, int n, int r, bool transposed) {
  if (!transposed) exchange_lanes<T>(b, pivots, n, r, false);
  triangular_lanes<T>(lu, b, n, r, transposed, transposed, !transposed);
  triangular_lanes<T>(lu, b, n, r, !transposed, transposed, transposed);
  if (transposed) exchange_lanes<T>(b, pivots, n, r, true);
}

/// Calls `f(first, count)` for pieces of the right sides that stay in the first level cache.
template <class F>
void for_each_piece(std::int64_t right_sides, F&& f) {
  for (std::int64_t c = 0; c < right_sides; c += 16) f(c, std::min<std::int64_t>(16, right_sides - c));
}

}  // namespace

template <class T>
void cholesky_small(const MatrixBatch<T>& l, const MatrixBatch<const T>& a, std::int32_t* info) {
  const int n = static_cast<int>(a.first.rows);
  cut_members<T>(a.size(), cube(n), [&](Members members) {
    const Interleaved<T> x(n, n);
    for_each_group<T>(members, [&](Group group) {
      x.load(a.first, a.offsets, group);
      take_symmetric_part<T>(x.data(), n);
      LaneIndex<T> bad;
      cholesky_lanes<T>(x.data(), n, bad);
      clear_above_diagonal<T>(x.data(), n);
      x.store(l.first, l.offsets, group);
      store_info<T>(info, bad, group);
    });
  });
}

template <class T>
void lu_factor_small(const MatrixBatch<T>& lu, const VectorBatch<std::int32_t>& pivots, const MatrixBatch<const T>& a,
                     std::int32_t* info) {
  const int n = static_cast<int>(a.first.rows);
  cut_members<T>(a.size(), 2 * cube(n), [&](Members members) {
    const Interleaved<T> x(n, n);
    const Interleaved<T, Index<T>> exchanges(n, 1);
    for_each_group<T>(members, [&](Group group) {
      x.load(a.first, a.offsets, group);
      LaneIndex<T> zero;
      lu_lanes<T>(x.data(), exchanges.data(), n, zero);
      add_to_pivots<T>(exchanges.data(), n, 1);
      x.store(lu.first, lu.offsets, group);
      exchanges.store(pivots.first, pivots.offsets, group);
      store_info<T>(info, zero, group);
    });
  });
}

template <class T>
void inverse_small(const MatrixBatch<T>& out, const MatrixBatch<const T>& a, std::int32_t* info) {
  const int n = static_cast<int>(a.first.rows);
  cut_members<T>(a.size(), 4 * cube(n), [&](Members members) {
    const Interleaved<T> factors(n, n), x(n, n);
    const Interleaved<T, Index<T>> pivots(n, 1);
    for_each_group<T>(members, [&](Group group) {
      factors.load(a.first, a.offsets, group);
      LaneIndex<T> zero;
      lu_lanes<T>(factors.data(), pivots.data(), n, zero);
      set_identity<T>(x.data(), n);
      lu_solve_lanes<T>(factors.data(), pivots.data(), x.data(), n, n, false);
      x.store(out.first, out.offsets, group);
      store_info<T>(info, zero, group);
    });
  });
}

template <class T>
void qr_small(const MatrixBatch<T>& q, const MatrixBatch<T>& r, const MatrixBatch<const T>& a, std::int32_t* info) {
  const int m = static_cast<int>(a.first.rows), n = static_cast<int>(a.first.cols);
  const int columns = static_cast<int>(q.first.cols), rows = static_cast<int>(r.first.rows);
  cut_members<T>(a.size(), 4 * cube(std::max(m, n)), [&](Members members) {
    const Interleaved<T> x(m, n), product(m, columns), scales(std::min(m, n), 1);
    for_each_group<T>(members, [&](Group group) {
      x.load(a.first, a.offsets, group);
      const LaneIndex<T> unsafe = qr_lanes<T>(x.data(), scales.data(), m, n);
      reflections_lanes<T>(x.data(), scales.data(), product.data(), m, n, columns);
      product.store(q.first, q.offsets, group);
      for (int i = 1; i < rows; ++i) std::fill_n(x.data() + i * n, std::min(i, n), Register<T>{});
      x.store(r.first, r.offsets, group);
      store_info<T>(info, -unsafe, group);
    });
  });
}

template <class T>
void triangular_solve_small(const MatrixBatch<T>& x, const MatrixBatch<const T>& a, const MatrixBatch<const T>& b,
                            TriangularKind kind) {
  const int n = static_cast<int>(a.first.rows);
  const double multiply_adds = static_cast<double>(n) * n * static_cast<double>(1 + b.first.cols);
  cut_members<T>(x.size(), multiply_adds, [&](Members members) {
    const Interleaved<T> triangle(n, n);
    for_each_group<T>(members, [&](Group group) {
      triangle.load(a.first, a.offsets, group);
      for_each_piece(b.first.cols, [&](std::int64_t c, std::int64_t r) {
        const Interleaved<T> piece(n, r);
        piece.load(b.first.part(0, n, c, r), b.offsets, group);
        triangular_lanes<T>(triangle.data(), piece.data(), n, static_cast<int>(r), kind.upper, kind.op != 'N',
                            kind.unit);
        piece.store(x.first.part(0, n, c, r), x.offsets, group);
      });
    });
  });
}

template <class T>
void lu_solve_small(const MatrixBatch<T>& x, const MatrixBatch<const T>& lu,
                    const VectorBatch<const std::int32_t>& pivots, const MatrixBatch<const T>& b, char op) {
  const int n = static_cast<int>(lu.first.rows);
  const double multiply_adds = static_cast<double>(n) * n * static_cast<double>(1 + 2 * b.first.cols);
  cut_members<T>(x.size(), multiply_adds, [&](Members members) {
    const Interleaved<T> factors(n, n);
    const Interleaved<T, Index<T>> exchanges(n, 1);
    for_each_group<T>(members, [&](Group group) {
      factors.load(lu.first, lu.offsets, group);
      exchanges.load(pivots.first, pivots.offsets, group);
      add_to_pivots<T>(exchanges.data(), n, -1);
      for_each_piece(b.first.cols, [&](std::int64_t c, std::int64_t r) {
        const Interleaved<T> piece(n, r);
        piece.load(b.first.part(0, n, c, r), b.offsets, group);
        lu_solve_lanes<T>(factors.data(), exchanges.data(), piece.data(), n, static_cast<int>(r), op != 'N');
        piece.store(x.first.part(0, n, c, r), x.offsets, group);
      });
    });
  });
}

#define RICCI_LAPACK_SMALL(T)                                                                                         \
  template void cholesky_small(const MatrixBatch<T>&, const MatrixBatch<const T>&, std::int32_t*);                    \
  template void lu_factor_small(const MatrixBatch<T>&, const VectorBatch<std::int32_t>&, const MatrixBatch<const T>&, \
                                std::int32_t*);                                                                       \
  template void inverse_small(const MatrixBatch<T>&, const MatrixBatch<const T>&, std::int32_t*);                     \
  template void qr_small(const MatrixBatch<T>&, const MatrixBatch<T>&, const MatrixBatch<const T>&, std::int32_t*);   \
  template void triangular_solve_small(const MatrixBatch<T>&, const MatrixBatch<const T>&,                            \
                                       const MatrixBatch<const T>&, TriangularKind);                                  \
  template void lu_solve_small(const MatrixBatch<T>&, const MatrixBatch<const T>&,                                    \
                               const VectorBatch<const std::int32_t>&, const MatrixBatch<const T>&, char);
RICCI_LAPACK_SMALL(float)
RICCI_LAPACK_SMALL(double)

}  // namespace ricci::kernels
