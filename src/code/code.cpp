// LLVM code of lane plans: the only file that knows LLVM. One register holds the same value of neighbouring lanes. Code
// that is computed once for all lanes works on single elements, by the same words. Start with `ricci_generate`.
#include "compile/code.h"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <unordered_map>

namespace ricci::compiled {
namespace {

using Kind = ScalarStep::Kind;
namespace orc = llvm::orc;
std::size_t at(std::int64_t n) { return static_cast<std::size_t>(n); }

int operand_count(const ScalarStep& s) {
  int count = 0;
  for (const Node n : s.from) count += n != no_node;
  return count;
}
bool is_float(DType d) { return d == DType::float32 || d == DType::float64; }
bool is_unsigned(DType d) { return d == DType::uint8 || d == DType::boolean; }

/// Neighbouring elements of one row of an input or output, `width` rows of which are read or written together.
struct RowPart {
  int tensor;
  std::int64_t stride, per_lane_count, first;  // the first element's place is `first`
  int count;
  auto key() const { return std::tuple(tensor, stride, per_lane_count, first, count); }
  bool operator<(const RowPart& other) const { return key() < other.key(); }
};

/// One function of a plan: values by node, `width` lanes a value.
class Writer {
 public:
  Writer(llvm::Module& module, const LanePlan& plan, const Machine& machine, std::size_t stage, int width,
         int registers)
      : module_(module),
        context_(module.getContext()),
        b_(context_),
        plan_(plan),
        graph_(plan.program.graph),
        machine_(machine),
        stage_(stage),
        width_(width),
        registers_(registers),
        values_(at(registers)),
        read_parts_(at(registers)),
        lanes_(at(registers)) {}

  void begin(const std::string& name, llvm::ArrayRef<llvm::Type*> parameters) {
    auto* const type = llvm::FunctionType::get(b_.getVoidTy(), parameters, false);
    function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module_);
    set_attributes(function_);
    for (unsigned i = 0; i < function_->arg_size(); ++i)
      if (parameters[i]->isPointerTy()) function_->addParamAttr(i, llvm::Attribute::NoAlias);
    entry_ = llvm::BasicBlock::Create(context_, "entry", function_);
    b_.SetInsertPoint(entry_);
    in_ = function_->getArg(0);
  }

  /// Computed once, an element a value.
  void write_once(const std::string& name, const Stage& stage) {
    begin(name, {b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty(), b_.getPtrTy()});
    out_ = function_->getArg(1), lane_count_ = function_->getArg(2), slots_ = function_->getArg(3);
    for (const Node n : stage.once) {
      set(n, computed(n));
      if (plan_.slots[at(n)] >= 0) store_memory(value(n), graph_[n].dtype, slot(n));
    }
    for (const Output& output : stage.once_outputs)
      store_memory(value(output.node), plan_.program.output_dtypes[at(output.place.tensor)],
                   element(out_pointer(output.place.tensor), plan_.program.output_dtypes[at(output.place.tensor)],
                           place(output.place, nullptr)));
    if (llvm::Value* const any = any_large()) {
      auto* const careful = llvm::BasicBlock::Create(context_, "careful", function_);
      auto* const done = llvm::BasicBlock::Create(context_, "done", function_);
      b_.CreateCondBr(any, careful, done, is_rare());
      b_.SetInsertPoint(careful);
      call_library(reinterpret_cast<const void*>(machine_.careful_once),
                   {kernel(), stage_number(), in_, out_, lane_count_, slots_});
      b_.CreateBr(done);
      b_.SetInsertPoint(done);
    }
    b_.CreateRetVoid();
  }

  void write_lanes(const std::string& name, const Stage& stage) {
    auto* const i64 = b_.getInt64Ty();
    auto* const ptr = b_.getPtrTy();
    begin(name, {ptr, ptr, i64, ptr, i64, i64, i64, ptr});
    out_ = function_->getArg(1), lane_count_ = function_->getArg(2), slots_ = function_->getArg(3);
    llvm::Value *const first = function_->getArg(4), *const end = function_->getArg(5),
                       *const skip = function_->getArg(6), *const totals = function_->getArg(7);
    for (const Input& input : plan_.program.inputs)
      if (input.place.stride != 0) in_pointer(input.place.tensor);
    for (const Output& output : stage.lane_outputs) out_pointer(output.place.tensor);
    std::vector<llvm::Value*> starts;
    for (const Node n : stage.totals) starts.push_back(value(graph_[n].from[1]));
    auto* const loop = llvm::BasicBlock::Create(context_, "lanes", function_);
    auto* const done = llvm::BasicBlock::Create(context_, "done", function_);
    llvm::BasicBlock* const before = b_.GetInsertBlock();
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    llvm::PHINode* const from = b_.CreatePHI(i64, 2);
    llvm::PHINode* const given_skip = b_.CreatePHI(i64, 2);
    std::vector<std::vector<llvm::PHINode*>> sums(at(registers_));
    for (auto& of_register : sums)
      for (llvm::Value* start : starts) {
        of_register.push_back(b_.CreatePHI(start->getType(), 2));
        of_register.back()->addIncoming(start, before);
      }
    from->addIncoming(first, before), given_skip->addIncoming(skip, before);
    // The last registers overlap those before.
    llvm::Value* const all_lanes = b_.getInt64(at(width_ * registers_));
    llvm::Value* const behind = b_.CreateAdd(from, all_lanes);
    llvm::Value* const is_last = b_.CreateICmpSGT(behind, end);
    llvm::Value* const lane = b_.CreateSelect(is_last, b_.CreateSub(end, all_lanes), from);
    for (int r = 0; r < registers_; ++r) lanes_[at(r)] = b_.CreateAdd(lane, b_.getInt64(at(r * width_)));
    values_.assign(at(registers_), {});
    for (const Node n : stage.lane) in_each_register([&] { set(n, computed(n)); });
    llvm::Value* const overlap =
        stage.totals.empty() ? nullptr : b_.CreateSelect(is_last, b_.CreateSub(behind, end), given_skip);
    std::vector<std::vector<llvm::Value*>> parts(at(registers_));  // of the totals
    for (const Node n : stage.totals)
      in_each_register([&] { parts[at(register_)].push_back(value(graph_[n].from[0])); });
    if (llvm::Value* const any = any_large()) carefully(any, stage, parts, overlap, totals);
    else in_each_register([&] { store_outputs(stage.lane_outputs); });
    std::vector<std::vector<llvm::Value*>> next(at(registers_));
    if (!stage.totals.empty())
      in_each_register([&] {
        llvm::SmallVector<llvm::Constant*> numbers;
        for (int i = 0; i < width_; ++i) numbers.push_back(b_.getInt64(at(register_ * width_ + i)));
        llvm::Value* const counts =
            b_.CreateICmpSGE(llvm::ConstantVector::get(numbers), b_.CreateVectorSplat(at(width_), overlap));
        for (std::size_t k = 0; k < starts.size(); ++k) {
          const ScalarStep& s = graph_[stage.totals[k]];
          llvm::Value* const sum = sums[at(register_)][k];
          llvm::Value* const joined = word(s.word, s.dtype, {sum, parts[at(register_)][k]});
          next[at(register_)].push_back(b_.CreateSelect(counts, joined, sum));
        }
      });
    llvm::BasicBlock* const last = b_.GetInsertBlock();
    from->addIncoming(behind, last), given_skip->addIncoming(b_.getInt64(0), last);
    for (int r = 0; r < registers_; ++r)
      for (std::size_t k = 0; k < starts.size(); ++k) sums[at(r)][k]->addIncoming(next[at(r)][k], last);
    b_.CreateCondBr(b_.CreateICmpSLT(behind, end), loop, done);
    b_.SetInsertPoint(done);
    for (std::size_t k = 0; k < starts.size(); ++k) {
      const ScalarStep& s = graph_[stage.totals[k]];
      llvm::Value* total = next[0][k];
      for (int r = 1; r < registers_; ++r) total = word(s.word, s.dtype, {total, next[at(r)][k]});
      store_memory(folded(s, total), s.dtype, b_.CreateConstGEP1_64(b_.getInt64Ty(), totals, k));
    }
    b_.CreateRetVoid();
  }

