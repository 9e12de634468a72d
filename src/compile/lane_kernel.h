// A program whose work is independent along one axis, as machine code: small axes unrolled into scalars, one example a
// lane of a register. Start with `lane_kernel`.
//
// The axis of lanes is the one whose size is a symbol; without one, there is one lane and the code is scalar. What is
// reduced over the lanes is joined in pieces that depend on their number alone, so that threads change no bit.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <span>

#include "compile/loaded_code.h"
#include "ricci/strided.h"

namespace ricci::compiled {

class LaneKernel;

/// What the kernel's code is given, and calls back with where an argument of sin or cos was large.
struct CarefulCall {
  explicit CarefulCall(const LaneKernel& kernel) : kernel(kernel) {}
  const LaneKernel& kernel;
  std::atomic<bool> failed = false;  ///< no careful code could be made; stays set, as another thread may have set it
  std::mutex mutex;
  std::exception_ptr ended = nullptr;  ///< by an interruption

  int interrupts() noexcept;  ///< 0: goes on
};

class LaneKernel {
 public:
  explicit LaneKernel(LanePlan plan);
  LaneKernel(const LaneKernel&) = delete;
  ~LaneKernel();

  /// Positions of an outer axis: how far each tensor's next one is, in bytes. The kernel runs for each of them, and
  /// writes totals at each; one whose plan walks writes the totals of all positions, once.
  struct Positions {
    std::int64_t count = 1;
    std::span<const std::int64_t> in = {}, out = {};
  };
  /// Requires: inputs (the program's, then the captured tensors) and outputs are contiguous and of the program's types
  /// for this number of lanes, which is at least 1; outputs overlap nothing. Several threads may call it. False: the
  /// program throws for these values, so run it to learn what, or the code for them could not be made; the outputs are
  /// unspecified. Several positions take as many lanes as a register has at least.
  /// Neither locks nor throws, but for what an interruption throws. It allocates nothing where a lane's elements fit on
  /// the stack; but for the first time that sin or cos gets an argument beyond what its formula holds for: then code is
  /// made that calls the functions.
  bool run(std::span<const Strided> inputs, std::span<const Strided> outputs, std::int64_t lanes) const {
    return run(inputs, outputs, lanes, Positions{});
  }
  bool run(std::span<const Strided> inputs, std::span<const Strided> outputs, std::int64_t lanes,
           const Positions& positions) const;
  /// Fewer lanes than these at each position take longer than so many equations do one after the other.
  std::int64_t fewest_lanes(std::ptrdiff_t equations) const;
  /// Of a loop: for fewer lanes the kernel does not run.
  std::int64_t fewest_lanes_of_turns() const { return plan_.refill ? 1 : lanes_together(); }

  /// Scalar operations of one lane, and of what is computed once.
  std::size_t steps() const { return plan_.steps(); }
  /// What it takes of `ExpandOptions::work_left`: the time that LLVM takes for the code, in plain operations.
  std::size_t work() const { return work_; }
  const LanePlan& plan() const { return plan_; }
  /// Of the inputs that its code reads. The program of a walked kernel lists those of a few more positions.
  std::vector<Place> places_read() const;
  int lanes_together() const { return plan_.lanes_together(); }
  bool has_turns() const { return plan_.program.turns.has_value(); }
  /// Of turns: after how many the program throws, where that is all that it may throw; else none.
  std::optional<std::int64_t> limit_of_turns() const;
  /// Made when it is first asked for, by `run` at the latest. Null where the system lets none be made. It finds a
  /// CarefulCall in its first slot.
  const Code* code() const {
    const Code* const made = made_.load(std::memory_order_acquire);
    return made ? made : make_code();
  }
  const Code& careful_code() const;
  double nanoseconds(std::int64_t lanes) const;  ///< of a position, roughly

  struct Run;  ///< one call

 private:
  bool run_few(const Code& code, std::span<const Strided> inputs, std::span<const Strided> outputs,
               std::int64_t lanes) const;

  const Code* make_code() const;

  LanePlan plan_;
  std::vector<double> nanoseconds_;            // of a lane, by stage
  double nanoseconds_once_, scattered_bytes_;  // scattered: of a lane
  std::size_t work_;
  // No std::once_flag: it reads thread-locals of libstdc++, for which a host that loads the library late has no place.
  mutable std::mutex mutex_;
  mutable Code code_, careful_;
  mutable std::atomic<const Code*> made_ = nullptr;
  mutable bool is_careful_made_ = false, cannot_be_made_ = false;
};

using MadeKernel = std::variant<std::shared_ptr<const LaneKernel>, NotExpandable>;

/// Requires: the program is simplified. RICCI_DUMP=lanes,code prints its scalar operations and their code.
MadeKernel lane_kernel(const Program& program, const ExpandOptions& options = {});
/// Of a part of a program, as `expand` takes it.
MadeKernel lane_kernel(const ProgramBody& part, const ProgramBody& whole, const ExpandOptions& options);
/// Of a part that is one loop, as `expand_turns` takes it. The kernel runs for `fewest_lanes_of_turns` lanes or more.
MadeKernel turn_kernel(const ProgramBody& part, const ProgramBody& whole, const ExpandOptions& options);
/// How many elements a register of code has; halves are computed in float.
std::int64_t lanes_in_register(DType dtype, const Target& target);
/// Null where kernels are made. Else why not: the library was built without a compiler, or for a machine that it makes
/// no code for.
const char* why_no_kernels();
inline bool makes_kernels() { return !why_no_kernels(); }

}  // namespace ricci::compiled
