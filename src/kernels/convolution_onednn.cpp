// oneDNN is fastest in layouts of its own choice, so a plan is a convolution in those layouts with a reorder for each
// operand that needs one.
#include "kernels/convolution_onednn.h"

#include <algorithm>
#include <array>
#include <dnnl.hpp>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "kernels/blas.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

using dnnl::memory;

dnnl::engine& cpu() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

enum Role { input_role, weight_role, out_role, role_count };

/// One of the three arrays: as the user has it, and as oneDNN wants it.
struct Operand {
  memory user, inner;
  std::optional<dnnl::reorder> reorder;  // towards the inner layout, or back for the result

  void connect(const memory::desc& user_layout, const memory::desc& inner_layout, bool is_result) {
    user = memory(user_layout, cpu(), DNNL_MEMORY_NONE);
    inner = memory(inner_layout, cpu(), DNNL_MEMORY_NONE);
    if (user_layout != inner_layout) reorder = is_result ? dnnl::reorder(inner, user) : dnnl::reorder(user, inner);
  }
};

struct Plan {
  std::array<Operand, role_count> operands;
  Role result;
  dnnl::primitive primitive;
  memory scratch;
  std::unordered_map<int, memory> arguments;  // the inner layouts and the scratch
};

/// The sizes of a spatial thing as oneDNN takes them: its 3d kernels are slower, so a depth of 1 is left out.
memory::dims dims(const ConvolutionGeometry& g, const Spatial& x) {
  const bool flat = g.input[0] == 1 && g.kernel[0] == 1 && g.out[0] == 1;
  return {x.begin() + (flat ? 1 : 0), x.end()};
}

memory::dims sizes_of(const ConvolutionGeometry& g, Role role) {
  const Spatial& size = role == input_role ? g.input : role == out_role ? g.out : g.kernel;
  memory::dims sizes;
  if (role == input_role) sizes = {g.batch, g.channels};
  else if (role == out_role) sizes = {g.batch, g.out_channels};
  else if (g.groups == 1) sizes = {g.out_channels, g.channels};
  else sizes = {g.groups, g.group_out_channels(), g.group_channels()};
  for (const std::int64_t axis_size : dims(g, size)) sizes.push_back(axis_size);
  return sizes;
}

struct Window {
  memory::dims stride, dilation, low, high;
};

Window window_of(const ConvolutionGeometry& g) {
  memory::dims skipped = dims(g, g.dilation);
  for (auto& axis : skipped) --axis;  // oneDNN counts the elements between
  return {dims(g, g.stride), skipped, dims(g, g.low), dims(g, g.high)};
}

memory::dims row_major_strides(const memory::dims& sizes) {
  memory::dims strides(sizes.size(), 1);
  for (std::size_t i = sizes.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

memory::desc user_layout(const ConvolutionGeometry& g, Role role) {
  const memory::dims sizes = sizes_of(g, role);
  return {sizes, memory::data_type::f32, row_major_strides(sizes)};
}

memory::desc any_layout(const ConvolutionGeometry& g, Role role) {
  return {sizes_of(g, role), memory::data_type::f32, memory::format_tag::any};
}

dnnl::primitive_attr caller_keeps_scratch() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

/// The description from which oneDNN makes a convolution. The forward convolution has a `kind`. The two gradients have
/// none; they take the description of the forward convolution as `forward`. oneDNN 3 is told all in one call.
template <class Convolution, class... Kind, class... Forward>
typename Convolution::primitive_desc describe(const ConvolutionGeometry& g, std::tuple<Kind...> kind,
                                              const Forward&... forward) {
  const Window w = window_of(g);
  const auto make = [&](const auto&... what) {
#if DNNL_VERSION_MAJOR >= 3
    return typename Convolution::primitive_desc(cpu(), what..., forward..., caller_keeps_scratch());
#else
    return typename Convolution::primitive_desc({what...}, caller_keeps_scratch(), cpu(), forward...);
#endif
  };
  return std::apply(
      make, std::tuple_cat(kind, std::tuple(dnnl::algorithm::convolution_direct, any_layout(g, input_role),
                                            any_layout(g, weight_role), any_layout(g, out_role), w.stride, w.dilation,
                                            w.low, w.high)));
}

template <class Convolution, class Description>
Plan connect(const ConvolutionGeometry& g, const Description& description,
             const std::array<memory::desc, role_count>& layouts, const std::array<int, role_count>& arguments,
             Role result) {
  Plan plan;
  plan.result = result;
  plan.primitive = Convolution(description);
  plan.scratch = memory(description.scratchpad_desc(), cpu(), DNNL_MEMORY_NONE);
  for (const Role role : {input_role, weight_role, out_role}) {
    plan.operands[role].connect(user_layout(g, role), layouts[role], role == result);
    plan.arguments.emplace(arguments[role], plan.operands[role].inner);
  }
  plan.arguments.emplace(DNNL_ARG_SCRATCHPAD, plan.scratch);
  return plan;
}

Plan make_plan(const ConvolutionGeometry& g) {
  const auto forward = describe<dnnl::convolution_forward>(g, std::tuple(dnnl::prop_kind::forward_training));
  if (g.kind == ConvolutionKind::forward) {
    return connect<dnnl::convolution_forward>(g, forward,
                                              {forward.src_desc(), forward.weights_desc(), forward.dst_desc()},
                                              {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST}, out_role);
  }
  if (g.kind == ConvolutionKind::input_gradient) {
    const auto d = describe<dnnl::convolution_backward_data>(g, std::tuple(), forward);
    return connect<dnnl::convolution_backward_data>(g, d, {d.diff_src_desc(), d.weights_desc(), d.diff_dst_desc()},
                                                    {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST},
                                                    input_role);
  }
  const auto d = describe<dnnl::convolution_backward_weights>(g, std::tuple(), forward);
  return connect<dnnl::convolution_backward_weights>(g, d, {d.src_desc(), d.diff_weights_desc(), d.diff_dst_desc()},
                                                     {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST},
                                                     weight_role);
}

struct HashGeometry {
  std::size_t operator()(const ConvolutionGeometry& g) const {
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(&g), sizeof(g)});
  }
};
static_assert(std::has_unique_object_representations_v<ConvolutionGeometry>);

