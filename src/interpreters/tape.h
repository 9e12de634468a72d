// Reverse mode: values that know the equation of the tape that made them, and the tape run backwards.
#pragma once

#include <atomic>
#include <memory>
#include <unordered_map>

#include "interpreters/shared_recording.h"
#include "interpreters/tape_nodes.h"
#include "primitive/interpreter.h"

namespace ricci {

/// A value one level down, and its place on the tape. The operation that gave it keeps what its derivative needs as
/// long as this value lives, or a later operation has read it.
struct Taped final : Value {
  ValueRef value;
  TapePlace place;
  ValueRef whole;  // not null: another value of this place, which lives as long as this one

  /// The first value of its place.
  Taped(Level level, ValueRef value, const TapePlace& place)
      : Value(ValueKind::taped, level, value->type), value(std::move(value)), place(place) {}
  /// `value` in the place of `whole`.
  Taped(const Taped& whole, ValueRef value)
      : Value(ValueKind::taped, whole.level, value->type),
        value(std::move(value)),
        place(whole.place),
        whole(ValueRef::share(const_cast<Taped*>(&whole))) {}
  void destroy() noexcept override;
};
/// The value's part on the tape of this level, under the levels inside it; null if it has none.
const Taped* taped_at(const ValueRef& value, Level level);

/// What one reverse transform has recorded: leaves and operations, in order. Outlives its interpreter, so that a
/// pullback can be called later and again. While the function runs, an operation stays as long as somebody holds one of
/// its outputs or an operation that stays has read one. Those that are left when the function ends stay.
class TapeRecord {
 public:
  /// A new differentiated input; gives its slot.
  int add_leaf();
  /// Notes an operation, whose inputs are at `parents`; gives the place of its first output. `holders`: how many of the
  /// outputs are on the tape, each held until `let_go`.
  TapePlace add(Op op, std::span<const ValueRef> inputs, std::span<const TapePlace> parents,
                std::span<const ValueRef> outputs, int holders, std::shared_ptr<const Residual> residual);
  /// The slot of an output of the function: what it depends on stays. Requires: the function runs.
  int keep(const Taped& output);
  /// One holder less of the node's outputs.
  void let_go(TapeNode& node) noexcept;
  /// The function has ended, or another thread ends the tape.
  void close() noexcept;
  /// Forgets all operations, and with them the values they keep. Requires: it is closed.
  void clear() noexcept;
  /// Another thread may close and clear it. Requires: nothing is recorded yet.
  void let_others_end() { others_end_ = true; }
  /// Runs the tape backwards at the current level, from cotangents of some slots to those of `wanted`; undefined is
  /// zero, and a slot of -1 is on no tape. With `consume`, frees every operation's values when it has been passed.
  std::vector<Tensor> pull_back(std::span<const int> slots, std::span<const Tensor> cotangents,
                                std::span<const int> wanted, bool consume);
  SharedRecording threads;

 private:
  void take_off_dropped() noexcept;

  TapeNodes nodes_;
  int slots_ = 0;
  std::atomic<int> passes_ = 0;  // that run now, on any thread: threads may share a pullback
  std::atomic<bool> open_ = true;
  bool others_end_ = false;
  std::atomic<int> letting_go_ = 0;  // where others may end it: how many calls of let_go run
};

class TapeInterpreter final : public Interpreter {
 public:
  explicit TapeInterpreter(const Entry& entry)
      : Interpreter(ValueKind::taped, entry), record(std::make_shared<TapeRecord>()) {}
  ~TapeInterpreter() override;
  Values process(Op op, std::span<const ValueRef> inputs) override;
  std::unique_ptr<Interpreter> copy() override;

  /// `value`, watched from now on.
  ValueRef watch(ValueRef value);
  bool lets_write(const Cell* cell) const override { return watched.contains(cell); }

  const std::shared_ptr<TapeRecord> record;
  std::unordered_map<const Cell*, int> watched;  // cells from outside whose values were watched, and their slots
  TapeInterpreter* given_up_before = nullptr;    // of those that could not leave the stack of their thread

 private:
  TapeInterpreter(const TapeInterpreter& other);
  const bool is_copy_ = false;
};

}  // namespace ricci
