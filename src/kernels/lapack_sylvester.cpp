// Block by block: the block of x in rows I and columns J solves x_IJ u_JJ - u_II x_IJ = r_IJ, where u is t or tᴴ and r
// is c without what blocks of x that are known add. Those stand to the left and below or, of the adjoint, between the
// block and the diagonal.
#include "kernels/lapack_sylvester.h"

#include <array>
#include <utility>

#include "kernels/matmul_copy.h"
#include "ricci/small_vector.h"

namespace ricci::kernels {
namespace {

/// Indices from `begin` up to `end`: the rows of a block, or the terms of a sum.
struct Range {
  std::int64_t begin, end;
  std::int64_t size() const { return end - begin; }
};

using Blocks = SmallVector<Range, 16>;

Blocks blocks_of(const Matrix<const bool>& below) {
  Blocks blocks;
  for (std::int64_t i = 0; i < below.rows;) {
    const bool is_pair = i + 1 < below.rows && !below(i + 1, i);
    blocks.push_back({i, i + (is_pair ? 2 : 1)});
    i = blocks.back().end;
  }
  return blocks;
}

/// Of up to four equations, the right sides in column `count`: Gaussian elimination with partial pivoting.
template <class T>
void solve_in_place(std::array<std::array<T, 5>, 4>& m, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < count; ++i)
      if (std::abs(m[i][k]) > std::abs(m[pivot][k])) pivot = i;
    std::swap(m[k], m[pivot]);
    for (std::size_t i = k + 1; i < count; ++i) {
      const T factor = m[i][k] / m[k][k];
      for (std::size_t j = k + 1; j <= count; ++j) m[i][j] -= factor * m[k][j];
    }
  }
  for (std::size_t k = count; k-- > 0;) {
    for (std::size_t j = k + 1; j < count; ++j) m[k][count] -= m[k][j] * m[j][count];
    m[k][count] /= m[k][k];
  }
}

template <class T>
class Solver {
 public:
  Solver(const Matrix<const T>& t, const Matrix<const T>& c, bool adjoint)
      : n_(t.rows), c_(c), u_(n_, n_), u_columns_(n_, n_), x_(n_, n_), x_columns_(n_, n_) {
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int64_t j = 0; j < n_; ++j) {
        u_.rows(i, j) = u_columns_.rows(j, i) = adjoint ? conjugate(t(j, i)) : t(i, j);
        x_.rows(i, j) = T(0);
      }
    }
  }
  /// Block (I, J): of the sums x u and u x, the terms in `left` and `right` are known.
  void solve(Range rows, Range columns, Range left, Range right) {
    if (rows.size() == 1 && columns.size() == 1) {
      const std::int64_t i = rows.begin, j = columns.begin;
      return set(i, j, known(i, j, left, right) / (u_.rows(j, j) - u_.rows(i, i)));
    }
    std::array<std::array<T, 5>, 4> m{};
    const std::int64_t wide = columns.size(), count = rows.size() * wide;
    const auto place = [&](std::int64_t i, std::int64_t j) {
      return static_cast<std::size_t>((i - rows.begin) * wide + j - columns.begin);
    };
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      for (std::int64_t j = columns.begin; j < columns.end; ++j) {
        auto& equation = m[place(i, j)];
        for (std::int64_t k = columns.begin; k < columns.end; ++k) equation[place(i, k)] += u_.rows(k, j);
        for (std::int64_t k = rows.begin; k < rows.end; ++k) equation[place(k, j)] -= u_.rows(i, k);
        equation[static_cast<std::size_t>(count)] = known(i, j, left, right);
      }
    }
    solve_in_place(m, static_cast<std::size_t>(count));
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      for (std::int64_t j = columns.begin; j < columns.end; ++j)
        set(i, j, m[place(i, j)][static_cast<std::size_t>(count)]);
  }
  const Matrix<T>& x() const { return x_.rows; }

 private:
  static T conjugate(T x) {
    if constexpr (std::is_floating_point_v<T>) return x;
    else return std::conj(x);
  }
  void set(std::int64_t i, std::int64_t j, T value) { x_.rows(i, j) = x_columns_.rows(j, i) = value; }
  T known(std::int64_t i, std::int64_t j, Range left, Range right) const {
    T sum = c_(i, j);
    for (std::int64_t k = left.begin; k < left.end; ++k) sum -= x_.rows(i, k) * u_columns_.rows(j, k);
    for (std::int64_t k = right.begin; k < right.end; ++k) sum += u_.rows(i, k) * x_columns_.rows(j, k);
    return sum;
  }

  std::int64_t n_;
  Matrix<const T> c_;
  RowMajor<T> u_, u_columns_, x_, x_columns_;  // each and its transpose, so that sums run along memory
};

}  // namespace

template <class T>
void masked_sylvester_of_one(Matrix<T> x, Matrix<const T> t, Matrix<const bool> below, Matrix<const T> c,
                             bool adjoint) {
  const Blocks blocks = blocks_of(below);
  Solver<T> solver(t, c, adjoint);
  const std::int64_t n = t.rows;
  const std::size_t count = blocks.size();
  for (std::size_t step = 1; step < count; ++step) {
    if (adjoint) {  // away from the diagonal
      for (std::size_t j = 0; j + step < count; ++j) {
        const Range columns = blocks[j], rows = blocks[j + step], between{columns.end, rows.begin};
        solver.solve(rows, columns, between, between);
      }
    } else {  // towards it
      for (std::size_t j = 0; j < step; ++j) {
        const Range columns = blocks[j], rows = blocks[count - step + j];
        solver.solve(rows, columns, {0, columns.begin}, {rows.end, n});
      }
    }
  }
  copy_matrix(x, solver.x());
}

#define RICCI_LAPACK_SYLVESTER(T) \
  template void masked_sylvester_of_one(Matrix<T>, Matrix<const T>, Matrix<const bool>, Matrix<const T>, bool adjoint);
RICCI_LAPACK_SYLVESTER(float)
RICCI_LAPACK_SYLVESTER(double)
RICCI_LAPACK_SYLVESTER(std::complex<float>)
RICCI_LAPACK_SYLVESTER(std::complex<double>)

}  // namespace ricci::kernels
