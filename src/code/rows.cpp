// Rows of elements in memory as registers of lanes, and back.
#include <llvm/IR/Module.h>

#include <algorithm>
#include <string>

#include "code/memory.h"
#include "code/words.h"

namespace ricci::compiled {

llvm::Value* Rows::read(const Input& input, llvm::Value* lane) {
  const Place& p = input.place;
  const int width = b_.width();
  const auto pointer = [&] { return b_.element(memory_.input(p.tensor), input.dtype, memory_.place(p, lane)); };
  if (p.stride == 0 || width == 1) return b_.spread(b_.load_element(input.dtype, pointer()));
  if (p.stride == 1) return b_.from_memory(b_.load_neighbours(input.dtype, pointer()), input.dtype);
  const std::int64_t column = p.base % p.stride;
  RowPart part{p.tensor, p.stride, p.per_lane_count, p.base - column, 0};
  if (p.stride < width) {
    part.count = static_cast<int>(p.stride);
  } else {
    part.first += std::min(column / width * width, p.stride - width);
    part.count = width;
  }
  auto& columns = read_[{lane, part}];
  if (columns.empty())
    columns = part.count < width ? read_interleaved(part, input.dtype, lane) : read_rows(part, input.dtype, lane);
  return b_.from_memory(columns[at(p.base - part.first)], input.dtype);
}

llvm::Value* Rows::row_pointer(llvm::Value* base, const RowPart& part, DType d, int row, llvm::Value* lane) {
  const Place p{part.tensor, part.first, part.per_lane_count, part.stride};
  return b_.element(
      base, d,
      b_.CreateAdd(memory_.place(p, lane), b_.CreateMul(memory_.stride(part.stride, part.tensor), b_.count(row))));
}

bool Rows::calls_functions() const {
  constexpr std::ptrdiff_t few = 256;
  return memory_.elements_in_rows() > few && b_.width() > 2;
}

/// Memory for one block, on the stack.
llvm::Value* Rows::block() {
  if (block_) return block_;
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(memory_.entry, memory_.entry->begin());
  constexpr std::uint64_t widest = 8;
  return block_ = b_.CreateAlloca(b_.getInt8Ty(), b_.getInt64(widest * at(b_.width()) * at(b_.width())));
}

llvm::Value* Rows::register_of(llvm::Type* type, llvm::Value* block, int k) {
  return b_.CreateConstGEP1_64(type, block, at(k));
}

/// A function (block, first row, bytes from row to row) of this name, which `write(block, row)` writes at its first
/// use; row(i) is the address of a row.
template <class Write>
llvm::Function* Rows::function(const std::string& name, const Write& write) {
  llvm::Function* const caller = b_.GetInsertBlock()->getParent();
  if (llvm::Function* const known = caller->getParent()->getFunction(name)) return known;
  llvm::Type* const ptr = b_.getPtrTy();
  auto* const type = llvm::FunctionType::get(b_.getVoidTy(), {ptr, ptr, b_.getInt64Ty()}, false);
  auto* const f = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, caller->getParent());
  f->addFnAttrs(llvm::AttrBuilder(b_.getContext(), caller->getAttributes().getFnAttrs()));
  f->addFnAttr(llvm::Attribute::NoInline);
  f->setCallingConv(inner_convention(*f->getParent()));
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(llvm::BasicBlock::Create(b_.getContext(), "entry", f));
  write(f->getArg(0),
        [&](int row) { return b_.CreateGEP(b_.getInt8Ty(), f->getArg(1), b_.CreateMul(f->getArg(2), b_.count(row))); });
  b_.CreateRetVoid();
  return f;
}

