// Memory for cells, values and elements: 64-byte aligned blocks, kept after release so that the next operation of the
// same size costs a few nanoseconds and no page fault. Small blocks are kept by thread, large ones and those of which
// there are many by the process.
// Knows nothing of tensors. RICCI_POOL=off (or a sanitizer build) hands every block straight back to the system.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ricci::pool {

/// At least `bytes` bytes, aligned to 64. Throws std::bad_alloc.
void* allocate(std::size_t bytes);
/// Requires: `block` came from `allocate(bytes)` with the same `bytes`.
void release(void* block, std::size_t bytes) noexcept;

/// Blocks this thread has asked for since it started; tests count operations' allocations with it.
std::uint64_t allocation_count();
/// Bytes of all blocks that are not released, on any thread. Tests find leaks with it.
std::size_t bytes_in_use();
/// What the allocations of this thread cost while it lives, for tests. One at a time.
class Costs {
 public:
  Costs();
  Costs(const Costs&) = delete;
  ~Costs();
  std::uint64_t allocations = 0, bytes = 0;  ///< asked for
  std::size_t peak = 0;                      ///< the most bytes in use, above those in use when it began
  void count(std::size_t more) noexcept;     ///< the pool's own call

 private:
  std::size_t began_ = 0;
};
/// Makes the n-th allocation from now on this thread fail; 0 switches the fault off. For tests.
void fail_after(std::uint64_t allocations);

}  // namespace ricci::pool
