// With a = x d y, d diagonal, the derivative along b_1, …, b_k is
//   Dᵏ adj(a)[b_1, …] = det(x) det(y) y⁻¹ · Dᵏ adj(d)[x⁻¹ b_1 y⁻¹, …] · x⁻¹,
// since adj(x m y) = adj(y) adj(m) adj(x), and x and y are held while m moves. At a diagonal matrix it is a sum over
// all sets S of k + 1 rows (Jacobi's expansion of det(d + Σ t_i p_i) by minors of d: Horn and Johnson, "Matrix
// Analysis", 0.8.12): the product of the d outside S, times the adjugate of the p within S, polarised. No d is divided
// by, so it may hold zeros. x and y are triangles of Gaussian elimination with complete pivoting, whose elements are at
// most 1; that keeps them well-conditioned and puts all that is near singular into d (Demmel and others, "Computing the
// singular value decomposition with high relative accuracy", 1999). The error is that of a change of a by a few
// roundings.
#include "kernels/minors.h"

#include <cassert>
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/lapack_batch.h"
#include "kernels/matmul_copy.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"
#include "tensor/at.h"

namespace ricci::kernels {
namespace {

double magnitude(float x) { return std::abs(static_cast<double>(x)); }
double magnitude(double x) { return std::abs(x); }
template <class R>
double magnitude(std::complex<R> x) {
  return magnitude(x.real()) + magnitude(x.imag());
}

/// to -= factor * from, n elements.
template <class T>
void subtract_row(T* to, T factor, const T* from, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) to[j] -= factor * from[j];
}

/// a with rows and columns exchanged is l d u: row i of that is row rows[i] of a, column j is column columns[j].
template <class T>
class Factors {
 public:
  explicit Factors(std::int64_t n) : n_(n), lu_(n * n), rows_(n), columns_(n) {}

  std::int64_t size() const { return n_; }
  T pivot(std::int64_t i) const { return lu_.data()[i * (n_ + 1)]; }
  T sign() const { return sign_; }

  /// Of the identity: for sums of minors in which no element of d takes part.
  void set_trivial() {
    start();
    for (std::int64_t i = 0; i < n_ * n_; ++i) lu_.data()[i] = T(i % (n_ + 1) == 0 ? 1 : 0);
  }

  void factor(const Matrix<const T>& a) {
    start();
    copy_matrix(row_major(lu_.data(), n_, n_), a);
    for (std::int64_t k = 0; k < n_; ++k) {
      exchange_greatest(k);
      const T pivot = row(k)[k];
      if (pivot == T(0)) return;  // so are all elements from here on
      for (std::int64_t j = k + 1; j < n_; ++j) row(k)[j] /= pivot;
      for (std::int64_t i = k + 1; i < n_; ++i) {
        subtract_row(row(i) + k + 1, row(i)[k], row(k) + k + 1, n_ - k - 1);
        row(i)[k] /= pivot;
      }
    }
  }

