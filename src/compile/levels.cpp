// Levels, in one pass over the equations.
#include "compile/levels.h"

#include <algorithm>

namespace ricci::compiled {

std::vector<int> levels_of(const ProgramBody& body, const std::vector<bool>& apart) {
  std::vector<int> levels, of_variable(body.types.size(), 0);
  int effects = 0;
  for (std::size_t i = 0; i < body.equations.size(); ++i) {
    const Equation& e = body.equations[i];
    int level = 0;
    for (const Variable v : e.inputs) level = std::max(level, of_variable[static_cast<std::size_t>(v)]);
    const bool may_matter = apart[i] && (e.rules->effect != Effect::no_effect || e.rules->kind == Kind::custom);
    if (may_matter) level = effects = std::max(level, effects);
    levels.push_back(level);
    for (const Variable v : e.outputs) of_variable[static_cast<std::size_t>(v)] = level + (apart[i] ? 1 : 0);
  }
  return levels;
}

}  // namespace ricci::compiled
