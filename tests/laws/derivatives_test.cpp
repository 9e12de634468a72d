// Laws of derivatives: tangents are difference quotients, cotangents are adjoint to tangents, both again one order up,
// for real and complex inputs; and nothing breaks at extreme values.
#include <limits>
#include <string_view>

#include "law.h"
#include "ricci/primitive/loop_table.h"

namespace {

using laws::Case;
using laws::Function;
using laws::List;
using laws::Smooth;
using ricci::Tensor;

class Derivatives : public laws::Law {};

List moved(const List& x, const List& t, double step) {
  List there;
  for (std::size_t i = 0; i < x.size(); ++i) there.push_back(x[i] + t[i] * step);
  return there;
}

List difference_quotient(const Function& f, const List& x, const List& t) {
  const List above = f(moved(x, t, laws::difference_step)), below = f(moved(x, t, -laws::difference_step));
  List quotient;
  for (std::size_t i = 0; i < above.size(); ++i)
    quotient.push_back((above[i] - below[i]) / (2 * laws::difference_step));
  return quotient;
}

/// Samples by rejection jump as functions of their parameters; their derivatives are those of the quantile function,
/// and tests/random and tests/distributions hold them against it.
bool jumps(const ricci::Rules& rules) {
  const std::string_view name = rules.name;
  return name == "log_gamma_by_keys" || name == "von_mises_by_keys";
}

void expect_tangents(const Function& f, const List& x, double factor, const char* what) {
  const List t = laws::directions(x, 100);
  laws::expect_close(laws::tangents(f, x, t), difference_quotient(f, x, t), laws::difference_tolerance * factor, what);
}

void expect_adjoint(const Function& f, const List& x, double factor, const char* what) {
  const List t = laws::directions(x, 200), ct = laws::directions(f(x), 300);
  const double forward = laws::inner_product(ct, laws::tangents(f, x, t));
  const double backward = laws::inner_product(laws::cotangents(f, x, ct), t);
  EXPECT_NEAR(forward, backward, 100 * laws::tolerance_of(ricci::float64) * factor * std::max(1.0, std::abs(forward)))
      << what;
}

/// Calls `law(smooth part, factor)` with the real and the complex variant of every case.
template <class L>
void try_variants(const ricci::Rules& rules, L law) {
  if (jumps(rules)) return;
  for (const Case& c : laws::cases_of(rules)) {
    const Case variants[] = {c, laws::complexified(c)};
    for (const Case& variant : variants) {
      if (variant.inputs.empty()) continue;
      SCOPED_TRACE(variant.text());
      const Smooth smooth = laws::smooth_part(variant);
      if (!smooth.empty()) law(smooth, rules.tolerance_factor);
    }
  }
}

TEST_P(Derivatives, Jvp) {
  try_variants(rules(), [](const Smooth& s, double factor) {
    expect_tangents(s.f, s.x, factor, "jvp");
    count_case();
  });
}

TEST_P(Derivatives, Vjp) {
  try_variants(rules(), [](const Smooth& s, double factor) {
    expect_adjoint(s.f, s.x, factor, "vjp");
    count_case();
  });
}

/// Rules see undefined tangents and cotangents, and inputs whose derivative nobody wants.
TEST_P(Derivatives, OfOneInputAndOfOneOutput) {
  try_variants(rules(), [](const Smooth& s, double factor) {
    for (std::size_t i = 0; s.x.size() > 1 && i < s.x.size(); ++i) {
      const Smooth alone = laws::by_input(s, i);
      expect_tangents(alone.f, alone.x, factor, "jvp of one input");
      expect_adjoint(alone.f, alone.x, factor, "vjp of one input");
      count_case();
    }
    for (std::size_t i = 0; s.y.size() > 1 && i < s.y.size(); ++i) {
      const Smooth alone = laws::to_output(s, i);
      expect_tangents(alone.f, alone.x, factor, "jvp of one output");
      expect_adjoint(alone.f, alone.x, factor, "vjp of one output");
      count_case();
    }
  });
}

/// The derivative of the tangents by x and by the tangents themselves.
TEST_P(Derivatives, JvpOfJvpAndVjpOfJvp) {
  try_variants(rules(), [](const Smooth& s, double factor) {
    const Function f = laws::pushforward(s.f);
    const List both = laws::joined(s.x, laws::directions(s.x, 400));
    expect_tangents(f, both, 10 * factor, "jvp of jvp");
    expect_adjoint(f, both, 10 * factor, "vjp of jvp");
    count_case();
  });
}

TEST_P(Derivatives, JvpOfVjpAndVjpOfVjp) {
  try_variants(rules(), [](const Smooth& s, double factor) {
    const Function f = laws::pullback(s.f, s.x.size());
    const List both = laws::joined(s.x, laws::directions(s.y, 500));
    expect_tangents(f, both, 10 * factor, "jvp of vjp");
    expect_adjoint(f, both, 10 * factor, "vjp of vjp");
    count_case();
  });
}

// ── extreme values ──

constexpr double infinity = std::numeric_limits<double>::infinity();
const std::vector<double> extremes{0.0,  -0.0,     1.0,       1e3,
                                   -1e3, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};

/// Every extreme value of every input against every one of the others.
List extreme_grid(const Case& c) {
  const std::size_t inputs = c.inputs.size();
  List grid;
  for (std::size_t i = 0; i < inputs; ++i) {
    ricci::Shape along = ricci::Shape::filled(inputs, 1),
                 full = ricci::Shape::filled(inputs, static_cast<std::int64_t>(extremes.size()));
    along[i] = static_cast<std::int64_t>(extremes.size());
    const Tensor values = ricci::tensor(extremes).to(c.inputs[i].dtype());
    grid.push_back(expand(reshape(values, along), full).clone());
  }
  return grid;
}

/// Forward and reverse multiply by the same partial derivative, infinite or not a number though it may be.
void expect_forward_is_reverse(const Case& c) {
  Case at = c;
  at.inputs = extreme_grid(c);
  const Smooth s = laws::smooth_part(at);
  if (s.empty()) return;
  const List ct{ones_like(s.y[0])};
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    if (s.x[i].dtype() != s.y[0].dtype()) continue;  // between real and complex the two are not one number
    const Smooth alone = laws::by_input(s, i);
    laws::expect_close(laws::cotangents(alone.f, alone.x, ct), laws::tangents(alone.f, alone.x, {ones_like(s.x[i])}),
                       1e-9, "vjp against jvp");
  }
}

