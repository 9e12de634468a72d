// Row-major copies are handed to BLAS as they lie: what it multiplies and solves is their transposes.
#include "kernels/lapack_functions.h"

#include <algorithm>
#include <limits>
#include <span>

#include "kernels/blas.h"
#include "kernels/lapack_large.h"
#include "kernels/lapack_spectral.h"
#include "kernels/matmul_copy.h"

namespace ricci::kernels {
namespace {

template <class T>
Matrix<const T> read(const Matrix<T>& x) {
  return {x.data, x.rows, x.cols, x.row_stride, x.col_stride};
}

/// c = op(a) op(b) of row-major matrices; an op is 'N', or 'C' for the conjugate transpose.
template <class T>
void multiply(const RowMajor<T>& c, char op_a, const RowMajor<T>& a, char op_b, const RowMajor<T>& b) {
  const int m = static_cast<int>(c.rows.rows), n = static_cast<int>(c.rows.cols),
            k = static_cast<int>(op_a == 'N' ? a.rows.cols : a.rows.rows);
  const int lda = std::max(1, static_cast<int>(a.rows.cols)), ldb = std::max(1, static_cast<int>(b.rows.cols));
  const T one = 1, zero = 0;
  blas<T>()->gemm(&op_b, &op_a, &n, &m, &k, &one, b.data(), &ldb, a.data(), &lda, &zero, c.data(), &n, 1, 1);
}

template <class T>
void scale_columns(const Matrix<T>& x, const Matrix<real_of<T>>& by) {
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.cols; ++j) x(i, j) *= by(j, 0);
}
template <class T>
void scale_rows(const Matrix<T>& x, const Matrix<real_of<T>>& by) {
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.cols; ++j) x(i, j) *= by(i, 0);
}

/// A Padé approximant of exp, and up to which 1-norm it rounds to nothing, in double and in single precision: Higham,
/// "The scaling and squaring method for the matrix exponential revisited", 2005.
struct Approximant {
  int degree;
  double most_in_double, most_in_single;
  double numerator[14];

  template <class T> double most() const { return std::is_same_v<real_of<T>, float> ? most_in_single : most_in_double; }
};
constexpr Approximant approximants[] = {
    {3, 1.495585217958292e-2, 4.258730016922831e-1, {120, 60, 12, 1}},
    {5, 2.539398330063230e-1, 1.880152677804762, {30240, 15120, 3360, 420, 30, 1}},
    {7, 9.504178996162932e-1, 3.925724783138660, {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1}},
    {9, 2.097847961257068, 0, {17643225600, 8821612800, 2075673600, 302702400, 30270240, 2162160, 110880, 3960, 90, 1}},
    {13,
     5.371920351148152,
     0,
     {64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
      670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1}}};

/// Those that a precision needs.
template <class T>
std::span<const Approximant> approximants_of() {
  constexpr std::size_t in_single = 3;
  const std::span<const Approximant> all = approximants;
  return std::is_same_v<real_of<T>, float> ? all.first(in_single) : all;
}

template <class T>
double one_norm(const Matrix<T>& a) {
  double greatest = 0;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) sum += static_cast<double>(std::abs(a(i, j)));
    greatest = std::max(greatest, sum);
  }
  return greatest;
}

/// Every other coefficient from `first` on times the powers a⁰, a², a⁴, … of which a⁰ is not among those given.
template <class T>
void sum_powers(const Approximant& by, std::span<const RowMajor<T>* const> powers, int first, T* to, std::int64_t n) {
  for (std::int64_t e = 0; e < n * n; ++e) {
    T sum = e % (n + 1) == 0 ? static_cast<T>(by.numerator[first]) : T(0);
    for (std::size_t p = 0; p < powers.size(); ++p)
      sum += static_cast<real_of<T>>(by.numerator[first + 2 * static_cast<int>(p + 1)]) * powers[p]->data()[e];
    to[e] = sum;
  }
}

/// odd and even such that (even - odd)⁻¹ (even + odd) is the approximant of exp(a).
template <class T>
void parts_of(const Approximant& by, const RowMajor<T>& a, const RowMajor<T>& odd, const RowMajor<T>& even) {
  const std::int64_t n = a.rows.rows;
  const RowMajor<T> a2(n, n), a4(n, n), a6(n, n), a8(n, n), inner(n, n);
  const RowMajor<T>* const powers[] = {&a2, &a4, &a6, &a8};
  multiply(a2, 'N', a, 'N', a);
  if (by.degree > 3) multiply(a4, 'N', a2, 'N', a2);
  if (by.degree > 5) multiply(a6, 'N', a4, 'N', a2);
  if (by.degree == 9) multiply(a8, 'N', a4, 'N', a4);
  const std::size_t count = by.degree == 13 ? 3 : static_cast<std::size_t>(by.degree / 2);
  const std::span<const RowMajor<T>* const> used(powers, count);
  sum_powers(by, used, 0, even.data(), n);
  sum_powers(by, used, 1, inner.data(), n);
  if (by.degree == 13) {  // a⁶ times the highest powers
    const RowMajor<T> high(n, n), product(n, n);
    const auto add_high = [&](int first, T* to) {
      for (std::int64_t e = 0; e < n * n; ++e)
        high.data()[e] = static_cast<real_of<T>>(by.numerator[first]) * a2.data()[e] +
                         static_cast<real_of<T>>(by.numerator[first + 2]) * a4.data()[e] +
                         static_cast<real_of<T>>(by.numerator[first + 4]) * a6.data()[e];
      multiply(product, 'N', a6, 'N', high);
      for (std::int64_t e = 0; e < n * n; ++e) to[e] += product.data()[e];
    };
    add_high(8, even.data());
    add_high(9, inner.data());
  }
  multiply(odd, 'N', a, 'N', inner);
}

}  // namespace

