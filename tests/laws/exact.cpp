// The arithmetic of ricci::Exact: the words of scalar formulas on Quad.
#include "exact.h"

#include <cstring>
#include <stdexcept>

#include "ricci/primitive/exact.h"

namespace laws {
namespace {

using ricci::Exact;
using ricci::scalar::Word;

static_assert(sizeof(Quad) == sizeof(Exact));

Exact pack(Quad x) {
  Exact e;
  std::memcpy(e.bits, &x, sizeof x);
  return e;
}
Quad quad(const Exact& e) {
  Quad x;
  std::memcpy(&x, e.bits, sizeof x);
  return x;
}

const Quad infinity = std::numeric_limits<double>::infinity(), no_number = std::numeric_limits<double>::quiet_NaN();
const Quad pi = quad_atan2(0, -1);

/// pi cot(pi x).
Quad pi_cotangent(Quad x) {
  const Quad t = x - quad_rint(x);
  return pi / quad_tan(pi * t);
}

/// Reflection for negative x, the recurrence up to 60, the asymptotic series there.
Quad digamma(Quad x) {
  if (x == 0) return quad_copysign(infinity, -x);
  if (x < 0) return x == quad_floor(x) ? no_number : digamma(1 - x) - pi_cotangent(x);
  Quad below = 0;
  for (; x < 60; ++x) below += 1 / x;
  const Quad z = 1 / (x * x);
  constexpr int up[] = {1, -1, 1, -1, 1, -691, 1, -3617, 43867, -174611};  // B_2k / 2k
  constexpr int down[] = {12, 120, 252, 240, 132, 32760, 12, 8160, 14364, 6600};
  Quad series = 0;
  for (int k = 10; k-- > 0;) series = series * z + Quad(up[k]) / down[k];
  return quad_log(x) - 1 / (2 * x) - z * series - below;
}

Quad floor_remainder(Quad a, Quad b) {
  const Quad rest = quad_fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

bool single = false;  // whether elements are float

Exact number(long double constant) { return pack(constant); }
Exact in_element(double constant) {
  return pack(single ? static_cast<double>(static_cast<float>(constant)) : constant);
}

Exact smallest_normal() {
  return pack(single ? static_cast<double>(std::numeric_limits<float>::min()) : std::numeric_limits<double>::min());
}

Quad value(Word word, Quad x, const Exact* more) {
  const auto y = [&] { return quad(more[1]); };
  switch (word) {
    case Word::add: return x + y();
    case Word::subtract: return x - y();
    case Word::multiply: return x * y();
    case Word::divide: return x / y();
    case Word::min: return x < y() || quad_isnan(x) ? x : y();
    case Word::max: return x > y() || quad_isnan(x) ? x : y();
    case Word::pow: return quad_pow(x, y());
    case Word::atan2: return quad_atan2(x, y());
    case Word::hypot: return quad_hypot(x, y());
    case Word::fmod: return quad_fmod(x, y());
    case Word::remainder: return floor_remainder(x, y());
    case Word::floor_div: return quad_floor(x / y());
    case Word::trunc_div: return quad_trunc(x / y());
    case Word::copysign: return quad_copysign(x, y());
    case Word::negative: return -x;
    case Word::abs: return quad_fabs(x);
    case Word::sign: return (x > 0) - (x < 0);
    case Word::sqrt: return quad_sqrt(x);
    case Word::cbrt: return quad_cbrt(x);
    case Word::floor: return quad_floor(x);
    case Word::ceil: return quad_ceil(x);
    case Word::round: return quad_rint(x);
    case Word::trunc: return quad_trunc(x);
    case Word::exp: return quad_exp(x);
    case Word::exp2: return quad_exp2(x);
    case Word::expm1: return quad_expm1(x);
    case Word::log: return quad_log(x);
    case Word::log2: return quad_log2(x);
    case Word::log10: return quad_log10(x);
    case Word::log1p: return quad_log1p(x);
    case Word::sin: return quad_sin(x);
    case Word::cos: return quad_cos(x);
    case Word::tan: return quad_tan(x);
    case Word::asin: return quad_asin(x);
    case Word::acos: return quad_acos(x);
    case Word::atan: return quad_atan(x);
    case Word::sinh: return quad_sinh(x);
    case Word::cosh: return quad_cosh(x);
    case Word::tanh: return quad_tanh(x);
    case Word::asinh: return quad_asinh(x);
    case Word::acosh: return quad_acosh(x);
    case Word::atanh: return quad_atanh(x);
    case Word::erf: return quad_erf(x);
    case Word::erfc: return quad_erfc(x);
    case Word::lgamma: return quad_lgamma(x);
    case Word::digamma: return digamma(x);
    case Word::fma: return x * y() + quad(more[2]);
    default: throw std::logic_error("a formula in more digits has no such word");
  }
}
Exact word(Word name, const Exact* x) { return pack(value(name, quad(x[0]), x)); }

bool test(Word word, const Exact* operands) {
  const Quad x = quad(operands[0]);
  const auto y = [&] { return quad(operands[1]); };
  switch (word) {
    case Word::equal: return x == y();
    case Word::not_equal: return x != y();
    case Word::less: return x < y();
    case Word::less_equal: return x <= y();
    case Word::greater: return x > y();
    case Word::greater_equal: return x >= y();
    case Word::isnan: return quad_isnan(x);
    case Word::isinf: return quad_isinf(x);
    case Word::isfinite: return x - x == 0;
    default: throw std::logic_error("a formula in more digits has no such test");
  }
}

constexpr Exact::Arithmetic arithmetic{number, in_element, smallest_normal, word, test};

}  // namespace

Expected exact(const Case& c, ricci::DType element, const std::vector<double>& x) {
  Exact::arithmetic = &arithmetic;
  single = element == ricci::float32;
  std::vector<Exact> operands;
  for (const double operand : x) operands.push_back(pack(operand));
  ricci::ExactValue y;
  c.rules->bound->exact(c.parameters.get(), operands.data(), y);
  return {quad(y.value), quad(y.unit)};
}

}  // namespace laws
