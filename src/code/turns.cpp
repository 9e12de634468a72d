// The function that runs a loop in all lanes: for a few registers of lanes all turns, then for the next ones. The state
// stays in registers.
#include <llvm/IR/Constants.h>

#include "code/stage_function.h"

namespace ricci::compiled {

llvm::Value* StageFunction::load_count() {
  const LaneTurns& turns = *plan_.program.turns;
  if (turns.count_given < 0) return b_.count(turns.count);
  const int slot = plan_.given[at(turns.count_given)];
  return b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt64Ty(), memory_.slots, at(slot)));
}

/// `states`: by register, of the input that says so.
llvm::Value* StageFunction::any_goes_on(const Values& states) {
  llvm::Value* any = nullptr;
  for (llvm::Value* const state : states) any = any ? b_.CreateOr(any, state) : state;
  return b_.width() == 1 ? any : b_.CreateOrReduce(any);
}

/// The stacks of rows, each from this row on.
void StageFunction::move_rows(llvm::Value* row) {
  const LaneTurns& turns = *plan_.program.turns;
  const auto first_of = [&](const LaneTurns::RowStep& step) {
    llvm::Value* const elements =
        b_.CreateAdd(b_.count(step.base), b_.CreateMul(memory_.lane_count, b_.count(step.per_lane_count)));
    return b_.CreateMul(row, elements);
  };
  std::map<int, DType> dtypes;
  for (std::size_t i = 0; i < plan_.program.inputs.size(); ++i)
    if (!turns.first_number[i]) dtypes[plan_.program.inputs[i].place.tensor] = plan_.program.inputs[i].dtype;
  for (const auto& [tensor, dtype] : dtypes)
    if (turns.in_rows[at(tensor)].is_stack()) memory_.move_input(tensor, dtype, first_of(turns.in_rows[at(tensor)]));
  for (std::size_t k = 0; k < turns.out_rows.size(); ++k)
    if (turns.out_rows[k].is_stack()) memory_.move_output(static_cast<int>(k), first_of(turns.out_rows[k]));
}

/// A state that serves all lanes is written with the first of them.
void StageFunction::store_states() {
  const LaneTurns& turns = *plan_.program.turns;
  const auto inputs = [&] {
    std::map<int, Node> nodes;
    for (std::size_t n = 0; n < graph_.steps().size(); ++n)
      if (graph_.steps()[n].kind == ScalarStep::Kind::input)
        nodes[static_cast<int>(graph_.steps()[n].payload)] = static_cast<Node>(n);
    return nodes;
  }();
  std::vector<std::pair<Output, Node>> of_lanes, of_all;
  for (std::size_t k = 0; k < stage_.lane_outputs.size(); ++k) {
    const int input = turns.state_of_output[k];
    const Output& output = stage_.lane_outputs[k];
    if (input >= 0 && output.place.tensor >= 0)
      (output.place.stride != 0 ? of_lanes : of_all).emplace_back(output, inputs.at(input));
  }
  in_each_register([&] {
    std::vector<std::pair<Output, llvm::Value*>> outputs;
    for (const auto& [output, node] : of_lanes) outputs.emplace_back(output, value(node));
    rows_.write(outputs, lane());
  });
  if (of_all.empty()) return;
  auto *const first = block("first"), *const others = block("others");
  b_.CreateCondBr(b_.CreateICmpEQ(lanes_[0], b_.getInt64(0)), first, others);
  b_.SetInsertPoint(first);
  for (const auto& [output, node] : of_all) {
    const DType d = memory_.output_dtype(output.place.tensor);
    llvm::Value* const of_one = b_.width() == 1 ? value(node) : b_.CreateExtractElement(value(node), std::uint64_t{0});
    const LaneBuilder::Width one(b_, 1);
    b_.store(of_one, d, b_.element(memory_.output(output.place.tensor), d, memory_.place(output.place, nullptr)));
  }
  b_.CreateBr(others);
  b_.SetInsertPoint(others);
}

