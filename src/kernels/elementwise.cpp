// The strided driver: brings the axes of all operands into an order and a number that leave long inner runs, and calls
// the loop for each run.
#include "kernels/elementwise.h"

#include <algorithm>
#include <cassert>

#include "kernels/elementwise_planes.h"
#include "kernels/elementwise_run.h"
#include "ricci/primitive/loop.h"
#include "ricci/primitive/parallel.h"

namespace ricci::kernels {
namespace {

using loop_axes::Axes;
using loop_axes::Axis;
using loop_axes::max_operands;

/// What each of n elements takes that is moved from and to memory, roughly. Formulas take longer: then pieces only
/// grow.
double nanoseconds_per_element(const std::int64_t* strides, int operands, std::int64_t n) {
  std::int64_t bytes = 0;
  for (int k = 0; k < operands; ++k) bytes += std::clamp<std::int64_t>(strides[k], 0, 16);
  return nanoseconds_per_byte(n * bytes) * static_cast<double>(bytes);
}

/// All positions of the axes but the last, which is the loop's.
void run_rows(const LoopCall& call, const Axis* axes, int outer, char* const* data) {
  if (outer == 0) return call.run(data, axes->stride, axes->size);
  char* at[max_operands];
  for (int k = 0; k < call.operands; ++k) at[k] = data[k];
  for (std::int64_t i = 0; i < axes->size; ++i) {
    run_rows(call, axes + 1, outer - 1, at);
    for (int k = 0; k < call.operands; ++k) at[k] += axes->stride[k];
  }
}

void run_axes(const LoopCall& call, Axes& axes, char* const* data) {
  if (!run_planes(call, axes, data)) run_rows(call, axes.axis, axes.count - 1, data);
}

[[gnu::noinline]] void run_general(Loop loop, const void* op, const Strided& out, const Strided* in, int n_in) {
  Axes axes;
  if (!loop_axes::gather(axes, out, in, n_in)) return;
  LoopCall call{loop, op, n_in + 1, {static_cast<std::int64_t>(element_size(out.dtype))}};
  char* data[max_operands] = {static_cast<char*>(out.data)};
  for (int k = 0; k < n_in; ++k) {
    call.element[k + 1] = static_cast<std::int64_t>(element_size(in[k].dtype));
    data[k + 1] = static_cast<char*>(in[k].data);
  }
  loop_axes::cut(axes, nanoseconds_per_element(call.element, call.operands, loop_axes::elements(axes)), call.operands,
                 data, [&](Axes& piece, char* const* at) { run_axes(call, piece, at); });
}

/// Whether a loop over all elements would write past the caches, which shorter pieces must then be told to do.
bool would_stream(int n_in, char* const* data, const std::int64_t* strides, std::int64_t n, DType out) {
  const auto element = static_cast<std::int64_t>(element_size(out));
  if (strides[0] != element || is_complex(out) || (is_floating(out) && element == 2)) return false;
  return wants_streaming(n_in, data, n, element);
}

/// Whether the output is contiguous and each input lies like it or stays on one element; then `strides` and `n` are
/// those of the single run.
bool is_one_run(const Strided& out, const Strided* in, int n_in, std::int64_t* strides, std::int64_t& n) {
  bool contiguous[max_operands] = {}, constant[max_operands] = {};
  for (int k = 0; k < n_in; ++k) contiguous[k] = constant[k] = true;
  n = 1;
  for (int a = out.rank - 1; a >= 0; --a) {
    const std::int64_t size = out.shape[a];
    if (size != 1) {
      if (out.strides[a] != n) return false;
      for (int k = 0; k < n_in; ++k) {
        contiguous[k] &= in[k].strides[a] == n;
        constant[k] &= in[k].strides[a] == 0;
        if (!contiguous[k] & !constant[k]) return false;
      }
    }
    n *= size;
  }
  strides[0] = static_cast<std::int64_t>(element_size(out.dtype));
  for (int k = 0; k < n_in; ++k)
    strides[k + 1] = contiguous[k] ? static_cast<std::int64_t>(element_size(in[k].dtype)) : 0;
  return true;
}

/// A run that is cut: all that its threads read, side by side in memory.
struct LoopRun {
  Loop loop;
  const void* op;
  int n_in;
  DType out;
  bool streams;
  std::int64_t n;
  char* data[max_operands];
  std::int64_t strides[max_operands];

  void operator()(std::int64_t begin, std::int64_t end) const {
    char* at[max_operands];
    for (int k = 0; k <= n_in; ++k) at[k] = data[k] + begin * strides[k];
    if (!streams || end - begin == n) return loop(op, n_in, at, strides, end - begin);
    run_streamed(loop, {n_in, {out}}, op, at, strides, end - begin);
  }
};

}  // namespace

void run_long_loop(Loop loop, const void* op, int n_in, char* const* data, const std::int64_t* strides, std::int64_t n,
                   DType out) {
  Cuts cuts{n, nanoseconds_per_element(strides, n_in + 1, n)};
  if (parallel::is_little(cuts)) [[likely]]
    return loop(op, n_in, data, strides, n);
  cuts.step = line_step();
  LoopRun run{loop, op, n_in, out, would_stream(n_in, data, strides, n, out), n, {}, {}};
  std::copy_n(data, n_in + 1, run.data);
  std::copy_n(strides, n_in + 1, run.strides);
  parallel_for(cuts, run);
}

void elementwise(Loop loop, const void* op, Strided out, const Strided* in, int n_in) {
  assert(n_in <= max_loop_inputs);
  char* data[max_operands];
  data[0] = static_cast<char*>(out.data);
  for (int k = 0; k < n_in; ++k) data[k + 1] = static_cast<char*>(in[k].data);
  if (out.rank == 0) {
    static constexpr std::int64_t unread[max_operands] = {};
    return loop(op, n_in, data, unread, 1);
  }
  std::int64_t strides[max_operands], n = out.shape[0];
  if (out.rank == 1) {
    strides[0] = out.strides[0] * static_cast<std::int64_t>(element_size(out.dtype));
    for (int k = 0; k < n_in; ++k)
      strides[k + 1] = in[k].strides[0] * static_cast<std::int64_t>(element_size(in[k].dtype));
  } else if (!is_one_run(out, in, n_in, strides, n)) {
    return run_general(loop, op, out, in, n_in);
  }
  if (n != 0) run_loop(loop, op, n_in, data, strides, n, out.dtype);
}

}  // namespace ricci::kernels
