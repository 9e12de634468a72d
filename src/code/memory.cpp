// Places of elements.
#include "code/memory.h"

namespace ricci::compiled {

/// Read in the first block, so that it serves all.
llvm::Value* Memory::pointer(llvm::Value* list, std::map<int, llvm::Value*>& known, int tensor) {
  llvm::Value*& p = known[tensor];
  if (p) return p;
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  if (llvm::Instruction* end = entry->getTerminator()) b_.SetInsertPoint(end);
  else b_.SetInsertPoint(entry);
  return p = b_.CreateLoad(b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getPtrTy(), list, at(tensor)));
}

llvm::Value* Memory::place(const Place& p, llvm::Value* lane) {
  llvm::Value* where = b_.count(p.base);
  if (p.per_lane_count != 0) where = b_.CreateAdd(where, b_.CreateMul(lane_count, b_.count(p.per_lane_count)));
  if (lane && p.stride != 0) where = b_.CreateAdd(where, b_.CreateMul(lane, b_.count(p.stride)));
  return where;
}

}  // namespace ricci::compiled
