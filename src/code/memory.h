// What one function of a plan reads and writes: tensors and slots, and rows of elements as registers of lanes.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "code/lane_builder.h"
#include "compile/plan.h"

namespace ricci::compiled {

/// The parameters of a function, and the places of elements.
class Memory {
 public:
  Memory(LaneBuilder& b, const LanePlan& plan);
  LaneBuilder& builder() const { return b_; }

  llvm::Value *in = nullptr, *out = nullptr, *lane_count = nullptr, *slots = nullptr;
  llvm::BasicBlock* entry = nullptr;  ///< the first block of the function

  llvm::Value* input(int tensor) { return pointer(in, ins_, tensor); }
  llvm::Value* output(int tensor) { return pointer(out, outs_, tensor); }
  /// Where the tensors are known, no list of them is read.
  void place_input(int tensor, llvm::Value* where) { ins_.known[tensor] = where; }
  void place_output(int tensor, llvm::Value* where) { outs_.known[tensor] = where; }
  DType output_dtype(int tensor) const { return plan_.program.output_dtypes[at(tensor)]; }
  /// The place of an element in lane `lane` (null: it serves all), in elements.
  llvm::Value* place(const Place& p, llvm::Value* lane);
  /// Of a place of this tensor: from one lane to the next, in elements.
  llvm::Value* stride(std::int64_t of_place, int tensor);
  /// From now on the tensor's elements are counted from its element number `by` on.
  void move_input(int tensor, DType d, llvm::Value* by) { ins_.known[tensor] = b_.element(input(tensor), d, by); }
  void move_output(int tensor, llvm::Value* by) {
    outs_.known[tensor] = b_.element(output(tensor), output_dtype(tensor), by);
  }
  /// How many elements of each lane stand in rows.
  std::ptrdiff_t elements_in_rows() const {
    const auto is_in_row = [](const auto& x) { return x.place.stride > 1; };
    return std::ranges::count_if(plan_.program.inputs, is_in_row) +
           std::ranges::count_if(plan_.program.outputs, is_in_row);
  }
  llvm::Value* slot(Node n) { return b_.CreateConstGEP1_64(b_.getInt64Ty(), slots, at(plan_.slots[at(n)])); }

 private:
  struct Tensors {
    int count = 0;
    std::map<int, llvm::Value*> known = {};
  };
  llvm::Value* pointer(llvm::Value* list, Tensors& tensors, int tensor);

  LaneBuilder& b_;
  const LanePlan& plan_;
  Tensors ins_, outs_;
  std::map<std::size_t, llvm::Value*> rows_;  // lengths that are read already
};

/// Neighbouring elements of one row of an input or output, `width` rows of which are read or written together.
struct RowPart {
  int tensor;
  std::int64_t stride, per_lane_count, first;  // the first element's place is `first`
  int count;
  auto key() const { return std::tuple(tensor, stride, per_lane_count, first, count); }
  bool operator<(const RowPart& other) const { return key() < other.key(); }
};

/// Elements of the lanes from one on. What lies side by side in a lane's row is read and written together, and turned
/// by a transposition. Where there are many, the transpositions are calls of a function: LLVM takes up to a millisecond
/// for each element of a transposition that stands among thousands of others.
class Rows {
 public:
  explicit Rows(Memory& memory) : b_(memory.builder()), memory_(memory) {}

  llvm::Value* read(const Input& input, llvm::Value* lane);
  /// `outputs` with their values.
  void write(const std::vector<std::pair<Output, llvm::Value*>>& outputs, llvm::Value* lane);

 private:
  using Column = std::pair<std::int64_t, llvm::Value*>;  // the place in its row, and the value
  llvm::Value* row_pointer(llvm::Value* base, const RowPart& part, DType d, int row, llvm::Value* lane);
  std::vector<llvm::Value*> read_rows(const RowPart& part, DType d, llvm::Value* lane);
  std::vector<llvm::Value*> read_interleaved(const RowPart& part, DType d, llvm::Value* lane);
  void write_run(const RowPart& of, llvm::ArrayRef<Column> columns, llvm::Value* lane);
  void write_part(const RowPart& part, std::vector<llvm::Value*> columns, llvm::Value* lane);
  void write_interleaved(const RowPart& part, const std::vector<llvm::Value*>& columns, llvm::Value* lane);
  void write_first(llvm::Value* x, int count, llvm::Value* to);
  bool calls_functions() const;
  llvm::Value* block();
  llvm::Value* register_of(llvm::Type* type, llvm::Value* block, int k);
  template <class Write>
  llvm::Function* function(const std::string& name, const Write& write);

  LaneBuilder& b_;
  Memory& memory_;
  llvm::Value* block_ = nullptr;                                                // memory for a register of each row
  std::map<std::pair<llvm::Value*, RowPart>, std::vector<llvm::Value*>> read_;  // by first lane
};

}  // namespace ricci::compiled
