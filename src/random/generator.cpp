// The generator that draws use when none is given, one for the process, and what tells generators apart.
#include "ricci/random.h"

namespace ricci {

std::uint64_t Generator::new_state() {
  static std::uint64_t last = 0;
  return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

Generator& default_generator() {
  static Generator generator(0);
  return generator;
}

void manual_seed(std::uint64_t seed) { default_generator().manual_seed(seed); }

}  // namespace ricci
