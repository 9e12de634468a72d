// Row by row: each element is compared with the best of its bag so far.
#include "kernels/bags.h"

#include <algorithm>
#include <cstdint>

namespace ricci::kernels {
namespace {

template <class T>
void argmax_of(std::int64_t* places, const T* rows, const std::int64_t* bags, std::int64_t count, std::int64_t width) {
  for (std::int64_t p = 0; p < count; ++p)
    for (std::int64_t d = 0; d < width; ++d) {
      std::int64_t& place = places[bags[p] * width + d];
      const T x = rows[p * width + d];
      if (place == count) {
        place = p;
        continue;
      }
      const T best = rows[place * width + d];
      if (x > best || (x != x && best == best)) place = p;
    }
}

}  // namespace

void bag_argmax(Strided places, Strided rows, Strided bags) {
  std::int64_t members = 1;
  for (int axis = 0; axis + 1 < bags.rank; ++axis) members *= bags.shape[axis];
  const std::int64_t count = bags.shape[bags.rank - 1], width = rows.shape[rows.rank - 1];
  const std::int64_t results = places.shape[places.rank - 2] * width;
  for (std::int64_t member = 0; member < members; ++member) {
    auto* to = static_cast<std::int64_t*>(places.data) + member * results;
    const auto* of_bags = static_cast<const std::int64_t*>(bags.data) + member * count;
    std::fill_n(to, results, count);
    if (rows.dtype == DType::float64)
      argmax_of(to, static_cast<const double*>(rows.data) + member * count * width, of_bags, count, width);
    else argmax_of(to, static_cast<const float*>(rows.data) + member * count * width, of_bags, count, width);
  }
}

}  // namespace ricci::kernels
