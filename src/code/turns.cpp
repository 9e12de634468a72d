// The function that runs a loop in all lanes: for a few registers of lanes all turns, then for the next ones. The state
// stays in registers. Loops whose lanes are refilled stand in refilled_turns.cpp.
#include <llvm/IR/Constants.h>

#include <utility>

#include "code/stage_function.h"
#include "compile/shape.h"

namespace ricci::compiled {

/// What is a value for the turns of a few registers of lanes.
struct StageFunction::Turning {
  const LaneTurns& turns;
  std::map<int, Node> states;          // by input: the node that holds its value at this turn
  llvm::Value* all_lanes = nullptr;    // how many lanes turn together
  llvm::Value* count = nullptr;        // of turns
  llvm::Value* turn = nullptr;         // the number of this one
  std::vector<llvm::PHINode*> values;  // of the states: by register, then by input
  llvm::BasicBlock *next_lanes = nullptr, *done = nullptr;
};

std::map<int, Node> StageFunction::states_by_input() const {
  const std::vector<int>& states = plan_.program.turns->state_of_output;
  std::map<int, Node> nodes;
  for (std::size_t n = 0; n < graph_.steps().size(); ++n) {
    const ScalarStep& s = graph_.steps()[n];
    const auto input = static_cast<int>(s.payload);
    if (s.kind == StepKind::input && std::ranges::find(states, input) != states.end())
      nodes[input] = static_cast<Node>(n);
  }
  return nodes;
}

llvm::Value* StageFunction::count_of_turns() {
  const LaneTurns& turns = *plan_.program.turns;
  if (turns.count_given < 0) return b_.count(turns.count);
  const int slot = plan_.given[at(turns.count_given)];
  return b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt64Ty(), memory_.slots, at(slot)));
}

/// Behind this turn's values: where what must hold does not, the function ends.
void StageFunction::require_in_turn(llvm::BasicBlock* done) {
  llvm::Value* all_hold = nullptr;
  in_each_register([&] {
    for (std::size_t k = 0; k < stage_.lane_outputs.size(); ++k) {
      if (plan_.program.turns->state_of_output[k] != LaneTurns::must_hold) continue;
      llvm::Value* const here = value(stage_.lane_outputs[k].node);
      all_hold = all_hold ? b_.CreateAnd(all_hold, here) : here;
    }
  });
  if (!all_hold) return;
  auto *const goes_on = block("holds"), *const ends = block("wrong");
  b_.CreateCondBr(b_.width() == 1 ? all_hold : b_.CreateAndReduce(all_hold), goes_on, ends);
  b_.SetInsertPoint(ends);
  give_up(done);
  b_.SetInsertPoint(goes_on);
}

/// Ends the function, at `done`: it gives no results.
void StageFunction::give_up(llvm::BasicBlock* done) {
  b_.CreateStore(b_.getInt8(0), memory_.output(static_cast<int>(plan_.program.output_dtypes.size()) - 1));
  b_.CreateBr(done);
}

/// Values that are the same at every turn are read before the first turn. Some of them serve all lanes too, as the
/// elements of a matrix that all examples share. Few of these have registers: more are read where they are used, since
/// an operation takes one element from memory for all its lanes as fast as from a register. Gives the states' first
/// values: by register, then by input.
std::vector<StageFunction::Values> StageFunction::values_before_turns(const Turning& t) {
  constexpr std::size_t few = 12;
  std::set<Node> of_all_lanes;
  const auto read = [&](Node n) {
    if (plan_.is_turn[at(n)]) return;
    if (plan_.is_lane[at(n)] || graph_.is_number(n)) in_each_register([&] { value(n); });
    else of_all_lanes.insert(n);
  };
  // A row of a table that several loads share is found by its address and place.
  for (const Node n : stage_.turn)
    if (graph_[n].kind == StepKind::load)
      for (const Node operand : graph_[n].from)
        if (operand != no_node && !plan_.is_turn[at(operand)]) in_each_register([&] { value(operand); });
  for (const Node n : stage_.turn)
    for (const Node operand : graph_[n].from)
      if (operand != no_node && !values_of(operand).contains(operand)) read(operand);
  if (of_all_lanes.size() > few) read_where_used_ = std::exchange(of_all_lanes, {});
  for (const Output& output : stage_.lane_outputs) {
    read_where_used_.erase(output.node);
    read(output.node);
  }
  for (const Node n : of_all_lanes) value(n);
  std::vector<Values> firsts(at(registers_));
  for (const auto& [input, node] : t.states)
    in_each_register([&] {
      const auto& number = t.turns.first_number[at(input)];
      firsts[at(register_)].push_back(number ? b_.bits_number(graph_[node].dtype, *number) : value(node));
    });
  return firsts;
}

