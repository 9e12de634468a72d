// One function of a plan: its values by node, and the three kinds of function that a stage has.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "code/elementary_functions.h"
#include "code/loads.h"
#include "code/memory.h"
#include "code/words.h"

namespace ricci::compiled {

/// Of the function that does the same with calls of sin and cos, where code stands alone.
inline std::string careful_name(const std::string& name) { return name + "_careful"; }

/// Writes one function into a module. A node of lanes has a value in each of several registers of `width` lanes; one
/// that serves all lanes has one value. Call one of the three, once.
class StageFunction {
 public:
  /// `name`: of the function; `stage`: the number of the plan's stage.
  StageFunction(llvm::Module& module, std::string name, const LanePlan& plan, const Machine& machine,
                ElementaryFunctions& elementary, std::size_t stage, int width, int registers);

  /// What is computed once, an element a value. Requires: width and registers are 1.
  void write_once();
  /// The same, as a function that stands in the place of its call: void (inputs…, outputs…, slots, lanes). Gives
  /// whether an argument of sin or cos may be large: then the first slot tells whether one was, and the outputs are
  /// unspecified.
  bool write_in_place(int inputs);
  /// All lanes, in a loop over registers.
  void write_lanes();
  /// All lanes of a plan with turns: for each few registers of lanes, all turns.
  void write_turns();
  /// Rows of partial totals into slots, row after row. Requires: width and registers are 1.
  void write_join();

 private:
  using Values = std::vector<llvm::Value*>;
  struct Loop;
  using OfTotals = std::vector<Values>;  // by register, by total of the stage

  void begin(llvm::ArrayRef<llvm::Type*> parameters);
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(b_.getContext(), name, function_); }

  template <class F>
  void in_each_register(const F& f) {
    for (register_ = 0; register_ < registers_; ++register_) f();
    register_ = 0;
  }
  std::unordered_map<Node, llvm::Value*>& values_of(Node n) {
    return values_[plan_.is_lane[at(n)] ? at(register_) : 0];
  }
  /// Whether an output's neighbours are those of its neighbouring lanes.
  bool is_register(const Place& place) const { return place.stride == 1 || b_.width() == 1; }
  llvm::Value* lane() const { return lanes_[at(register_)]; }
  llvm::Value* value(Node n);
  llvm::Value* computed(Node n);
  llvm::Value* lane_numbers(llvm::Value* filling);
  void cut_long_block();
  void compute(Node n);
  /// `overlaps`: an output may lie where an input does, so outputs are stored at the end.
  void compute_once(bool overlaps);
  void store_lane_outputs();

  llvm::Value* called(Node n, llvm::Value* x);
  void find_companions(const std::vector<Node>& nodes);
  void note_argument(DType d, llvm::Value* x);
  llvm::Value* any_large();
  void once_more_carefully(llvm::Value* any);
  void store_carefully(llvm::Value* any, OfTotals& parts, llvm::Value* overlap, llvm::Value* totals);
  void call_careful(Callee::What by_library, llvm::ArrayRef<llvm::Value*> own,
                    llvm::ArrayRef<llvm::Value*> for_library);

  Values starts_of_totals();
  void begin_lanes();
  /// The loop over positions, of a plan that walks.
  struct Walk;
  Walk begin_walk(const Values& starts);
  void end_walk(const Walk& walk, const OfTotals& sums);
  /// Of the registers of lanes that begin with lane `from`: the lane behind them, and whether they are the last.
  struct Registers {
    llvm::Value *behind, *are_last;
  };
  Registers compute_lanes(llvm::Value* from, llvm::Value* end);

  struct Turning;
  std::map<int, Node> states_by_input() const;
  llvm::Value* count_of_turns();
  std::vector<Values> values_before_turns(const Turning& t);
  void begin_turn(Turning& t, const std::vector<Values>& firsts, llvm::BasicBlock* ended);
  void ask_now_and_then(llvm::Value* turn, llvm::Value* between, llvm::BasicBlock* done);
  void move_rows(const Turning& t);
  void turn_carefully(const Turning& t, llvm::Value* any, llvm::Value* totals);
  void end_turn(const Turning& t);
  void store_states(const std::map<int, Node>& states);
  void require_in_turn(llvm::BasicBlock* done);
  void give_up(llvm::BasicBlock* done);

  class RefilledTurns;
  void write_refilled_turns();

  OfTotals joined(const OfTotals& sums, const OfTotals& parts, llvm::Value* overlap);

  llvm::Module& module_;
  std::string name_;
  LaneBuilder b_;
  const LanePlan& plan_;
  const ScalarGraph& graph_;
  const Machine& machine_;
  std::size_t stage_number_;
  const Stage& stage_;
  Words words_;
  ElementaryFunctions& elementary_;
  Memory memory_;
  Rows rows_;
  Loads loads_;
  int registers_, register_ = 0;  // of which values are made
  llvm::Function* function_ = nullptr;
  int in_block_ = 0;  // nodes and outputs of this block
  std::vector<std::unordered_map<Node, llvm::Value*>> values_;  // by register; what serves all lanes is in the first
  std::set<Node> read_where_used_;  // these values have no register
  // Of outputs that are stored as soon as their node is computed, and are not yet. What waits for the end takes a
  // register, or a place on the stack: LLVM takes 5 s for 5,000 values that wait.
  std::unordered_map<Node, std::vector<Place>> waiting_;
  std::unordered_map<Node, Node> companions_;                   // of a sine: the cosine of its argument, and back
  Values lanes_;                                                // the first lane of each register
  std::map<DType, llvm::Value*> largest_;                       // of the arguments of sin and cos, by type
};

}  // namespace ricci::compiled
