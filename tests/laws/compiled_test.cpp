// Laws of compiled functions: compile changes nothing but time, whatever stands inside it or around it.
#include <string>

#include "few_cases.h"
#include "law.h"

namespace {

using laws::Case;
using laws::Function;
using laws::List;
using laws::Mapped;
using laws::Smooth;
using ricci::Tensor;

class Compiled : public laws::Law {};

/// A new compiled function.
Function compiled(const Function& f) {
  return [fast = ricci::compile([f](const List& inputs) { return f(inputs); })](const List& x) { return fast(x); };
}

/// By the call that records and by one that finds the plan.
void expect_same(const Function& fast, const Function& f, const List& x, double tolerance, const char* what) {
  SCOPED_TRACE(what);
  const List expected = f(x);
  laws::expect_close(fast(x), expected, tolerance, "first call");
  laws::expect_close(fast(x), expected, tolerance, "second call");
}

/// Examples like x, no two alike: floating ones a little smaller each, others turned round.
List examples(const List& x, std::size_t count) {
  List all;
  for (const Tensor& t : x) {
    std::vector<Tensor> rows;
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_whole = !ricci::is_floating(t.dtype()) && !ricci::is_complex(t.dtype());
      if (!is_whole) rows.push_back((t * (1 - 0.001 * static_cast<double>(i))).to(t.dtype()));
      else rows.push_back(i % 2 == 1 && t.dim() > 0 ? ricci::flip(t, {0}) : t);
    }
    all.push_back(ricci::stack(rows));
  }
  return all;
}
/// f of each of two examples.
Function doubled(const Function& f) {
  return [f](const List& x) { return laws::mapped(f, examples(x, 2), Mapped(x.size(), ricci::Dim(0))); };
}

/// A plan for two examples, then one for any number: fewer than a register has lanes, and more.
void expect_same_for_any_number(const Function& f, const List& x, double tolerance, const char* what) {
  SCOPED_TRACE(what);
  const Function mapped = [f](const List& all) { return laws::mapped(f, all, Mapped(all.size(), ricci::Dim(0))); };
  const Function fast = compiled(mapped);
  for (const std::size_t count : {2, 3, 37, 2, 5}) {
    const List all = examples(x, count);
    laws::expect_close(fast(all), mapped(all), tolerance, std::to_string(count).c_str());
  }
}

/// A plan for any number of sets of any number of examples, of which the first operand alone differs from set to set.
void expect_same_for_sets(const Function& f, const List& x, double tolerance) {
  SCOPED_TRACE("compile(vmap(vmap(f)))");
  const auto mapped = [](const Function& g, const Mapped& axes) {
    return [g, axes](const List& all) { return laws::mapped(g, all, axes); };
  };
  Mapped first(x.size());
  first[0] = ricci::Dim(0);
  const Function of_sets = mapped(mapped(f, Mapped(x.size(), ricci::Dim(0))), first);
  const Function fast = compiled(of_sets);
  for (const auto& [sets, count] : {std::pair<std::size_t, std::size_t>{17, 18}, {3, 33}, {20, 2}}) {
    List all = examples(x, count);
    all[0] = examples({all[0]}, sets)[0];
    laws::expect_close(fast(all), of_sets(all), tolerance, (std::to_string(sets) + " sets").c_str());
  }
}

TEST_P(Compiled, GivesWhatTheFunctionGives) {
  std::size_t place = 0;
  for (const Case& c : laws::cases_to_compile(rules())) {
    SCOPED_TRACE(c.text());
    count_case();
    expect_same(compiled(c), c, c.inputs, 0, "compile(f)");
    if (c.inputs.empty()) continue;  // there is nothing to map
    expect_same(doubled(compiled(c)), doubled(c), c.inputs, 0, "vmap(compile(f))");
    expect_same_for_any_number(c, c.inputs, 0, "compile(vmap(f))");
    expect_same_for_sets(c, c.inputs, 0);
    const Smooth s = laws::smooth_part(c);
    if (s.empty()) continue;
    const double tolerance = laws::tolerance_of(ricci::float64) * rules().tolerance_factor;
    const List with_tangents = laws::joined(s.x, laws::directions(s.x, 50));
    const List with_cotangents = laws::joined(s.x, laws::directions(s.y, 60));
    const Function jvp = laws::pushforward(s.f), vjp = laws::pullback(s.f, s.x.size());
    if (laws::takes_form(place, 0, 2)) expect_same(compiled(jvp), jvp, with_tangents, tolerance, "compile(jvp(f))");
    if (laws::takes_form(place, 1, 2))
      expect_same(laws::pushforward(compiled(s.f)), jvp, with_tangents, tolerance, "jvp(compile(f))");
    const Function inside = laws::pullback(compiled(s.f), s.x.size());
    if (laws::takes_form(place, 0, 4)) expect_same(compiled(vjp), vjp, with_cotangents, tolerance, "compile(vjp(f))");
    if (laws::takes_form(place, 1, 4))
      expect_same_for_any_number(vjp, with_cotangents, tolerance, "compile(vmap(vjp(f)))");
    if (laws::takes_form(place, 2, 4)) expect_same(inside, vjp, with_cotangents, tolerance, "vjp(compile(f))");
    if (laws::takes_form(place, 3, 4))
      expect_same(compiled(doubled(inside)), doubled(vjp), with_cotangents, tolerance,
                  "compile(vmap(vjp(compile(f))))");
    place = laws::next_place(rules(), place);
  }
}

FOR_ALL_OPERATIONS(Compiled);

}  // namespace