/// Writes the block in which each turn begins. Where no turn is left, that block goes on to `ended`; else code goes on
/// behind it.
void StageFunction::begin_turn(Turning& t, const std::vector<Values>& firsts, llvm::BasicBlock* ended) {
  auto *const head = block("turn"), *const body = block("body"), *const before = b_.GetInsertBlock();
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* const turn = b_.CreatePHI(b_.getInt64Ty(), 2);
  turn->addIncoming(b_.getInt64(0), before);
  t.turn = turn;
  llvm::Value* any_goes_on = nullptr;
  for (int r = 0; r < registers_; ++r) {
    std::size_t k = 0;
    for (const auto& [input, node] : t.states) {
      llvm::PHINode* const phi = b_.CreatePHI(firsts[at(r)][k]->getType(), 2);
      phi->addIncoming(firsts[at(r)][k++], before);
      values_[at(r)][node] = phi;
      t.values.push_back(phi);
    }
  }
  if (t.turns.goes_on >= 0)
    in_each_register([&] {
      llvm::Value* const here = value(t.states.at(t.turns.goes_on));
      any_goes_on = any_goes_on ? b_.CreateOr(any_goes_on, here) : here;
    });
  llvm::Value* const is_within = b_.CreateICmpSLT(turn, t.count);
  if (!any_goes_on) {
    b_.CreateCondBr(is_within, body, ended);
  } else {
    auto *const goes_on = block("goes_on"), *const beyond = block("beyond");
    b_.CreateCondBr(b_.width() == 1 ? any_goes_on : b_.CreateOrReduce(any_goes_on), goes_on, ended);
    b_.SetInsertPoint(goes_on);
    b_.CreateCondBr(is_within, body, beyond);
    b_.SetInsertPoint(beyond);
    give_up(t.done);
  }
  b_.SetInsertPoint(body);
  ask_now_and_then(t.turn, b_.getInt64(1), t.done);
}

/// Whether the caller wants the function to end. Called every `between` turns. Code that stands alone does not ask.
void StageFunction::ask_now_and_then(llvm::Value* turn, llvm::Value* between, llvm::BasicBlock* done) {
  if (machine_.stands_alone()) return;
  constexpr std::uint64_t turns = 1 << 14;
  auto *const asks = block("asks"), *const ends = block("ends"), *const goes_on = block("goes_on");
  llvm::Value* const of_turns = b_.CreateAnd(turn, b_.getInt64(turns - 1));
  b_.CreateCondBr(b_.CreateICmpSGE(b_.CreateAdd(of_turns, between), b_.getInt64(turns)), asks, goes_on);
  b_.SetInsertPoint(asks);
  clear_upper_halves(b_, machine_);
  auto* const type = llvm::FunctionType::get(b_.getInt32Ty(), {b_.getPtrTy()}, false);
  llvm::Value* const call = b_.CreateLoad(b_.getPtrTy(), memory_.slots);
  llvm::CallInst* const answer = b_.CreateCall(type, address_of(b_, machine_, {Callee::What::interrupts}), {call});
  answer->addFnAttr(llvm::Attribute::NoUnwind);
  b_.CreateCondBr(b_.CreateICmpEQ(answer, b_.getInt32(0)), goes_on, ends);
  b_.SetInsertPoint(ends);
  give_up(done);
  b_.SetInsertPoint(goes_on);
}

/// Stacks of rows, each from the row of this turn on.
void StageFunction::move_rows(const Turning& t) {
  llvm::Value* const row = t.turns.is_backward ? b_.CreateSub(b_.CreateSub(t.count, b_.getInt64(1)), t.turn) : t.turn;
  const auto first_of = [&](const LaneTurns::RowStep& step) {
    llvm::Value* const elements =
        b_.CreateAdd(b_.count(step.base), b_.CreateMul(memory_.lane_count, b_.count(step.per_lane_count)));
    return b_.CreateMul(row, elements);
  };
  std::map<int, DType> dtypes;
  for (std::size_t i = 0; i < plan_.program.inputs.size(); ++i)
    if (!t.turns.first_number[i]) dtypes[plan_.program.inputs[i].place.tensor] = plan_.program.inputs[i].dtype;
  for (const auto& [tensor, dtype] : dtypes)
    if (t.turns.in_rows[at(tensor)].is_stack())
      memory_.move_input(tensor, dtype, first_of(t.turns.in_rows[at(tensor)]));
  for (std::size_t k = 0; k < t.turns.out_rows.size(); ++k)
    if (t.turns.out_rows[k].is_stack()) memory_.move_output(static_cast<int>(k), first_of(t.turns.out_rows[k]));
}

