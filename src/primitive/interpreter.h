// The stack of interpreters of this thread, and how an operation finds the one that handles it.
// Names no operation. Start with `Interpreter`; dispatch.cpp shows an operation's way.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ricci/owned.h"
#include "ricci/primitive.h"
#include "tensor/thread_context.h"
#include "tensor/value.h"

namespace ricci {

/// How errors name a transform: what was called, and from where.
struct Entry {
  const char* name = nullptr;       // null: a level that another entry stands for
  std::int64_t axis = 0, size = 0;  // of vmap
  Size examples = 0;                // its size, which may be a symbol of a recording around it
  const char* file = "";
  unsigned line = 0;
};
std::string to_string(const Entry& entry);  ///< `vmap over axis 0 of 64 (train.cpp:41)`

struct RunningTable;  // src/primitive/running.cpp

/// While a row stands, any thread can find out that its transform runs. For some time after, the transform's thread can
/// find out that it has ended.
class RunningRow {
 public:
  RunningRow() = default;  ///< of none
  RunningRow(Level level, const Entry& entry);
  RunningRow(const RunningRow&) = delete;
  void end(const Entry& shown) noexcept;  ///< on the thread that made it; `shown`: what errors name from now on

 private:
  RunningTable* table_ = nullptr;
  Level level_ = 0;
  unsigned number_ = 0;
};

/// One running transform. An operation goes to the innermost interpreter that any of its inputs belongs to; that one
/// handles it in terms of operations one level further down.
class Interpreter {
 public:
  const Level level;
  const ValueKind kind;
  const Entry entry;
  Interpreter* parent;  // the next one outwards; of one that has ended, the last it had

  Interpreter& operator=(const Interpreter&) = delete;
  virtual ~Interpreter();  // ends it, and with it those that still run inside it

  /// The same level for another thread (ricci/nest.h): it stands on no stack until it enters that thread's. Throws
  /// NotImplementedError where one thread alone can run it.
  virtual std::unique_ptr<Interpreter> copy() = 0;
  /// Enters the stack of this thread. Requires: it is a copy that has not.
  void enter();

  /// Requires: at least one input is of this level, or the operation draws and this answers draws; none is of a deeper
  /// one.
  virtual Values process(Op op, std::span<const ValueRef> inputs) = 0;
  /// True if it wants to see every operation inside it: those without inputs and those on values from around it
  /// (recording a whole program).
  virtual bool sees_everything() const { return false; }
  /// What a value from around it is inside. The value is that of the tensor, or what no_grad, or a recording around
  /// this one, makes of it. Requires: it sees everything.
  virtual ValueRef capture(const Tensor& tensor, const ValueRef& value);
  /// Told of each write while a function is recorded, before it changes anything: the cell at the end of all links, the
  /// type of the target and the name of the writing operation.
  virtual void note_write(const Cell&, const Type&, const char*) {}
  /// True for a vmap that an operation which draws is up to even if it maps none of its inputs: one draw may not serve
  /// all.
  virtual bool answers_draws() const { return false; }
  /// The level of the vmap of which only a part of the examples runs in this scope; 0: this is no such scope.
  virtual Level narrows() const { return 0; }
  /// True for one of several levels that stand for one transform of the user's.
  virtual bool stands_with_others() const { return false; }
  /// True for a cell from outside that may nevertheless take values of this level.
  virtual bool lets_write(const Cell*) const { return false; }
  bool differentiates() const { return (kind == ValueKind::dual || kind == ValueKind::taped) && !is_given_up(); }

  /// Leaves the stack, wherever it stands there, and ends. False where that cannot be: on another thread than its own,
  /// or inside a rule for which a part of the stack that holds it is set aside.
  bool end();
  /// Ends the transforms that still run inside it: tapes that outlive the function which made them.
  void end_inside();
  bool has_ended() const { return ended_.load(std::memory_order_acquire); }
  /// Where it cannot end: from now on nothing finds it on its stack, and its thread takes it off before the next
  /// operation or transform there. It must live until the process ends.
  void give_up() noexcept;
  bool is_given_up() const { return given_up_.load(std::memory_order_relaxed); }
  /// Takes given-up interpreters off this thread's stack. A scope (Below, AtLevel) that ends later may put one back;
  /// nothing finds it there, and the next sweep removes it.
  static void sweep();
  /// Whether it sees operations on values of its own level alone (PassedRecordings).
  bool is_passed_by() const;
  /// What it ended with: itself, or the transform it ran inside.
  const Entry& ended_by() const { return ended_by_; }

