// Making kernels and running them.
#include "compile/lane_kernel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string_view>

#include "compile/generator.h"
#include "compile/pieces.h"
#include "compile/switches.h"
#include "compile/words.h"
#include "kernels/strided.h"
#include "ricci/interruption.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"

namespace ricci::compiled {
namespace {

/// Memory for a few elements on the stack, for more from the pool.
template <class T, std::size_t few>
class Room {
 public:
  explicit Room(std::size_t count) : data_(own_) {
    if (count > few) more_.allocate(static_cast<std::int64_t>(count)), data_ = more_.data();
  }
  T* data() { return data_; }

 private:
  alignas(64) T own_[few];
  kernels::Scratch<T> more_;
  T* data_;
};

constexpr double nanoseconds_of_operation = 0.4;  // of a register

/// That these nodes compute, with those of the functions that they call. A number of a function is no operation.
double operations(const LanePlan& plan, const std::vector<Node>& nodes) {
  double count = plan.operations(nodes);
  const auto is_number = [](const ScalarStep& s) { return s.kind == StepKind::number; };
  for (const Node n : nodes)
    if (const CalledFunction* const f = plan.called_by(plan.program.graph[n]))
      count -= static_cast<double>(std::ranges::count_if(f->program.graph.steps(), is_number));
  return count;
}
/// Nanoseconds that a lane of each stage takes, roughly.
std::vector<double> nanoseconds_of_lane(const LanePlan& plan) {
  std::vector<double> all;
  for (const Stage& stage : plan.stages) {
    constexpr double likely_turns = 100;
    const double steps = operations(plan, stage.lane) + static_cast<double>(stage.lane_outputs.size()) +
                         operations(plan, stage.turn) * likely_turns;
    all.push_back(steps * nanoseconds_of_operation / plan.lanes_together());
  }
  return all;
}
double nanoseconds_once(const LanePlan& plan) {
  double steps = 0;
  for (const Stage& stage : plan.stages)
    steps += operations(plan, stage.once) + static_cast<double>(stage.once_outputs.size());
  return steps * nanoseconds_of_operation;
}
/// The inputs that code reads, each once.
std::vector<Input> inputs_read(const LanePlan& plan) {
  std::vector<Input> read;
  for (const Stage& stage : plan.stages)
    for (const std::vector<Node>* const nodes : {&stage.once, &stage.lane, &stage.turn})
      for (const Node n : *nodes)
        if (const ScalarStep& s = plan.program.graph[n]; s.kind == StepKind::input)
          read.push_back(plan.program.inputs[s.payload]);
  return read;
}
/// Bytes that a lane reads at more places than a processor reads ahead of.
double scattered_bytes(const LanePlan& plan) {
  constexpr std::ptrdiff_t read_ahead = 16;
  std::vector<Input> read = inputs_read(plan);
  std::erase_if(read, [](const Input& input) { return input.place.stride == 0; });
  if (std::ssize(read) <= read_ahead) return 0;
  double bytes = 0;
  for (const Input& input : read) bytes += static_cast<double>(element_size(input.dtype));
  return bytes;
}

}  // namespace

/// One call.
struct LaneKernel::Run : CarefulCall {
  const Code& code;
  const void* const* in;
  void* const* out;
  std::int64_t lanes;
  std::int64_t skip;  // lanes at the front that are there to fill a register
  std::uint64_t* slots;
  Positions walked = {};  // by code that walks

  Run(const LaneKernel& of, const Code& code, const void* const* in, void* const* out, std::int64_t lanes,
      std::int64_t skip, std::uint64_t* slots)
      : CarefulCall(of), code(code), in(in), out(out), lanes(lanes), skip(skip), slots(slots) {}

