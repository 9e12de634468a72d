// What every operation says of mistakes. Each operation of the index of operations is called with operands of many
// kinds; most calls are mistakes. The errors begin with the name of what was called, also where that is made of other
// operations, and texts_of_operations.txt holds what they say. Nothing here names an operation or knows its errors.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <typeinfo>
#include <vector>

#include "support/calls_of_operations.h"
#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

const std::vector<In>& inputs() {
  static const std::vector<In> all = [] {
    const Tensor undefined, f23 = rc::ones({2, 3}), f45 = rc::ones({4, 5}), f7 = rc::ones({7}), number = rc::ones({}),
                            whole = rc::ones({2, 3}, rc::int64), flags = rc::ones({2}, rc::boolean),
                            pair = rc::ones({2, 3}, rc::complex64), none = rc::ones({0, 2}),
                            zeros = rc::zeros({2, 2, 2});
    std::vector<In> some;
    for (const std::int64_t n : {0, 9, -9, -1})
      for (const double x : {0.5, -1.0}) {
        some.push_back({undefined, undefined, undefined, n, x});
        some.push_back({f23, undefined, f23, n, x});
        some.push_back({f23, f45, f7, n, x});
        some.push_back({f7, f23, f45, n, x});
        some.push_back({f45, f7, number, n, x});
        some.push_back({number, f7, whole, n, x});
        some.push_back({whole, f45, pair, n, x});
        some.push_back({f23, whole, f23, n, x});
        some.push_back({pair, f45, f7, n, x});
        some.push_back({f23, pair, flags, n, x});
        some.push_back({flags, f23, whole, n, x});
        some.push_back({none, f45, none, n, x});
        some.push_back({zeros, zeros, f7, n, x});
        some.push_back({f7, f7, f7, n, x});
        some.push_back({f45, f45, f45, n, x});
      }
    const Tensor image = rc::ones({1, 4, 3, 3}), kernel = rc::ones({6, 4, 2, 2}), line = rc::ones({1, 2, 5}),
                 square = rc::ones({2, 2}), row = rc::ones({3}), places = rc::tensor({0, 7}),
                 stack = rc::ones({2, 3, 3}), infinite = rc::full({3, 3}, INFINITY), nan = rc::full({3, 3}, NAN),
                 unit = rc::eye(3), singular = rc::ones({3, 3});
    for (const std::int64_t n : {2, 3}) {
      some.push_back({f23, f45, f7, n, 0.5});
      some.push_back({image, kernel, row, n, 0.5});
      some.push_back({line, kernel, f7, n, 0.5});
      some.push_back({image, image, image, n, 0.5});
      some.push_back({f23, places, f23, n, 0.5});
      some.push_back({f23, places, places, n, 0.5});
      some.push_back({row, row, places, n, 0.5});
      some.push_back({places, f23, places, n, 0.5});
      some.push_back({places, row, row, n, 0.5});
      some.push_back({stack, f23, row, n, 0.5});
      some.push_back({infinite, infinite, infinite, n, 0.5});
      some.push_back({nan, nan, nan, n, 0.5});
      some.push_back({singular, unit, unit, n, 0.5});
      some.push_back({unit, singular, row, n, 0.5});
      some.push_back({square, f23, square, n, 0.5});
      some.push_back({places, flags, flags, n, 0.5});
    }
    return some;
  }();
  return all;
}

std::string class_of(const rc::Error& error) {
  return typeid(error) == typeid(rc::ValueError)            ? "ValueError"
         : typeid(error) == typeid(rc::IndexError)          ? "IndexError"
         : typeid(error) == typeid(rc::TypeError)           ? "TypeError"
         : typeid(error) == typeid(rc::TransformError)      ? "TransformError"
         : typeid(error) == typeid(rc::NotImplementedError) ? "NotImplementedError"
                                                            : "Error";
}

/// An error of a call, without the line of the call.
struct Mistake {
  std::string kind, text, call;
  auto operator<=>(const Mistake&) const = default;
  std::string name() const { return text.substr(0, text.find(": ")); }
};

std::vector<Snapshot> snapshots_of_inputs() {
  std::vector<Snapshot> all;
  for (const In& in : inputs())
    for (const Tensor& x : {in.a, in.b, in.c})
      if (x.defined() && rc::equal(x, x)) all.emplace_back(x);  // NaN is equal to nothing
  return all;
}

