// The end of a recording that becomes a closure: of a user's function, or of a program made from another.
#pragma once

#include <memory>
#include <vector>

#include "custom/closure.h"
#include "interpreters/record.h"

namespace ricci::function {

/// Adds to the program's outputs, for each generator that the step draws from, the place that the next step's draws are
/// derived from. Returns the generators. `name` is what errors speak of.
std::vector<Generator*> end_streams(RecordInterpreter& record, const char* name);
/// The live equations of a body whose recording has ended, what it captured among the inputs. `streams`: the generators
/// that a step draws from. `steps`: null for a loop that is derived from another.
Closure closed(const ProgramBody& body, const std::vector<Generator*>& streams, const Steps* steps = nullptr);

}  // namespace ricci::function
