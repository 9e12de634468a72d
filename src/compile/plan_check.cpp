// A plan's results beside those of its program, and how far rounding may move them.
#include "compile/plan_check.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <limits>
#include <utility>
#include <vector>

#include "interpreters/replay.h"
#include "primitive/interpreter.h"
#include "program/running.h"
#include "ricci/primitive/formula.h"
#include "ricci/primitive/raise.h"
#include "tensor/thread_context.h"

namespace ricci::compiled {
namespace {

using Complex = std::complex<double>;

/// Whether joining two totals gives one of them: a maximum does not depend on the order.
bool picks(const Accumulation& a) {
  return std::ranges::none_of(a.join.steps, [](const Formula::Step& step) {
    using scalar::Word;
    const bool is_choice = step.word == Word::min || step.word == Word::max || step.is_mask;
    return step.kind == Formula::Kind::word && !is_choice;
  });
}

/// Whether code may add in another order than the library's kernel: then the results are rounded another way.
/// Elementwise operations, and those that move elements, give the same bits.
bool may_round_another_way(const Equation& e) {
  const Rules& rules = *e.rules;
  const void* const op = e.parameters.get();
  if (rules.kind == Kind::elementwise || rules.is_view() || rules.effect != Effect::no_effect) return false;
  if (rules.moves_elements && rules.moves_elements(op) != 0) return false;
  return !rules.accumulation() || !picks(rules.accumulation()(op));
}

double last_digit(DType dtype) {
  switch (real_dtype(dtype)) {
    case DType::float16: return 0x1p-10;
    case DType::bfloat16: return 0x1p-7;
    case DType::float32: return 0x1p-23;
    default: return 0x1p-52;
  }
}

/// Each element larger by some units in the last place of its magnitude. So the change of a sum is no smaller where its
/// terms cancel, and what was equal is equal.
Tensor nudged(const Tensor& x, int digits) {
  if (!is_floating(x.dtype()) && !is_complex(x.dtype())) return x;
  return x + abs(x) * (digits * last_digit(x.dtype()));
}

std::vector<Complex> numbers(const Tensor& x) { return x.to(DType::complex128).to_vector<Complex>(); }

/// Of two elements; infinite where one alone is not finite.
double distance(Complex a, Complex b) {
  if (a == b) return 0;
  const double d = std::abs(a - b);
  return std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
}

/// How far the elements of a result move where the operands of all sums change in their last digits, and those of what
/// is computed from sums: infinitely where an element becomes finite or ceases to be.
struct Movement {
  std::vector<double> by_element;
  double largest = 0;  // of those that are finite

  /// What rounding explains: a hundred times what a few units in the last place of all operands do to the element, or
  /// what they do to another, since terms that move alike may cancel in one element.
  double explains(std::size_t element) const {
    return by_element.empty() ? 0 : std::max(100 * by_element[element], largest);
  }
};

/// By result. Empty: the program throws for those operands.
std::vector<Movement> movements(const Program& program, std::span<const Tensor> inputs, const Tensors& from) {
  constexpr int units = 4;
  bool rounds = false;
  std::vector<bool> is_rounded(program.body().types.size());  // by variable: a sum is in it
  const auto at = [](Variable v) { return static_cast<std::size_t>(v); };
  const auto nudge = [&](const Equation& e, Tensors& operands, const std::function<void()>& run) {
    const bool adds = may_round_another_way(e);
    const bool reads = std::ranges::any_of(e.inputs, [&](Variable v) { return is_rounded[at(v)]; });
    for (const Variable v : e.outputs) is_rounded[at(v)] = adds || reads;
    rounds = rounds || adds;
    int digits = 0;
    // The tanh of a large sum is 1 or the number before it, which the sum's last digit decides: so tanh is moved too.
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (adds) operands[k] = nudged(operands[k], digits += units);
      else if (is_rounded[at(e.inputs[k])] && e.rules->kind == Kind::elementwise)
        operands[k] = nudged(operands[k], units);
    }
    run();
  };
  std::vector<Movement> all(from.size());
  Tensors moved;
  try {
    moved = run_program(program, inputs, nudge);
  } catch (const Error&) { return {}; }
  for (std::size_t i = 0; rounds && i < from.size(); ++i) {
    const std::vector<Complex> a = numbers(moved[i]), b = numbers(from[i]);
    const double digit = last_digit(from[i].dtype());
    for (std::size_t k = 0; k < a.size(); ++k) {
      const double d = distance(a[k], b[k]), least = 4 * digit * std::abs(b[k]);
      all[i].by_element.push_back(std::isfinite(least) ? std::max(d, least) : d);
      if (std::isfinite(all[i].by_element[k])) all[i].largest = std::max(all[i].largest, all[i].by_element[k]);
    }
  }
  return all;
}

std::string text_of(Complex x, DType dtype) {
  char text[64];
  if (is_complex(dtype)) std::snprintf(text, sizeof text, "%.9g%+.9gi", x.real(), x.imag());
  else std::snprintf(text, sizeof text, "%.9g", x.real());
  return text;
}

/// The coordinates of an element: `(2,0)`.
std::string place_of(std::size_t element, const Shape& shape) {
  std::string text;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const auto size = static_cast<std::size_t>(shape[axis].raw());
    text = std::to_string(element % size) + (text.empty() ? "" : ",") + text;
    element /= size;
  }
  return "(" + text + ")";
}

