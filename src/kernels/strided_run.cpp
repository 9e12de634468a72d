// Strided runs: one loop for each element size.
#include "kernels/strided_run.h"

#include <algorithm>
#include <cstring>

namespace ricci::kernels {
namespace {

struct Bytes16 {
  std::uint64_t low, high;
};

template <class Unit>
void copy_units(char* to, std::int64_t to_stride, const char* from, std::int64_t from_stride, std::int64_t n) {
  Unit unit;
  if (from_stride == 0 && to_stride == sizeof(Unit)) {
    std::memcpy(&unit, from, sizeof unit);
    for (std::int64_t i = 0; i < n; ++i)
      std::memcpy(to + i * static_cast<std::int64_t>(sizeof unit), &unit, sizeof unit);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    std::memcpy(&unit, from + i * from_stride, sizeof unit);
    std::memcpy(to + i * to_stride, &unit, sizeof unit);
  }
}

}  // namespace

void copy_run(char* to, std::int64_t to_stride, const char* from, std::int64_t from_stride, std::int64_t size,
              std::int64_t n) {
  if (to_stride == size && from_stride == size) {
    if (to != from) std::memcpy(to, from, static_cast<std::size_t>(n * size));
    return;
  }
  switch (size) {
    case 1: return copy_units<std::uint8_t>(to, to_stride, from, from_stride, n);
    case 2: return copy_units<std::uint16_t>(to, to_stride, from, from_stride, n);
    case 4: return copy_units<std::uint32_t>(to, to_stride, from, from_stride, n);
    case 8: return copy_units<std::uint64_t>(to, to_stride, from, from_stride, n);
    default: return copy_units<Bytes16>(to, to_stride, from, from_stride, n);
  }
}

}  // namespace ricci::kernels
