// Factorisations and solutions, checked by multiplying back, for every size at which another kernel takes over.
#include "kernels/lapack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "kernels/strided_array.h"
#include "kernels/wide.h"

namespace ricci::kernels {
namespace {

using kernel_tests::draw;
using kernel_tests::Sizes;
using kernel_tests::Wide;

/// A batch of matrices [batch, rows, cols] in one of several layouts.
enum class Layout { rows, columns, batch_last, gaps };
constexpr Layout layouts[] = {Layout::rows, Layout::columns, Layout::batch_last, Layout::gaps};

template <class T>
struct Matrices {
  Sizes shape, strides;
  std::vector<T> storage;

  Matrices(std::int64_t batch, std::int64_t rows, std::int64_t cols, Layout layout = Layout::rows)
      : shape{batch, rows, cols} {
    const std::int64_t gap = layout == Layout::gaps ? 3 : 0;
    if (layout == Layout::columns) strides = {rows * cols, 1, rows};
    else if (layout == Layout::batch_last) strides = {1, cols * batch, batch};
    else strides = {rows * (2 * cols + gap), 2 * cols + gap, 2};
    if (layout == Layout::rows) strides = {rows * cols, cols, 1};
    storage.resize(static_cast<std::size_t>(batch * rows * (2 * cols + gap) + 1));
  }

  T& operator()(std::int64_t b, std::int64_t i, std::int64_t j) {
    return storage[static_cast<std::size_t>(b * strides[0] + i * strides[1] + j * strides[2])];
  }
  Strided view() { return {storage.data(), dtype_of<T>, 3, shape.data(), strides.data()}; }

