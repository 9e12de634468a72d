// Programs as object files with a function in C.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "program/program.h"
#include "ricci/transforms/runs.h"

namespace ricci::compiled {

/// What the header calls the function's parameters: the arguments, then the results.
struct ExportedNames {
  std::vector<std::string> arguments, results;
};

/// Writes `path`.o, `path`.h and `path`.hpp. Requires: the program is simplified; where sizes are open, it is in a
/// call; its last inputs are captured tensors, whose values the file holds. `any_number_of_examples`: one size is open
/// then, and the object's functions take it. `target`: as in ExportOptions. Throws ValueError where the path's last
/// part is no name in C, where there is no such target, or where a file cannot be written; NotImplementedError where an
/// equation has no code but the library's.
void export_program(const Program& program, std::span<const Tensor> captured, const ExportedNames& names,
                    bool any_number_of_examples, const std::string& target, const std::string& path,
                    const runs::Place& where);

}  // namespace ricci::compiled
