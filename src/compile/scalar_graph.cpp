// Making, simplifying and printing scalar operations.
#include "compile/scalar_graph.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <utility>

#include "compile/words.h"
#include "primitive/wording.h"
#include "ricci/primitive/formula.h"

namespace ricci::compiled {
namespace {

template <class E>
std::uint64_t bits_of_element(E value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const void*>(&value), sizeof value);
  return bits;
}
template <class E>
E element_of_bits(std::uint64_t bits) {
  E value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof value);
  return value;
}

/// f of the element that the bits are.
template <class F>
auto with_element(DType dtype, std::uint64_t bits, const F& f) {
  return visit_dtype(dtype, [&]<class E>(std::type_identity<E>) {
    if constexpr (std::is_class_v<E> && !std::is_convertible_v<E, float>) return f(0.0);
    else if constexpr (std::is_class_v<E>) return f(static_cast<float>(element_of_bits<E>(bits)));
    else return f(element_of_bits<E>(bits));
  });
}

template <class E>
E rounded(long double value) {
  if constexpr (std::is_same_v<E, bool>) return value != 0;
  if constexpr (std::is_integral_v<E>) {
    if (std::isinf(value)) return value < 0 ? std::numeric_limits<E>::min() : std::numeric_limits<E>::max();
    return static_cast<E>(static_cast<std::int64_t>(value));
  } else if constexpr (std::is_same_v<E, Half> || std::is_same_v<E, BFloat16>) {
    return E(static_cast<float>(value));
  } else {
    return static_cast<E>(value);
  }
}

template <class E>
bool compared(Word word, E a, E b) {
  switch (word) {
    case Word::equal: return a == b;
    case Word::not_equal: return a != b;
    case Word::less: return a < b;
    case Word::less_equal: return a <= b;
    case Word::greater: return a > b;
    case Word::greater_equal: return a >= b;
    case Word::isnan: return a != a;
    case Word::isinf: return std::isinf(static_cast<long double>(a));
    default: return std::isfinite(static_cast<long double>(a));
  }
}

/// As the library's copies convert.
template <class To, class From>
To converted(From x) {
  if constexpr (std::is_same_v<To, bool>) return x != From(0);
  else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) return To(static_cast<float>(x));
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && sizeof(To) < 4)
    return static_cast<To>(static_cast<std::int32_t>(x));
  else return static_cast<To>(x);
}

}  // namespace

namespace {
std::size_t hash_of(const ScalarStep& s) {
  std::size_t hash = static_cast<std::size_t>(s.kind) | static_cast<std::size_t>(s.word) << 8 |
                     static_cast<std::size_t>(s.dtype) << 16 | static_cast<std::size_t>(s.is_structural) << 24;
  for (const std::uint64_t part : {static_cast<std::uint64_t>(s.from[0]), static_cast<std::uint64_t>(s.from[1]),
                                   static_cast<std::uint64_t>(s.from[2]), s.payload})
    hash = (hash ^ part) * 0x9e3779b97f4a7c15U, hash ^= hash >> 29;
  return hash;
}
}  // namespace

void ScalarGraph::make_room() {
  constexpr std::size_t fewest = 64;
  places_.assign(std::max(fewest, 2 * places_.size()), no_node);
  for (std::size_t n = 0; n < steps_.size(); ++n) {
    std::size_t place = hash_of(steps_[n]) & (places_.size() - 1);
    while (places_[place] != no_node) place = (place + 1) & (places_.size() - 1);
    places_[place] = static_cast<Node>(n);
  }
}

Node ScalarGraph::add(const ScalarStep& step) {
  if (2 * steps_.size() >= places_.size()) make_room();
  std::size_t place = hash_of(step) & (places_.size() - 1);
  for (; places_[place] != no_node; place = (place + 1) & (places_.size() - 1))
    if ((*this)[places_[place]] == step) return places_[place];
  places_[place] = static_cast<Node>(steps_.size());
  steps_.push_back(step);
  return places_[place];
}

