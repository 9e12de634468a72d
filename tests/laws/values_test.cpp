// Laws of values: against the slow reference, against higher precision, whatever the layout of the inputs, in place,
// and of the declared type.
#include <cmath>
#include <complex>

#include "law.h"
#include "ricci/primitive/loop_table.h"

namespace {

using laws::Case;
using laws::List;
using laws::tolerance_of;
using ricci::DType;
using ricci::Tensor;

class Values : public laws::Law {};
class ElementwiseValues : public laws::Law {};

double tolerance(const Case& c, DType dtype) { return tolerance_of(dtype) * c.rules->tolerance_factor; }

/// What the reference gives for each element of `y`, the operands broadcast.
std::vector<double> referred(const Case& c, const ricci::Shape& shape) {
  std::vector<std::vector<double>> operands;
  for (const Tensor& x : c.inputs)
    operands.push_back(real(broadcast_to(x, shape).to(ricci::complex128)).to_vector<double>());
  std::vector<double> values;
  for (std::size_t i = 0; i < operands[0].size(); ++i) {
    double x[8] = {};
    for (std::size_t k = 0; k < operands.size(); ++k) x[k] = operands[k][i];
    values.push_back(c.rules->reference(c.parameters.get(), x));
  }
  return values;
}

void expect_reference(const Case& c) {
  SCOPED_TRACE(c.text());
  const Tensor y = c(c.inputs)[0];
  const Tensor expected = reshape(ricci::tensor(referred(c, y.shape())), y.shape()).to(y.dtype());
  laws::expect_close(y, expected, tolerance(c, y.dtype()), "value");
}

TEST_P(ElementwiseValues, Reference) {
  if (!rules().reference) GTEST_SKIP() << "has no reference";
  for (int d = 0; d < ricci::dtype_count; ++d) {
    const auto dtype = static_cast<DType>(d);
    if (ricci::is_complex(dtype) || !rules().loops()->loop(dtype)) continue;
    for (const Case& c : laws::elementwise_cases(rules(), dtype)) {
      expect_reference(c);
      count_case();
    }
  }
}

/// A complex operation agrees on the real axis with the real one.
TEST_P(ElementwiseValues, ReferenceOnTheRealAxis) {
  for (DType dtype : {ricci::complex64, ricci::complex128}) {
    if (!rules().reference || !rules().loops()->loop(dtype)) continue;
    for (Case c : laws::elementwise_cases(rules(), ricci::float64)) {
      for (Tensor& x : c.inputs)
        if (ricci::is_floating(x.dtype())) x = x.to(dtype);
      expect_reference(c);
      count_case();
    }
  }
}

/// A number stands for the 0-dim tensor that holds it, and leaves the other operand its type.
TEST_P(ElementwiseValues, TakeNumbers) {
  if (!rules().loops()->loop(ricci::float32)) GTEST_SKIP() << "is not for floating elements";
  for (const Case& wide : laws::cases_of(rules())) {
    const Case c = laws::converted(wide, ricci::float32);
    if (c.inputs.size() != 2 || c.inputs[1].dim() == 0 || c.inputs[1].numel() == 0) continue;
    SCOPED_TRACE(c.text());
    const Tensor only = c.inputs[1].flatten()[0].clone();
    laws::expect_close(c({c.inputs[0], Tensor(only.item())}), c({c.inputs[0], only}), 0, "a number");
    const Tensor mapped = laws::mapped([&](const List& x) { return c({x[0], Tensor(only.item())}); },
                                       {ricci::stack({c.inputs[0]})}, {0})[0];
    laws::expect_close(mapped[0], c({c.inputs[0], only})[0], 0, "a number under vmap");
    count_case();
  }
}

TEST_P(Values, HalvesFollowSinglesFollowDoubles) {
  for (const Case& c : laws::cases_of(rules())) {
    if (laws::smooth_part(c).empty()) continue;
    SCOPED_TRACE(c.text());
    for (DType dtype : {ricci::float32, ricci::float16, ricci::bfloat16}) {
      const bool is_half = dtype != ricci::float32;
      if (is_half && (rules().kind != ricci::Kind::elementwise || !rules().loops()->loop(dtype))) continue;
      const Case narrow = laws::converted(c, dtype), wide = laws::converted(narrow, ricci::float64);
      const List found = narrow(narrow.inputs), expected = wide(wide.inputs);
      for (std::size_t i = 0; i < found.size(); ++i) {
        const DType own = found[i].dtype();
        if (ricci::is_differentiable(own))
          laws::expect_close(found[i], expected[i].to(own), tolerance(c, dtype), ricci::short_name(dtype));
      }
      count_case();
    }
  }
}

TEST_P(Values, HaveTheDeclaredType) {
  for (const Case& c : laws::cases_of(rules())) {
    SCOPED_TRACE(c.text());
    ricci::Types types;
    for (const Tensor& x : c.inputs) types.push_back(ricci::type_of(x));
    const ricci::Types declared = ricci::types_of(c.op(), types);
    const List y = c(c.inputs);
    ASSERT_EQ(y.size(), declared.size());
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(to_string(ricci::type_of(y[i])), to_string(declared[i]));
    count_case();
  }
}

// ── layouts ──

Tensor transposed(const Tensor& x) {
  ricci::Axes back;
  for (std::int64_t i = x.dim(); i-- > 0;) back.push_back(i);
  return x.permute(back).clone().contiguous().permute(back);
}

/// Every second element of a larger tensor, along the first and the last axis.
Tensor sliced(const Tensor& x) {
  if (x.dim() == 0) return x;
  const std::int64_t last = x.dim() - 1;
  const Tensor wide = repeat_interleave(repeat_interleave(x, 2, last), 2, 0);
  return wide.slice(last, 1, std::nullopt, 2).slice(0, 0, std::nullopt, 2);
}

/// x with its first row repeated in memory-less rows.
Tensor repeated(const Tensor& x) {
  if (x.dim() == 0 || x.size(0) == 0) return x;
  return x.narrow(0, 0, 1).expand(x.shape());
}

using Layout = Tensor (*)(const Tensor&);

void expect_layout(const Case& c, Layout layout, const char* what) {
  List other, plain;
  for (const Tensor& x : c.inputs) {
    other.push_back(layout(x));
    plain.push_back(other.back().clone());
  }
  const bool exact = c.rules->kind == ricci::Kind::elementwise || c.rules->is_view();
  List expected, found;
  try {
    expected = c(plain);
  } catch (const ricci::ValueError&) {
    return;  // repeated rows need not be legal, a singular matrix for one
  }
  found = c(other);
  for (std::size_t i = 0; i < found.size(); ++i)
    laws::expect_close(found[i], expected[i], exact ? 0 : tolerance(c, found[i].dtype()), what);
}

TEST_P(Values, DoNotDependOnTheLayout) {
  for (const Case& c : laws::cases_of(rules())) {
    SCOPED_TRACE(c.text());
    expect_layout(c, transposed, "transposed inputs");
    expect_layout(c, sliced, "sliced inputs");
    expect_layout(c, repeated, "expanded inputs");
    count_case();
  }
}

// ── in place ──

TEST_P(ElementwiseValues, AreTheSameInPlace) {
  for (const Case& c : laws::cases_of(rules())) {
    SCOPED_TRACE(c.text());
    const Tensor y = c(c.inputs)[0];
    for (std::size_t i = 0; i < c.inputs.size(); ++i) {
      if (!laws::fits(y, c.inputs[i])) continue;
      List inputs = c.inputs;
      const Tensor target = inputs[i] = c.inputs[i].clone();
      c.write(target, inputs);
      laws::expect_close(target, y.to(target.dtype()), 0, "the target is an operand");

      const Tensor base = ricci::stack({c.inputs[i], c.inputs[i]}, -1), part = base.select(-1, 1);
      inputs[i] = part;
      c.write(part, inputs);
      laws::expect_close(part, y.to(part.dtype()), 0, "the target is a view");
      laws::expect_close(base.select(-1, 0), c.inputs[i], 0, "beside the view");
      count_case();
    }
    const Tensor out = empty_like(y);
    c.write(out, c.inputs);
    laws::expect_close(out, y, 0, "the target is another tensor");
    count_case();
  }
}

FOR_ALL_OPERATIONS(Values);
FOR_OPERATIONS(ElementwiseValues, laws::elementwise_operations());

}  // namespace
