// Random numbers: a counter-based generator, so that a draw is a function of (seed, stream position, element) alone.
// The draws themselves are operations: ops/random.h; draws without a generator, from keys: keys.h.
#pragma once

#include <cstdint>

namespace ricci {

/// A stream of draws; every draw advances its position by one, whatever its size. A copy continues on its own. All
/// draws inside one call of a vmapped function take one position together, and have a stream of their own.
///   rc::Generator g(7);  rc::Tensor x = rc::randn({3}, {.generator = g});
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : seed_(seed), state_(new_state()) {}
  Generator(const Generator& other) : seed_(other.seed_), position_(other.position_), state_(new_state()) {}
  Generator& operator=(const Generator& other) {
    seed_ = other.seed_;
    position_ = other.position_;
    state_ = new_state();
    return *this;
  }
  /// Back to the start of the stream of `seed`. Not while another thread draws.
  void manual_seed(std::uint64_t seed) { *this = Generator(seed); }
  std::uint64_t seed() const { return seed_; }
  /// The position of the next draw, which this takes. Threads may share a generator: each draw gets a position of its
  /// own.
  std::uint64_t next() { return __atomic_fetch_add(&position_, 1, __ATOMIC_RELAXED); }
  /// A number no other generator has, nor this one before it was last seeded.
  std::uint64_t state() const { return state_; }

 private:
  static std::uint64_t new_state();
  std::uint64_t seed_;
  std::uint64_t position_ = 0;
  std::uint64_t state_;
};

/// Seeds the default generator of all threads; draws without a generator come from it. Not while another thread draws.
void manual_seed(std::uint64_t seed);
/// The generator of draws without one: seed 0 when the program starts.
Generator& default_generator();

}  // namespace ricci
