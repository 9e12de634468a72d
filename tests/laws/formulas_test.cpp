// Laws of formulas and reductions that are written down: read word by word, each gives the very bits of the operation.
#include <cmath>
#include <limits>
#include <stdexcept>

#include "law.h"
#include "ricci/primitive/formula.h"
#include "ricci/primitive/loop_table.h"
#include "ricci/primitive/scalar.h"

namespace {

using laws::Case;
using laws::Tensor;
using ricci::DType;
using ricci::Formula;
using ricci::Shape;
namespace scalar = ricci::scalar;

class Formulas : public laws::Law {};

/// What a step gives: an element or a truth value.
template <class E>
struct Slot {
  E value{};
  bool mask = false;
};

// A word of elements of type E, written once for both kinds of elements.
#define RICCI_ONE(word) \
  case Word::word: return scalar::word(a);
#define RICCI_TWO(word) \
  case Word::word: return scalar::word(a, b);

[[noreturn]] void raise_unknown() { throw std::logic_error("these elements have no such word"); }

template <class E>
  requires std::is_floating_point_v<E>
E element(scalar::Word word, E a, E b, E c) {
  using scalar::Word;
  switch (word) {
    case Word::divide: return a / b;
    case Word::fma: return scalar::fma(a, b, c);
    RICCI_WORDS_OF_TWO(RICCI_TWO)
    RICCI_WORDS_OF_TWO_REALS(RICCI_TWO)
    RICCI_WORDS_OF_ONE(RICCI_ONE)
    RICCI_WORDS_OF_ONE_REAL(RICCI_ONE)
    default: raise_unknown();
  }
}

template <class E>
  requires std::is_integral_v<E>
E element(scalar::Word word, E a, E b, E c) {
  using scalar::Word;
  switch (word) {
    case Word::fma: return scalar::fma(a, b, c);
    RICCI_WORDS_OF_TWO(RICCI_TWO)
    RICCI_WORDS_OF_TWO_INTEGERS(RICCI_TWO)
    RICCI_WORDS_OF_ONE(RICCI_ONE)
    RICCI_WORDS_OF_ONE_INTEGER(RICCI_ONE)
    default: raise_unknown();
  }
}
#undef RICCI_ONE
#undef RICCI_TWO

/// One word: of numbers or of truth values.
template <class E>
Slot<E> spoken(scalar::Word word, const Slot<E>& x, const Slot<E>& y, const Slot<E>& z) {
  using scalar::Word;
  using P = scalar::Pack<E>;
  const auto number = [](auto value) { return Slot<E>{.value = static_cast<E>(value)}; };
  const auto truth = [](bool mask) { return Slot<E>{.mask = mask}; };
  const E a = x.value, b = y.value;
  switch (word) {
    case Word::add: return number((P(a) + P(b))[0]);  // a plain sum of small integers would be an int
    case Word::subtract: return number((P(a) - P(b))[0]);
    case Word::multiply: return number((P(a) * P(b))[0]);
    case Word::negative: return number((-P(a))[0]);
    case Word::equal: return truth(scalar::equal(a, b));
    case Word::not_equal: return truth(scalar::not_equal(a, b));
    case Word::less: return truth(scalar::less(a, b));
    case Word::less_equal: return truth(scalar::less_equal(a, b));
    case Word::greater: return truth(scalar::greater(a, b));
    case Word::greater_equal: return truth(scalar::greater_equal(a, b));
    case Word::isnan: return truth(scalar::isnan(a));
    case Word::isinf: return truth(scalar::isinf(a));
    case Word::isfinite: return truth(scalar::isfinite(a));
    case Word::logical_and: return truth(x.mask && y.mask);
    case Word::logical_or: return truth(x.mask || y.mask);
    case Word::logical_xor: return truth(x.mask != y.mask);
    case Word::logical_not: return truth(!x.mask);
    default: return number(element<E>(word, a, b, z.value));
  }
}

/// The formula's result for one element of each operand.
template <class E>
Slot<E> read_out(const Formula& formula, const std::vector<Slot<E>>& inputs) {
  std::vector<Slot<E>> steps;
  for (const Formula::Step& step : formula.steps) {
    const auto at = [&](std::size_t k) { return steps[static_cast<std::size_t>(step.from[k])]; };
    const auto or_nothing = [&](std::size_t k) { return step.from[k] < 0 ? Slot<E>() : at(k); };
    switch (step.kind) {
      case Formula::Kind::input: steps.push_back(inputs[static_cast<std::size_t>(step.from[0])]); break;
      case Formula::Kind::number: steps.push_back({.value = static_cast<E>(step.number)}); break;
      case Formula::Kind::select: steps.push_back({.value = at(0).mask ? at(1).value : at(2).value}); break;
      case Formula::Kind::word:
        steps.push_back(spoken<E>(step.word, or_nothing(0), or_nothing(1), or_nothing(2)));
        break;
    }
  }
  return steps[static_cast<std::size_t>(formula.result)];
}

/// The formula of the case over all elements of `shape`, in the type that the operation has for elements of E.
template <class E>
Tensor computed(const Case& c, const Shape& shape, DType result) {
  const Formula formula = c.rules->formula()(c.parameters.get());
  std::vector<std::vector<E>> operands;
  for (const Tensor& x : c.inputs)
    operands.push_back(broadcast_to(x, shape).to(ricci::dtype_of<E>).template to_vector<E>());
  std::vector<E> values;
  std::vector<bool> truths;
  for (std::size_t i = 0; i < operands[0].size(); ++i) {
    std::vector<Slot<E>> inputs;
    for (const auto& operand : operands) inputs.push_back({.value = operand[i], .mask = operand[i] != E(0)});
    const Slot<E> y = read_out<E>(formula, inputs);
    values.push_back(y.value);
    truths.push_back(y.mask);
  }
  const bool is_mask = formula.steps[static_cast<std::size_t>(formula.result)].is_mask;
  return reshape((is_mask ? ricci::tensor(truths) : ricci::tensor(values)).to(result), shape);
}

Tensor computed(const Case& c, DType element, const Shape& shape, DType result) {
  switch (element) {
    case DType::float64: return computed<double>(c, shape, result);
    case DType::int64: return computed<std::int64_t>(c, shape, result);
    case DType::int32: return computed<std::int32_t>(c, shape, result);
    case DType::uint8: return computed<std::uint8_t>(c, shape, result);
    case DType::boolean: return computed<bool>(c, shape, result);
    default: return computed<float>(c, shape, result);
  }
}

/// Every operation has one, for the elements of each real type.
TEST_P(Formulas, GiveTheBitsOfTheOperation) {
  ASSERT_NE(rules().formula(), nullptr);
  for (const DType element : {ricci::float64, ricci::float32, ricci::float16, ricci::bfloat16, ricci::int64,
                              ricci::int32, ricci::uint8, ricci::boolean}) {
    if (!rules().loops()->loop(element)) continue;
    for (const Case& c : laws::elementwise_cases(rules(), element)) {
      SCOPED_TRACE(c.text());
      const Tensor y = c(c.inputs)[0];
      laws::expect_close(computed(c, element, y.shape(), y.dtype()), y, 0, "formula");
      count_case();
    }
  }
}

FOR_OPERATIONS(Formulas, laws::elementwise_operations());

class Reductions : public laws::Law {};

template <class E>
E start_of(const ricci::Accumulation& a) {
  using Limits = std::numeric_limits<E>;
  if (!Limits::is_integer || std::isfinite(a.start)) return static_cast<E>(a.start);
  return a.start < 0 ? Limits::min() : Limits::max();
}

/// What is written down of a reduction, of vectors of three elements: the loops join the last with the first.
template <class E>
Slot<E> reduced(const ricci::Accumulation& a, const std::vector<std::vector<E>>& operands) {
  const auto element = [](E x) { return Slot<E>{.value = x, .mask = x != E(0)}; };
  const auto term = [&](std::size_t i) {
    std::vector<Slot<E>> elements;
    for (const std::vector<E>& operand : operands) elements.push_back(element(operand[i]));
    return read_out<E>(a.term, elements);
  };
  const auto add = [&](const Slot<E>& total, std::size_t i) {
    std::vector<Slot<E>> inputs{total};
    for (const std::vector<E>& operand : operands) inputs.push_back(element(operand[i]));
    return read_out<E>(a.add, inputs);
  };
  const bool is_mask = a.join.steps[static_cast<std::size_t>(a.join.result)].is_mask;
  const Slot<E> first = add(element(start_of<E>(a)), 0);
  if (is_mask) EXPECT_EQ(first.mask, term(0).mask);
  else EXPECT_EQ(first.value, term(0).value);
  const Slot<E> total = read_out<E>(a.join, {read_out<E>(a.join, {term(0), term(2)}), term(1)});
  return read_out<E>(a.finish, {total, element(static_cast<E>(3))});
}

template <class E>
Tensor reduced(const Case& c, DType result) {
  const ricci::Accumulation accumulation = c.rules->accumulation()(c.parameters.get());
  EXPECT_EQ(static_cast<std::size_t>(accumulation.operands), c.inputs.size());
  std::vector<std::vector<E>> operands;
  for (const Tensor& x : c.inputs) operands.push_back(x.to(ricci::dtype_of<E>).template to_vector<E>());
  const Slot<E> y = reduced<E>(accumulation, operands);
  const Tensor number = ricci::tensor(std::vector<E>{y.value})[0];
  return result == DType::boolean ? ricci::tensor(y.mask) : number.to(result);
}

bool takes_integers(const Case& c) {
  ricci::Types types;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) types.push_back({DType::int64, {3}});
  try {
    c.rules->type(c.parameters.get(), types);
    return true;
  } catch (const ricci::TypeError&) { return false; }
}