Node ScalarGraph::input(std::uint64_t element, DType dtype) {
  return add({.kind = StepKind::input, .dtype = dtype, .payload = element});
}
Node ScalarGraph::number(DType dtype, std::uint64_t bits, bool is_structural) {
  return add({.kind = StepKind::number, .dtype = dtype, .is_structural = is_structural, .payload = bits});
}
Node ScalarGraph::number(DType dtype, long double value, bool is_structural) {
  return visit_dtype(dtype, [&]<class E>(std::type_identity<E>) {
    if constexpr (std::is_class_v<E> && !std::is_convertible_v<E, float>) return no_node;
    else return number(dtype, bits_of_element(rounded<E>(value)), is_structural);
  });
}
Node ScalarGraph::lanes() { return add({.kind = StepKind::lanes, .dtype = DType::int64}); }
Node ScalarGraph::lane(Node filling) {
  return add({.kind = StepKind::lane, .dtype = DType::int64, .from = {filling, no_node, no_node}});
}
Node ScalarGraph::given(std::uint64_t number) {
  return add({.kind = StepKind::given, .dtype = DType::int64, .payload = number});
}
Node ScalarGraph::load(DType dtype, Node address, Node place, std::int64_t offset, std::int64_t row) {
  const auto payload = static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint64_t>(offset);
  return add({.kind = StepKind::load, .dtype = dtype, .from = {address, place, no_node}, .payload = payload});
}
Node ScalarGraph::total(Word join, Node x, Node start) {
  return add({.kind = StepKind::total, .word = join, .dtype = (*this)[x].dtype, .from = {x, start, no_node}});
}

bool ScalarGraph::is(Node n, double value) const {
  const ScalarStep& s = (*this)[n];
  return s.kind == StepKind::number && with_element(s.dtype, s.payload, [&](auto x) {
           const auto y = static_cast<double>(x);
           return y == value && std::signbit(y) == std::signbit(value);
         });
}
bool ScalarGraph::is_structural_zero(Node n) const { return (*this)[n].is_structural && (is(n, 0) || is(n, -0.0)); }
bool ScalarGraph::is_negated(Node n) const {
  const ScalarStep& s = (*this)[n];
  return s.kind == StepKind::word && s.word == Word::negative;
}
/// x + n is x for every x.
bool ScalarGraph::adds_nothing(Node n) const {
  return is_structural_zero(n) || is(n, is_float((*this)[n].dtype) ? -0.0 : 0.0);
}

/// The operation as it is, or the number that it is.
Node ScalarGraph::plain(Word word, Node a, Node b, Node c) {
  const DType dtype = (*this)[a].dtype;
  ScalarStep step{.kind = StepKind::word, .word = word, .dtype = dtype, .from = {a, b, c}};
  if (is_test(word)) step.dtype = DType::boolean;
  else if (!function_of(word, dtype)) throw NoSuchWord{word, dtype};
  if ((word == Word::add || word == Word::multiply) && a > b) std::swap(step.from[0], step.from[1]);
  bool all_numbers = true;
  for (int k = 0; k < operands_of(word); ++k)
    all_numbers = all_numbers && is_number(step.from[static_cast<std::size_t>(k)]);
  return all_numbers ? fold(step) : add(step);
}

Node ScalarGraph::fold(const ScalarStep& step) {
  const int count = operands_of(step.word);
  std::uint64_t operands[3] = {};
  bool structural = true;
  for (int k = 0; k < count; ++k) {
    const ScalarStep& x = (*this)[step.from[static_cast<std::size_t>(k)]];
    operands[k] = x.payload;
    structural = structural && x.is_structural;
  }
  if (!is_test(step.word)) return number(step.dtype, word_value(step.word, step.dtype, operands), structural);
  const bool truth = with_element((*this)[step.from[0]].dtype, operands[0], [&]<class E>(E a) {
    return compared(step.word, a, count > 1 ? element_of_bits<E>(operands[1]) : E());
  });
  return number(DType::boolean, static_cast<std::uint64_t>(truth), structural);
}