  /// False: the code gave no results.
  bool all() {
    slots[0] = reinterpret_cast<std::uint64_t>(static_cast<CarefulCall*>(this));
    for (std::size_t k = 0; k < code.stages.size(); ++k) stage(k, code.stages[k]);
    return !failed;
  }
  void stage(std::size_t k, const StageCode& own) const {
    if (own.once) own.once(in, out, lanes - skip, slots);
    if (!own.lane) return;
    if (kernel.plan_.walks) return walk(k, own);
    const std::size_t totals = kernel.plan_.stages[k].totals.size();
    const Pieces pieces(lanes, kernel.lanes_together(), totals);
    Room<std::uint64_t, 256> partial(totals * static_cast<std::size_t>(pieces.count));
    const double of_piece = kernel.nanoseconds_[k] * static_cast<double>(pieces.length);
    const auto run = [&](std::int64_t begin, std::int64_t end) {
      if (totals == 0) return own.lane(in, out, lanes, slots, pieces.begin(begin), pieces.end(end - 1), skip, nullptr);
      for (std::int64_t p = begin; p < end; ++p)
        own.lane(in, out, lanes, slots, pieces.begin(p), pieces.end(p), skip,
                 partial.data() + static_cast<std::size_t>(p) * totals);
    };
    if (pieces.count == 1) run(0, 1);
    else kernels::parallel_for({pieces.count, of_piece}, run);
    if (own.join) own.join(partial.data(), pieces.count, slots);
  }

  void walk(std::size_t k, const StageCode& own) const {
    Room<std::uint64_t, 16> sums(kernel.plan_.stages[k].totals.size());
    const auto code = reinterpret_cast<WalkFunction>(reinterpret_cast<void (*)()>(own.lane));
    code(in, out, lanes, slots, 0, lanes, 0, sums.data(), walked.count, walked.in.data(), walked.out.data());
    if (own.join) own.join(sums.data(), 1, slots);
  }

  // What code calls where an argument was large. Nothing may be thrown through code.
  static void once_carefully(void* call, std::int64_t stage, const void* const* in, void* const* out,
                             std::int64_t lanes, std::uint64_t* slots) noexcept {
    carefully(call,
              [&](const Code& code) { code.stages[static_cast<std::size_t>(stage)].once(in, out, lanes, slots); });
  }
  static void lanes_carefully(void* call, std::int64_t stage, const void* const* in, void* const* out,
                              std::int64_t lanes, std::uint64_t* slots, std::int64_t lane, std::int64_t skip,
                              std::uint64_t* totals) noexcept {
    carefully(call, [&](const Code& code) {
      code.stages[static_cast<std::size_t>(stage)].lane(
          in, out, lanes, slots, lane, lane + static_cast<CarefulCall*>(call)->kernel.lanes_together(), skip, totals);
    });
  }

 private:
  template <class F>
  static void carefully(void* call, const F& f) {
    auto& run = *static_cast<CarefulCall*>(call);
    const Code* code = nullptr;
    try {
      code = &run.kernel.careful_code();
    } catch (...) { run.failed = true; }
    if (code) f(*code);
  }
};

int CarefulCall::interrupts() noexcept try {
  allow_interruption();
  return 0;
} catch (...) {
  const std::lock_guard lock(mutex);
  if (!ended) ended = std::current_exception();
  return 1;
}

std::optional<std::int64_t> LaneKernel::limit_of_turns() const {
  const auto& turns = plan_.program.turns;
  if (!turns || turns->goes_on < 0) return std::nullopt;
  const bool may_throw = std::ranges::count(turns->state_of_output, LaneTurns::must_hold) > 0;
  return may_throw ? std::nullopt : std::optional(turns->count);
}

namespace {

const void* address_of(const Callee& callee) {
  switch (callee.what) {
    case Callee::What::careful_once: return reinterpret_cast<const void*>(&LaneKernel::Run::once_carefully);
    case Callee::What::careful_lanes: return reinterpret_cast<const void*>(&LaneKernel::Run::lanes_carefully);
    case Callee::What::interrupts:
      return reinterpret_cast<const void*>(+[](void* call) { return static_cast<CarefulCall*>(call)->interrupts(); });
    default: return address_of_word(callee);
  }
}

/// Throws std::bad_alloc, and std::runtime_error, which says why there is no code.
Code code_of(const LanePlan& plan, bool is_careful) {
  const Image image = image_of(plan, is_careful);
  if (!image.error.empty()) throw std::runtime_error(image.error);
  Code code{.stages = {}, .memory = LoadedCode(image, address_of)};
  for (std::size_t k = 0; k < image.functions.size(); k += 3)
    code.stages.push_back({code.memory.function<OnceFunction>(image.functions[k]),
                           code.memory.function<LaneFunction>(image.functions[k + 1]),
                           code.memory.function<JoinFunction>(image.functions[k + 2])});
  return code;
}

// LLVM's time for one of these, measured beside that for a plain operation: a call of an elementary function, an
// element that is read or written, and a value that is needed so much later that it waits in memory.
constexpr std::size_t of_call = 6, of_element = 4, of_waiting = 6;
constexpr std::size_t soon = 64;  // operations until a value is needed

class WorkOfCode {
 public:
  explicit WorkOfCode(const LanePlan& plan) : plan_(plan), numbers_(plan.program.graph.steps().size(), nowhere) {}

