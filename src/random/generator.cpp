// The generator that draws use when none is given: one for the process.
#include "ricci/random.h"

namespace ricci {

Generator& default_generator() {
  static Generator generator(0);
  return generator;
}

void manual_seed(std::uint64_t seed) { default_generator().manual_seed(seed); }

}  // namespace ricci
