// What other folders must know of printing: which programs print, and how what is computed again prints nothing.
#pragma once

#include "program/program.h"

namespace ricci {

/// Whether this is an operation that prints, or draws a bar. Programs among its parameters do not count.
bool prints(const Rules& rules);
/// Whether an operation in the program prints.
bool prints(const Program& program);
/// The program, or the body of one, without the operations that print.
ProgramBody without_prints(ProgramBody body);
Program without_prints(const Program& program);

}  // namespace ricci
