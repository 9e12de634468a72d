// Places of elements.
#include "code/memory.h"

namespace ricci::compiled {

Memory::Memory(LaneBuilder& b, const LanePlan& plan) : b_(b), plan_(plan) {
  for (const Input& input : plan.program.inputs) ins_.count = std::max(ins_.count, input.place.tensor + 1);
  ins_.count = std::max(ins_.count, plan.program.rows + 1);
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
  if (lane && p.stride != 0) where = b_.CreateAdd(where, b_.CreateMul(lane, stride(p.stride, p.tensor)));
  return where;
}

/// Lengths of rows are read in the first block, so that they serve all.
llvm::Value* Memory::stride(std::int64_t of_place, int tensor) {
  if (of_place != Place::input_row && of_place != Place::output_row) return b_.count(of_place);
  const std::size_t outputs = plan_.program.output_dtypes.size();
  const std::size_t number = at(tensor) + (of_place == Place::input_row ? outputs : 0);
  llvm::Value*& known = rows_[number];
  if (known) return known;
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  if (llvm::Instruction* end = entry->getTerminator()) b_.SetInsertPoint(end);
  else b_.SetInsertPoint(entry);
  llvm::Value* const lengths = input(plan_.program.rows);
  return known = b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt64Ty(), lengths, number));
}

}  // namespace ricci::compiled
