// Matrix products against a triple loop in higher precision: every element type, layout and way of computing.
#include "kernels/matmul.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "kernels/blas.h"
#include "kernels/machine.h"
#include "kernels/strided_array.h"
#include "kernels/wide.h"

namespace ricci::kernels {
namespace {

using kernel_tests::draw;
using kernel_tests::for_each_index;
using kernel_tests::Sizes;
using kernel_tests::Wide;
using kernel_tests::widen;

/// How a matrix, or a batch of them, lies in memory.
enum class Layout { rows, columns, gaps, batch_last, shared };
constexpr Layout layouts[] = {Layout::rows, Layout::columns, Layout::gaps, Layout::batch_last, Layout::shared};

Sizes strides_of(const Sizes& shape, Layout layout) {
  const int rank = static_cast<int>(shape.size());
  std::vector<int> order(rank);  // fastest axis first
  for (int i = 0; i < rank; ++i) order[i] = rank - 1 - i;
  if (layout == Layout::columns) std::swap(order[0], order[1]);
  if (layout == Layout::batch_last) std::reverse(order.begin(), order.end());
  Sizes strides(rank);
  std::int64_t step = layout == Layout::gaps ? 2 : 1;
  for (int axis : order) {
    const bool shared = layout == Layout::shared && axis + 2 < rank;
    strides[axis] = shared ? 0 : step;
    if (!shared) step = step * shape[axis] + (layout == Layout::gaps ? 3 : 0);
  }
  return strides;
}

template <class T>
struct Array {
  Sizes shape, strides;
  std::vector<T> storage;  // not vector<bool>: see Element