/// What all calls with all inputs threw, each text once for each operation.
struct Tried {
  std::size_t errors = 0;
  std::set<Mistake> mistakes;
  std::set<std::string> left_traces;  // the calls that changed an input, or left a transform behind
};

const Tried& tried() {
  static const Tried all = [] {
    Tried some;
    std::vector<Snapshot> before = snapshots_of_inputs();
    for (const Call& call : calls()) {
      for (const In& in : inputs()) {
        try {
          call(in);
        } catch (const rc::Error& error) {
          const std::string text = error.what();
          some.mistakes.insert({class_of(error), text.substr(0, text.find("\n  at ")), call.name});
          ++some.errors;
        }
      }
      std::vector<Snapshot> after = snapshots_of_inputs();
      if (after != before || rc::inside_transform()) some.left_traces.insert(call.name);
      before = std::move(after);
    }
    return some;
  }();
  return all;
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
  std::set<std::string> said;  // once for each operation
  for (const Mistake& mistake : tried().mistakes)
    if (mistake.name() != mistake.call && said.insert(mistake.call).second)
      ADD_FAILURE() << mistake.call << " says " << mistake.text;
  EXPECT_GT(tried().errors, 100000U);
}

TEST(Mistakes, ChangeNoArgumentAndLeaveNoTransform) { EXPECT_EQ(tried().left_traces, std::set<std::string>()); }

// ── what they say ──

/// `axis # is # against #` of `axis -1 is 3 against 4`: each word with a digit in it is as good as any other.
std::string without_numbers(const std::string& text) {
  std::istringstream words(text);
  std::string result;
  for (std::string word; words >> word;)
    result +=
        (std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c); }) ? "#" : word) + ' ';
  return result;
}

/// A text, and all that say the same of other operands.
struct Finding {
  std::string text;
  std::set<std::string> calls;
};

/// The file: a line with the class and the text of an error, whole; below it, indented, the other operations that say
/// so of their operands.
std::vector<std::string> lines_of_mistakes() {
  std::map<std::string, Finding> findings;
  for (const Mistake& mistake : tried().mistakes) {
    const std::string said = mistake.text.substr(mistake.text.find(": ") + 1);
    Finding& finding = findings[mistake.kind + without_numbers(said)];
    if (finding.calls.empty()) finding.text = mistake.kind + ' ' + mistake.text;
    finding.calls.insert(mistake.call);
  }
  std::map<std::string, std::set<std::string>> by_text;
  for (auto& [key, finding] : findings) by_text[finding.text] = finding.calls;
  std::vector<std::string> lines;
  for (auto& [text, calls] : by_text) {
    lines.push_back(text);
    const std::size_t name = text.find(' ') + 1;
    calls.erase(text.substr(name, text.find(": ") - name));
    std::string line = " ";
    for (const std::string& call : calls) {
      if (line.size() + call.size() >= 120) lines.push_back(std::exchange(line, " "));
      line += ' ' + call;
    }
    if (line.size() > 1) lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(Mistakes, SayWhatIsWrittenDown) {
  const std::vector<std::string> found = lines_of_mistakes();
  if (const char* path = std::getenv("RICCI_ERROR_TEXTS")) {
    std::ofstream file(path);
    for (const std::string& line : found) file << line << '\n';
  }
  const auto repository = std::filesystem::path(RICCI_OPERATIONS_PAGE).parent_path() / ".." / "..";
  const std::vector<std::string> written = lines_of(repository / "tests" / "errors" / "texts_of_operations.txt");
  const std::set<std::string> all_found(found.begin(), found.end()), all_written(written.begin(), written.end());
  std::string differ;
  for (const std::string& line : written)
    if (!all_found.contains(line)) differ += "- " + line + '\n';
  for (const std::string& line : found)
    if (!all_written.contains(line)) differ += "+ " + line + '\n';
  EXPECT_TRUE(found == written)
      << differ << "RICCI_ERROR_TEXTS=tests/errors/texts_of_operations.txt build/release/tests/"
      << "test_errors --gtest_filter='Mistakes.*' writes them anew; then look at the difference";
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
