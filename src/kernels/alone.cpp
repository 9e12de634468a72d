// The switch.
#include "kernels/alone.h"

namespace ricci::kernels {

constinit std::atomic<bool> alone::is_on = false;

void let_rows_stand_alone(bool on) { alone::is_on.store(on, std::memory_order_relaxed); }

}  // namespace ricci::kernels
