// Elementary functions as functions of a module: a call of one is an instruction to compile, its formula dozens.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "code/words.h"
#include "compile/plan.h"

namespace ricci::compiled {

/// Those that a plan calls.
class ElementaryFunctions {
 public:
  ElementaryFunctions(llvm::Module& module, const LanePlan& plan, const Machine& machine)
      : module_(module), plan_(plan), machine_(machine) {}

  /// What these words give for x, one or sin and cos together. Requires: the plan has them.
  std::vector<llvm::Value*> call(LaneBuilder& b, const std::vector<Word>& words, DType dtype, llvm::Value* x);

 private:
  llvm::Module& module_;
  const LanePlan& plan_;
  const Machine& machine_;
  std::map<std::tuple<std::vector<Word>, DType, int>, llvm::Function*> made_;
};

}  // namespace ricci::compiled
