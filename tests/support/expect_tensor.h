// Checks on tensors and the small tensors that tests start from: float64 from plain numbers, values and sizes as
// vectors, closeness with one tolerance a dtype. Knows the public API only.
#pragma once

#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "support/close.h"

namespace testing_support {

using ricci::Tensor;

/// A float64 vector.
inline Tensor doubles(const std::vector<double>& values) { return ricci::tensor(values); }

/// A float64 tensor of the given sizes, filled row by row.
inline Tensor doubles(const std::vector<double>& values, const std::vector<std::int64_t>& sizes) {
  return ricci::tensor(values).reshape(ricci::Shape(sizes)).clone();
}

/// A 0-dim float64 tensor.
inline Tensor number(double value) { return ricci::tensor(std::vector<double>{value}).sum(); }

/// `count` values from 0.3 on, none equal, none an integer, as a float64 tensor of the given sizes.
inline Tensor ramp(const std::vector<std::int64_t>& sizes) {
  std::int64_t count = 1;
  for (std::int64_t size : sizes) count *= size;
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(0.3 + 0.17 * static_cast<double>(i));
  return doubles(values, sizes);
}

/// The elements in row-major order, whatever the dtype. Of complex numbers the real parts.
inline std::vector<double> values(const Tensor& tensor) { return tensor.to(ricci::float64).to_vector<double>(); }

/// The elements in row-major order, whatever the dtype, as they are.
inline std::vector<std::complex<double>> numbers(const Tensor& tensor) {
  return tensor.to(ricci::complex128).to_vector<std::complex<double>>();
}

inline std::vector<std::int64_t> sizes(const Tensor& tensor) {
  std::vector<std::int64_t> result;
  for (std::int64_t axis = 0; axis < tensor.dim(); ++axis) result.push_back(tensor.size(axis));
  return result;
}

using Sizes = std::vector<std::int64_t>;
using Values = std::vector<double>;

/// Relative where values are large, absolute where they are small: a few roundings of the dtype.
inline double tolerance_of(ricci::DType dtype) {
  return dtype == ricci::float64 || dtype == ricci::complex128 ? 1e-11 : 1e-5;
}

inline void expect_numbers(const Tensor& actual, const std::vector<std::complex<double>>& expected, double tolerance) {
  const auto found = numbers(actual);
  if (tolerance == 0) tolerance = tolerance_of(actual.dtype());
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(is_close(found[i], expected[i], tolerance))
        << "element " << i << " is " << found[i] << ", expected " << expected[i];
}

/// The elements are these real numbers, within the dtype's tolerance or the one given.
inline void expect_values(const Tensor& actual, const Values& expected, double tolerance = 0) {
  expect_numbers(actual, {expected.begin(), expected.end()}, tolerance);
}

/// Same sizes, same dtype, values within the dtype's tolerance or the one given.
inline void expect_close(const Tensor& actual, const Tensor& expected, double tolerance = 0) {
  EXPECT_EQ(sizes(actual), sizes(expected));
  EXPECT_EQ(actual.dtype(), expected.dtype());
  expect_numbers(actual, numbers(expected), tolerance);
}

/// Same sizes and the same numbers to the last bit.
inline void expect_equal(const Tensor& actual, const Tensor& expected) {
  EXPECT_EQ(sizes(actual), sizes(expected));
  EXPECT_EQ(actual.dtype(), expected.dtype());
  EXPECT_EQ(numbers(actual), numbers(expected));
}

/// True if writing to one is seen in the other. Leaves both as they were.
inline bool shares_memory(const Tensor& left, const Tensor& right) {
  const Tensor kept = left.clone();
  const auto before = numbers(right);
  left.add_(1);
  const bool shared = numbers(right) != before;
  left.copy_(kept);
  return shared;
}

}  // namespace testing_support
