// Loading the generator, and what it is given.
#include "compile/generator.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "compile/kept_code.h"
#include "compile/lowering.h"
#include "compile/plan_key.h"
#include "compile/switches.h"
#include "compile/target.h"
#include "compile/word_formulas.h"
#include "compile/words.h"

namespace ricci::compiled {
namespace {

/// Null functions where there is no generator.
struct Generator {
  Generate generate = nullptr;
  GeneratePlan generate_plan = nullptr;
  Export export_plan = nullptr;
  std::string path = {};
  std::string problem = {};  // what the loader said, where there is none
};

/// Beside the library that this code is part of, in its folder ricci, or where it is installed. One module serves the
/// libraries of all levels, which the loader looks for in glibc-hwcaps/x86-64-v3 and its like.
std::string find_generator() {
#ifdef RICCI_CODE_LIBRARY
  Dl_info self{};
  std::string beside;
  if (dladdr(reinterpret_cast<const void*>(&find_generator), &self) && self.dli_fname) {
    beside = self.dli_fname;
    beside.erase(beside.find_last_of('/') == std::string::npos ? 0 : beside.find_last_of('/') + 1);
  }
  std::vector<std::string> folders{beside, beside + "ricci/"};
  if (beside.find("/glibc-hwcaps/") != std::string::npos) folders.push_back(beside + "../../");
  folders.emplace_back(RICCI_CODE_DIRECTORY);
  for (const std::string& folder : folders)
    if (std::string path = folder + RICCI_CODE_LIBRARY; access(path.c_str(), R_OK) == 0) return path;
#endif
  return {};
}

Generator load_generator() {
  Generator found{.problem = "the library was built with RICCI_COMPILE=OFF"};
#ifdef RICCI_CODE_LIBRARY
  found.problem.clear();
  for (const std::string& path : {generator_path(), std::string(RICCI_CODE_LIBRARY)}) {  // or where the loader looks
    if (path.empty()) continue;
    if (void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      void* const generate = dlsym(library, "ricci_generate");
      Dl_info itself{};
      return {.generate = reinterpret_cast<Generate>(generate),
              .generate_plan = reinterpret_cast<GeneratePlan>(dlsym(library, "ricci_generate_plan")),
              .export_plan = reinterpret_cast<Export>(dlsym(library, "ricci_export")),
              .path = dladdr(generate, &itself) ? itself.dli_fname : path};  // the loader may have looked for it
    }
    if (found.problem.empty()) found.problem = dlerror();
  }
#endif
  return found;
}

/// Code is made while LLVM is there: when the process ends, its statics go, and a thread may be at work.
struct Uses {
  std::shared_mutex mutex;
  bool is_over = false;
  pid_t process = getpid();  // in a child, a lock of the parent's thread stays for ever
};
Uses& uses() {
  static Uses& all = *new Uses;
  return all;
}
void end_uses() {
  if (uses().process != getpid()) return;
  const std::lock_guard lock(uses().mutex);
  uses().is_over = true;
}

const Generator& generator() {
  static const Generator& all = *[] {  // threads may ask while the process ends
    const auto* const loaded = new Generator(load_generator());
    uses();
    std::atexit(&end_uses);  // behind LLVM's own ends, so it runs before them
    return loaded;
  }();
  return all;
}

/// The target, with the library's functions.
Machine machine_of(const Target& target) {
  return {.register_bytes = target.register_bytes,
          .library_register_bytes = library_register_bytes(),
          .knows_exponents = target.knows_exponents,
          .triple = target.triple,
          .processor = target.processor,
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

/// What code depends on beside the plan and the build of the library. All members stand here: a new one is written,
/// too, or left out for a reason.
std::string key_of(const Machine& machine) {
  const auto& [register_bytes, library_register_bytes, knows_exponents, triple, processor, calls_in_memory,
               circular_limit, is_careful, dump, callees, name_in_libm, formula_of, lacking] = machine;
  static_cast<void>(circular_limit);                    // the library's own
  static_cast<void>(dump), static_cast<void>(callees);  // what is given back
  // of code that stands alone, which is not kept
  static_cast<void>(triple), static_cast<void>(name_in_libm), static_cast<void>(formula_of), static_cast<void>(lacking);
  std::string key = processor ? processor : "host";
  for (const int number :
       {register_bytes, library_register_bytes, int{knows_exponents}, int{calls_in_memory}, int{is_careful}})
    key += " " + std::to_string(number);
  return key + "\n";
}

template <class Plan, class Generates>
Image made(const Plan& plan, const Machine& of, const Generates& generate) {
  return dumped(of, [&](const Machine& machine) {
    Image image;
    const std::shared_lock lock(uses().mutex);
    if (uses().is_over) image.error = "the process ends";
    else if (generate) generate(plan, machine, image);
    else image.error = no_generator;
    return image;
  });
}

}  // namespace

std::string generator_path() {
  static const std::string& path = *new std::string(find_generator());  // threads may ask while the process ends
  return path;
}

GeneratorFile generator_file() { return {generator().path, generator().problem}; }

/// Where code is kept, the module waits until code is to be made.
bool has_generator() { return (!generator_path().empty() && keeps_code()) || generator().generate; }

Image image_of(const LanePlan& plan, bool is_careful) {
  Machine machine = machine_of(this_machine());
  machine.is_careful = is_careful;
  return kept_or_made([&] { return key_of(machine) + key_of(plan); },
                      [&] { return made(plan, machine, generator().generate); });
}

Image image_of(const FunctionPlan& plan) {
  const Machine machine = machine_of(this_machine());
  return kept_or_made([&] { return key_of(machine) + key_of(plan); },
                      [&] { return made(plan, machine, generator().generate_plan); });
}

const void* address_of_word(const Callee& callee) {
  return callee.what == Callee::What::word ? function_of(callee.word, callee.dtype)
                                           : reinterpret_cast<const void*>(&call_in_memory);
}

ObjectFile object_file_of(const FunctionPlan& plan, const Target& target,
                          const char* (*name_in_libm)(Word word, DType dtype),
                          std::vector<std::pair<Word, DType>>& lacking) {
  Machine alone = machine_of(target);
  alone.name_in_libm = name_in_libm;
  alone.formula_of = &formula_of_word;
  alone.lacking = &lacking;
  return dumped(alone, [&](const Machine& machine) {
    ObjectFile file;
    if (generator().export_plan) generator().export_plan(plan, machine, file);
    else file.error = no_generator;
    return file;
  });
}

}  // namespace ricci::compiled
