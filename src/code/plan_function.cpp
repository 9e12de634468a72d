// Steps of a plan as code. Sizes and places are numbers here.
#include "code/plan_function.h"

#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/TargetParser/Triple.h>

#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "code/plan_functions.h"
#include "code/registers.h"
#include "code/words.h"
#include "compile/pieces.h"

namespace ricci::compiled {
namespace {

/// How the function gets arguments, results and the workspace: each as a parameter of its own, or in lists, followed by
/// what steps of the library are given. Without a workspace as a parameter, as on NVIDIA's processors, the workspace is
/// on the stack, which each thread has. A kernel has a last parameter: the place where a thread notes a failure.
enum class Parameters { one_by_one, in_lists, without_workspace };

class PlanFunction {
 public:
  PlanFunction(llvm::Module& module, const FunctionPlan& plan, const Machine& machine, Parameters parameters)
      : module_(module), plan_(plan), machine_(machine), parameters_(parameters), b_(module.getContext(), 1) {}

  std::string write() {
    begin();
    if (is_kernel()) run_examples_of_thread(*plan_.open);
    else if (plan_.open) run_blocks(*plan_.open);
    else run(plan_.steps);
    return_to_others(b_, machine_, is_kernel() ? nullptr : b_.getInt32(0));
    b_.SetInsertPoint(fails_);
    if (is_kernel()) b_.CreateStore(b_.getInt32(1), failed());
    return_to_others(b_, machine_, is_kernel() ? nullptr : b_.getInt32(1));
    if (module_.getFunction(plan_.name))
      return "the object calls a function called " + plan_.name + "; choose another name";
    function_->setName(plan_.name);
    if (!in_place_.empty()) keep_in_registers(module_, *function_);
    return {};
  }

 private:
  using Value = llvm::Value*;

  void begin() {
    const std::size_t last = has_workspace() || is_kernel() ? 1 : 0;
    const std::size_t count = is_in_lists() ? 4 : plan_.arguments + plan_.results + last;
    llvm::SmallVector<llvm::Type*> parameters(count, b_.getPtrTy());
    if (plan_.open) parameters.insert(parameters.begin(), b_.getInt64Ty());
    auto* const type = llvm::FunctionType::get(is_kernel() ? b_.getVoidTy() : b_.getInt32Ty(), parameters, false);
    // Its name comes last: a function that the code calls may have that name.
    function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "exported", module_);
    if (is_kernel()) function_->setCallingConv(llvm::CallingConv::PTX_Kernel);
    set_attributes(*function_, machine_);
    entry_ = block("entry"), fails_ = block("fails");
    b_.SetInsertPoint(entry_);
    if (!has_workspace()) {
      workspace_ = on_stack(b_.getInt8Ty(), at(plan_.workspace_bytes));
      llvm::cast<llvm::AllocaInst>(workspace_)->setAlignment(llvm::Align(16));
    }
    for (const std::string& bytes : plan_.constants) {
      auto* const data = llvm::ConstantDataArray::getString(b_.getContext(), bytes, false);
      auto* const constant = new llvm::GlobalVariable(module_, data->getType(), true,
                                                      llvm::GlobalValue::InternalLinkage, data, "constant");
      constant->setAlignment(llvm::Align(64));
      constants_.push_back(constant);
    }
  }
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(b_.getContext(), name, function_); }
  Value count(std::int64_t n) { return b_.count(n); }

