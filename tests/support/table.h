// Tables of functions by name, cheap to compile: tests hold thousands of lambdas. Knows nothing of tensors.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace testing_support {

/// A name and a function. A lambda without captures is taken as a pointer: a std::function of the lambda itself would
/// be a dozen functions more, for each lambda.
template <class Signature>
struct Row {
  std::string name;
  std::function<Signature> f;

  Row(const char* row, Signature* function) : name(row), f(function) {}
  template <class F>
    requires(!std::convertible_to<F, Signature*>)
  Row(const char* row, F function) : name(row), f(std::move(function)) {}
};

/// `const Table<double(double)> roots = {{"sqrt", [](double x) { return std::sqrt(x); }}};`
template <class Signature>
struct Table : std::map<std::string, std::function<Signature>> {
  Table() = default;
  Table(std::initializer_list<Row<Signature>> rows) {
    for (const Row<Signature>& row : rows)
      if (!this->emplace(row.name, row.f).second) throw std::invalid_argument("two rows are named " + row.name);
  }
};

}  // namespace testing_support
