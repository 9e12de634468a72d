// Recording: values that are variables of a program being written.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "interpreters/shared_recording.h"
#include "interpreters/streams.h"
#include "primitive/interpreter.h"
#include "program/constants.h"
#include "program/program.h"

namespace ricci {

struct Recorded final : Value {
  Variable variable;

  Recorded(Level level, Type type, Variable variable)
      : Value(ValueKind::recorded, level, std::move(type)), variable(variable) {}
  void destroy() noexcept override;
};

/// What a recording writes down. tangents: only what happens to tangents. program: everything, with draws at places
/// taken from the generators. part: the same inside another recording, with draws from that one. step: what runs many
/// times, with draws from streams that are derived from the number of the step.
enum class Records : std::uint8_t { tangents, program, part, step };

class RecordInterpreter final : public Interpreter {
 public:
  RecordInterpreter(Records what, const Entry& entry)
      : Interpreter(ValueKind::recorded, entry),
        writing_(std::make_shared<Writing>()),
        body(writing_, &writing_->body),
        what_(what) {
    this_thread.recordings_of_programs += what != Records::tangents;
    if (what == Records::step) streams_.emplace(*this);
  }
  ~RecordInterpreter() override;
  /// Of tangents alone; NotImplementedError for a whole program.
  std::unique_ptr<Interpreter> copy() override;
  /// Under no_grad: from inputs and to results that no derivative of the program goes through.
  Values process(Op op, std::span<const ValueRef> inputs) override;
  bool sees_everything() const override { return what_ != Records::tangents && !is_passed_by(); }
  ValueRef capture(const Tensor& tensor, const ValueRef& value) override;
  /// The value of a variable that is computed from captured values alone; null: an input or a draw stands behind it.
  /// The program of a trace expects it to be the same in each run.
  const ValueRef* known(Variable variable);

  /// The place of the next draw from `generator`: the program's own, or one that what is around it gives.
  /// Requires: a whole program is recorded.
  StreamPosition next_position(Generator& generator);
  /// The next draw of streams that began outside the recording, or where they begin, as it is inside.
  StreamPosition from_around(Generator& generator, StreamScope& streams, bool starts);
  /// Whether it draws from what is around it.
  bool is_part() const;
  /// Of a step; null: it is none.
  StreamScope* streams_of_step() { return streams_ ? &*streams_ : nullptr; }
  /// What a step's draws from a generator are derived from: an input, a place whose position is the number of the step.
  struct StepStream {
    Generator* generator;
    ValueRef start;
  };
  const std::vector<StepStream>& step_streams() const { return step_streams_; }
  Tensor start_of_steps(Generator& generator);
  /// Where a conditional or loop, the one with this number, begins to draw that is in no streams. Requires: it knows
  /// the generator.
  Tensor begin_streams(Generator& generator, std::uint64_t number);
  /// Of conditionals and loops that are in no streams: the innermost one that runs, and how many there were.
  StreamScope*& innermost_streams() { return innermost_streams_; }
  std::uint64_t* branches() { return &body->branches; }
  /// The value of an operation without operands, which is written here.
  Tensor add_equation(Op op);
  /// Whether it was there before, neither made nor seeded by the recorded function.
  bool knows(const Generator& generator) const { return generator.identity() <= last_identity_; }
  /// A draw at a place that is known when this recording begins, or that an operation around it takes.
  struct Draw {
    ValueRef place;  // a capture, unless no output needs it
    std::uint64_t position;
  };
  const std::vector<Draw>& draws() const { return draws_; }
  /// A captured variable of another recording, and the variable that stands for it here.
  struct OuterValue {
    ValueRef value;
    Variable variable;
  };
  const std::vector<OuterValue>& outer_values() const { return writing_->outer_values; }

  ValueRef add_input(const Type& type);
  /// The tensor of an input lies as the one that it stands for.
  void note_strides(const Tensor& input, Strides strides) { strides_.emplace_back(input, std::move(strides)); }
  /// Null: those of row-major order, or it is none that they were noted for.
  const Strides* strides_of_input(const Cell& cell) const;
  /// What a value of this level is to operations under no_grad: one that no derivative of the program goes through.
  ValueRef undifferentiated(const ValueRef& recorded);
  /// The variable of a value: its own, that of a number like it, or a new capture.
  Variable variable_of(const ValueRef& value);

  /// The first write to an input: what errors of it name, which come only where the program runs.
  struct FirstWrite {
    std::string name;
    Type target;  // the input, or the part of it that is written to
    OriginRef origin;
  };
  /// By the variable of the input.
  const std::map<Variable, FirstWrite>& first_writes() const { return first_writes_; }
  void note_write(const Cell& root, const Type& target, const char* name) override;

  /// What is recorded will stand where derivatives of the inputs are taken.
  bool is_differentiated = false;

  /// The first axes of the variable hold the examples of these levels of vmap, outermost first.
  void note_vmaps(Variable variable, const SmallVector<Level, 2>& levels);

  /// The function has ended, and what it returns was read.
  void close() {
    writing_->threads.close();
    writing_->captured.clear();
  }

 private:
  struct Captured {
    ValueRef inside;
    ValueRef held;  ///< so that nothing else gets its address while the recording knows it by that
  };
  /// What is written, by all threads that a recording of tangents has copies on.
  struct Writing {
    ProgramBody body;
    std::map<NumberBits, Variable> numbers;
    std::unordered_map<const void*, Captured> captured;  // by cell, or by value where no cell holds it
    std::vector<OuterValue> outer_values;                // what was captured so
    std::unordered_map<Variable, ValueRef> known;        // what the host has looked at, and what stands behind it
    std::unordered_set<Variable> expected;               // to be in each run what the host has seen
    std::unordered_map<Variable, ValueRef> constants;    // by variable, what no_grad leaves of it
    SharedRecording threads;
  };
  const std::shared_ptr<Writing> writing_;

 public:
  const std::shared_ptr<ProgramBody> body;

 private:
  RecordInterpreter(const RecordInterpreter& other);
  Values write(Op op, std::span<const ValueRef> inputs);
  Variable new_variable(const Type& type);
  Variable variable_of_number(const ValueRef& number);
  const ValueRef& captured(const void* key, const ValueRef& value, const Tensor& tensor);
  void expect(Variable variable, const Array& elements);
  StreamPosition in_here(const StreamPosition& outside);

  const Records what_;
  OriginsInside origins_{level};
  const std::uint64_t last_identity_ = youngest_generator();  // of those that were there before
  std::vector<std::pair<Tensor, Strides>> strides_;
  std::map<Variable, FirstWrite> first_writes_;
  std::optional<StreamScope> streams_;  // of a step
  std::vector<StepStream> step_streams_;
  std::vector<Draw> draws_;
  StreamScope* innermost_streams_ = nullptr;
  struct NotedVmaps {
    SmallVector<Level, 2> levels;
    int row = -1;
  } last_vmaps_;
  std::vector<Level> vmaps_;  // runs that were noted
  const bool is_copy_ = false;
};

/// Whether the elements are the same, bit by bit: a nan is what it was.
bool are_same_bits(const Strided& a, const Strided& b);

/// Whether errors of the operation may speak of values, or of what a program among its parameters does.
bool may_fail(const Rules& rules);

/// Notes whose axes the variables behind a mapped value have.
void note_vmaps(const Value& batched);

/// The innermost recording of a whole program that runs inside `from` or around it; null if there is none.
RecordInterpreter* innermost_recording(Interpreter* from = this_thread.innermost);

}  // namespace ricci
