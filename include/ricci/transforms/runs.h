// The erasure boundary of the transforms: compiled code that sees only the tensors of a tree, never its C++ type.
// Not for users; transforms.h is written with it.
#pragma once

#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <vector>

#include "ricci/dims.h"
#include "ricci/program.h"
#include "ricci/tree.h"

namespace ricci::runs {

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
  bool enter(const tree::Walk& arguments);  ///< false when all chunks are done
  void leave(const tree::Walk& result);
  void finish(const tree::Walk& result);
  /// For each leaf in turn the values of all examples, one after the other, and the offsets where each starts.
  std::vector<Tensor> finish_ragged();
  [[noreturn]] void refuse(const char* nothing_or_number);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What a reverse transform has recorded: shared by the pullbacks made from it.
class Recording {
 public:
  Recording() = default;
  Recording(const Recording& other);
  Recording(Recording&& other) noexcept : state_(other.state_) { other.state_ = nullptr; }
  Recording& operator=(Recording other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~Recording();
  struct State;
  State* state_ = nullptr;
};

/// One call of a function under reverse differentiation.
class ReverseRun {
 public:
  ReverseRun(const char* name, Place where, bool shown = true);
  ReverseRun(const ReverseRun&) = delete;
  ~ReverseRun();
  /// Makes the leaves of every argument writable, and those of the arguments at `differentiated` watched, in that order.
  void enter(std::span<const tree::Walk> arguments, std::span<const int> differentiated);
  /// Ends the level: the leaves of output and aux become the caller's.
  Recording leave(const tree::Walk& output, const tree::Walk* aux);
  /// Throws what is wrong with a loss.
  void check_loss(const tree::Walk& output, bool is_tensor);
  void check_outputs(const tree::Walk& output);
  [[noreturn]] void refuse(const char* found);  ///< a function that returned no tensor
  [[noreturn]] void refuse_loss(const std::string& found);

 private:
  struct State;
  State* state_;
};

/// Gradients of a loss: cotangent one. Writes them over the floating leaves of `gradients`, one Walk per differentiated
/// argument, in order.
void write_gradients(Recording& recording, std::span<const tree::Walk> gradients);
/// Forgets the values of the floating leaves, keeping structure and other leaves: what a pullback's result is filled in.
void forget_floating(std::span<const tree::Walk> primals);
void write_pullback(const Recording& recording, const tree::Walk& cotangents, std::span<const tree::Walk> gradients);
/// Rows of the Jacobian for every output leaf, [output elements, input shape…] for each differentiated leaf.
/// `positions` are the inputs' among the arguments.
std::vector<Tensor> reverse_jacobian(Recording& recording, const tree::Walk& output, std::span<const tree::Walk> inputs,
                                     std::span<const int> positions, const JacobianOptions& options, const char* name,
                                     Place where);

/// One call of a function under forward differentiation.
class ForwardRun {
 public:
  ForwardRun(const char* name, Place where);
  ForwardRun(const ForwardRun&) = delete;
  ~ForwardRun();
  void enter(std::span<const tree::Walk> primals, std::span<const tree::Walk> tangents);
  /// Ends the level: output leaves become primals; `tangent`, a copy of output, receives the tangents.
  void leave(const tree::Walk& output, const tree::Walk& tangent, const tree::Walk* aux, bool strict);
  [[noreturn]] void refuse(const char* found);

 private:
  struct State;
  State* state_;
};

/// One call of a function for its Jacobian by forward mode: `f` runs once per chunk of input elements.
class ForwardJacobian {
 public:
  ForwardJacobian(const char* name, const JacobianOptions& options, Place where);
  ForwardJacobian(const ForwardJacobian&) = delete;
  ~ForwardJacobian();
  bool enter(std::span<const tree::Walk> arguments, std::span<const int> differentiated);
  void leave(const tree::Walk& output, const tree::Walk* aux);
  /// One tensor per output leaf and differentiated input leaf, [out shape…, in shape…].
  std::vector<Tensor> finish();
  [[noreturn]] void refuse(const char* found);

 private:
  struct State;
  State* state_;
};

/// A function linearised: the recorded tangent program.
class Linearized {
 public:
  Linearized() = default;
  Linearized(const Linearized& other);
  Linearized(Linearized&& other) noexcept : state_(other.state_) { other.state_ = nullptr; }
  Linearized& operator=(Linearized other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~Linearized();
  /// Writes the output's tangents over the leaves of `output`.
  void apply(std::span<const tree::Walk> tangents, const tree::Walk& output) const;
  struct State;
  State* state_ = nullptr;
};

class LinearizeRun {
 public:
  explicit LinearizeRun(Place where);
  LinearizeRun(const LinearizeRun&) = delete;
  ~LinearizeRun();
  void enter(std::span<const tree::Walk> primals);
  Linearized leave(const tree::Walk& output);
  [[noreturn]] void refuse(const char* found);

 private:
  struct State;
  State* state_;
};

/// One call of a function that is written down as a program.
class TraceRun {
 public:
  explicit TraceRun(Place where);
  TraceRun(const TraceRun&) = delete;
  ~TraceRun();
  void enter(const tree::Walk& arguments);
  Program leave(const tree::Walk& output);
  [[noreturn]] void refuse(const char* found);

 private:
  struct State;
  State* state_;
};

}  // namespace ricci::runs
