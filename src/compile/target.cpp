// The list of targets.
#include "compile/target.h"

#include <algorithm>
#include <cstdlib>

#include "compile/words.h"
#include "ricci/primitive/scalar.h"

namespace ricci::compiled {
namespace {

constexpr const char *linux_on_x86 = "x86_64-unknown-linux-gnu", *linux_on_arm = "aarch64-unknown-linux-gnu";
/// AVX-512 has instructions for exponents; registers of NEON have 16 bytes.
constexpr Target targets[] = {
    {"x86-64-v2", linux_on_x86, "x86-64-v2", 16, false},
    {"x86-64-v3", linux_on_x86, "x86-64-v3", 32, false},
    {"x86-64-v4", linux_on_x86, "x86-64-v4", 64, true},
    {"aarch64", linux_on_arm, "generic", 16, false},
    {"c", "", "", 8, false, Target::Writes::c},
    {"ptx", "nvptx64-nvidia-cuda", "sm_70", 8, false, Target::Writes::ptx},  // Volta, and all that came after it
};

Target find_this_machine() {
  const char* const wanted = std::getenv("RICCI_COMPILE_REGISTERS");
  const int narrow = wanted ? std::atoi(wanted) : 0, own = library_register_bytes();
  if ((narrow == 16 || narrow == 32) && narrow < own) return {"", nullptr, "x86-64-v3", narrow, false};
  return {"", nullptr, nullptr, own, scalar::machine::knows_exponents};
}

}  // namespace

const Target& this_machine() {
  static const Target machine = find_this_machine();
  return machine;
}

const Target* target_called(std::string_view name) {
  if (name.empty()) return &this_machine();
  const auto* const found = std::ranges::find(targets, name, &Target::name);
  return found == std::end(targets) ? nullptr : found;
}

std::string names_of_targets() {
  std::string all;
  for (const Target& target : targets) all += (all.empty() ? "\"" : ", \"") + std::string(target.name) + "\"";
  return all;
}

}  // namespace ricci::compiled
