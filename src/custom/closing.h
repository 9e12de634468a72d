// How a recording becomes a closure: of a user's function, or of a program made from another.
#pragma once

#include <vector>

#include "custom/closure.h"
#include "interpreters/recorder.h"

namespace ricci::function {

constexpr Records records_for(Runs runs) { return runs == Runs::many ? Records::step : Records::part; }

/// Adds to the outputs, for each generator that a step draws from, the place that the next step's draws are derived
/// from. Returns the generators.
std::vector<Generator*> end_streams(const Recorder& recorder);
/// Ends the recording, its streams included. `steps`: null for a loop that is derived from another.
Closure closed(Recorder& recorder, const Steps* steps = nullptr);
/// The live equations of a body whose recording has ended, what it captured among the inputs. `streams`: the generators
/// that a step draws from.
Closure closed(const ProgramBody& body, const std::vector<Generator*>& streams, const Steps* steps = nullptr);

}  // namespace ricci::function