Node ScalarGraph::sum(Node a, Node b) {
  if (is_number(a) && is_number(b)) return plain(Word::add, a, b);
  if (adds_nothing(a)) return b;
  if (adds_nothing(b)) return a;
  if (is_negated(b)) return difference(a, behind_sign(b));
  if (is_negated(a)) return difference(b, behind_sign(a));
  return plain(Word::add, a, b);
}
Node ScalarGraph::difference(Node a, Node b) {
  if (is_number(a) && is_number(b)) return plain(Word::subtract, a, b);
  if (is_structural_zero(b) || is(b, 0)) return a;
  if (is_structural_zero(a)) return negative(b);
  if (is_negated(b)) return sum(a, behind_sign(b));
  return plain(Word::subtract, a, b);
}
Node ScalarGraph::product(Node a, Node b) {
  if (is_structural_zero(a)) return a;
  if (is_structural_zero(b)) return b;
  if (is(a, 1)) return b;
  if (is(b, 1)) return a;
  if (is_number(a) && is_number(b)) return plain(Word::multiply, a, b);
  if (is_float((*this)[a].dtype)) {
    if (is(a, -1)) return negative(b);
    if (is(b, -1)) return negative(a);
    if (is_negated(a)) return negative(product(behind_sign(a), b));
    if (is_negated(b)) return negative(product(a, behind_sign(b)));
  }
  return plain(Word::multiply, a, b);
}
Node ScalarGraph::quotient(Node a, Node b) {
  if (is_structural_zero(a) || is(b, 1)) return a;
  if (is_number(a) && is_number(b)) return plain(Word::divide, a, b);
  if (is_negated(a)) return negative(quotient(behind_sign(a), b));
  if (is_negated(b)) return negative(quotient(a, behind_sign(b)));
  if (is_number(b)) {  // by a power of two
    int exponent = 0;
    const ScalarStep& s = (*this)[b];
    const double divisor = with_element(s.dtype, s.payload, [](auto x) { return static_cast<double>(x); });
    const bool is_power = std::abs(std::frexp(divisor, &exponent)) == 0.5;
    if (is_power && std::abs(exponent) < 100) return product(a, number(s.dtype, 1 / static_cast<long double>(divisor)));
  }
  return plain(Word::divide, a, b);
}
Node ScalarGraph::negative(Node a) {
  if (is_structural_zero(a)) return a;
  return is_negated(a) ? behind_sign(a) : plain(Word::negative, a);
}
Node ScalarGraph::fused(Node a, Node b, Node c) {
  if (is_structural_zero(a) || is_structural_zero(b)) return c;
  if (is(a, 1)) return sum(b, c);
  if (is(b, 1)) return sum(a, c);
  if (adds_nothing(c)) return product(a, b);
  if (is_float((*this)[a].dtype)) {
    if (is(a, -1)) return difference(c, b);
    if (is(b, -1)) return difference(c, a);
    if (is_negated(a) && is_negated(b)) return fused(behind_sign(a), behind_sign(b), c);
    if (is_negated(b)) std::swap(a, b);
  }
  return plain(Word::fma, a, b, c);
}

