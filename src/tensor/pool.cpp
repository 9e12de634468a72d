// The block pool: thread-local free lists by size class below 1 MiB, one locked list by exact class above it. Where
// many blocks of a class are wanted, the lists get them from regions, which all threads share. Where the system has no
// more memory, all that is kept goes back to it before an allocation fails.
#include "ricci/primitive/pool.h"

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <unordered_set>
#include <utility>

#include "ricci/memory.h"
#include "tensor/outlived_thread_local.h"

namespace ricci::pool {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t largest_small = std::size_t{1} << 20;
constexpr std::size_t huge_page = std::size_t{1} << 21;
constexpr std::size_t kept_by_thread = std::size_t{16} << 20;
/// Of large blocks that have ended, the process keeps at most as many bytes as are alive, or this many where fewer are
/// alive.
constexpr std::size_t kept_by_process = std::size_t{3} << 30;
/// Blocks that are alive and blocks that are kept together take at most a quarter more than the most that was alive at
/// one time, or this many bytes where that is less.
constexpr std::size_t held_by_process = std::size_t{1} << 30;

#if defined(RICCI_SANITIZE)
constexpr bool pooling() { return false; }
constexpr bool maps_pages = false;
#else
constexpr bool maps_pages = true;
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

/// Bytes that the system has given and not got back, and the most at one time.
constinit std::atomic<std::size_t> from_system_now = 0, from_system_at_most = 0;

/// From this on blocks are pages of their own, which go back at once, whatever else malloc has given.
constexpr std::size_t least_of_pages = std::size_t{1} << 18;

constexpr bool is_pages(std::size_t bytes) { return maps_pages && bytes > least_of_pages; }

constexpr std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

/// What a block takes: whole huge pages where it fills one.
constexpr std::size_t mapped_bytes(std::size_t bytes) {
  return round_up(bytes, bytes >= huge_page ? huge_page : std::size_t{4096});
}

/// Null if there are none.
void* map_pages(std::size_t bytes) {
  const auto map = [](std::size_t wanted) {
    void* const found = mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return found == MAP_FAILED ? nullptr : static_cast<std::byte*>(found);
  };
  const std::size_t wanted = mapped_bytes(bytes);
  if (bytes < huge_page) return map(wanted);
  std::byte* const found = map(wanted + huge_page);
  if (!found) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(found);
  const std::size_t before = round_up(address, huge_page) - address;
  if (before > 0) munmap(found, before);
  munmap(found + before + wanted, huge_page - before);
  madvise(found + before, wanted, MADV_HUGEPAGE);
  return found + before;
}

/// Exactly `bytes` bytes where they are few: a sanitizer sees the first byte beyond them. Throws std::bad_alloc.
void* from_system(std::size_t bytes) {
  void* block = nullptr;
  if (is_pages(bytes)) block = map_pages(bytes);
  else if (posix_memalign(&block, alignment, bytes) != 0) block = nullptr;
  if (!block) throw std::bad_alloc();
  const std::size_t now = from_system_now.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::size_t most = from_system_at_most.load(std::memory_order_relaxed);
  while (now > most && !from_system_at_most.compare_exchange_weak(most, now, std::memory_order_relaxed)) {}
  return block;
}
void to_system(void* block, std::size_t bytes) noexcept {
  if (is_pages(bytes)) munmap(block, mapped_bytes(bytes));
  else std::free(block);
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
  static constexpr std::size_t size = huge_page, largest_block = least_of_pages, few = std::size_t{1} << 20;

  /// Null where the class has no need of regions yet: the system gives that block. Requires: its blocks take at most
  /// `largest_block`.
  void* allocate(int c) {
    const std::lock_guard lock(mutex_);
    Class& of = classes_[static_cast<std::size_t>(c)];
    const std::size_t bytes = class_bytes(c);
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
  /// The system had no memory for a block that no region gave.
  void not_given(int c) noexcept {
    const std::lock_guard lock(mutex_);
    std::size_t& beside = classes_[static_cast<std::size_t>(c)].beside;
    beside -= std::min(beside, class_bytes(c));
  }
  /// False if the block is not of a region.
  bool release(void* block, int c) noexcept {
    const std::lock_guard lock(mutex_);
    Class& of = classes_[static_cast<std::size_t>(c)];
    const std::size_t bytes = class_bytes(c);
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

/// For what the lists of a thread have not, or have too much of.
void* small_from_process(int c) {
  const std::size_t bytes = class_bytes(c);
  if (bytes > Regions::largest_block) return allocate_large(bytes);
  if (void* block = regions().allocate(c)) return block;
  try {
    return from_system(bytes);
  } catch (...) {
    regions().not_given(c);
    throw;
  }
}
void small_to_process(void* block, int c) noexcept {
  const std::size_t bytes = class_bytes(c);
  if (bytes > Regions::largest_block) release_large(block, bytes);
  else if (!regions().release(block, c)) to_system(block, bytes);
}

struct ThreadLists {
  std::array<FreeBlock*, small_classes> heads{};
  std::atomic<std::size_t> kept = 0;  // written by its thread alone, so without locked instructions
  const std::size_t keeps_at_most = pooling() ? kept_by_thread : 0;
  std::uint64_t allocations = 0;
  bool is_tested = false;  // one of the next two is set
  std::uint64_t fail_in = 0;
  Costs* costs = nullptr;
  ThreadLists *before = nullptr, *after = nullptr;  // of other threads
  ThreadLists();
  ~ThreadLists();

  void keep(std::size_t bytes) { kept.store(kept.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed); }
  void give_back() noexcept {
    for (int c = 0; c < small_classes; ++c)
      for (FreeBlock*& head = heads[static_cast<std::size_t>(c)]; head;)
        small_to_process(std::exchange(head, head->next), c);
    kept.store(0, std::memory_order_relaxed);
  }
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
  give_back();
}

/// The large blocks of all threads: how much is alive, and what is kept.
class LargeBlocks {
 public:
  /// Null where none of this size is kept; what is kept makes room for the one that the system has to give then.
  void* take(std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    alive_ += bytes;
    most_alive_ = std::max(most_alive_, alive_);
    if (auto found = kept_.find(bytes); found != kept_.end() && !found->second.empty()) {
      void* block = found->second.back().block;
      found->second.pop_back();
      kept_bytes_ -= bytes;
      return block;
    }
    const std::size_t may_hold = std::max(held_by_process, most_alive_ + most_alive_ / 4);
    give_back_until(may_hold - std::min(alive_, may_hold));
    return nullptr;
  }
  void not_given(std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    alive_ -= bytes;
  }
  void keep(void* block, std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    alive_ -= bytes;
    try {
      kept_[bytes].push_back({block, ++releases_});
    } catch (const std::bad_alloc&) { return to_system(block, bytes); }
    kept_bytes_ += bytes;
    give_back_until(std::max(kept_by_process, alive_));
  }
  void give_back() noexcept {
    const std::lock_guard lock(mutex_);
    give_back_until(0);
  }
  std::size_t kept_bytes() {
    const std::lock_guard lock(mutex_);
    return kept_bytes_;
  }

 private:
  struct Kept {
    void* block;
    std::uint64_t since;  // the number of its release
  };
  /// Gives back what has been kept longest, until at most `bytes` are kept.
  void give_back_until(std::size_t bytes) noexcept {
    while (kept_bytes_ > bytes) {
      auto oldest = kept_.end();
      for (auto it = kept_.begin(); it != kept_.end(); ++it) {
        if (it->second.empty()) continue;
        if (oldest == kept_.end() || it->second.front().since < oldest->second.front().since) oldest = it;
      }
      to_system(oldest->second.front().block, oldest->first);
      oldest->second.pop_front();
      kept_bytes_ -= oldest->first;
    }
  }

  std::mutex mutex_;
  std::map<std::size_t, std::deque<Kept>> kept_;  // by bytes, each the oldest first
  std::size_t alive_ = 0, most_alive_ = 0, kept_bytes_ = 0;
  std::uint64_t releases_ = 0;
};
LargeBlocks& large_blocks() {
  static auto* blocks = new LargeBlocks;  // never destroyed: tensors with static lifetime release after main
  return *blocks;
}

void* allocate_large(std::size_t bytes) {
  if (void* block = large_blocks().take(bytes)) return block;
  try {
    return from_system(bytes);
  } catch (...) {
    large_blocks().not_given(bytes);
    throw;
  }
}

void release_large(void* block, std::size_t bytes) noexcept { large_blocks().keep(block, bytes); }

/// All that this thread and the process keep.
void give_back(ThreadLists* lists) noexcept {
  if (lists) lists->give_back();
  large_blocks().give_back();
  malloc_trim(0);
}

/// What tests have asked for.
[[gnu::noinline]] void test_allocation(ThreadLists& lists, std::size_t bytes) {
  if (lists.costs) lists.costs->count(bytes);
  if (lists.fail_in == 0 || --lists.fail_in > 0) return;
  lists.is_tested = lists.costs != nullptr;
  throw std::bad_alloc();
}

/// What no list of the thread's has.
void* allocate_from_process(std::size_t bytes) {
  if (!pooling()) return from_system(bytes);
  const int c = class_of(bytes);
  if (c >= small_classes) return allocate_large(class_bytes(c));
  return small_from_process(c);
}

[[gnu::noinline]] void* allocate_slowly(ThreadLists* lists, std::size_t bytes) {
  try {
    return allocate_from_process(bytes);
  } catch (const std::bad_alloc&) {}
  give_back(lists);
  return allocate_from_process(bytes);
}

[[gnu::noinline]] void release_slowly(void* block, std::size_t bytes) noexcept {
  if (!pooling()) return to_system(block, bytes);
  const int c = class_of(bytes);
  if (c >= small_classes) release_large(block, class_bytes(c));
  else small_to_process(block, c);
}

}  // namespace

void* allocate(std::size_t bytes) {
  bytes = std::max<std::size_t>(bytes, 1);
  ThreadLists* const lists = Lists::get();
  if (lists) [[likely]] {
    ++lists->allocations;
    if (lists->is_tested) [[unlikely]]
      test_allocation(*lists, bytes);
    if (bytes <= largest_small) [[likely]] {
      const int c = class_of(bytes);
      FreeBlock*& head = lists->heads[static_cast<std::size_t>(c)];
      if (FreeBlock* block = head) [[likely]] {
        head = block->next;
        lists->keep(-class_bytes(c));
        return block;
      }
    }
  }
  return allocate_slowly(lists, bytes);
}

void release(void* block, std::size_t bytes) noexcept {
  bytes = std::max<std::size_t>(bytes, 1);
  ThreadLists* const lists = Lists::get();
  if (lists && bytes <= largest_small) [[likely]] {
    const int c = class_of(bytes);
    const std::size_t rounded = class_bytes(c);
    if (lists->kept.load(std::memory_order_relaxed) + rounded <= lists->keeps_at_most) [[likely]] {
      FreeBlock*& head = lists->heads[static_cast<std::size_t>(c)];
      head = new (block) FreeBlock{head};
      lists->keep(rounded);
      return;
    }
  }
  release_slowly(block, bytes);
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
  kept += large_blocks().kept_bytes();
  return from_system_now.load(std::memory_order_relaxed) - kept - in_regions;
}
void fail_after(std::uint64_t allocations) {
  ThreadLists* const lists = Lists::get();
  if (!lists) return;
  lists->fail_in = allocations;
  lists->is_tested = allocations > 0 || lists->costs;
}

Costs::Costs() : began_(bytes_in_use()) {
  ThreadLists* const lists = Lists::get();
  lists->costs = this;
  lists->is_tested = true;
}
Costs::~Costs() {
  ThreadLists* const lists = Lists::get();
  lists->costs = nullptr;
  lists->is_tested = lists->fail_in > 0;
}
void Costs::count(std::size_t more) noexcept {
  ++allocations;
  bytes += more;
  const std::size_t in_use = bytes_in_use() + more;
  peak = std::max(peak, in_use > began_ ? in_use - began_ : 0);
}

}  // namespace ricci::pool

namespace ricci {

MemoryStats memory_stats() {
  const std::size_t reserved = pool::from_system_now.load(std::memory_order_relaxed);
  return {.allocated = std::min(pool::bytes_in_use(), reserved),
          .reserved = reserved,
          .max_reserved = std::max(reserved, pool::from_system_at_most.load(std::memory_order_relaxed))};
}

void reset_peak_memory_stats() {
  pool::from_system_at_most.store(pool::from_system_now.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void empty_cache() { pool::give_back(pool::Lists::get()); }

}  // namespace ricci
