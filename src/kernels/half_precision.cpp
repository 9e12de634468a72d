// Conversion between half precision and float.
#include "kernels/half_precision.h"

#include "kernels/machine.h"
#include "ricci/primitive/wide.h"

namespace ricci::kernels {
namespace {

constexpr int lanes = scalar::Pack<float>::lanes;

void widen_float16(float* to, const Half* from, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) scalar::store(to + i, scalar::widen_halves(from + i));
  for (; i < n; ++i) to[i] = from[i];
}

void narrow_float16(Half* to, const float* from, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    narrow_halves(to + i, scalar::load(from + i, std::type_identity<scalar::Pack<float>>{}));
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
