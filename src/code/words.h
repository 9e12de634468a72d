// Words of formulas, and conversions between types, as instructions. Knows nothing of plans.
#pragma once

#include <string>

#include "code/lane_builder.h"
#include "compile/code.h"

namespace ricci::compiled {

/// Of every function: registers as wide as the machine's, and no exceptions.
void set_attributes(llvm::Function& f, const Machine& machine);

/// Of functions that are called in their module alone: half of the vector registers survive a call.
llvm::CallingConv::ID inner_convention(const llvm::Module& module);

/// Stands where code of others goes on, which may know nothing of registers wider than 16 bytes (x86's): such code is
/// slow while their upper halves are in use.
void clear_upper_halves(LaneBuilder& b, const Machine& machine);
/// Returns to code of others; `result` is null where there is none.
void return_to_others(LaneBuilder& b, const Machine& machine, llvm::Value* result);

/// The address of what code calls, as a value: it is read from a hole in the image, which has this name.
std::string name_of_hole(std::size_t callee);
llvm::Value* address_of(LaneBuilder& b, const Machine& machine, const Callee& callee);

/// Writes words at the builder's place, of the builder's width.
class Words {
 public:
  Words(LaneBuilder& b, const Machine& machine) : b_(b), machine_(machine) {}

  /// What a step gives for these operands, the first of which is of type `d` (of a `select`, the truth value).
  llvm::Value* result(const ScalarStep& s, DType d, llvm::ArrayRef<llvm::Value*> x);
  /// Of operands of type `d`. Where there is no instruction, a call of the library's function.
  llvm::Value* word(Word w, DType d, llvm::ArrayRef<llvm::Value*> x);
  llvm::Value* converted(llvm::Value* x, DType from, DType to);
  /// The library's own function of a whole register. Where code stands alone: libm's of each element, or a formula.
  llvm::Value* call(Word w, DType d, llvm::ArrayRef<llvm::Value*> x);
  /// All lanes joined by the word, by halves.
  llvm::Value* folded(Word w, DType d, llvm::Value* x);

 private:
  llvm::Value* call_alone(Word w, DType d, llvm::ArrayRef<llvm::Value*> x);
  llvm::Value* call_in_libm(const char* name, DType d, llvm::ArrayRef<llvm::Value*> x);
  llvm::Value* call_in_memory(Word w, DType d, llvm::Type* whole, llvm::ArrayRef<llvm::Value*> x);
  llvm::Value* of_truth(Word w, llvm::ArrayRef<llvm::Value*> x);
  llvm::Value* of_floats(Word w, DType d, llvm::ArrayRef<llvm::Value*> x);
  llvm::Value* of_integers(Word w, DType d, llvm::ArrayRef<llvm::Value*> x);
  llvm::Value* shifted(Word w, DType d, llvm::ArrayRef<llvm::Value*> x);
  llvm::Value* quotient(DType d, llvm::ArrayRef<llvm::Value*> x);
  llvm::Value* of_bits(Word w, DType d, llvm::ArrayRef<llvm::Value*> x);
  llvm::Value* of_exponents(Word w, DType d, llvm::ArrayRef<llvm::Value*> x);
  llvm::Value* scaled(DType d, llvm::Value* x, llvm::Value* n);
  llvm::Value* exponent(DType d, llvm::Value* x);
  llvm::Value* mantissa(DType d, llvm::Value* x);
  llvm::Value* unary(llvm::Intrinsic::ID id, llvm::Value* x) { return b_.CreateUnaryIntrinsic(id, x); }
  llvm::Value* widened_bfloat16(llvm::Value* x);
  llvm::Value* narrowed_bfloat16(llvm::Value* x);

  LaneBuilder& b_;
  const Machine& machine_;
};

}  // namespace ricci::compiled
