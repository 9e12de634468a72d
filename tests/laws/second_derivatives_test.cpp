// Laws of second derivatives where a function has a kink: with the kink removed by a square, the second derivative is
// that of the square, or NaN where this file says why. A finite number that is wrong would go unseen.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "law.h"
#include "ricci/primitive/loop_table.h"

namespace {

using laws::Case;
using laws::Function;
using laws::List;
using laws::Tensor;

class SecondDerivatives : public laws::Law {};

/// Those that have PyTorch's derivatives at kinks, and which: constants, so that their second derivatives are 0.
const std::map<std::string, const char*> as_in_pytorch{
    {"abs", "0 at 0"},
    {"i0e", "0 at 0"},
    {"copysign", "0 where the magnitude is 0"},
    {"l1_loss", "0 where both are equal"},
    {"clamp", "1 where x equals both bounds"},
};

/// Those that may have NaN instead where all inputs are 0, and why.
const std::map<std::string, const char*> may_be_nan_at_0{
    {"hypot", "a kink: an outer function decides what the second derivative is"},
    {"hypot_slope", "jumps there, in all directions but the axes"},
    {"share_of_pair", "0 / 0, which is 0 only as long as nothing is divided by the gap again"},
};

double number_of(const Tensor& x) { return x.to(ricci::float64).item<double>(); }

/// (f(x) - f(x₀))² of a list of one tensor, `at` being f(x₀).
Function squared_distance(const Function& f, const Tensor& at) {
  return [f, at](const List& x) { return List{square(f(x)[0] - at)}; };
}

Function slope_in_reverse(const Function& f) {
  return [f](const List& x) { return laws::cotangents(f, x, {ones_like(f(x)[0])}); };
}
Function slope_forward(const Function& f) {
  return [f](const List& x) { return laws::tangents(f, x, {ones_like(x[0])}); };
}

/// f of input i alone, the others held.
Function of_input(const Case& c, const List& x, std::size_t i) {
  return [&c, x, i](const List& one) {
    List all = x;
    all[i] = one[0];
    return c(all);
  };
}

/// What the square has for a second derivative where both sides of a kink agree on it; NaN where they do not, or where
/// f jumps.
double second_of_square(const Function& f, double x, double y) {
  constexpr double step = 1e-6;
  const auto steepness = [&](double by) {
    return std::fabs(number_of(f({ricci::full({}, x + by, ricci::float64)})[0]) - y) / step;
  };
  const double left = steepness(-step), right = steepness(step);
  constexpr double of_a_jump = 1e3;
  const bool agree = std::fabs(left - right) <= 1e-3 * std::max(1.0, right) && right < of_a_jump;
  return agree ? 2 * right * right : std::nan("");
}

bool is_origin(const List& x) {
  return std::ranges::all_of(x, [](const Tensor& t) { return number_of(t) == 0; });
}

void expect_right_or_nan(const Case& c, const List& x, bool may_be_nan) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i].dtype() != ricci::float64) continue;
    const Function f = of_input(c, x, i);
    const Tensor y = f({x[i]})[0];
    if (y.dtype() != ricci::float64 || !std::isfinite(number_of(y))) continue;
    const double wanted = second_of_square(f, number_of(x[i]), number_of(y));
    if (std::isnan(wanted)) continue;
    const Function square = squared_distance(f, y);
    const double found[] = {number_of(slope_in_reverse(slope_in_reverse(square))({x[i]})[0]),
                            number_of(slope_forward(slope_forward(square))({x[i]})[0]),
                            number_of(slope_forward(slope_in_reverse(square))({x[i]})[0])};
    std::string at;
    for (const Tensor& t : x) at += " " + std::to_string(number_of(t));
    // `wanted` comes from differences over a step of 1e-6, and sides that differ by a thousandth count as equal.
    for (const double d : found)
      if (!std::isnan(d) || !may_be_nan) {
        EXPECT_NEAR(d, wanted, 1e-2 * std::max(1.0, wanted)) << "at" << at << ", by input " << i;
      }
  }
}

TEST_P(SecondDerivatives, OfASquareThatRemovesAKinkAreRightOrNan) {
  if (!rules().loops()->loop(ricci::float64)) return;
  if (const auto found = as_in_pytorch.find(rules().name); found != as_in_pytorch.end())
    GTEST_SKIP() << "the derivative is that of PyTorch, " << found->second;
  for (const Case& c : laws::elementwise_cases(rules(), ricci::float64)) {
    if (c.inputs.empty()) continue;
    SCOPED_TRACE(c.text());
    const std::vector<double> points =
        c.inputs.size() < 3 ? std::vector<double>{-2, -1, -0.5, 0, 0.5, 1, 2} : std::vector<double>{-1, 0, 0.5};
    std::size_t combinations = 1;
    for (std::size_t i = 0; i < c.inputs.size(); ++i) combinations *= points.size();
    for (std::size_t k = 0; k < combinations; ++k) {
      List x;
      std::size_t digits = k;
      for (const Tensor& like : c.inputs) {
        x.push_back(ricci::full({}, points[digits % points.size()], ricci::float64).to(like.dtype()));
        digits /= points.size();
      }
      expect_right_or_nan(c, x, may_be_nan_at_0.contains(rules().name) && is_origin(x));
      count_case();
    }
  }
}

FOR_OPERATIONS(SecondDerivatives, laws::elementwise_operations());

}  // namespace