namespace {
void call(LaneBuilder& b, llvm::Function* f, llvm::ArrayRef<llvm::Value*> arguments) {
  b.CreateCall(f, arguments)->setCallingConv(f->getCallingConv());
}
llvm::Value* row_bytes(LaneBuilder& b, Memory& memory, const RowPart& part, DType d) {
  return b.CreateMul(memory.stride(part.stride, part.tensor), b.count(static_cast<std::int64_t>(element_size(d))));
}
std::string name_of(const char* what, const LaneBuilder& b, DType d, int count) {
  return std::string(what) + std::to_string(count) + "_" + std::to_string(b.width()) + "_" +
         std::to_string(static_cast<int>(d));
}
}  // namespace

std::vector<llvm::Value*> Rows::read_rows(const RowPart& part, DType d, llvm::Value* lane) {
  const auto row_of = [&](int row) { return row_pointer(memory_.input(part.tensor), part, d, row, lane); };
  const auto columns = [&](const auto& row) {
    std::vector<llvm::Value*> rows;
    for (int i = 0; i < b_.width(); ++i) rows.push_back(b_.load_neighbours(d, row(i)));
    return b_.transposed(rows);
  };
  if (!calls_functions()) return columns(row_of);
  llvm::Type* const type = b_.wide(b_.memory_type(d));
  llvm::Function* const f = function(name_of("read_rows", b_, d, 0), [&](llvm::Value* to, const auto& row) {
    const std::vector<llvm::Value*> all = columns(row);
    for (int k = 0; k < b_.width(); ++k) b_.store_raw(all[at(k)], register_of(type, to, k));
  });
  call(b_, f, {block(), row_of(0), row_bytes(b_, memory_, part, d)});
  std::vector<llvm::Value*> all;
  for (int k = 0; k < b_.width(); ++k)
    all.push_back(b_.CreateAlignedLoad(type, register_of(type, block(), k), llvm::Align(1)));
  return all;
}

/// Short rows without gaps: those of all lanes are `count` registers.
std::vector<llvm::Value*> Rows::read_interleaved(const RowPart& part, DType d, llvm::Value* lane) {
  const int width = b_.width();
  std::vector<llvm::Value*> registers, columns;
  for (int k = 0; k < part.count; ++k) {
    const Place p{part.tensor, part.first + k * width, part.per_lane_count, part.stride};
    registers.push_back(b_.load_neighbours(d, b_.element(memory_.input(part.tensor), d, memory_.place(p, lane))));
  }
  for (int c = 0; c < part.count; ++c) {
    llvm::Value* column = nullptr;
    for (int k = 0; k < part.count; ++k) {
      llvm::SmallVector<int> mask;
      bool any = false;
      for (int i = 0; i < width; ++i) {
        const int where = i * part.count + c;
        const bool here = where / width == k;
        any = any || here;
        mask.push_back(here ? width + where % width : i);
      }
      if (any) column = b_.CreateShuffleVector(column ? column : registers[at(k)], registers[at(k)], mask);
    }
    columns.push_back(column);
  }
  return columns;
}

void Rows::write(const std::vector<std::pair<Output, llvm::Value*>>& outputs, llvm::Value* lane) {
  std::map<RowPart, std::vector<Column>> rows;  // by tensor and stride
  for (const auto& [output, value] : outputs) {
    const Place& p = output.place;
    const DType d = memory_.output_dtype(p.tensor);
    if (p.stride == 1 || b_.width() == 1)
      b_.store(value, d, b_.element(memory_.output(p.tensor), d, memory_.place(p, lane)));
    else rows[{p.tensor, p.stride, p.per_lane_count, 0, 0}].emplace_back(p.base, b_.to_memory(value, d));
  }
  for (auto& [of, columns] : rows) {
    std::ranges::sort(columns, {}, &Column::first);
    for (std::size_t first = 0; first < columns.size();) {
      std::size_t last = first + 1;
      while (last < columns.size() && columns[last].first == columns[last - 1].first + 1 &&
             columns[last].first / of.stride == columns[first].first / of.stride)
        ++last;
      write_run(of, llvm::ArrayRef(columns).slice(first, last - first), lane);
      first = last;
    }
  }
}

