// Values of neighbouring lanes.
#include "code/lane_builder.h"

#include <numeric>

namespace ricci::compiled {

llvm::Type* LaneBuilder::scalar_type(DType d) {
  switch (d) {
    case DType::boolean: return getInt1Ty();
    case DType::uint8:
    case DType::int8: return getInt8Ty();
    case DType::int16:
    case DType::bfloat16: return getInt16Ty();
    case DType::int32: return getInt32Ty();
    case DType::int64: return getInt64Ty();
    case DType::float16: return getHalfTy();
    case DType::float32: return getFloatTy();
    default: return getDoubleTy();
  }
}

llvm::Value* LaneBuilder::number(DType d, double x) {
  llvm::Type* const t = type(d);
  if (t->isFPOrFPVectorTy()) return llvm::ConstantFP::get(t, x);
  return llvm::ConstantInt::get(t, static_cast<std::uint64_t>(static_cast<std::int64_t>(x)), true);
}

llvm::Value* LaneBuilder::bits_number(DType d, std::uint64_t bits) {
  llvm::Type* const t = scalar_type(d);
  if (d == DType::boolean) return spread(getInt1(bits & 1));
  if (t->isIntegerTy()) return spread(llvm::ConstantInt::get(t, bits));
  const llvm::APInt pattern(t->getScalarSizeInBits(), bits);
  return spread(llvm::ConstantFP::get(getContext(), llvm::APFloat(t->getFltSemantics(), pattern)));
}

llvm::Value* LaneBuilder::numbers_from(llvm::Value* first) {
  if (width_ == 1) return first;
  llvm::SmallVector<llvm::Constant*> numbers;
  for (int lane = 0; lane < width_; ++lane) numbers.push_back(getInt64(at(lane)));
  return CreateAdd(spread(first), llvm::ConstantVector::get(numbers));
}

llvm::Value* LaneBuilder::from_memory(llvm::Value* x, DType d) {
  return d == DType::boolean ? CreateICmpNE(x, llvm::Constant::getNullValue(x->getType())) : x;
}
llvm::Value* LaneBuilder::to_memory(llvm::Value* x, DType d) {
  if (d != DType::boolean) return x;
  llvm::Type* t = getInt8Ty();
  if (auto* v = llvm::dyn_cast<llvm::FixedVectorType>(x->getType()))
    t = llvm::FixedVectorType::get(t, v->getNumElements());
  return CreateZExt(x, t);
}
llvm::Value* LaneBuilder::load_element(DType d, llvm::Value* p) {
  return from_memory(CreateAlignedLoad(memory_type(d), p, llvm::Align(1)), d);
}
llvm::Value* LaneBuilder::load_neighbours(DType d, llvm::Value* p) {
  return CreateAlignedLoad(wide(memory_type(d)), p, llvm::Align(1));
}

llvm::Value* LaneBuilder::widened(llvm::Value* x, int lanes) {
  if (width_ == lanes) return x;
  if (width_ == 1) return CreateVectorSplat(at(lanes), x);
  llvm::SmallVector<int> mask;
  for (int i = 0; i < lanes; ++i) mask.push_back(i < width_ ? i : 0);
  return CreateShuffleVector(x, x, mask);
}
llvm::Value* LaneBuilder::narrowed(llvm::Value* x) {
  if (width_ == 1) return CreateExtractElement(x, std::uint64_t{0});
  const auto lanes = static_cast<int>(llvm::cast<llvm::FixedVectorType>(x->getType())->getNumElements());
  if (lanes == width_) return x;
  llvm::SmallVector<int> mask(at(width_));
  std::iota(mask.begin(), mask.end(), 0);
  return CreateShuffleVector(x, x, mask);
}

std::vector<llvm::Value*> LaneBuilder::transposed(std::vector<llvm::Value*> rows) {
  for (int half = width_ / 2; half > 0; half /= 2) {
    std::vector<llvm::Value*> next(rows.size());
    llvm::SmallVector<int> low, high;
    for (int i = 0; i < width_; ++i) {
      const bool upper = (i & half) != 0;
      low.push_back(upper ? width_ + i - half : i);
      high.push_back(upper ? width_ + i : i + half);
    }
    for (int i = 0; i < width_; ++i) {
      if (i & half) continue;
      next[at(i)] = CreateShuffleVector(rows[at(i)], rows[at(i + half)], low);
      next[at(i + half)] = CreateShuffleVector(rows[at(i)], rows[at(i + half)], high);
    }
    rows = next;
  }
  return rows;
}

}  // namespace ricci::compiled
