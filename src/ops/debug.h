// What other folders must know of printing: which programs print, and how what is computed again prints nothing.
#pragma once

#include <cstdint>

#include "program/program.h"
#include "tensor/thread_context.h"

namespace ricci {

/// Whether this is an operation that prints, or draws a bar. Programs among its parameters do not count.
bool prints(const Rules& rules);
/// Whether an operation in the program prints.
bool prints(const Program& program);
/// The program, or the body of one, without the operations that print.
ProgramBody without_prints(ProgramBody body);
Program without_prints(const Program& program);

/// While it lives, this thread prints no line.
using PrintsNothing = With<&ThreadContext::prints_nothing>;

/// While it lives, this thread leaves out the next lines, as many as `lines`: it has printed them before.
class LeavesOutLines {
 public:
  explicit LeavesOutLines(std::int64_t lines);
  LeavesOutLines(const LeavesOutLines&) = delete;
  ~LeavesOutLines();

 private:
  const std::int64_t before_;
};

}  // namespace ricci
