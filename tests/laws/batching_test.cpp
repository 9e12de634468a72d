// Laws of vmap: it is the stack of the results for each example, wherever the batch stands, however often it is
// applied, for every batch size, in place too; and it commutes with jvp and vjp, and with two of them.
#include "law.h"

namespace {

using laws::Case;
using laws::Function;
using laws::List;
using laws::Mapped;
using laws::Smooth;
using ricci::Tensor;

class Batching : public laws::Law {};
class ElementwiseBatching : public laws::Law {};

Tensor turned_around(const Tensor& x) {
  ricci::Axes all;
  for (std::int64_t i = 0; i < x.dim(); ++i) all.push_back(i);
  return x.dim() == 0 ? x : flip(x, all);
}

/// Example k of an input: still legal wherever the input is.
Tensor example(const Tensor& x, int k) {
  if (k == 0) return x;
  const Tensor other = k == 1 ? turned_around(x) : x;
  return ricci::is_differentiable(x.dtype()) ? other * (k == 1 ? 0.875 : 1.25) : other;
}

/// Inputs that are mapped have one value for each example.
struct Examples {
  List inputs;
  Mapped in_dims;
  int count;

  List of(int k) const {
    List one;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      one.push_back(in_dims[i] ? inputs[i].select(*in_dims[i], k) : inputs[i]);
    return one;
  }
};

Examples examples(const List& x, const Mapped& in_dims, int count) {
  Examples e{{}, in_dims, count};
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::vector<Tensor> rows;
    for (int k = 0; k < count; ++k) rows.push_back(example(x[i], k));
    e.inputs.push_back(in_dims[i] ? stack(rows, *in_dims[i]) : x[i]);
  }
  return e;
}

/// All in front; all at the back; each alone in front; each alone left out.
std::vector<Mapped> patterns(std::size_t inputs) {
  std::vector<Mapped> all{Mapped(inputs, 0), Mapped(inputs, -1)};
  if (inputs < 2) return all;
  for (std::size_t i = 0; i < inputs; ++i) {
    Mapped alone(inputs, ricci::none), others(inputs, -1);
    alone[i] = 0;
    others[i] = ricci::none;
    all.push_back(alone);
    if (inputs > 2) all.push_back(others);
  }
  return all;
}

List stacked(const std::vector<List>& rows) {
  List y;
  for (std::size_t i = 0; i < rows[0].size(); ++i) {
    std::vector<Tensor> parts;
    for (const List& row : rows) parts.push_back(row[i]);
    y.push_back(stack(parts));
  }
  return y;
}

double tolerance(const ricci::Rules& rules) {
  const bool exact = rules.kind == ricci::Kind::elementwise || rules.is_view();
  return exact ? 0 : 10 * laws::tolerance_of(ricci::float64) * rules.tolerance_factor;
}

void expect_stack(const Function& f, const Examples& e, double tolerance, const char* what) {
  std::vector<List> rows;
  for (int k = 0; k < e.count; ++k) rows.push_back(f(e.of(k)));
  laws::expect_close(laws::mapped(f, e.inputs, e.in_dims), stacked(rows), tolerance, what);
}

TEST_P(Batching, Vmap) {
  for (const Case& c : laws::cases_of(rules())) {
    if (c.inputs.empty()) continue;
    SCOPED_TRACE(c.text());
    for (const Mapped& in_dims : patterns(c.inputs.size())) {
      expect_stack(c, examples(c.inputs, in_dims, 3), tolerance(rules()), "three examples");
      expect_stack(c, examples(c.inputs, in_dims, 1), tolerance(rules()), "one example");
      count_case();
    }
    const Examples e = examples(c.inputs, Mapped(c.inputs.size(), 0), 3);
    List last = laws::mapped(c, e.inputs, e.in_dims, -1);
    for (Tensor& y : last) y = y.movedim(-1, 0);
    laws::expect_close(last, laws::mapped(c, e.inputs, e.in_dims), 0, "the batch at the back of the result");
  }
}

