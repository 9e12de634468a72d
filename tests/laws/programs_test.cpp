// Laws of programs: what is recorded of an operation computes what the operation computes, is well formed, and reads
// back as it was printed.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <ranges>
#include <string>

#include "interpreters/record.h"
#include "law.h"
#include "ricci/program.h"
#include "support/simplified.h"
#include "tensor/symbols.h"

namespace {

using laws::Case;
using laws::Function;
using laws::List;
using laws::Smooth;
using ricci::Program;
using ricci::Tensor;

class Programs : public laws::Law {};

Program recorded(const Function& f, const List& x) {
  ricci::RecordInterpreter record(ricci::Records::program, {});
  List variables;
  for (const Tensor& input : x) variables.push_back(ricci::wrap(record.add_input(ricci::type_of(input))));
  for (const Tensor& y : f(variables)) record.body->outputs.push_back(record.variable_of(ricci::value_of(y)));
  return Program(ricci::Shared<const ricci::ProgramBody>(new ricci::ProgramBody(*record.body)));
}

/// The elements in row-major order, each as its bits: a nan is what it was, and -0 is not 0.
std::string bits_of(const Tensor& x) {
  const Tensor rows = x.contiguous();
  const auto& array = static_cast<const ricci::Array&>(*ricci::value_of(rows));
  return {static_cast<const char*>(array.data), static_cast<std::size_t>(ricci::bytes_of(array.type))};
}

/// What a program gives; none where it refuses these values.
std::optional<List> result_of(const Program& program, const List& x) {
  try {
    return program(x);
  } catch (const ricci::Error&) { return std::nullopt; }
}

/// The inputs with infinities, nan and -0 among their elements.
List with_special_values(const List& x) {
  List special;
  for (const Tensor& t : x) {
    special.push_back(t);
    if (!t.is_floating_point()) continue;
    const Tensor place = ricci::arange(t.numel()).reshape(t.shape()) % 7;
    const double inf = std::numeric_limits<double>::infinity();
    double values[] = {inf, -inf, std::nan(""), -0.0};
    for (int k = 0; k < 4; ++k) special.back() = where(place == k, values[k], special.back());
  }
  return special;
}

void expect_same_results(const Program& program, const Program& simplified, const List& x) {
  const std::optional<List> all_expected = result_of(program, x), all_found = result_of(simplified, x);
  ASSERT_EQ(all_found.has_value(), all_expected.has_value());
  if (!all_found) return;
  const List &expected = *all_expected, &found = *all_found;
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool same_bits = bits_of(found[i]) == bits_of(expected[i]);
    EXPECT_TRUE(testing_support::is_kept_by_simplifying(found[i], expected[i], same_bits, to_string(program)))
        << "output " << i;
  }
}

void expect_simplified(const Program& program, const List& x) {
  const Program simplified = program.simplified();
  SCOPED_TRACE("simplified: " + to_string(simplified));
  check(simplified);
  EXPECT_LE(simplified.equations(), program.equations());
  EXPECT_EQ(to_string(simplified.simplified()), to_string(simplified));
  expect_same_results(program, simplified, x);
  SCOPED_TRACE("at special values");
  expect_same_results(program, simplified, with_special_values(x));
}

void expect_program(const Function& f, const List& x, double tolerance, const char* what) {
  const Program program = recorded(f, x);
  SCOPED_TRACE(to_string(program));
  check(program);
  laws::expect_close(program(x), f(x), tolerance, what);
  expect_simplified(program, x);
}

TEST_P(Programs, ComputeWhatWasRecorded) {
  for (const Case& c : laws::cases_of(rules())) {
    SCOPED_TRACE(c.text());
    expect_program(c, c.inputs, 0, "program");
    count_case();
    const Smooth s = laws::smooth_part(c);
    if (s.empty()) continue;
    const double tolerance = laws::tolerance_of(ricci::float64) * rules().tolerance_factor;
    expect_program(laws::pushforward(s.f), laws::joined(s.x, laws::directions(s.x, 50)), tolerance, "program of jvp");
    expect_program(laws::pullback(s.f, s.x.size()), laws::joined(s.x, laws::directions(s.y, 60)), tolerance,
                   "program of vjp");
  }
}

