// Lane kernels in a program: program in, program out. Knows the rules of operations, no operation by name.
#pragma once

#include <atomic>
#include <optional>
#include <span>

#include "compile/lane_kernel.h"
#include "program/program.h"

namespace ricci::compiled {

/// The program with equations that are independent along one axis put together: each such group is one equation,
/// `lanes`, that runs a lane kernel. What cannot be said element by element stays as it is and stands between groups.
/// The result runs outside transforms, where the open sizes of the program are those of the call; no rule derives from
/// it. Requires: the program is simplified.
Program with_lane_kernels(const Program& program, const ExpandOptions& options = {});

/// The same, with kernels also in the programs that loops and branches run. There every equation that can have one gets
/// it, as long as it is short: such a kernel runs at each turn.
Program with_kernels_throughout(const Program& program, const ExpandOptions& options = {});

/// Makes the code of the kernels of such a program. What stands in for a loop in lanes, where there are few of them,
/// gets code when it runs. So do kernels in loops that may stand in place (function_plan.h): those mostly need none.
/// `is_dropped`: where it becomes true nobody needs more code.
void make_code(const Program& program, const std::atomic<bool>* is_dropped = nullptr);

/// What an equation that runs a lane kernel runs it for.
struct KernelCall {
  std::shared_ptr<const LaneKernel> kernel;
  std::int64_t lanes, positions;                  // positions: of the outer axis
  std::vector<bool> has_outer, result_has_outer;  // by operand, by result: whether it has the outer axis, in front
  bool has_too_few_lanes = false;                 // the equations do better, or `apart`
  std::size_t equations = 1;                      // that the kernel stands for
  std::optional<Program> apart = {};              // of a loop with its turns in lanes: the loop
};
/// Whether it is a loop with its turns in lanes.
bool is_loop_in_lanes(const Equation& e);
/// None where the equation is another one. Requires: the sizes of the operands are numbers.
std::optional<KernelCall> kernel_call(const Equation& e, const Types& operands);

/// The axes of such an equation, as the kernel was made for them.
struct KernelAlong {
  std::shared_ptr<const LaneKernel> kernel;
  OpenSize lanes, outer;
};
std::optional<KernelAlong> kernel_along(const Equation& e);

struct Group;

/// A program that is one lane kernel: it runs without variables, operand lists and type rules.
class OneKernel {
 public:
  /// None where the program is more, or gives other results than the kernel's.
  static std::optional<OneKernel> of(const Program& program);
  /// Fills `results`. False, with `results` empty, where an operand is not contiguous or of a transform, where there
  /// are no lanes, and where the values are such that the program throws. Then run the program.
  bool run(std::span<const Tensor> inputs, Tensors& results) const;

 private:
  OneKernel(std::shared_ptr<const Group> group, SmallVector<int, 8> operands);
  std::shared_ptr<const Group> group_;
  SmallVector<int, 8> operands_;  // by operand of the kernel: which input of the program
  std::optional<Types> types_;    // of the results, where no size is open
};

}  // namespace ricci::compiled
