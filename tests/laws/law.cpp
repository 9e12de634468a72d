// Comparison of results, and the count of what has been tried.
#include "law.h"

#include <complex>
#include <cstdio>
#include <map>
#include <set>

#include "support/close.h"

namespace laws {
namespace {

using Complex = std::complex<double>;

/// Of laws and operations, whichever of them run here. Raise it with the library.
constexpr int fewest_tests = 18000;

std::vector<Complex> numbers(const Tensor& x) { return x.to(ricci::complex128).to_vector<Complex>(); }

/// What has been tried, by law and operation.
class Summary : public testing::Environment {
 public:
  std::map<std::string, std::map<std::string, int>> cases;

  void TearDown() override {
    int count = 0;
    std::size_t pairs = 0;
    std::set<std::string> names;
    for (const auto& [law, by_operation] : cases)
      for (const auto& [operation, tried] : by_operation) {
        ++pairs;
        count += tried;
        names.insert(operation);
      }
    EXPECT_GE(testing::UnitTest::GetInstance()->total_test_count(), fewest_tests) << "there are fewer than before";
    std::printf("law cases: %d (operations %zu, laws %zu, pairs %zu)\n", count, names.size(), cases.size(), pairs);
  }
};

Summary& summary() {
  static auto* const all = static_cast<Summary*>(testing::AddGlobalTestEnvironment(new Summary));
  return *all;
}
[[maybe_unused]] const Summary& at_start = summary();

}  // namespace

void count_case(const ricci::Rules& rules) {
  const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  ++summary().cases[name.substr(0, name.find('/'))][rules.name];
}

void Law::count_case() {
  laws::count_case(rules());
  ++tried_;
}

void Law::TearDown() {
  if (tried_ == 0 && !HasFailure()) GTEST_SKIP() << "the operation has no case of this kind";
}

std::vector<Operation> parameters(const std::vector<const ricci::Rules*>& rules) {
  std::vector<Operation> all;
  for (const ricci::Rules* r : rules) all.push_back({r});
  return all;
}

std::string name_of(const testing::TestParamInfo<Operation>& info) { return info.param.rules->name; }

void expect_close(const Tensor& actual, const Tensor& expected, double tolerance, const char* what) {
  ASSERT_EQ(to_string(actual.shape()), to_string(expected.shape())) << what;
  ASSERT_EQ(ricci::short_name(actual.dtype()), std::string(ricci::short_name(expected.dtype()))) << what;
  const auto found = numbers(actual), wanted = numbers(expected);
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_TRUE(testing_support::is_close(found[i], wanted[i], tolerance))
        << what << ": element " << i << " is " << found[i] << ", expected " << wanted[i];
}

void expect_close(const List& actual, const List& expected, double tolerance, const char* what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (std::size_t i = 0; i < actual.size(); ++i) expect_close(actual[i], expected[i], tolerance, what);
}

double inner_product(const List& a, const List& b) {
  double total = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const auto x = numbers(a[k]), y = numbers(b[k]);
    for (std::size_t i = 0; i < x.size(); ++i) total += (std::conj(x[i]) * y[i]).real();
  }
  return total;
}

}  // namespace laws
