// The memory that the library keeps. Blocks of tensors that have ended serve the next ones, so that most operations ask
// the system for nothing. Knows nothing of tensors.
#pragma once

#include <cstddef>

namespace ricci {

/// In bytes, of all threads. Memory that `from_blob` lent does not count.
struct MemoryStats {
  std::size_t allocated = 0;     ///< what tensors and what transforms note down take at the moment
  std::size_t reserved = 0;      ///< what the system has given: allocated, and kept for the next tensors
  std::size_t max_reserved = 0;  ///< the most at one time since the program began or `reset_peak_memory_stats`
};

/// What the library holds, like torch.cuda.memory_allocated, memory_reserved and max_memory_reserved. Operations that
/// run on other threads meanwhile may be counted or not.
///   std::cout << rc::memory_stats().reserved / 1048576 << " MiB\n";
MemoryStats memory_stats();

/// Sets `max_reserved` back to what is reserved now.
void reset_peak_memory_stats();

/// Gives back to the system what is kept for the next tensors, like torch.cuda.empty_cache; what is allocated stays. Up
/// to 16 MiB stay with each other thread that has made tensors, and a small block may hold a page of 2 MiB that it
/// shares with others. Nothing needs this to get memory: before an allocation fails, it gives back what is kept itself.
///   rc::empty_cache();  // when a large computation is over, and other programs want the memory
void empty_cache();

}  // namespace ricci
