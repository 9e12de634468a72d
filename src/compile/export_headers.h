// The headers of exported functions.
#pragma once

#include <string>
#include <vector>

#include "compile/c_function.h"
#include "compile/target.h"

namespace ricci::compiled {

/// For C. `made_for`: the processors, or C.
std::string c_header(const FunctionPlan& plan, const std::vector<Parameter>& parameters, const Target& target,
                     const std::string& made_for);
/// For C++20: arrays as spans, whose sizes are asserted.
std::string cpp_header(const FunctionPlan& plan, const std::vector<Parameter>& parameters, const Target& target,
                       const std::string& made_for);
/// For CUDA: of a kernel, where the number of examples is open, else of a function of one thread.
std::string ptx_header(const FunctionPlan& plan, const std::vector<Parameter>& parameters,
                       const std::string& processor);
/// The comment in front of what is written.
std::string where_from(const FunctionPlan& plan, const Target& target, const std::string& made_for);

}  // namespace ricci::compiled
