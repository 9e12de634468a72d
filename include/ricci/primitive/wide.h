// Vectors of 64 bytes for reductions: words of formulas, loads that convert, folds of their lanes into one. They are 64
// bytes on every machine, in as many registers as it takes, so that a sum is the same number everywhere.
// Knows nothing of axes. Start with `Wide`.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "ricci/primitive/scalar.h"

namespace ricci::scalar {
inline namespace RICCI_ISA {

template <class E>
struct Wide {
  using element = E;
  using lane = lane_type<E>;
  static constexpr int lanes = 64 / static_cast<int>(sizeof(lane));
  static constexpr int parts = 64 / pack_bytes;

  Pack<E> part[parts];

  Wide() = default;
  explicit Wide(E constant) {
    for (auto& p : part) p = Pack<E>(constant);
  }
};

/// Real and imaginary parts apart.
template <class E>
struct Wide<std::complex<E>> {
  using element = std::complex<E>;
  using lane = std::complex<E>;
  static constexpr int lanes = Wide<E>::lanes;

  Wide<E> real, imag;

  Wide() = default;
  Wide(Wide<E> real_parts, Wide<E> imag_parts) : real(real_parts), imag(imag_parts) {}
  explicit Wide(std::complex<E> constant) : real(constant.real()), imag(constant.imag()) {}
};

/// `f` of each pack of the operands.
template <class F, class W, class... Rest>
RICCI_ALWAYS_INLINE auto by_pack(F f, const W& w, const Rest&... rest) {
  Wide<typename decltype(f(w.part[0], rest.part[0]...))::element> result;
  for (int i = 0; i < W::parts; ++i) result.part[i] = f(w.part[i], rest.part[i]...);
  return result;
}

// --- Arithmetic

#define RICCI_WIDE_OPERATOR(symbol)                                   \
  template <class E>                                                  \
  RICCI_ALWAYS_INLINE Wide<E> operator symbol(Wide<E> a, Wide<E> b) { \
    return by_pack([](auto x, auto y) { return x symbol y; }, a, b);  \
  }
RICCI_WIDE_OPERATOR(+)
RICCI_WIDE_OPERATOR(-)
RICCI_WIDE_OPERATOR(*)
RICCI_WIDE_OPERATOR(/)
#undef RICCI_WIDE_OPERATOR
template <class E>
RICCI_ALWAYS_INLINE Wide<E> operator-(Wide<E> a) {
  return by_pack([](auto x) { return -x; }, a);
}
#define RICCI_WIDE_WORD_1(word)                        \
  template <class E>                                   \
  RICCI_ALWAYS_INLINE Wide<E> word(Wide<E> a) {        \
    return by_pack([](auto x) { return word(x); }, a); \
  }
#define RICCI_WIDE_WORD_2(word)                                      \
  template <class E>                                                 \
  RICCI_ALWAYS_INLINE Wide<E> word(Wide<E> a, Wide<E> b) {           \
    return by_pack([](auto x, auto y) { return word(x, y); }, a, b); \
  }
RICCI_WIDE_WORD_1(abs)
RICCI_WIDE_WORD_1(sign)
RICCI_WIDE_WORD_1(sqrt)
RICCI_WIDE_WORD_1(cbrt)
RICCI_WIDE_WORD_1(exp)
RICCI_WIDE_WORD_1(exp2)
RICCI_WIDE_WORD_1(expm1)
RICCI_WIDE_WORD_1(log)
RICCI_WIDE_WORD_1(log2)
RICCI_WIDE_WORD_1(log10)
RICCI_WIDE_WORD_1(log1p)
RICCI_WIDE_WORD_1(sin)
RICCI_WIDE_WORD_1(cos)
RICCI_WIDE_WORD_1(tanh)
RICCI_WIDE_WORD_2(max)
RICCI_WIDE_WORD_2(min)
RICCI_WIDE_WORD_2(pow)
#undef RICCI_WIDE_WORD_1
#undef RICCI_WIDE_WORD_2

template <class E>
RICCI_ALWAYS_INLINE Wide<E> fma(Wide<E> a, Wide<E> b, Wide<E> c) {
  return by_pack([](auto x, auto y, auto z) { return fma(x, y, z); }, a, b, c);
}

template <class E>
RICCI_ALWAYS_INLINE Wide<std::complex<E>> operator+(Wide<std::complex<E>> a, Wide<std::complex<E>> b) {
  return {a.real + b.real, a.imag + b.imag};
}
template <class E>
RICCI_ALWAYS_INLINE Wide<std::complex<E>> operator-(Wide<std::complex<E>> a, Wide<std::complex<E>> b) {
  return {a.real - b.real, a.imag - b.imag};
}
template <class E>
RICCI_ALWAYS_INLINE Wide<std::complex<E>> operator*(Wide<std::complex<E>> a, Wide<std::complex<E>> b) {
  return {fma(a.real, b.real, -(a.imag * b.imag)), fma(a.real, b.imag, a.imag * b.real)};
}
/// By a real number in the real part of b.
template <class E>
RICCI_ALWAYS_INLINE Wide<std::complex<E>> operator/(Wide<std::complex<E>> a, Wide<std::complex<E>> b) {
  return {a.real / b.real, a.imag / b.real};
}
/// a * b + c.
template <class E>
RICCI_ALWAYS_INLINE Wide<std::complex<E>> fma(Wide<std::complex<E>> a, Wide<std::complex<E>> b,
                                              Wide<std::complex<E>> c) {
  return {fma(a.real, b.real, fma(-a.imag, b.imag, c.real)), fma(a.real, b.imag, fma(a.imag, b.real, c.imag))};
}
/// |z| without overflow on the way; inf if either part is infinite, else NaN if either is NaN.
template <class E>
RICCI_ALWAYS_INLINE Wide<E> abs(Wide<std::complex<E>> z) {
  return by_pack(
      [](auto re, auto im) {
        using P = decltype(re);
        const P a = abs(re), b = abs(im), infinity(std::numeric_limits<E>::infinity());
        const auto swapped = less(a, b);
        const P big = select(swapped, b, a), small = select(swapped, a, b);
        const P ratio = small / select(equal(big, P(0)), P(1), big);
        const P size = big * sqrt(fma(ratio, ratio, P(1)));
        return select(equal(a, infinity) || equal(b, infinity), infinity, size);
      },
      z.real, z.imag);
}

/// |x|^2, and sum + |x|^2.
template <class E>
RICCI_ALWAYS_INLINE Wide<E> squared_magnitude(Wide<E> x) {
  return x * x;
}
template <class E>
RICCI_ALWAYS_INLINE Wide<E> squared_magnitude(Wide<std::complex<E>> x) {
  return fma(x.real, x.real, x.imag * x.imag);
}

template <class E>
RICCI_ALWAYS_INLINE Wide<E> add_squared_magnitude(Wide<E> sum, Wide<E> x) {
  return fma(x, x, sum);
}
template <class E>
RICCI_ALWAYS_INLINE Wide<E> add_squared_magnitude(Wide<E> sum, Wide<std::complex<E>> x) {
  return fma(x.real, x.real, fma(x.imag, x.imag, sum));
}

/// The same of a value that writes formulas down.
template <Symbolic T>
T squared_magnitude(const T& x) {
  return x * x;
}
template <Symbolic T>
T add_squared_magnitude(const T& sum, const T& x) {
  return fma(x, x, sum);
}

/// Truth values join as masks do.
RICCI_ALWAYS_INLINE Wide<bool> operator||(Wide<bool> a, Wide<bool> b) { return a + b; }
RICCI_ALWAYS_INLINE Wide<bool> operator&&(Wide<bool> a, Wide<bool> b) { return a * b; }

// --- Lanes

template <class E>
inline constexpr auto iota = [] {
  using M = typename Pack<E>::mask::lane;
  return []<int... I>(std::integer_sequence<int, I...>) {
    return typename Pack<M>::vector{static_cast<M>(I)...};
  }(std::make_integer_sequence<int, Pack<E>::lanes>{});
}();

/// The first `count` lanes of `x`, the others of `otherwise`.
template <class E>
RICCI_ALWAYS_INLINE Wide<E> first_of(Wide<E> x, int count, Wide<E> otherwise) {
  using M = typename Pack<E>::mask;
  Wide<E> result;
  for (int i = 0; i < Wide<E>::parts; ++i) {
    const Pack<typename M::lane> limit(count - i * Pack<E>::lanes);
    result.part[i] = select(M((typename M::vector)(iota<E> < limit.v)), x.part[i], otherwise.part[i]);
  }
  return result;
}
template <class E>
RICCI_ALWAYS_INLINE Wide<std::complex<E>> first_of(Wide<std::complex<E>> x, int count,
                                                   Wide<std::complex<E>> otherwise) {
  return {first_of(x.real, count, otherwise.real), first_of(x.imag, count, otherwise.imag)};
}

/// Lanes [0, Step) of the result are lanes [Step, 2 Step) of x; the others are unspecified.
template <int Step, class E>
RICCI_ALWAYS_INLINE Wide<E> upper(Wide<E> x) {
  constexpr int lanes = Pack<E>::lanes;
  Wide<E> result = x;
  if constexpr (Step >= lanes) {
    for (int i = 0; i < Step / lanes; ++i) result.part[i] = x.part[i + Step / lanes];
  } else {
    result.part[0].v = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return __builtin_shufflevector(x.part[0].v, x.part[0].v, static_cast<int>((I + Step) % lanes)...);
    }(std::make_index_sequence<lanes>{});
  }
  return result;
}
template <int Step, class E>
RICCI_ALWAYS_INLINE Wide<std::complex<E>> upper(Wide<std::complex<E>> x) {
  return {upper<Step>(x.real), upper<Step>(x.imag)};
}

/// All lanes joined into lane 0: lane i with lane i + lanes/2, then i with i + lanes/4, and so on.
template <int Step, class W, class Join>
RICCI_ALWAYS_INLINE W fold_from(W x, Join join) {
  x = join(x, upper<Step>(x));
  if constexpr (Step > 1) return fold_from<Step / 2>(x, join);
  else return x;
}
template <class W, class Join>
RICCI_ALWAYS_INLINE W fold(W x, Join join) {
  return fold_from<W::lanes / 2>(x, join);
}

/// Whether `fold_each` exists.
template <class W>
inline constexpr bool folds_each = false;
template <class E>
inline constexpr bool folds_each<Wide<E>> = Wide<E>::parts == 1 && sizeof(E) >= 4;
template <class E>
inline constexpr bool folds_each<Wide<std::complex<E>>> = false;

/// Segments of `Length` lanes of a, then of b, each halved by joining its upper half to its lower one.
template <int Length, class E, class Join>
RICCI_ALWAYS_INLINE Wide<E> join_halves(Wide<E> a, Wide<E> b, Join join) {
  constexpr int half = Length / 2;
  const auto pick = [&]<std::size_t... I>(std::size_t offset, std::index_sequence<I...>) {
    Wide<E> r;
    if (offset == 0)
      r.part[0].v =
          __builtin_shufflevector(a.part[0].v, b.part[0].v, static_cast<int>(I / half * Length + I % half)...);
    else
      r.part[0].v =
          __builtin_shufflevector(a.part[0].v, b.part[0].v, static_cast<int>(I / half * Length + I % half + half)...);
    return r;
  };
  constexpr std::make_index_sequence<Wide<E>::lanes> all;
  return join(pick(0, all), pick(1, all));
}

/// Lane r is fold(x[r]), bit for bit. Overwrites x, an array of `lanes` vectors.
template <int Length, class E, class Join>
RICCI_ALWAYS_INLINE Wide<E> fold_each_from(Wide<E>* x, Join join) {
  for (int i = 0; i < Length / 2; ++i) x[i] = join_halves<Length>(x[2 * i], x[2 * i + 1], join);
  if constexpr (Length > 2) return fold_each_from<Length / 2>(x, join);
  else return x[0];
}
template <class E, class Join>
RICCI_ALWAYS_INLINE Wide<E> fold_each(Wide<E>* x, Join join) {
  return fold_each_from<Wide<E>::lanes>(x, join);
}

// --- Memory

/// Converts as many elements as a pack of floats has lanes.
inline Pack<float> widen_halves(const Half* from) {
  if constexpr (machine::knows_halves) return Pack<float>(machine::widen_halves(from));
  Pack<float> x;
  for (int i = 0; i < Pack<float>::lanes; ++i) x.v[i] = from[i];
  return x;
}

inline Wide<float> widen(const Half* from) {
  Wide<float> x;
  for (int i = 0; i < Wide<float>::parts; ++i) x.part[i] = widen_halves(from + i * Pack<float>::lanes);
  return x;
}

/// The two parts of complex numbers stand side by side in memory.
template <class E>
RICCI_ALWAYS_INLINE Wide<std::complex<E>> load_complex(const std::complex<E>* from) {
  constexpr int lanes = Wide<E>::lanes;
  typedef E both __attribute__((vector_size(128)));
  both parts;
  std::memcpy(&parts, from, sizeof parts);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto real = __builtin_shufflevector(parts, parts, static_cast<int>(2 * I)...);
    const auto imag = __builtin_shufflevector(parts, parts, static_cast<int>(2 * I + 1)...);
    Wide<std::complex<E>> x;
    std::memcpy(&x.real, &real, sizeof real);
    std::memcpy(&x.imag, &imag, sizeof imag);
    return x;
  }(std::make_index_sequence<lanes>{});
}