  std::int64_t batch() const { return shape[0]; }
  std::int64_t rows() const { return shape[1]; }
  std::int64_t cols() const { return shape[2]; }
};

struct Pivots {
  Sizes shape, strides;
  std::vector<std::int32_t> storage;
  Pivots(std::int64_t batch, std::int64_t n) : shape{batch, n}, strides{n, 1}, storage(batch * n + 1) {}
  Strided view() { return {storage.data(), DType::int32, 2, shape.data(), strides.data()}; }
};

template <class T>
void fill(Matrices<T>& x, int seed) {
  std::mt19937 random(seed);
  for (T& element : x.storage) element = draw<T>(random);
}

template <class T>
T conjugate(T x) {
  if constexpr (std::is_floating_point_v<T>) return x;
  else return std::conj(x);
}

template <class T>
double tolerance(std::int64_t n) {
  const bool is_single = real_dtype(dtype_of<T>) == DType::float32;
  return (is_single ? 0x1p-23 : 0x1p-52) * 60.0 * static_cast<double>(n + 1);
}

/// Hermitian and positive definite: m mᴴ / n + 1.
template <class T>
void fill_positive(Matrices<T>& a, int seed) {
  Matrices<T> m(a.batch(), a.rows(), a.rows());
  fill(m, seed);
  const auto n = static_cast<double>(a.rows());
  for (std::int64_t b = 0; b < a.batch(); ++b) {
    for (std::int64_t i = 0; i < a.rows(); ++i) {
      for (std::int64_t j = 0; j < a.rows(); ++j) {
        Wide<T> sum = i == j ? 1.0 : 0.0;
        for (std::int64_t k = 0; k < a.rows(); ++k) {
          sum += static_cast<Wide<T>>(m(b, i, k)) * static_cast<Wide<T>>(conjugate(m(b, j, k))) / n;
        }
        a(b, i, j) = static_cast<T>(sum);
      }
    }
  }
}

/// Far from singular: random, with n on the diagonal.
template <class T>
void fill_regular(Matrices<T>& a, int seed) {
  fill(a, seed);
  for (std::int64_t b = 0; b < a.batch(); ++b) {
    // The largest elements stand off the diagonal, so that rows must be exchanged.
    for (std::int64_t i = 0; i < a.rows(); ++i) a(b, i, (i + 1) % a.rows()) += T(static_cast<float>(a.rows()));
  }
}

/// op(a)(i, k) as the solvers see the triangle of a.
template <class T>
Wide<T> element(Matrices<T>& a, std::int64_t b, std::int64_t i, std::int64_t k, Transpose op, bool triangular,
                bool upper, bool unit) {
  if (op != Transpose::no) std::swap(i, k);
  if (triangular && i == k && unit) return 1.0;
  if (triangular && i != k && (k > i) != upper) return 0.0;
  const auto x = static_cast<Wide<T>>(a(b, i, k));
  return op == Transpose::conjugate ? conjugate(x) : x;
}

template <class T>
void expect_solved(Matrices<T>& x, Matrices<T>& a, Matrices<T>& b, Transpose op, bool triangular, bool upper,
                   bool unit) {
  for (std::int64_t batch = 0; batch < x.batch(); ++batch) {
    for (std::int64_t i = 0; i < x.rows(); ++i) {
      for (std::int64_t j = 0; j < x.cols(); ++j) {
        Wide<T> sum = 0.0;
        double size = 1.0;
        for (std::int64_t k = 0; k < x.rows(); ++k) {
          const Wide<T> term =
              element(a, batch, i, k, op, triangular, upper, unit) * static_cast<Wide<T>>(x(batch, k, j));
          sum += term;
          size = std::max(size, std::abs(term));
        }
        ASSERT_LE(std::abs(sum - static_cast<Wide<T>>(b(batch, i, j))), size * tolerance<T>(x.rows()))
            << "matrix " << batch << " at " << i << ", " << j;
      }
    }
  }
}

constexpr std::int64_t orders[] = {1, 3, 4, 5, 16, 32, 33};

template <class T>
class Lapack : public ::testing::Test {};
using Elements = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Lapack, Elements);

TYPED_TEST(Lapack, cholesky_gives_a_lower_factor_of_every_matrix) {
  using T = TypeParam;
  for (const std::int64_t n : orders) {
    for (const std::int64_t batch : {1, 3, 17}) {
      for (const Layout layout : layouts) {
        SCOPED_TRACE(::testing::Message() << "n " << n << " batch " << batch << " layout " << int(layout));
        Matrices<T> a(batch, n, n, layout), l(batch, n, n, layout == Layout::rows ? Layout::gaps : layout);
        fill_positive(a, 1);
        Matrices<T> whole = a;
        for (std::int64_t b = 0; b < batch; ++b) {
          for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = i + 1; j < n; ++j) a(b, i, j) += T(0.5f), a(b, j, i) -= T(0.5f);
          }
        }
        fill(l, 2);
        std::vector<std::int32_t> info(batch, -1);
        cholesky(l.view(), a.view(), info.data());
        for (std::int64_t b = 0; b < batch; ++b) {
          ASSERT_EQ(info[b], 0);
          for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
              ASSERT_TRUE(j <= i || l(b, i, j) == T{});
              Wide<T> sum = 0.0;
              for (std::int64_t k = 0; k <= std::min(i, j); ++k) {
                sum += static_cast<Wide<T>>(l(b, i, k)) * static_cast<Wide<T>>(conjugate(l(b, j, k)));
              }
              ASSERT_LE(std::abs(sum - static_cast<Wide<T>>(whole(b, i, j))), tolerance<T>(n))
                  << b << " " << i << " " << j;
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(Lapack, cholesky_reports_the_first_bad_minor_of_each_matrix) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 4, 7, 40}) {
    for (const std::int64_t batch : {1, 11}) {
      Matrices<T> a(batch, n, n), l(batch, n, n);
      fill_positive(a, 3);
      for (std::int64_t b = 0; b < batch; b += 2) a(b, b % n, b % n) = T(-5.0f);
      std::vector<std::int32_t> info(batch, -1);
      cholesky(l.view(), a.view(), info.data());
      for (std::int64_t b = 0; b < batch; ++b) EXPECT_EQ(info[b], b % 2 == 0 ? b % n + 1 : 0) << "n " << n;
      a(batch - 1, 0, 0) = T(std::numeric_limits<float>::quiet_NaN());
      cholesky(l.view(), a.view(), info.data());
      EXPECT_EQ(info[batch - 1], 1) << "nan, n " << n;
    }
  }
}

TYPED_TEST(Lapack, lu_solves_systems_and_their_transposes) {
  using T = TypeParam;
  for (const std::int64_t n : orders) {
    for (const std::int64_t batch : {1, 3, 17}) {
      for (const Layout layout : layouts) {
        for (const std::int64_t r : {1, 18}) {
          SCOPED_TRACE(::testing::Message()
                       << "n " << n << " batch " << batch << " layout " << int(layout) << " r " << r);
          Matrices<T> a(batch, n, n, layout), lu(batch, n, n, layout), b(batch, n, r, layout), x(batch, n, r, layout);
          Pivots pivots(batch, n);
          std::vector<std::int32_t> info(batch, -1);
          fill_regular(a, 4);
          fill(b, 5);
          lu_factor(lu.view(), pivots.view(), a.view(), info.data());
          EXPECT_EQ(info, std::vector<std::int32_t>(batch, 0));
          for (const Transpose op : {Transpose::no, Transpose::yes, Transpose::conjugate}) {
            lu_solve(x.view(), lu.view(), pivots.view(), b.view(), op);
            expect_solved(x, a, b, op, false, false, false);
          }
        }
      }
    }
  }
}

TYPED_TEST(Lapack, lu_factors_multiply_back_to_the_permuted_matrix) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 3, 6, 40}) {
    const std::int64_t batch = 9;
    Matrices<T> a(batch, n, n), lu(batch, n, n);
    Pivots pivots(batch, n);
    std::vector<std::int32_t> info(batch);
    fill_regular(a, 6);
    lu_factor(lu.view(), pivots.view(), a.view(), info.data());
    for (std::int64_t b = 0; b < batch; ++b) {
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t other = pivots.storage[b * n + i] - 1;
        ASSERT_GE(other, i);
        ASSERT_LT(other, n);
        for (std::int64_t j = 0; j < n; ++j) std::swap(a(b, i, j), a(b, other, j));
      }
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          Wide<T> sum = i <= j ? static_cast<Wide<T>>(lu(b, i, j)) : Wide<T>(0.0);
          for (std::int64_t k = 0; k < std::min(i, j + 1); ++k) {
            sum += static_cast<Wide<T>>(lu(b, i, k)) * static_cast<Wide<T>>(lu(b, k, j));
          }
          ASSERT_LE(std::abs(sum - static_cast<Wide<T>>(a(b, i, j))), static_cast<double>(n) * tolerance<T>(n));
        }
      }
    }
  }
}

