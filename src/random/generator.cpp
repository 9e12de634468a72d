// The generator that draws use when none is given, one for the process, and what tells generators apart.
#include "interpreters/batch.h"
#include "interpreters/record.h"
#include "ricci/primitive/raise.h"
#include "ricci/random.h"

namespace ricci {

GeneratorState Generator::get_state() const {
  if (streams_of(this_thread.innermost) || innermost_recording())
    raise<TransformError>(
        "get_state: a function that is mapped or recorded, a branch and a loop draw from streams of their own, which a "
        "generator's state does not tell; ask for the state outside");
  return {seed_, __atomic_load_n(&position_, __ATOMIC_RELAXED)};
}

std::uint64_t Generator::new_identity() {
  static std::uint64_t last = 0;
  return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

Generator& default_generator() {
  static Generator generator(0);
  return generator;
}

void manual_seed(std::uint64_t seed) { default_generator().manual_seed(seed); }

}  // namespace ricci
