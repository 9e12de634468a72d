// Scalar operations of several types, written down one by one: for what a formula, which is of one type, cannot say.
// Values of this header stand where numbers stand, in the sense of symbolic.h. Knows nothing of who reads what is
// written. Start with `Typed`.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "ricci/dtype.h"
#include "ricci/primitive/symbolic.h"
#include "tensor/thread_context.h"

namespace ricci {

/// A scalar that was written: the writer's number of it.
using Scalar = std::int32_t;
inline constexpr Scalar no_scalar = -1;

class ScalarWriter {
 public:
  /// Rounded to the type; whole numbers wrap.
  virtual Scalar number(DType dtype, long double value) = 0;
  virtual Scalar word(scalar::Word word, Scalar a, Scalar b, Scalar c) = 0;
  virtual Scalar select(Scalar mask, Scalar yes, Scalar no) = 0;
  /// As copies convert. `is_unsigned`: x is a whole number of which the highest bit is no sign.
  virtual Scalar converted(DType to, Scalar x, bool is_unsigned) = 0;
  /// The same bits as an element of a type of the same size.
  virtual Scalar bits(DType to, Scalar x) = 0;

  ScalarWriter() = default;
  ScalarWriter(const ScalarWriter&) = delete;

 protected:
  ~ScalarWriter() = default;
};

/// While it lives, values of this thread go to this writer.
using WritingScalars = With<&ThreadContext::scalars>;

/// A truth value.
struct TypedMask {
  Scalar scalar;

  friend TypedMask operator&&(TypedMask a, TypedMask b) { return of(scalar::Word::logical_and, a, b); }
  friend TypedMask operator||(TypedMask a, TypedMask b) { return of(scalar::Word::logical_or, a, b); }
  friend TypedMask operator^(TypedMask a, TypedMask b) { return of(scalar::Word::logical_xor, a, b); }
  friend TypedMask operator!(TypedMask a) {
    return {this_thread.scalars->word(scalar::Word::logical_not, a.scalar, no_scalar, no_scalar)};
  }

 private:
  static TypedMask of(scalar::Word word, TypedMask a, TypedMask b) {
    return {this_thread.scalars->word(word, a.scalar, b.scalar, no_scalar)};
  }
};

/// An element of type E. Whole numbers wrap; a shift to the right keeps the sign.
template <class E>
class Typed {
 public:
  using element = E;
  using symbolic_mask = TypedMask;

  template <class Number>
    requires std::is_arithmetic_v<Number>
  explicit Typed(Number constant)
      : scalar_(this_thread.scalars->number(dtype_of<E>, static_cast<long double>(constant))) {}
  static Typed at(Scalar scalar) { return Typed(At{scalar}); }
  Scalar scalar() const { return scalar_; }

  template <class... T>
  static Typed word(scalar::Word word, const T&... x) {
    return at(written(word, x.scalar_...));
  }
  template <class... T>
  static TypedMask test(scalar::Word word, const T&... x) {
    return {written(word, x.scalar_...)};
  }
  static Typed select(const TypedMask& mask, const Typed& yes, const Typed& no) {
    return at(this_thread.scalars->select(mask.scalar, yes.scalar_, no.scalar_));
  }
  friend Typed operator+(const Typed& a, const Typed& b) { return word(scalar::Word::add, a, b); }
  friend Typed operator-(const Typed& a, const Typed& b) { return word(scalar::Word::subtract, a, b); }
  friend Typed operator*(const Typed& a, const Typed& b) { return word(scalar::Word::multiply, a, b); }
  friend Typed operator/(const Typed& a, const Typed& b) { return word(scalar::Word::divide, a, b); }
  friend Typed operator-(const Typed& a) { return word(scalar::Word::negative, a); }

  friend Typed operator&(const Typed& a, const Typed& b)
    requires std::integral<E>
  {
    return word(scalar::Word::bit_and, a, b);
  }
  friend Typed operator|(const Typed& a, const Typed& b)
    requires std::integral<E>
  {
    return word(scalar::Word::bit_or, a, b);
  }
  friend Typed operator^(const Typed& a, const Typed& b)
    requires std::integral<E>
  {
    return word(scalar::Word::bit_xor, a, b);
  }
  friend Typed operator~(const Typed& a)
    requires std::integral<E>
  {
    return word(scalar::Word::bit_not, a);
  }
  friend Typed operator<<(const Typed& a, int bits)
    requires std::integral<E>
  {
    return word(scalar::Word::left_shift, a, Typed(bits));
  }
  friend Typed operator>>(const Typed& a, int bits)
    requires std::integral<E>
  {
    return word(scalar::Word::right_shift, a, Typed(bits));
  }

  template <class To>
  Typed<To> to() const {
    return Typed<To>::at(this_thread.scalars->converted(dtype_of<To>, scalar_, false));
  }
  template <class To>
  Typed<To> to_from_unsigned() const {
    return Typed<To>::at(this_thread.scalars->converted(dtype_of<To>, scalar_, true));
  }
  template <class To>
  Typed<To> bits() const {
    return Typed<To>::at(this_thread.scalars->bits(dtype_of<To>, scalar_));
  }

 private:
  struct At {
    Scalar scalar;
  };
  explicit Typed(At at) : scalar_(at.scalar) {}
  static Scalar written(scalar::Word word, Scalar a, Scalar b = no_scalar, Scalar c = no_scalar) {
    return this_thread.scalars->word(word, a, b, c);
  }

  Scalar scalar_;
};

}  // namespace ricci