TYPED_TEST(Lapack, lu_and_inverse_report_the_first_zero_pivot) {
  using T = TypeParam;
  for (const std::int64_t n : {2, 4, 9, 40}) {
    for (const std::int64_t batch : {1, 10}) {
      Matrices<T> a(batch, n, n), lu(batch, n, n);
      for (std::int64_t b = 0; b < batch; ++b) {
        for (std::int64_t i = 0; i < n; ++i) a(b, i, i) = T(b % 2 == 0 && i == b % n ? 0.0f : 2.0f);
      }
      Pivots pivots(batch, n);
      std::vector<std::int32_t> info(batch, -1), inverse_info(batch, -1);
      lu_factor(lu.view(), pivots.view(), a.view(), info.data());
      inverse(lu.view(), a.view(), inverse_info.data());
      for (std::int64_t b = 0; b < batch; ++b) EXPECT_EQ(info[b], b % 2 == 0 ? b % n + 1 : 0) << "n " << n;
      EXPECT_EQ(info, inverse_info);
    }
  }
}

TYPED_TEST(Lapack, triangular_solve_serves_every_triangle) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 4, 5, 33}) {
    for (const std::int64_t batch : {1, 3, 17}) {
      for (const std::int64_t r : {1, 18}) {
        for (const Layout layout : {Layout::rows, Layout::columns, Layout::gaps}) {
          for (int kind = 0; kind < 12; ++kind) {
            const bool upper = kind % 2 == 1, unit = kind / 2 % 2 == 1;
            const auto op = static_cast<Transpose>(kind / 4);
            SCOPED_TRACE(::testing::Message() << "n " << n << " batch " << batch << " r " << r << " layout "
                                              << int(layout) << " kind " << kind);
            Matrices<T> a(batch, n, n, layout), b(batch, n, r, layout), x(batch, n, r, layout);
            fill(a, 7);
            fill(b, 8);
            for (std::int64_t m = 0; m < batch; ++m) {
              for (std::int64_t i = 0; i < n; ++i) {
                for (std::int64_t j = 0; j < n; ++j) {
                  a(m, i, j) =
                      i == j ? T(unit ? std::numeric_limits<float>::quiet_NaN() : 2.0f) : a(m, i, j) / T(float(n));
                }
              }
            }
            triangular_solve(x.view(), a.view(), b.view(), upper ? Triangle::upper : Triangle::lower, op,
                             unit ? Diagonal::unit : Diagonal::stored);
            expect_solved(x, a, b, op, true, upper, unit);
          }
        }
      }
    }
  }
}