/// The elements of a vector, a pack at a time. Of one copy of 64 bytes to narrower registers g++ 12 makes stores of 16
/// bytes, for which a load of a pack waits long.
template <class E>
RICCI_ALWAYS_INLINE Wide<E> packs_at(const E* from) {
  Wide<E> x;
  for (int i = 0; i < Wide<E>::parts; ++i)
    x.part[i] = load(reinterpret_cast<const std::byte*>(from) + i * pack_bytes, std::type_identity<Pack<E>>{});
  return x;
}

/// A vector of A from as many elements of type T; for bool, whether they are not 0.
template <class A, class T>
RICCI_ALWAYS_INLINE Wide<A> load_wide(const T* from) {
  if constexpr (std::is_same_v<T, bool> && !std::is_same_v<A, bool>) {
    return load_wide<A>(reinterpret_cast<const std::uint8_t*>(from));
  } else if constexpr (std::is_same_v<T, A> &&
                       (std::is_same_v<A, std::complex<float>> || std::is_same_v<A, std::complex<double>>)) {
    return load_complex(from);
  } else if constexpr (std::is_same_v<T, Half> && std::is_same_v<A, float>) {
    return widen(from);
  } else {
    if constexpr (std::is_same_v<A, T>) return packs_at<A>(from);
    // A loop over arrays: g++ 12 makes one instruction of it, but many of __builtin_convertvector.
    lane_type<A> converted[Wide<A>::lanes];
    for (int i = 0; i < Wide<A>::lanes; ++i) {
      if constexpr (std::is_same_v<A, bool>) converted[i] = from[i] != T(0);
      else converted[i] = static_cast<A>(from[i]);
    }
    Wide<A> x;
    std::memcpy(&x, converted, sizeof x);
    return x;
  }
}

