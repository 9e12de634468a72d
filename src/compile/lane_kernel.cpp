// Making kernels and running them.
#include "compile/lane_kernel.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "compile/lowering.h"
#include "compile/switches.h"
#include "compile/words.h"
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

/// Beside the library that this code is part of, where it is installed, or where the loader looks.
Generate load_generator() {
#ifdef RICCI_CODE_LIBRARY
  Dl_info self{};
  std::string beside;
  if (dladdr(reinterpret_cast<const void*>(&load_generator), &self) && self.dli_fname) {
    beside = self.dli_fname;
    beside.erase(beside.find_last_of('/') == std::string::npos ? 0 : beside.find_last_of('/') + 1);
  }
  for (const std::string& path : {beside + RICCI_CODE_LIBRARY, std::string(RICCI_CODE_DIRECTORY RICCI_CODE_LIBRARY),
                                  std::string(RICCI_CODE_LIBRARY)})
    if (void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      return reinterpret_cast<Generate>(dlsym(library, "ricci_generate"));
#endif
  return nullptr;
}

/// Nanoseconds that a lane takes, roughly.
double nanoseconds(const Stage& stage, int width) {
  return static_cast<double>(stage.lane.size() + stage.lane_outputs.size()) * 0.4 / width;
}

}  // namespace

/// What code calls where an argument was large.
struct Careful {
  static void once(const void* kernel, std::int64_t stage, const void* const* in, void* const* out, std::int64_t lanes,
                   std::uint64_t* slots) {
    static_cast<const LaneKernel*>(kernel)->careful_code().stages[static_cast<std::size_t>(stage)].once(in, out, lanes,
                                                                                                        slots);
  }
  static void lanes(const void* kernel, std::int64_t stage, const void* const* in, void* const* out, std::int64_t lanes,
                    std::uint64_t* slots, std::int64_t lane, std::int64_t skip, std::uint64_t* totals) {
    const Code& code = static_cast<const LaneKernel*>(kernel)->careful_code();
    code.stages[static_cast<std::size_t>(stage)].lane(in, out, lanes, slots, lane, lane + code.width, skip, totals);
  }
};

namespace {

Generate generator() {
  static const Generate generate = load_generator();
  return generate;
}

/// The generator's linker serves one thread.
std::mutex& of_the_linker() {
  static std::mutex mutex;
  return mutex;
}

Code code_of(const LanePlan& plan, bool is_careful) {
  const std::lock_guard lock(of_the_linker());
  Code code;
  std::string text;
  generator()(plan,
              {register_bytes(), knows_exponents(), &function_of, &circular_limit, is_careful, &Careful::once,
               &Careful::lanes, is_listed("RICCI_DUMP", "code") ? &text : nullptr},
              code);
  if (!text.empty()) std::fputs(text.c_str(), stderr);
  return code;
}

void release(const Code& code) {
  const std::lock_guard lock(of_the_linker());
  if (code.release) code.release(code.owner);
}

}  // namespace

LaneKernel::~LaneKernel() {
  release(code_);
  release(careful_);
}

const Code& LaneKernel::careful_code() const {
  std::call_once(careful_made_, [this] { careful_ = code_of(plan_, true); });
  return careful_;
}

/// One call.
struct LaneKernel::Run {
  const LaneKernel& kernel;
  const void* const* in;
  void* const* out;
  std::int64_t lanes;
  std::int64_t skip;  // lanes at the front that are there to fill a register
  std::uint64_t* slots;

  /// Pieces of lanes that code runs on, one after the other or side by side: of equal length but the last, which is
  /// longer.
  struct Pieces {
    std::int64_t length, count, lanes;
    Pieces(std::int64_t lanes, std::int64_t least, std::int64_t most_pieces, int width) : lanes(lanes) {
      length = std::max(least, (lanes / most_pieces + width - 1) / width * width);
      count = std::max<std::int64_t>(1, lanes / length);
    }
    std::int64_t begin(std::int64_t piece) const { return piece * length; }
    std::int64_t end(std::int64_t piece) const { return piece + 1 == count ? lanes : begin(piece + 1); }
  };

