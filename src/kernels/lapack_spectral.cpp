// A row-major matrix is its transpose to LAPACK, which is column-major. A symmetric matrix is the same; and where
// aᵀ = v s uᵀ, the left vectors that LAPACK returns are, by rows, our vh, and its right ones our u.
#include "kernels/lapack_spectral.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/blas.h"
#include "kernels/matmul_copy.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

constexpr int not_finite = -1;

/// LAPACK neither promises an end nor silence where an element is not finite.
template <class T>
bool is_finite(const Matrix<T>& a) {
  bool finite = true;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.cols; ++j) finite &= static_cast<bool>(std::isfinite(a(i, j)));
  }
  return finite;
}

/// A row-major copy, and its transpose as LAPACK sees it.
template <class T>
struct Copy {
  Scratch<T> memory;
  Matrix<T> rows;

  explicit Copy(std::int64_t m, std::int64_t n) : memory(m * n), rows(row_major(memory.data(), m, n)) {}
  T* data() const { return memory.data(); }
};

}  // namespace

template <class T>
int eigh_of_one(Matrix<T> values, Matrix<T> vectors, Matrix<const T> a) {
  const int n = static_cast<int>(a.rows), work_size = 1 + 6 * n + 2 * n * n, integers_size = 3 + 5 * n;
  const Copy<T> x(n, n), w(n, 1);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) x.rows(i, j) = x.rows(j, i) = hermitian_element(a, i, j);
  }
  if (!is_finite(x.rows)) return not_finite;
  const Scratch<T> work(work_size);
  const Scratch<int> integers(integers_size);
  int info = 0;
  decompositions<T>()->syevd("V", "U", &n, x.data(), &n, w.data(), work.data(), &work_size, integers.data(),
                             &integers_size, &info, 1, 1);
  copy_matrix(values, w.rows);
  copy_matrix(vectors, x.rows.transposed());
  return info;
}

template <class T>
int svd_of_one(Matrix<T> u, Matrix<T> s, Matrix<T> vh, Matrix<const T> a) {
  const int m = static_cast<int>(a.rows), n = static_cast<int>(a.cols), k = std::min(m, n), ask = -1;
  const Copy<T> x(m, n), left(m, k), values(k, 1), right(k, n);
  copy_matrix(x.rows, a);
  if (!is_finite(x.rows)) return not_finite;
  int info = 0;
  T best_size = 0;
  const Scratch<int> integers(8 * k);
  const auto run = [&](T* work, const int* work_size) {
    decompositions<T>()->gesdd("S", &n, &m, x.data(), &n, values.data(), right.data(), &n, left.data(), &k, work,
                               work_size, integers.data(), &info, 1);
  };
  run(&best_size, &ask);
  const int work_size = static_cast<int>(std::nextafter(best_size, std::numeric_limits<T>::max()));
  const Scratch<T> work(work_size);
  run(work.data(), &work_size);
  copy_matrix(u, left.rows);
  copy_matrix(s, values.rows);
  copy_matrix(vh, right.rows);
  return info;
}

#define RICCI_LAPACK_SPECTRAL(T)                                   \
  template int eigh_of_one(Matrix<T>, Matrix<T>, Matrix<const T>); \
  template int svd_of_one(Matrix<T>, Matrix<T>, Matrix<T>, Matrix<const T>);
RICCI_LAPACK_SPECTRAL(float)
RICCI_LAPACK_SPECTRAL(double)

}  // namespace ricci::kernels