TEST_P(Batching, OfNoExamples) {
  for (const Case& c : laws::cases_of(rules())) {
    if (c.inputs.empty()) continue;
    SCOPED_TRACE(c.text());
    const List one = c(c.inputs);
    for (const Mapped& in_dims : patterns(c.inputs.size())) {
      Examples none = examples(c.inputs, in_dims, 1);
      for (std::size_t i = 0; i < none.inputs.size(); ++i)
        if (in_dims[i]) none.inputs[i] = none.inputs[i].narrow(*in_dims[i], 0, 0);
      const List y = laws::mapped(c, none.inputs, in_dims);
      ASSERT_EQ(y.size(), one.size());
      for (std::size_t i = 0; i < y.size(); ++i) {
        ricci::Shape shape = one[i].shape();
        shape.insert(0, 0);
        EXPECT_EQ(to_string(y[i].shape()), to_string(shape));
        EXPECT_EQ(y[i].dtype(), one[i].dtype());
      }
      count_case();
    }
  }
}

/// The inner map over what `inner` says, the outer over all inputs, two examples each.
TEST_P(Batching, VmapOfVmap) {
  for (const Case& c : laws::cases_of(rules())) {
    if (c.inputs.empty()) continue;
    SCOPED_TRACE(c.text());
    for (const Mapped& inner : patterns(c.inputs.size())) {
      const List rows = examples(c.inputs, inner, 2).inputs;
      const Function f = [&](const List& x) { return laws::mapped(c, x, inner); };
      expect_stack(f, examples(rows, Mapped(rows.size(), -1), 2), tolerance(rules()), "vmap of vmap");
      for (std::size_t i = 0; rows.size() > 1 && i < rows.size(); ++i) {
        Mapped alone(rows.size(), ricci::none);
        alone[i] = 0;
        expect_stack(f, examples(rows, alone, 2), tolerance(rules()), "vmap of vmap, one input mapped by the outer");
      }
      count_case();
    }
  }
}

// ── with derivatives ──

/// Calls `law(smooth part)` with every case that has derivatives.
template <class L>
void try_smooth(const ricci::Rules& rules, L law) {
  for (const Case& c : laws::cases_of(rules)) {
    const Smooth s = laws::smooth_part(c);
    if (s.empty()) continue;
    SCOPED_TRACE(c.text());
    for (const Mapped& in_dims : patterns(s.x.size()))
      law(s, in_dims, 100 * laws::tolerance_of(ricci::float64) * rules.tolerance_factor);
  }
}

TEST_P(Batching, VmapOfJvp) {
  try_smooth(rules(), [](const Smooth& s, const Mapped& in_dims, double tolerance) {
    const List both = laws::joined(s.x, laws::directions(s.x, 10));
    Mapped dims = in_dims;
    dims.insert(dims.end(), in_dims.begin(), in_dims.end());
    expect_stack(laws::pushforward(s.f), examples(both, dims, 2), tolerance, "vmap of jvp");
    std::fill(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(s.x.size()), ricci::none);
    expect_stack(laws::pushforward(s.f), examples(both, dims, 2), tolerance, "vmap of jvp over tangents alone");
    count_case();
  });
}

TEST_P(Batching, VmapOfVjp) {
  try_smooth(rules(), [](const Smooth& s, const Mapped& in_dims, double tolerance) {
    const List both = laws::joined(s.x, laws::directions(s.y, 20));
    Mapped dims = in_dims;
    dims.resize(both.size(), 0);
    const Function f = laws::pullback(s.f, s.x.size());
    expect_stack(f, examples(both, dims, 2), tolerance, "vmap of vjp");
    std::fill(dims.begin() + static_cast<std::ptrdiff_t>(s.x.size()), dims.end(), ricci::none);
    expect_stack(f, examples(both, dims, 2), tolerance, "vmap of vjp with one cotangent");
    std::fill(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(s.x.size()), ricci::none);
    std::fill(dims.begin() + static_cast<std::ptrdiff_t>(s.x.size()), dims.end(), 0);
    expect_stack(f, examples(both, dims, 2), tolerance, "vmap of vjp over cotangents alone");
    count_case();
  });
}

TEST_P(Batching, JvpOfVmap) {
  try_smooth(rules(), [](const Smooth& s, const Mapped& in_dims, double tolerance) {
    const Examples x = examples(s.x, in_dims, 2), t = examples(laws::directions(s.x, 30), in_dims, 2);
    const Function f = [&](const List& v) { return laws::mapped(s.f, v, in_dims); };
    const List rows[] = {laws::tangents(s.f, x.of(0), t.of(0)), laws::tangents(s.f, x.of(1), t.of(1))};
    laws::expect_close(laws::tangents(f, x.inputs, t.inputs), stacked({rows[0], rows[1]}), tolerance, "jvp of vmap");
    count_case();
  });
}