/// The result of c, and what is written down of it.
void expect_written_down(Case c) {
  SCOPED_TRACE(c.text());
  const Tensor y = c(c.inputs)[0];
  if (c.rules->name == std::string_view("count_nonzero")) c.inputs[0] = c.inputs[0] != 0;  // its elements are 1 and 0
  const DType element = c.inputs[0].dtype();
  const Tensor written = element == DType::float64   ? reduced<double>(c, y.dtype())
                         : element == DType::float32 ? reduced<float>(c, y.dtype())
                                                     : reduced<std::int64_t>(c, y.dtype());
  laws::expect_close(written, y, 0, "reduction");
}

/// A reduction has its start, its terms and how they are joined written down, and they give its very bits.
TEST_P(Reductions, AreWhatIsWrittenDown) {
  for (const Case& sample : laws::cases_of(rules())) {
    if (!(sample.inputs[0].shape() == Shape{3}) || sample.inputs[0].is_complex()) continue;
    for (const DType dtype : {ricci::float64, ricci::float32, ricci::int64}) {
      if (dtype == DType::int64 && !takes_integers(sample)) continue;
      Case c = sample;
      unsigned seed = 1;
      for (Tensor& x : c.inputs) x = dtype == DType::int64 ? laws::uniform({3}, dtype, -4, 5, seed++) : x.to(dtype);
      expect_written_down(c);
      for (Tensor& x : c.inputs) x = x * ricci::tensor({1, 0, 1});
      expect_written_down(c);
      count_case();
    }
  }
}

/// So does what it gives for no elements, where it gives anything.
TEST_P(Reductions, OfNoElementsAreWhatIsWrittenDown) {
  for (const Case& c : laws::cases_of(rules())) {
    if (c.inputs[0].numel() > 0 || c.inputs[0].is_complex()) continue;
    const Tensor y = c(c.inputs)[0];
    if (y.numel() == 0) continue;
    SCOPED_TRACE(c.text());
    const ricci::Accumulation a = c.rules->accumulation()(c.parameters.get());
    const auto element = [](double x) { return Slot<double>{.value = x, .mask = x != 0}; };
    const Slot<double> nothing = read_out<double>(a.finish, {element(a.nothing), element(0)});
    const Tensor number =
        y.dtype() == DType::boolean ? ricci::tensor(nothing.mask) : ricci::tensor(nothing.value, y.dtype());
    laws::expect_close(broadcast_to(number, y.shape()), y, 0, "reduction");
    count_case();
  }
}

std::vector<const ricci::Rules*> reductions() {
  std::vector<const ricci::Rules*> all = laws::operations();
  std::erase_if(all, [](const ricci::Rules* rules) { return rules->accumulation() == nullptr; });
  return all;
}

FOR_OPERATIONS(Reductions, reductions());

}  // namespace
