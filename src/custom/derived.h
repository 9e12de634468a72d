// Programs from programs: forward mode, vmap, and reverse mode cut into a forward and a backward program. Each runs the
// program under the transform while it is recorded again, so that every rule is used as it is. Knows no operation.
// Start with `pushed`.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "custom/closure.h"
#include "interpreters/batch_level.h"
#include "interpreters/lifted.h"
#include "program/program.h"

namespace ricci::function {

/// A program made from another one. Tensors that its rules captured, and the places its draws begin at, are inputs
/// behind its own.
struct Derived {
  Closure closure;
  Flags outputs;  // those of the old program that have a tangent, or are mapped
};

/// Inputs: those of `f`, then the tangents of the active ones. Outputs: those of `f`, then the tangents of those that
/// have one, or should (`at_least`; zeros then).
Derived pushed(const Program& f, const Flags& active, const Flags& at_least, Runs runs);

/// `f` for all examples at once: the mapped inputs, and the outputs that differ per example or should, have them as
/// axis 0. `in_part`: with one input more behind those of `f`: bool, which of the examples take part. Nothing is
/// printed for the others.
Derived mapped(const Program& f, const Flags& is_mapped, const Flags& at_least, const MappedExamples& examples,
               Runs runs, bool in_part = false);

/// Reverse mode in one program, which computes `f` again. Inputs: those of `f`, then the cotangents of those outputs
/// that have one. Outputs: the cotangents of the active inputs, zeros if need be.
Closure pulled_back(const Program& f, const Flags& active, const Flags& cotangents);

/// `f` as reverse mode sees it that watches these inputs. Example: `f` calls a custom_vjp of one. Its forward rule
/// computes the value, so the result has the equations of the forward rule in place of the call. Inputs and outputs:
/// those of `f`.
Closure seen_inside_reverse(const Program& f, const Flags& watched);

/// The outputs that derivatives of these inputs may reach.
Flags outputs_reached(const Program& f, const Flags& inputs);

/// What a backward program reads of the forward one: an input of the old program, or something that is kept.
struct Reads {
  bool of_input = false;
  std::size_t index = 0;  // among those inputs, or those kept
};

/// Inputs, in order: what `reads` lists; the cotangent of each output in `taken`; for each summed input in `given`, the
/// sum so far. Outputs: the cotangent of each input in `given`, added to its sum if it is summed.
struct Backward {
  Closure closure;
  std::vector<Reads> reads;
  Flags taken;  // outputs of the old program whose cotangents are inputs
  Flags given;  // inputs of the old program whose cotangents are outputs
};

struct Recording;

/// Reverse mode of a program, cut in two.
class Split {
 public:
  /// `active`: the inputs that have cotangents. `at_hand`: those that the backward program may read without their being
  /// kept.
  Split(Program f, const Flags& active, const Flags& at_hand, Runs runs);

  /// Inputs: those of the old program. Outputs: those of the old program, then what is kept.
  const Closure& forward() const { return forward_; }
  std::size_t kept() const { return kept_.size(); }
  /// Those outputs that depend on active inputs.
  const Flags& active_outputs() const { return active_outputs_; }

  /// `cotangents` flags the outputs that have one; those of the others are zero. An input in `at_least` gets a
  /// cotangent even if it is zero. The cotangent of an input in `summed` is added to a sum, which is one input more.
  Backward backward(const Flags& cotangents, const Flags& at_least, const Flags& summed) const;

 private:
  struct Read;
  std::pair<Recording, std::vector<Variable>> record_for_all() const;
  std::optional<Backward> cut(const Recording& recording) const;
  bool begins_as_before(const Recording& recording) const;

  Program f_;
  Flags active_, at_hand_;
  Runs runs_;
  Closure forward_;
  Flags active_outputs_;
  std::vector<Variable> kept_;  // of the first recording
  ProgramBody first_half_;      // of the first recording: what computes the outputs, and what that captures
};

}  // namespace ricci::function
