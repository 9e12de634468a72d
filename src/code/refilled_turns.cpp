// The function that runs a loop in all lanes where each example has its own number of turns: a lane that is done is
// given the next example. Start with `write`.
//
// Lanes begin side by side: with neighbouring examples, which are read and written as rows. Where others go on long
// enough after some are done, lanes are refilled: what is done is written element by element, and a list says which
// example each lane has.
#include <llvm/IR/Constants.h>

#include <cstdint>

#include "code/stage_function.h"

namespace ricci::compiled {

class StageFunction::RefilledTurns {
 public:
  explicit RefilledTurns(StageFunction& of)
      : f_(of),
        b_(of.b_),
        turns_(*of.plan_.program.turns),
        costs_(*of.plan_.refill),
        states_(of.states_by_input()),
        all_(b_.width() * of.registers_) {}

  void write() {
    f_.begin_lanes();
    begin_function();
    write_start();
    write_side_by_side();
    write_few();
    write_turn();
    write_end();
    write_refill();
    b_.SetInsertPoint(done_);
    return_to_others(b_, f_.machine_, nullptr);
  }

 private:
  using Value = llvm::Value*;
  using Block = llvm::BasicBlock*;

  /// What is known where a turn begins.
  struct Now {
    Value turn;     ///< its number
    Value longest;  ///< the number of the turn at which that lane began that goes on for longest
    Value look;     ///< the turn at which code looks whether to refill lanes
    Value between;  ///< turns from the look before to that one
    Value done;     ///< how many lanes were done at the look before
    Value waited;   ///< turns of lanes that were done, since lanes were filled
    Value from;     ///< the example of the first lane, where they stand side by side; else -1
    Value next;     ///< the example that begins next
    Values values;  ///< of carried_, by register

    std::vector<Value> all() const {
      std::vector<Value> all{turn, longest, look, between, done, waited, from, next};
      all.insert(all.end(), values.begin(), values.end());
      return all;
    }
  };
  /// A block, and what those know that go on to it.
  struct Target {
    Block block;
    Now now;
  };

  llvm::IntegerType* word() { return b_.getInt64Ty(); }
  Value number(std::int64_t n) { return b_.count(n); }
  Value splat(Value x) { return b_.CreateVectorSplat(at(b_.width()), x); }
  Value element_of(Value list, llvm::Type* type, Value lane) { return b_.CreateGEP(type, list, lane); }
  Value register_of(Value list, llvm::Type* type) {
    return b_.CreateConstGEP1_64(type, list, at(f_.register_ * b_.width()));
  }
  Value room(llvm::Type* type) { return b_.CreateAlloca(type, number(all_)); }
  DType dtype(Node n) const { return f_.graph_[n].dtype; }
  const Input& input(int number) const { return f_.plan_.program.inputs[at(number)]; }
  Value element_at(Value tensor, DType d, const Place& place, Value example) {
    return b_.element(tensor, d, f_.memory_.place(place, example));
  }

  Target target(const char* name, const Now& like) {
    Target made{f_.block(name), {}};
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    b_.SetInsertPoint(made.block);
    const auto phi = [&](Value of) { return b_.CreatePHI(of->getType(), 3); };
    Now& now = made.now;
    now = {phi(like.turn),    phi(like.longest), phi(like.look),
           phi(like.between), phi(like.done),    phi(like.waited),
           phi(like.from),    phi(like.next),    {}};
    for (Value const value : like.values) now.values.push_back(phi(value));
    return made;
  }
  /// Of lanes that begin at this turn.
  Now beginning(Value turn, Value longest, std::int64_t until_look, Value from, Value next, const Values& values) {
    Value const zero = number(0), until = number(until_look);
    return {turn, longest, b_.CreateAdd(turn, until), until, zero, zero, from, next, values};
  }
  void go_on(const Target& to, const Now& with) {
    const std::vector<Value> known = to.now.all(), values = with.all();
    for (std::size_t k = 0; k < known.size(); ++k)
      llvm::cast<llvm::PHINode>(known[k])->addIncoming(values[k], b_.GetInsertBlock());
    b_.CreateBr(to.block);
  }

  // ── values of nodes ──