  void all() const {
    for (std::size_t k = 0; k < kernel.code_.stages.size(); ++k) stage(kernel.plan_.stages[k], kernel.code_.stages[k]);
  }
  void stage(const Stage& of, const StageCode& code) const {
    if (code.once) code.once(in, out, lanes - skip, slots);
    if (!code.lane) return;
    const std::size_t totals = of.totals.size();
    const int width = kernel.code_.width;
    const Pieces pieces(lanes, 64 * width, totals > 0 ? 64 : INT64_MAX, width);
    Room<std::uint64_t, 256> partial(totals * static_cast<std::size_t>(pieces.count));
    const double of_piece = nanoseconds(of, width) * static_cast<double>(pieces.length);
    kernels::parallel_for({pieces.count, of_piece}, [&](std::int64_t begin, std::int64_t end) {
      if (totals == 0) return code.lane(in, out, lanes, slots, pieces.begin(begin), pieces.end(end - 1), skip, nullptr);
      for (std::int64_t p = begin; p < end; ++p)
        code.lane(in, out, lanes, slots, pieces.begin(p), pieces.end(p), skip,
                  partial.data() + static_cast<std::size_t>(p) * totals);
    });
    if (code.join) code.join(partial.data(), pieces.count, slots);
  }
};

namespace {

/// Elements that places of a tensor reach to.
std::int64_t extent(const Place& p, std::int64_t lanes) {
  return p.base + p.per_lane_count * lanes + (lanes - 1) * p.stride + 1;
}
std::int64_t first_of(const Place& p, std::int64_t lanes) { return p.base + p.per_lane_count * lanes; }

bool is_empty(const Strided& x) { return std::find(x.shape, x.shape + x.rank, 0) != x.shape + x.rank; }

std::uint64_t value_of(const Given& given, std::span<const Strided> inputs, std::int64_t filled) {
  const auto of = [&]() -> const Strided& { return inputs[static_cast<std::size_t>(given.tensor)]; };
  switch (given.what) {
    case Given::What::address: return reinterpret_cast<std::uint64_t>(of().data);
    case Given::What::size: return static_cast<std::uint64_t>(of().shape[given.axis]);
    default: return static_cast<std::uint64_t>(filled);
  }
}

}  // namespace

