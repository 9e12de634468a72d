// The block pool: thread-local free lists by size class below 1 MiB, one locked list by exact class above it.
#include "tensor/pool.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace ricci::pool {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t largest_small = std::size_t{1} << 20;
constexpr std::size_t huge_page = std::size_t{1} << 21;
constexpr std::size_t kept_by_thread = std::size_t{16} << 20;
constexpr std::size_t kept_by_process = std::size_t{3} << 30;

#if defined(RICCI_SANITIZE)
constexpr bool pooling() { return false; }
#else
/// Decided at the first allocation, which may be a static tensor's, before any initialiser of this file has run.
bool pooling() {
  enum : signed char { undecided = -1, off, on };
  static constinit std::atomic<signed char> decided = undecided;
  signed char now = decided.load(std::memory_order_relaxed);
  if (now == undecided) [[unlikely]] {
    const char* setting = std::getenv("RICCI_POOL");
    now = setting && std::strcmp(setting, "off") == 0 ? off : on;
    decided.store(now, std::memory_order_relaxed);
  }
  return now == on;
}
#endif

/// Classes: multiples of 64 up to 1 KiB, then four to every doubling, so that at most a quarter is wasted.
constexpr int class_of(std::size_t bytes) {
  if (bytes <= 1024) return static_cast<int>((bytes + 63) / 64);
  const int log = std::bit_width(bytes - 1) - 1;        // 2^log < bytes <= 2^(log+1)
  const auto quarter = ((bytes - 1) >> (log - 2)) & 3;  // which quarter of the doubling
  return 17 + (log - 10) * 4 + static_cast<int>(quarter);
}
constexpr std::size_t class_bytes(int c) {
  if (c <= 16) return static_cast<std::size_t>(c) * 64;
  const int log = 10 + (c - 17) / 4;
  return (std::size_t{1} << log) + ((static_cast<std::size_t>(c - 17) % 4 + 1) << (log - 2));
}
constexpr int small_classes = class_of(largest_small) + 1;

struct FreeBlock {
  FreeBlock* next;
};

/// Bytes that the system has given and not got back.
constinit std::atomic<std::size_t> from_system_now = 0;

/// Exactly `bytes` bytes where they are few, so that a sanitizer sees the first byte beyond them.
void* from_system(std::size_t bytes) {
  const bool huge = bytes >= huge_page;
  void* block = nullptr;
  const int error = huge ? posix_memalign(&block, huge_page, (bytes + huge_page - 1) / huge_page * huge_page)
                         : posix_memalign(&block, alignment, bytes);
  if (error != 0) throw std::bad_alloc();
  if (huge) madvise(block, bytes, MADV_HUGEPAGE);
  from_system_now.fetch_add(bytes, std::memory_order_relaxed);
  return block;
}
void to_system(void* block, std::size_t bytes) noexcept {
  std::free(block);
  from_system_now.fetch_sub(bytes, std::memory_order_relaxed);
}

struct ThreadLists {
  std::array<FreeBlock*, small_classes> heads{};
  std::atomic<std::size_t> kept = 0;  // written by its thread alone, so without locked instructions
  std::uint64_t allocations = 0;
  std::uint64_t fail_in = 0;
  ThreadLists *before = nullptr, *after = nullptr;  // of other threads
  ThreadLists();
  ~ThreadLists();

  void keep(std::size_t bytes) { kept.store(kept.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed); }
};
/// The lists of all threads that run.
struct AllLists {
  std::mutex mutex;
  ThreadLists* first = nullptr;
};
constinit AllLists all_lists;

ThreadLists::ThreadLists() {
  const std::lock_guard lock(all_lists.mutex);
  after = all_lists.first;
  if (after != nullptr) after->before = this;
  all_lists.first = this;
}

thread_local ThreadLists lists;
/// Outlives the lists: tensors that end later on this thread go straight back to the system.
thread_local constinit bool lists_ended = false;