TYPED_TEST(Lapack, inverse_times_the_matrix_is_one) {
  using T = TypeParam;
  for (const std::int64_t n : orders) {
    for (const std::int64_t batch : {1, 3, 17}) {
      for (const Layout layout : layouts) {
        SCOPED_TRACE(::testing::Message() << "n " << n << " batch " << batch << " layout " << int(layout));
        Matrices<T> a(batch, n, n, layout), x(batch, n, n, layout), one(batch, n, n);
        fill_regular(a, 9);
        for (std::int64_t b = 0; b < batch; ++b) {
          for (std::int64_t i = 0; i < n; ++i) one(b, i, i) = T(1.0f);
        }
        std::vector<std::int32_t> info(batch, -1);
        inverse(x.view(), a.view(), info.data());
        EXPECT_EQ(info, std::vector<std::int32_t>(batch, 0));
        expect_solved(x, a, one, Transpose::no, false, false, false);
      }
    }
  }
}

/// Real numbers are compared over `size`, that of the elements.
template <class T>
void expect_orthogonal_factors(Matrices<T>& q, Matrices<T>& r, Matrices<T>& a, double size) {
  const double least = tolerance<T>(std::max(a.rows(), a.cols()));
  for (std::int64_t b = 0; b < a.batch(); ++b) {
    for (std::int64_t i = 0; i < a.rows(); ++i)
      for (std::int64_t j = 0; j < a.cols(); ++j) {
        Wide<T> sum = 0.0;
        for (std::int64_t k = 0; k < r.rows(); ++k)
          sum += static_cast<Wide<T>>(q(b, i, k)) * (static_cast<Wide<T>>(r(b, k, j)) / size);
        ASSERT_LE(std::abs(sum - static_cast<Wide<T>>(a(b, i, j)) / size), least) << b << ": " << i << ", " << j;
      }
    for (std::int64_t i = 0; i < q.cols(); ++i)
      for (std::int64_t j = 0; j < q.cols(); ++j) {
        Wide<T> sum = 0.0;
        for (std::int64_t k = 0; k < q.rows(); ++k)
          sum += static_cast<Wide<T>>(conjugate(q(b, k, i))) * static_cast<Wide<T>>(q(b, k, j));
        ASSERT_LE(std::abs(sum - (i == j ? 1.0 : 0.0)), least) << b << ": " << i << ", " << j;
      }
    for (std::int64_t i = 0; i < r.rows(); ++i)
      for (std::int64_t j = 0; j < std::min(i, r.cols()); ++j) ASSERT_EQ(r(b, i, j), T(0.0f));
  }
}

TYPED_TEST(Lapack, qr_gives_orthogonal_columns_and_a_triangle_of_every_shape) {
  using T = TypeParam;
  for (const auto& [m, n] :
       {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 3}, {5, 2}, {2, 5}, {16, 16}, {32, 7}, {33, 16}, {40, 40}})
    for (const std::int64_t batch : {1, 3, 17})
      for (const bool complete : {false, true})
        for (const Layout layout : layouts) {
          SCOPED_TRACE(::testing::Message() << m << "x" << n << " batch " << batch << " layout " << int(layout));
          const std::int64_t columns = complete ? m : std::min(m, n);
          Matrices<T> a(batch, m, n, layout), q(batch, m, columns, layout), r(batch, columns, n, layout);
          fill(a, 11);
          qr(q.view(), r.view(), a.view());
          expect_orthogonal_factors(q, r, a, 1);
        }
}

