// What this build of the library is.
#include "ricci/build_info.h"

#include <ostream>

#include "compile/generator.h"
#include "ricci/primitive/machine.h"

#define RICCI_TEXT(word) #word
#define RICCI_TEXT_OF(macro) RICCI_TEXT(macro)

namespace ricci {

const char* version() { return RICCI_VERSION; }

BuildInfo build_info() {
  BuildInfo info{.version = version(),
#ifdef __clang__
                 .compiler = "clang " __clang_version__,
#else
                 .compiler = "g++ " __VERSION__,
#endif
                 .instructions = RICCI_TEXT_OF(RICCI_ISA)};
  const compiled::GeneratorFile code = compiled::generator_file();
  info.code = code.path;
  info.why_no_code = code.problem;
  return info;
}

std::string to_string(const BuildInfo& info) {
  return "ricci " + info.version + ", for " + info.instructions + ", " + info.compiler + "; " +
         (info.why_no_code.empty() ? "machine code by " + info.code : "no machine code: " + info.why_no_code);
}

std::ostream& operator<<(std::ostream& out, const BuildInfo& info) { return out << to_string(info); }

}  // namespace ricci
