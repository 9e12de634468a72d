// Loads of single elements and of rows.
#include "code/loads.h"

#include <algorithm>

namespace ricci::compiled {

Loads::Loads(LaneBuilder& b, const ScalarGraph& graph, const Stage& stage) : b_(b) {
  for (const auto* const nodes : {&stage.lane, &stage.turn})
    for (const Node n : *nodes)
      if (graph[n].kind == StepKind::load) ++counts_[part_of(graph[n])];
}

/// Parts are `width` long and lie in the row; that of a shorter row is the row.
std::int64_t Loads::first_of(const ScalarStep& load) const {
  return std::max<std::int64_t>(0, std::min(load.offset() / b_.width() * b_.width(), load.row() - b_.width()));
}

llvm::Value* Loads::read(const ScalarStep& load, llvm::Value* address, llvm::Value* place) {
  const DType d = load.dtype;
  const auto element = [&](llvm::Value* base, llvm::Value* from) {
    llvm::Value* const offset = llvm::ConstantInt::get(from->getType(), static_cast<std::uint64_t>(load.offset()));
    return b_.element(base, d, b_.CreateAdd(from, offset));
  };
  if (b_.width() == 1) return b_.load_element(d, element(b_.CreateIntToPtr(address, b_.getPtrTy()), place));
  llvm::Value* const first_address = b_.first_lane(address);
  llvm::Value* const base = b_.CreateIntToPtr(first_address, b_.getPtrTy());
  if (counts_[part_of(load)] == 1) {
    llvm::Value* const found =
        b_.CreateMaskedGather(b_.wide(b_.memory_type(d)), element(base, place), llvm::Align(element_size(d)));
    return b_.from_memory(found, d);
  }
  Columns& columns = read_[{address, place, first_of(load)}];
  if (columns.empty()) columns = read_rows(load, base, place);
  return b_.from_memory(columns[at(load.offset() - first_of(load))], d);
}

Loads::Columns Loads::read_rows(const ScalarStep& load, llvm::Value* base, llvm::Value* place) {
  const std::int64_t first = first_of(load);
  const int width = b_.width(), count = static_cast<int>(std::min<std::int64_t>(width, load.row()));
  llvm::Type* const row = b_.wide(b_.memory_type(load.dtype));
  llvm::SmallVector<llvm::Constant*> lies_in_row;
  for (int i = 0; i < width; ++i) lies_in_row.push_back(b_.getInt1(i < count));
  Columns rows;
  for (int lane = 0; lane < width; ++lane) {
    llvm::Value* const from = b_.CreateAdd(b_.CreateExtractElement(place, at(lane)), b_.count(first));
    llvm::Value* const pointer = b_.element(base, load.dtype, from);
    rows.push_back(count == width
                       ? b_.load_neighbours(load.dtype, pointer)
                       : b_.CreateMaskedLoad(row, pointer, llvm::Align(1), llvm::ConstantVector::get(lies_in_row)));
  }
  return b_.transposed(std::move(rows));
}

}  // namespace ricci::compiled