  void begin_values() {
    f_.values_.assign(at(f_.registers_), {});
    f_.values_[0] = of_all_lanes_;
  }
  /// f(node, where its value stands among those of a Now), register by register.
  template <class F>
  void for_each_carried(const F& f) {
    std::size_t k = 0;
    f_.in_each_register([&] {
      for (const Node n : carried_) f(n, k++);
    });
  }
  void show(const Values& values) {
    for_each_carried([&](Node n, std::size_t k) { f_.values_[at(f_.register_)][n] = values[k]; });
  }
  Value state(const Values& values, int input_number, int of_register) const {
    const auto found = std::ranges::find(carried_, states_.at(input_number));
    return values[at(of_register) * carried_.size() + at(found - carried_.begin())];
  }
  Value goes_on(const Values& values) const { return state(values, turns_.goes_on, f_.register_); }
  Value or_of_registers(const Values& values) {
    Value any = nullptr;
    f_.in_each_register([&] { any = any ? b_.CreateOr(any, goes_on(values)) : goes_on(values); });
    return any;
  }

  /// Of examples that begin: the states' first values, and what is computed before the turns.
  Values first_values() {
    f_.find_companions(f_.stage_.lane);
    for (const Node n : f_.stage_.lane) f_.in_each_register([&] { f_.compute(n); });
    Values firsts;
    for_each_carried([&](Node n, std::size_t) {
      const ScalarStep& s = f_.graph_[n];
      const auto& known = s.kind == StepKind::input ? turns_.first_number[s.payload] : std::nullopt;
      firsts.push_back(known ? b_.bits_number(s.dtype, *known) : f_.value(n));
    });
    return firsts;
  }

  // ── the function ──

  /// Values that serve all lanes are read here, once.
  void find_carried() {
    for (const auto& [input, node] : states_) carried_.push_back(node);
    const auto note = [&](Node n, bool is_read_at_turns) {
      if (n == no_node || f_.graph_[n].kind == StepKind::number || f_.plan_.is_turn[at(n)]) return;
      if (!f_.plan_.is_lane[at(n)]) of_all_lanes_[n] = f_.value(n);
      else if (is_read_at_turns && std::ranges::find(carried_, n) == carried_.end()) carried_.push_back(n);
    };
    for (const Node n : f_.stage_.lane)
      for (const Node operand : f_.graph_[n].from) note(operand, false);
    for (const Node n : f_.stage_.turn)
      for (const Node operand : f_.graph_[n].from) note(operand, true);
    for (const Output& output : f_.stage_.lane_outputs) note(output.node, true);
  }

  void begin_function() {
    const LaneProgram& program = f_.plan_.program;
    for (const Input& input : program.inputs) f_.memory_.input(input.place.tensor);
    for (std::size_t k = 0; k < program.output_dtypes.size(); ++k) f_.memory_.output(static_cast<int>(k));
    find_carried();
    for (std::size_t n = 0; n < f_.graph_.steps().size(); ++n) {
      const ScalarStep& s = f_.graph_.steps()[n];
      if (s.kind != StepKind::input) continue;
      const auto number = static_cast<int>(s.payload);
      if (input(number).place.stride == 0 || turns_.first_number[s.payload]) continue;
      given_.push_back({number, static_cast<Node>(n), room(b_.memory_type(input(number).dtype))});
    }
    for (std::size_t k = 0; k < f_.stage_.lane_outputs.size(); ++k) {
      const Output& output = f_.stage_.lane_outputs[k];
      if (output.place.tensor < 0) continue;
      const DType d = f_.memory_.output_dtype(output.place.tensor);
      results_.push_back({turns_.state_of_output[k], output.place, d, room(b_.memory_type(d))});
    }
    examples_ = room(word()), begins_ = room(word());
    count_ = f_.count_of_turns(), end_ = f_.function_->getArg(5);
    start_ = f_.block("start"), side_by_side_ = f_.block("side_by_side"), few_ = f_.block("few");
    ended_ = f_.block("ended"), done_ = f_.block("done");
    Values like;
    for_each_carried([&](Node n, std::size_t) { like.push_back(llvm::PoisonValue::get(b_.type(dtype(n)))); });
    Value const n = number(0);
    turn_ = target("turn", beginning(n, n, 0, n, n, like)), refill_ = target("refill", turn_.now);
    {
      const llvm::IRBuilder<>::InsertPointGuard guard(b_);
      b_.SetInsertPoint(refill_.block);
      until_ = b_.CreatePHI(word(), 3);
      b_.SetInsertPoint(start_);
      first_ = b_.CreatePHI(word(), 3);
    }
    start_at(f_.function_->getArg(4));
  }

