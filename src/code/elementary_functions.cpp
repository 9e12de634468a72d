// Formulas as functions of a module.
#include "code/elementary_functions.h"

#include <llvm/IR/Module.h>

#include <algorithm>

namespace ricci::compiled {

std::vector<llvm::Value*> ElementaryFunctions::call(LaneBuilder& b, const std::vector<Word>& words, DType dtype,
                                                    llvm::Value* x) {
  llvm::Function*& f = made_[{words, dtype, b.width()}];
  if (!f) f = function(words, dtype, b.width());
  llvm::CallInst* const made = b.CreateCall(f, {x});
  made->setCallingConv(f->getCallingConv());
  if (words.size() == 1) return {made};
  std::vector<llvm::Value*> results;
  for (unsigned k = 0; k < words.size(); ++k) results.push_back(b.CreateExtractValue(made, k));
  return results;
}

llvm::Function* ElementaryFunctions::function(const std::vector<Word>& words, DType dtype, int width) {
  const CalledFunction& from = *plan_.function_of(words[0], dtype);
  const ScalarGraph& graph = from.program.graph;
  std::vector<Node> wanted;
  for (const Word word : words)
    wanted.push_back(from.program.outputs[at(std::ranges::find(from.words, word) - from.words.begin())].node);

  LaneBuilder b(module_.getContext(), width);
  Words instructions(b, machine_);
  llvm::Type* const one = b.type(dtype);
  llvm::Type* const all = words.size() == 1 ? one : llvm::StructType::get(one, one);
  llvm::Function* const f = llvm::Function::Create(llvm::FunctionType::get(all, {one}, false),
                                                   llvm::Function::InternalLinkage, "elementary", module_);
  set_attributes(*f, machine_);
  f->addFnAttr(llvm::Attribute::NoInline);
  f->setCallingConv(llvm::CallingConv::Intel_OCL_BI);  // half of the vector registers survive a call
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", f));
  std::map<Node, llvm::Value*> values;
  for (const Node n : graph.order(wanted)) {
    const ScalarStep& s = graph[n];
    llvm::SmallVector<llvm::Value*, 3> x;
    for (const Node operand : s.from)
      if (operand != no_node) x.push_back(values.at(operand));
    values[n] = s.kind == ScalarStep::Kind::input    ? f->getArg(0)
                : s.kind == ScalarStep::Kind::number ? b.bits_number(s.dtype, s.payload)
                                                     : instructions.result(s, graph[s.from[0]].dtype, x);
  }
  llvm::Value* result = values.at(wanted[0]);
  if (words.size() > 1) {
    result = llvm::PoisonValue::get(all);
    for (unsigned k = 0; k < wanted.size(); ++k) result = b.CreateInsertValue(result, values.at(wanted[k]), k);
  }
  b.CreateRet(result);
  return f;
}

}  // namespace ricci::compiled