void StageFunction::write_turns() {
  const LaneTurns& turns = *plan_.program.turns;
  auto* const i64 = b_.getInt64Ty();
  auto* const ptr = b_.getPtrTy();
  begin({ptr, ptr, i64, ptr, i64, i64, i64, ptr});
  memory_.in = function_->getArg(0), memory_.out = function_->getArg(1);
  memory_.lane_count = function_->getArg(2), memory_.slots = function_->getArg(3);
  llvm::Value *const first = function_->getArg(4), *const end = function_->getArg(5),
                     *const totals = function_->getArg(7);
  for (const Input& input : plan_.program.inputs) memory_.input(input.place.tensor);
  for (std::size_t k = 0; k < plan_.program.output_dtypes.size(); ++k) memory_.output(static_cast<int>(k));
  llvm::Value* const count = load_count();
  auto *const loop = block("lanes"), *const next_lanes = block("next_lanes"), *const done = block("done");
  llvm::BasicBlock* const before = b_.GetInsertBlock();
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  llvm::PHINode* const from = b_.CreatePHI(i64, 2);
  from->addIncoming(first, before);
  // The last registers overlap those before.
  llvm::Value* const all_lanes = b_.count(b_.width() * registers_);
  llvm::Value* const behind = b_.CreateAdd(from, all_lanes);
  llvm::Value* const is_last = b_.CreateICmpSGT(behind, end);
  llvm::Value* const first_lane = b_.CreateSelect(is_last, b_.CreateSub(end, all_lanes), from);
  for (int r = 0; r < registers_; ++r) lanes_[at(r)] = b_.CreateAdd(first_lane, b_.count(r * b_.width()));
  values_.assign(at(registers_), {});
  find_companions(stage_.lane);
  for (const Node n : stage_.lane) in_each_register([&] { compute(n); });

  // What turns read of what stays the same is read once.
  std::map<int, Node> states;  // by input
  for (std::size_t n = 0; n < graph_.steps().size(); ++n) {
    const ScalarStep& s = graph_.steps()[n];
    const auto number = static_cast<int>(s.payload);
    if (s.kind == ScalarStep::Kind::input &&
        std::ranges::find(turns.state_of_output, number) != turns.state_of_output.end())
      states[number] = static_cast<Node>(n);
  }
  const auto touch = [&](Node n) {
    if (!plan_.is_turn[at(n)]) in_each_register([&] { value(n); });
  };
  for (const Node n : stage_.turn)
    for (const Node operand : graph_[n].from)
      if (operand != no_node) touch(operand);
  for (const Output& output : stage_.lane_outputs) touch(output.node);
  std::vector<Values> starts(at(registers_));
  for (const auto& [input, node] : states)
    in_each_register([&] {
      const auto& number = turns.first_number[at(input)];
      starts[at(register_)].push_back(number ? b_.bits_number(graph_[node].dtype, *number) : value(node));
    });

  auto *const head = block("turn"), *const body = block("body"), *const ended = block("ended");
  llvm::BasicBlock* const before_turns = b_.GetInsertBlock();
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* const turn = b_.CreatePHI(i64, 2);
  turn->addIncoming(b_.getInt64(0), before_turns);
  std::vector<llvm::PHINode*> phis;
  Values goes_on;
  for (int r = 0; r < registers_; ++r) {
    std::size_t k = 0;
    for (const auto& [input, node] : states) {
      llvm::PHINode* const phi = b_.CreatePHI(starts[at(r)][k]->getType(), 2);
      phi->addIncoming(starts[at(r)][k++], before_turns);
      values_[at(r)][node] = phi;
      phis.push_back(phi);
      if (input == turns.goes_on) goes_on.push_back(phi);
    }
  }
  llvm::Value* const is_within = b_.CreateICmpSLT(turn, count);
  if (goes_on.empty()) {
    b_.CreateCondBr(is_within, body, ended);
  } else {
    auto *const limit = block("limit"), *const beyond = block("beyond");
    b_.CreateCondBr(any_goes_on(goes_on), limit, ended);
    b_.SetInsertPoint(limit);
    b_.CreateCondBr(is_within, body, beyond);
    b_.SetInsertPoint(beyond);  // the program throws
    b_.CreateStore(b_.getInt8(0), memory_.output(static_cast<int>(plan_.program.output_dtypes.size()) - 1));
    b_.CreateBr(done);
  }

  b_.SetInsertPoint(body);
  move_rows(turns.is_backward ? b_.CreateSub(b_.CreateSub(count, b_.getInt64(1)), turn)
                              : static_cast<llvm::Value*>(turn));
  find_companions(stage_.turn);
  for (const Node n : stage_.turn) in_each_register([&] { compute(n); });
  if (llvm::Value* const any = any_large()) {
    auto *const careful = block("careful"), *const usual = block("usual");
    b_.CreateCondBr(any, careful, usual);
    b_.SetInsertPoint(careful);
    llvm::Value* const none = b_.getInt64(0);
    call_careful(reinterpret_cast<const void*>(machine_.careful_lanes),
                 {lanes_[0], b_.CreateAdd(lanes_[0], all_lanes), none, totals}, {lanes_[0], none, totals});
    b_.CreateBr(next_lanes);
    b_.SetInsertPoint(usual);
  }
  std::map<int, Node> next;  // by input
  for (std::size_t k = 0; k < stage_.lane_outputs.size(); ++k)
    if (turns.state_of_output[k] >= 0) next[turns.state_of_output[k]] = stage_.lane_outputs[k].node;
  in_each_register([&] {
    std::vector<std::pair<Output, llvm::Value*>> rows;
    for (std::size_t k = 0; k < stage_.lane_outputs.size(); ++k)
      if (turns.state_of_output[k] < 0) rows.emplace_back(stage_.lane_outputs[k], value(stage_.lane_outputs[k].node));
    rows_.write(rows, lane());
  });
  std::size_t k = 0;
  in_each_register([&] {
    for (const auto& [input, node] : states) phis[k++]->addIncoming(value(next.at(input)), b_.GetInsertBlock());
  });
  turn->addIncoming(b_.CreateAdd(turn, b_.getInt64(1)), b_.GetInsertBlock());
  b_.CreateBr(head);

  b_.SetInsertPoint(ended);
  store_states();
  b_.CreateBr(next_lanes);
  b_.SetInsertPoint(next_lanes);
  from->addIncoming(behind, next_lanes);
  b_.CreateCondBr(b_.CreateICmpSLT(behind, end), loop, done);
  b_.SetInsertPoint(done);
  return_to_others(b_, machine_, nullptr);
}

}  // namespace ricci::compiled