Program traced(const Function& f, const List& x) {
  return ricci::trace([&f](const List& inputs) { return f(inputs); })(x);
}

/// The inputs with `more` on each axis that the program serves at any size, as long as what it relies on holds; the
/// elements begin anew where they end. None where there is no such axis.
List grown(const Program& program, const List& x, std::int64_t more) {
  const ricci::SymbolTable* table = program.body().symbols.get();
  std::vector<ricci::Size> sizes;
  for (const Tensor& t : x)
    for (const std::int64_t size : t.shape().to_vector()) sizes.push_back(size);
  const auto type = [&](std::size_t input) {
    return program.body().types[static_cast<std::size_t>(program.body().inputs[input])];
  };
  const auto holds = [&](const ricci::Guard& g) {
    return g.holds(table->evaluate(g.left, sizes), table->evaluate(g.right, sizes));
  };
  const auto are_sizes = [&](std::size_t input) {
    return std::ranges::all_of(type(input).shape, [&](ricci::Size s) { return table->evaluate(s, sizes) >= 0; });
  };
  const auto inputs = std::views::iota(std::size_t{0}, x.size());
  bool any = false;
  std::size_t axis = 0;
  for (std::size_t i = 0; table && i < x.size(); ++i)
    for (const ricci::Size size : type(i).shape) {
      ricci::Size& number = sizes[axis++];
      number = number + more;
      const bool is_free = number > more && table->evaluate(size, sizes) == number;
      if (is_free && std::ranges::all_of(table->guards(), holds) && std::ranges::all_of(inputs, are_sizes)) any = true;
      else number = number - more;
    }
  List result;
  for (std::size_t i = 0; any && i < x.size(); ++i) {
    result.push_back(x[i]);
    for (int a = 0; a < type(i).rank(); ++a) {
      const std::int64_t size = table->evaluate(type(i).shape[static_cast<std::size_t>(a)], sizes);
      const Tensor places = ricci::arange(size) % std::max<std::int64_t>(1, x[i].size(a));
      if (x[i].size(a) > 0) result.back() = index_select(result.back(), a, places);
    }
  }
  return result;
}

/// What `f` gives; none where it refuses the inputs, perhaps for their values, at which a program does not look.
std::optional<List> result_of(const Function& f, const List& x) {
  try {
    return f(x);
  } catch (const ricci::Error&) { return std::nullopt; }
}

/// Gives the number of larger inputs that were tried.
int expect_reads_back(const Function& f, const List& x, double tolerance) {
  const Program program = traced(f, x);
  const std::string text = to_string(program);
  SCOPED_TRACE(text);
  const Program again = ricci::parse_program(text, program.captured());
  EXPECT_EQ(to_string(again), text);
  expect_simplified(program, x);
  laws::expect_close(again(x), f(x), tolerance, "program that was read back");
  int tried = 0;
  for (const std::int64_t more : {1, 3}) {
    const List larger = grown(program, x, more);
    const std::optional<List> expected = larger.empty() ? std::nullopt : result_of(f, larger);
    if (!expected) continue;
    laws::expect_close(again(larger), *expected, tolerance, "program that was read back, at other sizes");
    expect_simplified(program, larger);
    expect_simplified(again, larger);
    ++tried;
  }
  return tried;
}

TEST_P(Programs, ReadBackAsPrintedAndServeTheSameSizes) {
  for (const Case& c : laws::cases_of(rules())) {
    SCOPED_TRACE(c.text());
    if (expect_reads_back(c, c.inputs, 0) > 0) count_case();
    const Smooth s = laws::smooth_part(c);
    if (s.empty()) continue;
    const double tolerance = laws::tolerance_of(ricci::float64) * rules().tolerance_factor;
    expect_reads_back(laws::pushforward(s.f), laws::joined(s.x, laws::directions(s.x, 50)), tolerance);
    expect_reads_back(laws::pullback(s.f, s.x.size()), laws::joined(s.x, laws::directions(s.y, 60)), tolerance);
  }
}

FOR_ALL_OPERATIONS(Programs);

}  // namespace