  /// Rows of partial totals into slots, row after row.
  void write_join(const std::string& name, const Stage& stage) {
    auto* const i64 = b_.getInt64Ty();
    begin(name, {b_.getPtrTy(), i64, b_.getPtrTy()});
    llvm::Value *const rows = function_->getArg(0), *const count = function_->getArg(1);
    slots_ = function_->getArg(2);
    auto* const loop = llvm::BasicBlock::Create(context_, "rows", function_);
    auto* const done = llvm::BasicBlock::Create(context_, "done", function_);
    const auto read = [&](llvm::Value* row, std::size_t k) {
      llvm::Value* const place = b_.CreateAdd(b_.CreateMul(row, b_.getInt64(stage.totals.size())), b_.getInt64(k));
      return load_memory(graph_[stage.totals[k]].dtype, b_.CreateGEP(i64, rows, place));
    };
    std::vector<llvm::Value*> firsts;
    for (std::size_t k = 0; k < stage.totals.size(); ++k) firsts.push_back(read(b_.getInt64(0), k));
    b_.CreateCondBr(b_.CreateICmpSGT(count, b_.getInt64(1)), loop, done);
    b_.SetInsertPoint(loop);
    llvm::PHINode* const row = b_.CreatePHI(i64, 2);
    row->addIncoming(b_.getInt64(1), entry_);
    std::vector<llvm::PHINode*> sums;
    for (llvm::Value* first : firsts) {
      sums.push_back(b_.CreatePHI(first->getType(), 2));
      sums.back()->addIncoming(first, entry_);
    }
    std::vector<llvm::Value*> next;
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const ScalarStep& s = graph_[stage.totals[k]];
      next.push_back(word(s.word, s.dtype, {sums[k], read(row, k)}));
    }
    llvm::Value* const following = b_.CreateAdd(row, b_.getInt64(1));
    llvm::BasicBlock* const last = b_.GetInsertBlock();
    row->addIncoming(following, last);
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k]->addIncoming(next[k], last);
    b_.CreateCondBr(b_.CreateICmpSLT(following, count), loop, done);
    b_.SetInsertPoint(done);
    for (std::size_t k = 0; k < sums.size(); ++k) {
      llvm::PHINode* const total = b_.CreatePHI(firsts[k]->getType(), 2);
      total->addIncoming(firsts[k], entry_), total->addIncoming(next[k], last);
      totals_.push_back(total);
    }
    for (std::size_t k = 0; k < totals_.size(); ++k)
      store_memory(totals_[k], graph_[stage.totals[k]].dtype, slot(stage.totals[k]));
    b_.CreateRetVoid();
  }

 private:
  // ── types ──

  /// As it is computed.
  llvm::Type* scalar_type(DType d) {
    switch (d) {
      case DType::boolean: return b_.getInt1Ty();
      case DType::uint8:
      case DType::int8: return b_.getInt8Ty();
      case DType::int16:
      case DType::bfloat16: return b_.getInt16Ty();
      case DType::int32: return b_.getInt32Ty();
      case DType::int64: return b_.getInt64Ty();
      case DType::float16: return b_.getHalfTy();
      case DType::float32: return b_.getFloatTy();
      default: return b_.getDoubleTy();
    }
  }
  /// As it lies in memory.
  llvm::Type* memory_type(DType d) { return d == DType::boolean ? b_.getInt8Ty() : scalar_type(d); }
  llvm::Type* wide(llvm::Type* t) { return width_ == 1 ? t : llvm::FixedVectorType::get(t, at(width_)); }
  llvm::Type* type(DType d) { return wide(scalar_type(d)); }
  llvm::Value* spread(llvm::Value* x) { return width_ == 1 ? x : b_.CreateVectorSplat(at(width_), x); }
  llvm::Value* number(DType d, double x) {
    llvm::Type* const t = type(d);
    return t->isFPOrFPVectorTy() ? llvm::ConstantFP::get(t, x)
                                 : static_cast<llvm::Value*>(llvm::ConstantInt::get(
                                       t, static_cast<std::uint64_t>(static_cast<std::int64_t>(x)), true));
  }
  llvm::Value* bits_number(DType d, std::uint64_t bits) {
    llvm::Type* const t = scalar_type(d);
    if (d == DType::boolean) return spread(b_.getInt1(bits & 1));
    if (t->isIntegerTy()) return spread(llvm::ConstantInt::get(t, bits));
    const llvm::APInt pattern(t->getScalarSizeInBits(), bits);
    return spread(llvm::ConstantFP::get(context_, llvm::APFloat(t->getFltSemantics(), pattern)));
  }

  // ── memory ──

  llvm::Value* pointer(llvm::Value* list, std::map<int, llvm::Value*>& known, int tensor) {
    llvm::Value*& p = known[tensor];
    if (!p) {  // read in the first block, so that it serves all
      llvm::IRBuilder<>::InsertPointGuard guard(b_);
      if (llvm::Instruction* end = entry_->getTerminator()) b_.SetInsertPoint(end);
      else b_.SetInsertPoint(entry_);
      p = b_.CreateLoad(b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getPtrTy(), list, at(tensor)));
    }
    return p;
  }
  llvm::Value* in_pointer(int tensor) { return pointer(in_, ins_, tensor); }
  llvm::Value* out_pointer(int tensor) { return pointer(out_, outs_, tensor); }

  /// The place of an element in lane `lane` (null: it serves all), in elements.
  llvm::Value* place(const Place& p, llvm::Value* lane) {
    llvm::Value* where = b_.getInt64(static_cast<std::uint64_t>(p.base));
    if (p.per_lane_count != 0)
      where = b_.CreateAdd(where, b_.CreateMul(lane_count_, b_.getInt64(static_cast<std::uint64_t>(p.per_lane_count))));
    if (lane && p.stride != 0)
      where = b_.CreateAdd(where, b_.CreateMul(lane, b_.getInt64(static_cast<std::uint64_t>(p.stride))));
    return where;
  }
  llvm::Value* element(llvm::Value* p, DType d, llvm::Value* place) { return b_.CreateGEP(memory_type(d), p, place); }
  llvm::Value* from_memory(llvm::Value* x, DType d) {
    return d == DType::boolean ? b_.CreateICmpNE(x, llvm::Constant::getNullValue(x->getType())) : x;
  }
  llvm::Value* to_memory(llvm::Value* x, DType d) {
    if (d != DType::boolean) return x;
    llvm::Type* t = b_.getInt8Ty();
    if (auto* v = llvm::dyn_cast<llvm::FixedVectorType>(x->getType()))
      t = llvm::FixedVectorType::get(t, v->getNumElements());
    return b_.CreateZExt(x, t);
  }
  /// One element, in every lane.
  llvm::Value* load_memory(DType d, llvm::Value* p) {
    return from_memory(b_.CreateAlignedLoad(memory_type(d), p, llvm::Align(1)), d);
  }
  void store_memory(llvm::Value* x, DType d, llvm::Value* p) {
    b_.CreateAlignedStore(to_memory(x, d), p, llvm::Align(1));
  }
  llvm::Value* slot(Node n) { return b_.CreateConstGEP1_64(b_.getInt64Ty(), slots_, at(plan_.slots[at(n)])); }

  // ── reading inputs and writing outputs ──

  /// Inputs that lie side by side in a lane's row are read together and turned by a transposition.
  llvm::Value* input(Node n) {
    const Input& input = plan_.program.inputs[graph_[n].payload];
    const Place& p = input.place;
    if (p.stride == 0 || width_ == 1)
      return spread(load_memory(input.dtype, element(in_pointer(p.tensor), input.dtype, place(p, lane()))));
    if (p.stride == 1) {
      llvm::Value* const from = element(in_pointer(p.tensor), input.dtype, place(p, lane()));
      return from_memory(b_.CreateAlignedLoad(wide(memory_type(input.dtype)), from, llvm::Align(1)), input.dtype);
    }
    const std::int64_t column = p.base % p.stride;
    RowPart part{p.tensor, p.stride, p.per_lane_count, p.base, 1};
    if (p.stride >= width_) {
      const std::int64_t first = std::min(column / width_ * width_, p.stride - width_);
      part.first = p.base - column + first, part.count = width_;
    } else {
      part.first = p.base - column, part.count = static_cast<int>(p.stride);
    }
    auto& columns = read_parts_[at(register_)][part];
    if (columns.empty()) columns = read_rows(part, input.dtype);
    return from_memory(columns[at(p.base - part.first)], input.dtype);
  }
  llvm::Value* row_pointer(llvm::Value* base, const RowPart& part, DType d, int row) {
    const Place p{part.tensor, part.first, part.per_lane_count, part.stride};
    return element(base, d, b_.CreateAdd(place(p, lane()), b_.getInt64(static_cast<std::uint64_t>(row * part.stride))));
  }
  std::vector<llvm::Value*> read_rows(const RowPart& part, DType d) {
    llvm::Type* const t = memory_type(d);
    std::vector<llvm::Value*> rows;
    if (part.count < width_ && part.count == part.stride) {  // the rows of all lanes are `count` registers
      std::vector<llvm::Value*> registers, columns;
      for (int k = 0; k < part.count; ++k) {
        const Place p{part.tensor, part.first + k * width_, part.per_lane_count, part.stride};
        registers.push_back(
            b_.CreateAlignedLoad(wide(t), element(in_pointer(part.tensor), d, place(p, lane())), llvm::Align(1)));
      }
      for (int c = 0; c < part.count; ++c) {
        llvm::Value* column = nullptr;
        for (int k = 0; k < part.count; ++k) {
          llvm::SmallVector<int> mask;
          bool any = false;
          for (int lane = 0; lane < width_; ++lane) {
            const int where = lane * part.count + c;
            const bool here = where / width_ == k;
            any = any || here;
            mask.push_back(here ? width_ + where % width_ : lane);
          }
          if (!any) continue;
          column = b_.CreateShuffleVector(column ? column : registers[at(k)], registers[at(k)], mask);
        }
        columns.push_back(column);
      }
      return columns;
    }
    for (int row = 0; row < width_; ++row)
      rows.push_back(b_.CreateAlignedLoad(wide(t), row_pointer(in_pointer(part.tensor), part, d, row), llvm::Align(1)));
    return transposed(rows);
  }
  /// width × width elements, by halves.
  std::vector<llvm::Value*> transposed(std::vector<llvm::Value*> rows) {
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
        next[at(i)] = b_.CreateShuffleVector(rows[at(i)], rows[at(i + half)], low);
        next[at(i + half)] = b_.CreateShuffleVector(rows[at(i)], rows[at(i + half)], high);
      }
      rows = next;
    }
    return rows;
  }

  void store_outputs(const std::vector<Output>& outputs) {
    std::map<RowPart, std::vector<std::pair<std::int64_t, Node>>> rows;  // by tensor and stride
    for (const Output& output : outputs) {
      const Place& p = output.place;
      const DType d = plan_.program.output_dtypes[at(p.tensor)];
      if (p.stride == 1 || width_ == 1) {
        llvm::Value* const to = element(out_pointer(p.tensor), d, place(p, lane()));
        b_.CreateAlignedStore(to_memory(value(output.node), d), to, llvm::Align(1));
      } else {
        rows[{p.tensor, p.stride, p.per_lane_count, 0, 0}].emplace_back(p.base, output.node);
      }
    }
    for (auto& [of, columns] : rows) {
      std::ranges::sort(columns);
      for (std::size_t first = 0; first < columns.size();) {
        std::size_t last = first + 1;
        while (last < columns.size() && columns[last].first == columns[last - 1].first + 1 &&
               columns[last].first / of.stride == columns[first].first / of.stride)
          ++last;
        store_run(of, columns, first, last);
        first = last;
      }
    }
  }
  /// Neighbours in a row, `width` at a time; the last ones overlap those before.
  void store_run(const RowPart& of, const std::vector<std::pair<std::int64_t, Node>>& columns, std::size_t first,
                 std::size_t last) {
    const DType d = plan_.program.output_dtypes[at(of.tensor)];
    const auto count = static_cast<int>(last - first);
    for (int from = 0; from < count; from += width_) {
      if (from + width_ > count && count >= width_) from = count - width_;
      const int here = std::min(width_, count - from);
      RowPart part{of.tensor, of.stride, of.per_lane_count, columns[first + at(from)].first, here};
      std::vector<llvm::Value*> values;
      for (int k = 0; k < width_; ++k)
        values.push_back(to_memory(value(columns[first + at(from + std::min(k, here - 1))].second), d));
      if (here == 1) {
        for (int row = 0; row < width_; ++row)
          b_.CreateAlignedStore(b_.CreateExtractElement(values[0], at(row)),
                                row_pointer(out_pointer(of.tensor), part, d, row), llvm::Align(1));
        continue;
      }
      if (here == of.stride && here <= 4) {
        store_interleaved(part, values, d);
        continue;
      }
      const std::vector<llvm::Value*> rows = transposed(values);
      for (int row = 0; row < width_; ++row) {
        llvm::Value* const to = row_pointer(out_pointer(of.tensor), part, d, row);
        if (here == width_) b_.CreateAlignedStore(rows[at(row)], to, llvm::Align(1));
        else store_first(rows[at(row)], here, to);
      }
    }
  }
  /// The first elements, in pieces of powers of two.
  void store_first(llvm::Value* x, int count, llvm::Value* to) {
    auto* const t = llvm::cast<llvm::FixedVectorType>(x->getType())->getElementType();
    int from = 0;
    for (int piece = width_ / 2; piece > 0; piece /= 2) {
      if (!(count & piece)) continue;
      llvm::SmallVector<int> mask;
      for (int i = 0; i < piece; ++i) mask.push_back(from + i);
      llvm::Value* const part = piece == 1 ? b_.CreateExtractElement(x, at(from)) : b_.CreateShuffleVector(x, x, mask);
      b_.CreateAlignedStore(part, b_.CreateConstGEP1_64(t, to, at(from)), llvm::Align(1));
      from += piece;
    }
  }
  void store_interleaved(const RowPart& part, const std::vector<llvm::Value*>& columns, DType d) {
    for (int k = 0; k < part.count; ++k) {
      llvm::Value* whole = nullptr;
      for (int c = 0; c < part.count; ++c) {
        llvm::SmallVector<int> mask;
        for (int i = 0; i < width_; ++i) {
          const int where = k * width_ + i;
          mask.push_back(where % part.count == c ? width_ + where / part.count : i);
        }
        whole = b_.CreateShuffleVector(whole ? whole : columns[at(c)], columns[at(c)], mask);
      }
      const Place p{part.tensor, part.first + k * width_, part.per_lane_count, part.stride};
      b_.CreateAlignedStore(whole, element(out_pointer(part.tensor), d, place(p, lane())), llvm::Align(1));
    }
  }

  // ── values ──

  template <class F>
  void in_each_register(const F& f) {
    for (register_ = 0; register_ < registers_; ++register_) f();
    register_ = 0;
  }
  /// What serves all lanes is the same in all registers.
  std::unordered_map<Node, llvm::Value*>& values_of(Node n) {
    return values_[plan_.is_lane[at(n)] ? at(register_) : 0];
  }
  llvm::Value* lane() const { return lanes_[at(register_)]; }
  void set(Node n, llvm::Value* x) { values_of(n)[n] = x; }
  llvm::Value* value(Node n) {
    auto& known = values_of(n);
    const auto found = known.find(n);
    if (found != known.end()) return found->second;
    const ScalarStep& s = graph_[n];
    if (s.kind == Kind::number) return bits_number(s.dtype, s.payload);
    llvm::Value* x = nullptr;
    if (s.kind == Kind::input) x = input(n);
    else x = spread(load_memory(s.dtype, slot(n)));
    known[n] = x;
    return x;
  }
  llvm::Value* computed(Node n) {
    const ScalarStep& s = graph_[n];
    switch (s.kind) {
      case Kind::select: return b_.CreateSelect(value(s.from[0]), value(s.from[1]), value(s.from[2]));
      case Kind::convert: return converted(value(s.from[0]), graph_[s.from[0]].dtype, s.dtype);
      case Kind::lanes: return lane_count_;  // computed once
      case Kind::word: break;
      default: return value(n);
    }
    llvm::SmallVector<llvm::Value*, 3> x;
    for (int k = 0; k < operand_count(s); ++k) x.push_back(value(s.from[at(k)]));
    const DType d = graph_[s.from[0]].dtype;
    if ((s.word == Word::sin || s.word == Word::cos) && x.size() == 2) return circular(s.word, d, x[0], x[1]);
    return word(s.word, d, x);
  }

  llvm::Value* unary(llvm::Intrinsic::ID id, llvm::Value* x) { return b_.CreateUnaryIntrinsic(id, x); }
  llvm::Type* bits_type(DType d) { return type(d == DType::float32 ? DType::int32 : DType::int64); }

  llvm::Value* word(Word w, DType d, llvm::ArrayRef<llvm::Value*> x) {
    if (d == DType::boolean) return truth_word(w, x);
    llvm::Value* const y = is_float(d) ? float_word(w, d, x) : whole_word(w, d, x);
    return y ? y : call(w, d, x);
  }
  llvm::Value* truth_word(Word w, llvm::ArrayRef<llvm::Value*> x) {
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
  llvm::Value* float_word(Word w, DType d, llvm::ArrayRef<llvm::Value*> x) {
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
        llvm::Value* const positive = b_.CreateSelect(b_.CreateFCmpOGT(x[0], number(d, 0)), number(d, 1), number(d, 0));
        return b_.CreateSelect(b_.CreateFCmpOLT(x[0], number(d, 0)), number(d, -1), positive);
      }
      case Word::equal: return b_.CreateFCmpOEQ(x[0], x[1]);
      case Word::not_equal: return b_.CreateFCmpUNE(x[0], x[1]);
      case Word::less: return b_.CreateFCmpOLT(x[0], x[1]);
      case Word::less_equal: return b_.CreateFCmpOLE(x[0], x[1]);
      case Word::greater: return b_.CreateFCmpOGT(x[0], x[1]);
      case Word::greater_equal: return b_.CreateFCmpOGE(x[0], x[1]);
      case Word::isnan: return b_.CreateFCmpUNO(x[0], x[0]);
      case Word::isinf: return b_.CreateFCmpOEQ(unary(I::fabs, x[0]), number(d, HUGE_VAL));
      case Word::isfinite: return b_.CreateFCmpOLT(unary(I::fabs, x[0]), number(d, HUGE_VAL));
      case Word::flip_sign: {
        llvm::Value* const sign = b_.CreateBitCast(number(d, -0.0), bits_type(d));
        llvm::Value* const flips = b_.CreateAnd(b_.CreateBitCast(x[1], bits_type(d)), sign);
        return b_.CreateBitCast(b_.CreateXor(b_.CreateBitCast(x[0], bits_type(d)), flips), x[0]->getType());
      }
      case Word::odd_sign: {
        const bool single = d == DType::float32;
        llvm::Value* const shifted = b_.CreateFAdd(x[0], number(d, single ? 0x1.8p23 : 0x1.8p52));
        llvm::Value* const bits = b_.CreateBitCast(shifted, bits_type(d));
        return b_.CreateBitCast(b_.CreateShl(bits, llvm::ConstantInt::get(bits->getType(), single ? 31 : 63)),
                                x[0]->getType());
      }
      case Word::scale:
      case Word::exponent:
      case Word::mantissa: return machine_.knows_exponents ? exponent_word(w, d, x) : nullptr;
      default: return nullptr;
    }
  }
  llvm::Value* whole_word(Word w, DType d, llvm::ArrayRef<llvm::Value*> x) {
    const bool u = is_unsigned(d);
    llvm::Value* const zero = number(d, 0);
    switch (w) {
      case Word::add: return b_.CreateAdd(x[0], x[1]);
      case Word::subtract: return b_.CreateSub(x[0], x[1]);
      case Word::multiply: return b_.CreateMul(x[0], x[1]);
      case Word::negative: return b_.CreateNeg(x[0]);
      case Word::fma: return b_.CreateAdd(b_.CreateMul(x[0], x[1]), x[2]);
      case Word::abs: return u ? x[0] : b_.CreateSelect(b_.CreateICmpSLT(x[0], zero), b_.CreateNeg(x[0]), x[0]);
      case Word::floor:
      case Word::ceil:
      case Word::round:
      case Word::trunc: return x[0];
      case Word::min:
        return b_.CreateSelect(b_.CreateICmp(u ? llvm::CmpInst::ICMP_ULT : llvm::CmpInst::ICMP_SLT, x[0], x[1]), x[0],
                               x[1]);
      case Word::max:
        return b_.CreateSelect(b_.CreateICmp(u ? llvm::CmpInst::ICMP_UGT : llvm::CmpInst::ICMP_SGT, x[0], x[1]), x[0],
                               x[1]);
      case Word::bit_and: return b_.CreateAnd(x[0], x[1]);
      case Word::bit_or: return b_.CreateOr(x[0], x[1]);
      case Word::bit_xor: return b_.CreateXor(x[0], x[1]);
      case Word::bit_not: return b_.CreateNot(x[0]);
      case Word::equal: return b_.CreateICmpEQ(x[0], x[1]);
      case Word::not_equal: return b_.CreateICmpNE(x[0], x[1]);
      case Word::less: return b_.CreateICmp(u ? llvm::CmpInst::ICMP_ULT : llvm::CmpInst::ICMP_SLT, x[0], x[1]);
      case Word::less_equal: return b_.CreateICmp(u ? llvm::CmpInst::ICMP_ULE : llvm::CmpInst::ICMP_SLE, x[0], x[1]);
      case Word::greater: return b_.CreateICmp(u ? llvm::CmpInst::ICMP_UGT : llvm::CmpInst::ICMP_SGT, x[0], x[1]);
      case Word::greater_equal: return b_.CreateICmp(u ? llvm::CmpInst::ICMP_UGE : llvm::CmpInst::ICMP_SGE, x[0], x[1]);
      case Word::isnan:
      case Word::isinf: return spread(b_.getFalse());
      case Word::isfinite: return spread(b_.getTrue());
      default: return nullptr;
    }
  }

  /// The narrowest register of at least these lanes that the exponent instructions work on.
  int lanes_of_instruction(DType d) const {
    const int bytes = width_ * (d == DType::float32 ? 4 : 8);
    return (bytes <= 16 ? 16 : bytes <= 32 ? 32 : 64) / (d == DType::float32 ? 4 : 8);
  }
  llvm::Value* exponent_word(Word w, DType d, llvm::ArrayRef<llvm::Value*> x) {
    using namespace llvm::Intrinsic;
    const int lanes = lanes_of_instruction(d), bytes = lanes * (d == DType::float32 ? 4 : 8);
    const int size = bytes == 64 ? 0 : bytes == 32 ? 1 : 2;
    const auto pick = [&](std::array<ID, 6> ids) { return ids[at(size + (d == DType::float32 ? 3 : 0))]; };
    llvm::SmallVector<llvm::Value*, 3> wide;
    for (llvm::Value* v : x) wide.push_back(widened(v, lanes));
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
    return narrowed(b_.CreateIntrinsic(id, {}, arguments));
  }

  /// More lanes: the others repeat the first.
  llvm::Value* widened(llvm::Value* x, int lanes) {
    if (width_ == lanes) return x;
    if (width_ == 1) return b_.CreateVectorSplat(at(lanes), x);
    llvm::SmallVector<int> mask;
    for (int i = 0; i < lanes; ++i) mask.push_back(i < width_ ? i : 0);
    return b_.CreateShuffleVector(x, x, mask);
  }
  llvm::Value* narrowed(llvm::Value* x) {
    if (width_ == 1) return b_.CreateExtractElement(x, std::uint64_t{0});
    const auto lanes = static_cast<int>(llvm::cast<llvm::FixedVectorType>(x->getType())->getNumElements());
    if (lanes == width_) return x;
    llvm::SmallVector<int> mask;
    for (int i = 0; i < width_; ++i) mask.push_back(i);
    return b_.CreateShuffleVector(x, x, mask);
  }
  /// The library's own function of a whole register.
  llvm::Value* call(Word w, DType d, llvm::ArrayRef<llvm::Value*> x) {
    const auto bits = static_cast<int>(scalar_type(d)->getScalarSizeInBits());
    const int lanes = machine_.register_bytes * 8 / bits;
    llvm::Type* const whole = llvm::FixedVectorType::get(scalar_type(d), at(lanes));
    llvm::SmallVector<llvm::Value*, 3> arguments;
    for (llvm::Value* v : x) arguments.push_back(widened(v, lanes));
    const llvm::SmallVector<llvm::Type*, 3> types(arguments.size(), whole);
    auto* const signature = llvm::FunctionType::get(whole, types, false);
    llvm::Value* const address =
        b_.CreateIntToPtr(b_.getInt64(reinterpret_cast<std::uint64_t>(machine_.function_of(w, d))), b_.getPtrTy());
    llvm::CallInst* const made = b_.CreateCall(signature, address, arguments);
    made->addFnAttr(llvm::Attribute::NoUnwind);
    return narrowed(made);
  }

  /// The formula's result, which holds up to a size of the argument. Beyond, all of the stage is computed again with
  /// calls of the function itself: so the largest argument is all that code keeps.
  llvm::Value* circular(Word w, DType d, llvm::Value* x, llvm::Value* formula) {
    if (machine_.is_careful) return call(w, d, {x});
    llvm::Value*& largest = largest_[d];
    llvm::Value* const size = unary(llvm::Intrinsic::fabs, x);
    largest = largest ? b_.CreateSelect(b_.CreateFCmpOGT(size, largest), size, largest) : size;
    return formula;
  }
  /// Whether an argument was larger; null: there was none.
  llvm::Value* any_large() {
    llvm::Value* any = nullptr;
    for (const auto& [d, largest] : largest_) {
      llvm::Value* const is_large = b_.CreateFCmpOGT(largest, number(d, machine_.circular_limit(d)));
      llvm::Value* const here = width_ == 1 ? is_large : b_.CreateOrReduce(is_large);
      any = any ? b_.CreateOr(any, here) : here;
    }
    return any;
  }
  llvm::MDNode* is_rare() { return llvm::MDBuilder(context_).createBranchWeights(1, 1 << 20); }
  llvm::Value* kernel() { return b_.CreateLoad(b_.getInt64Ty(), slots_); }
  llvm::Value* stage_number() { return b_.getInt64(stage_); }
  void call_library(const void* f, llvm::ArrayRef<llvm::Value*> arguments) {
    llvm::SmallVector<llvm::Type*> types;
    for (llvm::Value* x : arguments) types.push_back(x->getType());
    llvm::Value* const address = b_.CreateIntToPtr(b_.getInt64(reinterpret_cast<std::uint64_t>(f)), b_.getPtrTy());
    b_.CreateCall(llvm::FunctionType::get(b_.getVoidTy(), types, false), address, arguments)
        ->addFnAttr(llvm::Attribute::NoUnwind);
  }
  /// The outputs and what totals get, from the careful code where an argument was large. That code gives each total
  /// joined: it stands in the last lane, which always counts, and the others get the start.
  void carefully(llvm::Value* any, const Stage& stage, std::vector<std::vector<llvm::Value*>>& parts,
                 llvm::Value* overlap, llvm::Value* totals) {
    auto* const careful = llvm::BasicBlock::Create(context_, "careful", function_);
    auto* const usual = llvm::BasicBlock::Create(context_, "usual", function_);
    auto* const both = llvm::BasicBlock::Create(context_, "both", function_);
    std::vector<llvm::Value*> starts, joined;
    for (const Node n : stage.totals) starts.push_back(value(graph_[n].from[1]));
    b_.CreateCondBr(any, careful, usual, is_rare());
    b_.SetInsertPoint(careful);
    call_library(reinterpret_cast<const void*>(machine_.careful_lanes),
                 {kernel(), stage_number(), in_, out_, lane_count_, slots_, lanes_[0],
                  overlap ? overlap : b_.getInt64(0), totals});
    for (std::size_t k = 0; k < starts.size(); ++k) {
      llvm::Value* const place = b_.CreateConstGEP1_64(b_.getInt64Ty(), totals, k);
      joined.push_back(
          b_.CreateInsertElement(starts[k], load_memory(graph_[stage.totals[k]].dtype, place), at(width_ - 1)));
    }
    b_.CreateBr(both);
    b_.SetInsertPoint(usual);
    in_each_register([&] { store_outputs(stage.lane_outputs); });
    llvm::BasicBlock* const end_of_usual = b_.GetInsertBlock();
    b_.CreateBr(both);
    b_.SetInsertPoint(both);
    in_each_register([&] {
      for (std::size_t k = 0; k < starts.size(); ++k) {
        llvm::Value*& part = parts[at(register_)][k];
        llvm::PHINode* const chosen = b_.CreatePHI(part->getType(), 2);
        chosen->addIncoming(register_ == registers_ - 1 ? joined[k] : starts[k], careful);
        chosen->addIncoming(part, end_of_usual);
        part = chosen;
      }
    });
  }

  llvm::Value* converted(llvm::Value* x, DType from, DType to) {
    if (from == DType::bfloat16) return converted(widened_bfloat16(x), DType::float32, to);
    if (from == DType::float16 && to != DType::float32)
      return converted(b_.CreateFPExt(x, type(DType::float32)), DType::float32, to);
    if (to == DType::boolean)
      return is_float(from) ? b_.CreateFCmpUNE(x, number(from, 0)) : b_.CreateICmpNE(x, number(from, 0));
    if (to == DType::float16 || to == DType::bfloat16) {
      llvm::Value* const single = converted(x, from, DType::float32);
      return to == DType::float16 ? b_.CreateFPTrunc(single, type(to)) : narrowed_bfloat16(single);
    }
    if (from == to) return x;
    const bool from_float = is_float(from) || from == DType::float16;
    if (from_float && is_float(to))
      return to == DType::float64 || from == DType::float16 ? b_.CreateFPExt(x, type(to))
                                                            : b_.CreateFPTrunc(x, type(to));
    if (is_float(to)) return is_unsigned(from) ? b_.CreateUIToFP(x, type(to)) : b_.CreateSIToFP(x, type(to));
    if (from_float) {
      llvm::Value* const whole = b_.CreateFPToSI(x, type(to == DType::int64 ? DType::int64 : DType::int32));
      return b_.CreateSExtOrTrunc(whole, type(to));
    }
    return is_unsigned(from) ? b_.CreateZExtOrTrunc(x, type(to)) : b_.CreateSExtOrTrunc(x, type(to));
  }
  llvm::Value* widened_bfloat16(llvm::Value* x) {
    llvm::Value* const bits = b_.CreateZExt(x, type(DType::int32));
    return b_.CreateBitCast(b_.CreateShl(bits, number(DType::int32, 16)), type(DType::float32));
  }
  llvm::Value* narrowed_bfloat16(llvm::Value* x) {
    llvm::Value* const bits = b_.CreateBitCast(x, type(DType::int32));
    const auto shifted = [&](llvm::Value* v) { return b_.CreateLShr(v, number(DType::int32, 16)); };
    llvm::Value* const nan = b_.CreateOr(shifted(bits), number(DType::int32, 0x40));
    llvm::Value* const last = b_.CreateAnd(shifted(bits), number(DType::int32, 1));
    llvm::Value* const rounded = shifted(b_.CreateAdd(b_.CreateAdd(bits, number(DType::int32, 0x7fff)), last));
    return b_.CreateTrunc(b_.CreateSelect(b_.CreateFCmpUNO(x, x), nan, rounded), type(DType::bfloat16));
  }

  /// All lanes joined, by halves.
  llvm::Value* folded(const ScalarStep& total, llvm::Value* x) {
    const int width = width_;
    for (int half = width / 2; half > 0; half /= 2) {
      llvm::SmallVector<int> low, high;
      for (int i = 0; i < half; ++i) low.push_back(i), high.push_back(half + i);
      width_ = half;
      x = word(total.word, total.dtype, {b_.CreateShuffleVector(x, x, low), b_.CreateShuffleVector(x, x, high)});
    }
    width_ = width;
    return b_.CreateExtractElement(x, std::uint64_t{0});
  }

  void set_attributes(llvm::Function* f) const {
    const std::string bits = std::to_string(machine_.register_bytes * 8);
    f->addFnAttr("min-legal-vector-width", bits);
    f->addFnAttr("prefer-vector-width", bits);
    f->addFnAttr(llvm::Attribute::NoUnwind);
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> b_;
  const LanePlan& plan_;
  const ScalarGraph& graph_;
  const Machine& machine_;
  std::size_t stage_;
  int width_, registers_, register_ = 0;  // of which values are made
  llvm::Function* function_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;
  llvm::Value *in_ = nullptr, *out_ = nullptr, *lane_count_ = nullptr, *slots_ = nullptr;
  std::map<int, llvm::Value*> ins_, outs_;
  std::vector<std::unordered_map<Node, llvm::Value*>> values_;  // by register
  std::vector<std::map<RowPart, std::vector<llvm::Value*>>> read_parts_;
  std::vector<llvm::Value*> lanes_;  // the first lane of each register
  std::vector<llvm::Value*> totals_;
  std::map<DType, llvm::Value*> largest_;  // arguments of sin and cos
};

