// Elements at computed places of a tensor in memory. A row of which a lane needs several elements is read at once.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "code/lane_builder.h"
#include "compile/plan.h"

namespace ricci::compiled {

class Loads {
 public:
  /// Of all lanes of a stage.
  Loads(LaneBuilder& b, const ScalarGraph& graph, const Stage& stage);

  /// `address` and `place`: the values of the operands of this load.
  llvm::Value* read(const ScalarStep& load, llvm::Value* address, llvm::Value* place);

 private:
  using Columns = std::vector<llvm::Value*>;
  std::int64_t first_of(const ScalarStep& load) const;  // the offset of the part that is read together
  auto part_of(const ScalarStep& load) const { return std::tuple(load.from[0], load.from[1], first_of(load)); }
  Columns read_rows(const ScalarStep& load, llvm::Value* base, llvm::Value* place);

  LaneBuilder& b_;
  std::map<std::tuple<Node, Node, std::int64_t>, int> counts_;  // of loads in a part
  std::map<std::tuple<llvm::Value*, llvm::Value*, std::int64_t>, Columns> read_;
};

}  // namespace ricci::compiled
