// Errors begin with the name of what was called, also where that is made of other operations. Every operation of the
// index of operations is called with operands of many kinds; most calls are mistakes.
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "support/calls_of_operations.h"
#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

std::vector<In> inputs() {
  const Tensor undefined, f23 = rc::ones({2, 3}), f45 = rc::ones({4, 5}), f7 = rc::ones({7}), number = rc::ones({}),
                          whole = rc::ones({2, 3}, rc::int64), flags = rc::ones({2}, rc::boolean),
                          pair = rc::ones({2, 3}, rc::complex64), none = rc::ones({0, 2}), zeros = rc::zeros({2, 2, 2});
  std::vector<In> all;
  for (const std::int64_t n : {0, 9, -9, -1})
    for (const double x : {0.5, -1.0}) {
      all.push_back({undefined, undefined, undefined, n, x});
      all.push_back({f23, undefined, f23, n, x});
      all.push_back({f23, f45, f7, n, x});
      all.push_back({f7, f23, f45, n, x});
      all.push_back({f45, f7, number, n, x});
      all.push_back({number, f7, whole, n, x});
      all.push_back({whole, f45, pair, n, x});
      all.push_back({f23, whole, f23, n, x});
      all.push_back({pair, f45, f7, n, x});
      all.push_back({f23, pair, flags, n, x});
      all.push_back({flags, f23, whole, n, x});
      all.push_back({none, f45, none, n, x});
      all.push_back({zeros, zeros, f7, n, x});
      all.push_back({f7, f7, f7, n, x});
      all.push_back({f45, f45, f45, n, x});
    }
  return all;
}

/// `std` of an error of `standard_deviation: …`; "" where nothing is thrown.
std::string name_in_error(const Call& call, const In& in, std::string& text) {
  try {
    call(in);
  } catch (const rc::Error& error) {
    text = error.what();
    return text.substr(0, text.find(": "));
  }
  return "";
}

/// The names of the index of operations: those in the first column of its tables, before an opening parenthesis.
std::set<std::string> names_of_the_index() {
  std::set<std::string> names;
  std::ifstream page(RICCI_OPERATIONS_PAGE);
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    line.resize(line.find(" | "));
    for (std::size_t at = line.find('`'); at != std::string::npos; at = line.find('`', line.find('`', at + 1) + 1))
      names.insert(line.substr(at + 1, line.find('(', at) - at - 1));
  }
  return names;
}

TEST(NamesOfCalls, AreThoseOfTheIndexOfOperations) {
  std::set<std::string> names;
  for (const Call& call : calls()) names.insert(call.name);
  EXPECT_EQ(names, names_of_the_index());
}

TEST(NamesOfCalls, StandFirstInTheErrorsOfEveryOperation) {
  int errors = 0;
  for (const Call& call : calls()) {
    bool said = false;  // once for each operation
    for (const In& in : inputs()) {
      std::string text;
      const std::string name = name_in_error(call, in, text);
      errors += !name.empty();
      if (name.empty() || name == call.name || said) continue;
      said = true;
      ADD_FAILURE() << call.name << " says " << text;
    }
  }
  EXPECT_GT(errors, 5000);
}

TEST(NamesOfCalls, StandFirstWhereAResultIsTooLarge) {
  const Tensor long_row = rc::zeros({1}).expand({std::int64_t{1} << 24});
  expect_error<rc::ValueError>([&] { rc::outer(long_row, long_row); },
                               "outer: f32[16777216,16777216] has more elements than memory can hold; make it smaller");
  const auto square = [](const Tensor& x) { return x * x; };
  const auto sum_of_squares = [](const Tensor& x) { return (x * x).sum(); };
  const std::string too_large = ": f32[16777216,16777216] has more elements than memory can hold; make it smaller";
  expect_error<rc::ValueError>([&] { rc::jacrev(square)(long_row); }, "jacrev" + too_large);
  expect_error<rc::ValueError>([&] { rc::jacfwd(square)(long_row); }, "jacfwd" + too_large);
  expect_error<rc::ValueError>([&] { rc::hessian(sum_of_squares)(long_row); }, "hessian" + too_large);
}

}  // namespace
