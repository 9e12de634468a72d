// The processors that code is made for. Start with `target_called`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ricci::compiled {

struct Target {
  /// An object file, text in C, or text in PTX, the assembly language of NVIDIA's processors.
  enum class Writes : std::uint8_t { object, c, ptx };

  const char* name;       ///< as users call it; "": the machine that runs
  const char* triple;     ///< of the system, by LLVM's name; null: this one
  const char* processor;  ///< by LLVM's name; null: the one that runs
  int register_bytes;
  bool knows_exponents;  ///< the words of elementary formulas (scale, exponent, mantissa) are single instructions
  Writes writes = Writes::object;

  bool is_this_machine() const { return !*name; }
  bool writes_c() const { return writes == Writes::c; }
  bool writes_ptx() const { return writes == Writes::ptx; }
  /// Values are one element: a lane is a turn of a loop in C, and examples are threads in PTX.
  bool is_scalar() const { return writes != Writes::object; }
};

/// The machine that runs, with the registers of the library. Environment variable RICCI_COMPILE_REGISTERS=16 or 32:
/// with narrower ones, so that one machine tries the code of others.
const Target& this_machine();
inline bool has_narrow_registers() { return this_machine().processor; }

/// Null where there is no target of this name.
const Target* target_called(std::string_view name);
/// In quotes, one behind the other.
std::string names_of_targets();

}  // namespace ricci::compiled
