// An object file and headers of an exported plan.
#include "compile/export.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "compile/c_function.h"
#include "compile/c_words.h"
#include "compile/elements.h"
#include "compile/export_headers.h"
#include "compile/function_steps.h"
#include "compile/generator.h"
#include "compile/lane_kernel.h"
#include "compile/open_examples.h"
#include "program/inlining.h"
#include "transforms/arguments.h"

namespace ricci::compiled {
namespace {

/// Of a function that has no way to compute some words.
void require_words(const std::vector<std::pair<Word, DType>>& lacking, const std::string& library,
                   const runs::Place& where) {
  if (lacking.empty()) return;
  raise_own<NotImplementedError>("export_object: " + library + " has no " + scalar::name_of(lacking[0].first) + " of " +
                                     to_string(lacking[0].second) +
                                     ", and an exported function calls no other library; export the parts before and "
                                     "behind it as functions of their own",
                                 where);
}

ObjectFile object_file(const FunctionPlan& plan, const Target& target, const runs::Place& where) {
  std::vector<std::pair<Word, DType>> lacking;
  ObjectFile file = object_file_of(plan, target, target.writes_ptx() ? &name_in_libdevice : &name_in_libm, lacking);
  require_words(lacking, target.writes_ptx() ? "NVIDIA's libdevice" : "the C library", where);
  if (!file.error.empty()) raise_own<NotImplementedError>("export_object: " + file.error, where);
  return file;
}
std::string c_text(const FunctionPlan& plan, const std::vector<Parameter>& parameters, const runs::Place& where) {
  CFile file = c_file_of(plan, parameters);
  require_words(file.lacking, "the C library", where);
  if (!file.error.empty()) raise_own<NotImplementedError>("export_object: " + file.error, where);
  return std::move(file.text);
}

/// `f32[16,7]` with any number of examples in front: `f32[s0,7]`.
std::string text_with_examples(const Type& type) {
  const std::string text = to_string(type);
  const std::size_t begin = text.find('[') + 1;
  return text.substr(0, begin) + "s0" + text.substr(text.find_first_of(",]", begin));
}

std::vector<Parameter> parameters_of(const PlannedFunction& made, const ExportedNames& names) {
  std::vector<Parameter> all;
  const std::optional<OpenExamples>& open = made.plan.open;
  const auto add = [&](const Type& type, const char* access, const std::string& name, bool has_examples) {
    std::int64_t count = type.shape.numel().raw() * (is_complex(type.dtype) ? 2 : 1);
    if (has_examples) count /= open->of_block;
    all.push_back({access, type_in_c(type.dtype), name, has_examples ? text_with_examples(type) : to_string(type),
                   count, has_examples});
  };
  for (std::size_t i = 0; i < made.arguments.size(); ++i)
    add(made.arguments[i], "const ", names.arguments[i], open && open->arguments[i].has_examples());
  for (std::size_t k = 0; k < made.results.size(); ++k)
    add(made.results[k], "", names.results[k], open && open->results[k].has_examples());
  return all;
}

/// The files, all or none: they get their names when all are written.
void write_files(const std::vector<std::pair<std::string, std::string>>& files, const runs::Place& where) {
  const auto written = [](const std::string& path) { return path + ".part"; };
  const auto refuse = [&](const std::string& path, int error) {
    for (const auto& file : files) std::remove(written(file.first).c_str());
    raise_own<ValueError>("export_object: cannot write " + path + ": " + std::strerror(error), where);
  };
  for (const auto& [path, bytes] : files) {
    std::FILE* const file = std::fopen(written(path).c_str(), "wb");
    if (!file) refuse(path, errno);
    const bool is_written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    int error = errno;
    const bool is_closed = std::fclose(file) == 0;
    if (is_written && !is_closed) error = errno;
    if (!is_written || !is_closed) refuse(path, error);
    if (std::filesystem::is_directory(path)) refuse(path, EISDIR);
  }
  for (const auto& [path, bytes] : files)
    if (std::rename(written(path).c_str(), path.c_str()) != 0) refuse(path, errno);
}

/// Whether <math.h> declares a function of this name, of double, float or long double.
bool is_in_math(std::string name) {
  static constexpr std::string_view functions =
      " acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp10 exp2 expm1 fabs fdim"
      " finite floor fma fmax fmin fmod frexp gamma hypot ilogb isinf isnan j0 j1 jn ldexp lgamma llrint llround log"
      " log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow pow10 remainder remquo rint"
      " round scalb scalbln scalbn signbit significand sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn ";
  const auto is_there = [](const std::string& x) { return functions.find(" " + x + " ") != std::string_view::npos; };
  if (is_there(name)) return true;
  const bool has_type = !name.empty() && (name.back() == 'f' || name.back() == 'l');
  if (has_type) name.pop_back();
  return has_type && is_there(name);
}

/// Throws ValueError where C takes the last part of the path for no name.
std::string function_name(const std::string& path, const runs::Place& where) {
  const std::string name = std::filesystem::path(path).filename().string();
  const auto is_of_names = [](unsigned char c) { return c < 128 && (std::isalnum(c) != 0 || c == '_'); };
  // The words of C17 and C++20, and functions that every program in C has.
  static constexpr std::string_view words =
      " _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local alignas"
      " alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class co_await"
      " co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default"
      " delete do double dynamic_cast else enum explicit export extern false float fma fmaf for friend goto if inline"
      " int linux long main memcpy memmove memset mutable namespace new noexcept not not_eq nullptr operator or or_eq"
      " private protected public register reinterpret_cast requires restrict return short signed sizeof static"
      " static_assert static_cast std struct switch template this thread_local throw true try typedef typeid typename"
      " union unix unsigned using virtual void volatile wchar_t while xor xor_eq Workspace ";
  const bool is_taken = words.find(" " + name + " ") != std::string_view::npos;
  if (name.empty() || is_taken || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ||
      !std::ranges::all_of(name, is_of_names))
    raise_own<ValueError>("export_object: the function in C is called as the files, and \"" + name +
                              "\" is no name there; give a path that ends in letters, digits and _",
                          where);
  return name;
}

}  // namespace

void export_program(const Program& program, std::span<const Tensor> captured, const ExportedNames& names,
                    bool any_number_of_examples, const std::string& target, const std::string& path,
                    const runs::Place& where) {
  const std::string name = function_name(path, where);
  const Target* const made_for = target_called(target);
  if (!made_for)
    raise_own<ValueError>("export_object: there is no target \"" + target + "\"; there are " + names_of_targets() +
                              ", and without a target the object is for this machine",
                          where);
  if (const char* const why = why_no_kernels())
    raise_own<NotImplementedError>(std::string("export_object: ") + why, where);
  const Program whole = inlined(program);
  const PlannedFunction made = any_number_of_examples ? planned_for_examples(whole, captured, name, *made_for, where)
                                                      : planned_alone(with_kernels(whole, captured, *made_for), name,
                                                                      *made_for, where);
  const std::vector<Parameter> parameters = parameters_of(made, names);
  if (made_for->writes_c()) {
    if (is_in_math(name))
      raise_own<ValueError>("export_object: C has a function called " + name + ", in math.h; choose another name",
                            where);
    const std::string text = c_text(made.plan, parameters, where), about = "any machine";
    return write_files({{path + ".c", where_from(made.plan, *made_for, about) + text},
                        {path + ".h", c_header(made.plan, parameters, *made_for, about)}},
                       where);
  }
  if (made_for->writes_ptx()) {
    constexpr std::int64_t most_of_thread = 500'000;  // CUDA gives a thread up to 512 KiB
    if (const std::int64_t bytes = made.plan.workspace_bytes; bytes > most_of_thread)
      raise_own<NotImplementedError>("export_object: the function needs " + std::to_string(bytes) +
                                         " bytes of memory in each thread, which has at most " +
                                         std::to_string(most_of_thread) + "; export its parts, or smaller examples",
                                     where);
  }
  const ObjectFile object = object_file(made.plan, *made_for, where);
  if (made_for->writes_ptx()) {
    const std::string header = ptx_header(made.plan, parameters, object.processor);
    return write_files({{path + ".ptx", object.bytes}, {path + ".h", header}}, where);
  }
  const std::string processors =
      made_for->is_this_machine() ? "this processor: " + object.processor : "the target " + target;
  write_files({{path + ".o", object.bytes},
               {path + ".h", c_header(made.plan, parameters, *made_for, processors)},
               {path + ".hpp", cpp_header(made.plan, parameters, *made_for, processors)}},
              where);
}

}  // namespace ricci::compiled