/// The one session of the process; it lives as long as the process.
orc::LLJIT* session(std::string& error) {
  static std::string failure;
  static orc::LLJIT* const jit = []() -> orc::LLJIT* {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    auto machine = orc::JITTargetMachineBuilder::detectHost();
    if (!machine) return failure = llvm::toString(machine.takeError()), nullptr;
    machine->setCodeGenOptLevel(llvm::CodeGenOptLevel::Less);
    machine->getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
    auto made = orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*machine)).create();
    if (!made) return failure = llvm::toString(made.takeError()), nullptr;
    return made->release();
  }();
  error = failure;
  return jit;
}

/// The lanes of a register: by the widest elements that a lane computes with. Where those are few beside elements of
/// half their size, such as sums of floats in double, they take two registers.
int width_of(const LanePlan& plan, int register_bytes) {
  std::size_t widest = 1, counts[17] = {};
  bool calls = false;  // by a whole register
  for (const Stage& stage : plan.stages)
    for (const Node n : stage.lane) {
      const ScalarStep& s = plan.program.graph[n];
      ++counts[element_size(s.dtype)];
      const bool is_simple =
          s.kind != Kind::word || s.word <= Word::divide || s.word == Word::negative || s.word == Word::fma;
      calls = calls || (!is_simple && element_size(s.dtype) == 8);
    }
  if (!calls && counts[8] * 3 < counts[4]) return register_bytes / 4;
  for (const Stage& stage : plan.stages)
    for (const Node n : stage.lane) widest = std::max(widest, element_size(plan.program.graph[n].dtype));
  for (const Stage& stage : plan.stages)
    for (const Output& output : stage.lane_outputs)
      widest = std::max(widest, element_size(plan.program.graph[output.node].dtype));
  return std::min(register_bytes / static_cast<int>(widest), register_bytes / 4);
}

