// Whether rows stand alone: whether each row of a product or a solution, and each image of a convolution, has the bits
// that it has without the others. Off, a kernel takes the way that is fastest for so many rows, and another number of
// rows may change last bits. On, each sum runs in one order, and a kernel chooses only between ways that keep it.
// Knows nothing of kernels, nor of who needs this.
#pragma once

#include <atomic>

namespace ricci::kernels {

namespace alone {
extern constinit std::atomic<bool> is_on;
}

/// Off until somebody turns it on, for all threads of the process.
inline bool rows_stand_alone() { return alone::is_on.load(std::memory_order_relaxed); }
void let_rows_stand_alone(bool on);

}  // namespace ricci::kernels
