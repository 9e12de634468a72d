// compile: a function made into plans that run without its transforms, its trees and its C++.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ricci/dims.h"
#include "ricci/transforms/call.h"

namespace ricci {

/// How long a first call may take.
enum class Effort {
  normal,  ///< code is made of some 80,000 scalar operations, in about a second; what goes beyond runs without
  high,    ///< code is made of all that is faster with it, but kernels of more than 10,000
};

struct CompileOptions {
  /// Hold each call against the function, recorded again: TransformError where it has become another, or where a result
  /// differs by more than rounding explains. The environment's RICCI_COMPILE_CHECK=1 does so for all functions.
  bool check = false;
  Effort effort = Effort::normal;
  /// Code is made by a thread. Until it is there, calls run what was recorded, operation by operation; `plan` and
  /// `explain` wait for it. The function itself is recorded by the first call.
  bool background = false;
};

/// What an exported function leaves to its callers.
struct ExportOptions {
  /// Which arguments have examples along axis 0: `0` or `rc::none`, or a tree over the arguments, as `in_dims` of vmap.
  /// All of them have one number of examples, `s0`, which the functions in C take as their first parameter.
  Dims open = none;
  /// What the function is written for, as `export_object` (ricci/export.h) lists it; "": the machine that runs.
  std::string target = {};
};

namespace compiled {
struct ProgramPlan;
}

/// What a compiled function does for one signature. `std::cout << plan` prints its steps, one a line, with the types of
/// their results.
class Plan {
 public:
  explicit Plan(std::shared_ptr<const compiled::ProgramPlan> state) : state_(std::move(state)) {}
  std::size_t steps() const;
  friend std::ostream& operator<<(std::ostream& out, const Plan& plan);

 private:
  std::shared_ptr<const compiled::ProgramPlan> state_;
};

/// A step of a plan as it ran in one call.
struct ExplainedStep {
  std::string text;                    ///< `matmul f32[20,20]`
  std::int64_t runs = 0;               ///< in the call: of a step inside a loop one for each turn
  double seconds = 0;                  ///< of all runs
  std::optional<double> operations;    ///< floating-point ones of all runs; none: its rules do not tell
  double bytes = 0;                    ///< that all runs read and write
  double operations_per_second = 0;    ///< at best, on as many threads as the step may take
  double bytes_per_second = 0;         ///< the same of the memory, or cache, that holds so many bytes
  std::vector<ExplainedStep> inside;   ///< of the loop's or branch's programs
};

/// Where the time of one call went: each step with its time, its floating-point operations and the bytes that it reads
/// and writes. `std::cout << explanation` prints the table.
class Explanation {
 public:
  Explanation(std::string text, std::vector<ExplainedStep> steps) : text_(std::move(text)), steps_(std::move(steps)) {}
  const std::vector<ExplainedStep>& steps() const { return steps_; }
  /// A picture as SVG: the steps one after the other, as wide as their times; and below each step's speed beside what
  /// memory and arithmetic allow (Williams, Waterman and Patterson's roofline).
  std::string to_svg() const;
  /// Writes the picture. ValueError unless the path ends in `.svg` and the file can be written.
  ///   fast.explain(x).save("plan.svg");
  void save(const std::string& path) const;
  friend std::ostream& operator<<(std::ostream& out, const Explanation& explanation);

 private:
  std::string text_;
  std::vector<ExplainedStep> steps_;
};

namespace compiled {

/// All that one compiled function holds, shared by its copies.
struct Function;
std::shared_ptr<Function> make_function(const char* file, unsigned line, const CompileOptions& options);
std::size_t count_plans(Function& function);

/// One call of a compiled function.
class CallRun {
 public:
  /// The leaves, the values and the C++ type of the arguments, of which the signature is made. `to_export`: what is
  /// recorded is for `export_to` alone.
  CallRun(const std::shared_ptr<Function>& function, const tree::Walk& arguments, const tree::Values& values,
          const std::string_view* type, const ExportOptions& to_export = {});
  CallRun(const CallRun&) = delete;
  ~CallRun();
  /// Whether the function is to be recorded: there is no plan yet, or it is to be checked.
  bool records() const;
  /// Makes the leaves of copies of the arguments the program's inputs.
  void enter(const tree::Walk& copies);
  /// Ends the recording. `tree` is a copy of the result, of which `leaves` shows the leaves: it stays for later calls.
  void leave(const tree::Walk& result, std::shared_ptr<void> tree, const tree::Walk& leaves);
  [[noreturn]] void refuse(const char* found);  ///< a function that returned no tensor
  /// The result of the first call, without its tensors.
  const void* result() const;
  /// Fills in the result's tensors, and writes to the arguments what the function wrote to them.
  void run(const tree::Walk& arguments, const tree::Walk& result);
  Plan plan();
  Explanation explain(const tree::Walk& arguments);
  void export_to(const std::string& path, const tree::Walk& arguments, const tree::Walk& result);