/// How many registers of lanes are computed side by side: as many as hide the latency of the longest chain of
/// operations, where the code is so long that the processor sees no second one of it ahead.
int registers_of(const LanePlan& plan) {
  constexpr std::size_t seen_ahead = 150, longest = 12'000;
  int registers = 1;
  for (const Stage& stage : plan.stages) {
    if (stage.lane.size() < seen_ahead) continue;
    std::unordered_map<Node, double> ready;
    double chain = 0, busy = 0;
    for (const Node n : stage.lane) {
      const ScalarStep& s = plan.program.graph[n];
      double from = 0;
      for (const Node operand : s.from)
        if (const auto found = ready.find(operand); found != ready.end()) from = std::max(from, found->second);
      const bool is_slow = s.kind == Kind::word && (s.word == Word::divide || s.word == Word::sqrt);
      const bool is_value = s.kind == Kind::word || s.kind == Kind::convert;
      const double latency = is_slow ? 16 : is_value ? 4 : 1;
      busy += is_slow ? 12 : 1;
      chain = std::max(chain, ready[n] = from + latency);
    }
    int wanted = std::clamp(static_cast<int>(chain / busy + 0.5), 1, 4);
    while (wanted > 1 && stage.lane.size() * at(wanted) > longest) --wanted;
    registers = std::max(registers, wanted);
  }
  return registers;
}