  Array(const Sizes& s, Layout layout) : shape(s), strides(strides_of(s, layout)) {
    std::int64_t last = 0;
    for (std::size_t i = 0; i < s.size(); ++i) last += std::max<std::int64_t>(s[i] - 1, 0) * strides[i];
    storage.resize(static_cast<std::size_t>(last + 1));
  }
  Strided view(DType dtype) {
    return {storage.data(), dtype, static_cast<int>(shape.size()), shape.data(), strides.data()};
  }
};

/// The type an element is stored as here: std::vector<bool> has no data().
template <class T>
using Element = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;

double epsilon_of(DType dtype) {
  switch (real_dtype(dtype)) {
    case DType::bfloat16: return 0x1p-7;
    case DType::float16: return 0x1p-10;
    case DType::float32: return 0x1p-23;
    default: return 0x1p-52;
  }
}

/// Requires: want is a sum of `terms` products of numbers below 1 in size.
template <class T>
void expect_close(Element<T> got, Wide<T> want, double terms) {
  if constexpr (std::is_same_v<T, bool>) EXPECT_EQ(got != 0, want != 0);
  else if constexpr (std::is_integral_v<T>) EXPECT_EQ(got, static_cast<T>(want));
  else EXPECT_LE(std::abs(widen(got) - want), 2 * epsilon_of(dtype_of<T>) * (terms + 1));
}

struct Case {
  Sizes batch;
  std::int64_t m, n, k;
  Layout out, a, b;
  Accumulate accumulate;
};

std::int64_t offset(const Sizes& strides, const Sizes& batch, std::int64_t row, std::int64_t col) {
  std::int64_t at = row * strides[batch.size()] + col * strides[batch.size() + 1];
  for (std::size_t i = 0; i < batch.size(); ++i) at += batch[i] * strides[i];
  return at;
}

Sizes with_matrix(Sizes batch, std::int64_t rows, std::int64_t cols) {
  batch.push_back(rows);
  batch.push_back(cols);
  return batch;
}

template <class T>
void check(const Case& c) {
  std::mt19937 random(7);
  Array<Element<T>> out(with_matrix(c.batch, c.m, c.n), c.out), a(with_matrix(c.batch, c.m, c.k), c.a),
      b(with_matrix(c.batch, c.k, c.n), c.b);
  for (auto* array : {&out, &a, &b}) {
    for (auto& x : array->storage) x = draw<T>(random);
  }
  const auto before = out.storage;
  if constexpr (is_floating(dtype_of<T>)) {
    if (c.accumulate == Accumulate::no) {
      for (auto& x : out.storage) x = T(std::numeric_limits<float>::quiet_NaN());  // must not be read
    }
  }
  matmul(out.view(dtype_of<T>), a.view(dtype_of<T>), b.view(dtype_of<T>), c.accumulate);

  for_each_index(with_matrix(c.batch, c.m, c.n), [&](const Sizes& index) {
    const Sizes batch(index.begin(), index.end() - 2);
    const std::int64_t i = index[batch.size()], j = index[batch.size() + 1], at = offset(out.strides, batch, i, j);
    Wide<T> sum = c.accumulate == Accumulate::yes ? widen(before[at]) : Wide<T>{};
    for (std::int64_t k = 0; k < c.k; ++k) {
      const Wide<T> x = widen(a.storage[offset(a.strides, batch, i, k)]);
      sum += x * widen(b.storage[offset(b.strides, batch, k, j)]);
    }
    expect_close<T>(out.storage[at], sum, static_cast<double>(c.k));
  });
}

template <class T>
void check_layouts(const Sizes& batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  SCOPED_TRACE(::testing::Message() << short_name(dtype_of<T>) << " m=" << m << " n=" << n << " k=" << k
                                    << " batch rank " << batch.size());
  for (Layout a : layouts) {
    for (Layout b : layouts) {
      for (Layout out : {Layout::rows, Layout::columns, Layout::gaps, Layout::batch_last}) {
        check<T>({batch, m, n, k, out, a, b, (m + n + k) % 2 == 0 ? Accumulate::yes : Accumulate::no});
        if (::testing::Test::HasFailure()) {
          FAIL() << "layouts: out " << int(out) << " a " << int(a) << " b " << int(b);
        }
      }
    }
  }
}

template <class T>
class Matmul : public ::testing::Test {};
using Elements = ::testing::Types<bool, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, Half,
                                  BFloat16, float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Matmul, Elements);

TYPED_TEST(Matmul, agrees_with_loops_for_small_sizes_in_every_layout) {
  for (std::int64_t m : {1, 2, 5}) {
    for (std::int64_t n : {1, 3, 9}) {
      for (std::int64_t k : {1, 4, 11}) {
        check_layouts<TypeParam>({}, m, n, k);
        check_layouts<TypeParam>({3}, m, n, k);
      }
    }
  }
}

TYPED_TEST(Matmul, agrees_with_loops_around_register_sizes) {
  for (std::int64_t size : {7, 8, 15, 16, 17, 31, 33}) {
    check_layouts<TypeParam>({}, size, size, size);
    check_layouts<TypeParam>({2}, 1, size, size);
    check_layouts<TypeParam>({2}, size, 1, size);
    check_layouts<TypeParam>({2}, size, size, 1);
    check_layouts<TypeParam>({2}, 1, 1, size);
  }
}

TYPED_TEST(Matmul, handles_empty_sizes) {
  check_layouts<TypeParam>({}, 0, 3, 2);
  check_layouts<TypeParam>({}, 3, 0, 2);
  check_layouts<TypeParam>({}, 3, 4, 0);
  check_layouts<TypeParam>({}, 3, 3, 0);
  check_layouts<TypeParam>({0}, 3, 3, 3);
  check_layouts<TypeParam>({2}, 0, 0, 0);
}

TYPED_TEST(Matmul, runs_over_several_batch_axes) {
  check_layouts<TypeParam>({2, 3}, 4, 5, 6);
  check_layouts<TypeParam>({2, 1, 3}, 1, 5, 6);
  check_layouts<TypeParam>({2, 2, 2, 2}, 3, 1, 2);
}

template <class T>
class LargeMatmul : public ::testing::Test {};
using LibraryElements = ::testing::Types<float, double, std::complex<float>, std::complex<double>, BFloat16>;
TYPED_TEST_SUITE(LargeMatmul, LibraryElements);

template <class T>
void check_few_layouts(const Sizes& batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  for (Layout a : {Layout::rows, Layout::columns}) {
    for (Layout b : {Layout::rows, Layout::columns}) {
      for (Layout out : {Layout::rows, Layout::columns, Layout::gaps}) {
        check<T>({batch, m, n, k, out, a, b, a == b ? Accumulate::yes : Accumulate::no});
      }
    }
  }
}

TYPED_TEST(LargeMatmul, agrees_with_loops_through_the_libraries) {
  check_layouts<TypeParam>({}, 40, 50, 60);
  check_few_layouts<TypeParam>({}, 70, 90, 50);
  check_few_layouts<TypeParam>({}, 300, 1, 200);
  check_few_layouts<TypeParam>({}, 1, 300, 200);
  check_few_layouts<TypeParam>({2}, 10, 150, 65);
}

TYPED_TEST(LargeMatmul, agrees_with_loops_beyond_the_cache_blocks) { check_few_layouts<TypeParam>({}, 260, 140, 270); }

TYPED_TEST(LargeMatmul, gathers_narrow_right_sides_of_a_shared_matrix) {
  for (Layout other : {Layout::rows, Layout::columns, Layout::batch_last}) {
    for (Layout out : {Layout::rows, Layout::columns, Layout::gaps}) {
      check<TypeParam>({{70}, 64, 8, 65, out, Layout::shared, other, Accumulate::no});
      check<TypeParam>({{5}, 64, 1, 65, out, Layout::shared, other, Accumulate::no});
      check<TypeParam>({{5}, 3, 64, 65, out, other, Layout::shared, Accumulate::yes});
    }
  }
}

TYPED_TEST(LargeMatmul, writes_outer_products) {
  check_layouts<TypeParam>({2}, 64, 100, 1);
  check_layouts<TypeParam>({}, 3, 5000, 1);
  check_layouts<TypeParam>({}, 5000, 3, 1);
}

TEST(Matmul, streams_outer_products_that_exceed_the_caches) {
  const std::int64_t rows = 3001, cols = 4003;  // 48 MB, rows misaligned
  std::vector<float> a(rows), b(cols), out(rows * cols);
  std::mt19937 random(1);
  for (float& x : a) x = draw<float>(random);
  for (float& x : b) x = draw<float>(random);
  const Sizes out_shape = {rows, cols}, out_strides = {cols, 1}, a_shape = {rows, 1}, b_shape = {1, cols},
              ones = {1, 1};
  matmul({out.data(), float32, 2, out_shape.data(), out_strides.data()},
         {a.data(), float32, 2, a_shape.data(), ones.data()}, {b.data(), float32, 2, b_shape.data(), ones.data()});
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) ASSERT_EQ(out[i * cols + j], a[i] * b[j]);
  }
}