 protected:
  Interpreter(ValueKind kind, const Entry& entry);  // enters the stack
  Interpreter(const Interpreter& other);            // as copy() does

 private:
  static Interpreter* innermost_with_room(const Entry& entry);
  void leave(Interpreter*& place, const Interpreter& with);
  std::atomic<bool> ended_ = false;  // another thread may ask, and destroy what has ended
  std::atomic<bool> given_up_ = false;
  Entry ended_by_;
  RunningRow row_;  // of a copy none: the original's tells
};

/// Whether a level differentiates, but not now: inside no_grad.
inline bool switched_off(Level level, bool differentiates) {
  return level <= this_thread.no_grad_below && differentiates;
}
inline bool switched_off(const Interpreter& i) { return switched_off(i.level, i.differentiates()); }

inline Level current_level() { return this_thread.innermost ? this_thread.innermost->level : 0; }
/// The innermost running level that differentiates; 0 if there is none that no_grad has not switched off.
Level innermost_derivative();

/// While it lives, operations run at this level: all transforms inside it are set aside.
using AtLevel = With<&ThreadContext::innermost>;
/// While it lives, no_grad switches off these levels alone; with 0, none.
using NoGradBelow = With<&ThreadContext::no_grad_below>;

/// Recordings inside a level that see only operations on their own values, so that what runs here is not recorded.
///   const PassedRecordings inside{level};
///   const With<&ThreadContext::passed_recordings> passed(&inside);
struct PassedRecordings {
  Level outside;                      // all that run further in
  Level innermost = current_level();  // but those that begin from now on
  const PassedRecordings* outer = this_thread.passed_recordings;
};

/// The rules of a reverse transform run, whose function has been left: errors name that transform too.
///   const BackwardPass pass{entry};
///   const With<&ThreadContext::backward> runs(&pass);
struct BackwardPass {
  Entry entry;
  Level around = current_level();  // the level it runs at
  const BackwardPass* outer = this_thread.backward;
};

/// The running transform with this level that is set aside; null if there is none.
const Interpreter* find_set_aside(Level level);
/// Whether a rule runs on this thread for which a part of the stack that holds the interpreter is set aside.
bool is_around_rule(const Interpreter& interpreter);
/// All running transforms, those set aside among them, innermost first: for error texts.
std::vector<const Interpreter*> whole_nest();

/// The running transform with this level, or null if it has ended, is set aside or was given up.
Interpreter* find_interpreter(Level level);

/// Runs an operation on values: finds its interpreter, or evaluates.
Values dispatch(Op op, std::span<const ValueRef> inputs);
/// The eager interpreter. Requires: every input is an Array.
Values evaluate(Op op, std::span<const ValueRef> inputs);

/// What differentiation sees through: the value without derivatives that have ended.
/// Throws TransformError for a batched value whose vmap has ended, and for a value of a transform that is set aside;
/// `op` names the user of the value. Gives `value` itself, or what it holds.
const ValueRef& live(const ValueRef& value, const char* op);
const ValueRef& live(ValueRef&& value, const char* op) = delete;

/// The output types of an operation on these types; throws what is wrong in the user's terms.
Types types_of(Op op, const Types& inputs);
/// Throws ValueError unless the operation takes this many operands where it runs.
void require_operand_count(const Rules& rules, std::size_t count);

/// The innermost interpreter that sees everything, `from` or around it.
Interpreter* recorder_of_everything(Interpreter* from = this_thread.innermost);
/// Whether a size that depends on a recording's inputs stands among the parameters.
bool any_symbol(Op op);
/// Replaces sizes that depend on a recording's inputs by the numbers they are, under a guard there.
struct FixSizes final : ParameterVisitor {
  FixSizes() : ParameterVisitor(Mode::edits) {}
  void size(Size& size) override { size = size.host(); }
};
/// Whether a program that is being recorded must hold an operation on these values.
bool is_recorded(std::span<const ValueRef> values);

// ── between tensors and values ──

/// A new tensor of the current level.
Tensor wrap(ValueRef value);
/// A view's value, just made of its base's. Where a tape may keep the value while the base is written to again and
/// again, a small part of the base gets elements of its own: else the tape would hold on to every version of the base.
/// Example: `D[i] = f(D[i - 1])` under grad keeps one row a step. So does a small part of a tangent, which is that of
/// `D[i - 1] + 1` too: else that sum would hold on to the base's.
ValueRef part_to_keep(const Tensor& base, ValueRef part);
/// `tensor`'s value as operations take it: live, without the derivatives that no_grad has switched off, with the rows
/// of the examples that run; inside a recording that sees everything, as a variable of it.
ValueRef read(const Tensor& tensor, const char* op);

/// What the last of these views shows, of which the first is one of `base` and each other one of the view before it.
Tensor shown_through(std::span<const Op> views, Tensor base);

/// The tensor itself, or what no_grad and derivatives that have ended leave of it, in a cell of its own, with the rows
/// of all examples. Throws what `live` throws.
Tensor without_switched_off(const Tensor& tensor, const char* op);

/// The part of a batched, dual or taped value one level down; null for arrays and recorded values.
const ValueRef* inner_of(const Value& value);
/// The other part of a dual value, which may be empty; null for all others.
const ValueRef* tangent_of(const Value& value);
/// The value without derivatives of the levels from `first` to `last`, also inside others, which are built anew around
/// it; of a recording among them, a variable that no derivative of the program goes through. Requires: `live` gives the
/// value itself.
ValueRef without_derivatives(const ValueRef& value, Level first, Level last);
/// visit(place) for each place where an array stands that is in a value which nobody else holds.
template <class Visit>
void for_each_place(ValueRef& value, const Visit& visit) {
  if (value->kind == ValueKind::array) visit(value);
  else if (value->refs.is(1))
    for (const ValueRef* part : {inner_of(*value), tangent_of(*value)})
      if (part && *part) for_each_place(const_cast<ValueRef&>(*part), visit);
}
/// The innermost part of the value, itself included, for which `is(part)` holds; null if there is none.
template <class Is>
const Value* innermost_part(const Value& value, const Is& is) {
  for (const Value* part = &value;;) {
    if (is(*part)) return part;
    const ValueRef* inner = inner_of(*part);
    if (!inner) return nullptr;
    part = inner->get();
  }
}
inline const Value* innermost_part(const Value& value, ValueKind kind) {
  return innermost_part(value, [=](const Value& part) { return part.kind == kind; });
}
/// The value's part of this level; null if it has none.
inline const Value* part_at(const Value& value, Level level) {
  return innermost_part(value, [=](const Value& part) { return part.level == level; });
}
/// The transform as the user called it: `vmap over axis 0 of 64 (train.cpp:41)`; for a level that another entry stands
/// for, that entry.
std::string transform_text(const Interpreter* interpreter);
/// The value with the rows of those examples that run now. Requires: narrowed_levels is not 0.
ValueRef in_running_lanes(ValueRef value);
/// While these levels live, only the examples run that the values have rows for: a derivative asked for after a branch
/// has ended runs for the branch's examples. With `all`, examples that do not run at the moment run too, since
/// recomputation runs for the original examples.
std::vector<std::unique_ptr<Interpreter>> in_lanes_of(std::span<const Tensor> values, bool all = false);
/// What has become of a value whose level does not run here: `left vmap over axis 0 of 3 (train.cpp:41)`, or `belongs
/// to a transform of another thread`.
std::string stale_description(Level level);
/// Whether the level is one of this thread's.
bool of_this_thread(Level level);
/// The level that was the innermost when the cell was made; 0 if that is not known here: a cell made on another thread
/// is older than every transform of this one, unless it was made in a nest that this thread has entered.
Level birth_of(const Cell& cell);

}  // namespace ricci
