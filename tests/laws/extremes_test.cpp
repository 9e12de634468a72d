// Derivatives at extremes: over the whole range of float32, sampled by exponent, first and second partial derivatives
// of every elementwise operation are what the same rules give in float64. Rules that overflow, vanish or cancel on the
// way to a moderate result are found here.
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

#include "law.h"
#include "ricci/primitive/loop_table.h"

namespace {

using laws::Case;
using laws::Function;
using laws::List;
using ricci::Tensor;

class Extremes : public laws::Law {};

constexpr double largest = std::numeric_limits<float>::max(), smallest_normal = std::numeric_limits<float>::min(),
                 ulp = std::numeric_limits<float>::epsilon();

/// What an operation is let off, and why.
struct Allowance {
  double ulps = 16;            // relative to the derivative
  double absolute = 0;         // in ulps of 1, where the derivative is a difference of numbers of that size
  int orders = 2;              // the derivatives that are held
  double most = largest;       // inputs beyond are not tried
  bool may_be_nan = false;     // in float64 too
  bool normal_inputs = false;  // subnormal ones are not tried, as never for second derivatives
  bool halves = true;          // numbers half-way between two integers below 0 are tried
  const char* reason;
};
const std::map<std::string_view, Allowance> allowances{
    {"sigmoid", {.absolute = 4, .reason = "by its value y, for speed: y (1 - y) has the rounding of y"}},
    {"tanh", {.absolute = 4, .reason = "by its value y, for speed: 1 - y^2 has the rounding of y"}},
    {"binary_cross_entropy_with_logits", {.absolute = 4, .reason = "sigmoid(x) - y, which cancel near y"}},
    {"binary_cross_entropy", {.absolute = 4, .most = 1, .reason = "(p - y) / (p (1 - p)) of probabilities"}},
    {"atan2", {.normal_inputs = true, .reason = "the quotient of a subnormal number is rounded on the way"}},
    {"addcdiv", {.normal_inputs = true, .reason = "the quotient of a subnormal number is rounded on the way"}},
    {"digamma", {.halves = false, .reason = "half-way between two poles the parts of polygamma(2, x) cancel"}},
    {"polygamma", {.halves = false, .reason = "half-way between two poles its parts cancel where n is even"}},
    {"sinc", {.absolute = 128, .reason = "differences of waves of size pi^4, which cancel where they are 0"}},
    {"gelu", {.absolute = 1, .reason = "Phi(x) + x phi(x), which cancel near -0.75"}},
    {"erfinv", {.ulps = 256, .reason = "by its value y: exp(y^2) magnifies the rounding of y by 2 y^2"}},
    {"softplus", {.ulps = 128, .reason = "beta is rounded to float32, and exp magnifies that by beta x"}},
    {"huber_loss", {.orders = 1, .reason = "the second derivative is a step, whose side a rounded difference decides"}},
    {"logaddexp", {.ulps = 128, .reason = "exp of a difference that is rounded: |a - b| ulp, as far as exp is not 0"}},
    {"pow",
     {.ulps = 128,
      .orders = 1,
      .may_be_nan = true,
      .reason = "the exponent less 1 is rounded, which log base multiplies; log of a negative base is NaN; parts of "
                "second derivatives overflow near 0 to the power 0"}},
    {"i0e", {.absolute = 8, .reason = "i1e(x) - i0e(x), which cancel for large x"}},
    {"i1e", {.absolute = 8, .reason = "i0e(x) - i1e(x) / x - i1e(x), which cancel for large x"}},
    {"airy_ai", {.absolute = 64, .most = 32, .reason = "waves of angles 2/3 |x|^(3/2), which cancel where they are 0"}},
    {"bessel_j0", {.absolute = 16, .reason = "waves, which cancel where they are 0"}},
    {"bessel_j1", {.absolute = 16, .reason = "j0(x) - j1(x) / x, waves that cancel where their sum is 0"}},
    {"bessel_y0", {.absolute = 16, .reason = "waves, which cancel where they are 0"}},
    {"bessel_y1", {.absolute = 16, .reason = "y0(x) - y1(x) / x, waves that cancel where their sum is 0"}},
    {"spherical_bessel_j0", {.absolute = 16, .reason = "differences of waves, which cancel where they are 0"}},
    {"scaled_modified_bessel_k0",
     {.absolute = 16, .orders = 1, .reason = "k0 - k1, which cancel for large x; the second derivative is less still"}},
    {"scaled_modified_bessel_k1",
     {.absolute = 16, .orders = 1, .reason = "k1 - k0 - k1 / x, which cancel for large x; so the second derivative"}},
    {"expi", {.absolute = 16, .reason = "the second derivative is exp(x) / x - exp(x) / x^2, which cancel at 1"}},
    {"zeta", {.orders = 1, .reason = "a second derivative is a product with a sum of subnormal powers"}},
    {"erfcx",
     {.absolute = 16,
      .orders = 1,
      .most = 1e18,
      .reason = "2 x y - 2 / sqrt(pi), which cancel for large x; the second derivative multiplies that by x"}},
    {"log_ndtr", {.orders = 1, .reason = "the second derivative is a product with a difference that cancels below 0"}},
    {"flat_sqrt", {.may_be_nan = true, .reason = "no rule knows the second derivative at 0"}},
    {"hypot", {.may_be_nan = true, .reason = "no rule knows the second derivative at the origin"}},
    {"pow_number", {.ulps = 128, .reason = "the exponent is rounded to float32, which log x multiplies"}},
};

/// Operations that derivatives of others are made of, and that are held through those: they meet only what those give
/// them. Parts of samplers are held in tests/random; incomplete integrals meet float64 alone.
bool is_part(std::string_view name) {
  return name.ends_with("_slope") || name.ends_with("_share") || name == "share_of_pair" || name == "logistic" ||
         name == "half_quotient" || name == "limited_log_odds" || name == "normal_quantile" ||
         name == "gamma_tail_moment" || name == "gamma_series" || name == "gamma_density" ||
         name == "incomplete_gamma" || name == "beta_tail_moment" || name == "beta_density" ||
         name == "incomplete_beta" || name == "von_mises_tail_moment";
}

/// Of every `step`-th binary exponent, the subnormals among them, two numbers of each sign; 0 and the largest; and by
/// the exponent of the distance, what lies around 1 and -1.
std::vector<double> samples(int step) {
  std::vector<double> all{0, largest, -largest};
  const auto add = [&all](double x) {
    for (double sign : {1.0, -1.0}) all.push_back(sign * static_cast<double>(static_cast<float>(x)));
  };
  for (int e = -149; e < 128; e += step) {
    add(std::ldexp(1.0, e));
    add(std::ldexp(1.37, e));
  }
  for (int e = 1; step == 1 && e < 24; ++e) {
    add(1 - std::ldexp(1.0, -e));
    add(1 + std::ldexp(1.0, -e));
  }
  return all;
}

/// Every sample of every input against every one of the others, in float64.
List grid(const Case& c) {
  const std::size_t inputs = c.inputs.size();
  const Tensor values = ricci::tensor(samples(inputs == 1 ? 1 : inputs == 2 ? 4 : 19));
  List all;
  for (std::size_t i = 0; i < inputs; ++i) {
    ricci::Shape along = ricci::Shape::filled(inputs, 1), full = ricci::Shape::filled(inputs, values.numel());
    along[i] = values.numel();
    const Tensor x = expand(reshape(values, along), full).clone();
    all.push_back(ricci::is_floating(c.inputs[i].dtype()) ? x : x > 0);
  }
  return all;
}

List narrowed(const List& x) {
  List narrow;
  for (const Tensor& t : x) narrow.push_back(ricci::is_floating(t.dtype()) ? t.to(ricci::float32) : t);
  return narrow;
}

/// The partial derivative of the one output by input i.
Function partial(const Function& f, std::size_t i) {
  return [f, i](const List& x) {
    const Function alone = [&](const List& v) {
      List all = x;
      all[i] = v[0];
      return f(all);
    };
    return laws::cotangents(alone, {x[i]}, {ones_like(alone({x[i]})[0])});
  };
}

std::vector<double> numbers(const Tensor& x) { return x.to(ricci::float64).to_vector<double>(); }

/// Neither infinite nor NaN, nor below the smallest normal number: then what is taken from it has too few digits.
bool is_normal(double x) { return x == 0 || (std::fabs(x) >= smallest_normal && std::fabs(x) <= largest); }

bool agree(double narrow, double wide, const Allowance& allowed) {
  if (std::isnan(narrow) || std::isnan(wide)) return std::isnan(narrow) && std::isnan(wide) && allowed.may_be_nan;
  if (std::fabs(wide) > largest / 8 && std::fabs(narrow) > largest / 16) return (narrow < 0) == (wide < 0);
  const double few_of_the_smallest = smallest_normal * ulp * 16;
  return std::fabs(narrow - wide) <=
         ulp * std::fmax(allowed.ulps * std::fabs(wide), allowed.absolute) + few_of_the_smallest;
}

/// Holds f in float32 against f in float64 wherever all of `before` are normal numbers.
void expect_same(const Function& f, const List& x, const std::vector<Tensor>& before, bool normal_inputs,
                 const Allowance& allowed, const std::string& what) {
  const std::vector<double> wide = numbers(f(x)[0]), narrow = numbers(f(narrowed(x))[0]);
  std::vector<std::vector<double>> inputs, conditions;
  for (const Tensor& t : x) inputs.push_back(numbers(t));
  for (const Tensor& t : before) conditions.push_back(numbers(t));
  int failures = 0;
  for (std::size_t k = 0; k < wide.size(); ++k) {
    bool tried = true;
    for (const auto& c : conditions) tried = tried && is_normal(c[k]);
    for (const auto& i : inputs)
      tried = tried && std::fabs(i[k]) <= allowed.most && (!normal_inputs || is_normal(i[k])) &&
              (allowed.halves || i[k] > 0 || i[k] - std::floor(i[k]) != 0.5);
    if (!tried || agree(narrow[k], wide[k], allowed) || ++failures > 3) continue;
    std::string at;
    for (const auto& i : inputs) at += " " + testing::PrintToString(i[k]);
    ADD_FAILURE() << what << " at" << at << " is " << narrow[k] << " in float32, " << wide[k] << " in float64";
  }
  EXPECT_LE(failures, 0) << what;
}

bool is_smooth(const Tensor& x) { return x.dtype() == ricci::float64; }

TEST_P(Extremes, DerivativesInFloat32AreThoseInFloat64) {
  if (is_part(rules().name)) GTEST_SKIP() << "is a part of derivatives";
  if (!rules().loops()->loop(ricci::float32)) GTEST_SKIP() << "takes no float32";
  const auto found = allowances.find(rules().name);
  const Allowance allowed = found == allowances.end() ? Allowance{.reason = ""} : found->second;
  std::vector<Case> cases = laws::cases_of(rules());
  if (rules().parameters.size == 0) cases.erase(cases.begin() + 1, cases.end());
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text());
    const List x = grid(c);
    const Function f = [&c](const List& v) { return c(v); };
    const Tensor y = f(narrowed(x))[0];
    if (y.dtype() != ricci::float32) continue;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!is_smooth(x[i]) || allowed.orders == 0) continue;
      const std::string first = "the derivative by input " + std::to_string(i);
      expect_same(partial(f, i), x, {y}, allowed.normal_inputs, allowed, first);
      count_case();
      const Tensor slope = partial(f, i)(narrowed(x))[0];
      for (std::size_t j = 0; j < x.size() && allowed.orders == 2; ++j)
        if (is_smooth(x[j]))
          expect_same(partial(partial(f, i), j), x, {y, slope}, true, allowed, first + " and " + std::to_string(j));
    }
  }
}

FOR_OPERATIONS(Extremes, laws::elementwise_operations());

}  // namespace