/// Where an argument of sin or cos was large, the careful code does all turns of these lanes again.
void StageFunction::turn_carefully(const Turning& t, llvm::Value* any, llvm::Value* totals) {
  auto *const careful = block("careful"), *const usual = block("usual");
  b_.CreateCondBr(any, careful, usual);
  b_.SetInsertPoint(careful);
  llvm::Value* const none = b_.getInt64(0);
  call_careful(Callee::What::careful_lanes, {lanes_[0], b_.CreateAdd(lanes_[0], t.all_lanes), none, totals},
               {lanes_[0], none, totals});
  b_.CreateBr(t.next_lanes);
  b_.SetInsertPoint(usual);
}

/// Writes the rows of this turn, and goes to the next one.
void StageFunction::end_turn(const Turning& t) {
  std::map<int, Node> next;  // by input
  for (std::size_t k = 0; k < stage_.lane_outputs.size(); ++k)
    if (t.turns.state_of_output[k] >= 0) next[t.turns.state_of_output[k]] = stage_.lane_outputs[k].node;
  in_each_register([&] {
    std::vector<std::pair<Output, llvm::Value*>> rows;
    for (std::size_t k = 0; k < stage_.lane_outputs.size(); ++k)
      if (t.turns.state_of_output[k] == LaneTurns::row)
        rows.emplace_back(stage_.lane_outputs[k], value(stage_.lane_outputs[k].node));
    rows_.write(rows, lane());
  });
  llvm::BasicBlock* const here = b_.GetInsertBlock();
  auto phi = t.values.begin();
  in_each_register([&] {
    for (const auto& [input, node] : t.states) (*phi++)->addIncoming(value(next.at(input)), here);
  });
  auto* const turn = llvm::cast<llvm::PHINode>(t.turn);
  turn->addIncoming(b_.CreateAdd(turn, b_.getInt64(1)), here);
  b_.CreateBr(turn->getParent());
}

/// A state that serves all lanes is written with the first of them.
void StageFunction::store_states(const std::map<int, Node>& states) {
  std::vector<std::pair<Output, Node>> of_lanes, of_all;
  for (std::size_t k = 0; k < stage_.lane_outputs.size(); ++k) {
    const int input = plan_.program.turns->state_of_output[k];
    const Output& output = stage_.lane_outputs[k];
    if (input >= 0 && output.place.tensor >= 0)
      (output.place.stride != 0 ? of_lanes : of_all).emplace_back(output, states.at(input));
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
    llvm::Value* const one = b_.first_lane(value(node));
    const LaneBuilder::Width of_one(b_, 1);
    b_.store(one, d, b_.element(memory_.output(output.place.tensor), d, memory_.place(output.place, nullptr)));
  }
  b_.CreateBr(others);
  b_.SetInsertPoint(others);
}

void StageFunction::write_turns() {
  if (plan_.refill) return write_refilled_turns();
  begin_lanes();
  llvm::Value *const first = function_->getArg(4), *const end = function_->getArg(5);
  for (const Input& input : plan_.program.inputs) memory_.input(input.place.tensor);
  for (std::size_t k = 0; k < plan_.program.output_dtypes.size(); ++k) memory_.output(static_cast<int>(k));
  Turning t{.turns = *plan_.program.turns, .states = states_by_input(), .values = {}};
  t.count = count_of_turns(), t.all_lanes = b_.count(b_.width() * registers_);
  t.next_lanes = block("next_lanes"), t.done = block("done");
  auto *const loop = block("lanes"), *const before = b_.GetInsertBlock();
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  llvm::PHINode* const from = b_.CreatePHI(b_.getInt64Ty(), 2);
  from->addIncoming(first, before);
  llvm::Value* const behind = compute_lanes(from, end).behind;
  const std::vector<Values> firsts = values_before_turns(t);

  auto* const ended = block("ended");
  begin_turn(t, firsts, ended);
  move_rows(t);
  find_companions(stage_.turn);
  if (stage_.turn.size() < seen_ahead)
    in_each_register([&] {
      for (const Node n : stage_.turn) compute(n);
    });
  else
    for (const Node n : stage_.turn) in_each_register([&] { compute(n); });
  if (llvm::Value* const any = any_large()) turn_carefully(t, any, function_->getArg(7));
  require_in_turn(t.done);
  end_turn(t);

  b_.SetInsertPoint(ended);
  store_states(t.states);
  b_.CreateBr(t.next_lanes);
  b_.SetInsertPoint(t.next_lanes);
  from->addIncoming(behind, t.next_lanes);
  b_.CreateCondBr(b_.CreateICmpSLT(behind, end), loop, t.done);
  b_.SetInsertPoint(t.done);
  return_to_others(b_, machine_, nullptr);
}

}  // namespace ricci::compiled
