// Which equations of a program wait for which others.
#pragma once

#include <vector>

#include "program/program.h"

namespace ricci::compiled {

/// The level of each equation. Equations that are not `apart` are joined, those of one level in one piece of code, and
/// stand in front of the equations of their level that are apart. These stand in front of the next level. What has an
/// effect keeps its order. Requires: what has an effect is apart.
std::vector<int> levels_of(const ProgramBody& body, const std::vector<bool>& apart);

}  // namespace ricci::compiled
