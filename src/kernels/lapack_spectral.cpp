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

/// (a + aᴴ) / 2, handed over transposed.
template <class T>
void copy_hermitian(const Matrix<T>& x, const Matrix<const T>& a) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      x(j, i) = hermitian_element(a, i, j);
      x(i, j) = conjugate(x(j, i));
    }
  }
}

/// Values, ascending; with the job "V" the vectors take the place of x, in rows.
template <class T>
int run_syevd(const char* job, const RowMajor<T>& x, const RowMajor<real_of<T>>& values) {
  const bool has_vectors = *job == 'V';
  const std::int64_t square = has_vectors ? x.rows.rows * x.rows.rows : 0;
  const int n = static_cast<int>(x.rows.rows), integers_size = has_vectors ? 3 + 5 * n : 1;
  const Scratch<int> integers(integers_size);
  int info = 0;
  if constexpr (is_complex<T>) {
    const int work_size = static_cast<int>(2 * n + square), reals_size = static_cast<int>(1 + 5 * n + 2 * square);
    const Scratch<T> work(work_size);
    const Scratch<real_of<T>> reals(reals_size);
    spectra<T>()->syevd(job, "U", &n, x.data(), &n, values.data(), work.data(), &work_size, reals.data(), &reals_size,
                        integers.data(), &integers_size, &info, 1, 1);
  } else {
    const int work_size = static_cast<int>(1 + 6 * n + 2 * square);
    const Scratch<T> work(work_size);
    spectra<T>()->syevd(job, "U", &n, x.data(), &n, values.data(), work.data(), &work_size, integers.data(),
                        &integers_size, &info, 1, 1);
  }
  return info;
}

/// Values, descending; with the jobs "S" and "A" the vectors: vh is what LAPACK calls u, and u its vt. x is used up.
template <class T>
int run_gesdd(const char* job, const RowMajor<T>& x, const RowMajor<real_of<T>>& values, T* u, int u_columns, T* vh) {
  const int m = static_cast<int>(x.rows.rows), n = static_cast<int>(x.rows.cols), k = std::min(m, n), ask = -1;
  int info = 0;
  T best_size = 0;
  const Scratch<int> integers(8 * k);
  const std::int64_t less = k, more = std::max(m, n);
  const std::int64_t reals_size = *job == 'N' ? 7 * less : less * std::max(5 * less + 7, 2 * more + 2 * less + 1);
  const Scratch<real_of<T>> reals(is_complex<T> ? reals_size : 0);
  const auto run = [&](T* work, const int* work_size) {
    if constexpr (is_complex<T>)
      spectra<T>()->gesdd(job, &n, &m, x.data(), &n, values.data(), vh, &n, u, &u_columns, work, work_size,
                          reals.data(), integers.data(), &info, 1);
    else
      spectra<T>()->gesdd(job, &n, &m, x.data(), &n, values.data(), vh, &n, u, &u_columns, work, work_size,
                          integers.data(), &info, 1);
  };
  run(&best_size, &ask);
  const int work_size = size_of_work(best_size);
  const Scratch<T> work(work_size);
  run(work.data(), &work_size);
  return info;
}

}  // namespace

template <class T>
int eigh_of_one(Matrix<real_of<T>> values, Matrix<T> vectors, Matrix<const T> a) {
  const std::int64_t n = a.rows;
  const RowMajor<T> x(n, n);
  const RowMajor<real_of<T>> w(n, 1);
  copy_hermitian(x.rows, a);
  if (!is_finite(x.rows)) return not_finite;
  const int info = run_syevd("V", x, w);
  const Matrix<T> columns = x.rows.transposed();
  if constexpr (is_complex<T>) {
    for (std::int64_t j = 0; j < n; ++j) {
      const T phase = phase_of_greatest(columns, j);
      for (std::int64_t i = 0; i < n; ++i) columns(i, j) *= phase;
    }
  }
  copy_matrix(values, w.rows);
  copy_matrix(vectors, columns);
  return info;
}

template <class T>
int eigvalsh_of_one(Matrix<real_of<T>> values, Matrix<const T> a) {
  const RowMajor<T> x(a.rows, a.rows);
  const RowMajor<real_of<T>> w(a.rows, 1);
  copy_hermitian(x.rows, a);
  if (!is_finite(x.rows)) return not_finite;
  const int info = run_syevd("N", x, w);
  copy_matrix(values, w.rows);
  return info;
}

template <class T>
int svd_of_one(Matrix<T> u, Matrix<real_of<T>> s, Matrix<T> vh, Matrix<const T> a) {
  const std::int64_t m = a.rows, n = a.cols, k = std::min(m, n);
  // LAPACK sees the transpose, and takes longer for more columns than rows. The phases of complex vectors go by u.
  if constexpr (!is_complex<T>)
    if (m > n) return svd_of_one(vh.transposed(), s, u.transposed(), a.transposed());
  const RowMajor<T> x(m, n), left(m, u.cols), right(vh.rows, n);
  const RowMajor<real_of<T>> values(k, 1);
  copy_matrix(x.rows, a);
  if (!is_finite(x.rows)) return not_finite;
  const char* const job = std::max(u.cols, vh.rows) > k ? "A" : "S";
  const int info = run_gesdd(job, x, values, left.data(), static_cast<int>(u.cols), right.data());
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

template <class T>
int svdvals_of_one(Matrix<real_of<T>> s, Matrix<const T> a) {
  const RowMajor<T> x(a.rows, a.cols);
  const RowMajor<real_of<T>> values(std::min(a.rows, a.cols), 1);
  copy_matrix(x.rows, a);
  if (!is_finite(x.rows)) return not_finite;
  const int info = run_gesdd<T>("N", x, values, nullptr, 1, nullptr);
  copy_matrix(s, values.rows);
  return info;
}

#define RICCI_LAPACK_SPECTRAL(T)                                                      \
  template int eigh_of_one(Matrix<real_of<T>>, Matrix<T>, Matrix<const T>);           \
  template int eigvalsh_of_one<T>(Matrix<real_of<T>>, Matrix<const T>);               \
  template int svd_of_one(Matrix<T>, Matrix<real_of<T>>, Matrix<T>, Matrix<const T>); \
  template int svdvals_of_one<T>(Matrix<real_of<T>>, Matrix<const T>);
RICCI_LAPACK_SPECTRAL(float)
RICCI_LAPACK_SPECTRAL(double)
RICCI_LAPACK_SPECTRAL(std::complex<float>)
RICCI_LAPACK_SPECTRAL(std::complex<double>)

}  // namespace ricci::kernels
