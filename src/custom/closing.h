// What is left of a recording that ends as a closure. Whoever records a function, or makes a program from another, ends
// so.
#pragma once

#include <memory>
#include <vector>

#include "interpreters/record.h"
#include "ricci/function/closure.h"

namespace ricci::function {

/// The generators that a step draws from; where the next step's draws go on becomes outputs of the program. `name` is what
/// errors speak of.
std::vector<Generator*> end_streams(RecordInterpreter& record, const char* name);
/// The live equations of a body whose recording has ended, what it captured among the inputs.
Closure closed(const ProgramBody& body, const std::vector<Generator*>& streams);

}  // namespace ricci::function
