// The erasure boundary of the transforms: compiled code that sees only the tensors of a tree, never its C++ type.
// Not for users; transforms.h is written with it.
#pragma once

#include <cstdint>
#include <source_location>
#include <span>
#include <vector>

#include "ricci/dims.h"
#include "ricci/owned.h"
#include "ricci/program.h"
#include "ricci/tree.h"

namespace ricci::runs {

/// Whether a running reverse transform or tape records what is computed from it.
bool is_on_tape(const Tensor& x);

/// The user's file and line.
struct Place {
  const char* file = "";
  unsigned line = 0;
  Place() = default;
  Place(const std::source_location& where) : file(where.file_name()), line(where.line()) {}
};

/// One call of a vmapped function: `enter` turns the argument leaves into one example's, `leave` takes the results of
/// one chunk, `finish` writes the joined results into the leaves of the first chunk's tree.
class BatchRun {
 public:
  BatchRun(const tree::Walk& arguments, const VmapOptions& options, Place where, bool ragged = false);
  BatchRun(const BatchRun&) = delete;
  ~BatchRun();
  bool enter(const tree::Walk& arguments);  ///< false when all chunks and groups are done
  void leave(const tree::Walk& result);     ///< ends a run of the function
  void finish(const tree::Walk& result);    ///< `result` is the first run's
  /// For each leaf in turn the values of all examples, one after the other, and the offsets where each starts.
  std::vector<Tensor> finish_ragged();
  void refuse(const char* found);  ///< a function that returned no tensor, unless out_dims is none

 private:
  struct State;
  Owned<State> state_;
};

/// What a reverse transform has recorded: shared by the pullbacks made from it.
struct Recording {
  struct State;
  Shared<const State> state;
};

/// What sets one reverse transform apart from the others.
struct ReverseKind {
  bool shown = true;                  // false: another transform stands for it in the nest that errors print
  bool cotangents_are_given = false;  // by the user, to be held against the output
};

/// One call of a function under reverse differentiation.
class ReverseRun {
 public:
  ReverseRun(const char* name, Place where, ReverseKind kind = {});
  /// Makes the leaves of every argument writable, and those of the arguments at `differentiated` watched, in that
  /// order.
  void enter(std::span<const tree::Walk> arguments, std::span<const int> differentiated);
  /// Ends the level: the leaves of output and aux become the caller's.
  Recording leave(const tree::Walk& output, const tree::Walk* aux);
  /// Throws what is wrong with a loss; `is_tensor` is false where its C++ type already is.
  void check_loss(const tree::Walk& output, bool is_tensor);
  /// Throws what is wrong with the outputs of vjp.
  void check_outputs(const tree::Walk& output);
  /// Throws what is wrong with the outputs of jacrev.
  void check_jacobian_outputs(const tree::Walk& output);
  [[noreturn]] void refuse(const char* found);              ///< a function that returned no tensor
  [[noreturn]] void refuse_loss(const std::string& found);  ///< one that should have returned a loss

 private:
  struct State;
  Owned<State> state_;
};

/// Gradients of a loss: cotangent one. Writes them over the floating leaves of `gradients`, one Walk per differentiated
/// argument, in order.
void write_gradients(const Recording& recording, std::span<const tree::Walk> gradients);
/// Forgets the values of the floating leaves, keeping structure and other leaves: what a pullback's result is filled
/// in.
void forget_floating(std::span<const tree::Walk> primals);
/// What a pullback gives for these cotangents, of the output's tree; throws where they do not fit.
void write_pullback(const Recording& recording, const tree::Walk& cotangents, std::span<const tree::Walk> gradients);
/// One tensor per output leaf and differentiated input leaf, [out shape…, in shape…]; where either has no
/// derivative, being of integers, its value stands there. `positions` are the inputs' among the arguments.
std::vector<Tensor> reverse_jacobian(const Recording& recording, const tree::Walk& output,
                                     std::span<const tree::Walk> inputs, std::span<const int> positions,
                                     const JacobianOptions& options, const char* name, Place where);

/// One call of a function under forward differentiation, of a function that takes `order` derivatives with it.
class ForwardRun {
 public:
  ForwardRun(const char* name, Place where, int order = 1);
  /// Makes the leaves of the primals carry the tangents; throws where these do not fit.
  void enter(std::span<const tree::Walk> primals, std::span<const tree::Walk> tangents);
  /// Ends the level: output leaves become primals; `tangent`, a copy of output, receives the tangents. With `strict` an
  /// output that does not depend on the primals throws.
  void leave(const tree::Walk& output, const tree::Walk& tangent, const tree::Walk* aux, bool strict);
  [[noreturn]] void refuse(const char* found);  ///< a function that returned no tensor

 private:
  struct State;
  Owned<State> state_;
};

/// Throws ValueError unless the arguments of a jet have equally many coefficients; `orders` counts those of each.
void require_equal_orders(std::span<const std::size_t> orders, Place where);
/// Throws unless the coefficients of this order, counted from 1, are like the arguments of a jet.
void require_coefficients(std::size_t order, std::span<const tree::Walk> arguments,
                          std::span<const tree::Walk> coefficients, Place where);

/// One call of a function for its Jacobian by forward mode: `f` runs once per chunk of input elements.
class ForwardJacobian {
 public:
  ForwardJacobian(const char* name, const JacobianOptions& options, Place where);
  /// Begins a chunk: the leaves at `differentiated` carry its tangents, all in one batch. False when all chunks are
  /// done.
  bool enter(std::span<const tree::Walk> arguments, std::span<const int> differentiated);
  /// Ends a chunk: the leaves of output and aux become the caller's.
  void leave(const tree::Walk& output, const tree::Walk* aux);
  /// As reverse_jacobian.
  std::vector<Tensor> finish();
  [[noreturn]] void refuse(const char* found);  ///< a function that returned no tensor

 private:
  struct State;
  Owned<State> state_;
};

/// A function linearised: the recorded tangent program.
struct Linearized {
  /// Writes the output's tangents over the leaves of `output`; throws where `tangents` do not fit the primals.
  void apply(std::span<const tree::Walk> tangents, const tree::Walk& output) const;
  struct State;
  Shared<const State> state;
};

/// One call of a function that is linearised: primals are computed, what happens to tangents is recorded.
class LinearizeRun {
 public:
  explicit LinearizeRun(Place where);
  /// Makes the leaves of the primals carry recorded tangents.
  void enter(std::span<const tree::Walk> primals);
  /// Ends the level: output leaves become primals.
  Linearized leave(const tree::Walk& output);
  [[noreturn]] void refuse(const char* found);  ///< a function that returned no tensor

 private:
  struct State;
  Owned<State> state_;
};

/// One call of a function that is written down as a program.
class TraceRun {
 public:
  explicit TraceRun(Place where);
  /// Makes the leaves of the arguments the program's inputs.
  void enter(const tree::Walk& arguments);
  /// Ends the recording; the leaves of output are the program's outputs.
  Program leave(const tree::Walk& output);
  [[noreturn]] void refuse(const char* found);  ///< a function that returned no tensor

 private:
  struct State;
  Owned<State> state_;
};

}  // namespace ricci::runs
