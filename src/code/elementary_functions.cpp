// Each is written when it is first called.
#include "code/elementary_functions.h"

#include "code/formula_function.h"

namespace ricci::compiled {

std::vector<llvm::Value*> ElementaryFunctions::call(LaneBuilder& b, const std::vector<Word>& words, DType dtype,
                                                    llvm::Value* x) {
  llvm::Function*& f = made_[{words, dtype, b.width()}];
  if (!f) f = write_formula(module_, *plan_.function_of(words[0], dtype), words, b.width(), machine_);
  llvm::CallInst* const made = b.CreateCall(f, {x});
  made->setCallingConv(f->getCallingConv());
  if (words.size() == 1) return {made};
  std::vector<llvm::Value*> results;
  for (unsigned k = 0; k < words.size(); ++k) results.push_back(b.CreateExtractValue(made, k));
  return results;
}

}  // namespace ricci::compiled