template <class T>
int hermitian_sylvester_of_one(Matrix<T> x, Matrix<const T> h, Matrix<const T> c) {
  const std::int64_t n = h.rows;
  const RowMajor<real_of<T>> values(n, 1);
  const RowMajor<T> v(n, n), right(n, n), inner(n, n);
  if (const int info = eigh_of_one(values.rows, v.rows, h); info != 0) return info;
  copy_matrix(right.rows, c);
  multiply(inner, 'C', v, 'N', right);
  multiply(right, 'N', inner, 'N', v);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      T& y = right.rows(i, j);
      y = y == T(0) ? T(0) : y / (values.rows(i, 0) + values.rows(j, 0));
    }
  multiply(inner, 'N', v, 'N', right);
  multiply(right, 'N', inner, 'C', v);
  copy_matrix(x, right.rows);
  return 0;
}

template <class T>
int hermitian_sqrt_of_one(Matrix<T> x, Matrix<const T> a) {
  const std::int64_t n = a.rows;
  const RowMajor<real_of<T>> values(n, 1);
  const RowMajor<T> v(n, n), scaled(n, n), result(n, n);
  if (const int info = eigh_of_one(values.rows, v.rows, a); info != 0) return info;
  for (std::int64_t i = 0; i < n; ++i) values.rows(i, 0) = std::sqrt(values.rows(i, 0));
  copy_matrix(scaled.rows, v.rows);
  scale_columns(scaled.rows, values.rows);
  multiply(result, 'N', scaled, 'C', v);
  copy_matrix(x, result.rows);
  return 0;
}

template <class T>
int polar_of_one(Matrix<T> q, Matrix<T> h, Matrix<const T> a) {
  const std::int64_t m = a.rows, n = a.cols;
  const RowMajor<real_of<T>> values(n, 1);
  const RowMajor<T> u(m, n), vh(n, n), scaled(n, n), unitary(m, n), hermitian(n, n);
  if (const int info = svd_of_one(u.rows, values.rows, vh.rows, a); info != 0) return info;
  multiply(unitary, 'N', u, 'N', vh);
  copy_matrix(scaled.rows, vh.rows);
  scale_rows(scaled.rows, values.rows);
  multiply(hermitian, 'C', vh, 'N', scaled);
  copy_matrix(q, unitary.rows);
  copy_matrix(h, hermitian.rows);
  return 0;
}

template <class T>
void exp_of_one(Matrix<T> out, Matrix<const T> a) {
  const std::int64_t n = a.rows;
  const RowMajor<T> x(n, n), odd(n, n), even(n, n), sum(n, n);
  copy_matrix(x.rows, a);
  const double size = one_norm(x.rows);
  if (!std::isfinite(size)) {
    std::fill_n(x.data(), n * n, std::numeric_limits<real_of<T>>::quiet_NaN());
    return copy_matrix(out, x.rows);
  }
  const std::span<const Approximant> all = approximants_of<T>();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Approximant& by) { return size <= by.most<T>(); });
  const Approximant& by = found == all.end() ? all.back() : *found;
  const int halvings = size > by.most<T>() ? static_cast<int>(std::ceil(std::log2(size / by.most<T>()))) : 0;
  if (halvings > 0)
    for (std::int64_t e = 0; e < n * n; ++e) x.data()[e] *= static_cast<real_of<T>>(std::ldexp(1.0, -halvings));
  parts_of(by, x, odd, even);
  for (std::int64_t e = 0; e < n * n; ++e) {
    sum.data()[e] = even.data()[e] + odd.data()[e];
    even.data()[e] -= odd.data()[e];
  }
  const Scratch<std::int32_t> exchanges(n);
  const Matrix<std::int32_t> pivots = row_major(exchanges.data(), n, 1);
  lu_factor_large<T>(even.rows, pivots, read(even.rows));
  lu_solve_large<T>(x.rows, read(even.rows), read(pivots), read(sum.rows), 'N');
  for (int i = 0; i < halvings; ++i) {
    multiply(sum, 'N', x, 'N', x);
    std::copy_n(sum.data(), n * n, x.data());
  }
  copy_matrix(out, x.rows);
}

#define RICCI_LAPACK_FUNCTIONS(T)                                                       \
  template int hermitian_sylvester_of_one(Matrix<T>, Matrix<const T>, Matrix<const T>); \
  template int hermitian_sqrt_of_one(Matrix<T>, Matrix<const T>);                       \
  template int polar_of_one(Matrix<T>, Matrix<T>, Matrix<const T>);                     \
  template void exp_of_one(Matrix<T>, Matrix<const T>);
RICCI_LAPACK_FUNCTIONS(float)
RICCI_LAPACK_FUNCTIONS(double)
RICCI_LAPACK_FUNCTIONS(std::complex<float>)
RICCI_LAPACK_FUNCTIONS(std::complex<double>)

}  // namespace ricci::kernels
