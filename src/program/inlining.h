// A program as it runs where nobody asks for derivatives: what it calls is inlined, and nothing is detached. Knows no
// operation by name.
#pragma once

#include <cstddef>
#include <cstdint>

#include "program/program.h"

namespace ricci {

/// The program that computes the same with the equations of called programs in the place of the calls, and x in the
/// place of `detach x`, also in the programs of loops and branches. Transforms find no rules of the called functions
/// there any more: it is for a program that only runs. It may have to be simplified again. A call stays where it would
/// bring in more than what is left of `most` equations.
Program inlined(const Program& program, std::size_t most = SIZE_MAX);

}  // namespace ricci
