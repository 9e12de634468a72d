// What tells code of one build of the library, on one kind of processor, from code of another.
#pragma once

#include <string>

namespace ricci::compiled {

/// Empty where it cannot be told.
std::string build_identity();

}  // namespace ricci::compiled