/// A word of truth values: as elements of type boolean have it.
Node ScalarGraph::truth_word(Word word, Node a, Node b) {
  const auto yes = [&] { return number(DType::boolean, std::uint64_t{1}); };
  const auto no = [&] { return number(DType::boolean, std::uint64_t{0}); };
  const auto negated = [&](Node x) { return truth_word(Word::logical_not, x, no_node); };
  switch (word) {
    case Word::add:
    case Word::max:
    case Word::bit_or:
    case Word::logical_or:
      if (is(a, 1) || is(b, 0) || a == b) return a;
      if (is(b, 1) || is(a, 0)) return b;
      return add({.kind = StepKind::word, .word = Word::logical_or, .dtype = DType::boolean, .from = {a, b, no_node}});
    case Word::multiply:
    case Word::min:
    case Word::bit_and:
    case Word::trunc_div:
    case Word::floor_div:
    case Word::logical_and:
      if (is(a, 0) || is(b, 1) || a == b) return a;
      if (is(b, 0) || is(a, 1)) return b;
      return add({.kind = StepKind::word, .word = Word::logical_and, .dtype = DType::boolean, .from = {a, b, no_node}});
    case Word::subtract:
    case Word::bit_xor:
    case Word::not_equal:
    case Word::logical_xor:
      if (a == b) return no();
      if (is(a, 0)) return b;
      if (is(b, 0)) return a;
      if (is(a, 1)) return negated(b);
      if (is(b, 1)) return negated(a);
      return add({.kind = StepKind::word, .word = Word::logical_xor, .dtype = DType::boolean, .from = {a, b, no_node}});
    case Word::bit_not:
    case Word::logical_not:
      if (is_number(a)) return is(a, 0) ? yes() : no();
      if ((*this)[a].kind == StepKind::word && (*this)[a].word == Word::logical_not) return behind_sign(a);
      return add(
          {.kind = StepKind::word, .word = Word::logical_not, .dtype = DType::boolean, .from = {a, no_node, no_node}});
    case Word::equal: return negated(truth_word(Word::logical_xor, a, b));
    case Word::less: return truth_word(Word::logical_and, negated(a), b);
    case Word::greater: return truth_word(Word::logical_and, a, negated(b));
    case Word::less_equal: return truth_word(Word::logical_or, negated(a), b);
    case Word::pow:
    case Word::greater_equal: return truth_word(Word::logical_or, a, negated(b));
    case Word::isnan:
    case Word::isinf:
    case Word::fmod:
    case Word::remainder: return no();
    case Word::isfinite: return yes();
    case Word::negative:
    case Word::abs:
    case Word::sign:
    case Word::floor:
    case Word::ceil:
    case Word::round:
    case Word::trunc: return a;
    default: throw NoSuchWord{word, DType::boolean};
  }
}

Node ScalarGraph::word(Word word, Node a, Node b, Node c) {
  if ((*this)[a].dtype == DType::boolean) {
    return word == Word::fma ? truth_word(Word::logical_or, truth_word(Word::logical_and, a, b), c)
                             : truth_word(word, a, b);
  }
  switch (word) {
    case Word::add: return sum(a, b);
    case Word::subtract: return difference(a, b);
    case Word::multiply: return product(a, b);
    case Word::divide: return quotient(a, b);
    case Word::negative: return negative(a);
    case Word::fma: return fused(a, b, c);
    case Word::abs:
    case Word::cos: return plain(word, is_float((*this)[a].dtype) && is_negated(a) ? behind_sign(a) : a);
    case Word::sin: return is_negated(a) ? negative(plain(word, behind_sign(a))) : plain(word, a);
    default: return plain(word, a, b, c);
  }
}

Node ScalarGraph::select(Node mask, Node yes, Node no) {
  if (yes == no) return yes;
  if (is_number(mask)) return is(mask, 0) ? no : yes;
  const ScalarStep& test = (*this)[mask];
  if (test.kind == StepKind::word && test.word == Word::logical_not) return select(test.from[0], no, yes);
  if (is_structural_zero(yes) && is(no, 0)) return yes;
  if (is_structural_zero(no) && is(yes, 0)) return no;
  return add({.kind = StepKind::select, .dtype = (*this)[yes].dtype, .from = {mask, yes, no}});
}

Node ScalarGraph::bits(DType to, Node x) {
  const ScalarStep step = (*this)[x];
  if (step.dtype == to) return x;
  if (step.kind == StepKind::number) return number(to, step.payload);
  if (step.kind == StepKind::bits) return bits(to, step.from[0]);
  return add({.kind = StepKind::bits, .dtype = to, .from = {x, no_node, no_node}});
}

