// Conversions between types, as the library's own.
#include "code/words.h"

namespace ricci::compiled {

llvm::Value* Words::converted(llvm::Value* x, DType from, DType to) {
  if (from == DType::bfloat16) return converted(widened_bfloat16(x), DType::float32, to);
  if (from == DType::float16 && to != DType::float32)
    return converted(b_.CreateFPExt(x, b_.type(DType::float32)), DType::float32, to);
  if (to == DType::boolean)
    return is_float(from) ? b_.CreateFCmpUNE(x, b_.number(from, 0)) : b_.CreateICmpNE(x, b_.number(from, 0));
  if (to == DType::float16 || to == DType::bfloat16) {
    llvm::Value* const single = converted(x, from, DType::float32);
    return to == DType::float16 ? b_.CreateFPTrunc(single, b_.type(to)) : narrowed_bfloat16(single);
  }
  if (from == to) return x;
  const bool from_float = is_float(from) || from == DType::float16;
  if (from_float && is_float(to))
    return to == DType::float64 || from == DType::float16 ? b_.CreateFPExt(x, b_.type(to))
                                                          : b_.CreateFPTrunc(x, b_.type(to));
  if (is_float(to)) return is_unsigned(from) ? b_.CreateUIToFP(x, b_.type(to)) : b_.CreateSIToFP(x, b_.type(to));
  if (from_float) {
    llvm::Value* const whole = b_.CreateFPToSI(x, b_.type(to == DType::int64 ? DType::int64 : DType::int32));
    return b_.CreateSExtOrTrunc(whole, b_.type(to));
  }
  return is_unsigned(from) ? b_.CreateZExtOrTrunc(x, b_.type(to)) : b_.CreateSExtOrTrunc(x, b_.type(to));
}

llvm::Value* Words::widened_bfloat16(llvm::Value* x) {
  llvm::Value* const bits = b_.CreateZExt(x, b_.type(DType::int32));
  return b_.CreateBitCast(b_.CreateShl(bits, b_.number(DType::int32, 16)), b_.type(DType::float32));
}
llvm::Value* Words::narrowed_bfloat16(llvm::Value* x) {
  llvm::Value* const bits = b_.CreateBitCast(x, b_.type(DType::int32));
  const auto shifted = [&](llvm::Value* v) { return b_.CreateLShr(v, b_.number(DType::int32, 16)); };
  llvm::Value* const nan = b_.CreateOr(shifted(bits), b_.number(DType::int32, 0x40));
  llvm::Value* const last = b_.CreateAnd(shifted(bits), b_.number(DType::int32, 1));
  llvm::Value* const rounded = shifted(b_.CreateAdd(b_.CreateAdd(bits, b_.number(DType::int32, 0x7fff)), last));
  return b_.CreateTrunc(b_.CreateSelect(b_.CreateFCmpUNO(x, x), nan, rounded), b_.type(DType::bfloat16));
}

}  // namespace ricci::compiled
