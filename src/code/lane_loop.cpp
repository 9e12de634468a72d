// The function that computes all lanes: a loop over registers, with totals of the lanes.
#include <llvm/IR/Constants.h>

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "code/stage_function.h"

namespace ricci::compiled {

/// Those that are not stored yet. What stands in rows is stored row by row.
void StageFunction::store_lane_outputs() {
  in_each_register([&] {
    std::vector<std::pair<Output, llvm::Value*>> outputs;
    for (const Output& output : stage_.lane_outputs)
      if (!is_register(output.place) || waiting_.contains(output.node))
        outputs.emplace_back(output, value(output.node));
    rows_.write(outputs, lane());
  });
}

StageFunction::Values StageFunction::starts_of_totals() {
  Values starts;
  for (const Node n : stage_.totals) starts.push_back(value(graph_[n].from[1]));
  return starts;
}

/// Sums with their parts, in the lanes that count: from number `overlap` on.
StageFunction::OfTotals StageFunction::joined(const OfTotals& sums, const OfTotals& parts, llvm::Value* overlap) {
  OfTotals next(at(registers_));
  in_each_register([&] {
    const std::size_t r = at(register_);
    llvm::Value* const numbers = b_.numbers_from(b_.count(register_ * b_.width()));
    llvm::Value* const counts = b_.CreateICmpSGE(numbers, b_.spread(overlap));
    for (std::size_t k = 0; k < stage_.totals.size(); ++k) {
      const ScalarStep& s = graph_[stage_.totals[k]];
      llvm::Value* const both = words_.word(s.word, s.dtype, {sums[r][k], parts[r][k]});
      next[r].push_back(b_.CreateSelect(counts, both, sums[r][k]));
    }
  });
  return next;
}

/// A LaneFunction, or a WalkFunction.
void StageFunction::begin_lanes() {
  auto* const i64 = b_.getInt64Ty();
  auto* const ptr = b_.getPtrTy();
  if (plan_.walks) begin({ptr, ptr, i64, ptr, i64, i64, i64, ptr, i64, ptr, ptr});
  else begin({ptr, ptr, i64, ptr, i64, i64, i64, ptr});
  memory_.in = function_->getArg(0), memory_.out = function_->getArg(1);
  memory_.lane_count = function_->getArg(2), memory_.slots = function_->getArg(3);
}

/// The last registers overlap those before.
StageFunction::Registers StageFunction::compute_lanes(llvm::Value* from, llvm::Value* end) {
  llvm::Value* const all_lanes = b_.count(b_.width() * registers_);
  llvm::Value* const behind = b_.CreateAdd(from, all_lanes);
  llvm::Value* const are_last = b_.CreateICmpSGT(behind, end);
  llvm::Value* const lane = b_.CreateSelect(are_last, b_.CreateSub(end, all_lanes), from);
  for (int r = 0; r < registers_; ++r) lanes_[at(r)] = b_.CreateAdd(lane, b_.count(r * b_.width()));
  values_.assign(at(registers_), {});
  find_companions(stage_.lane);
  for (const Node n : stage_.lane) {
    in_each_register([&] { compute(n); });
    const auto places = waiting_.extract(n);
    if (!places) continue;
    in_each_register([&] {
      for (const Place& place : places.mapped()) rows_.write({{{n, place}, value(n)}}, lanes_[at(register_)]);
    });
  }
  return {behind, are_last};
}

struct StageFunction::Walk {
  struct Moving {
    llvm::PHINode* pointer;
    llvm::Value* step;  // in bytes
  };
  llvm::BasicBlock* begin;
  llvm::PHINode* number;  // of the position
  std::vector<Moving> tensors = {};
  std::vector<std::vector<llvm::PHINode*>> sums = {};  // by register, by total
};

/// Totals go on from position to position. Tensors whose element serves all lanes stay where they are.
StageFunction::Walk StageFunction::begin_walk(const Values& starts) {
  auto* const i64 = b_.getInt64Ty();
  auto* const ptr = b_.getPtrTy();
  std::map<int, std::pair<llvm::Value*, llvm::Value*>> ins, outs;  // by tensor: where it begins, its step
  const auto step = [&](unsigned steps, int tensor) {
    return b_.CreateLoad(i64, b_.CreateConstGEP1_64(i64, function_->getArg(steps), at(tensor)));
  };
  for (const Input& input : plan_.program.inputs)
    if (const int t = input.place.tensor; input.place.stride != 0 && !ins.contains(t))
      ins[t] = {memory_.input(t), step(9, t)};
  for (const Output& output : stage_.lane_outputs)
    if (const int t = output.place.tensor; !outs.contains(t)) outs[t] = {memory_.output(t), step(10, t)};
  llvm::BasicBlock* const before = b_.GetInsertBlock();
  Walk walk{block("position"), nullptr};
  b_.CreateBr(walk.begin);
  b_.SetInsertPoint(walk.begin);
  const auto from = [&](llvm::Type* type, llvm::Value* first) {
    llvm::PHINode* const now = b_.CreatePHI(type, 2);
    now->addIncoming(first, before);
    return now;
  };
  walk.number = from(i64, b_.getInt64(0));
  for (const auto& [tensor, known] : ins) {
    walk.tensors.push_back({from(ptr, known.first), known.second});
    memory_.place_input(tensor, walk.tensors.back().pointer);
  }
  for (const auto& [tensor, known] : outs) {
    walk.tensors.push_back({from(ptr, known.first), known.second});
    memory_.place_output(tensor, walk.tensors.back().pointer);
  }
  walk.sums.resize(at(registers_));
  for (auto& of_register : walk.sums)
    for (llvm::Value* start : starts) of_register.push_back(from(start->getType(), start));
  return walk;
}

void StageFunction::end_walk(const Walk& walk, const OfTotals& sums) {
  llvm::BasicBlock *const last = b_.GetInsertBlock(), *const walked = block("walked");
  for (const auto& [pointer, step] : walk.tensors)
    pointer->addIncoming(b_.CreateGEP(b_.getInt8Ty(), pointer, step), last);
  for (std::size_t r = 0; r < sums.size(); ++r)
    for (std::size_t k = 0; k < sums[r].size(); ++k) walk.sums[r][k]->addIncoming(sums[r][k], last);
  llvm::Value* const next = b_.CreateAdd(walk.number, b_.getInt64(1));
  walk.number->addIncoming(next, last);
  b_.CreateCondBr(b_.CreateICmpSLT(next, function_->getArg(8)), walk.begin, walked);
  b_.SetInsertPoint(walked);
}

void StageFunction::write_lanes() {
  begin_lanes();
  auto* const i64 = b_.getInt64Ty();
  llvm::Value *const first = function_->getArg(4), *const end = function_->getArg(5),
                     *const skip = function_->getArg(6), *const totals = function_->getArg(7);
  for (const Input& input : plan_.program.inputs)
    if (input.place.stride != 0) memory_.input(input.place.tensor);
  for (const Output& output : stage_.lane_outputs) {
    memory_.output(output.place.tensor);
    if (is_register(output.place)) waiting_[output.node].push_back(output.place);
  }
  const Values starts = starts_of_totals();
  const std::size_t total_count = starts.size();
  std::optional<Walk> walk;
  if (plan_.walks) walk = begin_walk(starts);
  auto *const loop = block("lanes"), *const done = block("done");
  llvm::BasicBlock* const before = b_.GetInsertBlock();
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  llvm::PHINode *const from = b_.CreatePHI(i64, 2), *const given_skip = b_.CreatePHI(i64, 2);
  from->addIncoming(first, before), given_skip->addIncoming(skip, before);
  OfTotals sums(at(registers_)), parts(at(registers_)), next(at(registers_));
  for (std::size_t r = 0; r < sums.size(); ++r)
    for (std::size_t k = 0; k < total_count; ++k) {
      llvm::PHINode* const sum = b_.CreatePHI(starts[k]->getType(), 2);
      sum->addIncoming(walk ? walk->sums[r][k] : starts[k], before);
      sums[r].push_back(sum);
    }

  const auto [behind, is_last] = compute_lanes(from, end);
  llvm::Value* const overlap =
      total_count == 0 ? nullptr : b_.CreateSelect(is_last, b_.CreateSub(behind, end), given_skip);
  for (const Node n : stage_.totals)
    in_each_register([&] { parts[at(register_)].push_back(value(graph_[n].from[0])); });
  if (llvm::Value* const any = any_large()) store_carefully(any, parts, overlap, totals);
  else store_lane_outputs();
  if (total_count > 0) next = joined(sums, parts, overlap);

  llvm::BasicBlock* const last = b_.GetInsertBlock();
  from->addIncoming(behind, last), given_skip->addIncoming(b_.getInt64(0), last);
  for (std::size_t r = 0; r < sums.size(); ++r)
    for (std::size_t k = 0; k < total_count; ++k) llvm::cast<llvm::PHINode>(sums[r][k])->addIncoming(next[r][k], last);
  b_.CreateCondBr(b_.CreateICmpSLT(behind, end), loop, done);
  b_.SetInsertPoint(done);
  if (walk) end_walk(*walk, next);
  for (std::size_t k = 0; k < total_count; ++k) {
    const ScalarStep& s = graph_[stage_.totals[k]];
    llvm::Value* total = next[0][k];
    for (std::size_t r = 1; r < next.size(); ++r) total = words_.word(s.word, s.dtype, {total, next[r][k]});
    b_.store(words_.folded(s.word, s.dtype, total), s.dtype, b_.CreateConstGEP1_64(i64, totals, k));
  }
  return_to_others(b_, machine_, nullptr);
}

}  // namespace ricci::compiled
