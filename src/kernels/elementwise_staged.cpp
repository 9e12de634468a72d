// Loops over operands that a loop cannot take as they lie: gathered, widened or streamed through buffers that stay in
// the first-level cache. Knows nothing of operations.
#include <algorithm>
#include <cstring>

#include "kernels/elementwise_axes.h"
#include "kernels/half_precision.h"
#include "kernels/machine.h"
#include "kernels/strided_run.h"

namespace ricci::kernels {
namespace {

constexpr int buffer_bytes = 4096;
constexpr std::int64_t block = buffer_bytes / 16;  // elements; no element has more than 16 bytes

struct alignas(64) Buffer {
  char bytes[buffer_bytes];
};

std::int64_t size_of(DType type) { return static_cast<std::int64_t>(element_size(type)); }

/// One operand on its way between memory and the loop.
struct Stage {
  char* data;           // in memory
  std::int64_t stride;  // in memory
  DType stored, computed;
  char* buffer;  // null if the loop reads or writes the memory itself

  bool converts() const { return stored != computed; }
  void read(std::int64_t n) const;
  void write(std::int64_t n) const;
};

void Stage::read(std::int64_t n) const {
  if (!converts()) return copy_run(buffer, size_of(stored), data, stride, size_of(stored), n);
  auto* floats = reinterpret_cast<float*>(buffer);
  if (stride == size_of(stored)) return widen(floats, data, stored, n);
  alignas(64) std::uint16_t halves[block];
  copy_run(reinterpret_cast<char*>(halves), 2, data, stride, 2, n);
  widen(floats, halves, stored, n);
}

void Stage::write(std::int64_t n) const {
  if (!converts()) return copy_run(data, stride, buffer, size_of(stored), size_of(stored), n);
  const auto* floats = reinterpret_cast<const float*>(buffer);
  if (stride == size_of(stored)) return narrow(data, floats, stored, n);
  alignas(64) std::uint16_t halves[block];
  narrow(halves, floats, stored, n);
  copy_run(data, stride, reinterpret_cast<char*>(halves), 2, 2, n);
}

/// Writes a full block past the caches. Requires: `to` is 64-byte aligned, `bytes` a multiple of 64.
void stream_block(char* to, const char* from, std::int64_t bytes) {
  constexpr int lanes = max_lanes<float>;
  for (std::int64_t i = 0; i < bytes; i += register_bytes) {
    Lanes<float, lanes> x;
    std::memcpy(&x, from + i, sizeof x);
    stream<lanes>(reinterpret_cast<float*>(to + i), x);
  }
}

}  // namespace

void run_staged(Loop loop, const LoopTypes& computed, const LoopTypes& stored, const void* op, char* const* data,
                const std::int64_t* strides, std::int64_t n) {
  const int operands = computed.n_in + 1;
  Buffer buffers[loop_axes::max_operands];
  Stage stage[loop_axes::max_operands];
  char* loop_data[loop_axes::max_operands];
  std::int64_t loop_strides[loop_axes::max_operands];
  for (int k = 0; k < operands; ++k) {
    Stage& s = stage[k];
    s = {data[k], n == 1 ? size_of(stored.types[k]) : strides[k], stored.types[k], computed.types[k], nullptr};
    const bool held = k > 0 && s.stride == 0;
    if (s.converts() || !(held || s.stride == size_of(s.stored))) s.buffer = buffers[k].bytes;
    if (held && s.converts()) {
      s.read(1);
      s.data = s.buffer;
      s.buffer = nullptr;
    }
    loop_data[k] = s.buffer ? s.buffer : s.data;
    loop_strides[k] = held ? 0 : size_of(s.computed);
  }
  for (std::int64_t done = 0; done < n; done += block) {
    const std::int64_t count = std::min(block, n - done);
    for (int k = 1; k < operands; ++k) {
      if (stage[k].buffer) stage[k].read(count);
    }
    loop(op, computed.n_in, loop_data, loop_strides, count);
    if (stage[0].buffer) stage[0].write(count);
    for (int k = 0; k < operands; ++k) {
      stage[k].data += block * stage[k].stride;
      if (!stage[k].buffer) loop_data[k] += block * loop_strides[k];
    }
  }
}

void run_streamed(Loop loop, const LoopTypes& types, const void* op, char* const* data, const std::int64_t* strides,
                  std::int64_t n) {
  const int operands = types.n_in + 1;
  const std::int64_t element = size_of(types.types[0]), per_block = buffer_bytes / element;
  alignas(64) char buffer[buffer_bytes];
  char* at[loop_axes::max_operands];
  for (int k = 0; k < operands; ++k) at[k] = data[k];
  const auto run = [&](std::int64_t count) {
    loop(op, types.n_in, at, strides, count);
    for (int k = 1; k < operands; ++k) at[k] += count * strides[k];
  };
  const auto misaligned = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data[0]) % 64);
  const std::int64_t lead = misaligned == 0 ? 0 : std::min((64 - misaligned) / element, n);
  if (lead > 0) {
    run(lead);
    n -= lead;
  }
  char* out = data[0] + lead * element;
  at[0] = buffer;
  for (; n >= per_block; n -= per_block, out += buffer_bytes) {
    run(per_block);
    stream_block(out, buffer, buffer_bytes);
  }
  finish_streaming();
  at[0] = out;
  if (n > 0) run(n);
}

}  // namespace ricci::kernels