  std::size_t of_all() {
    std::size_t once = of_element * (plan_.program.inputs.size() + plan_.program.outputs.size()), lane = 0;
    for (const Stage& stage : plan_.stages) {
      once += of(stage.once);
      lane += of(stage.lane) + of(stage.turn);
    }
    return once + lane * static_cast<std::size_t>(plan_.registers);
  }

 private:
  static constexpr std::size_t nowhere = SIZE_MAX / 2;

  std::size_t of(const std::vector<Node>& nodes) {
    std::vector<bool> waits(nodes.size());
    std::size_t work = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const ScalarStep& step = plan_.program.graph[nodes[i]];
      number(nodes[i]) = i;
      work += 1 + (plan_.called_by(step) ? of_call : 0);
      for (const Node n : step.from)
        if (n != no_node && number(n) + soon < i) waits[number(n)] = true;
    }
    for (const Node n : nodes) number(n) = nowhere;
    return work + of_waiting * static_cast<std::size_t>(std::ranges::count(waits, true));
  }
  std::size_t& number(Node n) { return numbers_[static_cast<std::size_t>(n)]; }

  const LanePlan& plan_;
  std::vector<std::size_t> numbers_;  // by node: its place among those that are looked at
};

}  // namespace

LaneKernel::LaneKernel(LanePlan plan)
    : plan_(std::move(plan)),
      nanoseconds_(nanoseconds_of_lane(plan_)),
      nanoseconds_once_(nanoseconds_once(plan_)),
      scattered_bytes_(scattered_bytes(plan_)),
      work_(WorkOfCode(plan_).of_all()) {}
LaneKernel::~LaneKernel() = default;

std::vector<Place> LaneKernel::places_read() const {
  std::vector<Place> places;
  for (const Input& input : inputs_read(plan_)) places.push_back(input.place);
  return places;
}

const Code* LaneKernel::make_code() const {
  const std::lock_guard lock(mutex_);
  if (made_ || cannot_be_made_) return made_;
  try {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    code_ = code_of(plan_, false);
    if (is_listed("RICCI_LOG", "trace"))
      std::clog << "compile: code of a kernel of " << steps() << " operations, " << plan_.program.inputs.size()
                << " elements read and " << plan_.program.outputs.size()
                << " written: " << std::chrono::duration<double, std::milli>(Clock::now() - begin).count() << " ms\n";
    made_.store(&code_, std::memory_order_release);
  } catch (const std::runtime_error&) { cannot_be_made_ = true; }
  return made_;
}

const Code& LaneKernel::careful_code() const {
  const std::lock_guard lock(mutex_);
  if (is_careful_made_) return careful_;
  careful_ = code_of(plan_, true);
  is_careful_made_ = true;
  return careful_;
}

namespace {

std::uint64_t given_value(const Given& given, std::span<const Strided> inputs, std::int64_t filled) {
  const auto of = [&]() -> const Strided& { return inputs[static_cast<std::size_t>(given.tensor)]; };
  switch (given.what) {
    case Given::What::address: return reinterpret_cast<std::uint64_t>(of().data);
    case Given::What::size: return static_cast<std::uint64_t>(of().shape[given.axis]);
    default: return static_cast<std::uint64_t>(filled);
  }
}

}  // namespace

namespace {

/// The pointers and words that code reads.
struct Frame {
  Room<std::uint64_t, 128> slots;
  Room<const void*, 32> in;
  Room<void*, 32> out;

