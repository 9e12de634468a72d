// The formulas, in words that are instructions or functions of the C library.
#include "compile/word_formulas.h"

#include <concepts>
#include <limits>

#include "compile/graph_writer.h"
#include "compile/lowering.h"
#include "ricci/primitive/scalar.h"

namespace ricci::compiled {
namespace {

using namespace scalar;

/// Whether a remainder has another sign than the divisor.
template <class T>
TypedMask is_opposite(const T& rest, const T& divisor) {
  const T zero(0);
  return not_equal(rest, zero) && (less(rest, zero) ^ less(divisor, zero));
}

template <std::floating_point E>
std::optional<Typed<E>> formula(Word word, const Typed<E>& a, const Typed<E>& b) {
  using T = Typed<E>;
  const T zero(0), one(1);
  switch (word) {
    case Word::mills: return special::mills(a);
    case Word::trunc_div: return trunc(a / b);
    case Word::floor_div: {
      const T ratio = a / b, down = floor(ratio);
      const T rest = select(equal(down, zero), a, fma(-down, b, a));
      const T whole = select(is_opposite(rest, b), down - one, down);
      const T finite = select(isinf(a), T(std::numeric_limits<E>::quiet_NaN()), whole);
      return select(equal(b, zero), ratio, finite);
    }
    case Word::remainder: {
      const T rest = fmod(a, b);
      return select(is_opposite(rest, b), rest + b, rest);
    }
    default: return std::nullopt;
  }
}

/// Code has whole quotients, which are 0 over 0.
template <std::integral E>
std::optional<Typed<E>> formula(Word word, const Typed<E>& a, const Typed<E>& b) {
  using T = Typed<E>;
  const T zero(0), one(1), quotient = trunc_div(a, b), rest = select(equal(b, zero), zero, a - quotient * b);
  switch (word) {
    case Word::fmod: return rest;
    case Word::floor_div: return select(is_opposite(rest, b), quotient - one, quotient);
    case Word::remainder: return select(is_opposite(rest, b), rest + b, rest);
    case Word::pow: {
      T result = one, power = a;
      for (int bit = 0; bit < static_cast<int>(8 * sizeof(E)); ++bit, power = power * power)
        result = select(not_equal((b >> bit) & one, zero), result * power, result);
      const TypedMask is_unit = equal(a, one) || equal(a, -one);
      return std::unsigned_integral<E> ? result : select(less(b, zero) && !is_unit, zero, result);
    }
    default: return std::nullopt;
  }
}

template <class E>
std::optional<CalledFunction> function(Word word) {
  CalledFunction f{dtype_of<E>, {word}, {}};
  GraphWriter writer(f.program.graph);
  const WritingScalars writing(&writer);
  Node operands[2] = {};
  for (int k = 0; k < 2; ++k) {
    if (k < operands_of(word)) f.program.inputs.push_back({f.dtype, {k, 0, 0, 1}});
    operands[k] = k < operands_of(word) ? f.program.graph.input(static_cast<std::uint64_t>(k), f.dtype) : operands[0];
  }
  const auto y = formula<E>(word, Typed<E>::at(operands[0]), Typed<E>::at(operands[1]));
  if (!y) return std::nullopt;
  f.program.outputs.push_back({y->scalar(), {0, 0, 0, 1}});
  f.program.output_dtypes.push_back(f.dtype);
  f.program.has_lanes = true;
  return f;
}

}  // namespace

std::optional<CalledFunction> written_out(Word word, DType dtype) {
  switch (dtype) {
    case DType::float64: return function<double>(word);
    case DType::float32: return function<float>(word);
    case DType::int64: return function<std::int64_t>(word);
    case DType::int32: return function<std::int32_t>(word);
    case DType::int16: return function<std::int16_t>(word);
    case DType::int8: return function<std::int8_t>(word);
    case DType::uint8: return function<std::uint8_t>(word);
    default: return std::nullopt;
  }
}

std::optional<CalledFunction> formula_of_word(Word word, DType dtype) {
  std::optional<CalledFunction> formula = written_out(word, dtype);
  if (formula) formula->program = lowered(formula->program);
  return formula;
}

}  // namespace ricci::compiled
