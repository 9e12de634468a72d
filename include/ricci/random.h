// Random numbers: a counter-based generator, so that a draw is a function of (seed, stream position, element) alone.
// The draws themselves (rand, randn, randint, randperm) are operations: ops/create.h.
#pragma once

#include <cstdint>

namespace ricci {

/// A stream of draws; every draw advances its position by one, whatever its size. A copy continues on its own.
///   rc::Generator g(7);  rc::Tensor x = rc::randn({3}, {.generator = g});
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : seed_(seed) {}
  /// Back to the start of the stream of `seed`. Not while another thread draws.
  void manual_seed(std::uint64_t seed) {
    seed_ = seed;
    position_ = 0;
  }
  std::uint64_t seed() const { return seed_; }
  /// The position of the next draw, which this takes. Threads may share a generator: each draw gets a position of its own.
  std::uint64_t next() { return __atomic_fetch_add(&position_, 1, __ATOMIC_RELAXED); }

 private:
  std::uint64_t seed_;
  std::uint64_t position_ = 0;
};

/// Seeds the default generator of all threads; draws without a generator come from it. Not while another thread draws.
void manual_seed(std::uint64_t seed);
/// The generator of draws without one: seed 0 when the program starts.
Generator& default_generator();

}  // namespace ricci
