// A plan as one function in C99, to be read: loops over arrays. Knows nothing of machine code.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compile/function_plan.h"

namespace ricci::compiled {

/// An argument or a result of an exported function, as its declarations say it.
struct Parameter {
  const char* access;  // "const " of an argument
  const char* element;
  std::string name, type;
  std::int64_t count;  // of elements in C, where it has examples: of one of them
  bool has_examples;
};

struct CFile {
  std::string text;                             // of the file, without the comment in front
  std::vector<std::pair<Word, DType>> lacking;  // not empty: C has no function for these
  std::string error;                            // not empty: there is no text
};
/// Requires: the plan stands alone, and is for a target that writes C.
CFile c_file_of(const FunctionPlan& plan, const std::vector<Parameter>& parameters);

}  // namespace ricci::compiled