  /// x⁻¹ b y⁻¹.
  void to_diagonal(T* p, const Matrix<const T>& b) const {
    for (std::int64_t i = 0; i < n_; ++i) {
      T* const to = p + i * n_;
      for (std::int64_t j = 0; j < n_; ++j) to[j] = b(rows_.data()[i], columns_.data()[j]);
      for (std::int64_t k = 0; k < i; ++k) subtract_row(to, row(i)[k], p + k * n_, n_);
    }
    for (std::int64_t i = 0; i < n_; ++i) {
      T* const to = p + i * n_;
      for (std::int64_t k = 0; k < n_; ++k) subtract_row(to + k + 1, to[k], row(k) + k + 1, n_ - k - 1);
    }
  }
  /// out = det(x) det(y) y⁻¹ g x⁻¹; changes g.
  void from_diagonal(const Matrix<T>& out, T* g) const {
    for (std::int64_t i = n_ - 1; i >= 0; --i) {
      for (std::int64_t k = i + 1; k < n_; ++k) subtract_row(g + i * n_, row(i)[k], g + k * n_, n_);
    }
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int64_t k = n_ - 1; k > 0; --k) subtract_row(g + i * n_, g[i * n_ + k], row(k), k);
      for (std::int64_t j = 0; j < n_; ++j) out(columns_.data()[i], rows_.data()[j]) = sign_ * g[i * n_ + j];
    }
  }

 private:
  std::int64_t n_;
  Scratch<T> lu_;  // d on the diagonal, l without its ones below, u without its ones above
  Scratch<std::int64_t> rows_, columns_;
  T sign_ = T(1);

  T* row(std::int64_t i) const { return lu_.data() + i * n_; }

  void start() {
    sign_ = T(1);
    for (std::int64_t i = 0; i < n_; ++i) rows_.data()[i] = columns_.data()[i] = i;
  }

  /// Brings the greatest element below and right of (k, k) there. NaN is the greatest, so that it reaches the results.
  void exchange_greatest(std::int64_t k) {
    std::int64_t at_row = k, at_column = k;
    double greatest = magnitude(row(k)[k]);
    for (std::int64_t i = k; i < n_; ++i) {
      for (std::int64_t j = k; j < n_; ++j) {
        const double size = magnitude(row(i)[j]);
        if (size <= greatest || std::isnan(greatest)) continue;
        greatest = size;
        at_row = i;
        at_column = j;
      }
    }
    if (at_row != k) {
      for (std::int64_t j = 0; j < n_; ++j) std::swap(row(k)[j], row(at_row)[j]);
      std::swap(rows_.data()[k], rows_.data()[at_row]);
      sign_ = -sign_;
    }
    if (at_column != k) {
      for (std::int64_t i = 0; i < n_; ++i) std::swap(row(i)[k], row(i)[at_column]);
      std::swap(columns_.data()[k], columns_.data()[at_column]);
      sign_ = -sign_;
    }
  }
};

/// The derivative of the adjugate at a diagonal matrix along k directions.
template <class T>
class SumOfMinors {
 public:
  /// `directions` are k matrices of n rows, row-major, one after the other.
  SumOfMinors(const Factors<T>& factors, const T* directions, int k)
      : factors_(factors),
        directions_(directions),
        n_(factors.size()),
        k_(k),
        rest_(static_cast<std::size_t>(n_ + 1), T(1)),
        chosen_(static_cast<std::size_t>(k + 1)) {
    for (std::int64_t i = n_ - 1; i >= 0; --i) rest_[at(i)] = factors.pivot(i) * rest_[at(i + 1)];
    sums_.resize(std::size_t{1} << (2 * k + 1));
  }

  /// g [n, n] += the derivative.
  void add_to(T* g) { choose(g, 0, 0, T(1)); }

 private:
  const Factors<T>& factors_;
  const T* directions_;
  std::int64_t n_;
  int k_;
  std::vector<T> rest_;               // of the pivots from i on, the product
  std::vector<std::int64_t> chosen_;  // the set S, ascending
  std::vector<T> sums_;               // by columns used and directions used

  T element(int direction, int row, int column) const {
    return directions_[(direction * n_ + chosen_[at(row)]) * n_ + chosen_[at(column)]];
  }

  /// Adds for all sets whose first `count` rows are chosen and whose others are at least `first`; `product` is that of
  /// the pivots below `first` that were passed over.
  void choose(T* g, int count, std::int64_t first, T product) {
    if (count == k_ + 1) return add_minors(g, product * rest_[at(first)]);
    for (std::int64_t i = first; i < n_ - (k_ - count); ++i) {
      chosen_[at(count)] = i;
      choose(g, count + 1, i + 1, product);
      product *= factors_.pivot(i);
    }
  }

  void add_minors(T* g, T weight) {
    if (k_ == 1) {  // the adjugate of {{a, b}, {c, d}} is {{d, -b}, {-c, a}}
      const std::int64_t i = chosen_[0], j = chosen_[1];
      g[i * n_ + i] += weight * element(0, 1, 1);
      g[j * n_ + j] += weight * element(0, 0, 0);
      g[i * n_ + j] -= weight * element(0, 0, 1);
      g[j * n_ + i] -= weight * element(0, 1, 0);
      return;
    }
    const unsigned all = (2U << k_) - 1;
    for (int row = 0; row <= k_; ++row) {
      sum_over_rows_but(row);
      for (int column = 0; column <= k_; ++column) {
        const T minor = sums_[index(all & ~(1U << column), (1U << k_) - 1)];
        T& to = g[chosen_[at(column)] * n_ + chosen_[at(row)]];
        to += (row + column) % 2 == 0 ? weight * minor : -weight * minor;
      }
    }
  }

