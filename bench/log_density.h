// density: the cases of log_density.cpp.
#pragma once

#include "cases.h"

namespace bench {

std::vector<Case> log_densities();

}  // namespace bench
