// The table of the words.
#include "compile/words.h"

#include <cstring>

#include "ricci/primitive/scalar.h"
#include "ricci/primitive/wide.h"

namespace ricci::compiled {
namespace {

using scalar::Pack;
using scalar::Word;

template <class E>
using Register = typename Pack<E>::vector;

template <class E>
struct Functions {
  using V = Register<E>;
  using One = V (*)(V);
  using Two = V (*)(V, V);
  using Three = V (*)(V, V, V);
};

#define RICCI_ONE(name) \
  case Word::name: return reinterpret_cast<void*>(+[](V a) -> V { return scalar::name(P(a)).v; });
#define RICCI_TWO(name) \
  case Word::name: return reinterpret_cast<void*>(+[](V a, V b) -> V { return scalar::name(P(a), P(b)).v; });
#define RICCI_OPERATOR(name, symbol) \
  case Word::name: return reinterpret_cast<void*>(+[](V a, V b) -> V { return (P(a) symbol P(b)).v; });

template <class E>
  requires std::is_floating_point_v<E>
void* function(Word word) {
  using P = Pack<E>;
  using V = Register<E>;
  switch (word) {
    RICCI_OPERATOR(add, +)
    RICCI_OPERATOR(subtract, -)
    RICCI_OPERATOR(multiply, *)
    RICCI_OPERATOR(divide, /)
    case Word::negative: return reinterpret_cast<void*>(+[](V a) -> V { return (-P(a)).v; });
    case Word::fma:
      return reinterpret_cast<void*>(+[](V a, V b, V c) -> V { return scalar::fma(P(a), P(b), P(c)).v; });
      RICCI_WORDS_OF_TWO(RICCI_TWO)
      RICCI_WORDS_OF_TWO_REALS(RICCI_TWO)
      RICCI_WORDS_OF_ONE(RICCI_ONE)
      RICCI_WORDS_OF_ONE_REAL(RICCI_ONE)
#if RICCI_PACK_FMA
      RICCI_STEPS_OF_TWO(RICCI_TWO)
      RICCI_STEPS_OF_ONE(RICCI_ONE)
#endif
    default: return nullptr;
  }
}

template <class E>
  requires std::is_integral_v<E>
void* function(Word word) {
  using P = Pack<E>;
  using V = Register<E>;
  switch (word) {
    RICCI_OPERATOR(add, +)
    RICCI_OPERATOR(subtract, -)
    RICCI_OPERATOR(multiply, *)
    case Word::negative: return reinterpret_cast<void*>(+[](V a) -> V { return (-P(a)).v; });
    case Word::fma:
      return reinterpret_cast<void*>(+[](V a, V b, V c) -> V { return scalar::fma(P(a), P(b), P(c)).v; });
      RICCI_WORDS_OF_TWO(RICCI_TWO)
      RICCI_WORDS_OF_TWO_INTEGERS(RICCI_TWO)
      RICCI_WORDS_OF_ONE(RICCI_ONE)
      RICCI_WORDS_OF_ONE_INTEGER(RICCI_ONE)
    default: return nullptr;
  }
}

template <class E>
Register<E> result_of(Word word, const Register<E>* x) {
  void* const f = function<E>(word);
  using F = Functions<E>;
  switch (operands_of(word)) {
    case 1: return reinterpret_cast<typename F::One>(f)(x[0]);
    case 2: return reinterpret_cast<typename F::Two>(f)(x[0], x[1]);
    default: return reinterpret_cast<typename F::Three>(f)(x[0], x[1], x[2]);
  }
}

/// One element of each operand in every lane.
template <class E>
std::uint64_t element(Word word, const std::uint64_t* operands) {
  Register<E> x[3] = {};
  for (int k = 0; k < operands_of(word); ++k) {
    E value;
    std::memcpy(&value, &operands[k], sizeof value);
    x[k] = Pack<E>(value).v;
  }
  const E result = result_of<E>(word, x)[0];
  std::uint64_t bits = 0;
  std::memcpy(&bits, &result, sizeof result);
  return bits;
}

template <class F>
auto visit_computed(DType dtype, const F& f) {
  switch (dtype) {
    case DType::float64: return f(std::type_identity<double>{});
    case DType::int64: return f(std::type_identity<std::int64_t>{});
    case DType::int32: return f(std::type_identity<std::int32_t>{});
    case DType::int16: return f(std::type_identity<std::int16_t>{});
    case DType::int8: return f(std::type_identity<std::int8_t>{});
    case DType::uint8: return f(std::type_identity<std::uint8_t>{});
    default: return f(std::type_identity<float>{});
  }
}

bool is_computed(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float64 || (is_integral(dtype) && dtype != DType::boolean);
}

}  // namespace

int library_register_bytes() { return scalar::pack_bytes; }
bool fuses() { return scalar::machine::fuses; }

void* function_of(Word word, DType dtype) {
  if (!is_computed(dtype)) return nullptr;
  return visit_computed(dtype, [&]<class E>(std::type_identity<E>) { return function<E>(word); });
}

void call_in_memory(Word word, DType dtype, const void* operands, void* result) {
  visit_computed(dtype, [&]<class E>(std::type_identity<E>) {
    Register<E> x[3] = {};
    std::memcpy(x, operands, sizeof x[0] * static_cast<std::size_t>(operands_of(word)));
    const Register<E> y = result_of<E>(word, x);
    std::memcpy(result, &y, sizeof y);
  });
}

std::uint64_t word_value(Word word, DType dtype, const std::uint64_t* operands) {
  return visit_computed(dtype, [&]<class E>(std::type_identity<E>) { return element<E>(word, operands); });
}

}  // namespace ricci::compiled
