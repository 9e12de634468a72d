// Random programs: trees of nestings and operations, the same for the same seed. Knows nothing of what is held of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "python_text.h"
#include "world.h"

namespace fuzz {

/// A function, and how it would be written.
struct Program {
  Function run;
  std::string text;
  std::function<std::string(PythonText&)> write = {};  // adds the same in Python, and gives its name
  bool writes = false;                                 // to its argument or to a captured tensor, if it comes to that

  static constexpr int deepest = 4;
};

/// A program with nestings at most `depth` deep around operations.
Program random_program(Dice& dice, int depth);
/// A tensor of at most three axes, of sizes from 0 to 4, mostly floating.
Tensor random_tensor(Dice& dice);
/// What stands above programs in Python.
std::string start_in_python();
/// What a program captures.
std::vector<Tensor> random_captured(Dice& dice);

/// The number in a variable of the environment. RICCI_FUZZ_PROGRAMS says how many programs are tried, RICCI_FUZZ_SEED
/// tries one alone, RICCI_FUZZ_SHOW=1 prints each before it runs.
std::uint64_t setting(const char* name, std::uint64_t otherwise);
inline constexpr std::uint64_t programs_by_default = 480;

}  // namespace fuzz
