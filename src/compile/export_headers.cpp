// Texts.
#include "compile/export_headers.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace ricci::compiled {
namespace {

std::string upper(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

std::string declaration(const FunctionPlan& plan, const std::vector<Parameter>& parameters) {
  std::string all = "int " + plan.name + "(";
  const std::string indent(all.size(), ' ');
  if (plan.open) all += "int64_t s0,\n" + indent;
  for (const Parameter& p : parameters)
    all += std::string(p.access) + p.element + " *" + p.name + " /* " + p.type + " */,\n" + indent;
  return all + "void *workspace);";
}

/// `margin`: what lines of the comment begin with.
std::string about_examples(const FunctionPlan& plan, const std::string& margin) {
  if (!plan.open) return "";
  const std::string line = "\n" + margin;
  return line + "s0 is the number of examples, the first size of arrays whose type says so. For 0 nothing is read or" +
         line + "written. Below 0, and for more than an array can have, the call fails. One workspace serves any.";
}

std::int64_t workspace_bytes(const FunctionPlan& plan) {
  return std::max<std::int64_t>((plan.workspace_bytes + 63) / 64 * 64, 64);
}

}  // namespace

std::string where_from(const FunctionPlan& plan, const Target& target, const std::string& made_for) {
  const std::string file = target.writes_c() ? "Compile " + plan.name + ".c as C99, and link "
                                             : "Link " + plan.name + ".o" +
                                                   (plan.calls_blas ? ", a CBLAS, such as -lopenblas," : "") + " and ";
  return "/* Written by Ricci for " + made_for + ". " + file + "the C library's functions, -lm. */\n";
}

std::string c_header(const FunctionPlan& plan, const std::vector<Parameter>& parameters, const Target& target,
                     const std::string& made_for) {
  const std::string name = upper(plan.name);
  return where_from(plan, target, made_for) + "#ifndef RICCI_EXPORTED_" + name + "_H\n#define RICCI_EXPORTED_" +
         name + "_H" +
         R"(

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How many bytes a workspace has. It stands at a multiple of )" +
         (target.writes_c() ? "8" : "64") + R"(. */
#define )" +
         name + "_WORKSPACE_BYTES " + std::to_string(workspace_bytes(plan)) + R"(

/* Gives 0. Gives 1, and leaves the results unspecified, where the function throws for these values, or where its code
   does not hold for them, as the derivative of a determinant at a singular matrix. Arrays lie row by row, and a result
   overlaps nothing. Truth values are 0 and 1, float16 and bfloat16 are their bits, complex numbers are pairs. Nothing
   is allocated, and nothing is kept between calls: threads may call the function side by side, each with a workspace
   of its own.)" + about_examples(plan, "   ") + R"( */
)" + declaration(plan, parameters) +
         R"(

#ifdef __cplusplus
}
#endif

#endif
)";
}

// The C function is declared in the namespace, since a function and a namespace of one name cannot stand side by side.
std::string cpp_header(const FunctionPlan& plan, const std::vector<Parameter>& parameters, const Target& target,
                       const std::string& made_for) {
  const std::string guard = "RICCI_EXPORTED_" + upper(plan.name) + "_H";
  const std::string indent(std::strlen("[[nodiscard]] inline bool call("), ' ');
  std::string spans = plan.open ? "std::int64_t s0,\n" + indent : "", sizes, pointers = plan.open ? "s0, " : "";
  for (const Parameter& p : parameters) {
    const std::string count = std::to_string(p.count);
    spans += std::string("std::span<") + p.access + p.element + "> " + p.name + " /* " + p.type + " */,\n" + indent;
    sizes += "  assert(" + p.name +
             (p.has_examples ? ".size() == static_cast<std::size_t>(s0) * " : ".size() == ") + count + ");\n";
    pointers += p.name + ".data(), ";
  }
  return where_from(plan, target, made_for) + "#pragma once\n#ifdef " + guard + "\n#error \"include " + plan.name +
         ".hpp in place of " + plan.name + ".h\"\n#endif\n#define " + guard + R"(

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

namespace )" +
         plan.name + R"( {

extern "C" )" +
         declaration(plan, parameters) + R"(

/// Memory for one call at a time. Keep it: a call needs nothing that another one left there.
struct alignas(64) Workspace {
  std::byte bytes[)" +
         std::to_string(workspace_bytes(plan)) + R"(];
};

/// False, with unspecified results, where the function throws for these values, or where its code does not hold for
/// them. Arrays lie row by row, and a result overlaps nothing. Truth values are 0 and 1, float16 and bfloat16 are their
/// bits, complex numbers are pairs. Threads may call it side by side, each with a workspace of its own.)" +
         about_examples(plan, "/// ") + R"(
[[nodiscard]] inline bool call()" +
         spans + R"(Workspace &workspace) {
)" + sizes +
         "  return " + plan.name + "::" + plan.name + "(" + pointers + R"(workspace.bytes) == 0;
}

}  // namespace )" +
         plan.name + "\n";
}

std::string ptx_header(const FunctionPlan& plan, const std::vector<Parameter>& parameters,
                       const std::string& processor) {
  const std::string name = upper(plan.name), guard = "RICCI_EXPORTED_" + name + "_H";
  std::string arrays = plan.open ? "int64_t s0, " : "";
  for (const Parameter& p : parameters)
    arrays += std::string(p.access) + p.element + " *" + p.name + " /* " + p.type + " */, ";
  if (plan.open) arrays += "int *failed";
  else if (!arrays.empty()) arrays.resize(arrays.size() - 2);
  const std::string fails =
      "where the function throws for these values, or where its code does not hold for them, as\n"
      "   the derivative of a determinant at a singular matrix: results are unspecified then.";
  const std::string kernel =
      "A kernel. Launch it with blocks and a grid of one axis, of any sizes: thread t of T computes examples t, t +\n"
      "   T, and so on. s0 is the number of examples, the first size of arrays whose type says so. *failed becomes 1\n"
      "   " +
      fails + " Set it to 0 before.";
  const std::string function =
      "A function of one thread, for kernels to call: compile these with -rdc=true, and link " + plan.name +
      ".ptx.\n   Gives 0. Gives 1 " + fails;
  return "/* Written by Ricci for NVIDIA's processors, from " + processor + " on: " + plan.name +
         ".ptx, which needs no other file. */\n#ifndef " + guard + "\n#define " + guard + R"(

#include <stdint.h>

/* How many bytes each thread has on its stack, in local memory. */
#define RICCI_EXPORTED_)" +
         name + "_STACK_BYTES " + std::to_string(plan.workspace_bytes) + "\n\n/* " + (plan.open ? kernel : function) +
         R"(
   Arrays stand in memory of the device and lie row by row, and a result overlaps nothing. Truth values are 0 and 1,
   float16 and bfloat16 are their bits, complex numbers are pairs. */
#ifdef __CUDACC__
extern "C" )" +
         (plan.open ? "__global__ void " : "__device__ int ") + plan.name + "(" + arrays + R"();
#endif

#endif
)";
}

}  // namespace ricci::compiled
