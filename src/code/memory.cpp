// Places of elements.
#include "code/memory.h"

namespace ricci::compiled {

Memory::Memory(LaneBuilder& b, const LanePlan& plan) : b_(b), plan_(plan) {
  for (const Input& input : plan.program.inputs) ins_.count = std::max(ins_.count, input.place.tensor + 1);
  outs_.count = static_cast<int>(plan.program.output_dtypes.size());
}

/// Read in the first block, so that it serves all. Of more tensors than there are registers it is read where it is
/// used: else it would wait in memory, too.
llvm::Value* Memory::pointer(llvm::Value* list, Tensors& tensors, int tensor) {
  constexpr int few = 16;
  llvm::Type* const ptr = b_.getPtrTy();
  const auto read = [&] { return b_.CreateLoad(ptr, b_.CreateConstGEP1_64(ptr, list, at(tensor))); };
  const auto found = tensors.known.find(tensor);
  if (found != tensors.known.end()) return found->second;
  if (tensors.count > few) return read();
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  if (llvm::Instruction* end = entry->getTerminator()) b_.SetInsertPoint(end);
  else b_.SetInsertPoint(entry);
  return tensors.known[tensor] = read();
}

llvm::Value* Memory::place(const Place& p, llvm::Value* lane) {
  llvm::Value* where = b_.count(p.base);
  if (p.per_lane_count != 0) where = b_.CreateAdd(where, b_.CreateMul(lane_count, b_.count(p.per_lane_count)));
  if (lane && p.stride != 0) where = b_.CreateAdd(where, b_.CreateMul(lane, b_.count(p.stride)));
  return where;
}

}  // namespace ricci::compiled