TYPED_TEST(Lapack, qr_of_one_matrix_is_that_in_a_batch_but_for_rounding_signs_of_its_diagonal_included) {
  using T = TypeParam;
  for (const std::int64_t n : orders) {
    Matrices<T> a(9, n, n), q(9, n, n), r(9, n, n), one_q(1, n, n), one_r(1, n, n);
    fill_regular(a, 12);
    for (std::int64_t i = 0; i < n; ++i) a(3, i, n - 1) = T(0.0f), a(4, i, n - 1) = a(4, i, 0);
    qr(q.view(), r.view(), a.view());
    for (std::int64_t b = 0; b < 9; ++b) {
      Matrices<T> one(1, n, n);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) one(0, i, j) = a(b, i, j);
      qr(one_q.view(), one_r.view(), one.view());
      // Of matrices 3 and 4, whose columns depend on each other, rounding decides the last direction.
      const std::int64_t determined = b == 3 || b == 4 ? n - 1 : n;
      for (std::int64_t i = 0; i < determined; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          ASSERT_LE(std::abs(one_r(0, i, j) - r(b, i, j)), tolerance<T>(n)) << n << ": " << b;
          ASSERT_LE(std::abs(one_q(0, j, i) - q(b, j, i)), tolerance<T>(n) * 10) << n << ": " << b;
        }
    }
  }
}

TYPED_TEST(Lapack, qr_neither_overflows_nor_underflows_where_its_factors_do_not) {
  using T = TypeParam;
  const bool is_single = real_dtype(dtype_of<T>) == DType::float32;
  for (const double size : {is_single ? 1e-36 : 1e-300, is_single ? 1e36 : 1e300}) {
    Matrices<T> a(9, 6, 4), q(9, 6, 4), r(9, 4, 4);
    fill(a, 13);
    for (std::int64_t b = 0; b < 9; b += 2)
      for (std::int64_t i = 0; i < 6; ++i)
        for (std::int64_t j = 0; j < 4; ++j) a(b, i, j) *= static_cast<decltype(std::real(T()))>(size);
    qr(q.view(), r.view(), a.view());
    for (std::int64_t b = 0; b < 9; ++b) {
      Matrices<T> one(1, 6, 4), one_q(1, 6, 4), one_r(1, 4, 4);
      for (std::int64_t i = 0; i < 6; ++i)
        for (std::int64_t j = 0; j < 4; ++j) {
          one(0, i, j) = a(b, i, j), one_q(0, i, j) = q(b, i, j);
          if (i < 4) one_r(0, i, j) = r(b, i, j);
        }
      expect_orthogonal_factors(one_q, one_r, one, b % 2 == 0 ? size : 1);
    }
  }
}

TYPED_TEST(Lapack, qr_of_what_is_not_finite_is_the_same_in_every_batch) {
  using T = TypeParam;
  const auto infinite = static_cast<float>(std::numeric_limits<float>::infinity());
  Matrices<T> one(1, 3, 4), one_q(1, 3, 3), one_r(1, 3, 4), a(9, 3, 4), q(9, 3, 3), r(9, 3, 4);
  fill(a, 14);
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 4; ++j) one(0, i, j) = a(2, i, j) = j == 3 ? T(infinite) : T(i == j ? 1.0f : 0.0f);
  qr(one_q.view(), one_r.view(), one.view());
  qr(q.view(), r.view(), a.view());
  const auto is_same = [](T x, T y) { return x == y || (x != x && y != y); };
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 4; ++j) EXPECT_TRUE(is_same(one_r(0, i, j), r(2, i, j))) << i << ", " << j;
}

TYPED_TEST(Lapack, runs_over_several_and_broadcast_batch_axes) {
  using T = TypeParam;
  const std::int64_t n = 5;
  Matrices<T> a(3, n, n), b(6, n, 2), x(6, n, 2), copies(6, n, n);
  fill(a, 10);
  fill(b, 11);
  for (std::int64_t m = 0; m < 3; ++m) {
    for (std::int64_t i = 0; i < n; ++i) a(m, i, i) += T(4.0f);
  }
  for (std::int64_t m = 0; m < 6; ++m) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) copies(m, i, j) = a(m % 3, i, j);
    }
  }
  const Sizes a_shape = {2, 3, n, n}, a_strides = {0, n * n, n, 1}, x_shape = {2, 3, n, 2},
              x_strides = {6 * n, 2 * n, 2, 1};
  triangular_solve({x.storage.data(), dtype_of<T>, 4, x_shape.data(), x_strides.data()},
                   {a.storage.data(), dtype_of<T>, 4, a_shape.data(), a_strides.data()},
                   {b.storage.data(), dtype_of<T>, 4, x_shape.data(), x_strides.data()}, Triangle::lower);
  expect_solved(x, copies, b, Transpose::no, true, false, false);
}

