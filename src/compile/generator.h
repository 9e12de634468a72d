// Code for this machine. The generator of machine code is a module that is loaded when the first code is made, and not
// where all code was kept from before (kept_code.h). Start with `image_of`.
#pragma once

#include "compile/code.h"
#include "compile/target.h"

namespace ricci::compiled {

/// False where the library was built without a compiler, or the module is missing.
bool has_generator();
inline constexpr const char* no_generator =
    "the library was built without a compiler (RICCI_COMPILE=OFF), or its module is missing";
struct GeneratorFile {
  std::string path;     ///< of the module that was loaded; empty where there is none
  std::string problem;  ///< what the loader says then
};
/// Loads the module.
GeneratorFile generator_file();
/// The module's file, if one of the usual places has it; else empty, and the loader looks for it.
std::string generator_path();

/// RICCI_DUMP=code prints the code's text.
Image image_of(const LanePlan& plan, bool is_careful);
Image image_of(const FunctionPlan& plan);
/// The address of a word's function. Requires: it is a callee of every code.
const void* address_of_word(const Callee& callee);

/// A function in C for the target. Requires: has_generator(). `name_in_libm` and `lacking`: as in Machine.
ObjectFile object_file_of(const FunctionPlan& plan, const Target& target,
                          const char* (*name_in_libm)(Word word, DType dtype),
                          std::vector<std::pair<Word, DType>>& lacking);

}  // namespace ricci::compiled
