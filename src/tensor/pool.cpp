// The block pool: thread-local free lists by size class below 1 MiB, one locked list by exact class above it. Where
// many blocks of a class are wanted, the lists get them from regions, which all threads share.
#include "ricci/primitive/pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tensor/outlived_thread_local.h"

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

void* allocate_large(std::size_t bytes);
void release_large(void* block, std::size_t bytes) noexcept;

/// A huge page of blocks of one class. A page of 4 KiB that is touched for the first time costs its fault, a
/// microsecond or two for what takes a tenth of that to compute; a huge page costs one for all.
struct Region {
  Region* next = nullptr;      // of those of its class that have a free block, in a ring
  Region* previous = nullptr;  // the same; null: not in the ring
  FreeBlock* free = nullptr;   // those that have come back
  std::byte* unused;           // behind all that were ever given
  int class_number;
  std::size_t given = 0;  // how many blocks are out
};

/// The regions of all classes. A class whose first few blocks suffice has none: they come from the system one by one.
class Regions {
 public:
  static constexpr std::size_t size = huge_page, largest_block = size / 8, few = std::size_t{1} << 20;

  /// Null where the class has no need of regions yet.
  void* allocate(int c) {
    const std::lock_guard lock(mutex_);
    Class& of = classes_[static_cast<std::size_t>(c)];
    const std::size_t bytes = class_bytes(c);
    if (bytes > largest_block) return nullptr;
    if (of.beside + bytes <= few) {
      of.beside += bytes;
      return nullptr;
    }
    if (!of.open) open_region(c);
    Region* region = of.open;
    void* block = region->free;
    if (block) {
      region->free = region->free->next;
    } else {
      block = region->unused;
      region->unused += bytes;
    }
    ++region->given;
    free_bytes_ -= bytes;
    if (!has_room(*region)) leave_ring(region);
    return block;
  }
  /// False if the block is not of a region.
  bool release(void* block, int c) noexcept {
    const std::lock_guard lock(mutex_);
    Class& of = classes_[static_cast<std::size_t>(c)];
    const std::size_t bytes = class_bytes(c);
    if (bytes > largest_block) return false;
    auto* region = reinterpret_cast<Region*>(reinterpret_cast<std::uintptr_t>(block) / size * size);
    if (!all_.contains(region)) {
      of.beside -= std::min(of.beside, bytes);
      return false;
    }
    region->free = new (block) FreeBlock{region->free};
    free_bytes_ += bytes;
    if (!region->previous) enter_ring(region);
    if (--region->given > 0) return true;
    leave_ring(region);
    all_.erase(region);
    free_bytes_ -= size;
    release_large(region, size);
    return true;
  }
  std::size_t free_bytes() {
    const std::lock_guard lock(mutex_);
    return free_bytes_;
  }

 private:
  struct Class {
    Region* open = nullptr;  // one of the ring
    std::size_t beside = 0;  // bytes that the system gave block by block
  };

  static bool has_room(const Region& r) {
    const auto* end = reinterpret_cast<const std::byte*>(&r) + size;
    return r.free || static_cast<std::size_t>(end - r.unused) >= class_bytes(r.class_number);
  }
  void open_region(int c) {
    void* memory = allocate_large(size);
    auto* first = static_cast<std::byte*>(memory) + (sizeof(Region) + alignment - 1) / alignment * alignment;
    auto* region = new (memory) Region{.unused = first, .class_number = c};
    try {
      all_.insert(region);
    } catch (...) {
      release_large(memory, size);
      throw;
    }
    free_bytes_ += size;
    enter_ring(region);
  }
  void enter_ring(Region* region) noexcept {
    Region*& open = classes_[static_cast<std::size_t>(region->class_number)].open;
    region->next = open ? open : region;
    region->previous = open ? open->previous : region;
    region->next->previous = region;
    region->previous->next = region;
    open = region;
  }
  void leave_ring(Region* region) noexcept {
    Region*& open = classes_[static_cast<std::size_t>(region->class_number)].open;
    open = region->next == region ? nullptr : region->next;
    region->next->previous = region->previous;
    region->previous->next = region->next;
    region->next = region->previous = nullptr;
  }