  Frame(const LanePlan& plan, std::span<const Strided> inputs, std::span<const Strided> outputs, bool& holds,
        std::int64_t filled)
      : slots(static_cast<std::size_t>(plan.slot_count)), in(inputs.size()), out(outputs.size() + 1) {
    for (std::size_t i = 0; i < inputs.size(); ++i) in.data()[i] = inputs[i].data;
    for (std::size_t i = 0; i < outputs.size(); ++i) out.data()[i] = outputs[i].data;
    out.data()[outputs.size()] = &holds;
    for (std::size_t k = 0; k < plan.program.givens.size(); ++k)
      if (plan.given[k] >= 0) slots.data()[plan.given[k]] = given_value(plan.program.givens[k], inputs, filled);
  }
  void move(const LanePlan& plan, const LaneKernel::Positions& positions, std::int64_t by) {
    for (std::size_t i = 0; i < positions.in.size(); ++i)
      in.data()[i] = static_cast<const char*>(in.data()[i]) + by * positions.in[i];
    for (std::size_t i = 0; i < positions.out.size(); ++i)
      out.data()[i] = static_cast<char*>(out.data()[i]) + by * positions.out[i];
    for (std::size_t k = 0; k < plan.program.givens.size(); ++k) {
      const Given& given = plan.program.givens[k];
      if (plan.given[k] >= 0 && given.what == Given::What::address)
        slots.data()[plan.given[k]] = reinterpret_cast<std::uint64_t>(in.data()[given.tensor]);
    }
  }
};

}  // namespace

bool LaneKernel::run(std::span<const Strided> inputs, std::span<const Strided> outputs, std::int64_t lanes,
                     const Positions& positions) const {
  for (const Given& given : plan_.program.givens) {
    const bool is_address = given.what == Given::What::address;
    if (is_address && kernels::is_empty(inputs[static_cast<std::size_t>(given.tensor)])) return false;
  }
  const Code* const code = this->code();
  if (!code) return false;
  if (plan_.program.has_lanes && lanes < lanes_together() && !plan_.refill)
    return !has_turns() && run_few(*code, inputs, outputs, lanes);
  std::atomic<bool> all_hold = true;
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    bool holds = true;
    Frame frame(plan_, inputs, outputs, holds, 0);
    if (begin > 0) frame.move(plan_, positions, begin);
    for (std::int64_t i = begin; i < end; ++i) {
      Run one(*this, *code, frame.in.data(), frame.out.data(), lanes, 0, frame.slots.data());
      if (!one.all() || !holds) {
        if (one.ended) std::rethrow_exception(one.ended);
        if (one.failed && has_turns()) throw std::bad_alloc();
        all_hold = false;
        return;
      }
      if (i + 1 < end) frame.move(plan_, positions, 1);
    }
  };
  if (plan_.walks) {
    bool holds = true;
    Frame frame(plan_, inputs, outputs, holds, 0);
    Run all(*this, *code, frame.in.data(), frame.out.data(), lanes, 0, frame.slots.data());
    all.walked = positions;
    return all.all() && holds;
  }
  // Of few positions, the lanes are cut.
  if (positions.count == 1 || positions.count < kernels::thread_count()) run(0, positions.count);
  else kernels::parallel_for({positions.count, nanoseconds(lanes)}, run);
  return all_hold;
}

/// Fewer lanes than a register has.
bool LaneKernel::run_few(const Code& code, std::span<const Strided> inputs, std::span<const Strided> outputs,
                         std::int64_t lanes) const {
  const LaneProgram& program = plan_.program;
  const std::int64_t width = lanes_together(), filled = width - lanes;
  bool holds = true;
  Frame frame(plan_, inputs, outputs, holds, filled);
  auto& in = frame.in;
  auto& out = frame.out;

  // Copies, with the first lane repeated in front.
  const FilledCopies copies = filled_copies(program, inputs.size(), width);
  Room<std::byte, 16384> room(static_cast<std::size_t>(copies.bytes));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (copies.in[i] >= 0) in.data()[i] = room.data() + copies.in[i];
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (copies.out[i] >= 0) out.data()[i] = room.data() + copies.out[i];
  for (const Input& input : program.inputs) {
    const Place& p = input.place;
    if (p.stride == 0) continue;
    const auto tensor = static_cast<std::size_t>(p.tensor);
    const std::size_t size = element_size(input.dtype);
    for (std::int64_t lane = 0; lane < width; ++lane) {
      const std::int64_t from = p.first(lanes) + std::max<std::int64_t>(0, lane - filled) * p.stride;
      std::memcpy(advance(const_cast<void*>(in.data()[tensor]), input.dtype, p.first(width) + lane * p.stride),
                  advance(inputs[tensor].data, input.dtype, from), size);
    }
  }
  if (!Run(*this, code, in.data(), out.data(), width, filled, frame.slots.data()).all() || !holds) return false;
  for (const Output& output : program.outputs) {
    const Place& p = output.place;
    if (p.stride == 0) continue;
    const auto tensor = static_cast<std::size_t>(p.tensor);
    const DType dtype = outputs[tensor].dtype;
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      std::memcpy(advance(outputs[tensor].data, dtype, p.first(lanes) + lane * p.stride),
                  advance(out.data()[tensor], dtype, p.first(width) + (lane + filled) * p.stride), element_size(dtype));
  }
  return true;
}