Node ScalarGraph::convert(DType to, Node x, bool is_unsigned) {
  const ScalarStep step = (*this)[x];
  if (step.dtype == to) return x;
  if (is_unsigned && is_float(to)) {
    if (step.kind != StepKind::number)
      return add({.kind = StepKind::convert, .dtype = to, .from = {x, no_node, no_node}, .payload = 1});
    return visit_dtype(to, [&]<class To>(std::type_identity<To>) {
      if constexpr (std::is_floating_point_v<To>) return number(to, bits_of_element(static_cast<To>(step.payload)));
      else return no_node;
    });
  }
  if (step.kind == StepKind::number) {
    return visit_dtype(to, [&]<class To>(std::type_identity<To>) {
      if constexpr (std::is_class_v<To> && !std::is_convertible_v<To, float>) return no_node;
      else
        return with_element(step.dtype, step.payload, [&](auto value) {
          return number(to, bits_of_element(converted<To>(value)), step.is_structural);
        });
    });
  }
  return add({.kind = StepKind::convert, .dtype = to, .from = {x, no_node, no_node}});
}

Node ScalarGraph::read(const Formula& formula, DType dtype, std::span<const Node> operands) {
  std::vector<Node> made;
  made.reserve(formula.steps.size());
  for (const Formula::Step& step : formula.steps) {
    const auto at = [&](std::size_t k) {
      return step.from[k] < 0 ? no_node : made[static_cast<std::size_t>(step.from[k])];
    };
    switch (step.kind) {
      case Formula::Kind::input: made.push_back(operands[static_cast<std::size_t>(step.from[0])]); break;
      case Formula::Kind::number: made.push_back(number(dtype, step.number)); break;
      case Formula::Kind::word: made.push_back(word(step.word, at(0), at(1), at(2))); break;
      case Formula::Kind::select: made.push_back(select(at(0), at(1), at(2))); break;
    }
  }
  return made[static_cast<std::size_t>(formula.result)];
}

namespace {

std::string number_text(const ScalarStep& s) {
  return with_element(s.dtype, s.payload, [&](auto value) {
    char digits[64];
    using E = decltype(value);
    const auto wide = [&] {
      if constexpr (std::is_same_v<E, bool> || std::is_same_v<E, std::int8_t> || std::is_same_v<E, std::uint8_t>)
        return static_cast<int>(value);
      else return value;
    }();
    std::string text(digits, std::to_chars(digits, digits + sizeof digits, wide).ptr);
    return s.is_structural && value == E(0) ? text + "!" : text;
  });
}

/// The name of a leaf, which is printed where it is used; null: an operation, with a line of its own.
const char* name_of_leaf(StepKind kind) {
  switch (kind) {
    case StepKind::number: return "";
    case StepKind::lanes: return "lanes";
    case StepKind::lane: return "lane";
    case StepKind::given: return "given";
    case StepKind::input: return "x";
    default: return nullptr;
  }
}

}  // namespace

std::string to_string(const ScalarGraph& graph, std::span<const Node> outputs) {
  std::unordered_map<Node, std::string> names;
  std::size_t used = 0;
  std::string text;
  for (const Node n : graph.order(outputs)) {
    const ScalarStep& s = graph[n];
    if (const char* const own = name_of_leaf(s.kind)) {
      const bool is_numbered = s.kind == StepKind::input || s.kind == StepKind::given;
      names[n] = s.kind == StepKind::number ? number_text(s) : own + (is_numbered ? std::to_string(s.payload) : "");
      continue;
    }
    std::string operation = s.kind == StepKind::select    ? "select"
                            : s.kind == StepKind::convert ? s.payload == 1 ? "convert[unsigned]" : "convert"
                            : s.kind == StepKind::load    ? "load"
                            : s.kind == StepKind::bits    ? "bits"
                                                          : name_of(s.word);
    if (s.kind == StepKind::total) operation = "total[" + operation + "]";
    for (const Node from : s.from)
      if (from != no_node) operation += " " + names[from];
    if (s.kind == StepKind::load) operation += " + " + std::to_string(s.offset());
    names[n] = ricci::name_of(used++, "abcdefghijklmnopqrstuvwyz");  // x is an input
    text += names[n] + ": " + short_name(s.dtype) + " = " + operation + "\n";
  }
  text += "return";
  for (const Node n : outputs) text += " " + names[n];
  return text + "\n";
}

}  // namespace ricci::compiled
