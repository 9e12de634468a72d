// The words on std::complex: those <complex> has, and the few that PyTorch adds. Knows nothing of packs' insides;
// complex loops go element by element.
#pragma once

#include <complex>

#include "ricci/primitive/elementary.h"

namespace ricci::scalar {
inline namespace RICCI_ISA {

#define RICCI_COMPLEX_1(word)               \
  template <class F>                        \
  std::complex<F> word(std::complex<F> z) { \
    return std::word(z);                    \
  }
RICCI_COMPLEX_1(exp)
RICCI_COMPLEX_1(log)
RICCI_COMPLEX_1(log10)
RICCI_COMPLEX_1(sqrt)
RICCI_COMPLEX_1(sin)
RICCI_COMPLEX_1(cos)
RICCI_COMPLEX_1(tan)
RICCI_COMPLEX_1(asin)
RICCI_COMPLEX_1(acos)
RICCI_COMPLEX_1(atan)
RICCI_COMPLEX_1(sinh)
RICCI_COMPLEX_1(cosh)
RICCI_COMPLEX_1(tanh)
RICCI_COMPLEX_1(asinh)
RICCI_COMPLEX_1(acosh)
RICCI_COMPLEX_1(atanh)
RICCI_COMPLEX_1(conj)
#undef RICCI_COMPLEX_1

// Results are real: an operation that returns one declares `using result = Real`.
template <class F>
F abs(std::complex<F> z) {
  return std::abs(z);
}
template <class F>
F arg(std::complex<F> z) {
  return std::arg(z);
}
template <class F>
F real(std::complex<F> z) {
  return z.real();
}
template <class F>
F imag(std::complex<F> z) {
  return z.imag();
}

// Of real numbers.
template <class T>
T conj(const T& x) {
  return x;
}
template <class T>
T real(const T& x) {
  return x;
}
template <class T>
T imag(const T&) {
  return T(0);
}
/// 0 or pi by the sign; NaN stays.
template <class T>
T arg(const T& x) {
  return select(less(x, T(0)), T(3.14159265358979323846), select(isnan(x), x, T(0)));
}

/// a * b + c; each step rounds.
template <class F>
std::complex<F> fma(std::complex<F> a, std::complex<F> b, std::complex<F> c) {
  return a * b + c;
}
template <class F>
std::complex<F> pow(std::complex<F> base, std::complex<F> exponent) {
  return std::pow(base, exponent);
}
template <class F>
std::complex<F> exp2(std::complex<F> z) {
  return std::exp(z * F(0.693147180559945309417));
}
template <class F>
std::complex<F> log2(std::complex<F> z) {
  return std::log(z) * F(1.44269504088896340736);
}
/// z / |z|, and 0 for 0.
template <class F>
std::complex<F> sign(std::complex<F> z) {
  const F size = std::abs(z);
  return size == 0 ? std::complex<F>(0) : z / size;
}
template <class F>
std::complex<F> expm1(std::complex<F> z) {
  const F growth = expm1(z.real()), half_sine = std::sin(z.imag() / 2);
  const F cos_minus_one = -2 * half_sine * half_sine;
  return {growth * (cos_minus_one + 1) + cos_minus_one, (growth + 1) * std::sin(z.imag())};
}
template <class F>
std::complex<F> log1p(std::complex<F> z) {
  const F x = z.real(), y = z.imag();
  if (std::abs(x) + std::abs(y) > F(0.5)) return std::log(F(1) + z);
  return {F(0.5) * log1p(x * (2 + x) + y * y), std::atan2(y, 1 + x)};
}

template <class F>
bool equal(std::complex<F> a, std::complex<F> b) {
  return a == b;
}
template <class F>
bool not_equal(std::complex<F> a, std::complex<F> b) {
  return !(a == b);
}
template <class F>
std::complex<F> select(bool mask, std::complex<F> yes, std::complex<F> no) {
  return mask ? yes : no;
}
template <class F>
bool isnan(std::complex<F> z) {
  return z.real() != z.real() || z.imag() != z.imag();
}
template <class F>
bool isfinite(std::complex<F> z) {
  return isfinite(z.real()) && isfinite(z.imag());
}
template <class F>
bool isinf(std::complex<F> z) {
  return isinf(z.real()) || isinf(z.imag());
}

}  // namespace RICCI_ISA
}  // namespace ricci::scalar