struct Difference {
  std::size_t result = 0, element = 0;
  double size = 0, explained = 0;
  Complex found, expected;
};

/// Whether all elements of two whole-number results are the same.
bool are_same_integers(const Tensor& a, const Tensor& b) {
  return a.to(DType::int64).to_vector<std::int64_t>() == b.to(DType::int64).to_vector<std::int64_t>();
}

/// The largest of those that rounding does not explain; of size 0: there is none. An element that is NaN, or of a sum
/// that overflows, is no reason: zeros of differentiation stay zeros beside infinities in a plan, and where a sum
/// overflows is a matter of its order.
Difference largest_difference(const Tensors& found, const Tensors& expected, const std::vector<Movement>& moved) {
  Difference largest;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (is_integral(expected[i].dtype()) && are_same_integers(found[i], expected[i])) continue;
    const std::vector<Complex> a = numbers(found[i]), b = numbers(expected[i]);
    const bool rounds = !moved[i].by_element.empty();
    for (std::size_t k = 0; k < a.size(); ++k) {
      const double expected_size = std::abs(b[k]), explained = moved[i].explains(k);
      if (std::isnan(expected_size) || (rounds && std::isinf(expected_size))) continue;
      const double size = distance(a[k], b[k]);
      if (size > explained && size > largest.size) largest = {i, k, size, explained, a[k], b[k]};
    }
  }
  return largest;
}

}  // namespace

Tensors checked(const std::function<Tensors()>& plan, const Program& program, std::span<const Tensor> inputs,
                const std::function<std::string(std::size_t)>& name, const std::string& at) {
  Draws draws;
  const Tensors found = drawing_from(DrawSource::noting(draws), plan);
  const With<&ThreadContext::sets_plans_aside> programs_alone(true);
  const With<&ThreadContext::lines_printed> printed(ThreadContext::all_lines);
  const auto unchanged = [](const Equation&, Tensors&, const std::function<void()>& run) { run(); };
  const Tensors expected =
      drawing_from(DrawSource::repeating(draws), [&] { return run_program(program, inputs, unchanged); });
  std::vector<Movement> moved(expected.size());
  if (largest_difference(found, expected, moved).size == 0) return found;
  moved = drawing_from(DrawSource::repeating(draws), [&] { return movements(program, inputs, expected); });
  if (moved.empty()) return found;
  const Difference d = largest_difference(found, expected, moved);
  if (d.size == 0) return found;
  const Tensor& result = expected[d.result];
  throw TransformError(with_nest(
      "compile: element " + place_of(d.element, result.shape()) + " of " + name(d.result) + ", " +
      to_string(type_of(result)) + ", is " + text_of(d.found, result.dtype()) + "; the function gives " +
      text_of(d.expected, result.dtype()) + ". It is the largest difference, " + text_of(d.size, DType::float64) +
      "; rounding explains " + text_of(d.explained, DType::float64) +
      ". Look at the operation's on_elements where it is yours, else report it; RICCI_COMPILE_WITHOUT=lanes runs the "
      "function without machine code" +
      at));
}

}  // namespace ricci::compiled
