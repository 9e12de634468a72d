// LAPACK is column-major: a matrix is copied into the transpose of a row-major one.
#include "kernels/lapack_general.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/blas.h"
#include "kernels/matmul_copy.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

/// m × n, column-major.
template <class T>
struct Columns {
  Scratch<T> memory;
  Matrix<T> matrix;

  Columns(std::int64_t m, std::int64_t n) : memory(m * n), matrix(row_major(memory.data(), n, m).transposed()) {}
  T* data() const { return memory.data(); }
};

/// run(work, size) with as much working memory as LAPACK wants: asked with size -1, it says so in work[0].
template <class T, class Run>
void with_work(const Run& run) {
  T best = 0;
  const int ask = -1;
  run(&best, &ask);
  const int size = std::max(
      1, static_cast<int>(std::nextafter(static_cast<float>(std::real(best)), std::numeric_limits<float>::infinity())));
  const Scratch<T> work(size);
  run(work.data(), &size);
}

/// Working memory for `columns` columns and so many reflections: LAPACK takes 32 at a time. To ask it how much it wants
/// takes as long as a small matrix does.
int work_size(int columns, int reflections) {
  const std::int64_t wanted = std::int64_t{columns} * std::clamp(reflections, 1, 32);
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, std::numeric_limits<int>::max()));
}

/// R and, below it, the reflections, in the place of a.
template <class T>
void factor(int m, int n, T* a, T* scales) {
  int info = 0;
  const int size = work_size(n, std::min(m, n));
  const Scratch<T> work(size);
  orthogonal<T>()->geqrf(&m, &n, a, &m, scales, work.data(), &size, &info);
}

/// Values, and the vectors unless `vectors` is null; a is used up.
template <class T>
int run_geev(int n, const Columns<T>& a, complex_of<T>* values, const Columns<complex_of<T>>* vectors) {
  int info = 0;
  const int one = 1;
  const char* const job = vectors ? "V" : "N";
  if constexpr (std::is_floating_point_v<T>) {
    const Columns<T> right(vectors ? n : 1, vectors ? n : 1);
    const Scratch<T> re(n), im(n);
    with_work<T>([&](T* work, const int* size) {
      spectra<T>()->geev("N", job, &n, a.data(), &n, re.data(), im.data(), nullptr, &one, right.data(), &n, work, size,
                         &info, 1, 1);
    });
    if (info != 0) return info;
    for (std::int64_t j = 0; j < n; ++j) values[j] = {re.data()[j], im.data()[j]};
    if (!vectors) return 0;
    for (std::int64_t j = 0; j < n; ++j) {  // of a conjugate pair the real part is in one column, the other in the next
      const bool is_pair = im.data()[j] != T(0);
      for (std::int64_t i = 0; i < n; ++i) {
        const T x = right.matrix(i, j), y = is_pair ? right.matrix(i, j + 1) : T(0);
        vectors->matrix(i, j) = {x, y};
        if (is_pair) vectors->matrix(i, j + 1) = {x, -y};
      }
      j += is_pair ? 1 : 0;
    }
  } else {
    const Scratch<typename T::value_type> reals(2 * n);
    with_work<T>([&](T* work, const int* size) {
      spectra<T>()->geev("N", job, &n, a.data(), &n, values, nullptr, &one, vectors ? vectors->data() : nullptr, &n,
                         work, size, reals.data(), &info, 1, 1);
    });
  }
  return info;
}

}  // namespace

template <class T>
void geqrf_of_one(Matrix<T> packed, Matrix<T> scales, Matrix<const T> a) {
  const int m = static_cast<int>(a.rows), n = static_cast<int>(a.cols);
  const Columns<T> x(m, n);
  const Scratch<T> tau(std::min(m, n));
  copy_matrix(x.matrix, a);
  factor(m, n, x.data(), tau.data());
  copy_matrix(packed, x.matrix);
  copy_matrix(scales, row_major(tau.data(), scales.rows, 1));
}

template <class T>
void qr_of_one(Matrix<T> q, Matrix<T> r, Matrix<const T> a) {
  const int m = static_cast<int>(a.rows), n = static_cast<int>(a.cols), columns = static_cast<int>(q.cols),
            reflections = std::min(m, n);
  const Columns<T> x(m, std::max(n, columns));
  const Scratch<T> scales(reflections);
  copy_matrix(x.matrix.part(0, m, 0, n), a);
  factor(m, n, x.data(), scales.data());
  for (std::int64_t i = 0; i < r.rows; ++i)
    for (std::int64_t j = 0; j < n; ++j) r(i, j) = j < i ? T(0) : x.matrix(i, j);
  int info = 0;
  const int size = work_size(columns, reflections);
  const Scratch<T> work(size);
  orthogonal<T>()->orgqr(&m, &columns, &reflections, x.data(), &m, scales.data(), work.data(), &size, &info);
  copy_matrix(q, x.matrix.part(0, m, 0, columns));
}

template <class T>
int eig_of_one(Matrix<complex_of<T>> values, Matrix<complex_of<T>> vectors, Matrix<const T> a) {
  const int n = static_cast<int>(a.rows);
  if (!is_finite(a)) return not_finite;
  const Columns<T> x(n, n);
  copy_matrix(x.matrix, a);
  const Scratch<complex_of<T>> w(n);
  const Columns<complex_of<T>> v(n, n);
  const int info = run_geev<T>(n, x, w.data(), &v);
  if (info != 0) return info;
  copy_matrix(values, row_major(w.data(), n, 1));
  for (std::int64_t j = 0; j < n; ++j) {
    const complex_of<T> phase = phase_of_greatest(v.matrix, j);
    for (std::int64_t i = 0; i < n; ++i) vectors(i, j) = v.matrix(i, j) * phase;
  }
  return 0;
}

template <class T>
int eigvals_of_one(Matrix<complex_of<T>> values, Matrix<const T> a) {
  const int n = static_cast<int>(a.rows);
  if (!is_finite(a)) return not_finite;
  const Columns<T> x(n, n);
  copy_matrix(x.matrix, a);
  const Scratch<complex_of<T>> w(n);
  const int info = run_geev<T>(n, x, w.data(), nullptr);
  copy_matrix(values, row_major(w.data(), n, 1));
  return info;
}

#define RICCI_LAPACK_GENERAL(T)                                                              \
  template void qr_of_one(Matrix<T>, Matrix<T>, Matrix<const T>);                            \
  template void geqrf_of_one(Matrix<T>, Matrix<T>, Matrix<const T>);                         \
  template int eig_of_one<T>(Matrix<complex_of<T>>, Matrix<complex_of<T>>, Matrix<const T>); \
  template int eigvals_of_one<T>(Matrix<complex_of<T>>, Matrix<const T>);
RICCI_LAPACK_GENERAL(float)
RICCI_LAPACK_GENERAL(double)
RICCI_LAPACK_GENERAL(std::complex<float>)
RICCI_LAPACK_GENERAL(std::complex<double>)

}  // namespace ricci::kernels
