// A row-major matrix is its transpose to LAPACK, which is column-major. A Hermitian matrix is handed over transposed.
// Where aᵀ = conj(v) s uᵀ, the left vectors that LAPACK returns are, by rows, our vh, and its right ones our u.
#include "kernels/lapack_spectral.h"

#include <algorithm>
#include <limits>

#include "kernels/blas.h"
#include "kernels/matmul_copy.h"

namespace ricci::kernels {
namespace {

template <class T>
constexpr bool is_complex = !std::is_floating_point_v<T>;

template <class T>
T conjugate(T x) {
  if constexpr (is_complex<T>) return std::conj(x);
  else return x;
}

/// The working memory that LAPACK asked for in a floating number.
template <class T>
int size_of_work(T asked) {
  return static_cast<int>(std::nextafter(std::real(asked), std::numeric_limits<real_of<T>>::max()));
}

}  // namespace

template <class T>
int eigh_of_one(Matrix<real_of<T>> values, Matrix<T> vectors, Matrix<const T> a) {
  const int n = static_cast<int>(a.rows), integers_size = 3 + 5 * n;
  const RowMajor<T> x(n, n);
  const RowMajor<real_of<T>> w(n, 1);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      x.rows(j, i) = hermitian_element(a, i, j);
      x.rows(i, j) = conjugate(x.rows(j, i));
    }
  }
  if (!is_finite(x.rows)) return not_finite;
  const Scratch<int> integers(integers_size);
  int info = 0;
  if constexpr (is_complex<T>) {
    const int work_size = n * (n + 2), reals_size = 1 + 5 * n + 2 * n * n;
    const Scratch<T> work(work_size);
    const Scratch<real_of<T>> reals(reals_size);
    spectra<T>()->syevd("V", "U", &n, x.data(), &n, w.data(), work.data(), &work_size, reals.data(), &reals_size,
                        integers.data(), &integers_size, &info, 1, 1);
    const Matrix<T> columns = x.rows.transposed();
    for (std::int64_t j = 0; j < n; ++j) {
      const T phase = phase_of_greatest(columns, j);
      for (std::int64_t i = 0; i < n; ++i) columns(i, j) *= phase;
    }
  } else {
    const int work_size = 1 + 6 * n + 2 * n * n;
    const Scratch<T> work(work_size);
    spectra<T>()->syevd("V", "U", &n, x.data(), &n, w.data(), work.data(), &work_size, integers.data(), &integers_size,
                        &info, 1, 1);
  }
  copy_matrix(values, w.rows);
  copy_matrix(vectors, x.rows.transposed());
  return info;
}

template <class T>
int svd_of_one(Matrix<T> u, Matrix<real_of<T>> s, Matrix<T> vh, Matrix<const T> a) {
  const int m = static_cast<int>(a.rows), n = static_cast<int>(a.cols), k = std::min(m, n), ask = -1;
  const int left_size = static_cast<int>(u.cols), right_size = static_cast<int>(vh.rows);
  const char* const job = std::max(left_size, right_size) > k ? "A" : "S";
  const RowMajor<T> x(m, n), left(m, left_size), right(right_size, n);
  const RowMajor<real_of<T>> values(k, 1);
  copy_matrix(x.rows, a);
  if (!is_finite(x.rows)) return not_finite;
  int info = 0;
  T best_size = 0;
  const Scratch<int> integers(8 * k);
  const std::int64_t less = k, more = std::max(m, n);
  const Scratch<real_of<T>> reals(is_complex<T> ? less * std::max(5 * less + 7, 2 * more + 2 * less + 1) : 0);
  const auto run = [&](T* work, const int* work_size) {
    if constexpr (is_complex<T>)
      spectra<T>()->gesdd(job, &n, &m, x.data(), &n, values.data(), right.data(), &n, left.data(), &left_size, work,
                          work_size, reals.data(), integers.data(), &info, 1);
    else
      spectra<T>()->gesdd(job, &n, &m, x.data(), &n, values.data(), right.data(), &n, left.data(), &left_size, work,
                          work_size, integers.data(), &info, 1);
  };
  run(&best_size, &ask);
  const int work_size = size_of_work(best_size);
  const Scratch<T> work(work_size);
  run(work.data(), &work_size);
  if constexpr (is_complex<T>) {
    for (std::int64_t j = 0; j < k; ++j) {
      const T phase = phase_of_greatest(left.rows, j);
      for (std::int64_t i = 0; i < m; ++i) left.rows(i, j) *= phase;
      for (std::int64_t i = 0; i < n; ++i) right.rows(j, i) *= std::conj(phase);
    }
  }
  copy_matrix(u, left.rows);
  copy_matrix(s, values.rows);
  copy_matrix(vh, right.rows);
  return info;
}

#define RICCI_LAPACK_SPECTRAL(T)                                            \
  template int eigh_of_one(Matrix<real_of<T>>, Matrix<T>, Matrix<const T>); \
  template int svd_of_one(Matrix<T>, Matrix<real_of<T>>, Matrix<T>, Matrix<const T>);
RICCI_LAPACK_SPECTRAL(float)
RICCI_LAPACK_SPECTRAL(double)
RICCI_LAPACK_SPECTRAL(std::complex<float>)
RICCI_LAPACK_SPECTRAL(std::complex<double>)

}  // namespace ricci::kernels