/// What is not mapped serves all examples: its cotangents add up.
TEST_P(Batching, VjpOfVmap) {
  try_smooth(rules(), [](const Smooth& s, const Mapped& in_dims, double tolerance) {
    const Examples x = examples(s.x, in_dims, 2), ct = examples(laws::directions(s.y, 40), Mapped(s.y.size(), 0), 2);
    const Function f = [&](const List& v) { return laws::mapped(s.f, v, in_dims); };
    const List first = laws::cotangents(s.f, x.of(0), ct.of(0)), second = laws::cotangents(s.f, x.of(1), ct.of(1));
    List expected;
    for (std::size_t i = 0; i < first.size(); ++i)
      expected.push_back(in_dims[i] ? ricci::stack({first[i], second[i]}, *in_dims[i]) : first[i] + second[i]);
    laws::expect_close(laws::cotangents(f, x.inputs, ct.inputs), expected, tolerance, "vjp of vmap");
    count_case();
  });
}

// ── derivatives of derivatives ──

/// Examples of what `f`, a derivative by the first inputs of `s`, reads beside them.
template <class F>
void expect_stack_of_second(const Smooth& s, const F& f, const List& beside, const Mapped& in_dims, double tolerance,
                            const char* what) {
  Mapped dims = in_dims;
  dims.resize(s.x.size() + beside.size(), 0);
  expect_stack(f, examples(laws::joined(s.x, beside), dims, 2), tolerance, what);
}

TEST_P(Batching, VmapOfVjpOfVjp) {
  try_smooth(rules(), [](const Smooth& s, const Mapped& in_dims, double tolerance) {
    const Function first = laws::pullback(s.f, s.x.size());  // of x and the cotangent of y
    const List read = laws::joined(s.x, laws::directions(s.y, 50));
    const List beside = laws::joined(laws::directions(s.y, 50), laws::directions(s.x, 60));
    expect_stack_of_second(s, laws::pullback(first, read.size()), beside, in_dims, 10 * tolerance,
                           "vmap of vjp of vjp");
    count_case();
  });
}

TEST_P(Batching, VmapOfJvpOfVjp) {
  try_smooth(rules(), [](const Smooth& s, const Mapped& in_dims, double tolerance) {
    const Function first = laws::pullback(s.f, s.x.size());
    const List read = laws::joined(s.x, laws::directions(s.y, 70));
    const List beside = laws::joined(laws::directions(s.y, 70), laws::directions(read, 80));
    expect_stack_of_second(s, laws::pushforward(first), beside, in_dims, 10 * tolerance, "vmap of jvp of vjp");
    count_case();
  });
}

// ── in place ──

/// Clones, whose first the operation is written into: what vmap returns and what the caller's tensor then holds.
void expect_write(const Case& c, const Examples& e) {
  List inputs;
  for (const Tensor& x : e.inputs) inputs.push_back(x.clone());
  const auto write = [&](const List& x) {
    c.write(x[0], x);
    return List{x[0]};
  };
  if (!e.in_dims[0]) {  // one value for what differs per example
    EXPECT_THROW(laws::mapped(write, inputs, e.in_dims), ricci::TransformError);
    return laws::expect_close(inputs, e.inputs, 0, "after a write that is refused");
  }
  const List y = laws::mapped(write, inputs, e.in_dims);
  std::vector<Tensor> rows;
  for (int k = 0; k < e.count; ++k) rows.push_back(c(e.of(k))[0].to(inputs[0].dtype()));
  laws::expect_close(y[0], stack(rows), 0, "what the write returns");
  laws::expect_close(inputs[0], stack(rows, *e.in_dims[0]), 0, "the caller's tensor");
}

TEST_P(ElementwiseBatching, InPlace) {
  for (const Case& c : laws::cases_of(rules())) {
    if (!laws::fits(c(c.inputs)[0], c.inputs[0])) continue;
    SCOPED_TRACE(c.text());
    for (const Mapped& in_dims : patterns(c.inputs.size())) {
      expect_write(c, examples(c.inputs, in_dims, 3));
      count_case();
    }
  }
}

FOR_ALL_OPERATIONS(Batching);
FOR_OPERATIONS(ElementwiseBatching, laws::elementwise_operations());

}  // namespace
