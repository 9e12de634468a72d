// Making the functions, and their calls.
#include "compile/native_function.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include "compile/blocks.h"
#include "compile/contractions.h"
#include "compile/costs.h"
#include "compile/function_steps.h"
#include "compile/generator.h"
#include "compile/known_sizes.h"
#include "compile/lane_kernel.h"
#include "compile/lane_steps.h"
#include "compile/nests.h"
#include "compile/switches.h"
#include "control/checks.h"
#include "interpreters/places.h"
#include "kernels/elementwise.h"
#include "ops/debug.h"
#include "primitive/eager.h"
#include "program/programs_run.h"
#include "program/running.h"
#include "ricci/interruption.h"
#include "ricci/ops.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"
#include "tensor/at.h"
#include "tensor/lent.h"
#include "tensor/thread_context.h"

namespace ricci::compiled {
namespace {

// ── what the library computes ──

Strided strided(const Type& type, const Strides& strides, void* data) {
  return {data, type.dtype, type.rank(), type.shape.host(), strides.data()};
}

/// The call's own operation on tensors, whose elements are copied to their places. A function of the user's may keep
/// its arguments: it gets copies.
void compute_on_tensors(const LibraryCall& call, const void* const* in, std::span<const Strided> out) {
  Tensors inputs;
  for (std::size_t k = 0; k < call.in.size(); ++k) {
    const ArrayRef lent = make_lent(call.in[k], const_cast<void*>(in[k]), [](void*, void*) {}, nullptr);
    lent->strides = call.in_strides[k];
    inputs.push_back(wrap(lent));
    if (call.equation.rules->function_name) inputs.back() = clone(inputs.back());
  }
  const Tensors results = apply_all(call.equation.op(), {inputs.data(), inputs.size()});
  for (std::size_t k = 0; k < results.size(); ++k)
    kernels::copy(out[k], static_cast<const Array&>(*value_of(results[k])).strided());
}

bool compute_elementwise(const LibraryCall& call, const void* const* in, const Strided& out) {
  std::deque<Array> arrays;  // elements that stay where they are
  SmallVector<const Array*, 4> inputs;
  for (std::size_t k = 0; k < call.in.size(); ++k) {
    arrays.emplace_back(call.in[k], call.in_strides[k], const_cast<void*>(in[k]), nullptr, nullptr);
    inputs.push_back(&arrays.back());
  }
  return run_elementwise_into(call.equation.op(), call.out[0], out, {inputs.data(), inputs.size()});
}

void compute(const LibraryCall& call, const void* const* in, void* const* out) {
  const Rules& rules = *call.equation.rules;
  SmallVector<Strides, 4> strides;
  SmallVector<Strided, 4> results, operands;
  for (const Type& type : call.out) strides.push_back(contiguous_strides(type.shape));
  for (std::size_t k = 0; k < call.out.size(); ++k) results.push_back(strided(call.out[k], strides[k], out[k]));
  const bool is_elementwise = rules.kind == Kind::elementwise;
  if (is_elementwise && compute_elementwise(call, in, results[0])) return;
  if (is_elementwise || rules.kind == Kind::custom || rules.is_view())
    return compute_on_tensors(call, in, {results.data(), results.size()});
  for (std::size_t k = 0; k < call.in.size(); ++k)
    operands.push_back(strided(call.in[k], call.in_strides[k], const_cast<void*>(in[k])));
  if (call.replaces) {
    rules.overwrite(call.equation.parameters.get(), Overwriting::replace, {}, {operands.data(), operands.size()});
    return;
  }
  rules.eval(call.equation.parameters.get(), {results.data(), results.size()}, {operands.data(), operands.size()});
}

std::atomic<std::int64_t> made_plans = 0;

}  // namespace

std::int64_t made_native_functions() { return made_plans; }

namespace {
constexpr std::size_t most_native_steps = 1000;  // of a function: LLVM takes some milliseconds for ten of them
}

/// The function for some sizes.
class NativeFunction {
 public:
  /// `of_block`: the program for a block of examples, if it runs for one after the other, which takes no places.
  NativeFunction(std::vector<Equation> places, Program program, const Program& of_block,
                 std::optional<ExampleBlocks> blocks)
      : places_(std::move(places)),
        program_(std::move(program)),
        result_types_(output_types(program_)),
        blocks_(std::move(blocks)),
        planned_(planned_in_library(of_block)) {
    if (count_of(planned_.plan.steps) > most_native_steps) return;
    const Image image = image_of(planned_.plan);
    ++made_plans;
    if (!image.error.empty()) return;
    try {
      code_ = LoadedCode(image, [&](const Callee& callee) { return address_of(callee); });
    } catch (const std::runtime_error&) { return; }  // memory cannot be executed
    run_ = code_.function<PlanFunctionInCode>(image.functions[0]);
  }
  NativeFunction(const NativeFunction&) = delete;
  bool has_code() const { return run_ != nullptr; }

