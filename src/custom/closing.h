// The end of a recording that becomes a closure: of a user's function, or of a program made from another.
#pragma once

#include <memory>
#include <vector>

#include "custom/closure.h"
#include "interpreters/record.h"

namespace ricci::function {

/// Adds to the program's outputs, for each stream that the step draws from, the place where the next step goes on.
/// Returns the streams' generators. `name` is what errors speak of.
std::vector<Generator*> end_streams(RecordInterpreter& record, const char* name);
/// The live equations of a body whose recording has ended, what it captured among the inputs.
Closure closed(const ProgramBody& body, const std::vector<Generator*>& streams);

}  // namespace ricci::function