namespace {
// Beside its lanes; measured on a Zen 4, as the figures of `fewest_lanes` are.
constexpr double nanoseconds_of_position = 12;

/// Of the stages that have any.
double nanoseconds_of_totals(const LanePlan& plan) {
  constexpr double of_stage = 25;
  return of_stage * static_cast<double>(std::ranges::count_if(
                        plan.stages, [](const Stage& stage) { return !stage.totals.empty(); }));
}
}  // namespace

double LaneKernel::nanoseconds(std::int64_t lanes) const {
  // Where lanes are rows or columns of much, what one register reads lies in many lines of memory, which no first cache
  // holds until the next register reads their other elements.
  constexpr double of_first_cache = 32 << 10, of_byte_behind_it = 0.04;
  const auto count = static_cast<double>(lanes);
  double all = nanoseconds_of_position + nanoseconds_of_totals(plan_) + nanoseconds_once_;
  for (const double of_lane : nanoseconds_) all += of_lane * count;
  const double scattered = scattered_bytes_ * count;
  return all + (scattered > of_first_cache ? scattered * of_byte_behind_it : 0);
}

// Of [n, features] of float32: a pass over memory, of which the kernel saves one an equation, costs so much for each
// register of elements.
std::int64_t LaneKernel::fewest_lanes(std::ptrdiff_t equations) const {
  constexpr double of_pass = 1.1;
  const double position = nanoseconds_of_position + nanoseconds_of_totals(plan_);
  const double saved = of_pass * static_cast<double>(equations) / lanes_together();
  return std::max(std::int64_t{lanes_together()}, static_cast<std::int64_t>(position / saved));
}

namespace {

MadeKernel kernel_of(const std::variant<LaneProgram, NotExpandable>& expanded, const ExpandOptions& options) {
  if (const char* const why = why_no_kernels()) return NotExpandable{why};
  if (const auto* why = std::get_if<NotExpandable>(&expanded)) return *why;
  const auto& lanes = std::get<LaneProgram>(expanded);
  if (is_listed("RICCI_DUMP", "lanes")) std::fputs(to_string(lanes).c_str(), stderr);
  const std::size_t work_left = options.work_left ? *options.work_left : SIZE_MAX;
  LanePlan plan =
      planned_for_code(lanes, options.lanes.in_call(), std::min(options.most_steps, work_left), *options.target);
  if (plan.steps() > options.most_steps)
    return NotExpandable{"more than " + std::to_string(options.most_steps) + " steps",
                         NotExpandable::Because::too_long};
  auto kernel = std::make_shared<const LaneKernel>(std::move(plan));
  if (kernel->work() > work_left)
    return NotExpandable{"the kernels of the plan have many steps; compile with .effort = high makes code of all",
                         NotExpandable::Because::no_work_left};
  return kernel;
}

}  // namespace

const char* why_no_kernels() {
  if (!has_generator()) return no_generator;
  return fuses() ? nullptr : "the library was built for a machine without fused multiply-add";
}

MadeKernel lane_kernel(const Program& program, const ExpandOptions& options) {
  return kernel_of(expand(program, options), options);
}
MadeKernel lane_kernel(const ProgramBody& part, const ProgramBody& whole, const ExpandOptions& options) {
  return kernel_of(expand(part, whole, options), options);
}
MadeKernel turn_kernel(const ProgramBody& part, const ProgramBody& whole, const ExpandOptions& options) {
  return kernel_of(expand_turns(part, whole, options), options);
}

std::int64_t lanes_in_register(DType dtype, const Target& target) {
  return target.register_bytes / static_cast<std::int64_t>(std::max(sizeof(float), element_size(dtype)));
}

}  // namespace ricci::compiled
