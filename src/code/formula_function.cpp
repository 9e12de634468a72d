// The nodes of a formula, one by one.
#include "code/formula_function.h"

#include <algorithm>
#include <map>

#include "code/words.h"

namespace ricci::compiled {

llvm::Function* write_formula(llvm::Module& module, const CalledFunction& from, const std::vector<Word>& words,
                              int width, const Machine& machine) {
  const ScalarGraph& graph = from.program.graph;
  std::vector<Node> wanted;
  for (const Word word : words)
    wanted.push_back(from.program.outputs[at(std::ranges::find(from.words, word) - from.words.begin())].node);

  LaneBuilder b(module.getContext(), width);
  Words instructions(b, machine);
  llvm::Type* const one = b.type(from.dtype);
  llvm::Type* const all = words.size() == 1 ? one : llvm::StructType::get(one, one);
  const llvm::SmallVector<llvm::Type*> parameters(from.program.inputs.size(), one);
  llvm::Function* const f = llvm::Function::Create(llvm::FunctionType::get(all, parameters, false),
                                                   llvm::Function::InternalLinkage, "elementary", module);
  set_attributes(*f, machine);
  f->addFnAttr(llvm::Attribute::NoInline);
  f->setCallingConv(inner_convention(module));
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", f));
  std::map<Node, llvm::Value*> values;
  for (const Node n : graph.order(wanted)) {
    const ScalarStep& s = graph[n];
    llvm::SmallVector<llvm::Value*, 3> x;
    for (const Node operand : s.from)
      if (operand != no_node) x.push_back(values.at(operand));
    values[n] = s.kind == StepKind::input    ? f->getArg(static_cast<unsigned>(s.payload))
                : s.kind == StepKind::number ? b.bits_number(s.dtype, s.payload)
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