  /// Where the code gives no results the equations run: they say what is wrong with the values, and print no line that
  /// the code has printed.
  Tensors results_of(std::span<const Tensor> given) const {
    Tensors inputs(given.begin(), given.end());
    for (const Equation& e : places_) inputs.push_back(apply_all(e.op(), {})[0]);
    Tensors results;
    const std::int64_t lines_before = this_thread.lines_so_far;
    if (call_code(inputs, results)) return results;
    const With<&ThreadContext::lines_printed> printed(
        std::max(this_thread.lines_printed, std::exchange(this_thread.lines_so_far, lines_before)));
    return run_program(program_, {inputs.data(), inputs.size()});
  }

 private:
  static std::size_t count_of(const std::vector<Step>& steps) {
    std::size_t count = steps.size();
    for (const Step& step : steps) {
      if (const auto* const loop = std::get_if<LoopStep>(&step.what))
        count += count_of(loop->condition) + count_of(loop->body);
      if (const auto* const branch = std::get_if<BranchStep>(&step.what))
        for (const std::vector<Step>& one : branch->branches) count += count_of(one);
    }
    return count;
  }

  using Memory = std::unique_ptr<kernels::Scratch<std::byte>>;
  struct Call {
    const NativeFunction& plan;
    std::exception_ptr ended = nullptr;  // by other than an error of an operation
    std::vector<Memory> records = std::vector<Memory>(plan.planned_.plan.records.size());
  };

  using Arguments = SmallVector<const void*, 16>;
  using Results = SmallVector<void*, 8>;
  bool call_code(Tensors& inputs, Tensors& results) const {
    const auto failed = [](const CarefulCall& of) { return of.failed.load(); };
    if (std::ranges::any_of(planned_.careful, failed)) return false;
    Arguments arguments;
    Results to;
    SmallVector<ArrayRef, 8> arrays;
    for (Tensor& x : inputs) {
      if (value_of(x)->kind != ValueKind::array) return false;
      const auto* array = static_cast<const Array*>(value_of(x).get());
      if (!is_contiguous(array->type.shape, array->strides)) {
        x = x.contiguous();
        array = static_cast<const Array*>(value_of(x).get());
      }
      arguments.push_back(array->data);
    }
    for (const Type& type : result_types_) {
      arrays.push_back(make_array(type));
      to.push_back(arrays.back()->data);
    }
    const int answer = blocks_ ? run_blocks(*blocks_, inputs, arguments, to) : run_once(arguments, to);
    // To go through so many turns once more, equation by equation, takes long.
    if (answer >= first_limit) {
      const std::size_t loop = at(answer - first_limit);
      runs::raise_at_limit(planned_.limited[loop].name, planned_.plan.limits[loop], planned_.limited[loop].origin);
    }
    if (answer != 0 || std::ranges::any_of(planned_.careful, failed)) return false;
    for (ArrayRef& array : arrays) results.push_back(make_tensor(std::move(array), 0));
    return true;
  }

