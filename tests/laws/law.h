// What a law test is: one law tried on one operation, named Law/operation, over all its cases; and how two results are
// compared. The number of cases tried is printed when the program ends.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "cases.h"
#include "tolerances.h"

namespace laws {

/// What a law is tried on; prints as its name.
struct Operation {
  const ricci::Rules* rules;
  friend std::ostream& operator<<(std::ostream& out, const Operation& o) { return out << o.rules->name; }
};

/// Notes that the law at hand has been tried once more on an operation.
void count_case(const ricci::Rules& rules);

/// A suite of laws: `class Batching : public laws::Law {}; TEST_P(Batching, Vmap) { … }`.
class Law : public testing::TestWithParam<Operation> {
 protected:
  static const ricci::Rules& rules() { return *GetParam().rules; }
  void SetUp() override { tried_ = 0; }
  /// A law that found nothing to try has not been held: it is skipped, not passed.
  void TearDown() override;
  /// Notes that the law at hand has been tried once more.
  static void count_case();

 private:
  static inline int tried_ = 0;
};

std::vector<Operation> parameters(const std::vector<const ricci::Rules*>& rules);
/// `sin`; names are unique in the registry.
std::string name_of(const testing::TestParamInfo<Operation>& info);

/// Equal element types and shapes, and values within `tolerance`, relative to values above one; NaN is equal to NaN.
/// Tolerance 0 means the same numbers.
void expect_close(const Tensor& actual, const Tensor& expected, double tolerance, const char* what);
void expect_close(const List& actual, const List& expected, double tolerance, const char* what);

/// The real part of the sum of conj(a) b over all elements of both lists.
double inner_product(const List& a, const List& b);

}  // namespace laws

/// Tries the laws of `suite`, a subclass of laws::Law, on a list of operations.
#define FOR_OPERATIONS(suite, list) \
  INSTANTIATE_TEST_SUITE_P(, suite, testing::ValuesIn(laws::parameters(list)), laws::name_of)
#define FOR_ALL_OPERATIONS(suite) FOR_OPERATIONS(suite, laws::operations())