  /// Lanes that are all done begin anew, with this example and those behind it.
  void start_at(Value example) {
    first_->addIncoming(example, b_.GetInsertBlock());
    b_.CreateBr(start_);
  }
  void write_start() {
    auto* const fewer = f_.block("fewer");
    b_.SetInsertPoint(start_);
    Value const left = b_.CreateSub(end_, first_);
    b_.CreateCondBr(b_.CreateICmpSGE(left, number(all_)), side_by_side_, fewer);
    b_.SetInsertPoint(fewer);
    b_.CreateCondBr(b_.CreateICmpSGT(left, number(0)), few_, done_);
  }
  void take_neighbours(Value from) {
    for (int r = 0; r < f_.registers_; ++r) f_.lanes_[at(r)] = b_.CreateAdd(from, number(r * b_.width()));
  }
  void write_side_by_side() {
    b_.SetInsertPoint(side_by_side_);
    take_neighbours(first_);
    begin_values();
    const Values firsts = first_values();
    Value const zero = number(0), next = b_.CreateAdd(first_, number(all_));
    go_on(turn_, beginning(zero, zero, costs_.most_turns, first_, next, firsts));
  }
  /// Fewer examples than lanes. The other lanes have copies of one example, and do not go on.
  void write_few() {
    b_.SetInsertPoint(few_);
    for (const Given& given : given_) {
      const Input& of = input(given.input);
      llvm::Type* const type = b_.memory_type(of.dtype);
      Value const from = element_at(f_.memory_.input(of.place.tensor), of.dtype, of.place, first_);
      Value const element = b_.CreateAlignedLoad(type, from, llvm::Align(1));
      f_.in_each_register([&] { b_.store_raw(splat(element), register_of(given.room, type)); });
    }
    f_.in_each_register([&] { b_.store_raw(splat(number(-1)), register_of(examples_, word())); });
    Values none;
    for (Value const value : turn_.now.values) none.push_back(llvm::Constant::getNullValue(value->getType()));
    Value const zero = number(0);
    refill(beginning(zero, zero, 0, number(-1), first_, none), end_);
  }

  // ── turns ──

  void write_turn() {
    const Now& now = turn_.now;
    auto *const goes_on = f_.block("goes_on"), *const beyond = f_.block("beyond"), *const body = f_.block("body");
    b_.SetInsertPoint(turn_.block);
    b_.CreateCondBr(b_.CreateOrReduce(or_of_registers(now.values)), goes_on, ended_);
    b_.SetInsertPoint(goes_on);
    b_.CreateCondBr(b_.CreateICmpSLT(b_.CreateSub(now.turn, now.longest), count_), body, beyond);
    b_.SetInsertPoint(body);
    llvm::PHINode* const longest = b_.CreatePHI(word(), 2);
    longest->addIncoming(now.longest, goes_on);
    look_beyond(beyond, *longest);

    b_.SetInsertPoint(body);
    Now next = now;
    next.longest = longest;
    next = look_whether_to_refill(next);
    begin_values();
    show(now.values);
    f_.find_companions(f_.stage_.turn);
    for (const Node n : f_.stage_.turn) f_.in_each_register([&] { f_.compute(n); });
    f_.require_in_turn(done_);
    std::map<Node, Node> after;  // by state
    for (std::size_t k = 0; k < f_.stage_.lane_outputs.size(); ++k)
      if (const int state = turns_.state_of_output[k]; state >= 0)
        after[states_.at(state)] = f_.stage_.lane_outputs[k].node;
    for_each_carried([&](Node n, std::size_t k) {
      if (const auto state = after.find(n); state != after.end()) next.values[k] = f_.value(state->second);
    });
    next.turn = b_.CreateAdd(now.turn, number(1));
    go_on(turn_, next);
  }
  /// The lane that went on for longest may be done, and not refilled. Where one that goes on has no turn left, the
  /// function ends.
  void look_beyond(Block beyond, llvm::PHINode& longest) {
    const Now& now = turn_.now;
    auto *const looks = f_.block("looks"), *const ends = f_.block("ends");
    b_.SetInsertPoint(beyond);
    b_.CreateCondBr(b_.CreateICmpSGE(now.from, number(0)), ends, looks);
    b_.SetInsertPoint(looks);
    Value const of_those =
        first_begin([&](Value begin) { return b_.CreateSelect(goes_on(now.values), begin, splat(number(never))); });
    longest.addIncoming(of_those, looks);
    b_.CreateCondBr(b_.CreateICmpSLT(b_.CreateSub(now.turn, of_those), count_), longest.getParent(), ends);
    b_.SetInsertPoint(ends);
    f_.give_up(done_);
  }
  /// The least of what `of` gives for the turns at which the lanes of each register began.
  template <class F>
  Value first_begin(const F& of) {
    Value first = nullptr;
    f_.in_each_register([&] {
      Value const begin = of(b_.load_neighbours(DType::int64, register_of(begins_, word())));
      first = first ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, first, begin) : begin;
    });
    return b_.CreateIntMinReduce(first, true);
  }

