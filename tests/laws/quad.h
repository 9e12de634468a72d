// Quad: a floating number of 113 bits, and the functions of it that the laws count errors by. Where long double has
// fewer, that is __float128 with libquadmath (declared here, as its header belongs to g++ alone). The rest of the tests
// need not know which.
#pragma once

#include <cmath>
#include <limits>

namespace laws {

#if __LDBL_MANT_DIG__ < 113
using Quad = __float128;
#define RICCI_QUAD_1(name)                   \
  extern "C" __float128 name##q(__float128); \
  inline Quad quad_##name(Quad x) { return name##q(x); }
#define RICCI_QUAD_2(name)                               \
  extern "C" __float128 name##q(__float128, __float128); \
  inline Quad quad_##name(Quad x, Quad y) { return name##q(x, y); }
#else
static_assert(std::numeric_limits<long double>::digits >= 113, "the laws need a number of 113 bits");
using Quad = long double;
#define RICCI_QUAD_1(name) \
  inline Quad quad_##name(Quad x) { return std::name(x); }
#define RICCI_QUAD_2(name) \
  inline Quad quad_##name(Quad x, Quad y) { return std::name(x, y); }
#endif

RICCI_QUAD_1(fabs)
RICCI_QUAD_1(sqrt)
RICCI_QUAD_1(cbrt)
RICCI_QUAD_1(floor)
RICCI_QUAD_1(ceil)
RICCI_QUAD_1(rint)
RICCI_QUAD_1(trunc)
RICCI_QUAD_1(exp)
RICCI_QUAD_1(exp2)
RICCI_QUAD_1(expm1)
RICCI_QUAD_1(log)
RICCI_QUAD_1(log2)
RICCI_QUAD_1(log10)
RICCI_QUAD_1(log1p)
RICCI_QUAD_1(sin)
RICCI_QUAD_1(cos)
RICCI_QUAD_1(tan)
RICCI_QUAD_1(asin)
RICCI_QUAD_1(acos)
RICCI_QUAD_1(atan)
RICCI_QUAD_1(sinh)
RICCI_QUAD_1(cosh)
RICCI_QUAD_1(tanh)
RICCI_QUAD_1(asinh)
RICCI_QUAD_1(acosh)
RICCI_QUAD_1(atanh)
RICCI_QUAD_1(erf)
RICCI_QUAD_1(erfc)
RICCI_QUAD_1(lgamma)
RICCI_QUAD_2(pow)
RICCI_QUAD_2(atan2)
RICCI_QUAD_2(hypot)
RICCI_QUAD_2(fmod)
RICCI_QUAD_2(copysign)
#undef RICCI_QUAD_1
#undef RICCI_QUAD_2

inline bool quad_isnan(Quad x) { return x != x; }
inline bool quad_isinf(Quad x) { return x == x && x - x != x - x; }

}  // namespace laws
