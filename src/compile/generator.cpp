// Loading the generator, and what it is given.
#include "compile/generator.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>

#include "compile/kept_code.h"
#include "compile/lowering.h"
#include "compile/plan_key.h"
#include "compile/switches.h"
#include "compile/words.h"

namespace ricci::compiled {
namespace {

/// Null functions where there is no generator.
struct Generator {
  Generate generate = nullptr;
  GeneratePlan generate_plan = nullptr;
  Export export_plan = nullptr;
};

/// Beside the library that this code is part of, or where it is installed.
std::string find_generator() {
#ifdef RICCI_CODE_LIBRARY
  Dl_info self{};
  std::string beside;
  if (dladdr(reinterpret_cast<const void*>(&find_generator), &self) && self.dli_fname) {
    beside = self.dli_fname;
    beside.erase(beside.find_last_of('/') == std::string::npos ? 0 : beside.find_last_of('/') + 1);
  }
  for (const std::string& path : {beside + RICCI_CODE_LIBRARY, std::string(RICCI_CODE_DIRECTORY RICCI_CODE_LIBRARY)})
    if (access(path.c_str(), R_OK) == 0) return path;
#endif
  return {};
}

Generator load_generator() {
#ifdef RICCI_CODE_LIBRARY
  for (const std::string& path : {generator_path(), std::string(RICCI_CODE_LIBRARY)})  // or where the loader looks
    if (void* const library = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      return {reinterpret_cast<Generate>(dlsym(library, "ricci_generate")),
              reinterpret_cast<GeneratePlan>(dlsym(library, "ricci_generate_plan")),
              reinterpret_cast<Export>(dlsym(library, "ricci_export"))};
#endif
  return {};
}

const Generator& generator() {
  static const Generator all = load_generator();
  return all;
}

/// This machine, with the library's functions.
Machine this_machine() {
  return {.register_bytes = register_bytes(),
          .library_register_bytes = library_register_bytes(),
          .knows_exponents = knows_exponents(),
          .processor = has_narrow_registers() ? "x86-64-v3" : nullptr,
          .calls_in_memory = has_narrow_registers(),
          .circular_limit = &circular_limit,
          .is_careful = false,
          .dump = nullptr};
}

/// `use(machine)`, which gets the code's text, too, where it is to be printed.
template <class Use>
auto dumped(Machine machine, const Use& use) {
  std::string text;
  if (is_listed("RICCI_DUMP", "code")) machine.dump = &text;
  auto result = use(machine);
  if (!text.empty()) std::fputs(text.c_str(), stderr);
  return result;
}

/// What code depends on beside the plan and the build of the library.
std::string key_of(const Machine& machine) {
  std::string key = machine.processor ? machine.processor : "host";
  for (const int number : {machine.register_bytes, machine.library_register_bytes, int{machine.knows_exponents},
                           int{machine.calls_in_memory}, int{machine.is_careful}})
    key += " " + std::to_string(number);
  return key + "\n";
}

template <class Plan, class Generates>
Image made(const Plan& plan, const Machine& of, const Generates& generate) {
  return dumped(of, [&](const Machine& machine) {
    Image image;
    if (generate) generate(plan, machine, image);
    else image.error = "the library was built without a compiler (RICCI_COMPILE=OFF)";
    return image;
  });
}

}  // namespace

std::string generator_path() {
  static const std::string path = find_generator();
  return path;
}

/// Where code is kept, the module waits until code is to be made.
bool has_generator() { return (!generator_path().empty() && keeps_code()) || generator().generate; }

Image image_of(const LanePlan& plan, bool is_careful) {
  Machine machine = this_machine();
  machine.is_careful = is_careful;
  return kept_or_made([&] { return key_of(machine) + key_of(plan); },
                      [&] { return made(plan, machine, generator().generate); });
}

Image image_of(const FunctionPlan& plan) {
  const Machine machine = this_machine();
  return kept_or_made([&] { return key_of(machine) + key_of(plan); },
                      [&] { return made(plan, machine, generator().generate_plan); });
}

const void* address_of_word(const Callee& callee) {
  return callee.what == Callee::What::word ? function_of(callee.word, callee.dtype)
                                           : reinterpret_cast<const void*>(&call_in_memory);
}

ObjectFile object_file_of(const FunctionPlan& plan, const char* (*name_in_libm)(Word word, DType dtype),
                          std::vector<std::pair<Word, DType>>& lacking) {
  Machine alone = this_machine();
  alone.name_in_libm = name_in_libm;
  alone.lacking = &lacking;
  return dumped(alone, [&](const Machine& machine) {
    ObjectFile file;
    if (generator().export_plan) generator().export_plan(plan, machine, file);
    else file.error = "the library was built without a compiler (RICCI_COMPILE=OFF)";
    return file;
  });
}

}  // namespace ricci::compiled
