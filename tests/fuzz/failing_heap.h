// The heap of this test program, which can be told to fail. Blocks of the pool have a count of their own.
#pragma once

#include <cstdint>

namespace fuzz::heap {

/// How many blocks this thread has taken by operator new; those with an alignment of their own are not counted.
std::uint64_t allocation_count();
/// That many allocations from now this thread's operator new throws std::bad_alloc, once; 0: none does.
void fail_after(std::uint64_t allocations);

}  // namespace fuzz::heap