TEST(Matmul, is_the_same_from_many_threads_at_once) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i] {
      for (int repeat = 0; repeat < 3; ++repeat) {
        check<float>({{}, 100 + i, 120, 90, Layout::rows, Layout::rows, Layout::columns, Accumulate::no});
        check<double>({{}, 100 + i, 300, 290, Layout::rows, Layout::rows, Layout::columns, Accumulate::no});
        check<std::complex<float>>({{}, 50 + i, 60, 40, Layout::rows, Layout::rows, Layout::rows, Accumulate::no});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Matmul, keeps_nan_and_infinity) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const float bad : {inf, std::numeric_limits<float>::quiet_NaN()}) {
    for (const std::int64_t size : {2, 9, 40, 130}) {
      std::vector<float> a(size * size, 0.0f), b(size * size, bad), out(size * size);
      const Sizes shape = {size, size}, strides = {size, 1};
      const auto view = [&](std::vector<float>& x) {
        return Strided{x.data(), float32, 2, shape.data(), strides.data()};
      };
      matmul(view(out), view(a), view(b));
      for (float x : out) EXPECT_TRUE(std::isnan(x)) << "0 * " << bad << ", n = " << size;
    }
  }
}

/// OpenBLAS's own number of threads.
int current_threads() {
  void* library = dlopen(RICCI_OPENBLAS_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<int (*)()>(dlsym(library, "openblas_get_num_threads"))();
}

TEST(Blas, has_no_threads_of_its_own) {
  static_cast<void>(blas<float>());  // loads the library
  EXPECT_EQ(current_threads(), 1);
  {
    const OneBlasThread one;
    EXPECT_EQ(current_threads(), 1);
  }
  EXPECT_EQ(current_threads(), 1);
}

/// While a table lives, and before and after. Requires that this process has not loaded OpenBLAS.
bool one_thread_while_tables_live() {
  void* library = dlopen(RICCI_OPENBLAS_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"))(2);
  bool all_right = current_threads() == 2;
  {
    const auto table = blas<double>();
    all_right &= current_threads() == 1;
  }
  all_right &= current_threads() == 2;
  {
    const auto table = spectra<double>();
    all_right &= current_threads() == 1;
  }
  return all_right && current_threads() == 2;
}

TEST(BlasDeathTest, computes_on_one_thread_where_the_program_has_loaded_it_with_more) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::_Exit(one_thread_while_tables_live() ? 0 : 1), testing::ExitedWithCode(0), "");
}

TEST(Blas, runs_avx512_kernels_where_the_cpu_has_them_and_the_user_has_not_chosen) {
  const bool chosen = std::getenv("OPENBLAS_CORETYPE") != nullptr;
  EXPECT_STRNE(blas_core(), "");
  EXPECT_EQ(std::getenv("OPENBLAS_CORETYPE") != nullptr, chosen) << "the choice must not leak into child processes";
  EXPECT_TRUE(chosen || !cpu_has_avx512() || std::strcmp(blas_core(), "SkylakeX") == 0) << blas_core();
}

}  // namespace
}  // namespace ricci::kernels