/// The case with its floating inputs filled with extreme values, from another one on each time.
Case filled(const Case& c, std::size_t start) {
  Case other = c;
  for (Tensor& x : other.inputs) {
    if (!ricci::is_floating(x.dtype())) continue;
    std::vector<double> values;
    for (std::int64_t i = 0; i < x.numel(); ++i)
      values.push_back(extremes[(start + static_cast<std::size_t>(i)) % extremes.size()]);
    x = reshape(ricci::tensor(values), x.shape()).to(x.dtype());
  }
  return other;
}

void expect_no_crash(const Case& c, std::size_t start) {
  try {
    const Smooth s = laws::smooth_part(filled(c, start));
    if (s.empty()) return;
    laws::tangents(s.f, s.x, laws::directions(s.x, 600));
    laws::cotangents(s.f, s.x, laws::directions(s.y, 700));
  } catch (const ricci::ValueError&) {
    // Some values have no result, a matrix that is not positive definite for one.
  }
}

TEST_P(Derivatives, AtExtremeValues) {
  for (const Case& c : laws::cases_of(rules())) {
    SCOPED_TRACE(c.text());
    if (rules().kind == ricci::Kind::elementwise) expect_forward_is_reverse(c);
    for (std::size_t start = 0; start < extremes.size(); ++start) expect_no_crash(c, start);
    count_case();
  }
}

FOR_ALL_OPERATIONS(Derivatives);

}  // namespace
