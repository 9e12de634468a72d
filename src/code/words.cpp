// Instructions of words.
#include "code/words.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "code/formula_function.h"

namespace ricci::compiled {

void set_attributes(llvm::Function& f, const Machine& machine) {
  const std::string bits = std::to_string(machine.register_bytes * 8);
  f.addFnAttr("min-legal-vector-width", bits);
  f.addFnAttr("prefer-vector-width", bits);
  f.addFnAttr(llvm::Attribute::NoUnwind);
}

llvm::CallingConv::ID inner_convention(const llvm::Module& module) {
  const llvm::Triple target(module.getTargetTriple());
  return target.isX86()       ? llvm::CallingConv::Intel_OCL_BI
         : target.isAArch64() ? llvm::CallingConv::AArch64_VectorCall
                              : llvm::CallingConv::C;
}

std::string name_of_hole(std::size_t callee) { return "callee" + std::to_string(callee); }

llvm::Value* address_of(LaneBuilder& b, const Machine& machine, const Callee& callee) {
  std::vector<Callee>& all = *machine.callees;
  const auto number = static_cast<std::size_t>(std::ranges::find(all, callee) - all.begin());
  if (number == all.size()) all.push_back(callee);
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  llvm::GlobalVariable* hole = module.getNamedGlobal(name_of_hole(number));
  if (!hole) {
    auto* const ptr = b.getPtrTy();
    hole = new llvm::GlobalVariable(module, ptr, false, llvm::GlobalValue::ExternalLinkage,
                                    llvm::ConstantPointerNull::get(ptr), name_of_hole(number));
    hole->setVisibility(llvm::GlobalValue::HiddenVisibility);  // else code would reach it by an absolute address
  }
  return b.CreateLoad(b.getPtrTy(), hole);
}

void clear_upper_halves(LaneBuilder& b, const Machine& machine) {
  if (machine.register_bytes > 16) b.CreateIntrinsic(llvm::Intrinsic::x86_avx_vzeroupper, {}, {});
}

void return_to_others(LaneBuilder& b, const Machine& machine, llvm::Value* result) {
  clear_upper_halves(b, machine);
  if (result) b.CreateRet(result);
  else b.CreateRetVoid();
}

llvm::Value* Words::result(const ScalarStep& s, DType d, llvm::ArrayRef<llvm::Value*> x) {
  switch (s.kind) {
    case StepKind::select: return b_.CreateSelect(x[0], x[1], x[2]);
    case StepKind::convert:
      return s.payload == 1 ? b_.CreateUIToFP(x[0], b_.type(s.dtype)) : converted(x[0], d, s.dtype);
    case StepKind::bits: return b_.CreateBitCast(x[0], b_.type(s.dtype));
    default: return word(s.word, d, x);
  }
}

llvm::Value* Words::word(Word w, DType d, llvm::ArrayRef<llvm::Value*> x) {
  if (d == DType::boolean) return of_truth(w, x);
  llvm::Value* const y = is_float(d) ? of_floats(w, d, x) : of_integers(w, d, x);
  return y ? y : call(w, d, x);
}

llvm::Value* Words::of_truth(Word w, llvm::ArrayRef<llvm::Value*> x) {
  switch (w) {
    case Word::add:
    case Word::max:
    case Word::logical_or: return b_.CreateOr(x[0], x[1]);
    case Word::multiply:
    case Word::min:
    case Word::logical_and: return b_.CreateAnd(x[0], x[1]);
    case Word::logical_xor: return b_.CreateXor(x[0], x[1]);
    default: return b_.CreateNot(x[0]);
  }
}

llvm::Value* Words::of_floats(Word w, DType d, llvm::ArrayRef<llvm::Value*> x) {
  using I = llvm::Intrinsic::IndependentIntrinsics;
  switch (w) {
    case Word::add: return b_.CreateFAdd(x[0], x[1]);
    case Word::subtract: return b_.CreateFSub(x[0], x[1]);
    case Word::multiply: return b_.CreateFMul(x[0], x[1]);
    case Word::divide: return b_.CreateFDiv(x[0], x[1]);
    case Word::negative: return b_.CreateFNeg(x[0]);
    case Word::fma: return b_.CreateIntrinsic(I::fma, {x[0]->getType()}, {x[0], x[1], x[2]});
    case Word::abs: return unary(I::fabs, x[0]);
    case Word::sqrt: return unary(I::sqrt, x[0]);
    case Word::floor: return unary(I::floor, x[0]);
    case Word::ceil: return unary(I::ceil, x[0]);
    case Word::trunc: return unary(I::trunc, x[0]);
    case Word::round: return unary(I::roundeven, x[0]);
    case Word::copysign: return b_.CreateBinaryIntrinsic(I::copysign, x[0], x[1]);
    case Word::smaller: return b_.CreateSelect(b_.CreateFCmpOLT(x[0], x[1]), x[0], x[1]);
    case Word::larger: return b_.CreateSelect(b_.CreateFCmpOGT(x[0], x[1]), x[0], x[1]);
    case Word::min:
      return b_.CreateSelect(b_.CreateOr(b_.CreateFCmpOLT(x[0], x[1]), b_.CreateFCmpUNO(x[0], x[0])), x[0], x[1]);
    case Word::max:
      return b_.CreateSelect(b_.CreateOr(b_.CreateFCmpOGT(x[0], x[1]), b_.CreateFCmpUNO(x[0], x[0])), x[0], x[1]);
    case Word::sign: {
      llvm::Value* const positive =
          b_.CreateSelect(b_.CreateFCmpOGT(x[0], b_.number(d, 0)), b_.number(d, 1), b_.number(d, 0));
      return b_.CreateSelect(b_.CreateFCmpOLT(x[0], b_.number(d, 0)), b_.number(d, -1), positive);
    }
    case Word::equal: return b_.CreateFCmpOEQ(x[0], x[1]);
    case Word::not_equal: return b_.CreateFCmpUNE(x[0], x[1]);
    case Word::less: return b_.CreateFCmpOLT(x[0], x[1]);
    case Word::less_equal: return b_.CreateFCmpOLE(x[0], x[1]);
    case Word::greater: return b_.CreateFCmpOGT(x[0], x[1]);
    case Word::greater_equal: return b_.CreateFCmpOGE(x[0], x[1]);
    case Word::isnan: return b_.CreateFCmpUNO(x[0], x[0]);
    case Word::isinf: return b_.CreateFCmpOEQ(unary(I::fabs, x[0]), b_.number(d, HUGE_VAL));
    case Word::isfinite: return b_.CreateFCmpOLT(unary(I::fabs, x[0]), b_.number(d, HUGE_VAL));
    case Word::flip_sign:
    case Word::odd_sign: return of_bits(w, d, x);
    case Word::scale: return machine_.knows_exponents ? of_exponents(w, d, x) : scaled(d, x[0], x[1]);
    case Word::exponent: return machine_.knows_exponents ? of_exponents(w, d, x) : exponent(d, x[0]);
    case Word::mantissa: return machine_.knows_exponents ? of_exponents(w, d, x) : mantissa(d, x[0]);
    default: return nullptr;
  }
}

llvm::Value* Words::of_integers(Word w, DType d, llvm::ArrayRef<llvm::Value*> x) {
  using Test = llvm::CmpInst;
  const bool u = is_unsigned(d);
  const auto less = u ? Test::ICMP_ULT : Test::ICMP_SLT, less_equal = u ? Test::ICMP_ULE : Test::ICMP_SLE;
  const auto greater = u ? Test::ICMP_UGT : Test::ICMP_SGT, greater_equal = u ? Test::ICMP_UGE : Test::ICMP_SGE;
  switch (w) {
    case Word::add: return b_.CreateAdd(x[0], x[1]);
    case Word::subtract: return b_.CreateSub(x[0], x[1]);
    case Word::multiply: return b_.CreateMul(x[0], x[1]);
    case Word::negative: return b_.CreateNeg(x[0]);
    case Word::fma: return b_.CreateAdd(b_.CreateMul(x[0], x[1]), x[2]);
    case Word::abs:
      return u ? x[0] : b_.CreateSelect(b_.CreateICmpSLT(x[0], b_.number(d, 0)), b_.CreateNeg(x[0]), x[0]);
    case Word::floor:
    case Word::ceil:
    case Word::round:
    case Word::trunc: return x[0];
    case Word::min: return b_.CreateSelect(b_.CreateICmp(less, x[0], x[1]), x[0], x[1]);
    case Word::max: return b_.CreateSelect(b_.CreateICmp(greater, x[0], x[1]), x[0], x[1]);
    case Word::bit_and: return b_.CreateAnd(x[0], x[1]);
    case Word::bit_or: return b_.CreateOr(x[0], x[1]);
    case Word::bit_xor: return b_.CreateXor(x[0], x[1]);
    case Word::bit_not: return b_.CreateNot(x[0]);
    case Word::left_shift:
    case Word::right_shift: return shifted(w, d, x);
    case Word::trunc_div: return machine_.stands_alone() ? quotient(d, x) : nullptr;
    case Word::equal: return b_.CreateICmpEQ(x[0], x[1]);
    case Word::not_equal: return b_.CreateICmpNE(x[0], x[1]);
    case Word::less: return b_.CreateICmp(less, x[0], x[1]);
    case Word::less_equal: return b_.CreateICmp(less_equal, x[0], x[1]);
    case Word::greater: return b_.CreateICmp(greater, x[0], x[1]);
    case Word::greater_equal: return b_.CreateICmp(greater_equal, x[0], x[1]);
    case Word::isnan:
    case Word::isinf: return b_.spread(b_.getFalse());
    case Word::isfinite: return b_.spread(b_.getTrue());
    default: return nullptr;
  }
}

/// A shift by less than 0, or by as many bits as there are, leaves none; to the right, the sign stays.
llvm::Value* Words::shifted(Word w, DType d, llvm::ArrayRef<llvm::Value*> x) {
  const bool keeps_sign = w == Word::right_shift && !is_unsigned(d);
  const unsigned bits = x[0]->getType()->getScalarSizeInBits();
  llvm::Value *const zero = b_.number(d, 0), *const most = b_.number(d, keeps_sign ? bits - 1 : bits);
  llvm::Value* const is_inside = b_.CreateICmpULT(x[1], most);
  llvm::Value* const by = b_.CreateSelect(is_inside, x[1], keeps_sign ? most : zero);
  if (keeps_sign) return b_.CreateAShr(x[0], by);
  llvm::Value* const inside = w == Word::left_shift ? b_.CreateShl(x[0], by) : b_.CreateLShr(x[0], by);
  return b_.CreateSelect(is_inside, inside, zero);
}

/// Towards zero. Over 0 it is 0, and the most negative number over -1 wraps.
llvm::Value* Words::quotient(DType d, llvm::ArrayRef<llvm::Value*> x) {
  llvm::Value *const zero = b_.number(d, 0), *const one = b_.number(d, 1);
  llvm::Value* const is_over_zero = b_.CreateICmpEQ(x[1], zero);
  if (is_unsigned(d))
    return b_.CreateSelect(is_over_zero, zero, b_.CreateUDiv(x[0], b_.CreateSelect(is_over_zero, one, x[1])));
  llvm::Value* const is_turned = b_.CreateICmpEQ(x[1], b_.number(d, -1));
  llvm::Value* const divisor = b_.CreateSelect(b_.CreateOr(is_over_zero, is_turned), one, x[1]);
  llvm::Value* const turned = b_.CreateSelect(is_turned, b_.CreateNeg(x[0]), b_.CreateSDiv(x[0], divisor));
  return b_.CreateSelect(is_over_zero, zero, turned);
}

/// Words that are said by the bits of floats.
llvm::Value* Words::of_bits(Word w, DType d, llvm::ArrayRef<llvm::Value*> x) {
  llvm::Type* const bits = b_.bits_type(d);
  if (w == Word::flip_sign) {
    llvm::Value* const sign = b_.CreateBitCast(b_.number(d, -0.0), bits);
    llvm::Value* const flips = b_.CreateAnd(b_.CreateBitCast(x[1], bits), sign);
    return b_.CreateBitCast(b_.CreateXor(b_.CreateBitCast(x[0], bits), flips), x[0]->getType());
  }
  const bool single = d == DType::float32;
  llvm::Value* const shifted = b_.CreateFAdd(x[0], b_.number(d, single ? 0x1.8p23 : 0x1.8p52));
  llvm::Value* const odd =
      b_.CreateShl(b_.CreateBitCast(shifted, bits), llvm::ConstantInt::get(bits, single ? 31 : 63));
  return b_.CreateBitCast(odd, x[0]->getType());
}

/// By the instructions of AVX-512 for exponents, on the narrowest register that has these lanes.
llvm::Value* Words::of_exponents(Word w, DType d, llvm::ArrayRef<llvm::Value*> x) {
  using namespace llvm::Intrinsic;
  const int element = d == DType::float32 ? 4 : 8, needed = b_.width() * element;
  const int bytes = needed <= 16 ? 16 : needed <= 32 ? 32 : 64, lanes = bytes / element;
  const int size = bytes == 64 ? 0 : bytes == 32 ? 1 : 2;
  const auto pick = [&](std::array<ID, 6> ids) { return ids[at(size + (d == DType::float32 ? 3 : 0))]; };
  llvm::SmallVector<llvm::Value*, 3> wide;
  for (llvm::Value* v : x) wide.push_back(b_.widened(v, lanes));
  llvm::Value* const all = llvm::ConstantInt::getAllOnesValue(b_.getIntNTy(lanes > 8 ? 16 : 8));
  llvm::SmallVector<llvm::Value*, 5> arguments{wide[0]};
  ID id = not_intrinsic;
  if (w == Word::scale) {
    id = pick({x86_avx512_mask_scalef_pd_512, x86_avx512_mask_scalef_pd_256, x86_avx512_mask_scalef_pd_128,
               x86_avx512_mask_scalef_ps_512, x86_avx512_mask_scalef_ps_256, x86_avx512_mask_scalef_ps_128});
    arguments.push_back(wide[1]);
  } else if (w == Word::exponent) {
    id = pick({x86_avx512_mask_getexp_pd_512, x86_avx512_mask_getexp_pd_256, x86_avx512_mask_getexp_pd_128,
               x86_avx512_mask_getexp_ps_512, x86_avx512_mask_getexp_ps_256, x86_avx512_mask_getexp_ps_128});
  } else {
    id = pick({x86_avx512_mask_getmant_pd_512, x86_avx512_mask_getmant_pd_256, x86_avx512_mask_getmant_pd_128,
               x86_avx512_mask_getmant_ps_512, x86_avx512_mask_getmant_ps_256, x86_avx512_mask_getmant_ps_128});
    arguments.push_back(b_.getInt32(8));  // in [1, 2), NaN for negative numbers
  }
  arguments.push_back(wide[0]);
  arguments.push_back(all);
  if (size == 0) arguments.push_back(b_.getInt32(4));  // rounds as everything does
  return b_.narrowed(b_.CreateIntrinsic(id, {}, arguments));
}

// Where there are no such instructions: the steps of ricci/primitive/elementary.h, so the same bits.

namespace {
/// Of the bits of a floating number.
struct Layout {
  int mantissa_bits, bias;
  double two_to_mantissa_bits, smallest_normal;

