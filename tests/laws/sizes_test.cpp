// Laws of symbolic sizes: one recorded program serves other sizes than it was recorded at. Each operation, its jvp and
// its vjp are recorded once, mapped over two examples and as they are; the programs then run on more examples and on
// longer axes, of which some may be equally long by chance. A program that refuses sizes for which the operation has a
// result, though the inequalities hold that it relies on, has fixed a size to a number; that must stand on the list
// below, with its reason.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "law.h"
#include "program/program.h"
#include "ricci/program.h"

namespace {

using laws::Case;
using laws::Function;
using laws::List;
using laws::Smooth;
using ricci::Program;
using ricci::Tensor;

/// Operations whose programs fix a size, and why they must.
const std::map<std::string, std::string> reasons = {
    {"unstack", "it has as many results as its axis has places"},
};

class Sizes : public laws::Law {
 protected:
  void SetUp() override {
    laws::Law::SetUp();
    refused_ = false;
  }
  static inline bool refused_ = false;

  static bool inequalities_hold(const Program& program, const List& x) {
    const ricci::SymbolTable& table = *program.body().symbols;
    std::vector<ricci::Size> sizes;
    for (const Tensor& t : x)
      for (const std::int64_t size : t.shape().to_vector()) sizes.push_back(size);
    return std::ranges::all_of(table.guards(), [&](const ricci::Guard& g) {
      return g.relation == ricci::Guard::Relation::equal ||
             g.holds(table.evaluate(g.left, sizes), table.evaluate(g.right, sizes));
    });
  }
  /// The program's results where it takes the inputs.
  static std::optional<List> run(const Program& program, const List& x) {
    try {
      return program(x);
    } catch (const ricci::ValueError& error) {
      if (!inequalities_hold(program, x)) return std::nullopt;
      refused_ = true;
      EXPECT_TRUE(reasons.contains(rules().name)) << error.what() << "\n" << program;
      return std::nullopt;
    }
  }
};

Program traced(const Function& f, const List& x) {
  return ricci::trace([&f](const List& inputs) { return f(inputs); })(x);
}

/// `count` examples in front, which differ in their floating elements.
List examples(const List& x, std::int64_t count) {
  List rows;
  for (const Tensor& one : x) {
    ricci::Shape shape = one.shape(), factor_shape = ricci::Shape::filled(shape.size() + 1, 1);
    shape.insert(0, count);
    factor_shape[0] = count;
    rows.push_back(expand(one, shape));
    const Tensor factors = reshape(1 - 0.125 * (ricci::arange(count) % 3), factor_shape);
    if (ricci::is_differentiable(one.dtype())) rows.back() = (rows.back() * factors).to(one.dtype());
  }
  return rows;
}

Function mapped(const Function& f) {
  return [f](const List& x) { return laws::mapped(f, x, laws::Mapped(x.size(), 0)); };
}

TEST_P(Sizes, OfABatchStayOpen) {
  const auto expect_serves = [](const Function& f, const List& x, double tolerance, const char* what) {
    SCOPED_TRACE(what);
    const Program program = traced(mapped(f), examples(x, 2));
    for (const std::int64_t count : {3, 5}) {
      const List more = examples(x, count);
      if (const std::optional<List> y = run(program, more)) laws::expect_close(*y, mapped(f)(more), tolerance, what);
    }
  };
  for (const Case& c : laws::cases_of(rules())) {
    if (c.inputs.empty()) continue;
    SCOPED_TRACE(c.text());
    const double tolerance = laws::tolerance_of(ricci::float64) * rules().tolerance_factor;
    expect_serves(c, c.inputs, tolerance, "operation");
    count_case();
    const Smooth s = laws::smooth_part(c);
    if (s.empty()) continue;
    expect_serves(laws::pushforward(s.f), laws::joined(s.x, laws::directions(s.x, 50)), tolerance, "jvp");
    expect_serves(laws::pullback(s.f, s.x.size()), laws::joined(s.x, laws::directions(s.y, 60)), tolerance, "vjp");
  }
}

/// The tensors with axes of this size made longer; their elements begin anew where they end.
List longer(const List& x, std::int64_t size, std::int64_t by) {
  List result;
  for (Tensor t : x) {
    for (std::int64_t axis = 0; axis < t.dim(); ++axis)
      if (t.size(axis) == size) t = index_select(t, axis, ricci::arange(size + by) % size);
    result.push_back(t);
  }
  return result;
}

/// What `f` gives; none where the inputs are not for it.
std::optional<List> result_of(const Function& f, const List& x) {
  try {
    return f(x);
  } catch (const ricci::Error&) { return std::nullopt; }
}

TEST_P(Sizes, OfItsOwnAxesStayOpen) {
  for (const Case& c : laws::cases_of(rules())) {
    SCOPED_TRACE(c.text());
    const double tolerance = 10 * laws::tolerance_of(ricci::float64) * rules().tolerance_factor;
    const Smooth s = laws::smooth_part(c);
    std::set<std::int64_t> sizes;
    for (const Tensor& x : c.inputs)
      for (const std::int64_t size : x.shape().to_vector())
        if (size > 1) sizes.insert(size);
    const auto expect_serves = [&](const Function& f, const List& x, const char* what, const auto& at_other_sizes) {
      SCOPED_TRACE(what);
      const Program program = traced(f, x);
      for (const std::int64_t size : sizes)
        for (const std::int64_t by : {1, 3}) {
          const std::optional<List> other = at_other_sizes(size, by);
          const std::optional<List> expected = other ? result_of(f, *other) : std::nullopt;
          if (!expected) continue;
          if (const std::optional<List> y = run(program, *other)) laws::expect_close(*y, *expected, tolerance, what);
        }
    };
    expect_serves(c, c.inputs, "operation", [&](std::int64_t size, std::int64_t by) -> std::optional<List> {
      return longer(c.inputs, size, by);
    });
    count_case();
    if (s.empty() || s.x.size() < c.inputs.size()) continue;  // else the others' sizes would stay
    expect_serves(laws::pushforward(s.f), laws::joined(s.x, laws::directions(s.x, 50)), "jvp",
                  [&](std::int64_t size, std::int64_t by) -> std::optional<List> {
                    const List x = longer(s.x, size, by);
                    return laws::joined(x, laws::directions(x, 50));
                  });
    expect_serves(laws::pullback(s.f, s.x.size()), laws::joined(s.x, laws::directions(s.y, 60)), "vjp",
                  [&](std::int64_t size, std::int64_t by) -> std::optional<List> {
                    const List x = longer(s.x, size, by);
                    const std::optional<List> y = result_of(s.f, x);
                    return y ? std::optional(laws::joined(x, laws::directions(*y, 60))) : std::nullopt;
                  });
  }
  EXPECT_TRUE(refused_ || !reasons.contains(rules().name)) << "it fixes no size any more; take it off the list";
}

/// Axes of one size, some of which are made longer by one while the others stay: `places` are of all inputs' axes.
List some_longer(const List& x, const std::vector<std::pair<std::size_t, std::int64_t>>& places, unsigned chosen) {
  List result = x;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!(chosen >> i & 1U)) continue;
    Tensor& t = result[places[i].first];
    const std::int64_t size = t.size(places[i].second);
    t = index_select(t, places[i].second, ricci::arange(size + 1) % size);
  }
  return result;
}

