// operator new and delete of the whole program, the library included.
#include "failing_heap.h"

#include <cstdlib>
#include <new>

namespace {

thread_local std::uint64_t allocations = 0, fail_in = 0;

}  // namespace

namespace fuzz::heap {

std::uint64_t allocation_count() { return allocations; }
void fail_after(std::uint64_t count) { fail_in = count; }

}  // namespace fuzz::heap

void* operator new(std::size_t bytes) {
  ++allocations;
  if (fail_in > 0 && --fail_in == 0) throw std::bad_alloc();
  if (void* block = std::malloc(bytes ? bytes : 1)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
