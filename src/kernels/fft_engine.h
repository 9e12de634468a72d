// ducc0's Fourier transforms (third_party/ducc0) in a namespace of this library: a program may have another version of
// them. Their threads are switched off, and their memory is counted. Here are plans without the passes that they are
// made of: fft_complex.h and fft_real.h have those, each for the vector registers that it uses.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "kernels/fft_lanes.h"

#define DUCC0_NAMESPACE ricci::ducc0
#define DUCC0_NO_LOWLEVEL_THREADING

namespace ricci::ducc0 {

/// Bytes of arrays that this thread has asked for, less those that it has freed.
inline thread_local std::size_t bytes_of_arrays = 0;

// ducc0's arrays find these functions before those of the standard library. A block knows its size.
inline constexpr std::size_t before_block = alignof(std::max_align_t);
static_assert(before_block >= sizeof(std::size_t));
inline void* malloc(std::size_t bytes) {
  void* const block = std::malloc(before_block + bytes);
  if (block == nullptr) return nullptr;
  std::memcpy(block, &bytes, sizeof bytes);
  bytes_of_arrays += bytes;
  return static_cast<char*>(block) + before_block;
}
inline void free(void* elements) {
  if (elements == nullptr) return;
  void* const block = static_cast<char*>(elements) - before_block;
  std::size_t bytes;
  std::memcpy(&bytes, block, sizeof bytes);
  bytes_of_arrays -= bytes;
  std::free(block);
}

}  // namespace ricci::ducc0

#include <ducc0/fft/fft.h>