  /// Goes to the refill where it is worth its time. Else code goes on with what it gives.
  Now look_whether_to_refill(const Now& now) {
    auto *const looks = f_.block("looks"), *const weighs = f_.block("weighs"), *const fills = f_.block("fills"),
                *const goes_on = f_.block("goes_on");
    Block const before = b_.GetInsertBlock();
    b_.CreateCondBr(b_.CreateICmpEQ(now.turn, now.look), looks, goes_on);
    b_.SetInsertPoint(looks);
    f_.ask_now_and_then(now.turn, now.between, done_);
    Value const most = number(costs_.most_turns), twice = b_.CreateShl(now.between, 1);
    Value const between = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, twice, most);
    Value const look = b_.CreateAdd(now.turn, between);
    Block const asked = b_.GetInsertBlock();
    b_.CreateCondBr(b_.CreateICmpSLT(now.next, end_), weighs, goes_on);

    b_.SetInsertPoint(weighs);
    Value const done = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, done_lanes(now.values));
    Value const of_both = b_.CreateMul(b_.CreateAdd(now.done, done), now.between);
    Value const waited = b_.CreateAdd(now.waited, b_.CreateLShr(of_both, 1));  // as if they were done evenly in between
    // Neighbours that end together are written and followed by others for next to nothing.
    Value const of_lanes = b_.CreateSelect(b_.CreateICmpSGE(now.from, number(0)), done, number(0));
    Value const cost =
        b_.CreateAdd(number(costs_.of_all * all_), b_.CreateMul(of_lanes, number(costs_.of_lane * all_)));
    b_.CreateCondBr(b_.CreateICmpSGE(b_.CreateMul(waited, number(costs_.of_turn)), cost), fills, goes_on);
    b_.SetInsertPoint(fills);
    refill(now, end_);

    b_.SetInsertPoint(goes_on);
    const auto either = [&](Value without, Value at_end, Value with) {
      llvm::PHINode* const phi = b_.CreatePHI(word(), 3);
      phi->addIncoming(without, before), phi->addIncoming(at_end, asked), phi->addIncoming(with, weighs);
      return phi;
    };
    Now after = now;
    after.look = either(now.look, look, look), after.between = either(now.between, between, between);
    after.done = either(now.done, now.done, done), after.waited = either(now.waited, now.waited, waited);
    return after;
  }

  /// No lane goes on.
  void write_end() {
    auto *const neighbours = f_.block("neighbours"), *const scattered = f_.block("scattered");
    b_.SetInsertPoint(ended_);
    const Now& now = turn_.now;
    b_.CreateCondBr(b_.CreateICmpSGE(now.from, number(0)), neighbours, scattered);
    b_.SetInsertPoint(neighbours);
    take_neighbours(now.from);
    begin_values();
    show(now.values);
    f_.store_states(states_);
    start_at(now.next);
    b_.SetInsertPoint(scattered);
    refill(now, now.next);
  }

  // ── refilling ──

  /// Writes what lanes have that are done, and gives them the examples from now.next to before `until`.
  void refill(const Now& now, Value until) {
    until_->addIncoming(until, b_.GetInsertBlock());
    go_on(refill_, now);
  }
  /// A bit for each lane that is done.
  Value done_lanes(const Values& values) {
    Value bits = nullptr;
    f_.in_each_register([&] {
      Value const here = b_.CreateZExt(b_.CreateBitCast(b_.CreateNot(goes_on(values)), bits_of_register()), word());
      Value const moved = b_.CreateShl(here, at(f_.register_ * b_.width()));
      bits = bits ? b_.CreateOr(bits, moved) : moved;
    });
    return bits;
  }
  llvm::IntegerType* bits_of_register() { return b_.getIntNTy(static_cast<unsigned>(b_.width())); }
  Value register_of_bits(Value bits) {
    Value const here = b_.CreateTrunc(b_.CreateLShr(bits, at(f_.register_ * b_.width())), bits_of_register());
    return b_.CreateBitCast(here, b_.wide(b_.getInt1Ty()));
  }

  /// The list of what neighbouring lanes have.
  void list_neighbours(Value from) {
    take_neighbours(from);
    f_.in_each_register([&] {
      for (const Given& given : given_) {
        const Input& of = input(given.input);
        Value const elements = b_.to_memory(f_.rows_.read(of, f_.lane()), of.dtype);
        b_.store_raw(elements, register_of(given.room, b_.memory_type(of.dtype)));
      }
      b_.store_raw(b_.numbers_from(f_.lane()), register_of(examples_, word()));
      b_.store_raw(splat(number(0)), register_of(begins_, word()));
    });
  }
  void write_refill() {
    const Now& now = refill_.now;
    auto *const lists = f_.block("lists"), *const fills = f_.block("fills");
    b_.SetInsertPoint(refill_.block);
    b_.CreateCondBr(b_.CreateICmpSGE(now.from, number(0)), lists, fills);
    b_.SetInsertPoint(lists);
    list_neighbours(now.from);
    b_.CreateBr(fills);
    b_.SetInsertPoint(fills);
    f_.in_each_register([&] {
      for (const Result& y : results_)
        b_.store_raw(b_.to_memory(state(now.values, y.state, f_.register_), y.dtype),
                     register_of(y.room, b_.memory_type(y.dtype)));
    });
    const Filled filled = fill_lanes(done_lanes(now.values));

    auto *const none = f_.block("none_taken"), *const some = f_.block("some_taken");
    b_.CreateCondBr(b_.CreateICmpEQ(filled.taken, number(0)), none, some);
    b_.SetInsertPoint(none);
    start_at(filled.next);
    b_.SetInsertPoint(some);
    go_on_with(filled);
  }

  struct Filled {
    Value taken, next;  // a bit for each lane that has another example; the next example
  };
  /// One lane after the other. Code goes on behind the last one.
  Filled fill_lanes(Value done) {
    auto *const lane_block = f_.block("lane"), *const writes = f_.block("writes"), *const written = f_.block("written"),
                *const takes = f_.block("takes"), *const rests = f_.block("rests"), *const ready = f_.block("ready"),
                *const filled = f_.block("filled");
    Block const before = b_.GetInsertBlock();
    b_.CreateBr(lane_block);
    b_.SetInsertPoint(lane_block);
    llvm::PHINode *const bits = b_.CreatePHI(word(), 2), *const next = b_.CreatePHI(word(), 2),
                         *const taken = b_.CreatePHI(word(), 2);
    bits->addIncoming(done, before), next->addIncoming(refill_.now.next, before), taken->addIncoming(number(0), before);
    Value const lane = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, b_.getTrue());
    Value const example = b_.CreateLoad(word(), element_of(examples_, word(), lane));
    b_.CreateCondBr(b_.CreateICmpSGE(example, number(0)), writes, written);

    b_.SetInsertPoint(writes);
    for (const Result& y : results_)
      copy(y.dtype, element_of(y.room, b_.memory_type(y.dtype), lane),
           element_at(f_.memory_.output(y.place.tensor), y.dtype, y.place, example));
    b_.CreateBr(written);
    b_.SetInsertPoint(written);
    b_.CreateCondBr(b_.CreateICmpSLT(next, until_), takes, rests);

    b_.SetInsertPoint(takes);
    for (const Given& given : given_) {
      const Input& of = input(given.input);
      copy(of.dtype, element_at(f_.memory_.input(of.place.tensor), of.dtype, of.place, next),
           element_of(given.room, b_.memory_type(of.dtype), lane));
    }
    note(lane, next, refill_.now.turn);
    Value const behind = b_.CreateAdd(next, number(1)), more = b_.CreateOr(taken, b_.CreateShl(number(1), lane));
    b_.CreateBr(ready);
    b_.SetInsertPoint(rests);
    note(lane, number(-1), number(never));
    b_.CreateBr(ready);

    b_.SetInsertPoint(ready);
    llvm::PHINode *const next_now = b_.CreatePHI(word(), 2), *const taken_now = b_.CreatePHI(word(), 2);
    next_now->addIncoming(behind, takes), next_now->addIncoming(next, rests);
    taken_now->addIncoming(more, takes), taken_now->addIncoming(taken, rests);
    Value const left = b_.CreateAnd(bits, b_.CreateSub(bits, number(1)));
    bits->addIncoming(left, ready), next->addIncoming(next_now, ready), taken->addIncoming(taken_now, ready);
    b_.CreateCondBr(b_.CreateICmpNE(left, number(0)), lane_block, filled);
    b_.SetInsertPoint(filled);
    return {taken_now, next_now};
  }
  void copy(DType d, Value from, Value to) {
    b_.store_raw(b_.CreateAlignedLoad(b_.memory_type(d), from, llvm::Align(1)), to);
  }
  void note(Value lane, Value example, Value begin) {
    b_.store_raw(example, element_of(examples_, word(), lane));
    b_.store_raw(begin, element_of(begins_, word(), lane));
  }
  void go_on_with(const Filled& filled) {
    begin_values();
    f_.in_each_register([&] {
      for (const Given& given : given_) {
        const DType d = input(given.input).dtype;
        Value const elements = b_.load_neighbours(d, register_of(given.room, b_.memory_type(d)));
        f_.values_[at(f_.register_)][given.node] = b_.from_memory(elements, d);
      }
    });
    const Now& now = refill_.now;
    Values values = first_values();
    for_each_carried([&](Node n, std::size_t k) {
      if (!f_.plan_.is_turn[at(n)]) return;
      if (n == states_.at(turns_.goes_on)) values[k] = b_.CreateAnd(values[k], register_of_bits(filled.taken));
      values[k] = b_.CreateSelect(goes_on(now.values), now.values[k], values[k]);
    });
    Value const longest = first_begin([](Value begin) { return begin; });
    go_on(turn_, beginning(now.turn, longest, costs_.fewest_turns, number(-1), filled.next, values));
  }

  static constexpr std::int64_t never = INT64_MAX;
  struct Given {
    int input;
    Node node;
    Value room;  // for an element of each lane
  };
  struct Result {
    int state;  // the input that it is
    Place place;
    DType dtype;
    Value room;
  };

  StageFunction& f_;
  LaneBuilder& b_;
  const LaneTurns& turns_;
  const Refill& costs_;
  const std::map<int, Node> states_;  // by input
  const int all_;                     // lanes
  /// What keeps its value from turn to turn: states, and what is computed before the turns.
  std::vector<Node> carried_;
  std::unordered_map<Node, Value> of_all_lanes_;
  std::vector<Given> given_;
  std::vector<Result> results_;
  Value examples_ = nullptr, begins_ = nullptr;  // by lane: its example, -1: it has none; the turn at which it began
  Value count_ = nullptr, end_ = nullptr;        // the most turns; behind the last example
  Block start_ = nullptr, side_by_side_ = nullptr, few_ = nullptr, ended_ = nullptr, done_ = nullptr;
  llvm::PHINode *first_ = nullptr, *until_ = nullptr;
  Target turn_, refill_;
};

void StageFunction::write_refilled_turns() { RefilledTurns(*this).write(); }

}  // namespace ricci::compiled