/// `count` <= lanes elements, `stride` apart; other lanes are unspecified and their memory is not read.
template <class A, class T>
[[gnu::noinline]] Wide<A> load_wide_strided(const T* from, std::int64_t stride, int count) {
  T buffer[Wide<A>::lanes] = {};
#pragma GCC unroll 1
  for (int i = 0; i < count; ++i) buffer[i] = from[i * stride];
  return load_wide<A>(buffer);
}
template <class A, class T>
[[gnu::noinline]] Wide<A> load_wide_strided(const T* from, std::int64_t stride) {
  T buffer[Wide<A>::lanes];
  for (int i = 0; i < Wide<A>::lanes; ++i) buffer[i] = from[i * stride];
  return load_wide<A>(buffer);
}
/// The first `count` <= lanes elements; other lanes are unspecified and their memory is not read.
template <class A, class T>
RICCI_ALWAYS_INLINE Wide<A> load_wide_some(const T* from, int count) {
  if constexpr (machine::masks_memory && std::is_same_v<A, T> && std::is_arithmetic_v<A>) {
    Wide<A> x;
    x.part[0].v = (typename Pack<A>::vector)machine::load_lanes<sizeof(A)>(from, count);
    return x;
  }
  if (count == Wide<A>::lanes) return load_wide<A>(from);
  return load_wide_strided<A>(from, 1, count);
}
/// Every lane is x.
template <class A, class T>
RICCI_ALWAYS_INLINE Wide<A> spread(const T& x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return Wide<A>(static_cast<float>(x));
  else return Wide<A>(static_cast<A>(x));
}

/// All lanes in order.
template <class E>
RICCI_ALWAYS_INLINE void store_wide(E* to, Wide<E> x) {
  for (int i = 0; i < Wide<E>::parts; ++i) store(reinterpret_cast<std::byte*>(to) + i * pack_bytes, x.part[i]);
}
template <class E>
RICCI_ALWAYS_INLINE void store_wide(std::complex<E>* to, Wide<std::complex<E>> x) {
  E real[Wide<E>::lanes], imag[Wide<E>::lanes];
  store_wide(real, x.real);
  store_wide(imag, x.imag);
  for (int i = 0; i < Wide<E>::lanes; ++i) to[i] = {real[i], imag[i]};
}

}  // namespace RICCI_ISA
}  // namespace ricci::scalar