/// This thread's plan, or nothing if oneDNN has none.
Plan* find_plan(const ConvolutionGeometry& g) {
  constexpr std::size_t most_plans = 512;
  thread_local std::unordered_map<ConvolutionGeometry, std::unique_ptr<Plan>, HashGeometry> plans;
  const auto found = plans.find(g);
  if (found != plans.end()) return found->second.get();
  if (plans.size() >= most_plans) plans.clear();
  std::unique_ptr<Plan> plan;
  try {
    plan = std::make_unique<Plan>(make_plan(g));
  } catch (const dnnl::error& error) {
    if (error.status != dnnl_unimplemented && error.status != dnnl_invalid_arguments) throw;
  }
  return (plans[g] = std::move(plan)).get();
}

std::int64_t floats_in(const memory& x) { return static_cast<std::int64_t>((x.get_desc().get_size() + 3) / 4); }

void execute(Plan& plan, const std::array<float*, role_count>& data) {
  thread_local dnnl::stream stream(cpu());
  std::array<Scratch<float>, role_count> reordered;
  for (const Role role : {input_role, weight_role, out_role}) {
    Operand& operand = plan.operands[role];
    operand.user.set_data_handle(data[role]);
    if (operand.reorder) reordered[role].allocate(floats_in(operand.inner));
    operand.inner.set_data_handle(operand.reorder ? reordered[role].data() : data[role]);
    if (operand.reorder && role != plan.result) operand.reorder->execute(stream, operand.user, operand.inner);
  }
  const Scratch<float> scratch(floats_in(plan.scratch));
  plan.scratch.set_data_handle(scratch.data());
  plan.primitive.execute(stream, plan.arguments);
  Operand& result = plan.operands[plan.result];
  if (result.reorder) result.reorder->execute(stream, result.inner, result.user);
  stream.wait();
}

std::int64_t volume(const Spatial& size) { return ConvolutionGeometry::volume(size); }

/// The images of a convolution in pieces for threads. Their number follows from the sizes alone, as the bits of a
/// gradient's sum depend on it; a piece is long enough for what oneDNN does besides to be 1 % of it.
struct ImagePieces {
  ConvolutionGeometry whole;
  std::int64_t count, images;  // of a piece
  double nanoseconds;          // of a piece, roughly

  explicit ImagePieces(const ConvolutionGeometry& g) : whole(g) {
    constexpr std::int64_t multiply_adds_of_piece = 20'000'000, most = 32;
    const std::int64_t of_image = g.out_channels * volume(g.out) * g.group_channels() * volume(g.kernel);
    const std::int64_t wanted = std::clamp<std::int64_t>(of_image * g.batch / multiply_adds_of_piece, 1, most);
    images = (g.batch + wanted - 1) / wanted;
    count = (g.batch + images - 1) / images;
    nanoseconds = 0.01 * static_cast<double>(of_image * images);
  }
  ConvolutionGeometry geometry(std::int64_t piece) const {
    ConvolutionGeometry part = whole;
    part.batch = std::min(images, whole.batch - piece * images);
    return part;
  }
};

/// to += every one of `count` rows, from the first to the last.
void add_all(float* to, const float* rows, std::int64_t size, std::int64_t count) {
  parallel_for({size, 0.1 * static_cast<double>(count), line_step()}, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = 0; r < count; ++r) {
      for (std::int64_t i = begin; i < end; ++i) to[i] += rows[r * size + i];
    }
  });
}

}  // namespace

bool convolve_by_onednn(const ConvolutionGeometry& geometry, float* input, float* weight, float* out) {
  const OneOpenMpThread one_thread;  // for which oneDNN prepares
  const ImagePieces pieces(geometry);
  // Both geometries that there are: oneDNN prepares them before anything is written.
  if (find_plan(pieces.geometry(0)) == nullptr || find_plan(pieces.geometry(pieces.count - 1)) == nullptr) return false;
  const bool sums = geometry.kind == ConvolutionKind::weight_gradient;
  const std::int64_t weights = geometry.out_channels * geometry.group_channels() * volume(geometry.kernel);
  const std::int64_t image = geometry.channels * volume(geometry.input);
  const std::int64_t result = geometry.out_channels * volume(geometry.out);
  const Scratch<float> gradients(sums ? (pieces.count - 1) * weights : 0);  // of all pieces but the first
  parallel_for({pieces.count, pieces.nanoseconds}, [&](std::int64_t begin, std::int64_t end) {
    const OneOpenMpThread one_thread_there;
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t first = p * pieces.images;
      float* w = sums && p > 0 ? gradients.data() + (p - 1) * weights : weight;
      execute(*find_plan(pieces.geometry(p)), {input + first * image, w, out + first * result});
    }
  });
  if (sums) add_all(weight, gradients.data(), weights, pieces.count - 1);
  return true;
}

}  // namespace ricci::kernels
