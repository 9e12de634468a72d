// What other folders must know of printing: which programs print, and how what is computed again prints nothing.
#pragma once

#include <cstdint>

#include "program/program.h"

namespace ricci {

/// Whether the operation prints, but for what programs among its parameters do.
bool prints(const Rules& rules);
/// Whether an operation in the program prints.
bool prints(const Program& program);
/// The program, or the body of one, without the operations that print.
ProgramBody without_prints(ProgramBody body);
Program without_prints(const Program& program);

/// While it lives, this thread prints no line.
class PrintsNothing {
 public:
  explicit PrintsNothing(bool prints_nothing = true);
  PrintsNothing(const PrintsNothing&) = delete;
  ~PrintsNothing();

 private:
  const bool before_;
};

/// How many lines this thread has come to, but for those of PrintsNothing: printed, or left out.
std::int64_t lines_so_far();

/// While it lives, this thread leaves out the first lines that it comes to, so many: it has printed them.
class LeavesOutLines {
 public:
  explicit LeavesOutLines(std::int64_t lines);
  LeavesOutLines(const LeavesOutLines&) = delete;
  ~LeavesOutLines();

 private:
  const std::int64_t before_;
};

}  // namespace ricci