/// That two axes are equally long in one call is no reason for an operation to take them for one: a program that was
/// recorded so serves every call that the operation takes.
TEST_P(Sizes, ThatAreEqualByChanceStayOpen) {
  constexpr std::size_t most_axes = 6;
  for (const Case& c : laws::cases_of(rules())) {
    SCOPED_TRACE(c.text());
    std::map<std::int64_t, std::vector<std::pair<std::size_t, std::int64_t>>> by_size;
    for (std::size_t i = 0; i < c.inputs.size(); ++i)
      for (std::int64_t axis = 0; axis < c.inputs[i].dim(); ++axis)
        if (c.inputs[i].size(axis) > 1) by_size[c.inputs[i].size(axis)].emplace_back(i, axis);
    std::optional<Program> program;
    for (const auto& [size, places] : by_size)
      for (unsigned chosen = 1; places.size() <= most_axes && chosen + 1 < 1U << places.size(); ++chosen) {
        const List other = some_longer(c.inputs, places, chosen);
        const std::optional<List> expected = result_of(c, other);
        if (!expected) continue;
        if (!program) program = traced(c, c.inputs);
        const double tolerance = 10 * laws::tolerance_of(ricci::float64) * rules().tolerance_factor;
        if (const std::optional<List> y = run(*program, other))
          laws::expect_close(*y, *expected, tolerance, "operation");
        count_case();
      }
  }
}

FOR_ALL_OPERATIONS(Sizes);

}  // namespace