  std::size_t index(unsigned columns, unsigned directions) const {
    return (static_cast<std::size_t>(columns) << k_) | directions;
  }

  /// For the rows of S but one, in order, each from another direction, and any columns: the sum of the determinants.
  /// Laplace's expansion row by row, in which sets of columns and of directions that were used stand for all orders of
  /// using them.
  void sum_over_rows_but(int left_out) {
    sums_.assign(sums_.size(), T(0));
    sums_[0] = T(1);
    int used = 0;
    for (int row = 0; row <= k_; ++row) {
      if (row == left_out) continue;
      for (unsigned columns = 0; columns < 2U << k_; ++columns) {
        if (__builtin_popcount(columns) != used) continue;
        for (unsigned directions = 0; directions < 1U << k_; ++directions)
          if (__builtin_popcount(directions) == used) extend(row, columns, directions);
      }
      ++used;
    }
  }
  void extend(int row, unsigned columns, unsigned directions) {
    const T sum = sums_[index(columns, directions)];
    for (int column = 0; column <= k_; ++column) {
      if (columns >> column & 1U) continue;
      const bool odd = __builtin_popcount(columns >> column) % 2 != 0;
      for (int direction = 0; direction < k_; ++direction) {
        if (directions >> direction & 1U) continue;
        const T term = sum * element(direction, row, column);
        sums_[index(columns | 1U << column, directions | 1U << direction)] += odd ? -term : term;
      }
    }
  }
};

template <class T>
void derivatives(Strided out, std::span<const Strided> operands) {
  const MatrixBatch<T> to(out);
  const std::int64_t n = to.first.rows;
  const int k = static_cast<int>(operands.size()) - 1;
  const MatrixBatch<const T> a(operands[0]);
  std::vector<MatrixBatch<const T>> directions;
  for (const Strided& b : operands.subspan(1)) directions.emplace_back(b);
  double sets = 1;
  for (int i = 0; i <= k; ++i) sets *= static_cast<double>(n - i) / (i + 1);
  const double multiply_adds = (k + 2.0) * static_cast<double>(n * n * n) + sets * static_cast<double>(1 << 2 * k);
  parallel_for({to.size(), 0.3 * multiply_adds}, [&](std::int64_t begin, std::int64_t end) {
    Factors<T> factors(n);
    const Scratch<T> moved(k * n * n), sum(n * n);
    const T* factored = nullptr;  // one matrix often serves many directions
    if (k + 1 >= n) factors.set_trivial();
    for (std::int64_t i = begin; i < end; ++i) {
      if (k + 1 < n && a[i].data != factored) factors.factor(a[i]);
      factored = a[i].data;
      for (int b = 0; b < k; ++b)
        factors.to_diagonal(moved.data() + b * n * n, directions[static_cast<std::size_t>(b)][i]);
      for (std::int64_t j = 0; j < n * n; ++j) sum.data()[j] = T(0);
      SumOfMinors<T>(factors, moved.data(), k).add_to(sum.data());
      factors.from_diagonal(to[i], sum.data());
    }
  });
}

}  // namespace

void adjugate_derivative(Strided out, std::span<const Strided> operands) {
  assert(!operands.empty() && out.rank >= 2);
  for (int i = 0; i < out.rank; ++i)
    if (out.shape[i] == 0) return;
  switch (out.dtype) {
    case DType::float32: return derivatives<float>(out, operands);
    case DType::float64: return derivatives<double>(out, operands);
    case DType::complex64: return derivatives<std::complex<float>>(out, operands);
    case DType::complex128: return derivatives<std::complex<double>>(out, operands);
    default: assert(false && "only float32, float64, complex64 and complex128");
  }
}

}  // namespace ricci::kernels