  bool is_in_lists() const { return parameters_ == Parameters::in_lists; }
  bool has_workspace() const { return parameters_ != Parameters::without_workspace; }
  bool is_kernel() const { return !has_workspace() && plan_.open; }
  Value parameter(std::size_t i) { return function_->getArg(static_cast<unsigned>(i)); }
  Value in_list(Value list, std::size_t i) {
    return b_.CreateLoad(b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getPtrTy(), list, i));
  }
  /// Of those that stand one by one, arguments first.
  Value array(std::size_t i) { return parameter(plan_.open ? i + 1 : i); }
  Value argument(std::size_t i) {
    if (!of_block_.empty()) return of_block_[i];
    return is_in_lists() ? listed(arguments_, 0, i) : array(i);
  }
  Value result(std::size_t i) {
    if (!of_block_.empty()) return of_block_[plan_.arguments + i];
    return is_in_lists() ? listed(results_, 1, i) : array(plan_.arguments + i);
  }
  /// Read once, in the first block.
  Value listed(std::map<std::size_t, Value>& known, std::size_t list, std::size_t i) {
    Value& pointer = known[i];
    if (pointer) return pointer;
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    b_.SetInsertPoint(entry_, entry_->begin());
    return pointer = in_list(parameter(list), i);
  }
  Value behind_arrays() { return array(plan_.arguments + plan_.results); }
  Value workspace() { return workspace_ ? workspace_ : is_in_lists() ? parameter(2) : behind_arrays(); }
  Value failed() { return behind_arrays(); }
  Value in_workspace(std::int64_t offset) {
    const auto behind = own_.upper_bound(offset);
    if (behind == own_.begin()) return moved(workspace(), count(offset));
    const auto& [begin, part] = *std::prev(behind);
    const bool is_inside = offset < begin + part.bytes;
    return is_inside ? moved(part.memory, count(offset - begin)) : moved(workspace(), count(offset));
  }
  Value moved(Value pointer, Value bytes) { return b_.CreateGEP(b_.getInt8Ty(), pointer, bytes); }
  Value pointer(const Location& l) {
    switch (l.in) {
      case Location::In::argument: return moved(argument(l.number), count(l.offset));
      case Location::In::result: return moved(result(l.number), count(l.offset));
      case Location::In::constant: return moved(constants_[l.number], count(l.offset));
      case Location::In::state: return moved(states_[l.number].first, count(l.offset));
      case Location::In::records: return moved(first_record(l.number), count(l.offset));
      case Location::In::next_state: return moved(states_[l.number].second, count(l.offset));
      default: return in_workspace(l.offset);
    }
  }
  /// Memory on the stack, once for all turns of a loop around it.
  Value on_stack(llvm::Type* type, std::size_t elements) {
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    b_.SetInsertPoint(entry_, entry_->begin());
    return b_.CreateAlloca(llvm::ArrayType::get(type, elements));
  }

  /// f(i) for each i below n. In registers each i is a number: what stands at places that are not known does not.
  void repeat(std::int64_t n, const std::function<void(Value)>& f) {
    if (n == 1 || is_in_registers_) {
      for (std::int64_t i = 0; i < n; ++i) f(count(i));
      return;
    }
    if (n == 0) return;
    repeat(count(n), f);
  }
  /// Requires: n is at least 1.
  void repeat(Value n, const std::function<void(Value)>& f) {
    auto *const loop = block("loop"), *const done = block("done"), *const before = b_.GetInsertBlock();
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    llvm::PHINode* const i = b_.CreatePHI(b_.getInt64Ty(), 2);
    f(i);
    Value const next = b_.CreateAdd(i, count(1));
    i->addIncoming(count(0), before), i->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpSLT(next, n), loop, done);
    b_.SetInsertPoint(done);
  }

  void run(const std::vector<Step>& steps) {
    for (const Step& step : steps) std::visit([&](const auto& s) { run(s); }, step.what);
  }

  // ── examples ──

  std::vector<OpenExamples::Rows> rows_of(const OpenExamples& open) {
    std::vector<OpenExamples::Rows> rows = open.arguments;
    rows.insert(rows.end(), open.results.begin(), open.results.end());
    return rows;
  }
  /// No array has more, and none fewer than 0.
  void require_count(Value n, const std::vector<OpenExamples::Rows>& rows) {
    std::int64_t most_bytes = 1;
    for (const OpenExamples::Rows& of : rows) most_bytes = std::max(most_bytes, of.bytes);
    go_on_if(b_.CreateICmpULE(n, count(INT64_MAX / most_bytes)));
  }

  /// Thread number t of T computes examples t, t + T, ….
  void run_examples_of_thread(const OpenExamples& open) {
    const std::vector<OpenExamples::Rows> rows = rows_of(open);
    Value const n = parameter(0);
    require_count(n, rows);
    const auto special = [&](llvm::Intrinsic::ID id) {
      return b_.CreateZExt(b_.CreateIntrinsic(id, {}, {}), b_.getInt64Ty());
    };
    Value const in_block = special(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x);
    Value const before = b_.CreateMul(special(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x), in_block);
    Value const thread = b_.CreateAdd(before, special(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x));
    Value const threads = b_.CreateMul(special(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x), in_block);
    auto *const head = block("head"), *const next = block("example"), *const done = block("done");
    auto* const first = b_.GetInsertBlock();
    b_.CreateBr(head);
    b_.SetInsertPoint(head);
    llvm::PHINode* const i = b_.CreatePHI(b_.getInt64Ty(), 2);
    i->addIncoming(thread, first);
    b_.CreateCondBr(b_.CreateICmpSLT(i, n), next, done);
    b_.SetInsertPoint(next);
    for (std::size_t k = 0; k < rows.size(); ++k) of_block_.push_back(example(rows[k], array(k), i));
    run(plan_.steps);
    i->addIncoming(b_.CreateAdd(i, threads), b_.GetInsertBlock());
    b_.CreateBr(head);
    b_.SetInsertPoint(done);
  }

  /// The steps for each block. Fewer examples than a block has stand in copies, with the last one repeated.
  void run_blocks(const OpenExamples& open) {
    Value const n = parameter(0), of_block = count(open.of_block);
    const std::vector<OpenExamples::Rows> rows = rows_of(open);
    require_count(n, rows);
    auto *const some = block("some"), *const next = block("block"), *const behind = block("behind"),
               *const done = block("done");
    b_.CreateCondBr(b_.CreateICmpEQ(n, count(0)), done, some);
    b_.SetInsertPoint(some);
    Value const are_few = b_.CreateICmpSLT(n, of_block);
    Value const last = b_.CreateSelect(are_few, count(0), b_.CreateSub(n, of_block));  // example of the last block
    do_if(are_few, [&] {
      Value const last_example = b_.CreateSub(n, count(1));
      repeat(of_block, [&](Value i) {
        Value const source = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, i, last_example);
        for (std::size_t k = 0; k < plan_.arguments; ++k)
          copy_example(rows[k], in_workspace(rows[k].copy), i, array(k), source);
      });
    });
    auto* const before = b_.GetInsertBlock();
    b_.CreateBr(next);
    b_.SetInsertPoint(next);
    llvm::PHINode* const first = b_.CreatePHI(b_.getInt64Ty(), 2);
    first->addIncoming(count(0), before);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      Value const own = example(rows[k], array(k), first);
      of_block_.push_back(rows[k].has_examples() ? b_.CreateSelect(are_few, in_workspace(rows[k].copy), own) : own);
    }
    run(plan_.steps);
    Value const following = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(first, of_block), last);
    first->addIncoming(following, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpEQ(first, last), behind, next);
    b_.SetInsertPoint(behind);
    do_if(are_few, [&] {
      repeat(n, [&](Value i) {
        for (std::size_t k = plan_.arguments; k < rows.size(); ++k)
          copy_example(rows[k], array(k), i, in_workspace(rows[k].copy), i);
      });
    });
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
  }
  Value example(const OpenExamples::Rows& rows, Value base, Value i) {
    return rows.has_examples() ? moved(base, b_.CreateMul(i, count(rows.bytes))) : base;
  }
  void copy_example(const OpenExamples::Rows& rows, Value to, Value i, Value from, Value source) {
    if (rows.has_examples()) copy_bytes(example(rows, to, i), example(rows, from, source), rows.bytes);
  }
  void do_if(Value truth, const std::function<void()>& f) {
    auto *const then = block("then"), *const next = block("next");
    b_.CreateCondBr(truth, then, next);
    b_.SetInsertPoint(then);
    f();
    b_.CreateBr(next);
    b_.SetInsertPoint(next);
  }

  // ── copies ──

  void copy_element(Value to, Value from, std::int64_t bytes) {
    const llvm::Align any(1);
    if (is_in_registers_) return static_cast<void>(b_.CreateMemCpy(to, any, from, any, count(bytes)));  // of any type
    llvm::Type* const type = b_.getIntNTy(static_cast<unsigned>(8 * bytes));
    b_.CreateAlignedStore(b_.CreateAlignedLoad(type, from, llvm::Align(1)), to, llvm::Align(1));
  }

  void run(const CopyStep& s) {
    std::int64_t elements = 1;
    bool lies_row_by_row = true;
    for (std::size_t axis = s.shape.size(); axis-- > 0; elements *= s.shape[axis])
      lies_row_by_row = lies_row_by_row && (s.strides[axis] == elements || s.shape[axis] == 1);
    if (lies_row_by_row) copy_elements(pointer(s.to), pointer(s.from), elements * element_bytes(s.dtype), s.dtype);
    else copy_axis(s, 0, pointer(s.from), count(0));
  }
  /// `row`: the number of the row in the result, of those along the axes before this one.
  void copy_axis(const CopyStep& s, std::size_t axis, Value from, Value row) {
    if (axis == s.shape.size()) {
      const Value to = moved(pointer(s.to), b_.CreateMul(row, count(element_bytes(s.dtype))));
      return copy_element(to, from, element_bytes(s.dtype));
    }
    repeat(s.shape[axis], [&](Value i) {
      const Value next = moved(from, b_.CreateMul(i, count(s.strides[axis] * element_bytes(s.dtype))));
      copy_axis(s, axis + 1, next, b_.CreateAdd(b_.CreateMul(row, count(s.shape[axis])), i));
    });
  }

  void run(const MoveStep& s) {
    const Value from = pointer(s.from), to = pointer(s.to), table = pointer(s.table);
    repeat(s.count, [&](Value i) {
      const auto element = [&](std::uint64_t of_pair, Value base) {
        Value const place = b_.CreateAdd(b_.CreateMul(i, count(2)), b_.getInt64(of_pair));
        Value number = b_.CreateLoad(b_.getInt32Ty(), b_.CreateGEP(b_.getInt32Ty(), table, place));
        if (is_in_registers_) number = number_in(s.table, place);
        return moved(base, b_.CreateMul(b_.CreateZExt(number, b_.getInt64Ty()), count(element_bytes(s.dtype))));
      };
      copy_element(element(0, to), element(1, from), element_bytes(s.dtype));
    });
  }

  /// Of a table of 32-bit numbers.
  Value number_in(const Location& table, Value place) {
    const std::uint64_t bytes = 4 * llvm::cast<llvm::ConstantInt>(place)->getZExtValue();
    std::uint32_t number = 0;
    std::memcpy(&number, plan_.constants[table.number].data() + at(table.offset) + bytes, sizeof number);
    return b_.getInt32(number);
  }

  // ── elements at places ──

  /// In bytes, from where a table and its values begin.
  struct AtPlace {
    Value table, value;
    std::vector<Value> indices;  // by index
  };
  void run(const PlacesStep& s) {
    const Value table = s.totals ? in_workspace(*s.totals) : pointer(s.table);
    if (s.totals) convert_elements(table, DType::float64, pointer(s.table), s.dtype, s.elements);
    AtPlace first{table, pointer(s.values), {}};
    for (const PlacesStep::Index& index : s.indices) first.indices.push_back(pointer(index.where));
    go_along(s, 0, first);
    if (s.totals) convert_elements(pointer(s.table), s.dtype, table, DType::float64, s.elements);
  }
  static std::int64_t bytes_in_table(const PlacesStep& s) {
    return static_cast<std::int64_t>(element_size(s.totals ? DType::float64 : s.dtype));
  }
  void go_along(const PlacesStep& s, std::size_t axis, AtPlace place) {
    const auto bytes = static_cast<std::int64_t>(element_size(s.dtype));
    if (axis == s.index_axes) place.table = place_named(s, place);
    if (axis >= s.index_axes && s.what != AtPlaces::What::adds && lies_in_a_row(s, axis)) {
      const bool reads = s.what == AtPlaces::What::reads;
      return copy_bytes(reads ? place.value : place.table, reads ? place.table : place.value,
                        elements_from(s, axis) * bytes);
    }
    if (axis == s.shape.size()) return add_element(s, place);
    repeat(s.shape[axis], [&](Value i) {
      const auto next = [&](Value p, std::int64_t step) { return moved(p, b_.CreateMul(i, count(step))); };
      AtPlace inner{next(place.table, s.table_strides[axis] * bytes_in_table(s)),
                    next(place.value, s.value_strides[axis] * bytes), place.indices};
      for (std::size_t k = 0; k < s.indices.size() && axis < s.index_axes; ++k)
        inner.indices[k] = next(place.indices[k], 8 * s.indices[k].strides[axis]);
      go_along(s, axis + 1, inner);
    });
  }
  static std::int64_t elements_from(const PlacesStep& s, std::size_t axis) {
    std::int64_t elements = 1;
    for (; axis < s.shape.size(); ++axis) elements *= s.shape[axis];
    return elements;
  }
  static bool lies_in_a_row(const PlacesStep& s, std::size_t axis) {
    for (std::int64_t elements = elements_from(s, axis); axis < s.shape.size(); ++axis) {
      if (s.shape[axis] == 1) continue;
      elements /= std::max<std::int64_t>(s.shape[axis], 1);
      if (s.table_strides[axis] != elements || s.value_strides[axis] != elements) return false;
    }
    return true;
  }
  Value place_named(const PlacesStep& s, const AtPlace& place) {
    Value table = place.table;
    for (std::size_t k = 0; k < s.indices.size(); ++k) {
      const PlacesStep::Index& index = s.indices[k];
      Value const number = b_.CreateLoad(b_.getInt64Ty(), place.indices[k]);
      Value const from_back = b_.CreateAdd(number, count(index.size));
      Value const from_front =
          s.wraps ? b_.CreateSelect(b_.CreateICmpSLT(number, count(0)), from_back, number) : number;
      go_on_if(b_.CreateICmpULT(from_front, count(index.size)));
      table = moved(table, b_.CreateMul(from_front, count(index.step * bytes_in_table(s))));
    }
    return table;
  }
  void add_element(const PlacesStep& s, const AtPlace& place) {
    const DType total = s.totals ? DType::float64 : s.dtype;
    Words words(b_, machine_);
    Value const value = words.converted(b_.load_element(s.dtype, place.value), s.dtype, total);
    b_.store(words.word(Word::add, total, {b_.load_element(total, place.table), value}), total, place.table);
  }
  void convert_elements(Value to, DType to_type, Value from, DType from_type, std::int64_t elements) {
    repeat(elements, [&](Value i) {
      Value const x = b_.load_element(from_type, b_.element(from, from_type, i));
      b_.store(Words(b_, machine_).converted(x, from_type, to_type), to_type, b_.element(to, to_type, i));
    });
  }

  void run(const CheckStep& s) {
    const Value numbers = pointer(s.numbers);
    repeat(s.count, [&](Value i) {
      go_on_if(is_allowed(s.allowed, b_.load_element(s.dtype, b_.element(numbers, s.dtype, i)), s.dtype));
    });
  }
  Value is_allowed(const Allowed& allowed, Value x, DType d) {
    if (allowed.reals) {
      Value const real = Words(b_, machine_).converted(x, d, DType::float64);
      return b_.CreateAnd(b_.CreateFCmpOGE(real, b_.number(DType::float64, allowed.reals->low)),
                          b_.CreateFCmpOLE(real, b_.number(DType::float64, allowed.reals->high)));
    }
    Value const number = widened(x, d);
    Value const is_between =
        b_.CreateAnd(b_.CreateICmpSGE(number, count(allowed.least)), b_.CreateICmpSLE(number, count(allowed.most)));
    return allowed.zero ? is_between : b_.CreateAnd(is_between, b_.CreateICmpNE(number, count(0)));
  }

  void run(const FillStep& s) {
    const Value takes_part = pointer(s.takes_part), from = pointer(s.from), to = pointer(s.to);
    Value const first = on_stack(b_.getInt64Ty(), 1);
    repeat(s.groups, [&](Value group) {
      const Value before = b_.CreateMul(group, count(s.rows));
      const auto row = [&](Value base, Value i) {
        return moved(base, b_.CreateMul(b_.CreateAdd(before, i), count(s.row_bytes)));
      };
      const auto flag = [&](Value i) { return is_true(moved(takes_part, b_.CreateAdd(before, i))); };
      b_.CreateStore(count(0), first);
      repeat(s.rows, [&](Value i) {  // from the last one to the first
        Value const k = b_.CreateSub(count(s.rows - 1), i);
        b_.CreateStore(b_.CreateSelect(flag(k), k, b_.CreateLoad(b_.getInt64Ty(), first)), first);
      });
      repeat(s.rows, [&](Value i) {
        Value const source = b_.CreateSelect(flag(i), i, b_.CreateLoad(b_.getInt64Ty(), first));
        copy_bytes(row(to, i), row(from, source), s.row_bytes);
      });
    });
  }
  void run(const RunningStep& s) {
    Words words(b_, machine_);
    Value const total = on_stack(b_.memory_type(s.total_type), 1);
    const Value from = pointer(s.from), to = pointer(s.to);
    repeat(s.outer, [&](Value outer) {
      repeat(s.inner, [&](Value inner) {
        const auto element = [&](Value base, DType d, Value i) {
          Value const row = b_.CreateAdd(b_.CreateMul(outer, count(s.count)), i);
          return b_.element(base, d, b_.CreateAdd(b_.CreateMul(row, count(s.inner)), inner));
        };
        const auto read = [&](Value i) {
          return words.converted(b_.load_element(s.from_type, element(from, s.from_type, i)), s.from_type,
                                 s.total_type);
        };
        const auto put = [&](Value x, Value i) {
          b_.store(x, s.total_type, total);
          b_.store(words.converted(x, s.total_type, s.to_type), s.to_type, element(to, s.to_type, i));
        };
        const Value first = count(s.is_backward ? s.count - 1 : 0);
        put(read(first), first);
        repeat(s.count - 1, [&](Value k) {
          Value const i = s.is_backward ? b_.CreateSub(count(s.count - 2), k) : b_.CreateAdd(k, count(1));
          put(words.word(s.word, s.total_type, {b_.load_element(s.total_type, total), read(i)}), i);
        });
      });
    });
  }
  void run(const ConvertStep& s) { convert_elements(pointer(s.to), s.to_type, pointer(s.from), s.from_type, s.count); }

  // ── products ──

  void run(const ProductStep& s) { multiply(s, 0, pointer(s.a.where), pointer(s.b.where), pointer(s.c), s.m * s.n); }
  void multiply(const ProductStep& s, std::size_t axis, Value a, Value b, Value c, std::int64_t elements) {
    const auto bytes = static_cast<std::int64_t>(element_size(s.dtype));
    if (axis < s.batch.size()) {
      std::int64_t inner = elements;
      for (std::size_t i = axis + 1; i < s.batch.size(); ++i) inner *= s.batch[i];
      return repeat(s.batch[axis], [&](Value i) {
        const auto next = [&](Value p, std::int64_t step) { return moved(p, b_.CreateMul(i, count(step * bytes))); };
        multiply(s, axis + 1, next(a, s.a.steps[axis]), next(b, s.b.steps[axis]), next(c, inner), elements);
      });
    }
    if (!has_workspace()) return multiply_here(s, a, b, c);
    constexpr std::uint32_t row_major = 101, as_it_is = 111, transposed = 112;  // of cblas.h
    llvm::Type *const i32 = b_.getInt32Ty(), *const ptr = b_.getPtrTy(), *const real = b_.scalar_type(s.dtype);
    auto* const type = llvm::FunctionType::get(
        b_.getVoidTy(), {i32, i32, i32, i32, i32, i32, real, ptr, i32, ptr, i32, real, ptr, i32}, false);
    const auto number = [&](std::int64_t n) { return b_.getInt32(static_cast<std::uint32_t>(n)); };
    const auto order = [&](bool turned) { return b_.getInt32(turned ? transposed : as_it_is); };
    const llvm::FunctionCallee gemm =
        module_.getOrInsertFunction(s.dtype == DType::float64 ? "cblas_dgemm" : "cblas_sgemm", type);
    b_.CreateCall(gemm, {b_.getInt32(row_major), order(s.a.is_transposed), order(s.b.is_transposed), number(s.m),
                         number(s.n), number(s.k), b_.number(s.dtype, 1), a, number(s.a.leading), b,
                         number(s.b.leading), b_.number(s.dtype, 0), c, number(std::max<std::int64_t>(s.n, 1))});
  }

  /// By loops: there is no library.
  void multiply_here(const ProductStep& s, Value a, Value b, Value c) {
    Words words(b_, machine_);
    const auto element = [&](const ProductStep::Factor& of, Value base, Value row, Value column) {
      Value const outer = of.is_transposed ? column : row, inner = of.is_transposed ? row : column;
      return b_.element(base, s.dtype, b_.CreateAdd(b_.CreateMul(outer, count(of.leading)), inner));
    };
    repeat(s.m, [&](Value i) {
      repeat(s.n, [&](Value j) {
        Value const total = b_.element(c, s.dtype, b_.CreateAdd(b_.CreateMul(i, count(s.n)), j));
        b_.store(b_.number(s.dtype, 0), s.dtype, total);
        repeat(s.k, [&](Value k) {
          Value const x = b_.load_element(s.dtype, element(s.a, a, i, k));
          Value const y = b_.load_element(s.dtype, element(s.b, b, k, j));
          b_.store(words.word(Word::fma, s.dtype, {x, y, b_.load_element(s.dtype, total)}), s.dtype, total);
        });
      });
    });
  }

  // ── what the library computes ──

  void run(const CallStep& s) {
    std::vector<Value> in, out;
    for (const Location& l : s.in) in.push_back(pointer(l));
    for (const Location& l : s.out) out.push_back(pointer(l));
    call_step(s.number, in, out);
  }
  void call_step(std::int64_t number, const std::vector<Value>& from, const std::vector<Value>& to) {
    Value const in = on_stack(b_.getPtrTy(), from.size()), out = on_stack(b_.getPtrTy(), to.size());
    for (std::size_t k = 0; k < from.size(); ++k) put(in, k, from[k]);
    for (std::size_t k = 0; k < to.size(); ++k) put(out, k, to[k]);
    go_on_if_zero(call_library(Callee::What::call_step, b_.getInt32Ty(), {parameter(3), count(number), in, out}));
  }
  Value call_library(Callee::What function, llvm::Type* result, llvm::ArrayRef<Value> arguments) {
    llvm::SmallVector<llvm::Type*> types;
    for (Value x : arguments) types.push_back(x->getType());
    clear_upper_halves(b_, machine_);
    llvm::CallInst* const made =
        b_.CreateCall(llvm::FunctionType::get(result, types, false), address_of(b_, machine_, {function}), arguments);
    made->addFnAttr(llvm::Attribute::NoUnwind);
    return made;
  }
  void go_on_if_zero(Value answer) { go_on_if(b_.CreateICmpEQ(answer, b_.getInt32(0))); }
  void go_on_if(Value truth) {
    auto* const next = block("next");
    b_.CreateCondBr(truth, next, fails_);
    b_.SetInsertPoint(next);
  }
  /// A whole number as one of 64 bits.
  Value widened(Value x, DType d) {
    return d == DType::boolean || is_unsigned(d) ? b_.CreateZExt(x, b_.getInt64Ty())
                                                 : b_.CreateSExt(x, b_.getInt64Ty());
  }

  // ── loops and branches ──

  /// Memory of a loop's own is the function's, where the loop's state may stand in registers: so LLVM sees each use.
  void run(const LoopStep& s) {
    const bool begins = s.is_in_registers && !is_in_registers_;
    if (begins) {
      is_in_registers_ = true;
      for (const WorkspacePart& part : s.own) {
        Value const memory = on_stack(b_.getInt8Ty(), at(part.bytes));
        llvm::cast<llvm::AllocaInst>(memory)->setAlignment(llvm::Align(64));
        own_[part.offset] = {part.bytes, memory};
      }
    }
    for (const CopyStep& copy : s.begin) run(copy);
    turn(s);
    for (const CopyStep& copy : s.end) run(copy);
    if (!begins) return;
    is_in_registers_ = false;
    own_.clear();
  }
  void turn(const LoopStep& s) {
    auto *const head = block("head"), *const turn = block("turn"), *const done = block("done");
    auto* const before = b_.GetInsertBlock();
    b_.CreateBr(head);
    b_.SetInsertPoint(head);
    llvm::PHINode* const i = b_.CreatePHI(b_.getInt64Ty(), 2);
    i->addIncoming(count(0), before);
    const std::vector<llvm::PHINode*> alternating = begin_states(s, before);
    Value const turns =
        s.counted_by ? b_.CreateLoad(b_.getInt64Ty(), records_of(*s.counted_by).count) : count(s.most_turns);
    Value const has_turns = b_.CreateICmpSLT(i, turns);
    if (s.condition.empty()) {
      b_.CreateCondBr(has_turns, turn, done);
    } else {
      run(s.condition);
      auto* const goes_on = block("goes_on");
      b_.CreateCondBr(is_true(pointer(s.truth)), goes_on, done);
      b_.SetInsertPoint(goes_on);
      b_.CreateCondBr(has_turns, turn, is_in_lists() ? beyond_limit(s.limit) : fails_);
    }
    b_.SetInsertPoint(turn);
    if (is_in_lists()) ask_now_and_then(i);
    if (s.records) add_record(*s.records, i);
    Value const row = s.is_backward ? b_.CreateSub(b_.CreateSub(turns, count(1)), i) : static_cast<Value>(i);
    for (const RowCopy& copy : s.reads)
      copy_elements(pointer(copy.row), row_of(copy, row), copy.bytes, copy.dtype);
    run(s.body);
    for (const RowCopy& copy : s.writes)
      copy_elements(row_of(copy, row), pointer(copy.row), copy.bytes, copy.dtype);
    for (const CopyStep& copy : s.next) run(copy);
    if (is_in_registers_)
      for (const AlternatingState& state : s.states)
        copy_elements(pointer(state.first), pointer(state.second), state.bytes, state.dtype);
    i->addIncoming(b_.CreateAdd(i, count(1)), b_.GetInsertBlock());
    for (std::size_t k = 0; k < alternating.size() / 2; ++k) {
      const auto& [state, next] = states_[s.states[k].number];
      alternating[2 * k]->addIncoming(next, b_.GetInsertBlock());
      alternating[2 * k + 1]->addIncoming(state, b_.GetInsertBlock());
    }
    b_.CreateBr(head);
    b_.SetInsertPoint(done);
    if (s.records) b_.CreateStore(i, records_of(*s.records).count);
    end_states(s, i);
  }
  /// Addresses on the stack of: the first record, how many records fit, how many were made.
  struct RecordsPlace {
    Value first_record = nullptr, capacity = nullptr, count = nullptr;
  };
  const RecordsPlace& records_of(std::size_t number) {
    RecordsPlace& place = records_[number];
    if (place.count) return place;
    place = {on_stack(b_.getPtrTy(), 1), on_stack(b_.getInt64Ty(), 1), on_stack(b_.getInt64Ty(), 1)};
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    b_.SetInsertPoint(llvm::cast<llvm::Instruction>(place.first_record)->getNextNode());
    b_.CreateStore(llvm::ConstantPointerNull::get(b_.getPtrTy()), place.first_record);
    b_.SetInsertPoint(llvm::cast<llvm::Instruction>(place.capacity)->getNextNode());
    b_.CreateStore(count(0), place.capacity);
    return place;
  }
  Value first_record(std::size_t number) {
    const std::optional<std::int64_t> offset = plan_.records[number].offset;
    return offset ? in_workspace(*offset) : b_.CreateLoad(b_.getPtrTy(), records_of(number).first_record);
  }
  /// Room for the record of this turn.
  void add_record(std::size_t number, Value turn) {
    if (plan_.records[number].offset) return;
    const RecordsPlace& place = records_of(number);
    auto *const grows = block("grows"), *const has_room = block("has_room"), *const next = block("next");
    Value const capacity = b_.CreateLoad(b_.getInt64Ty(), place.capacity);
    b_.CreateCondBr(b_.CreateICmpSLT(turn, capacity), next, grows);
    b_.SetInsertPoint(grows);
    Value const room =
        call_library(Callee::What::grow, b_.getPtrTy(), {parameter(3), b_.getInt64(number), place.capacity});
    b_.CreateCondBr(b_.CreateIsNotNull(room), has_room, fails_);
    b_.SetInsertPoint(has_room);
    b_.CreateStore(room, place.first_record);
    b_.CreateBr(next);
    b_.SetInsertPoint(next);
  }
  std::vector<llvm::PHINode*> begin_states(const LoopStep& s, llvm::BasicBlock* before) {
    std::vector<llvm::PHINode*> all;
    std::vector<std::pair<Value, Value>> places;
    {
      const llvm::IRBuilder<>::InsertPointGuard guard(b_);
      b_.SetInsertPoint(before->getTerminator());
      for (const AlternatingState& state : s.states) places.emplace_back(pointer(state.first), pointer(state.second));
    }
    for (std::size_t k = 0; k < s.states.size(); ++k) {
      if (is_in_registers_) states_[s.states[k].number] = places[k];
      if (is_in_registers_) continue;
      for (Value const place : {places[k].first, places[k].second}) {
        all.push_back(b_.CreatePHI(b_.getPtrTy(), 2));
        all.back()->addIncoming(place, before);
      }
      states_[s.states[k].number] = {all[2 * k], all[2 * k + 1]};
    }
    return all;
  }
  /// After an odd number of turns the state is copied to its first place.
  void end_states(const LoopStep& s, Value turns) {
    if (s.states.empty() || is_in_registers_) return;
    auto *const odd = block("odd"), *const even = block("even");
    b_.CreateCondBr(b_.CreateTrunc(turns, b_.getInt1Ty()), odd, even);
    b_.SetInsertPoint(odd);
    for (const AlternatingState& state : s.states) copy_bytes(pointer(state.first), pointer(state.second), state.bytes);
    b_.CreateBr(even);
    b_.SetInsertPoint(even);
  }
  llvm::BasicBlock* beyond_limit(std::size_t number) {
    auto* const beyond = block("beyond");
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    b_.SetInsertPoint(beyond);
    return_to_others(b_, machine_,
                     b_.getInt32(static_cast<std::uint32_t>(first_limit) + static_cast<std::uint32_t>(number)));
    return beyond;
  }
  /// Whether the caller wants the function to end, at some of the turns. A turn in registers takes nanoseconds; turns
  /// of loops inside each other are counted together.
  void ask_now_and_then(Value turn) {
    const std::uint64_t turns = is_in_registers_ ? 1 << 12 : 16;
    if (is_in_registers_) turn = count_turn();
    auto *const asks = block("asks"), *const next = block("next");
    Value const of_turns = b_.CreateAnd(turn, b_.getInt64(turns - 1));
    b_.CreateCondBr(b_.CreateICmpEQ(of_turns, b_.getInt64(turns - 1)), asks, next);
    b_.SetInsertPoint(asks);
    go_on_if_zero(call_library(Callee::What::interrupts, b_.getInt32Ty(), {parameter(3)}));
    b_.CreateBr(next);
    b_.SetInsertPoint(next);
  }
  Value count_turn() {
    if (!turns_) {
      turns_ = on_stack(b_.getInt64Ty(), 1);
      const llvm::IRBuilder<>::InsertPointGuard guard(b_);
      b_.SetInsertPoint(llvm::cast<llvm::Instruction>(turns_)->getNextNode());
      b_.CreateStore(count(0), turns_);
    }
    Value const turn = b_.CreateLoad(b_.getInt64Ty(), turns_);
    b_.CreateStore(b_.CreateAdd(turn, count(1)), turns_);
    return turn;
  }
  Value row_of(const RowCopy& copy, Value row) {
    return moved(pointer(copy.stack), b_.CreateMul(row, count(copy.step)));
  }
  /// In registers one by one, so that each may stand in a register of its own.
  void copy_elements(Value to, Value from, std::int64_t bytes, DType d) {
    if (!is_in_registers_) return copy_bytes(to, from, bytes);
    for (std::int64_t i = 0; i < bytes; i += element_bytes(d))
      copy_element(moved(to, count(i)), moved(from, count(i)), element_bytes(d));
  }
  void copy_bytes(Value to, Value from, std::int64_t bytes) {
    constexpr std::int64_t few = 256;
    const llvm::Align any(1);
    if (bytes == 0) return;
    if (bytes <= few) b_.CreateMemCpyInline(to, any, from, any, count(bytes));
    else if (machine_.stands_alone()) copy_in_parts(to, from, bytes);
    else call_library(Callee::What::copy, b_.getPtrTy(), {to, from, count(bytes)});
  }
  void copy_in_parts(Value to, Value from, std::int64_t bytes) {
    constexpr std::int64_t part = 64;
    repeat(bytes / part, [&](Value i) {
      Value const offset = b_.CreateMul(i, count(part));
      copy_bytes(moved(to, offset), moved(from, offset), part);
    });
    const std::int64_t done = bytes / part * part;
    copy_bytes(moved(to, count(done)), moved(from, count(done)), bytes - done);
  }
  static std::int64_t element_bytes(DType d) { return static_cast<std::int64_t>(element_size(d)); }
  Value is_true(Value place) { return b_.CreateICmpNE(b_.CreateLoad(b_.getInt8Ty(), place), b_.getInt8(0)); }

  void run(const BranchStep& s) {
    auto* const done = block("done");
    const Value answer = widened(b_.load_element(s.dtype, pointer(s.question)), s.dtype);
    auto* const choice = b_.CreateSwitch(answer, fails_, static_cast<unsigned>(s.branches.size()));
    for (std::size_t k = 0; k < s.branches.size(); ++k) {
      auto* const branch = block("branch");
      choice->addCase(b_.getInt64(k), branch);
      b_.SetInsertPoint(branch);
      run(s.branches[k]);
      b_.CreateBr(done);
    }
    b_.SetInsertPoint(done);
  }

  // ── kernels ──

  /// The functions of a stage; null: there is none.
  struct Functions {
    llvm::FunctionCallee once, lane, join;
  };
  std::vector<Functions> functions_of(const KernelStep& s) {
    return s.own_code < 0 ? functions_in_module(s) : functions_of_its_own(s);
  }
  std::vector<Functions> functions_of_its_own(const KernelStep& s) {
    llvm::Type *const ptr = b_.getPtrTy(), *const i64 = b_.getInt64Ty();
    std::vector<Functions> all;
    for (const Stage& stage : s.plan->stages) {
      const auto function = [&](bool is_there, Callee::What what, llvm::ArrayRef<llvm::Type*> parameters) {
        if (!is_there) return llvm::FunctionCallee();
        const Callee callee{.what = what, .kernel = s.own_code, .stage = static_cast<std::int32_t>(all.size())};
        return llvm::FunctionCallee(llvm::FunctionType::get(b_.getVoidTy(), parameters, false),
                                    address_of(b_, machine_, callee));
      };
      all.push_back({function(stage.has_once(), Callee::What::kernel_once, {ptr, ptr, i64, ptr}),
                     function(stage.has_lane(), Callee::What::kernel_lane, {ptr, ptr, i64, ptr, i64, i64, i64, ptr}),
                     function(stage.has_join(), Callee::What::kernel_join, {ptr, i64, ptr})});
    }
    return all;
  }
  const std::vector<Functions>& functions_in_module(const KernelStep& s) {
    const auto found = functions_.find(s.plan);
    if (found != functions_.end()) return found->second;
    std::vector<Functions>& all = functions_[s.plan];
    const std::string prefix = plan_.name + "_" + std::to_string(functions_.size()) + "_";
    const auto named = [&](const std::string& name) {
      return name.empty() ? llvm::FunctionCallee() : llvm::FunctionCallee(module_.getFunction(name));
    };
    for (const StageNames& of : write_functions(module_, *s.plan, machine_, prefix))
      all.push_back({named(of.once), named(of.lane), named(of.join)});
    return all;
  }

  /// What the code of a kernel reads.
  struct Frame {
    Value in, out, slots, holds;
    std::int64_t lanes, filled;
  };

  /// Of one lane.
  Frame frame_of(const KernelStep& s, Value slots) {
    return {on_stack(b_.getPtrTy(), s.in.size()),
            on_stack(b_.getPtrTy(), s.out.size() + 1),
            slots,
            on_stack(b_.getInt8Ty(), 1),
            1,
            0};
  }
  void run(const KernelStep& s) {
    if (s.stands_in_place) return run_in_place(s);
    const bool is_filled = s.filled() > 0;
    const std::int64_t lanes = is_filled ? s.lanes_together : s.lanes;
    Frame frame = frame_of(s, in_workspace(s.slots));
    frame.lanes = lanes, frame.filled = s.filled();
    repeat(s.positions, [&](Value i) {
      std::vector<Value> in, out;
      for (std::size_t k = 0; k < s.in.size(); ++k) in.push_back(at_position(s.in[k], s.in_steps[k], i));
      for (std::size_t k = 0; k < s.out.size(); ++k) out.push_back(at_position(s.out[k], s.out_steps[k], i));
      for (std::size_t k = 0; k < in.size(); ++k) put(frame.in, k, in_copy(s, k, in[k]));
      for (std::size_t k = 0; k < out.size(); ++k) put(frame.out, k, out_copy(s, k, out[k]));
      put(frame.out, out.size(), frame.holds);
      if (s.own_code >= 0) {
        const Callee call{.what = Callee::What::kernel_call, .kernel = s.own_code};
        b_.CreateStore(address_of(b_, machine_, call), frame.slots);
      }
      store_givens(s, frame.slots, frame.filled, in);
      if (is_filled) fill_lanes(s, in);
      if (may_fail(s)) b_.CreateStore(b_.getInt8(1), frame.holds);
      run_stages(s, frame);
      if (is_filled) copy_results_back(s, out);
      if (may_fail(s)) go_on_if(is_true(frame.holds));
    });
  }

  const InPlace& in_place(const KernelStep& s) {
    const auto known = in_place_.find(s.plan);
    if (known != in_place_.end()) return known->second;
    const std::string name = plan_.name + "_in_place" + std::to_string(in_place_.size());
    return in_place_[s.plan] = write_in_place(module_, *s.plan, static_cast<int>(s.in.size()), machine_, name);
  }
  void run_in_place(const KernelStep& s) {
    std::vector<Value> in, out, all;
    for (const Location& l : s.in) in.push_back(pointer(l));
    for (const Location& l : s.out) out.push_back(pointer(l));
    Value const slots = on_stack(b_.getInt64Ty(), at(s.plan->slot_count)), holds = on_stack(b_.getInt8Ty(), 1);
    store_givens(s, slots, 0, in);
    all.insert(all.end(), in.begin(), in.end());
    all.insert(all.end(), out.begin(), out.end());
    if (may_fail(s)) all.push_back(holds);
    all.push_back(slots), all.push_back(count(s.lanes));
    const InPlace& code = in_place(s);
    b_.CreateCall(code.function, all);
    if (code.may_be_large) {
      auto *const careful = block("careful"), *const usual = block("usual");
      Value const is_large = b_.CreateICmpNE(b_.CreateLoad(b_.getInt64Ty(), slots), count(0));
      b_.CreateCondBr(is_large, careful, usual, llvm::MDBuilder(b_.getContext()).createBranchWeights(1, 1 << 20));
      b_.SetInsertPoint(careful);
      run_carefully(s, in, out, holds);
      b_.CreateBr(usual);
      b_.SetInsertPoint(usual);
    }
    if (may_fail(s)) go_on_if(is_true(holds));
  }
  static bool may_fail(const KernelStep& s) { return s.plan->program.output_dtypes.size() > s.out.size(); }
  /// By code that is called: it gets copies, so that the address of what stands in registers is nobody's.
  void run_carefully(const KernelStep& s, const std::vector<Value>& in, const std::vector<Value>& out, Value holds) {
    const std::vector<Input>& inputs = s.plan->program.inputs;
    const std::vector<Output>& outputs = s.plan->program.outputs;
    const auto size_of = [](DType d) { return static_cast<std::int64_t>(element_size(d)); };
    const auto output_size = [&](const Output& y) {
      return size_of(s.plan->program.output_dtypes[at(y.place.tensor)]);
    };
    std::vector<std::int64_t> in_bytes(in.size(), 1), out_bytes(out.size() + 1, 1);
    const auto reach = [](std::int64_t& bytes, const Place& place, std::int64_t size) {
      bytes = std::max(bytes, (place.base + 1) * size);
    };
    for (const Input& x : inputs) reach(in_bytes[at(x.place.tensor)], x.place, size_of(x.dtype));
    for (const Output& y : outputs) reach(out_bytes[at(y.place.tensor)], y.place, output_size(y));
    std::vector<Value> in_copies, out_copies;
    const auto room = [&](std::int64_t bytes) {
      Value const memory = on_stack(b_.getInt8Ty(), at(bytes));
      llvm::cast<llvm::AllocaInst>(memory)->setAlignment(llvm::Align(64));
      return memory;
    };
    for (const std::int64_t bytes : in_bytes) in_copies.push_back(room(bytes));
    for (std::size_t k = 0; k < out.size(); ++k) out_copies.push_back(room(out_bytes[k]));
    for (const Given& given : s.plan->program.givens)  // what is read by its address: all of it
      if (given.what == Given::What::address) in_copies[at(given.tensor)] = in[at(given.tensor)];
    const auto copy = [&](Value to, Value from, const Place& place, std::int64_t size) {
      if (to != from) copy_element(moved(to, count(place.base * size)), moved(from, count(place.base * size)), size);
    };
    for (const Input& x : inputs)
      copy(in_copies[at(x.place.tensor)], in[at(x.place.tensor)], x.place, size_of(x.dtype));
    call_carefully(s, in_copies, out_copies, holds);
    for (const Output& y : outputs)
      if (at(y.place.tensor) < out.size())
        copy(out[at(y.place.tensor)], out_copies[at(y.place.tensor)], y.place, output_size(y));
  }
  void call_carefully(const KernelStep& s, const std::vector<Value>& in, const std::vector<Value>& out, Value holds) {
    if (s.careful_call >= 0) {
      call_step(s.careful_call, in, out);
      return static_cast<void>(b_.CreateStore(b_.getInt8(1), holds));
    }
    const Frame frame = frame_of(s, on_stack(b_.getInt64Ty(), at(s.plan->slot_count)));
    for (std::size_t k = 0; k < in.size(); ++k) put(frame.in, k, in[k]);
    for (std::size_t k = 0; k < out.size(); ++k) put(frame.out, k, out[k]);
    put(frame.out, out.size(), frame.holds);
    store_givens(s, frame.slots, 0, in);
    run_stages(s, frame);
    if (may_fail(s)) copy_element(holds, frame.holds, 1);
  }
  Value at_position(const Location& l, std::int64_t step, Value i) {
    return moved(pointer(l), b_.CreateMul(i, count(step)));
  }
  void put(Value list, std::size_t k, Value pointer) {
    b_.CreateStore(pointer, b_.CreateConstGEP1_64(b_.getPtrTy(), list, k));
  }
  /// Where a tensor's lanes stand: in its copy, where it has one.
  Value in_copy(const KernelStep& s, std::size_t k, Value own) { return copy_of(s, s.copies.in, k, own); }
  Value out_copy(const KernelStep& s, std::size_t k, Value own) { return copy_of(s, s.copies.out, k, own); }
  Value copy_of(const KernelStep& s, const std::vector<std::int64_t>& offsets, std::size_t k, Value own) {
    return s.filled() > 0 && offsets[k] >= 0 ? in_workspace(s.copied + offsets[k]) : own;
  }

  void store_givens(const KernelStep& s, Value slots, std::int64_t filled, const std::vector<Value>& in) {
    const std::vector<Given>& givens = s.plan->program.givens;
    for (std::size_t k = 0; k < givens.size(); ++k) {
      if (s.plan->given[k] < 0) continue;
      const Given::What what = givens[k].what;
      const Value value = what == Given::What::address ? b_.CreatePtrToInt(in[at(givens[k].tensor)], b_.getInt64Ty())
                          : what == Given::What::size  ? count(s.sizes[k])
                                                       : count(filled);
      b_.CreateStore(value, b_.CreateConstGEP1_64(b_.getInt64Ty(), slots, at(s.plan->given[k])));
    }
  }

  /// Lanes that stand in a copy, with the first one repeated in front.
  void fill_lanes(const KernelStep& s, const std::vector<Value>& in) {
    for (const Input& input : s.plan->program.inputs) {
      const Place& p = input.place;
      if (p.stride == 0) continue;
      const auto bytes = static_cast<std::int64_t>(element_size(input.dtype));
      const Value to = moved(in_copy(s, at(p.tensor), nullptr), count(p.first(s.lanes_together) * bytes));
      const Value from = moved(in[at(p.tensor)], count(p.first(s.lanes) * bytes));
      b_.CreateCall(lane_copy(bytes), {to, from, count(p.stride * bytes), count(s.filled()), count(s.lanes_together)});
    }
  }
  void copy_results_back(const KernelStep& s, const std::vector<Value>& out) {
    for (const Output& output : s.plan->program.outputs) {
      const Place& p = output.place;
      if (p.stride == 0) continue;
      const auto bytes = static_cast<std::int64_t>(element_size(s.plan->program.output_dtypes[at(p.tensor)]));
      const Value to = moved(out[at(p.tensor)], count(p.first(s.lanes) * bytes));
      const std::int64_t first = p.first(s.lanes_together) + s.filled() * p.stride;
      const Value from = moved(out_copy(s, at(p.tensor), nullptr), count(first * bytes));
      b_.CreateCall(lane_copy(bytes), {to, from, count(p.stride * bytes), count(0), count(s.lanes)});
    }
  }
  /// A function (to, from, stride, filled, lanes): to[lane] = from[max(lane - filled, 0)], with the stride in bytes.
  llvm::Function* lane_copy(std::int64_t bytes) {
    const std::string name = plan_.name + "_copy" + std::to_string(bytes);
    if (llvm::Function* const known = module_.getFunction(name)) return known;
    llvm::Type *const ptr = b_.getPtrTy(), *const i64 = b_.getInt64Ty();
    auto* const type = llvm::FunctionType::get(b_.getVoidTy(), {ptr, ptr, i64, i64, i64}, false);
    auto* const f = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module_);
    set_attributes(*f, machine_);
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    auto* const before = llvm::BasicBlock::Create(b_.getContext(), "entry", f);
    auto* const loop = llvm::BasicBlock::Create(b_.getContext(), "lanes", f);
    auto* const done = llvm::BasicBlock::Create(b_.getContext(), "done", f);
    b_.SetInsertPoint(before);
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    llvm::PHINode* const lane = b_.CreatePHI(i64, 2);
    Value const behind = b_.CreateSub(lane, f->getArg(3));
    Value const source = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, behind, count(0));
    copy_element(moved(f->getArg(0), b_.CreateMul(lane, f->getArg(2))),
                 moved(f->getArg(1), b_.CreateMul(source, f->getArg(2))), bytes);
    Value const next = b_.CreateAdd(lane, count(1));
    lane->addIncoming(count(0), before), lane->addIncoming(next, loop);
    b_.CreateCondBr(b_.CreateICmpSLT(next, f->getArg(4)), loop, done);
    b_.SetInsertPoint(done);
    b_.CreateRetVoid();
    return f;
  }

  void run_stages(const KernelStep& s, const Frame& frame) {
    const std::vector<Functions> functions = functions_of(s);
    const auto call = [&](llvm::FunctionCallee f, llvm::ArrayRef<Value> arguments) {
      if (f.getCallee()) b_.CreateCall(f, arguments);
    };
    const Value lanes = count(frame.lanes), own_lanes = count(frame.lanes - frame.filled);
    const Value skip = count(frame.filled);
    for (std::size_t k = 0; k < functions.size(); ++k) {
      Functions of = functions[k];
      call(of.once, {frame.in, frame.out, own_lanes, frame.slots});
      if (!of.lane.getCallee()) continue;
      const auto totals = static_cast<std::int64_t>(s.plan->stages[k].totals.size());
      const Pieces pieces(frame.lanes, s.lanes_together, at(totals));
      const auto run = [&](std::int64_t begin, std::int64_t end, Value to) {
        call(of.lane, {frame.in, frame.out, lanes, frame.slots, count(begin), count(end), skip, to});
      };
      if (totals == 0) run(0, frame.lanes, in_workspace(s.totals));
      for (std::int64_t p = 0; totals > 0 && p < pieces.count; ++p)
        run(pieces.begin(p), pieces.end(p), in_workspace(s.totals + p * totals * 8));
      call(of.join, {in_workspace(s.totals), count(pieces.count), frame.slots});
    }
  }

  llvm::Module& module_;
  const FunctionPlan& plan_;
  const Machine& machine_;
  const Parameters parameters_;
  LaneBuilder b_;
  llvm::Function* function_ = nullptr;
  llvm::BasicBlock *entry_ = nullptr, *fails_ = nullptr;
  std::vector<llvm::GlobalVariable*> constants_;
  std::map<std::size_t, Value> arguments_, results_;  // of lists: those that were read
  std::vector<Value> of_block_;  // the arrays of the block of examples that is computed; none: they are the parameters
  std::map<std::size_t, RecordsPlace> records_;
  std::map<std::size_t, std::pair<Value, Value>> states_;  // that alternate: where this turn's and the next one's stand
  std::map<const LanePlan*, std::vector<Functions>> functions_;
  // Of the loop whose state may stand in registers.
  struct OwnPart {
    std::int64_t bytes;
    Value memory;
  };
  bool is_in_registers_ = false;
  std::map<std::int64_t, OwnPart> own_;  // by offset in the workspace
  Value turns_ = nullptr;                // the place of their count, of all such loops
  Value workspace_ = nullptr;            // of its own
  std::map<const LanePlan*, InPlace> in_place_;
};

}  // namespace

std::string write_alone(llvm::Module& module, const FunctionPlan& plan, const Machine& machine) {
  const bool is_for_threads = llvm::Triple(module.getTargetTriple()).isNVPTX();
  return PlanFunction(module, plan, machine, is_for_threads ? Parameters::without_workspace : Parameters::one_by_one)
      .write();
}
std::string write_in_library(llvm::Module& module, const FunctionPlan& plan, const Machine& machine) {
  return PlanFunction(module, plan, machine, Parameters::in_lists).write();
}

}  // namespace ricci::compiled