ThreadLists::~ThreadLists() {
  lists_ended = true;
  {
    const std::lock_guard lock(all_lists.mutex);
    (before != nullptr ? before->after : all_lists.first) = after;
    if (after != nullptr) after->before = before;
  }
  for (int c = 0; c < small_classes; ++c)
    for (FreeBlock*& head = heads[static_cast<std::size_t>(c)]; head;)
      to_system(std::exchange(head, head->next), class_bytes(c));
}

struct LargeBlocks {
  std::mutex mutex;
  std::map<std::size_t, std::vector<void*>> free;  // by bytes
  std::size_t kept = 0;
};
LargeBlocks& large_blocks() {
  static auto* blocks = new LargeBlocks;  // never destroyed: tensors with static lifetime release after main
  return *blocks;
}

void* allocate_large(std::size_t bytes) {
  LargeBlocks& large = large_blocks();
  {
    const std::lock_guard lock(large.mutex);
    if (auto found = large.free.find(bytes); found != large.free.end() && !found->second.empty()) {
      void* block = found->second.back();
      found->second.pop_back();
      large.kept -= bytes;
      return block;
    }
  }
  return from_system(bytes);
}

/// Keeps the block, and gives back the smallest kept ones when the process would hold too much.
void release_large(void* block, std::size_t bytes) noexcept {
  LargeBlocks& large = large_blocks();
  const std::lock_guard lock(large.mutex);
  if (bytes > kept_by_process) return to_system(block, bytes);
  try {
    large.free[bytes].push_back(block);
  } catch (const std::bad_alloc&) { return to_system(block, bytes); }
  large.kept += bytes;
  for (auto it = large.free.begin(); large.kept > kept_by_process && it != large.free.end(); ++it)
    while (large.kept > kept_by_process && !it->second.empty()) {
      to_system(it->second.back(), it->first);
      it->second.pop_back();
      large.kept -= it->first;
    }
}

[[gnu::noinline]] void count_down_to_failure() {
  if (--lists.fail_in == 0) throw std::bad_alloc();
}

}  // namespace

void* allocate(std::size_t bytes) {
  if (lists_ended) [[unlikely]]
    return from_system(pooling() ? class_bytes(class_of(bytes ? bytes : 1)) : bytes);
  ++lists.allocations;
  if (lists.fail_in) [[unlikely]]
    count_down_to_failure();
  if (!pooling()) return from_system(bytes);
  const int c = class_of(bytes ? bytes : 1);
  const std::size_t rounded = class_bytes(c);
  if (c >= small_classes) return allocate_large(rounded);
  if (FreeBlock* block = lists.heads[static_cast<std::size_t>(c)]) {
    lists.heads[static_cast<std::size_t>(c)] = block->next;
    lists.keep(-rounded);
    return block;
  }
  return from_system(rounded);
}

void release(void* block, std::size_t bytes) noexcept {
  if (!pooling()) return to_system(block, bytes);
  const int c = class_of(bytes ? bytes : 1);
  const std::size_t rounded = class_bytes(c);
  if (c >= small_classes) return release_large(block, rounded);
  if (lists_ended || lists.kept.load(std::memory_order_relaxed) + rounded > kept_by_thread)
    return to_system(block, rounded);
  auto* free_block = static_cast<FreeBlock*>(block);
  free_block->next = lists.heads[static_cast<std::size_t>(c)];
  lists.heads[static_cast<std::size_t>(c)] = free_block;
  lists.keep(rounded);
}

std::uint64_t allocation_count() { return lists.allocations; }
std::size_t bytes_in_use() {
  std::size_t kept = 0;
  {
    const std::lock_guard lock(all_lists.mutex);
    for (const ThreadLists* of = all_lists.first; of; of = of->after) kept += of->kept.load(std::memory_order_relaxed);
  }
  LargeBlocks& large = large_blocks();
  const std::lock_guard lock(large.mutex);
  return from_system_now.load(std::memory_order_relaxed) - kept - large.kept;
}
void fail_after(std::uint64_t allocations) { lists.fail_in = allocations; }

}  // namespace ricci::pool
