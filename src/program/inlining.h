// A program as it runs where nobody asks for derivatives: what it calls is inlined, and nothing is detached. Knows no
// operation by name.
#pragma once

#include <cstddef>
#include <cstdint>

#include "program/program.h"

namespace ricci {

/// A program that computes the same: the equations of called programs stand in the place of the calls, and x in the
/// place of `detach x`, also in the programs of loops and branches. The result is for running alone: transforms find no
/// rules of the called functions in it. It may have to be simplified again. Called programs bring in at most `most`
/// equations in all: a call that would bring in more stays a call.
Program inlined(const Program& program, std::size_t most = SIZE_MAX);

}  // namespace ricci
