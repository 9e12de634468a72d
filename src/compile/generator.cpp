// Loading the generator.
#include "compile/generator.h"

#include <dlfcn.h>

#include "compile/lowering.h"
#include "compile/switches.h"
#include "compile/words.h"

namespace ricci::compiled {
namespace {

/// Beside the library that this code is part of, where it is installed, or where the loader looks.
Generator load_generator() {
#ifdef RICCI_CODE_LIBRARY
  Dl_info self{};
  std::string beside;
  if (dladdr(reinterpret_cast<const void*>(&load_generator), &self) && self.dli_fname) {
    beside = self.dli_fname;
    beside.erase(beside.find_last_of('/') == std::string::npos ? 0 : beside.find_last_of('/') + 1);
  }
  for (const std::string& path : {beside + RICCI_CODE_LIBRARY, std::string(RICCI_CODE_DIRECTORY RICCI_CODE_LIBRARY),
                                  std::string(RICCI_CODE_LIBRARY)})
    if (void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      return {reinterpret_cast<Generate>(dlsym(library, "ricci_generate")),
              reinterpret_cast<Export>(dlsym(library, "ricci_export")),
              reinterpret_cast<GeneratePlan>(dlsym(library, "ricci_generate_plan"))};
#endif
  return {};
}

}  // namespace

const Generator& generator() {
  static const Generator all = load_generator();
  return all;
}

Machine this_machine(std::string& dump) {
  return {.register_bytes = register_bytes(),
          .library_register_bytes = library_register_bytes(),
          .knows_exponents = knows_exponents(),
          .processor = has_narrow_registers() ? "x86-64-v3" : nullptr,
          .function_of = &function_of,
          .call_in_memory = has_narrow_registers() ? &call_in_memory : nullptr,
          .circular_limit = &circular_limit,
          .is_careful = false,
          .careful_once = nullptr,
          .careful_lanes = nullptr,
          .dump = is_listed("RICCI_DUMP", "code") ? &dump : nullptr};
}

}  // namespace ricci::compiled
