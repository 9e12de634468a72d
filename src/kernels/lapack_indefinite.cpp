// LAPACK is column-major: it is handed the transpose of a row-major matrix.
#include "kernels/lapack_indefinite.h"

#include <algorithm>

#include "kernels/blas.h"

namespace ricci::kernels {

template <class T>
int ldl_of_one(Matrix<T> ld, Matrix<std::int32_t> pivots, Matrix<const T> a, bool hermitian) {
  const int n = static_cast<int>(a.rows), work_size = 64 * n;  // LAPACK takes up to 64 columns at a time
  const RowMajor<T> memory(n, n);
  const Matrix<T> x = memory.rows.transposed();
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i)
      x(i, j) = hermitian ? hermitian_element(a, i, j) : a(i, j) * real_of<T>(0.5) + a(j, i) * real_of<T>(0.5);
  }
  const Scratch<int> places(n);
  const Scratch<T> work(work_size);
  int info = 0;
  const auto symmetric = indefinite<T>();
  (hermitian ? symmetric->hetrf : symmetric->sytrf)("L", &n, x.data, &n, places.data(), work.data(), &work_size, &info,
                                                    1);
  for (std::int64_t i = 0; i < n; ++i) {
    pivots(i, 0) = places.data()[i];
    for (std::int64_t j = 0; j < n; ++j) ld(i, j) = j <= i ? x(i, j) : T(0);
  }
  return info;
}

#define RICCI_LAPACK_INDEFINITE(T) \
  template int ldl_of_one(Matrix<T>, Matrix<std::int32_t>, Matrix<const T>, bool hermitian);
RICCI_LAPACK_INDEFINITE(float)
RICCI_LAPACK_INDEFINITE(double)
RICCI_LAPACK_INDEFINITE(std::complex<float>)
RICCI_LAPACK_INDEFINITE(std::complex<double>)

}  // namespace ricci::kernels
