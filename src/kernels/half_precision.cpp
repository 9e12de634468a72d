// Conversion between half precision and float, by the machine's instructions where it has them.
#include "kernels/half_precision.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace ricci::kernels {
namespace {

void widen_float16(float* to, const Half* from, std::int64_t n) {
  std::int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
#endif
  for (; i < n; ++i) to[i] = from[i];
}

void narrow_float16(Half* to, const float* from, std::int64_t n) {
  std::int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#endif
  for (; i < n; ++i) to[i] = Half(from[i]);
}

}  // namespace

void widen(float* to, const void* from, DType type, std::int64_t n) {
  if (type == DType::float16) return widen_float16(to, static_cast<const Half*>(from), n);
  const auto* source = static_cast<const BFloat16*>(from);
  for (std::int64_t i = 0; i < n; ++i) to[i] = source[i];
}

void narrow(void* to, const float* from, DType type, std::int64_t n) {
  if (type == DType::float16) return narrow_float16(static_cast<Half*>(to), from, n);
  auto* target = static_cast<BFloat16*>(to);
  for (std::int64_t i = 0; i < n; ++i) target[i] = BFloat16(from[i]);
}

}  // namespace ricci::kernels
