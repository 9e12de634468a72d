// The pieces of lanes that code runs on, one after the other or side by side. Whoever runs a kernel cuts its lanes so:
// the order of sums, and so the result to the bit, follows from it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ricci::compiled {

/// Of equal length but the last, which is longer.
struct Pieces {
  std::int64_t length, count, lanes;

  /// `width`: lanes in a register; `totals`: how many totals of all lanes the stage has.
  Pieces(std::int64_t lanes, int width, std::size_t totals) : lanes(lanes) {
    const std::int64_t least = 64 * width, most_pieces = totals > 0 ? 64 : INT64_MAX;
    length = least, count = 1;
    if (lanes < 2 * least) return;  // a call of one example does not wait for divisions
    length = std::max(least, (lanes / most_pieces + width - 1) / width * width);
    count = lanes / length;
  }
  std::int64_t begin(std::int64_t piece) const { return piece * length; }
  std::int64_t end(std::int64_t piece) const { return piece + 1 == count ? lanes : begin(piece + 1); }
};

}  // namespace ricci::compiled