  int run_once(const Arguments& arguments, const Results& to) const {
    const kernels::Scratch<std::byte> workspace(planned_.plan.workspace_bytes);
    Call call{*this};
    const int answer = run_(arguments.data(), to.data(), workspace.data(), &call);
    if (call.ended) std::rethrow_exception(call.ended);
    return answer;
  }
  /// The last block may begin inside the one before it, so it runs when that is done.
  int run_blocks(const ExampleBlocks& blocks, const Tensors& inputs, const Arguments& arguments,
                 const Results& to) const {
    constexpr double likely_nanoseconds = 50'000;
    SmallVector<std::int64_t, 16> of_argument;  // bytes of an example
    SmallVector<std::int64_t, 8> of_result;
    const auto of_example = [&](const Type& type) { return bytes_of(type) / blocks.examples; };
    for (std::size_t i = 0; i < arguments.size(); ++i)
      of_argument.push_back(blocks.has_examples[i] ? of_example(value_of(inputs[i])->type) : 0);
    for (const Type& type : result_types_) of_result.push_back(of_example(type));
    std::atomic<int> answer = 0;
    const auto run = [&](std::int64_t first) {
      Arguments from = arguments;
      Results into = to;
      for (std::size_t i = 0; i < from.size(); ++i)
        from[i] = static_cast<const std::byte*>(from[i]) + first * of_argument[i];
      for (std::size_t k = 0; k < into.size(); ++k) into[k] = static_cast<std::byte*>(into[k]) + first * of_result[k];
      if (const int found = run_once(from, into)) answer = found;
    };
    kernels::parallel_for({blocks.examples / blocks.of_block, likely_nanoseconds},
                          [&](std::int64_t begin, std::int64_t end) {
                            for (std::int64_t i = begin; i < end && answer == 0; ++i) run(i * blocks.of_block);
                          });
    if (answer == 0 && blocks.examples % blocks.of_block != 0) run(blocks.examples - blocks.of_block);
    return answer;
  }

  /// Requires: the planned function stays where it is.
  const void* address_of(const Callee& callee) const {
    using What = Callee::What;
    const auto kernel = [&]() -> const CarefulCall& { return planned_.careful[at(callee.kernel)]; };
    const auto stage = [&]() -> const StageCode& { return kernel().kernel.code()->stages[at(callee.stage)]; };
    switch (callee.what) {
      case What::call_step: return reinterpret_cast<const void*>(&call_step);
      case What::interrupts: return reinterpret_cast<const void*>(&interrupts);
      case What::grow: return reinterpret_cast<const void*>(&grow);
      case What::copy: return reinterpret_cast<const void*>(&std::memcpy);
      case What::kernel_once: return reinterpret_cast<const void*>(stage().once);
      case What::kernel_lane: return reinterpret_cast<const void*>(stage().lane);
      case What::kernel_join: return reinterpret_cast<const void*>(stage().join);
      case What::kernel_call: return &kernel();
      default: return address_of_word(callee);
    }
  }

  // What code calls. Nothing may be thrown through code.
  static int call_step(void* call, std::int64_t number, const void* const* in, void* const* out) noexcept {
    auto& now = *static_cast<Call*>(call);
    try {
      compute(now.plan.planned_.calls[at(number)], in, out);
      return 0;
    } catch (const Error&) {
      // A sink may throw one, and would not throw it again where the equations run.
      if (prints(*now.plan.planned_.calls[at(number)].equation.rules)) now.ended = std::current_exception();
    } catch (...) { now.ended = std::current_exception(); }
    return 1;
  }
  static void* grow(void* call, std::int64_t records, std::int64_t* capacity) noexcept try {
    constexpr std::int64_t fewest = 16;
    auto& now = *static_cast<Call*>(call);
    const std::int64_t bytes = now.plan.planned_.plan.records[at(records)].bytes, before = *capacity;
    const std::int64_t more = std::max(fewest, 2 * before);
    if (bytes > 0 && more > INT64_MAX / bytes) throw std::bad_alloc();
    auto room = std::make_unique<kernels::Scratch<std::byte>>(std::max<std::int64_t>(1, more * bytes));
    Memory& known = now.records[at(records)];
    if (known) std::memcpy(room->data(), known->data(), at(before * bytes));
    known = std::move(room);
    *capacity = more;
    return known->data();
  } catch (...) {
    static_cast<Call*>(call)->ended = std::current_exception();
    return nullptr;
  }
  static int interrupts(void* call) noexcept try {
    allow_interruption();
    return 0;
  } catch (...) {
    static_cast<Call*>(call)->ended = std::current_exception();
    return 1;
  }