  explicit Layout(DType d)
      : mantissa_bits(d == DType::float32 ? 23 : 52),
        bias(d == DType::float32 ? 127 : 1023),
        two_to_mantissa_bits(d == DType::float32 ? 0x1p23 : 0x1p52),
        smallest_normal(d == DType::float32 ? 0x1p-126 : 0x1p-1022) {}
};
}  // namespace

/// x * 2^n, in two steps: 2^n alone may overflow.
llvm::Value* Words::scaled(DType d, llvm::Value* x, llvm::Value* n) {
  const Layout layout(d);
  llvm::Type* const bits = b_.bits_type(d);
  const auto power_of_two = [&](llvm::Value* k) {
    llvm::Value* const biased = b_.CreateFAdd(k, b_.number(d, 1.5 * layout.two_to_mantissa_bits + layout.bias));
    llvm::Value* const places = llvm::ConstantInt::get(bits, at(layout.mantissa_bits));
    return b_.CreateBitCast(b_.CreateShl(b_.CreateBitCast(biased, bits), places), x->getType());
  };
  llvm::Value* const half = unary(llvm::Intrinsic::floor, b_.CreateFMul(n, b_.number(d, 0.5)));
  return b_.CreateFMul(b_.CreateFMul(x, power_of_two(half)), power_of_two(b_.CreateFSub(n, half)));
}

llvm::Value* Words::exponent(DType d, llvm::Value* x) {
  const Layout layout(d);
  llvm::Type *const bits = b_.bits_type(d), *const numbers = x->getType();
  llvm::Value* const shift = b_.number(d, layout.two_to_mantissa_bits);
  llvm::Value* const size = unary(llvm::Intrinsic::fabs, x);
  llvm::Value* const is_subnormal = b_.CreateFCmpOLT(size, b_.number(d, layout.smallest_normal));
  llvm::Value* const normal = b_.CreateSelect(is_subnormal, b_.CreateFMul(size, shift), size);
  llvm::Value* const places = llvm::ConstantInt::get(bits, at(layout.mantissa_bits));
  llvm::Value* const field = b_.CreateLShr(b_.CreateBitCast(normal, bits), places);
  llvm::Value* const shifted = b_.CreateBitCast(b_.CreateOr(field, b_.CreateBitCast(shift, bits)), numbers);
  llvm::Value* const bias =
      b_.CreateSelect(is_subnormal, b_.number(d, layout.bias + layout.mantissa_bits), b_.number(d, layout.bias));
  llvm::Value* const found = b_.CreateFSub(b_.CreateFSub(shifted, shift), bias);
  llvm::Value* const finite = b_.CreateFCmpOLT(size, b_.number(d, HUGE_VAL));
  llvm::Value* const is_zero = b_.CreateFCmpOEQ(size, b_.number(d, 0));
  return b_.CreateSelect(is_zero, b_.number(d, -HUGE_VAL), b_.CreateSelect(finite, found, size));
}

llvm::Value* Words::mantissa(DType d, llvm::Value* x) {
  const Layout layout(d);
  llvm::Type *const bits = b_.bits_type(d), *const numbers = x->getType();
  llvm::Value *const zero = b_.number(d, 0), *const one = b_.number(d, 1);
  llvm::Value* const is_subnormal = b_.CreateFCmpOLT(x, b_.number(d, layout.smallest_normal));
  llvm::Value* const normal =
      b_.CreateSelect(is_subnormal, b_.CreateFMul(x, b_.number(d, layout.two_to_mantissa_bits)), x);
  llvm::Value* const ones = llvm::ConstantInt::get(bits, (std::uint64_t{1} << layout.mantissa_bits) - 1);
  llvm::Value* const fraction = b_.CreateAnd(b_.CreateBitCast(normal, bits), ones);
  llvm::Value* const found = b_.CreateBitCast(b_.CreateOr(fraction, b_.CreateBitCast(one, bits)), numbers);
  llvm::Value* const result = b_.CreateSelect(b_.CreateFCmpOEQ(x, zero), one, found);
  return b_.CreateSelect(b_.CreateFCmpOGE(x, zero), result, b_.number(d, std::nan("")));
}

llvm::Value* Words::call_alone(Word w, DType d, llvm::ArrayRef<llvm::Value*> x) {
  if (const char* const name = machine_.name_in_libm(w, d)) return call_in_libm(name, d, x);
  llvm::Module& module = *b_.GetInsertBlock()->getModule();
  const std::string name = "word" + std::to_string(static_cast<int>(w)) + "_" + std::to_string(static_cast<int>(d)) +
                           "_" + std::to_string(b_.width());
  llvm::Function* f = module.getFunction(name);
  if (!f) {
    const std::optional<CalledFunction> formula = machine_.formula_of(w, d);
    if (!formula) return machine_.lacking->emplace_back(w, d), llvm::PoisonValue::get(x[0]->getType());
    f = write_formula(module, *formula, {w}, b_.width(), machine_);
    f->setName(name);
  }
  llvm::CallInst* const made = b_.CreateCall(f, x);
  made->setCallingConv(f->getCallingConv());
  return made;
}

/// libm's functions take one element.
llvm::Value* Words::call_in_libm(const char* name, DType d, llvm::ArrayRef<llvm::Value*> x) {
  llvm::Type* const one = b_.scalar_type(d);
  llvm::SmallVector<llvm::Type*, 3> types(x.size(), one);
  llvm::Value* sign = nullptr;  // of Gamma, which nobody reads
  if (llvm::StringRef(name).ends_with("_r")) {
    llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
    sign = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(b_.getInt32Ty());
    types.push_back(b_.getPtrTy());
  }
  llvm::Module& module = *b_.GetInsertBlock()->getModule();
  const llvm::FunctionCallee f = module.getOrInsertFunction(name, llvm::FunctionType::get(one, types, false));
  const auto call = [&](llvm::SmallVector<llvm::Value*, 3> arguments) {
    if (sign) arguments.push_back(sign);
    clear_upper_halves(b_, machine_);
    llvm::CallInst* const made = b_.CreateCall(f, arguments);
    made->addFnAttr(llvm::Attribute::NoUnwind);
    return made;
  };
  if (b_.width() == 1) return call({x.begin(), x.end()});
  llvm::Value* all = llvm::PoisonValue::get(x[0]->getType());
  for (int lane = 0; lane < b_.width(); ++lane) {
    llvm::SmallVector<llvm::Value*, 3> arguments;
    for (llvm::Value* v : x) arguments.push_back(b_.CreateExtractElement(v, at(lane)));
    all = b_.CreateInsertElement(all, call(arguments), at(lane));
  }
  return all;
}

llvm::Value* Words::call(Word w, DType d, llvm::ArrayRef<llvm::Value*> x) {
  if (machine_.stands_alone()) return call_alone(w, d, x);
  const auto bits = static_cast<int>(b_.scalar_type(d)->getScalarSizeInBits());
  const int lanes = machine_.library_register_bytes * 8 / bits;
  llvm::Type* const whole = llvm::FixedVectorType::get(b_.scalar_type(d), at(lanes));
  llvm::SmallVector<llvm::Value*, 3> arguments;
  for (llvm::Value* v : x) arguments.push_back(b_.widened(v, lanes));
  if (machine_.calls_in_memory) return b_.narrowed(call_in_memory(w, d, whole, arguments));
  const llvm::SmallVector<llvm::Type*, 3> types(arguments.size(), whole);
  auto* const signature = llvm::FunctionType::get(whole, types, false);
  llvm::Value* const f = address_of(b_, machine_, {.what = Callee::What::word, .word = w, .dtype = d});
  llvm::CallInst* const made = b_.CreateCall(signature, f, arguments);
  made->addFnAttr(llvm::Attribute::NoUnwind);
  return b_.narrowed(made);
}

llvm::Value* Words::call_in_memory(Word w, DType d, llvm::Type* whole, llvm::ArrayRef<llvm::Value*> x) {
  llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
  const auto room = [&](std::size_t registers) {
    return llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(whole, b_.getInt64(registers));
  };
  llvm::Value *const operands = room(x.size()), *const result = room(1);
  for (unsigned k = 0; k < x.size(); ++k) b_.store_raw(x[k], b_.CreateConstGEP1_64(whole, operands, k));
  auto* const ptr = b_.getPtrTy();
  auto* const i32 = b_.getInt32Ty();
  auto* const signature = llvm::FunctionType::get(b_.getVoidTy(), {i32, i32, ptr, ptr}, false);
  b_.CreateCall(
        signature, address_of(b_, machine_, {Callee::What::word_in_memory}),
        {b_.getInt32(static_cast<std::uint32_t>(w)), b_.getInt32(static_cast<std::uint32_t>(d)), operands, result})
      ->addFnAttr(llvm::Attribute::NoUnwind);
  return b_.CreateAlignedLoad(whole, result, llvm::Align(1));
}

llvm::Value* Words::folded(Word w, DType d, llvm::Value* x) {
  for (int half = b_.width() / 2; half > 0; half /= 2) {
    llvm::SmallVector<int> low, high;
    for (int i = 0; i < half; ++i) low.push_back(i), high.push_back(half + i);
    const LaneBuilder::Width narrower(b_, half);
    x = word(w, d, {b_.CreateShuffleVector(x, x, low), b_.CreateShuffleVector(x, x, high)});
  }
  return b_.first_lane(x);
}

}  // namespace ricci::compiled
