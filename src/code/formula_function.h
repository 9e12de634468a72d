// Formulas of words as functions of a module.
#pragma once

#include <llvm/IR/Module.h>

#include <vector>

#include "compile/code.h"

namespace ricci::compiled {

/// Of registers of `width` lanes: gives what the formula gives for these of its words, one or two.
llvm::Function* write_formula(llvm::Module& module, const CalledFunction& from, const std::vector<Word>& words,
                              int width, const Machine& machine);

}  // namespace ricci::compiled