  const std::vector<Equation> places_;  // of generators: taken before the code runs, once a call
  const Program program_;               // behind its inputs those places
  const Types result_types_;
  const std::optional<ExampleBlocks> blocks_;
  const PlannedFunction planned_;
  LoadedCode code_;
  PlanFunctionInCode run_ = nullptr;
};

namespace {

/// Whether a run that did not end leaves nothing behind but lines.
bool may_run_again(const Program& program) {
  const auto leaves_more = [](const Rules& rules) { return rules.effect == Effect::acts && !prints(rules); };
  return std::ranges::none_of(program.body().equations,
                              [&](const Equation& e) { return any_inside(e.op(), leaves_more); });
}

/// Whether it runs programs, again and again or one of several.
bool turns(const Equation& e) {
  const Program* const apart = program_apart(e);
  return is_loop_in_lanes(e) || repeats_programs(e) || runs_as<Branches>(e) ||
         (apart && std::ranges::any_of(apart->body().equations, turns));
}

/// Small values: between large ones, what code saves is nothing. A view that is a result is copied, slowly.
bool is_small(const ProgramBody& body) {
  constexpr std::int64_t most_elements = 1 << 16, most_copied = 1 << 12;
  std::int64_t elements = 0;
  for (const Equation& e : body.equations)
    for (const Variable v : e.outputs) {
      const std::int64_t count = body.types[at(v)].shape.numel().raw();
      if (!e.rules->is_view()) elements += count;
      else if (count > most_copied && std::ranges::find(body.outputs, v) != body.outputs.end()) return false;
    }
  return elements <= most_elements;
}

/// Whether it, or what stands in it, may throw for some values.
bool may_throw(const Equation& e) { return e.rules->effect == Effect::checks_values || e.rules->kind == Kind::custom; }

/// `program`: in a call, if its sizes are open.
std::shared_ptr<const NativeFunction> made(const Program& program, bool has_turns) {
  if (program.equations() > most_native_steps) return nullptr;
  ProgramBody rest = resolved(program).body();
  const std::optional<ExampleBlocks> blocks = blocks_of(program);
  if (!has_turns && !blocks && !is_small(rest)) return nullptr;
  std::vector<Equation> places, others;
  bool may_have_thrown = false;
  for (Equation& e : rest.equations) {
    if (!takes_place_of_draw(*e.rules)) {
      may_have_thrown = may_have_thrown || may_throw(e);
      others.push_back(std::move(e));
      continue;
    }
    if (may_have_thrown) return nullptr;  // the place is not taken where the program throws before
    rest.inputs.push_back(e.outputs[0]);
    places.push_back(std::move(e));
  }
  rest.equations = std::move(others);
  const Program pure(Shared<const ProgramBody>(new ProgramBody(std::move(rest))));
  if (!may_run_again(pure)) return nullptr;
  const Program of_block = blocks ? resolved(program.in_call(blocks->sizes)) : pure;
  auto plan = std::make_shared<const NativeFunction>(std::move(places), pure, of_block, blocks);
  return plan->has_code() ? plan : nullptr;
}

}  // namespace

std::shared_ptr<NativeFunctions> NativeFunctions::of(const Program& program, const Program& whole) {
  const auto is_left_out = [](const char* pass) { return is_listed("RICCI_COMPILE_WITHOUT", pass); };
  if (!makes_kernels() || is_left_out("lanes") || is_left_out("native")) return nullptr;
  const auto& equations = program.body().equations;
  const bool has_turns = std::ranges::any_of(equations, turns);
  // One kernel alone runs as it is, but where it is walked and a call has too few lanes for it.
  const auto is_walked = [](const Equation& e) {
    const std::optional<KernelAlong> along = kernel_along(e);
    return along && along->outer.is_given();
  };
  if (!has_turns && equations.size() < 2 && std::ranges::none_of(equations, is_walked)) return nullptr;
  return std::make_shared<NativeFunctions>(program, whole, has_turns);
}

bool NativeFunctions::run(const std::shared_ptr<const CallSizes>& sizes, std::span<const Tensor> inputs,
                          Tensors& results) {
  const std::shared_ptr<const Plan> plan = plan_of(sizes);
  const RunningEquation at_sizes{.origin = nullptr,
                                 .sizes = sizes_of_run(sizes.get())};  // the plan's are numbers there
  const With<&ThreadContext::equation> runs(&at_sizes);
  if (plan->function) results = plan->function->results_of(inputs);
  else if (plan->program) results = run_program(*plan->program, inputs);
  return plan->function || plan->program;
}

void NativeFunctions::prepare(const std::shared_ptr<const CallSizes>& sizes) {
  plan_of(sizes, 2);  // some sizes get code at their second call
}

std::shared_ptr<const NativeFunctions::Plan> NativeFunctions::plan_of(const std::shared_ptr<const CallSizes>& sizes,
                                                                      std::int64_t calls) {
  const std::span<const Size> now = sizes ? sizes->inputs() : std::span<const Size>();
  if (std::ranges::any_of(now, &Size::is_symbol) || (now.empty() && calls == 0)) return std::make_shared<const Plan>();
  bool makes = false, seeks_kernels = false;
  std::shared_ptr<const Plan> known_plan;
  {
    const std::lock_guard lock(mutex_);
    Known& known = find(now);
    known.last_use = ++calls_;
    known_plan = known.plan;
    // Sizes that come once are not worth code of their own, except for loops.
    const bool is_first = known.times_made == 0 && (now.empty() || (has_turns_ && made_ < most_made));
    makes = calls > 0 && !known.is_made && (is_first || (known.calls += calls) >= known.calls_before_made);
    seeks_kernels = !now.empty() && !known.has_sought_kernels && sizes_sought_ < most_sought;
  }
  if (!makes && !seeks_kernels) return known_plan;
  Plan plan = seeks_kernels ? with_kernels(sizes) : *known_plan;
  if (makes) plan.function = function_at(plan.in_call ? *plan.in_call : program_.in_call(sizes));
  // Of threads that made the same at once, all get what the first one made.
  const std::lock_guard lock(mutex_);
  Known& known = find(now);
  Plan next = *known.plan;
  if (seeks_kernels && !known.has_sought_kernels) {
    known.has_sought_kernels = true;
    if (sizes_sought_++ < most_sought) next.in_call = plan.in_call, next.program = plan.program;
  }
  const bool fits = plan.program.has_value() == next.program.has_value();  // the function is of the same program
  if (makes && fits && !known.is_made) {
    if (made_ == most_made) forget_one();
    ++made_, ++known.times_made;
    next.function = plan.function, known.is_made = true;
  }
  return known.plan = std::make_shared<const Plan>(std::move(next));
}

namespace {

/// The program with nests, or with other kernels for these sizes: what reads and writes less. None where that is
/// `planned`. Nests that hardly read and write more than arguments and results leave nothing to look for. What stands
/// beside nests of `whole` has no kernels: a loop there would run equation by equation. Where small values make nests
/// call kernels often, nests of `planned` leave those to its kernels.
std::optional<Program> with_fewer_bytes_at(const std::shared_ptr<const CallSizes>& sizes, const Program& whole,
                                           const Program& planned, bool has_turns) {
  constexpr double much = 2 << 20, saves = 0.7, hardly_more = 1.2;
  constexpr double bytes_of_call = 2600;  // that are read or written while a nest calls a kernel: 65 ns on a Zen 4
  const auto bytes = [&](const Program& program) { return bytes_moved(program.in_call(sizes)); };
  const double before = bytes(planned);
  const auto calls = [&](const WithNests& nests) { return bytes_of_call * nests.calls; };
  const auto all = [&](const WithNests& nests) { return bytes(nests.program) + calls(nests); };
  std::optional<WithNests> nests;
  for (const Program* const program : {&whole, &planned}) {
    if (before < much || has_turns || (nests && calls(*nests) < bytes(nests->program))) break;
    std::optional<WithNests> found = with_nests_at(sizes, *program, before / bytes_of_call);
    const bool is_it = found && bytes(found->program) <= saves * before && (!nests || all(*found) < all(*nests));
    if (is_it) nests = std::move(found);
  }
  const Program at_sizes = whole.in_call(sizes);
  double at_least = 0;
  for (const auto& variables : {at_sizes.body().inputs, at_sizes.body().outputs})
    for (const Variable v : variables) at_least += static_cast<double>(bytes_of(type_of_variable(at_sizes, v)));
  if (nests && bytes(nests->program) < hardly_more * at_least) return nests->program;
  std::optional<Program> lanes = with_kernels_at(sizes, whole, planned);
  return nests && (!lanes || bytes(nests->program) < saves * bytes(*lanes)) ? nests->program : lanes;
}

/// The same of the program whose sums of products are computed factor by factor, where there are such sums.
std::optional<Program> fastest_at(const std::shared_ptr<const CallSizes>& sizes, const Program& whole,
                                  const Program& planned, bool has_turns) {
  const double before = bytes_moved(planned.in_call(sizes));
  const std::optional<Contracted> fewer = with_contractions(resolved(whole.in_call(sizes)), before);
  if (!fewer) return with_fewer_bytes_at(sizes, whole, planned, has_turns);
  return with_fewer_bytes_at(sizes, fewer->whole, fewer->planned, has_turns).value_or(fewer->planned);
}

}  // namespace

NativeFunctions::Plan NativeFunctions::with_kernels(const std::shared_ptr<const CallSizes>& sizes) const try {
  const std::optional<Program> program = fastest_at(sizes, whole_, program_, has_turns_);
  if (!program) return {};
  make_code(*program);
  const Program in_call = program->in_call(sizes);
  return {.in_call = in_call, .program = resolved(in_call)};
} catch (const Error&) { return {}; }  // as below

std::shared_ptr<const NativeFunction> NativeFunctions::function_at(const Program& program) const try {
  return made(program, has_turns_);
} catch (const Error&) { return nullptr; }  // of an equation that may never run: the equations throw it where they do

NativeFunctions::Known& NativeFunctions::find(std::span<const Size> sizes) {
  constexpr std::size_t most_known = 64;
  const auto known = std::ranges::find_if(known_, [&](const Known& k) { return std::ranges::equal(k.sizes, sizes); });
  if (known != known_.end()) return *known;
  if (known_.size() == most_known) {
    const auto last_use = [](const Known& k) { return k.is_made || k.plan->program ? UINT64_MAX : k.last_use; };
    known_.erase(std::ranges::min_element(known_, {}, last_use));
  }
  known_.push_back({.sizes = {sizes.begin(), sizes.end()}});
  return known_.back();
}

/// The function that was used longest ago. It is made again after many more calls, each time more, so that sizes in
/// turn do not make code at each call.
void NativeFunctions::forget_one() {
  const auto last_use = [](const Known& k) { return k.is_made ? k.last_use : UINT64_MAX; };
  Known& known = *std::ranges::min_element(known_, {}, last_use);
  Plan without = *known.plan;
  without.function = nullptr;
  known.plan = std::make_shared<const Plan>(std::move(without));
  known.is_made = false, known.calls = 0;
  known.calls_before_made *= 16;
  --made_;
}

}  // namespace ricci::compiled
