// A plan as bytes: two plans with the same bytes get the same code from the same generator.
#pragma once

#include <string>

#include "compile/function_plan.h"

namespace ricci::compiled {

std::string key_of(const LanePlan& plan);
std::string key_of(const FunctionPlan& plan);

}  // namespace ricci::compiled
