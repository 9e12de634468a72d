// Random numbers: a counter-based generator, so that a draw is a function of (seed, stream position, element) alone.
// The draws themselves are operations: ops/random.h; draws without a generator, from keys: keys.h.
#pragma once

#include <cstdint>

namespace ricci {

/// Where a generator stands between two draws.
///   rc::GeneratorState before = g.get_state();  Tensor x = draws(g);
///   g.set_state(before);                        Tensor same = draws(g);  // the numbers of x
struct GeneratorState {
  std::uint64_t seed = 0;
  std::uint64_t position = 0;  ///< draws since it was seeded
  bool operator==(const GeneratorState&) const = default;
};

/// A stream of draws; every draw advances its position by one, whatever its size. A copy continues on its own. All
/// draws inside one call of a vmapped function take one position together, and have a stream of their own.
///   rc::Generator g(7);  rc::Tensor x = rc::randn({3}, {.generator = g});
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : seed_(seed), identity_(new_identity()) {}
  Generator(const Generator& other) : seed_(other.seed_), position_(other.position_), identity_(new_identity()) {}
  Generator& operator=(const Generator& other) {
    seed_ = other.seed_;
    position_ = other.position_;
    identity_ = new_identity();
    return *this;
  }
  /// Back to the start of the stream of `seed`. Not while another thread draws.
  void manual_seed(std::uint64_t seed) { *this = Generator(seed); }
  std::uint64_t seed() const { return seed_; }
  /// The position of the next draw, which this takes. Threads may share a generator: each draw gets a position of its
  /// own.
  std::uint64_t next() { return __atomic_fetch_add(&position_, 1, __ATOMIC_RELAXED); }
  /// TransformError inside vmap and in a function that is being recorded: draws there come from streams of their own.
  GeneratorState get_state() const;
  /// What is drawn next is what was drawn next when `get_state` gave the state. Not while another thread draws.
  void set_state(const GeneratorState& state) {
    *this = Generator(state.seed);
    position_ = state.position;
  }
  /// A number no other generator has, nor this one before it was last seeded or put back.
  std::uint64_t identity() const { return identity_; }

 private:
  static std::uint64_t new_identity();
  std::uint64_t seed_;
  std::uint64_t position_ = 0;
  std::uint64_t identity_;
};

/// Seeds the default generator of all threads; draws without a generator come from it. Not while another thread draws.
void manual_seed(std::uint64_t seed);
/// The generator of draws without one: seed 0 when the program starts.
Generator& default_generator();
/// `get_state` and `set_state` of the default generator.
inline GeneratorState get_rng_state() { return default_generator().get_state(); }
inline void set_rng_state(const GeneratorState& state) { default_generator().set_state(state); }

}  // namespace ricci