TYPED_TEST(Lapack, handles_empty_batches_and_matrices) {
  using T = TypeParam;
  Matrices<T> none(0, 3, 3), empty(2, 0, 0), a(2, 3, 3), no_right_sides(2, 3, 0);
  Pivots pivots(2, 3);
  std::vector<std::int32_t> info(2, -1);
  cholesky(none.view(), none.view(), info.data());
  inverse(none.view(), none.view(), info.data());
  EXPECT_EQ(info, std::vector<std::int32_t>({-1, -1}));
  cholesky(empty.view(), empty.view(), info.data());
  EXPECT_EQ(info, std::vector<std::int32_t>({0, 0}));
  triangular_solve(no_right_sides.view(), a.view(), no_right_sides.view(), Triangle::upper);
  lu_solve(no_right_sides.view(), a.view(), pivots.view(), no_right_sides.view());
}

// ── spectra: real matrices ──

template <class T>
class Spectra : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Spectra, Reals);

TYPED_TEST(Spectra, eigenvectors_are_stretched_by_their_values) {
  using T = TypeParam;
  for (const std::int64_t n : orders) {
    for (const Layout layout : layouts) {
      SCOPED_TRACE(::testing::Message() << "n " << n << " layout " << int(layout));
      Matrices<T> a(2, n, n, layout), vectors(2, n, n, layout), values(2, n, 1);
      fill(a, 12);
      std::vector<std::int32_t> info(2, -1);
      const Sizes shape = {2, n}, strides = {n, 1};
      eigh({values.storage.data(), dtype_of<T>, 2, shape.data(), strides.data()}, vectors.view(), a.view(),
           info.data());
      EXPECT_EQ(info, std::vector<std::int32_t>(2, 0));
      for (std::int64_t b = 0; b < 2; ++b) {
        for (std::int64_t i = 0; i < n; ++i) {
          for (std::int64_t k = 0; k < n; ++k) {
            double sum = 0;
            for (std::int64_t j = 0; j < n; ++j)
              sum += (double(a(b, i, j)) + double(a(b, j, i))) / 2 * double(vectors(b, j, k));
            EXPECT_NEAR(sum, double(values(b, k, 0)) * double(vectors(b, i, k)), 10 * double(n) * tolerance<T>(n));
          }
        }
      }
    }
  }
}

TYPED_TEST(Spectra, singular_vectors_and_values_make_the_matrix) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {5, 3}, {3, 5}, {17, 17}, {40, 9}}) {
    for (const Layout layout : layouts) {
      SCOPED_TRACE(::testing::Message() << m << " by " << n << " layout " << int(layout));
      const std::int64_t k = std::min(m, n);
      Matrices<T> a(2, m, n, layout), u(2, m, k, layout), vh(2, k, n, layout), s(2, k, 1);
      fill(a, 13);
      std::vector<std::int32_t> info(2, -1);
      const Sizes shape = {2, k}, strides = {k, 1};
      svd(u.view(), {s.storage.data(), dtype_of<T>, 2, shape.data(), strides.data()}, vh.view(), a.view(), info.data());
      EXPECT_EQ(info, std::vector<std::int32_t>(2, 0));
      for (std::int64_t b = 0; b < 2; ++b) {
        for (std::int64_t i = 0; i < m; ++i) {
          for (std::int64_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::int64_t l = 0; l < k; ++l) sum += double(u(b, i, l)) * double(s(b, l, 0)) * double(vh(b, l, j));
            EXPECT_NEAR(sum, double(a(b, i, j)), 10 * tolerance<T>(std::max(m, n)));
          }
        }
      }
    }
  }
}

TYPED_TEST(Spectra, of_a_matrix_with_infinities_or_nan_are_refused) {
  using T = TypeParam;
  Matrices<T> a(2, 3, 3), u(2, 3, 3), vh(2, 3, 3), s(2, 3, 1);
  fill(a, 14);
  a(1, 2, 1) = std::numeric_limits<T>::infinity();
  std::vector<std::int32_t> info(2, 7);
  const Sizes shape = {2, 3}, strides = {3, 1};
  const Strided values = {s.storage.data(), dtype_of<T>, 2, shape.data(), strides.data()};
  eigh(values, u.view(), a.view(), info.data());
  EXPECT_EQ(info, std::vector<std::int32_t>({0, -1}));
  svd(u.view(), values, vh.view(), a.view(), info.data());
  EXPECT_EQ(info, std::vector<std::int32_t>({0, -1}));
}

}  // namespace
}  // namespace ricci::kernels