bool LaneKernel::run(std::span<const Strided> inputs, std::span<const Strided> outputs, std::int64_t lanes) const {
  const LaneProgram& program = plan_.program;
  Room<std::uint64_t, 128> slots(static_cast<std::size_t>(plan_.slot_count));
  slots.data()[0] = reinterpret_cast<std::uint64_t>(this);
  Room<const void*, 32> in(inputs.size());
  Room<void*, 32> out(outputs.size() + 1);
  bool holds = true;
  out.data()[outputs.size()] = &holds;
  for (std::size_t i = 0; i < inputs.size(); ++i) in.data()[i] = inputs[i].data;
  for (std::size_t i = 0; i < outputs.size(); ++i) out.data()[i] = outputs[i].data;
  const std::int64_t width = code_.width, filled = program.has_lanes ? std::max<std::int64_t>(0, width - lanes) : 0;
  for (std::size_t k = 0; k < program.givens.size(); ++k) {
    const Given& given = program.givens[k];
    if (given.what == Given::What::address && is_empty(inputs[static_cast<std::size_t>(given.tensor)])) return false;
    if (plan_.given[k] >= 0) slots.data()[plan_.given[k]] = value_of(given, inputs, filled);
  }
  if (filled == 0) {
    Run{*this, in.data(), out.data(), program.has_lanes ? lanes : 1, 0, slots.data()}.all();
    return holds;
  }

  // Fewer lanes than a register has: copies with the first lane repeated in front.
  std::size_t bytes = 0;
  const auto reserve = [&](std::vector<std::int64_t>& extents, std::size_t tensor, const Place& p) {
    extents[tensor] = std::max(extents[tensor], extent(p, width));
  };
  std::vector<std::int64_t> in_extents(inputs.size()), out_extents(outputs.size());
  for (const Input& input : program.inputs)
    if (input.place.stride != 0) reserve(in_extents, static_cast<std::size_t>(input.place.tensor), input.place);
  for (const Output& output : program.outputs)
    if (output.place.stride != 0) reserve(out_extents, static_cast<std::size_t>(output.place.tensor), output.place);
  const auto bytes_of = [](std::int64_t extent, DType dtype) {
    return (static_cast<std::size_t>(extent) * element_size(dtype) + 63) / 64 * 64;
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) bytes += bytes_of(in_extents[i], inputs[i].dtype);
  for (std::size_t i = 0; i < outputs.size(); ++i) bytes += bytes_of(out_extents[i], outputs[i].dtype);
  Room<std::byte, 16384> room(bytes);
  std::byte* next = room.data();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (in_extents[i] > 0) in.data()[i] = next, next += bytes_of(in_extents[i], inputs[i].dtype);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (out_extents[i] > 0) out.data()[i] = next, next += bytes_of(out_extents[i], outputs[i].dtype);
  for (const Input& input : program.inputs) {
    const Place& p = input.place;
    if (p.stride == 0) continue;
    const auto tensor = static_cast<std::size_t>(p.tensor);
    const std::size_t size = element_size(input.dtype);
    for (std::int64_t lane = 0; lane < width; ++lane) {
      const std::int64_t from = first_of(p, lanes) + std::max<std::int64_t>(0, lane - filled) * p.stride;
      std::memcpy(advance(const_cast<void*>(in.data()[tensor]), input.dtype, first_of(p, width) + lane * p.stride),
                  advance(inputs[tensor].data, input.dtype, from), size);
    }
  }
  Run{*this, in.data(), out.data(), width, filled, slots.data()}.all();
  for (const Output& output : program.outputs) {
    const Place& p = output.place;
    if (p.stride == 0) continue;
    const auto tensor = static_cast<std::size_t>(p.tensor);
    const DType dtype = outputs[tensor].dtype;
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      std::memcpy(advance(outputs[tensor].data, dtype, first_of(p, lanes) + lane * p.stride),
                  advance(out.data()[tensor], dtype, first_of(p, width) + (lane + filled) * p.stride),
                  element_size(dtype));
  }
  return holds;
}

std::size_t LaneKernel::steps() const {
  std::size_t steps = 0;
  for (const Stage& stage : plan_.stages) steps += stage.once.size() + stage.lane.size();
  return steps;
}

namespace {

MadeKernel kernel_of(const std::variant<LaneProgram, NotExpandable>& expanded, const ExpandOptions& options) {
  if (!generator()) return NotExpandable{"the library was built without a compiler (RICCI_COMPILE=OFF)"};
  if (!fuses()) return NotExpandable{"the library was built for a machine without fused multiply-add"};
  if (const auto* why = std::get_if<NotExpandable>(&expanded)) return *why;
  const auto& lanes = std::get<LaneProgram>(expanded);
  if (is_listed("RICCI_DUMP", "lanes")) std::fputs(to_string(lanes).c_str(), stderr);
  LanePlan plan = planned(lowered(lanes));
  std::size_t steps = 0;
  for (const Stage& stage : plan.stages) steps += stage.once.size() + stage.lane.size();
  if (steps > options.most_steps) return NotExpandable{"more than " + std::to_string(options.most_steps) + " steps"};
  Code code = code_of(plan, false);
  if (!code.error.empty()) return NotExpandable{code.error};
  return std::make_shared<const LaneKernel>(std::move(plan), std::move(code));
}

}  // namespace

bool makes_kernels() { return generator() && fuses(); }

MadeKernel lane_kernel(const Program& program, const ExpandOptions& options) {
  return kernel_of(expand(program, options), options);
}
MadeKernel lane_kernel(const ProgramBody& part, const LaneSizes& more, const LaneSizes& fewer,
                       const ExpandOptions& options) {
  return kernel_of(expand(part, more, fewer, options), options);
}

}  // namespace ricci::compiled
