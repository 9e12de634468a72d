// LLVM's builder of instructions, for values of `width` neighbouring lanes: types, numbers, elements of memory,
// shuffles. With a width of 1 a value is one element. Knows nothing of words and plans.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <vector>

#include "compile/scalar_graph.h"
#include "ricci/dtype.h"
#include "tensor/at.h"

namespace ricci::compiled {

inline bool is_unsigned(DType d) { return d == DType::uint8 || d == DType::boolean; }

class LaneBuilder : public llvm::IRBuilder<> {
 public:
  LaneBuilder(llvm::LLVMContext& context, int width) : IRBuilder(context), width_(width) {}

  int width() const { return width_; }
  /// While it lives, values are of another width.
  class Width {
   public:
    Width(LaneBuilder& of, int width) : of_(of), before_(of.width_) { of.width_ = width; }
    Width(const Width&) = delete;
    ~Width() { of_.width_ = before_; }

   private:
    LaneBuilder& of_;
    int before_;
  };

  // ── types and numbers ──

  llvm::Type* scalar_type(DType d);  ///< as it is computed
  llvm::Type* memory_type(DType d) { return d == DType::boolean ? getInt8Ty() : scalar_type(d); }
  llvm::Type* wide(llvm::Type* t) { return width_ == 1 ? t : llvm::FixedVectorType::get(t, at(width_)); }
  llvm::Type* type(DType d) { return wide(scalar_type(d)); }
  /// An integer type of the same size.
  llvm::Type* bits_type(DType d) { return type(d == DType::float32 ? DType::int32 : DType::int64); }
  llvm::Value* spread(llvm::Value* x) { return width_ == 1 ? x : CreateVectorSplat(at(width_), x); }
  llvm::Value* number(DType d, double x);
  llvm::Value* bits_number(DType d, std::uint64_t bits);
  /// Integers of 64 bits: `first` in the first lane, one more in each that follows.
  llvm::Value* numbers_from(llvm::Value* first);
  llvm::Value* count(std::int64_t n) { return getInt64(static_cast<std::uint64_t>(n)); }

  // ── memory ──

  llvm::Value* element(llvm::Value* p, DType d, llvm::Value* place) { return CreateGEP(memory_type(d), p, place); }
  /// What was read from memory as it is computed, and back.
  llvm::Value* from_memory(llvm::Value* x, DType d);
  llvm::Value* to_memory(llvm::Value* x, DType d);
  /// One element.
  llvm::Value* load_element(DType d, llvm::Value* p);
  /// `width` neighbours, as they lie in memory.
  llvm::Value* load_neighbours(DType d, llvm::Value* p);
  void store(llvm::Value* x, DType d, llvm::Value* p) { store_raw(to_memory(x, d), p); }
  void store_raw(llvm::Value* x, llvm::Value* p) { CreateAlignedStore(x, p, llvm::Align(1)); }

  // ── lanes ──

  llvm::Value* first_lane(llvm::Value* x) { return width_ == 1 ? x : CreateExtractElement(x, std::uint64_t{0}); }
  llvm::Value* with_last_lane(llvm::Value* x, llvm::Value* last) {
    return width_ == 1 ? last : CreateInsertElement(x, last, at(width_ - 1));
  }
  /// More lanes: the others repeat the first.
  llvm::Value* widened(llvm::Value* x, int lanes);
  /// The first `width` lanes.
  llvm::Value* narrowed(llvm::Value* x);
  /// width × width elements, by halves.
  std::vector<llvm::Value*> transposed(std::vector<llvm::Value*> rows);

 private:
  int width_;
};

}  // namespace ricci::compiled