  std::mutex mutex_;
  std::array<Class, small_classes> classes_{};
  std::unordered_set<Region*> all_;
  std::size_t free_bytes_ = 0;  // of all regions: all but the blocks that are out
};
Regions& regions() {
  static auto* all = new Regions;  // never destroyed: tensors with static lifetime release after main
  return *all;
}

void* small_from_system(int c) {
  void* block = regions().allocate(c);
  return block ? block : from_system(class_bytes(c));
}
void small_to_system(void* block, int c) noexcept {
  if (!regions().release(block, c)) to_system(block, class_bytes(c));
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

/// Blocks of tensors that outlive it go straight back to the system.
using Lists = OutlivedThreadLocal<ThreadLists>;

ThreadLists::~ThreadLists() {
  {
    const std::lock_guard lock(all_lists.mutex);
    (before != nullptr ? before->after : all_lists.first) = after;
    if (after != nullptr) after->before = before;
  }
  for (int c = 0; c < small_classes; ++c)
    for (FreeBlock*& head = heads[static_cast<std::size_t>(c)]; head;)
      small_to_system(std::exchange(head, head->next), c);
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

[[gnu::noinline]] void count_down_to_failure(ThreadLists& lists) {
  if (--lists.fail_in == 0) throw std::bad_alloc();
}

}  // namespace

void* allocate(std::size_t bytes) {
  ThreadLists* const lists = Lists::get();
  if (!lists) [[unlikely]]
    return from_system(pooling() ? class_bytes(class_of(bytes ? bytes : 1)) : bytes);
  ++lists->allocations;
  if (lists->fail_in) [[unlikely]]
    count_down_to_failure(*lists);
  if (!pooling()) return from_system(bytes);
  const int c = class_of(bytes ? bytes : 1);
  const std::size_t rounded = class_bytes(c);
  if (c >= small_classes) return allocate_large(rounded);
  if (FreeBlock* block = lists->heads[static_cast<std::size_t>(c)]) {
    lists->heads[static_cast<std::size_t>(c)] = block->next;
    lists->keep(-rounded);
    return block;
  }
  return small_from_system(c);
}

void release(void* block, std::size_t bytes) noexcept {
  if (!pooling()) return to_system(block, bytes);
  const int c = class_of(bytes ? bytes : 1);
  const std::size_t rounded = class_bytes(c);
  if (c >= small_classes) return release_large(block, rounded);
  ThreadLists* const lists = Lists::get();
  if (!lists || lists->kept.load(std::memory_order_relaxed) + rounded > kept_by_thread)
    return small_to_system(block, c);
  auto* free_block = static_cast<FreeBlock*>(block);
  free_block->next = lists->heads[static_cast<std::size_t>(c)];
  lists->heads[static_cast<std::size_t>(c)] = free_block;
  lists->keep(rounded);
}

std::uint64_t allocation_count() {
  const ThreadLists* const lists = Lists::get();
  return lists ? lists->allocations : 0;
}
std::size_t bytes_in_use() {
  const std::size_t in_regions = regions().free_bytes();
  std::size_t kept = 0;
  {
    const std::lock_guard lock(all_lists.mutex);
    for (const ThreadLists* of = all_lists.first; of; of = of->after) kept += of->kept.load(std::memory_order_relaxed);
  }
  LargeBlocks& large = large_blocks();
  const std::lock_guard lock(large.mutex);
  return from_system_now.load(std::memory_order_relaxed) - kept - large.kept - in_regions;
}
void fail_after(std::uint64_t allocations) {
  if (ThreadLists* const lists = Lists::get()) lists->fail_in = allocations;
}

}  // namespace ricci::pool