void generate(const LanePlan& plan, const Machine& machine, Code& code) {
  orc::LLJIT* const jit = session(code.error);
  if (!jit) return;
  static std::atomic<std::uint64_t> kernels{0};
  const std::string prefix = "lanes" + std::to_string(kernels++) + "_";
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>(prefix, *context);
  module->setDataLayout(jit->getDataLayout());
  module->setTargetTriple(jit->getTargetTriple().str());
  const int width = plan.program.has_lanes ? width_of(plan, machine.register_bytes) : 1;
  const int registers = plan.program.has_lanes ? registers_of(plan) : 1;
  code.width = width * registers;
  std::vector<std::array<std::string, 3>> names;
  for (std::size_t k = 0; k < plan.stages.size(); ++k) {
    const Stage& stage = plan.stages[k];
    auto& name = names.emplace_back();
    const std::string number = std::to_string(k);
    if (!stage.once.empty() || !stage.once_outputs.empty())
      Writer(*module, plan, machine, k, 1, 1).write_once(name[0] = prefix + "once" + number, stage);
    if (!stage.totals.empty() || !stage.lane_outputs.empty())
      Writer(*module, plan, machine, k, width, registers).write_lanes(name[1] = prefix + "lane" + number, stage);
    if (!stage.totals.empty())
      Writer(*module, plan, machine, k, 1, 1).write_join(name[2] = prefix + "join" + number, stage);
  }
  if (machine.dump) {
    llvm::raw_string_ostream text(*machine.dump);
    module->print(text, nullptr);
  }
#ifndef NDEBUG
  if (llvm::verifyModule(*module, &llvm::errs())) {
    code.error = "the code does not verify";
    return;
  }
#endif
  auto tracker = jit->getMainJITDylib().createResourceTracker();
  if (llvm::Error failed = jit->addIRModule(tracker, {std::move(module), std::move(context)})) {
    code.error = llvm::toString(std::move(failed));
    return;
  }
  const auto address = [&](const std::string& name) -> std::uint64_t {
    if (name.empty() || !code.error.empty()) return 0;
    auto found = jit->lookup(name);
    if (found) return found->getValue();
    code.error = llvm::toString(found.takeError());
    return 0;
  };
  for (const auto& name : names)
    code.stages.push_back({reinterpret_cast<OnceFunction>(address(name[0])),
                           reinterpret_cast<LaneFunction>(address(name[1])),
                           reinterpret_cast<JoinFunction>(address(name[2]))});
  code.owner = new orc::ResourceTrackerSP(std::move(tracker));
  code.release = [](void* owner) {
    const std::unique_ptr<orc::ResourceTrackerSP> kept(static_cast<orc::ResourceTrackerSP*>(owner));
    llvm::consumeError((*kept)->remove());
  };
}

}  // namespace
}  // namespace ricci::compiled

extern "C" void ricci_generate(const ricci::compiled::LanePlan& plan, const ricci::compiled::Machine& machine,
                               ricci::compiled::Code& code) {
  ricci::compiled::generate(plan, machine, code);
}
