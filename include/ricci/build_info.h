// What this build of the library is, and whether it finds at run time what `compile` needs.
#pragma once

#include <iosfwd>
#include <string>

namespace ricci {

/// `0.1.0`
const char* version();

struct BuildInfo {
  std::string version;
  std::string compiler;      ///< that the library was built with
  std::string instructions;  ///< that it is built for: avx512, avx2, baseline or neon
  std::string code;          ///< the module that makes machine code
  std::string why_no_code;   ///< what the loader says where there is none; functions run by operations
};

/// Loads the module that makes machine code, as the first compiled function does.
///   std::cout << rc::build_info() << "\n";
BuildInfo build_info();
/// `ricci 0.1.0, for avx512, g++ 12.2.0; machine code by /usr/lib/libricci_code.so`
std::string to_string(const BuildInfo& info);
std::ostream& operator<<(std::ostream& out, const BuildInfo& info);

}  // namespace ricci