 private:
  struct State;
  Owned<State> state_;
};

/// A function that is compiled, and arguments of a call; `type` is the C++ type of these as a tuple.
struct Called {
  const std::shared_ptr<Function>& function;
  tree::AnyFunction f;
  tree::Arguments arguments;
  const std::string_view* type;
};
tree::AnyTree call(const Called& called);
Plan plan(const Called& called);
Explanation explain(const Called& called);
void export_to(const std::string& path, const ExportOptions& options, const Called& called);

}  // namespace compiled

/// What compile returns. Copies share their plans. Several threads may call one.
template <class F>
class Compiled {
 public:
  Compiled(F f, const CompileOptions& options, where_t where)
      : f_(std::move(f)), function_(compiled::make_function(where.file_name(), where.line(), options)) {}

  template <class... A>
  auto operator()(const A&... a) const {
    using R = call::result_t<F, std::decay_t<const A>...>;
    return compiled::call(called<std::decay_t<const A>...>(a...)).template take<typename call::Parts<false, R>::Out>();
  }
  /// How many plans it holds.
  std::size_t plans() const { return compiled::count_plans(*function_); }
  /// The plan for arguments like these, made if there is none yet. Runs nothing but, to record it, the function.
  template <class... A>
  Plan plan(const A&... a) const {
    return compiled::plan(called<std::decay_t<const A>...>(a...));
  }
  /// Runs the plan for these arguments under timers.
  template <class... A>
  Explanation explain(const A&... a) const {
    return compiled::explain(called<std::decay_t<const A>...>(a...));
  }
  /// `export_object` (ricci/export.h).
  template <class... A>
  void export_to(const std::string& path, const ExportOptions& options, const A&... a) const {
    compiled::export_to(path, options, called<std::decay_t<const A>...>(a...));
  }

 private:
  template <class... A>
  compiled::Called called(const A&... a) const {
    return {function_, call::any_function<call::result_t<F, A...>, A...>(f_), call::any_list(A(a)...),
            &tree::type_name<std::tuple<A...>>};
  }

  F f_;
  std::shared_ptr<compiled::Function> function_;
};

/// `f`, transforms included, made into a plan at its first call for a signature: the structure of the arguments, the
/// dtypes and ranks of their tensors, their plain values, and sizes of at most 16. Later calls run the plan. A larger
/// size is left open: one plan serves all, within the comparisons of sizes that f made. A small size that changes is
/// left open from then on. The result is what f gives: values, errors, writes to its arguments, draws from generators;
/// sums may be added in another order. f runs while it is recorded, and then no more: it may not look at values
/// (TransformError), as in `trace`. Tensors that f captures are read anew at each call. What f captures besides stays
/// what it was: pass it as an argument. A compiled function is one operation to every transform around it: its
/// derivatives and its batch are plans of their own.
///   auto fast = rc::compile(rc::vmap(rc::grad(loss))); Tensor g = fast(w, x);
template <class F>
  requires(!std::is_convertible_v<F, Tensor>)
Compiled<F> compile(F f, const CompileOptions& options = {}, where_t where = where_t::current()) {
  return {std::move(f), options, where};
}
inline Compiled<Unary*> compile(Unary* f, const CompileOptions& options = {}, where_t where = where_t::current()) {
  return {f, options, where};
}
template <class = void>
Compiled<Binary*> compile(Binary* f, const CompileOptions& options = {}, where_t where = where_t::current()) {
  return {f, options, where};
}
template <class = void>
Compiled<AlongAxis*> compile(AlongAxis* f, const CompileOptions& options = {}, where_t where = where_t::current()) {
  return {f, options, where};
}

}  // namespace ricci
