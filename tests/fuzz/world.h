// What a random program meets beside its argument: choices, the tensors that it captures or lets escape, and the fault
// that is to come. Knows nothing of programs.
#pragma once

#include <ricci/ricci.h>

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace fuzz {

namespace rc = ricci;
using rc::Tensor;

/// All that is nested and mapped: one type, so that each transform is compiled once.
using Function = std::function<Tensor(const Tensor&)>;

/// Choices that are the same for the same seed.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  int below(int count) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(count)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(below(static_cast<int>(choices.size())))];
  }

 private:
  std::mt19937_64 engine_;
};

/// What a function of the program throws by itself: no error of the library.
struct Thrown {};

/// What a program reaches without being given it.
struct World {
  static constexpr std::int64_t most_steps = 4000;

  std::vector<Tensor> captured;
  std::vector<Tensor> escaped;  // of transforms that may have ended
  std::int64_t steps = 0;       // functions called so far
  std::int64_t throw_at = 0;    // the step that throws; 0: none
  std::string broken;           // what a catch inside the program found wrong; empty: nothing

  /// Every function of a program calls it. Throws Thrown at the chosen step, and where a program does not end.
  void step() {
    if (++steps == throw_at || steps >= most_steps) throw Thrown{};
  }
};

/// The one of the program that runs.
inline World& world() {
  static World of_the_program;
  return of_the_program;
}

}  // namespace fuzz
