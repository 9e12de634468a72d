// The vocabulary of scalar formulas. An elementwise operation is written once,
//
//   struct Tanh { template <class T> auto formula(T x) const { return scalar::tanh(x); } };
//
// and T is whatever the formula is wanted for: a SIMD pack, std::complex, a plain number, or a symbolic value of a
// compiler backend. Knows nothing of tensors, loops or derivatives.
//
// constants      T(0.5)                      operators      + - * / and unary -
// comparison     equal not_equal less less_equal greater greater_equal -> Mask<T>; isnan isinf isfinite is_true
// choice         select(mask, yes, no); && || ! on masks, and logical_and logical_or logical_xor logical_not
// rounding       floor ceil trunc round (half to even)
// signs, sizes   abs sign copysign min max (both NaN-propagating)
// roots, powers  sqrt rsqrt cbrt square reciprocal pow hypot fma
// exponentials   exp exp2 expm1 log log2 log10 log1p sinh cosh tanh asinh acosh atanh
// circle         sin cos tan asin acos atan atan2
// special        erf erfc lgamma digamma mills
// division       fmod remainder (Python's sign) floor_div trunc_div; integers over 0 give 0
// integers       bit_and bit_or bit_xor bit_not left_shift right_shift
// complex        conj real imag arg abs
#pragma once

#include "ricci/primitive/arithmetic.h"     // IWYU pragma: export
#include "ricci/primitive/complex_words.h"  // IWYU pragma: export
#include "ricci/primitive/elementary.h"     // IWYU pragma: export
#include "ricci/primitive/pack.h"           // IWYU pragma: export
#include "ricci/primitive/special_words.h"  // IWYU pragma: export
