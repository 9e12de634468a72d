// The function that computes all lanes: a loop over registers, with totals of the lanes.
#include <llvm/IR/Constants.h>

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
    llvm::SmallVector<llvm::Constant*> numbers;
    for (int i = 0; i < b_.width(); ++i) numbers.push_back(b_.getInt64(at(register_ * b_.width() + i)));
    llvm::Value* const counts =
        b_.CreateICmpSGE(llvm::ConstantVector::get(numbers), b_.CreateVectorSplat(at(b_.width()), overlap));
    for (std::size_t k = 0; k < stage_.totals.size(); ++k) {
      const ScalarStep& s = graph_[stage_.totals[k]];
      llvm::Value* const both = words_.word(s.word, s.dtype, {sums[r][k], parts[r][k]});
      next[r].push_back(b_.CreateSelect(counts, both, sums[r][k]));
    }
  });
  return next;
}

/// A LaneFunction.
void StageFunction::begin_lanes() {
  auto* const i64 = b_.getInt64Ty();
  auto* const ptr = b_.getPtrTy();
  begin({ptr, ptr, i64, ptr, i64, i64, i64, ptr});
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
  auto *const loop = block("lanes"), *const done = block("done");
  llvm::BasicBlock* const before = b_.GetInsertBlock();
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  llvm::PHINode *const from = b_.CreatePHI(i64, 2), *const given_skip = b_.CreatePHI(i64, 2);
  from->addIncoming(first, before), given_skip->addIncoming(skip, before);
  OfTotals sums(at(registers_)), parts(at(registers_)), next(at(registers_));
  for (Values& of_register : sums)
    for (llvm::Value* start : starts) {
      llvm::PHINode* const sum = b_.CreatePHI(start->getType(), 2);
      sum->addIncoming(start, before);
      of_register.push_back(sum);
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
  for (std::size_t k = 0; k < total_count; ++k) {
    const ScalarStep& s = graph_[stage_.totals[k]];
    llvm::Value* total = next[0][k];
    for (std::size_t r = 1; r < next.size(); ++r) total = words_.word(s.word, s.dtype, {total, next[r][k]});
    b_.store(words_.folded(s.word, s.dtype, total), s.dtype, b_.CreateConstGEP1_64(i64, totals, k));
  }
  return_to_others(b_, machine_, nullptr);
}

}  // namespace ricci::compiled
