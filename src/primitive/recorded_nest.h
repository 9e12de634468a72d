// The transforms inside which an equation of a program was recorded: where it runs, errors name them. Knows nothing of
// programs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "primitive/thread_context.h"

namespace ricci {

/// The innermost first, as errors name them: `vmap over axis 0 (train.cpp:41)`. How many examples a vmap has is said by
/// the call. Null: there are none.
using RecordedNest = std::shared_ptr<const std::vector<std::string>>;

/// Those of an equation inside a program that another equation runs.
RecordedNest joined(const RecordedNest& inner, const RecordedNest& outer);

/// The transforms that run inside a level, and those of the equations that run there: for each of many equations, most
/// of which have those of the one before.
class NestInside {
 public:
  explicit NestInside(Level outside) : outside_(outside) {}
  RecordedNest now();

 private:
  const Level outside_;
  // Of the last one:
  std::vector<std::uint64_t> entries_ = {};
  std::vector<RecordedNest> of_equations_ = {};
  RecordedNest nest_ = nullptr;
};

/// While it lives, an equation runs that was recorded inside these transforms.
class RunsInside {
 public:
  explicit RunsInside(const RecordedNest& nest);
  RunsInside(const RunsInside&) = delete;

  const RecordedNest& nest;
  const Level around;  // the level it runs at
  const RunsInside* const outer;

 private:
  const With<&ThreadContext::runs_inside> innermost_{this};
};

}  // namespace ricci