/// Neighbours in a row, `width` at a time; the last ones overlap those before.
void Rows::write_run(const RowPart& of, llvm::ArrayRef<Column> columns, llvm::Value* lane) {
  const int width = b_.width(), count = static_cast<int>(columns.size());
  for (int from = 0; from < count; from += width) {
    if (from + width > count && count >= width) from = count - width;
    const int here = std::min(width, count - from);
    std::vector<llvm::Value*> values;
    for (int k = 0; k < width; ++k) values.push_back(columns[at(from + std::min(k, here - 1))].second);
    write_part({of.tensor, of.stride, of.per_lane_count, columns[at(from)].first, here}, values, lane);
  }
}
/// `columns`: the last of fewer than `width` repeats.
void Rows::write_part(const RowPart& part, std::vector<llvm::Value*> columns, llvm::Value* lane) {
  const DType d = memory_.output_dtype(part.tensor);
  const int width = b_.width();
  const auto to = [&](int row) { return row_pointer(memory_.output(part.tensor), part, d, row, lane); };
  if (part.count == 1) {
    for (int row = 0; row < width; ++row) b_.store_raw(b_.CreateExtractElement(columns[0], at(row)), to(row));
    return;
  }
  if (part.count == part.stride && part.count <= 4) return write_interleaved(part, columns, lane);
  const auto write_rows = [&](std::vector<llvm::Value*> of, const auto& row_of) {
    const std::vector<llvm::Value*> rows = b_.transposed(std::move(of));
    for (int row = 0; row < width; ++row) {
      if (part.count == width) b_.store_raw(rows[at(row)], row_of(row));
      else write_first(rows[at(row)], part.count, row_of(row));
    }
  };
  if (!calls_functions()) return write_rows(std::move(columns), to);
  llvm::Type* const type = columns[0]->getType();
  llvm::Function* const f = function(name_of("write_rows", b_, d, part.count), [&](llvm::Value* from, const auto& row) {
    std::vector<llvm::Value*> all;
    for (int k = 0; k < width; ++k)
      all.push_back(b_.CreateAlignedLoad(type, register_of(type, from, std::min(k, part.count - 1)), llvm::Align(1)));
    write_rows(std::move(all), row);
  });
  for (int k = 0; k < part.count; ++k) b_.store_raw(columns[at(k)], register_of(type, block(), k));
  call(b_, f, {block(), to(0), row_bytes(b_, memory_, part, d)});
}
/// The first elements, in pieces of powers of two.
void Rows::write_first(llvm::Value* x, int count, llvm::Value* to) {
  auto* const t = llvm::cast<llvm::FixedVectorType>(x->getType())->getElementType();
  int from = 0;
  for (int piece = b_.width() / 2; piece > 0; piece /= 2) {
    if (!(count & piece)) continue;
    llvm::SmallVector<int> mask;
    for (int i = 0; i < piece; ++i) mask.push_back(from + i);
    llvm::Value* const part = piece == 1 ? b_.CreateExtractElement(x, at(from)) : b_.CreateShuffleVector(x, x, mask);
    b_.store_raw(part, b_.CreateConstGEP1_64(t, to, at(from)));
    from += piece;
  }
}
void Rows::write_interleaved(const RowPart& part, const std::vector<llvm::Value*>& columns, llvm::Value* lane) {
  const DType d = memory_.output_dtype(part.tensor);
  const int width = b_.width();
  for (int k = 0; k < part.count; ++k) {
    llvm::Value* whole = nullptr;
    for (int c = 0; c < part.count; ++c) {
      llvm::SmallVector<int> mask;
      for (int i = 0; i < width; ++i) {
        const int where = k * width + i;
        mask.push_back(where % part.count == c ? width + where / part.count : i);
      }
      whole = b_.CreateShuffleVector(whole ? whole : columns[at(c)], columns[at(c)], mask);
    }
    const Place p{part.tensor, part.first + k * width, part.per_lane_count, part.stride};
    b_.store_raw(whole, b_.element(memory_.output(part.tensor), d, memory_.place(p, lane)));
  }
}

}  // namespace ricci::compiled
