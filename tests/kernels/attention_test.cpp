// Attention and its gradients over several blocks of queries and keys, against the same written out in double.
#include "kernels/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using ricci::Strided;
namespace kernels = ricci::kernels;

/// A batch of two matrices, row-major or with its rows and columns exchanged.
template <class T>
struct Batch {
  std::int64_t shape[3], strides[3];
  std::vector<T> numbers;

  Batch(std::int64_t rows, std::int64_t cols, bool turned = false)
      : shape{2, rows, cols},
        strides{rows * cols, turned ? 1 : cols, turned ? rows : 1},
        numbers(static_cast<std::size_t>(2 * rows * cols), T(-99)) {}
  T& operator()(std::int64_t b, std::int64_t i, std::int64_t j) {
    return numbers[static_cast<std::size_t>(b * strides[0] + i * strides[1] + j * strides[2])];
  }
  Batch& fill(std::mt19937& random) {
    for (T& x : numbers) x = static_cast<T>(std::uniform_real_distribution<double>(-2, 2)(random));
    return *this;
  }
  Strided view() { return {numbers.data(), ricci::dtype_of<T>, 3, shape, strides}; }
  Strided column() { return {numbers.data(), ricci::dtype_of<T>, 2, shape, strides}; }
};

template <class T>
void expect_near(Batch<T>& found, Batch<double>& wanted, double tolerance, const char* what) {
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t i = 0; i < found.shape[1]; ++i)
      for (std::int64_t j = 0; j < found.shape[2]; ++j)
        ASSERT_NEAR(static_cast<double>(found(b, i, j)), wanted(b, i, j), tolerance)
            << what << " " << b << " " << i << " " << j;
}

struct Sizes {
  std::int64_t queries, keys, width, values;
};

template <class T>
void compare(const Sizes& n, bool causal, bool masked, bool turned, double tolerance) {
  SCOPED_TRACE(testing::Message() << n.queries << " queries, " << n.keys << " keys" << (causal ? ", causal" : "")
                                  << (masked ? ", masked" : "") << (turned ? ", turned" : ""));
  std::mt19937 random(7);
  Batch<T> q(n.queries, n.width, turned), k(n.keys, n.width), v(n.keys, n.values, turned), y(n.queries, n.values),
      l(n.queries, 1), ct(n.queries, n.values, turned), offset(n.queries, 1), mask(n.queries, n.keys, turned),
      dq(n.queries, n.width), dk(n.keys, n.width), dv(n.keys, n.values), dmask(n.queries, n.keys, turned);
  q.fill(random), k.fill(random), v.fill(random), ct.fill(random), offset.fill(random), mask.fill(random);
  if (masked)
    for (std::int64_t j = 0; j < n.keys; ++j) mask(1, n.queries - 1, j) = -std::numeric_limits<T>::infinity();
  const Strided mask_view = mask.view();
  const kernels::AttentionInputs inputs{q.view(), k.view(), v.view(), masked ? &mask_view : nullptr, causal};
  kernels::attention(y.view(), l.column(), inputs);
  const Strided dmask_view = dmask.view();
  kernels::attention_gradients(dq.view(), dk.view(), dv.view(), masked ? &dmask_view : nullptr, ct.view(), l.column(),
                               offset.column(), inputs);

  Batch<double> wanted_y(n.queries, n.values), wanted_dq(n.queries, n.width), wanted_dk(n.keys, n.width),
      wanted_dv(n.keys, n.values), wanted_dmask(n.queries, n.keys);
  for (auto* x : {&wanted_y, &wanted_dq, &wanted_dk, &wanted_dv, &wanted_dmask})
    std::fill(x->numbers.begin(), x->numbers.end(), 0.0);
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t i = 0; i < n.queries; ++i) {
      std::vector<double> weights(static_cast<std::size_t>(n.keys), 0.0);
      double total = 0;
      for (std::int64_t j = 0; j < n.keys; ++j) {
        if (causal && j > i) continue;
        double score = masked ? static_cast<double>(mask(b, i, j)) : 0;
        for (std::int64_t e = 0; e < n.width; ++e)
          score += static_cast<double>(q(b, i, e)) * static_cast<double>(k(b, j, e));
        total += weights[static_cast<std::size_t>(j)] = std::exp(score);
      }
      if (total == 0) ASSERT_EQ(l(b, i, 0), std::numeric_limits<T>::infinity());
      else ASSERT_NEAR(static_cast<double>(l(b, i, 0)), std::log(total), tolerance);
      for (std::int64_t j = 0; j < n.keys; ++j) {
        const double weight = total == 0 ? 0 : weights[static_cast<std::size_t>(j)] / total;
        double slope = -static_cast<double>(offset(b, i, 0));
        for (std::int64_t c = 0; c < n.values; ++c) {
          wanted_y(b, i, c) += weight * static_cast<double>(v(b, j, c));
          wanted_dv(b, j, c) += weight * static_cast<double>(ct(b, i, c));
          slope += static_cast<double>(ct(b, i, c)) * static_cast<double>(v(b, j, c));
        }
        wanted_dmask(b, i, j) = weight * slope;
        for (std::int64_t e = 0; e < n.width; ++e) {
          wanted_dq(b, i, e) += weight * slope * static_cast<double>(k(b, j, e));
          wanted_dk(b, j, e) += weight * slope * static_cast<double>(q(b, i, e));
        }
      }
    }
  expect_near(y, wanted_y, tolerance, "y");
  expect_near(dq, wanted_dq, 8 * tolerance, "dq");
  expect_near(dk, wanted_dk, 8 * tolerance, "dk");
  expect_near(dv, wanted_dv, 8 * tolerance, "dv");
  if (masked) expect_near(dmask, wanted_dmask, 8 * tolerance, "dmask");
}

TEST(Attention, IsThatWrittenOutWhereBlocksBeginAndEnd) {
  for (const Sizes& n : {Sizes{1, 1, 1, 1},
                         {65, 513, 3, 2},
                         {130, 70, 4, 17},
                         {64, 512, 2, 3},
                         {3, 1100, 5, 4},
                         {70, 0, 2, 2},
                         {0, 5, 2, 2},
                         {4, 5, 0, 3},
                         {4, 5, 3, 0}})
    for (const bool causal : {false, true})
      for (const bool masked : {false, true})
        for (const bool turned : {false, true}) {
          if (masked && n.queries == 0) continue;
          compare<double>(n, causal, masked, turned, 1e-12);
          compare<float>(n, causal, masked, turned, 4e-5);
        }
}

/// Later blocks of keys hold far greater scores, so that all that was summed before must shrink.
TEST(Attention, ForgetsSmallScoresWhereGreatOnesCome) {
  Batch<float> q(1, 1), k(1024, 1), v(1024, 1), y(1, 1), l(1, 1);
  for (std::int64_t b = 0; b < 2; ++b) {
    q(b, 0, 0) = 1;
    for (std::int64_t j = 0; j < 1024; ++j) k(b, j, 0) = j == 1000 ? 500.0F : -300.0F, v(b, j, 0) = j == 1000 ? 3 : 7;
  }
  kernels::attention(y.view(), l.column(), {q.view(), k.view(), v.view(), nullptr, false});
  EXPECT_EQ(y(0, 0, 0), 3);
  EXPECT_EQ(l(1, 0, 0), 500);
}

}  // namespace
