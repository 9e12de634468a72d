// Reverse mode: values that know the equation of the tape that made them, and the tape run backwards.
#pragma once

#include <memory>
#include <unordered_map>

#include "interpreters/shared_recording.h"
#include "interpreters/tape_nodes.h"
#include "primitive/interpreter.h"

namespace ricci {

/// A value one level down, and its place on the tape.
struct Taped final : Value {
  ValueRef value;
  int slot;

  Taped(Level level, ValueRef value, int slot)
      : Value(ValueKind::taped, level, value->type), value(std::move(value)), slot(slot) {}
  void destroy() noexcept override;
};
/// The value's part on the tape of this level, under the levels inside it; null if it has none.
const Taped* taped_at(const ValueRef& value, Level level);

/// What one reverse transform has recorded: leaves and operations, in order. Outlives its interpreter, so that a
/// pullback can be called later and again.
class TapeRecord {
 public:
  /// A new differentiated input; gives its slot.
  int add_leaf();
  /// Notes an operation, whose inputs are at `parents`; gives the slot of its first output.
  int add(Op op, std::span<const ValueRef> inputs, const SmallVector<int, 3>& parents,
          std::span<const ValueRef> outputs, std::shared_ptr<const Residual> residual);
  /// Forgets all operations, and with them the values they keep.
  void clear() { nodes_.clear(); }
  /// Runs the tape backwards at the current level, from cotangents of some slots to those of `wanted`; undefined is
  /// zero, and a slot of -1 is on no tape. With `consume`, frees every operation's values when it has been passed.
  std::vector<Tensor> pull_back(std::span<const int> slots, std::span<const Tensor> cotangents,
                                std::span<const int> wanted, bool consume);
  SharedRecording threads;

 private:
  TapeNodes nodes_;
  int slots_ = 0;
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
